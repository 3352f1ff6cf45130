"""`ppfs compare`: methods side by side on the user's own file."""

import csv
import io
import json

import pytest

from ppfs.cli.commands.compare import _cells

FAST = ("--methods", "all, univariate,ppfs-paper", "--cv", 2, "--estimator", "tree", "-q")


def test_a_table_with_the_best_first(ppfs, table):
    result = ppfs("compare", table, "-t", "ill", *FAST)
    assert (result.exit_code, result.stderr) == (0, "")
    first = "patients.csv: ill predicted by DecisionTreeClassifier, 2 folds, 120 rows, 4 columns"
    assert " ".join(result.stdout.split()).startswith(first)
    for word in ("all", "univariate", "ppfs-paper", "accuracy", "stability", "seconds"):
        assert word in result.stdout


def test_a_score_has_an_error_where_there_is_one():
    row = {"method": "all", "score": 0.81, "score_error": 0.02, "n_columns": 3, "stability": 1, "seconds": 2}
    assert _cells(row)[1] == "0.810 ± 0.020"
    assert _cells({**row, "score_error": float("nan")})[1] == "0.810"


@pytest.mark.parametrize("width", [40, 200])
def test_the_table_fits_the_terminal(ppfs, table, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, ppfs("compare", table, "-t", "ill", *FAST).stdout.splitlines())) <= width


def test_json_csv_and_markdown(ppfs, table):
    document = json.loads(
        ppfs("compare", table, "-t", "ill", *FAST, "-f", "json", "--scoring", "balanced_accuracy").stdout
    )
    assert (document["schema"], document["scoring"]) == ("ppfs-comparison", "balanced_accuracy")
    by_name = {method["method"]: method for method in document["methods"]}
    assert by_name["all"]["n_columns"] == 4
    assert [len(names) for names in by_name["all"]["selected"]] == [4, 4]
    rows = list(csv.DictReader(io.StringIO(ppfs("compare", table, "-t", "ill", *FAST, "-f", "csv").stdout)))
    assert {row["method"] for row in rows} == set(by_name)
    assert ppfs("compare", table, "-t", "ill", *FAST, "-f", "markdown").stdout.startswith(
        "| method | accuracy |"
    )


def test_a_method_that_fails_is_named_on_stderr(ppfs, table, patients):
    patients.assign(bmi=patients["bmi"].mask(patients["bmi"] > 2)).to_csv(table, index=False)
    result = ppfs("compare", table, "-t", "ill", "--methods", "all,fbed", "--cv", 2, "-q")
    assert result.exit_code == 0
    assert "ppfs: fbed: failed: InvalidInputError" in result.stderr


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--methods", "rfevc"], 1, "Did you mean 'rfecv'?"),
        (["--time-limit", "0"], 2, "--time-limit"),
        (["--cv", "1"], 2, "--cv"),
        (["--scoring", "acuracy"], 2, "scoring"),
        (["--estimator-params", "{}", "--estimator", "nothing"], 2, "there is no model 'nothing'"),
    ],
)
def test_wrong_use(ppfs, table, flags, code, message):
    result = ppfs("compare", table, "-t", "ill", *flags)
    assert result.exit_code == code
    assert message in result.stderr


def test_a_picture_is_drawn_where_it_is_wanted(ppfs, table, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = tmp_path / "compared.svg"
    done = ppfs("compare", table, "-t", "ill", *FAST, "--plot", path)
    assert done.exit_code == 0
    assert f"Plot: {path}" in done.stderr
    assert path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
    refused = ppfs("compare", table, "-t", "ill", *FAST, "--plot", tmp_path / "compared.xyz")
    assert refused.exit_code == 2
    assert "must end in .png, .svg or .pdf" in refused.stderr
