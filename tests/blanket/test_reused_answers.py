"""Answers that are used again: which rows and settings they are for, how they are written, and how they are read."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from checks.graphs import empty_table

from ppfs import RowsInTime
from ppfs._data.reading import read_table
from ppfs.blanket._run import checkpoint, circumstances
from ppfs.blanket._run.answers_between_fits import Memory
from ppfs.blanket._run.checkpoint import Checkpoint, _difference, _learn, _require_same, opened
from ppfs.blanket._run.circumstances import Circumstances, _digests, _same_bits, digest_of
from ppfs.blanket._run.reused_answers import ReusedAnswers
from ppfs.exceptions import CheckpointError
from ppfs.independence import (
    PPI,
    Answers,
    CountedRearrangements,
    FisherZ,
    IndependenceResult,
    KnownAnswers,
    Rearrangements,
)
from ppfs.independence._known_answers import fingerprint

FULL = IndependenceResult(0.01, 2.0, 3.0, True, True, (0.1, 0.2), True, (0.3, 0.4), (0.5, 0.6))
PLAIN = IndependenceResult(0.5, 1.0, 0.25, False)
PAIR = fingerprint(1) + fingerprint(2)


def settings(seed=0, n_folds=0, test=None):
    return Circumstances.of(FisherZ() if test is None else test, seed, n_folds)


def test_a_memory_keeps_the_answers_of_the_same_rows_and_fold():
    first = Memory(settings())
    known = KnownAnswers(4)
    first.recall(known, 1, b"rows")
    known[3, PAIR, 1] = PLAIN
    assert first.n_answers == 1
    second = Memory(settings(), first)
    for fold, rows, n in ((1, b"rows", 1), (2, b"rows", 0), (1, b"others", 0)):
        again = KnownAnswers(4)
        second.recall(again, fold, rows)
        assert len(again) == n
    assert second.n_answers == 1
    # Before a fit is complete, the answers of earlier ones stay; afterwards those that it did not need go.
    assert len(Memory(settings(), Memory(settings(), first))._last) == 1
    unused = Memory(settings(), first)
    unused.forget_the_last()
    assert Memory(settings(), unused)._last == {}
    assert Memory(settings(test=PPI()), first)._last == {}


def test_bound_tests_are_made_once_for_each_fold_rows_and_rule():
    made, recalled = [], []

    class Source:
        def __init__(self, listener):
            self.listener = listener

        def recall(self, known, fold, rows):
            recalled.append((len(known.marginal(0, 0)[0]), fold, rows))
            return self.listener

    def bind(part, **given):
        made.append((part, given))
        return object()

    table = empty_table(4)
    other = table.rows(np.array([0, 1, 1]))
    answers = ReusedAnswers([Source(None), Source("first"), Source("second")], 2)
    tests = [answers.bound(*asked, bind) for asked in ((table, 0, "raise"), (table, 1, "raise"), (table, 0, "drop"),
                                                       (other, 0, "raise"), (table, 0, "raise"))]  # fmt: skip
    assert tests[4] is tests[0]
    assert len(set(map(id, tests))) == 4
    asked = [(part, given["fold"], given["on_error"]) for part, given in made]
    assert asked == [(table, 0, "raise"), (table, 1, "raise"), (table, 0, "drop"), (other, 0, "raise")]
    assert [given["listener"] for _, given in made] == ["first"] * 4
    assert recalled[:3] == [(4, 0, digest_of(table))] * 3
    assert ReusedAnswers().bound(table, 0, "raise", bind) is not None
    assert made[-1][1]["listener"] is None


@pytest.mark.parametrize(
    ("test", "n_folds", "random_state", "is_repeatable", "seed"),
    [
        (FisherZ(), 0, None, True, "not used"),
        (FisherZ(), 3, None, False, "7"),
        (FisherZ(), 3, 5, True, "7"),
        (FisherZ(), 3, np.int64(5), True, "7"),
        (PPI(), 0, np.random.default_rng(0), False, "7"),
        (PPI(), 0, 5, True, "7"),
    ],
)
def test_only_what_draws_needs_a_seed_to_be_repeated(test, n_folds, random_state, is_repeatable, seed):
    found = Circumstances.of(test, 7, n_folds)
    assert found.is_repeatable(random_state) is is_repeatable
    assert (found.described["seed"], found.described["n_folds"]) == (seed, str(n_folds))
    assert not replace(found, not_comparable="x").is_repeatable(5)
    assert not replace(found, not_comparable="x").serves(found)


def test_plain_parameters_are_written_as_they_are():
    described = settings(test=PPI(n_splits=7)).described
    assert (described["test.n_splits"], described["test.knockoff"]) == ("7", "'permutation'")
    assert described["test"].startswith("PPI with content ")
    assert list(described)[:3] == ["n_folds", "seed", "test"]


X = np.arange(24.0).reshape(8, 3) % 5
Y = np.arange(8) % 2


def read(X=X, y=Y, **given):
    return read_table(X, y, task=given.pop("task", "classification"), owner=FisherZ(), **given)


OTHERS = {
    "value": lambda: read(np.where(X == 4, 3.0, X)),
    "sign of zero": lambda: read(np.where(X == 0, -0.0, X)),
    "label": lambda: read(y=1 - Y),
    "classes": lambda: read(y=np.array(["a", "b"])[Y]),
    "task": lambda: read(y=Y, task="regression"),
    "weights": lambda: read(sample_weight=np.arange(8) + 1.0),
    "other weights": lambda: read(sample_weight=np.arange(8) + 2.0),
    "groups": lambda: read(groups=np.arange(8) // 2),
    "time": lambda: read(time=RowsInTime(np.arange(8), block_length=2)),
    "gap": lambda: read(time=RowsInTime(np.arange(8), block_length=2, gap=1)),
    "order in time": lambda: read(time=RowsInTime(np.arange(8)[::-1], block_length=2)),
    "categories": lambda: read(categorical_features=np.array([True, False, False])),
    "groups of columns": lambda: read(feature_groups={"a": [0, 1]}),
    "other groups of columns": lambda: read(feature_groups={"a": [0, 2]}),
    "fewer rows": lambda: read(X[:7], Y[:7]),
    "fewer columns": lambda: read(X[:, :2]),
    "other order": lambda: read(X[:, ::-1]),
    "sparse": lambda: read(sp.csr_array(X)),
    "large": lambda: read(X + 200.0),
    "fractions": lambda: read(X / 2),
}


def test_tables_that_differ_have_other_digests():
    digests = {name: digest_of(make()) for name, make in {"plain": read, **OTHERS}.items()}
    assert len(set(digests.values())) == len(digests)
    assert all(len(digest) == 16 for digest in digests.values())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_numbers_stored_in_other_ways_have_the_same_digest(n_jobs):
    plain = digest_of(read())
    for same in (np.asfortranarray(X), X.astype(np.int8), X.astype(np.uint8), X.astype(int)):
        assert digest_of(read(same), n_jobs) == plain


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("at_once", "n_parts"), [(1, 8), (24, 8), (48, 4), (72, 3), (10**6, 1)])
def test_arrays_are_hashed_some_rows_at_a_time(at_once, n_parts, n_jobs, monkeypatch):
    monkeypatch.setattr(circumstances, "_BYTES_AT_ONCE", at_once)
    parts = _digests(X, X.dtype, n_jobs)
    assert len(parts) == n_parts
    rows = -(-8 // n_parts)
    assert parts[1:2] == _digests(X[rows : 2 * rows], X.dtype, 1) if n_parts > 1 else True
    # Integers of eight bits are hashed as such.
    assert parts[0] == _digests(X[:rows].astype(np.int8), np.dtype(np.float64), 1)[0]
    assert parts != _digests(X + 0.5, X.dtype, n_jobs)


def test_objects_are_hashed_as_written():
    assert _digests(np.array(["a", 1], dtype=object), np.dtype(object), None) == [b"['a', 1]"]


@pytest.mark.parametrize(
    ("numbers", "same"),
    [
        ([0.0, 127.0, -128.0], True),
        ([128.0], False),
        ([-129.0], False),
        ([0.5], False),
        ([-0.0], False),
        ([np.nan], False),
        ([np.inf, 1.0], False),
    ],
)
def test_integers_of_eight_bits_keep_their_bits(numbers, same):
    with np.errstate(all="raise"):
        assert _same_bits(np.array(numbers)) is same


def counted(*xs, target=3):
    draws = Rearrangements(target, xs, 64, 128, 0.25)
    return CountedRearrangements(draws, np.arange(len(xs)) + 5, 7)


def written(folder, wanted=None, fold=2):
    """Write answers of all kinds into a folder."""
    kept = Checkpoint(folder, wanted or {"a": "1"})
    kept.recall(KnownAnswers(4), fold, b"rows")
    kept.block(3, np.array([2, 0]), Answers.of([FULL, FULL], 2))
    kept.counted(counted(0, 2))
    kept.answer((3, PAIR, 1), FULL)
    kept.answer((3, PAIR + fingerprint(0), 2), replace(PLAIN))
    kept.flush()
    kept.flush()
    return kept


def test_answers_of_a_checkpoint_are_learned_again(tmp_path):
    written(tmp_path)
    names = sorted(path.name.rsplit("-", 1)[0] for path in tmp_path.iterdir())
    assert names == ["fold-2-answers-0", "fold-2-answers-0", "fold-2-count-0", "fold-2-growth-0"]
    known = KnownAnswers(4)
    made = Checkpoint(tmp_path, {"a": "1"})
    assert made.recall(known, 2, b"rows") is made
    assert len(known) == 4
    assert known[3, fingerprint(2), 2] == known[3, fingerprint(0), 0] == known[3, PAIR, 1] == FULL
    assert known[3, PAIR + fingerprint(0), 2] == PLAIN
    [(draws, count)] = known.counts.items()
    assert (draws, count.draws, count.counts.tolist(), count.n_refitted) == (
        counted(0, 2).draws,
        draws,
        [5, 6],
        7,
    )
    for fold, n in ((1, 0), (22, 0), (2, 4)):
        other = KnownAnswers(4)
        Checkpoint(tmp_path, {"a": "1"}).recall(other, fold, b"rows")
        assert len(other) == n
    # The same answers are written once.
    written(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_files_of_another_run_are_left_alone(tmp_path):
    written(tmp_path)
    known = KnownAnswers(4)
    with pytest.warns(UserWarning, match="it belongs to another run") as warned:
        Checkpoint(tmp_path, {"a": "2"}).recall(known, 2, b"rows")
    assert (len(known), len(warned)) == (0, 4)
    told = str(warned[0].message)
    assert told.startswith("The file ")
    assert told.endswith(
        " of the checkpoint cannot be used: it belongs to another run. What it held is computed again; the file is "
        "left as it is, and may be deleted."
    )


def test_a_name_that_is_taken_by_another_content_is_passed_over(tmp_path):
    kept = Checkpoint(tmp_path, {"a": "1"})
    kept.block(3, np.array([2]), Answers.of([PLAIN]))
    [place] = tmp_path.iterdir()
    place.write_bytes(b"damaged")
    kept.block(3, np.array([2]), Answers.of([PLAIN]))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [place.name, place.name.replace("-growth-0-", "-growth-1-")]
    )


def test_answers_are_written_after_a_while(tmp_path, monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(checkpoint, "time", clock)
    kept = Checkpoint(tmp_path, {})
    limit = checkpoint._SECONDS_BETWEEN_WRITES
    for later, n_files in ((limit, 0), (0.5, 1), (limit, 1), (0.5, 2)):
        clock.now += later
        kept.answer((3, PAIR, int(clock.now * 10)), PLAIN)
        assert len(list(tmp_path.iterdir())) == n_files


def test_what_differs_from_another_run_is_told(tmp_path):
    found = {"data": "1", "test.estimator": "A", "test.estimator__C": "1", "x": "1", "old": "5"}
    _require_same(found, dict(found), tmp_path)
    with pytest.raises(CheckpointError) as raised:
        _require_same(
            found,
            {**found, "data": "2", "test.estimator": "B", "test.estimator__C": "2", "new": "3"},
            tmp_path,
        )
    assert str(raised.value) == (
        f"The checkpoint {str(tmp_path)!r} belongs to another run. What differs: the data (X, y, weights, groups or "
        f"time); {_difference('test.estimator__C', '1', '2')}; {_difference('new', None, '3')}. Use another folder, or "
        "delete this one."
    )
    with pytest.raises(CheckpointError) as raised:
        _require_same({}, {str(number): "x" for number in range(9)}, tmp_path)
    assert str(raised.value).count(";") == 4


def test_a_checkpoint_is_opened_for_one_run(tmp_path):
    table = read()
    with opened(None, None, settings(), table) as kept:
        assert kept == ()
    folder = tmp_path / "run"
    with opened(folder, None, settings(), table) as (kept,):
        kept.answer((3, PAIR, 1), PLAIN)
    manifest = json.loads((folder / "manifest.json").read_text())["circumstances"]
    assert manifest["data"] == digest_of(table).hex()
    assert {"version of ppfs", "version of Python", "test", "seed", "n_folds"} <= set(manifest)
    assert len([path for path in folder.iterdir() if path.suffix == ".npz"]) == 1
    with opened(folder, None, settings(), table):
        pass
    with (
        pytest.raises(CheckpointError, match="the data"),
        opened(folder, None, settings(), read(X[:7], Y[:7])),
    ):
        pass
    with pytest.raises(CheckpointError) as raised, opened(folder, None, settings(test=PPI()), table):
        pass
    assert str(raised.value) == (
        f"checkpoint={str(folder)!r} needs an integer as random_state, so that a later run draws the same numbers, "
        "but it is None. Pass random_state=0."
    )
    odd = Circumstances({}, "loss: a lock")
    with pytest.raises(CheckpointError) as raised, opened(folder, 0, odd, table):
        pass
    assert str(raised.value) == (
        "A checkpoint needs parameters that can be compared in another process, but one cannot: loss: a lock. Use "
        "another value, or fit without checkpoint."
    )


def test_answers_of_one_model_beside_a_panel_lose_their_empty_places():
    known = KnownAnswers(4)
    arrays = {
        "targets": np.array([3, 3]),
        "keys": np.array([f"{PAIR:x}", f"{PAIR + 1:x}"]),
        "xs": np.array([1, 2]),
    }
    _learn(known, {**arrays, **Answers.of([FULL, PLAIN], 2).arrays()})
    assert (known[3, PAIR, 1], known[3, PAIR + 1, 2]) == (FULL, PLAIN)
