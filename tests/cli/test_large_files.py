"""Text files that do not fit in memory are turned into columns first, and clusters are named by their address."""

import pytest

from ppfs import _data
from ppfs.cli.input.large import is_too_large


def test_a_text_file_can_be_streamed(select, table):
    streamed = select(table, "--target", "ill", "--stream", "--on-error", "drop")
    assert (streamed.exit_code, streamed.stdout) == (0, select(table, "--target", "ill").stdout)


def test_a_text_file_too_large_for_memory_is_streamed(ppfs, table, monkeypatch):
    monkeypatch.setattr(_data, "available_memory", lambda: 100)
    done = ppfs("select", table, "--target", "ill", "--test", "paper", "--on-error", "drop")
    assert done.exit_code == 0
    assert "is text, which is read row by row, and a search reads columns" in done.stderr


def test_columns_that_cannot_be_streamed_are_named(select, tmp_path):
    (tmp_path / "a.csv").write_text("a,word,ill\n" + "1,x,0\n2,y,1\n" * 20, encoding="utf-8")
    done = select(tmp_path / "a.csv", "--target", "ill", "--stream")
    assert done.exit_code == 1
    assert "'word' holds" in done.stderr


@pytest.mark.parametrize(
    ("address", "message"),
    [("somewhere", "is not an address"), ("tcp://127.0.0.1:1", "no scheduler answers there")],
)
def test_a_cluster_that_is_not_there_is_named(select, table, address, message, monkeypatch):
    monkeypatch.setattr("ppfs.cli.flags.cluster._PATIENCE", "0.2s")
    done = select(table, "--target", "ill", "--cluster", address)
    assert done.exit_code in (1, 2)
    assert message in done.stderr


def test_text_may_take_half_of_the_free_memory(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("x" * 100)
    for free, expected in ((1200, False), (1198, True)):
        monkeypatch.setattr(_data, "available_memory", lambda free=free: free)
        assert is_too_large(str(path)) is expected
    assert not is_too_large("-")
    assert not is_too_large(str(path.with_suffix(".parquet")))
