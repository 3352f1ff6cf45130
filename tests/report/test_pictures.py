"""Which pictures a report has, of what size, and what makes a report; nothing is fitted."""

from types import SimpleNamespace as Of

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from ppfs.exceptions import InvalidInputError
from ppfs.report import Report, _again, _pictures, _report
from ppfs.report._again import is_searched_in_folds, repeated
from ppfs.report._pictures import pictures_of

pytest.importorskip("matplotlib")

USUAL = [
    ("How much each column matters", "ImportanceDisplay", {"max_columns": 20}),
    ("The selected columns", "BlanketDisplay", {"target": "y"}),
    ("The search, answer by answer", "TimelineDisplay", {}),
    ("P-values of single columns", "PValueDisplay", {}),
]
FOLDS = ("Agreement between folds", "StabilityDisplay", {})
ENOUGH = ("Are the selected columns enough?", "SufficiencyDisplay", {})
BOUNDS = ("How many of the first columns are related?", "AtLeastDisplay", {})
LAST = [("New rows", "UpdateDisplay", {}), ("Roles around the target", "RolesDisplay", {})]
SIZES = {
    "The selected columns": (8.4, 5.6),
    "The search, answer by answer": (7.0, 3.6),
    "P-values of single columns": (7.0, 3.0),
    "Are the selected columns enough?": (7.0, 2.6),
    "How many of the first columns are related?": (7.0, 3.0),
    "New rows": (7.0, 4.0),
    "Roles around the target": (7.0, 5.0),
}


@pytest.fixture
def asked(monkeypatch):
    """Note which plots are drawn in place of drawing them."""
    called = []

    def display(name):
        def from_estimator(selector, *, ax, **settings):
            called.append((name, ax, settings))

        return Of(from_estimator=from_estimator)

    for name in vars(_pictures).copy():
        if name.endswith("Display"):
            monkeypatch.setattr(_pictures, name, display(name))

    def drawn(draw, figsize, salt):
        draw("axes")
        called.append((salt, figsize))
        if salt == "New rows":
            raise InvalidInputError("no new rows")
        return f"<svg>{salt}</svg>"

    monkeypatch.setattr(_pictures, "_drawn", drawn)
    return called


def searched(n_columns=3, **attributes):
    trace = Of(column_names=["a"] * n_columns, data=Of(target="y"))
    return Of(trace_=trace, **attributes)


@pytest.mark.parametrize(
    ("attributes", "more"),
    [
        ({}, []),
        ({"folds_": (Of(blanket=(0, 1)), Of(blanket=(1, 4)))}, [FOLDS]),
        ({"_sufficiency": object()}, [ENOUGH]),
        ({"confirmed_": object()}, [BOUNDS]),
        ({"folds_": (), "_sufficiency": None, "confirmed_": None}, []),
        ({"folds_": [Of(blanket=(0,))], "_sufficiency": 1, "confirmed_": 1}, [FOLDS, ENOUGH, BOUNDS]),
    ],
)
def test_pictures_of_what_there_is(asked, attributes, more):
    found = pictures_of(searched(**attributes))
    wanted = [*USUAL, *more, *LAST]
    assert [one[:1] + one[2:] for one in asked if len(one) == 3] == [
        (name, settings) for _, name, settings in wanted
    ]
    assert {one[1] for one in asked if len(one) == 3} == {"axes"}
    sizes = {one[0]: one[1] for one in asked if len(one) == 2}
    assert list(sizes) == [title for title, _, _ in wanted]
    assert {title: size for title, size in sizes.items() if title in SIZES} == {
        title: SIZES[title] for title in sizes if title in SIZES
    }
    # What cannot be drawn is left out.
    assert [one.title for one in found] == [title for title, _, _ in wanted if title != "New rows"]
    assert all(one.svg == f"<svg>{one.title}</svg>" and one.caption.endswith(".") for one in found)


@pytest.mark.parametrize(("n_columns", "n_shown"), [(0, 1), (1, 1), (19, 19), (20, 20), (21, 20)])
def test_heights_grow_with_the_columns(asked, n_columns, n_shown):
    pictures_of(searched(n_columns, folds_=[Of(blanket=range(n_columns))]))
    sizes = {one[0]: one[1] for one in asked if len(one) == 2}
    assert sizes["How much each column matters"] == pytest.approx((7.0, 1.0 + 0.27 * n_shown))
    assert sizes["Agreement between folds"] == pytest.approx((7.0, 1.2 + 0.27 * min(n_columns, 20)))


def test_a_picture_has_the_colors_of_the_page_and_no_date():
    def draw(ax):
        ax.plot([0, 1], [0, 1])
        ax.set_xlabel("x")

    one, other, again = (_pictures._drawn(draw, (3.0, 2.0), salt) for salt in ("a", "b", "a"))
    assert one.startswith("<svg")
    assert "#010203" not in one
    assert "currentColor" in one
    assert "<dc:date>" not in one
    assert 'width="216pt" height="144pt"' in one
    assert ">x</text>" in one
    assert "fill: #ffffff" not in one
    assert one == again
    assert one != other


class Selector(BaseEstimator):
    """A fitted selector, as far as a report needs it."""

    def __init__(self, estimator=None, random_state=7):
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X, y):
        """Return what is fitted already."""
        return self


def fitted(**parameters):
    made = Selector(**parameters)
    made.blanket_, made.trace_ = np.array([0]), Of(data=Of(task="regression"))
    made._sufficiency = made._in_parts = None
    made._to_repeat = lambda: "again"
    return made


@pytest.fixture
def compared(monkeypatch):
    called = []
    monkeypatch.setattr(_report, "measure", lambda *arguments, **rows: called.append((arguments, rows)))
    monkeypatch.setattr(
        _report, "compare", lambda X, y, **settings: called.append((X, y, settings)) or "scores"
    )
    return called


@pytest.mark.parametrize(
    ("seed", "used"), [(7, 7), (np.int64(7), 7), (None, 0), (np.random.RandomState(0), 0)]
)
def test_scores_repeat_the_selection(compared, seed, used):
    selector = fitted(random_state=seed, estimator=LinearRegression())
    report = Report.with_scores(selector, "X", "y", cv=3, command="c", groups="g")
    assert compared[0] == ((selector, "X", "y"), {"groups": "g"})
    X, y, settings = compared[1]
    assert (X, y, type(settings.pop("estimator"))) == ("X", "y", LinearRegression)
    assert settings == {
        "methods": {"selection": "again", "all": "all"},
        "cv": 3,
        "task": "regression",
        "random_state": used,
        "groups": "g",
    }
    assert (report.selector, report.command, report.comparison, report.sufficiency) == (
        selector,
        "c",
        "scores",
        True,
    )


def test_scores_without_sufficiency_and_with_the_usual_settings(compared):
    report = Report.with_scores(fitted(estimator="auto"), "X", "y", sufficiency=False)
    ((_, _, settings),) = compared
    assert (settings["cv"], settings["estimator"]) == (5, None)
    assert (report.command, report.sufficiency) == (None, False)
    for make in (lambda: Report(Selector()), lambda: Report.with_scores(Selector(), "X", "y")):
        with pytest.raises(NotFittedError):
            make()


def test_a_report_is_summarized_once(monkeypatch):
    called = []

    def summarize(*arguments, with_sufficiency):
        called.append((arguments, with_sufficiency))
        return {"headline": "h", "é": [1.5]}

    monkeypatch.setattr(_report, "summarize", summarize)
    selector = fitted()
    report = Report(selector, command="c", comparison="scores", sufficiency=False)
    assert report.json() == '{\n  "headline": "h",\n  "é": [\n    1.5\n  ]\n}'
    assert repr(report) == "<Report: h>"
    assert called == [((selector, "c", "scores"), False)]
    assert (Report(selector).command, Report(selector).comparison, Report(selector).sufficiency) == (
        None,
        None,
        True,
    )
    report.summary["number"] = float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        report.json()


@pytest.mark.parametrize(
    ("name", "way"), [("r.html", "html"), ("r.HTM", "html"), ("r.json", "json"), ("r.Md", "markdown")]
)
def test_endings_decide_what_is_written(monkeypatch, tmp_path, name, way):
    for one in ("html", "json", "markdown"):
        monkeypatch.setattr(Report, one, lambda self, one=one: f"ü {one}")
    where = Report(fitted()).save(str(tmp_path / name))
    assert where == tmp_path / name
    assert where.read_text(encoding="utf-8") == f"ü {way}"


def test_a_notebook_gets_a_frame(monkeypatch):
    monkeypatch.setattr(Report, "html", lambda self: '<a title="x">&')
    assert Report(fitted())._repr_html_() == (
        '<iframe srcdoc="&lt;a title=&quot;x&quot;&gt;&amp;" style="width:100%;height:760px;border:0" '
        'title="ppfs report"></iframe>'
    )


class Parts:
    """What was selected in parts of the rows."""

    def of(self, selector, data):
        return selector, data.X, data.y, data.groups


def shared(task="regression", **parameters):
    made = fitted(**parameters)
    made._in_parts, made._sufficiency = Parts(), Of(n_folds=5)
    made.trace_ = Of(data=Of(task=task))
    return made


@pytest.mark.parametrize(
    ("selector", "is_shared"),
    [
        (shared(), True),
        (shared("classification"), True),
        (shared(random_state=np.int64(3)), True),
        (shared("survival"), False),
        (shared(random_state=None), False),
        (fitted(), False),
    ],
)
def test_searches_in_parts_of_the_rows_are_shared(selector, is_shared):
    assert (repeated(selector) == "again") != is_shared
    assert is_searched_in_folds(selector, 5) == is_shared
    assert not is_searched_in_folds(selector, 4)


def test_selectors_for_a_model_are_not_shared(monkeypatch):
    monkeypatch.setattr(_again, "selects_for_a_model", lambda selector: True)
    assert repeated(shared()) == "again"
    assert not is_searched_in_folds(shared(), 5)


def test_what_was_selected_in_parts_is_looked_up():
    selector = shared()
    again = repeated(selector)
    assert again.__sklearn_clone__().selector is selector
    assert again.fit("X", "y", groups="g") is again
    assert again.get_support() == (selector, "X", "y", "g")
