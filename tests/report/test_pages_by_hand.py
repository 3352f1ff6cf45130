"""What pages say of summaries that are made by hand, word for word; nothing is fitted."""

from importlib.resources import files
from types import SimpleNamespace as Of

import numpy as np
import pytest
from checks.recorded import Record

from ppfs import PPFS
from ppfs.exceptions import InvalidInputError
from ppfs.report import measure
from ppfs.report._markdown import markdown_page
from ppfs.report._page import _as_data, _kept, _packed, html_page
from ppfs.report._pictures import Picture
from ppfs.report._summary import (
    _explanations,
    _headline,
    _in_words,
    _lead,
    _marginal_pvalues,
    _plain,
    _public_module,
    _scores,
    _shares,
    _shown,
    confirmation_of,
    notes_for_readers,
    plain_number,
)
from ppfs.report._verdicts import (
    at_least_in_words,
    at_least_of,
    at_least_section,
    capitalized,
    detectable_in_words,
    detectable_of,
    detectable_section,
    doubts_in_words,
    role_in_words,
    roles_in_words,
    roles_of,
    roles_section,
    update_in_words,
    update_section,
)

RECORD = Record(__file__)
PLACE = files("ppfs.report")
NAN = np.nan


def columns(n=3, **changed):
    return {
        "column": ["a", "b|<i>", *(f"c{number}" for number in range(n - 2))],
        "selected": [True, True, *([False] * (n - 2))],
        "importance": [0.12345, 0.5, *([None] * (n - 2))],
        "marginal_pvalue": [0.001234, None, *([0.5] * (n - 2))],
        "adjusted_pvalue": [0.04321, None, *([0.75] * (n - 2))],
        "detectable": [None, 0.25, *([0.3] * (n - 2))],
        "phase": ["growth", "shrink", *(["growth"] * (n - 2))],
        "reason": ["kept in shrink", "kept by request", *(["no link"] * (n - 2))],
        "redundant_with": [[], [], *([["a"]] * (n - 2))],
        **changed,
    }


ROLES = [
    {"feature": "a", "role": "parent", "arrows": [["a", "y"], ["b", "a"]], "because": "of a collider"},
    {"feature": "b", "role": "parent or child", "arrows": [], "because": ""},
    {"feature": "c", "role": "undecided", "arrows": [], "because": ""},
    {"feature": "d", "role": "undecided", "arrows": [], "because": ""},
]
BARE = {
    "headline": "1 of 3 columns & more",
    "lead": "At level 0.05.",
    "created": "2026-01-02",
    "seed": "7",
    "search": "PPFS",
    "test": None,
    "alpha": None,
    "correction": None,
    "importance": None,
    "n_questions": 0,
    "n_fits": 0,
    "selected": ["b|<i>", "a"],
    "data": {
        "n_rows": 1234,
        "n_columns": 3,
        "n_categorical": 1,
        "target": "y",
        "task": "regression",
        "classes": [],
        "n_classes": 0,
        "quartiles": [],
    },
    "warnings": [],
    "may_be_too_small": [],
    "confirmation": None,
    "detectable": None,
    "at_least": None,
    "roles": [],
    "update": None,
    "scores": None,
    "notes": [],
    "parameters": {},
    "versions": {"ppfs": "1.0"},
    "command": None,
    "code": "selector = PPFS().fit(X, y)",
    "columns": columns(),
    "explanations": {"0": ["a </script> & b"]},
}
FULL = {
    **BARE,
    "test": "CrossFitPPI",
    "alpha": 0.05,
    "correction": "bh",
    "importance": "rise in risk & more",
    "n_questions": 12345,
    "n_fits": 6789,
    "data": {
        **BARE["data"],
        "classes": [["no", 1000], ["yes", 200]],
        "n_classes": 5,
        "quartiles": [0.0, 1.23456, 2.0, 3.0, 4.0],
    },
    "warnings": [{"message": "'a' is odd. <b>"}],
    "may_be_too_small": ["a"],
    "confirmation": {
        "summary": "confirmed on 30 rows: 1 of 2",
        "n_rows": 1300,
        "alpha": 0.05,
        "correction": "holm & co",
        "columns": [
            {"feature": "a<", "pvalue": 0.00123, "adjusted_pvalue": 0.00246, "confirmed": True},
            {"feature": "b", "pvalue": None, "adjusted_pvalue": None, "confirmed": False},
        ],
    },
    "detectable": {"alone": 0.12345, "given": 0.2, "weakest": 0.3, "n_undecided": 1, "n_dropped": 1},
    "at_least": {"features": ["a", "b", "c"], "bounds": [1, 2, 2], "alpha": 0.05},
    "roles": ROLES,
    "update": {"summary": "After 10 new rows.", "suggested": ["a", "b"]},
    "scores": {
        "scoring": "r2",
        "model": "Forest",
        "n_folds": 5,
        "selection": {"score": 0.98765, "error": 0.0123, "n_columns": 2.5, "stability": 1.0, "note": ""},
        "all": {"score": 0.5, "error": None, "n_columns": 3.0, "stability": None, "note": ""},
    },
    "notes": ["a <note>", "models were fitted by the engine"],
    "parameters": {"n_splits": "10", "estimator": "<Forest>"},
    "command": "ppfs select a.csv > b",
}
MANY = {
    **BARE,
    "test": "PPI",
    "alpha": 0.1,
    "scores": {**FULL["scores"], "selection": {**FULL["scores"]["selection"], "score": None}},
    "data": {**BARE["data"], "classes": [["a", 1]], "n_classes": 1},
}


@pytest.mark.parametrize(("name", "summary"), [("bare", BARE), ("full", FULL), ("many", MANY)])
def test_pages_are_those_on_record(name, summary):
    page = html_page(summary, [Picture("A & b", "It is <so>.", "<svg></svg>")])
    for file in ("page.css", "page.js"):
        text = PLACE.joinpath(file).read_text(encoding="utf-8")
        assert text in page
        page = page.replace(text, file)
    RECORD.check(f"{name}, HTML", page.splitlines())
    RECORD.check(f"{name}, Markdown", markdown_page(summary).splitlines())


@pytest.mark.parametrize(
    ("n_columns", "n_rows", "last"), [(200, 200, ""), (201, 200, "1 more"), (1300, 200, "1,100 more")]
)
def test_two_hundred_columns_are_in_a_table_of_markdown(n_columns, n_rows, last):
    lines = markdown_page({**BARE, "columns": columns(n_columns)}).splitlines()
    rows = [line for line in lines if line.startswith("| ")][2:]
    assert len(rows) == n_rows
    assert rows[0].startswith(r"| b\|\<i\> | yes | 0.5 |")
    assert rows[1].startswith("| a | yes | 0.123 | 0.00123 | 0.0432 |  |")
    assert rows[2] == "| c0 |  |  | 0.5 | 0.75 | 0.3 | no link |"
    more = [line for line in lines if "more columns were not kept" in line]
    assert more == ([f"{last} columns were not kept; the JSON report lists them all."] if last else [])


@pytest.mark.parametrize(
    ("n", "more"),
    [(30, ""), (31, "and 1 more, in the table below"), (1031, "and 1,001 more, in the table below")],
)
def test_thirty_selected_columns_are_drawn(n, more):
    names = [f"x{number}" for number in range(n)]
    kept = _kept(
        {
            "selected": names,
            "columns": {
                "column": names,
                "importance": [1.0] * n,
                "adjusted_pvalue": [0.5] * n,
                "reason": ["kept"] * n,
            },
        }
    )
    assert kept.count('<span class="name">') == 30
    assert kept.endswith(f'<li class="more">{more}</li>' if more else "</li>")
    assert ('class="more"' in kept) == bool(more)


def test_columns_without_a_number_are_left_out_of_markdown():
    empty = [None] * 3
    summary = {**BARE, "columns": columns(adjusted_pvalue=empty, marginal_pvalue=empty, detectable=empty)}
    lines = markdown_page(summary).splitlines()
    assert "| column | kept | importance | reason |" in lines
    assert "| a | yes | 0.123 | kept in shrink |" in lines


@pytest.mark.parametrize(
    ("importances", "widths"),
    [
        ([2.0, 1.0, 0.5], ["100.0", "50.0", "25.0"]),
        ([2.0, -1.0, None], ["100.0", "0.0", "0.0"]),
        ([None, None, None], ["0.0", "0.0", "0.0"]),
        ([0.0, 0.0, 0.0], ["0.0", "0.0", "0.0"]),
    ],
)
def test_bars_are_as_wide_as_importances(importances, widths):
    names = list("abc")
    kept = _kept(
        {
            "selected": names,
            "columns": {
                "column": names,
                "importance": importances,
                "adjusted_pvalue": [None, 0.012345, None],
                "reason": ["kept by request", "kept by request", "kept"],
            },
        }
    )
    assert [part.split("%")[0] for part in kept.split("width:")[1:]] == widths
    assert [part.split("<")[0] for part in kept.split('class="p">')[1:]] == [
        "kept by request",
        "p = 0.012",
        "",
    ]


def test_each_text_of_a_table_is_packed_once():
    packed = _packed(columns(5))
    assert "redundant_with" not in packed
    assert packed["selected"] == [1, 1, 0, 0, 0]
    assert packed["phase"] == {"words": ["growth", "shrink"], "codes": [0, 1, 0, 0, 0]}
    assert packed["reason"] == {
        "words": ["kept in shrink", "kept by request", "no link"],
        "codes": [0, 1, 2, 2, 2],
    }
    assert packed["importance"] == [0.12345, 0.5, None, None, None]


def test_data_of_a_page_cannot_end_its_element():
    assert _as_data({"ü": "</script>&", "n": [1, 2]}) == r'{"ü":"\u003c/script\u003e\u0026","n":[1,2]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        _as_data([NAN])


BOUNDS = (
    "; bounds for all sets of columns hold together with probability 95% (closed testing with Simes' test)"
)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (
            [0],
            "The rows held out do not show that the selected column is related to the target given the others",
        ),
        (
            [0, 0],
            "The rows held out do not show that any of the 2 selected columns is related to the target given "
            "the others",
        ),
        ([1], "On the rows held out, the selected column is related to the target given the others" + BOUNDS),
        (
            [1, 1],
            "On the rows held out, the most important column of 2 is related to the target given the others"
            + BOUNDS,
        ),
        (
            [1, 2],
            "On the rows held out, all 2 selected columns are related to the target given the others"
            + BOUNDS,
        ),
        (
            [1, 2, 2],
            "On the rows held out, the most important 2 columns of 3 are related to the target given the others"
            + BOUNDS,
        ),
        (
            [0, 1, 1],
            "On the rows held out, at least 1 of all 3 selected columns is related to the target given the others"
            + BOUNDS,
        ),
        (
            [0, 1, 3, 3],
            "On the rows held out, the most important 3 columns of 4 are related to the target given the others"
            + BOUNDS,
        ),
        (
            [1, 1, 2, 3],
            "On the rows held out, the most important column of 4 and at least 3 of all 4 selected columns are related "
            "to the target given the others" + BOUNDS,
        ),
    ],
)
def test_bounds_in_words(bounds, said):
    found = {"features": list("abcd")[: len(bounds)], "bounds": bounds, "alpha": 0.05}
    assert at_least_in_words(found) == said
    n = len(bounds)
    section = at_least_section(found)
    assert f'max="{n}" value="{n}" data-bounds="{",".join(map(str, bounds))}"' in section
    assert f">{n}: at least {bounds[-1]}</output>" in section


def test_sections_of_nothing_are_empty():
    assert (
        at_least_section(None) == detectable_section(None) == roles_section([]) == update_section(None) == ""
    )
    assert doubts_in_words([]) == []


FIRST = (
    "would have been selected with probability 0.8, in units of the importance; effects of other shapes have to be "
    "larger."
)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"weakest": None}, f"A column with a linear effect of 0.123 {FIRST}"),
        ({"given": None, "n_dropped": 0}, f"A column with a linear effect of 0.123 {FIRST}"),
        (
            {"n_undecided": 0},
            f"A column with a linear effect of 0.123, or of 0.2 if it shows a link on its own, {FIRST} The weakest "
            "selected column has 0.3. So a linear effect of that size would most likely have been found.",
        ),
        *(
            (
                numbers,
                f"A column with a linear effect of 0.123, or of 0.2 if it shows a link on its own, {FIRST} The weakest "
                "selected column has 0.3. An effect of that size could have been missed: " + which,
            )
            for numbers, which in (
                ({}, "the column that was not selected is undecided."),
                ({"n_dropped": 2}, "1 of 2 columns that were not selected is undecided."),
                (
                    {"n_undecided": 1000, "n_dropped": 2000},
                    "1,000 of 2,000 columns that were not selected are undecided.",
                ),
            )
        ),
    ],
)
def test_what_would_have_been_found_in_words(changed, said):
    assert detectable_in_words({**FULL["detectable"], **changed}) == said


def test_roles_in_words():
    assert roles_in_words(ROLES) == [
        "a: parent (a → y; b → a), because of a collider",
        "b: parent or child",
        "undecided: c, d",
    ]
    assert roles_in_words(ROLES[:1]) == [role_in_words(ROLES[0])]
    roles = [Of(feature="a", role="undecided", arrows=(), because="")]
    assert roles_of(Of(roles_=roles)) == roles_of(Of()) == []
    roles.append(Of(feature="b", role="parent", arrows=(("b", "y"),), because="x"))
    assert roles_of(Of(roles_=roles)) == [
        {"feature": "a", "role": "undecided", "arrows": [], "because": ""},
        {"feature": "b", "role": "parent", "arrows": [["b", "y"]], "because": "x"},
    ]


def test_the_selection_that_new_rows_suggest():
    said = update_in_words({"summary": "After.", "suggested": []})
    assert said.startswith("After. The selection was not changed.")
    assert said.endswith("it would be: empty.")
    assert update_in_words({"summary": "After.", "suggested": ["a", "b"]}).endswith("it would be: a, b.")


def test_sentences_begin_with_a_capital():
    assert (capitalized("ab C"), capitalized("")) == ("Ab C", "")


def test_bounds_of_a_selector():
    confirmed = Of(features=("a", "b"), alpha=0.1)
    selector = Of(confirmed_=confirmed, at_least=len)
    assert at_least_of(selector) == {"features": ["a", "b"], "bounds": [1, 2], "alpha": 0.1}
    assert at_least_of(Of()) is None
    assert at_least_of(Of(confirmed_=Of(features=()))) is None


@pytest.mark.parametrize(
    "found", [None, Of(alone=NAN, given=0.1, weakest=0.1), Of(alone=np.inf, given=0.1, weakest=0.1)]
)
def test_what_cannot_be_detected_is_unknown(found):
    assert detectable_of(Of(trace_=Of(outcome=Of(detectable=found)))) is None
    assert detectable_of(Of(trace_=Of(outcome=None))) is None


def measuring(failure=None, data=True):
    """Return a selector that notes what it measures."""
    made = Of(_sufficiency=None, _at_hand=object() if data else None, measured=[])

    def measure_sufficiency(*arguments, **rows):
        made.measured.append((arguments, rows))
        if failure is not None:
            raise failure

    made.measure_sufficiency = measure_sufficiency
    return made


def test_sufficiency_is_measured_once_and_a_failure_is_said():
    done = measuring()
    done._sufficiency = object()
    assert (measure(done, "X", "y"), done.measured) == ("", [])
    assert measure(Of()) == ""
    fresh = measuring()
    assert measure(fresh, "X", "y", groups="g") == ""
    assert fresh.measured == [(("X", "y"), {"groups": "g"})]
    assert measure(measuring(InvalidInputError("too few rows")), "X", "y") == (
        "whether the selected columns are enough was not measured: too few rows"
    )
    # Without data `sufficiency_` is not asked for.
    assert measure(measuring(data=False)) == ""
    with pytest.raises(AttributeError, match="sufficiency_"):
        measure(measuring())


@pytest.mark.parametrize(
    ("n_selected", "n_columns", "said"),
    [
        (0, 0, "No column was selected to predict y"),
        (0, 3, "No column was selected to predict y"),
        (3, 3, "All 3 columns were selected to predict y"),
        (1, 3, "1 of 3 columns was selected to predict y"),
        (2, 3, "2 of 3 columns were selected to predict y"),
    ],
)
def test_headlines(n_selected, n_columns, said):
    assert _headline(n_selected, n_columns, "y") == said


def searched(n_columns=5, beside=(), support=(), notes=(), method=""):
    """Return a selector whose questions about features in `beside` were asked given others, of the rest alone."""
    asked = Of(
        features=np.arange(n_columns),
        is_marginal=~np.isin(np.arange(n_columns), beside),
        adjusted_pvalues=np.linspace(0.1, 0.5, n_columns),
    )
    trace = Of(
        names=list(range(n_columns)),
        notes=notes,
        method=method,
        data=Of(n_columns=n_columns),
        question_arrays=lambda: asked,
        features_of_columns=lambda: list(range(n_columns)),
    )
    return Of(trace_=trace, support_=np.isin(np.arange(n_columns), support))


def found(selected=("a",), **changed):
    return {"alpha": 0.05, "selected": list(selected), "detectable": None, "sufficiency": None, **changed}


AT = "At level 0.05 there is no evidence"
MISSED = ": an effect like that of the weakest selected column could have been missed."
WEAK = " A weak effect can still have been missed."


@pytest.mark.parametrize(
    ("selector", "result", "said"),
    [
        (searched(method="Told."), found(), "Told."),
        (searched(), found(alpha=None), ""),
        (searched(), found(sufficiency={"summary": "Enough."}, alpha=None), "Enough."),
        (
            searched(),
            found(()),
            f"{AT} that a column predicts the target better than chance. More rows, or another model, may show more.",
        ),
        (
            searched(notes=["other", "no column was selected: these rows show 0.5"]),
            found(()),
            f"{AT} that a column predicts the target better than chance. These rows show 0.5. More rows, or another "
            "model, may show more.",
        ),
        (searched(1), found(), "At level 0.05 there is evidence that each column adds to the others."),
        (
            searched(2, beside=[1], support=[0]),
            found(),
            f"{AT} that the other column adds to the selected ones.{WEAK}",
        ),
        (
            searched(3, beside=[1, 2], support=[0]),
            found(),
            f"{AT} that any of the other 2 columns adds to the selected ones.{WEAK}",
        ),
        (
            searched(2, beside=[0], support=[0]),
            found(),
            f"{AT} that the other column is linked to the target. It was tested on its own only.{WEAK}",
        ),
        (
            searched(3, support=[0]),
            found(),
            f"{AT} that any of the other 2 columns is linked to the target. They were tested on their own only.{WEAK}",
        ),
        (
            searched(4, beside=[0, 1], support=[0]),
            found(),
            f"{AT} for the other 3 columns: 1 were tested beside other columns, 2 on their own only.{WEAK}",
        ),
        *(
            (
                searched(3, support=[0]),
                found(detectable={"n_undecided": n}),
                f"{AT} that any of the other 2 columns is linked to the target. They were tested on their own only."
                + more,
            )
            for n, more in (
                (0, ""),
                (
                    1,
                    " 1 of them is undecided" + MISSED,
                ),
                (
                    2,
                    " 2 of them are undecided" + MISSED,
                ),
            )
        ),
    ],
)
def test_the_first_sentences(selector, result, said):
    assert _lead(selector, result, None) == said


def test_scores_in_words():
    assert _in_words(FULL["scores"]) == (
        "In 5-fold cross-validation, with the selection repeated inside each training part, Forest reached a mean r2 "
        "of 0.988 ± 0.012 with the selected columns (2.5 on average) and 0.500 with all 3."
    )
    assert _in_words(MANY["scores"]) == ""
    lacking = {**FULL["scores"], "all": {**FULL["scores"]["all"], "score": None}}
    assert _in_words(lacking) == ""
    assert _lead(searched(method="Told."), found(), FULL["scores"]).startswith(
        "Told. In 5-fold cross-validation, "
    )


def test_scores_of_a_comparison_are_rounded_and_nan_is_none():
    method = Of(name="all", score=0.123456789, score_error=NAN, n_columns=3.0, stability=np.inf, note="n")
    assert _scores(Of(scoring="r2", model="m", n_folds=2, methods=[method])) == {
        "scoring": "r2",
        "model": "m",
        "n_folds": 2,
        "all": {"score": 0.123457, "error": None, "n_columns": 3.0, "stability": None, "note": "n"},
    }
    assert plain_number(-np.inf) is None


def test_shares_of_repeated_selections():
    assert _shares((("a",), ("a", "b")), ["a", "b", "c"]) == [1.0, 0.5, 0.0]
    assert _shares((), ["a", "b"]) == [None, None]


def test_p_values_of_columns_on_their_own():
    trace = searched(4, beside=[1]).trace_
    np.testing.assert_allclose(_marginal_pvalues(trace), [0.1, NAN, 0.1 + 0.8 / 3, 0.5])


def test_confirmation_of_held_out_rows():
    confirmed = Of(
        n_rows=np.int64(30),
        alpha=0.05,
        correction="holm",
        features=("a", "b"),
        pvalues=[0.01, NAN],
        adjusted_pvalues=[0.02, NAN],
        effects=[0.3, 0.4],
        is_confirmed=np.array([True, False]),
    )
    assert confirmation_of(Of()) is None
    assert confirmation_of(Of(confirmed_=confirmed)) == {
        "summary": str(confirmed),
        "n_rows": 30,
        "alpha": 0.05,
        "correction": "holm",
        "columns": [
            {"feature": "a", "pvalue": 0.01, "adjusted_pvalue": 0.02, "effect": 0.3, "confirmed": True},
            {"feature": "b", "pvalue": None, "adjusted_pvalue": None, "effect": 0.4, "confirmed": False},
        ],
    }


@pytest.mark.parametrize(("n_columns", "explained"), [(501, 500), (500, 500)])
def test_five_hundred_columns_are_explained(n_columns, explained):
    trace = Of(explain=lambda column: f"{column}\nwhy")
    pvalues = [None, *np.linspace(0.9, 0.1, n_columns - 1)]
    selected = [False, True, *([False] * (n_columns - 2))]
    said = _explanations(Of(trace_=trace), {"pvalue": pvalues, "selected": selected})
    assert len(said) == explained
    assert ("0" in said) == (n_columns == explained)
    assert said["1"] == ["1", "why"]
    assert list(said) == sorted(said, key=int)


@pytest.mark.parametrize(("n", "length", "end"), [(298, 300, "x'"), (299, 300, "x…")])
def test_long_parameters_are_cut(n, length, end):
    assert len(_shown("x" * n)) == length
    assert _shown("x" * n).endswith(end)


def test_values_as_json_has_them():
    assert _plain([1, 2.5, NAN, np.inf, None, True, "a", np.float64(1.5), np.array([1, 2]), ("x",)]) == (
        [1, 2.5, None, None, None, True, "a", 1.5, [1, 2], ["x"]]
    )
    assert _plain(np.int64(3)) == 3


def test_notes_about_computing_and_those_said_elsewhere_are_left_out():
    notes = [
        "a",
        "computed by the engine",
        "with scikit-learn's interface",
        "no column was selected: b",
        "confirmed on c",
        "not confirmed on d",
    ]
    assert notes_for_readers({"notes": notes}) == ["a", "not confirmed on d"]


def test_classes_are_imported_from_where_users_find_them():
    assert _public_module(PPFS) == "ppfs"
    assert _public_module(type("PPFSCV", (), {"__module__": "x"})) == "ppfs"
    assert _public_module(type("A", (), {"__module__": "ppfs.blanket._fbed"})) == "ppfs.blanket"
    assert (
        _public_module(type("A", (), {"__module__": "sklearn.linear_model._ridge"})) == "sklearn.linear_model"
    )
