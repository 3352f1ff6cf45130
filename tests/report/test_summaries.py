"""What goes into the summary of a report, and which code repeats a selection; nothing is fitted."""

from dataclasses import dataclass
from types import SimpleNamespace as Of

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS
from ppfs.blanket import FBED, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.report import _summary, _verdicts
from ppfs.report._summary import _code, _columns, _confirmed_pvalues, _versions, result_of, summarize
from ppfs.report._verdicts import detectable_of, doubtful_of, sufficiency_of, update_of


@dataclass
class Warned:
    """A warning about a column."""

    column: str
    message: str = "m"


def searched(**attributes):
    trace = Of(
        column_names=["a", "b", "c"],
        names=["a", "b", "c"],
        models=("forest",),
        notes=("n",),
        outcome=None,
        data=Of(
            task="regression",
            n_rows=9,
            n_columns=3,
            n_categorical=1,
            target="y",
            classes=(("k", 4),),
            n_classes=2,
            quartiles=(0.0, 1.0),
        ),
        deciding_steps=dict,
    )
    usual = {"trace_": trace, "blanket_": np.array([2, 0]), "warnings_": (Warned("a"),), "random_state": 7}
    return Of(**{**usual, **attributes})


class Test:
    """An independence test."""

    __test__ = False


EMPTY = {
    "selected": ["c", "a"],
    "task": "regression",
    "n_rows": 9,
    "test": None,
    "importance": None,
    "models": ["forest"],
    "alpha": None,
    "correction": None,
    "n_fits": None,
    "n_folds": 0,
    "chosen_fold": None,
    "confirmation": None,
    "sufficiency": None,
    "may_be_too_small": [],
    "detectable": None,
    "at_least": None,
    "roles": [],
    "update": None,
    "warnings": [{"column": "a", "message": "m"}],
    "notes": ["n"],
}


def test_the_result_of_a_selector_that_asked_nothing():
    assert result_of(searched()) == EMPTY


def test_the_result_is_that_of_the_search_that_was_chosen():
    folds = [Of(number=4, is_chosen=False), Of(number=6, is_chosen=True)]
    search = Of(
        independence_=Test(), alpha=np.float64(0.1), correction="bh", folds_=folds, n_fits_=np.int64(5)
    )
    expected = {
        **EMPTY,
        "test": "Test",
        "importance": "the effect size, on the scale of the test",
        "alpha": 0.1,
        "correction": "bh",
        "n_fits": 5,
        "n_folds": 2,
        "chosen_fold": 6,
    }
    assert result_of(searched(selector_=search)) == expected
    assert result_of(searched(**vars(search))) == expected
    plain = result_of(searched(selector_=search))
    assert (type(plain["alpha"]), type(plain["n_fits"])) == (float, int)


def test_what_was_measured_afterwards():
    assert sufficiency_of(Of()) is sufficiency_of(Of(_sufficiency=None)) is None
    assert sufficiency_of(Of(_sufficiency=Of(as_plain=lambda: {"a": 1}))) == {"a": 1}
    assert update_of(Of()) is update_of(Of(_watched=None)) is None
    assert update_of(Of(_watched=Of(found=Of(as_plain=lambda: {"a": 1})))) == {"a": 1}


def test_selected_features_with_doubtful_answers():
    steps = {0: Of(is_doubtful=True), 1: Of(is_doubtful=True), 2: Of(is_doubtful=False)}
    trace = Of(names=list("abcd"), outcome=Of(blanket=(2, 3, 0)), deciding_steps=lambda: steps)
    assert doubtful_of(Of(trace_=trace)) == ["a"]
    trace.outcome = None
    assert doubtful_of(Of(trace_=trace)) == []


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({}, {"given": 0.2, "weakest": 0.3}),
        ({"given": np.inf, "weakest": np.nan}, {"given": None, "weakest": None}),
    ],
)
def test_what_could_have_been_found(monkeypatch, numbers, said):
    results = Results()
    results.texts = lambda name: ["undecided: a", "kept", "undecided"]
    monkeypatch.setattr(_verdicts, "results_of", lambda selector: results)
    detectable = Of(**{"alone": 0.1, "given": 0.2, "weakest": 0.3, **numbers})
    found = detectable_of(Of(trace_=Of(outcome=Of(detectable=detectable))))
    assert found == {"alone": 0.1, **said, "n_undecided": 2, "n_dropped": 1}


def test_confirmed_p_values_are_those_of_all_columns_of_a_feature():
    confirmed = Of(columns=((2, 0), (1,)), adjusted_pvalues=(0.01, float("nan")))
    assert _confirmed_pvalues(searched(confirmed_=confirmed)) == [0.01, None, 0.01]
    assert _confirmed_pvalues(searched()) == [None] * 3


class Results:
    """A table whose columns are called by their names."""

    def texts(self, name):
        return [f"{name}1", f"{name}2", f"{name}3"]

    def flags(self, name):
        return np.array([True, False, True])

    def numbers(self, name):
        return np.array([0.123456789, np.nan, np.inf])

    def lists(self, name):
        return [["a"], [], []]


@pytest.fixture
def made(monkeypatch):
    """Make the parts of a summary by hand."""
    monkeypatch.setattr(_summary, "results_of", lambda selector: Results())
    monkeypatch.setattr(_summary, "_marginal_pvalues", lambda trace: [0.5, np.nan, 0.25])
    monkeypatch.setattr(_summary, "_explanations", lambda selector, columns: {"0": ["why"]})
    monkeypatch.setattr(
        _summary, "_lead", lambda selector, result, scores: ("lead", len(result["notes"]), scores)
    )
    monkeypatch.setattr(_summary, "_code", lambda selector: "code")
    monkeypatch.setattr(_summary, "_scores", lambda comparison: "scores")
    monkeypatch.setattr(_summary, "changed_parameters", lambda selector: {"a": 1.5})
    measured = []
    monkeypatch.setattr(_summary, "measure", lambda selector: measured.append(selector) or "")
    return measured


def test_the_table_of_results_by_column(made):
    numbers = [0.123457, None, None]
    assert _columns(searched()) == {
        "column": ["column1", "column2", "column3"],
        "selected": [True, False, True],
        **dict.fromkeys(
            (
                "importance",
                "importance_low",
                "importance_high",
                "pvalue",
                "adjusted_pvalue",
                "stability",
                "detectable",
            ),
            numbers,
        ),
        "marginal_pvalue": [0.5, None, 0.25],
        "confirmed_pvalue": [None] * 3,
        "phase": ["phase1", "phase2", "phase3"],
        "reason": ["reason1", "reason2", "reason3"],
        "redundant_with": [["a"], [], []],
    }


def test_a_selector_that_asks_nothing_has_nothing_to_adjust(made, monkeypatch):
    results = Results()
    results.numbers = lambda name: np.array([{"pvalue": 0.25, "adjusted_pvalue": 0.5}.get(name, 0.0)])
    monkeypatch.setattr(_summary, "results_of", lambda selector: results)

    class Nothing:
        column_names = ("a",)

        def __len__(self):
            return 0

    assert _columns(searched(trace_=Nothing()))["adjusted_pvalue"] == [0.25]
    assert _columns(searched())["adjusted_pvalue"] == [0.5]


def test_a_summary_without_scores(made):
    selector = searched(n_tests_=np.int64(3))
    found = summarize(selector, "command")
    assert {name: found[name] for name in EMPTY if name != "n_fits"} == {
        name: value for name, value in EMPTY.items() if name != "n_fits"
    }
    assert made == [selector]
    data = found.pop("data")
    assert data == {
        "n_rows": 9,
        "n_columns": 3,
        "n_categorical": 1,
        "target": "y",
        "task": "regression",
        "classes": [["k", 4]],
        "n_classes": 2,
        "quartiles": [0.0, 1.0],
    }
    rest = {
        name: found[name]
        for name in found
        if name not in EMPTY and name not in ("created", "columns", "versions")
    }
    assert rest == {
        "format": "ppfs-report",
        "format_version": 2,
        "headline": "2 of 3 columns were selected to predict y",
        "lead": ("lead", 1, None),
        "search": "SimpleNamespace",
        "n_questions": 3,
        "scores": None,
        "explanations": {"0": ["why"]},
        "parameters": {"a": "1.5"},
        "seed": "7",
        "command": "command",
        "code": "code",
    }
    assert found["n_fits"] == 0
    assert "refits" not in found["columns"]


class Compared:
    """A comparison of the selection with all columns."""

    methods = (Of(name="selection", note="failed: a"), Of(name="all", note=""))

    def __getitem__(self, name):
        return Of(selected=(("column1",), ("column1", "column3")))


def test_a_summary_with_scores_and_a_failure(made, monkeypatch):
    monkeypatch.setattr(_summary, "measure", lambda selector: "not measured")
    found = summarize(searched(selector_=Of(n_tests_=4)), comparison=Compared())
    assert (found["scores"], found["lead"], found["command"]) == ("scores", ("lead", 3, "scores"), None)
    assert found["notes"] == ["n", "not measured", "Cross-validated scores of the selection: failed: a."]
    assert found["columns"]["refits"] == [1.0, 0.0, 0.5]
    assert found["n_questions"] == 4


def test_sufficiency_is_not_measured_where_it_is_not_wanted(made):
    assert summarize(searched(), with_sufficiency=False)["notes"] == ["n"]
    assert made == []
    selector = searched()
    selector.trace_.data = None
    with pytest.raises(InvalidInputError, match="SimpleNamespace was fitted on data that ppfs cannot read"):
        summarize(selector)


def test_versions_of_what_is_installed(monkeypatch):
    def version(name):
        if name == "scipy":
            raise _summary.PackageNotFoundError
        return f"1 {name}"

    monkeypatch.setattr(_summary, "version", version)
    names = ["ppfs", "numpy", "scikit-learn", "numba", "pandas", "polars"]
    found = _versions()
    assert list(found) == ["Python", *names]
    assert [found[name] for name in names] == [f"1 {name}" for name in names]


@pytest.mark.parametrize(
    ("selector", "code"),
    [
        (PPFS(), "from ppfs import PPFS\n\nselector = PPFS().fit(X, y)"),
        (PPFS(progress=True, alpha=0.1), "from ppfs import PPFS\n\nselector = PPFS(alpha=0.1).fit(X, y)"),
        (PPFS.calibrated(), "from ppfs import PPFS\n\nselector = PPFS.calibrated().fit(X, y)"),
        (
            FBED(independence="fisher-z"),
            "from ppfs.blanket import FBED\n\nselector = FBED(independence='fisher-z').fit(X, y)",
        ),
        (
            PPFS(make_pipeline(StandardScaler(), LinearRegression()), splitter=KFold(3)),
            "from ppfs import PPFS\nfrom sklearn.linear_model import LinearRegression\n"
            "from sklearn.model_selection import KFold\nfrom sklearn.pipeline import Pipeline\n"
            "from sklearn.preprocessing import StandardScaler\n\nselector = "
            "PPFS(estimator=Pipeline(steps=[('standardscaler', StandardScaler()), ('linearregression', "
            "LinearRegression())]), splitter=KFold(n_splits=3, random_state=None, shuffle=False)).fit(X, y)",
        ),
        (
            StabilitySelection(PPFS([LinearRegression()], n_splits=5)),
            "from ppfs import PPFS\nfrom ppfs.blanket import StabilitySelection\nfrom sklearn.linear_model import "
            "LinearRegression\n\nselector = StabilitySelection(selector=PPFS(estimator=[LinearRegression()], "
            "n_splits=5)).fit(X, y)",
        ),
    ],
)
def test_code_that_repeats_a_selection(selector, code):
    assert _code(selector) == code
