"""A report says the same in every way of writing, and names from the data stay text."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS, compare
from ppfs.blanket import FBED, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.report import Report
from ppfs.report._markdown import markdown_page
from ppfs.report._verdicts import doubts_in_words
from ppfs.wrappers import PermutationImportance, Stepwise

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

pytestmark = pytest.mark.usefixtures("small_forests")

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out the plots of a page, whose drawing takes most of the time: for tests of its words."""
    monkeypatch.setattr("ppfs.report._report.pictures_of", lambda selector: [])


@pytest.fixture(scope="module")
def selector():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=[HOSTILE, "b|c", "line\nbreak", "</script><b>"])
    y = pd.Series(X[HOSTILE] + X["b|c"] > 0, name="bought & paid")
    return PPFS(n_splits=10, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def frame_and_target():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    return X, pd.Series(X["a"] + X["b"] > 0, name="bought")


@pytest.fixture(scope="module")
def page(selector):
    return selector.report().html()


@pytest.mark.usefixtures("two_repeats")
def test_the_page_asks_for_nothing_outside_itself(page):
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_names_from_the_data_are_text(page):
    assert HOSTILE not in page
    assert "</script><b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "bought &amp; paid" in page


def test_the_table_in_the_page_is_the_results(page, selector):
    data = re.search(r'<script id="table" type="application/json">(.*?)</script>', page, re.DOTALL).group(1)
    table = json.loads(data)
    assert table["column"] == list(selector.feature_names_in_)
    assert table["selected"] == selector.support_.astype(int).tolist()
    np.testing.assert_allclose(table["pvalue"], selector.pvalues_, rtol=1e-5)


def test_drawings_on_a_page_do_not_share_marks(page):
    marks = re.findall(r'<clipPath id="([^"]+)"', page)
    assert len(marks) == len(set(marks))


def test_json_is_the_summary_and_has_no_nan(selector):
    report = selector.report()
    read = json.loads(report.json(), parse_constant=lambda text: pytest.fail(f"{text} is not valid JSON"))
    assert read == json.loads(json.dumps(report.summary))
    assert read["headline"] == "2 of 4 columns were selected to predict bought & paid"
    assert sum(count for _, count in read["data"]["classes"]) == 150
    assert read["parameters"] == {"n_splits": "10", "random_state": "0"}


def test_markdown_keeps_names_on_one_line_and_in_one_cell(selector):
    text = selector.report().markdown()
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}  # None is "detectable".
    assert len(rows) == 5
    assert HOSTILE not in text


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(("name", "start"), [("r.html", "<!doctype"), ("r.json", "{"), ("r.md", "# ")])
def test_the_ending_of_a_file_decides_the_way(selector, tmp_path, name, start):
    where = selector.report().save(tmp_path / name)
    assert where.read_text(encoding="utf-8").startswith(start)


def test_another_ending_is_refused_with_those_that_work(selector, tmp_path):
    with pytest.raises(InvalidInputError, match=r"\.html, \.json or \.md"):
        selector.report().save(tmp_path / "report.pdf")


@pytest.mark.usefixtures("no_pictures")
def test_a_notebook_shows_the_page_in_a_frame_of_its_own(selector):
    shown = selector.report()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown


def test_the_same_fit_gives_the_same_page_but_for_the_date(selector, page):
    again = selector.report()
    again.summary["created"] = re.search(r"<dt>date</dt><dd>(.*?)</dd>", page).group(1)
    assert again.html() == page


@pytest.mark.usefixtures("two_repeats")
def test_other_searches_and_folds_have_reports_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    search = FBED(independence="fisher-z", n_folds=2, random_state=0).fit(X, X[:, 0] + rng.normal(size=200))
    page = search.report().html()
    assert "Agreement between folds" in page
    assert "from ppfs.blanket import FBED" in page
    assert search.report().summary["data"]["quartiles"]


def test_nothing_selected_is_said_in_words():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
    report = PPFS(n_splits=10, alpha=0.002, random_state=0).fit(X, y).report()
    assert report.summary["headline"] == "No column was selected to predict target"
    assert "no column was selected" in report.html()


@pytest.mark.usefixtures("no_pictures")
def test_the_command_that_made_it_can_be_given(selector):
    assert "ppfs select data.csv" in Report(selector, command="ppfs select data.csv").html()


def test_the_report_claims_no_more_than_was_tested(selector, page):
    lead = selector.report().summary["lead"]
    assert "no evidence that any of the other 2 columns is linked to the target" in lead
    assert "They were tested on their own only." in lead
    for claim in ("enough to predict", "gains nothing", "adds nothing", "tells nothing"):
        assert claim not in page


def test_p_alone_is_that_of_growth_with_its_correction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    found = PPFS(n_splits=20, correction="bh", random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    columns = found.report().summary["columns"]
    growth = {step.feature: step.adjusted_pvalue for step in found.trace_ if step.phase == "growth"}
    np.testing.assert_allclose(columns["marginal_pvalue"], [growth[i] for i in range(6)], rtol=1e-5)
    kept = found.blanket_[0]
    assert columns["marginal_pvalue"][kept] != columns["pvalue"][kept]


@pytest.mark.usefixtures("no_pictures")
def test_held_out_rows_are_in_every_way_of_writing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    found = PPFS.calibrated(confirm=0.3, random_state=0).fit(X, X[:, 0] + 0.3 * rng.normal(size=200))
    report = found.report()
    confirmed = report.summary["confirmation"]
    assert confirmed["n_rows"] == 60
    assert confirmed["columns"][0]["feature"] == "x0"
    assert report.summary["columns"]["confirmed_pvalue"][0] == confirmed["columns"][0]["adjusted_pvalue"]
    assert "Confirmed on rows held out" in report.html()
    assert "Confirmed on rows held out" in report.markdown()


def test_every_row_has_its_questions(selector, page):
    data = re.search(
        r'<script id="explanations" type="application/json">(.*?)</script>', page, re.DOTALL
    ).group(1)
    explanations = json.loads(data)
    assert explanations["0"] == selector.trace_.explain(0).splitlines()
    assert len(explanations) == 4


@pytest.mark.usefixtures("no_pictures")
def test_scores_come_with_the_selection_repeated_inside_the_folds(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    y = X["a"] + X["b"] > 0
    found = PPFS(n_splits=10, random_state=0).fit(X, y)
    fitted, fit = [], PPFS.fit
    monkeypatch.setattr(
        PPFS, "fit", lambda self, *data, **rows: fitted.append(self) or fit(self, *data, **rows)
    )
    report = Report.with_scores(found, X, y, command="ppfs select data.csv")
    summary = report.summary
    # Scores and sufficiency share the searches in five folds, and say what they say without sharing.
    assert len(fitted) == summary["sufficiency"]["n_folds"] == 5
    alone = compare(X, y, methods={"selection": PPFS(n_splits=10, random_state=0)}, random_state=0)[
        "selection"
    ]
    assert summary["scores"]["selection"]["score"] == pytest.approx(alone.score)
    assert summary["columns"]["refits"] == [
        np.mean([name in one for one in alone.selected]) for name in "abcde"
    ]
    scores = summary["scores"]
    assert scores["scoring"] == "accuracy"
    assert scores["n_folds"] == 5
    assert scores["all"]["n_columns"] == 5
    assert scores["selection"]["n_columns"] < 5
    assert summary["columns"]["refits"][0] >= 0.8
    assert summary["columns"]["refits"][4] <= 0.2
    assert "cross-validation" in summary["lead"]
    page = report.html()
    assert "cross-validated" in page
    assert "ppfs select data.csv" in page


@pytest.mark.usefixtures("no_pictures")
def test_the_date_and_code_to_repeat_are_there(selector, page):
    assert re.search(r"<dt>date</dt><dd>\d{4}-\d\d-\d\d</dd>", page)
    assert "selector = PPFS(n_splits=10, random_state=0).fit(X, y)" in page
    with_command = Report(selector, command="ppfs select data.csv").html()
    assert "selector = PPFS(" in with_command


def test_scores_of_a_search_with_a_checkpoint_leave_it_alone(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    y = X["a"] + X["b"] > 0
    found = PPFS(n_splits=10, random_state=0, checkpoint=tmp_path / "run").fit(X, y)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert found.report(X, y).summary["scores"]["selection"]["note"] == ""
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_scores_that_could_not_be_computed_are_explained():
    class FailsOnFewerRows(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            if len(y) < 90:
                raise ValueError("too few rows")
            return super().fit(X, y, sample_weight)

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    y = X["a"] + X["b"] > 0
    found = PPFS(FailsOnFewerRows(), n_splits=10, random_state=0).fit(X, y)
    report = found.report(X, y)
    assert report.summary["scores"]["selection"]["score"] is None
    (note,) = [note for note in report.summary["notes"] if "Cross-validated scores of the selection" in note]
    assert "too few rows" in note
    assert "too few rows" in report.markdown()


@pytest.mark.usefixtures("no_pictures", "two_repeats")
@pytest.mark.parametrize("search", [Stepwise(random_state=0), PermutationImportance(random_state=0)])
def test_columns_without_a_pvalue_are_not_called_kept_by_request(search):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    page = search.fit(X, X["a"] > 0).report().html()
    assert "kept by request" not in page
    asked_for = PPFS(n_splits=5, random_state=0, always_keep=["b"]).fit(X, X["a"] > 0).report().html()
    assert asked_for.count('<span class="p">kept by request</span>') == 1


@pytest.mark.usefixtures("two_repeats")
@pytest.mark.parametrize(
    "made",
    [
        PPFS(n_splits=5, random_state=0, progress="log"),
        PPFS.calibrated(random_state=0),
        PPFS.calibrated(LogisticRegression(C=2.0), correction=None, alpha=0.1, random_state=3),
        PPFS(make_pipeline(StandardScaler(), LogisticRegression()), splitter=KFold(5), random_state=0),
        StabilitySelection(PPFS(LogisticRegression(), n_splits=5), n_pairs=1, random_state=0),
    ],
)
def test_the_code_of_a_report_makes_the_same_search(made):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    code = made.fit(X, y).report().summary["code"]
    assert "progress" not in code
    assert ("PPFS.calibrated(" in code) == (getattr(made, "independence", None) is not None)
    space = {"X": X, "y": y}
    exec(code, space)
    expected = made.set_params(progress=False) if "progress" in made.get_params() else made
    assert repr(space["selector"].get_params(deep=False)) == repr(expected.get_params(deep=False))


@pytest.mark.usefixtures("no_pictures")
def test_a_selector_without_notes_has_no_heading_for_them():
    X = np.random.default_rng(0).normal(size=(80, 3))
    report = StabilitySelection(PPFS(n_splits=5), n_pairs=1, random_state=0).fit(X, X[:, 0] > 0).report()
    assert "Notes" not in report.markdown()
    assert "Notes" not in report.html()


@pytest.mark.usefixtures("no_pictures", "two_repeats")
@pytest.mark.parametrize("made", [PPFS(n_splits=5, random_state=0), PPFS.calibrated(random_state=0)])
def test_notes_for_readers_leave_out_how_models_were_computed(made):
    rng = np.random.default_rng(0)
    report = made.fit(rng.normal(size=(80, 3)), np.arange(80) % 2).report()
    assert any("engine" in note for note in report.summary["notes"])
    for text in (report.html(), report.markdown()):
        assert "engine" not in text
        assert "task: classification" in text


@pytest.mark.usefixtures("two_repeats")
def test_the_first_sentence_is_about_the_selection_as_a_whole(frame_and_target):
    X, y = frame_and_target
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    report = selector.report()
    summary = report.summary
    assert summary["lead"].startswith(str(selector.sufficiency_))
    assert summary["sufficiency"]["verdict"] == selector.sufficiency_.verdict
    assert "Are the selected columns enough?" in report.html()
    assert str(selector.sufficiency_).split(":")[0] in report.markdown()


@pytest.mark.usefixtures("no_pictures")
def test_the_report_can_do_without_it(frame_and_target):
    X, y = frame_and_target
    selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    report = selector.report(sufficiency=False)
    assert report.summary["sufficiency"] is None
    assert report.summary["lead"].startswith("At level 0.05")
    assert "enough" not in report.html()
    assert selector._sufficiency is None


def test_a_failure_to_measure_is_a_note(frame_and_target, monkeypatch):
    X, y = frame_and_target
    selector = PPFS(n_splits=10, random_state=0).fit(X, y)

    def fail(*_, **__):
        raise InvalidInputError("too small a part")

    monkeypatch.setattr(PPFS, "measure_sufficiency", fail)
    summary = selector.report().summary
    assert summary["sufficiency"] is None
    assert any("too small a part" in note for note in summary["notes"])


def test_doubtful_p_values_are_said_once(selector):
    assert selector.report().summary["may_be_too_small"] == []
    assert doubts_in_words([]) == []
    assert doubts_in_words(["a"])[0].startswith("The p-value of 'a' may be too small: ")
    assert doubts_in_words(["a", "b"])[0].startswith("The p-values of 'a', 'b' may be too small: ")
    page = {**selector.report().summary, "may_be_too_small": ["a", "b"]}
    assert markdown_page(page).count("may be too small") == 1
