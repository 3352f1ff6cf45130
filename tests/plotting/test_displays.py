"""Plots show what the search found, on the caller's axes, and never a formula in place of a name."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from ppfs import PPFS, PPFSCV
from ppfs.blanket import IAMB, MMMB, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.plotting import (
    AtLeastDisplay,
    BlanketDisplay,
    ImportanceDisplay,
    PValueDisplay,
    RolesDisplay,
    ScoreSizeDisplay,
    StabilityDisplay,
    SufficiencyDisplay,
    TimelineDisplay,
    UpdateDisplay,
)
from ppfs.plotting._canvas import shown
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

pd = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
Figure = pytest.importorskip("matplotlib.figure").Figure
Text = pytest.importorskip("matplotlib.text").Text

ODD = "cost in $ of $x^2$"
OF_A_SEARCH = [ImportanceDisplay, BlanketDisplay, TimelineDisplay, PValueDisplay, StabilityDisplay]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[:, 4] = X[:, 0] + 0.3 * rng.normal(size=120)
    return pd.DataFrame(X, columns=[ODD, "b", "c", "d", "copy"]), X[:, 0] + 0.7 * X[:, 1] > 0


@pytest.fixture(scope="module")
def selector(frame):
    return PPFS(n_splits=10, n_folds=3, random_state=0).fit(*frame)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.parametrize("display", OF_A_SEARCH)
def test_a_plot_is_drawn_on_the_callers_axes_and_can_be_saved(display, selector, ax, tmp_path):
    drawn = display.from_estimator(selector, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    ax.figure.savefig(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


@pytest.mark.parametrize("display", OF_A_SEARCH)
def test_a_plot_of_what_was_not_fitted_is_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(PPFS())


def test_without_axes_a_figure_is_made_and_not_shown(selector, monkeypatch):
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("a plot was shown"))
    drawn = ImportanceDisplay.from_estimator(selector)
    assert drawn.figure_ is drawn.ax_.figure
    plt.close(drawn.figure_)


def test_selected_columns_come_first_and_names_are_not_read_as_formulas(selector, frame, ax):
    drawn = ImportanceDisplay.from_estimator(selector, ax=ax)
    n_selected = int(selector.support_.sum())
    assert list(drawn.names[:n_selected]) == frame[0].columns[selector.blanket_].tolist()
    labels = {label.get_text(): label for label in ax.get_yticklabels()}
    assert not labels[ODD].get_parse_math()


def test_the_timeline_has_every_question_of_the_chosen_fold(selector, ax):
    drawn = TimelineDisplay.from_estimator(selector, ax=ax)
    fold = selector.trace_.outcome.fold
    steps = [step for step in selector.trace_ if step.fold == fold]
    np.testing.assert_array_equal(drawn.pvalues, [step.pvalue for step in steps])
    assert list(drawn.phases) == [step.phase for step in steps]


def test_a_timeline_of_very_many_questions_keeps_all_that_speak_for_a_column(ax):
    is_favourable = np.zeros(40_000, dtype=bool)
    is_favourable[[3, 20_001]] = True
    drawn = TimelineDisplay(np.full(40_000, 0.5), ["growth"] * 40_000, is_favourable, 0.05).plot(ax=ax)
    shown = drawn._shown()
    assert {3, 20_001} <= set(shown.tolist())
    assert len(shown) <= 5_002


@pytest.mark.parametrize("lengths", [(16, 15, 15, 16, 1, 5, 1, 5, 4), (5, 5, 5, 5, 5, 5), (2, 90, 2)])
def test_names_of_phases_do_not_overprint(lengths):
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    names = ["joint growth", "second look"] * 5
    phases = [names[number] for number, length in enumerate(lengths) for _ in range(length)]
    pvalues = np.full(len(phases), 0.5)
    ax = TimelineDisplay(pvalues, phases, pvalues < 0, 0.05).plot(ax=figure.subplots()).ax_
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert boxes
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_axis_says_what_the_importances_are(frame, ax):
    drawn = ImportanceDisplay.from_estimator(IAMB(independence="likelihood-ratio").fit(*frame), ax=ax)
    assert drawn.ax_.get_xlabel() == "effect size of LikelihoodRatio"
    permuted = PermutationImportance(random_state=0).fit(*frame)
    drawn = ImportanceDisplay.from_estimator(permuted, ax=Figure().subplots())
    assert drawn.ax_.get_xlabel() == "decrease of the score when the column is shuffled"


def test_the_histogram_counts_each_column_once(selector, frame, ax):
    drawn = PValueDisplay.from_estimator(selector, ax=ax)
    assert len(drawn.pvalues) == frame[0].shape[1]


def test_stability_shows_which_fold_selected_what(selector, frame, ax):
    drawn = StabilityDisplay.from_estimator(selector, ax=ax)
    for name, members in zip(drawn.names, drawn.members, strict=True):
        column = frame[0].columns.get_loc(name)
        assert members.tolist() == [column in fold.blanket for fold in selector.folds_]
    assert selector.folds_[drawn.chosen].is_chosen


def test_stability_without_folds_says_how_to_get_them(frame):
    with pytest.raises(InvalidInputError, match="n_folds=5"):
        StabilityDisplay.from_estimator(PPFS(n_splits=5, random_state=0).fit(*frame))


def test_the_blanket_hangs_what_gave_way_on_a_member(selector, frame, ax):
    drawn = BlanketDisplay.from_estimator(selector, target="y", ax=ax)
    assert list(drawn.members) == frame[0].columns[selector.blanket_].tolist()
    gone = {name for names in drawn.redundant.values() for name in names}
    assert gone <= set(frame[0].columns[~selector.support_])


@pytest.mark.parametrize("n_members", range(1, 13))
@pytest.mark.parametrize("n_letters", [12, 32])
def test_names_around_the_target_do_not_overprint(n_members, n_letters):
    members = [f"{number:_>{n_letters}}" for number in range(n_members)]
    redundant = {member: [f"redundant {member[-9:]}"] * 6 for member in members}
    drawn = BlanketDisplay(members, [1.0] * n_members, redundant, "outcome")
    drawn.plot(ax=Figure(figsize=(8.4, 5.6), layout="constrained").subplots())
    drawn.figure_.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in drawn.ax_.texts]
    assert len(boxes) == 2 * n_members + 1
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


def test_a_search_that_selects_nothing_can_be_drawn(ax):
    rng = np.random.default_rng(1)
    nothing = PPFS(n_splits=5, correction="bonferroni", random_state=0)
    with pytest.warns(UserWarning, match="cannot be reached"):
        nothing.set_params(alpha=0.001).fit(rng.normal(size=(40, 3)), rng.permutation(np.arange(40) % 2))
    BlanketDisplay.from_estimator(nothing, ax=ax)
    ImportanceDisplay.from_estimator(nothing, ax=Figure().subplots())


def test_a_blanket_is_drawn_without_axes(ax):
    BlanketDisplay(["a"], [1.0], {}, "y").plot(ax=ax)
    assert not ax.axison


def test_the_chosen_size_has_a_ring(ax):
    sizes, scores = np.array([1.0, 2.0]), np.array([0.7, 0.6])
    ScoreSizeDisplay(sizes, scores, np.full(2, 0.1), labels=[], chosen=1).plot(ax=ax)
    ring = ax.collections[-1]
    assert ring.get_offsets().tolist() == [[2.0, 0.6]]
    assert len(ring.get_facecolor()) == 0


def test_the_front_joins_what_nothing_smaller_outdoes(ax):
    sizes, scores = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.7, 0.6, 0.9, 0.9])
    ScoreSizeDisplay(sizes, scores, np.full(4, 0.1), labels=["a", "b", "c", "d"], chosen=2).plot(ax=ax)
    front = ax.lines[-1]
    np.testing.assert_array_equal(front.get_xdata(), [1, 3])


def test_score_against_size_marks_the_candidate_that_was_chosen(frame, ax):
    candidates = {"n_splits": [5], "n_features": [1, 2, None]}
    search = PPFSCV(candidates=candidates, cv=2, random_state=0).fit(*frame)
    drawn = ScoreSizeDisplay.from_estimator(search, ax=ax)
    assert drawn.chosen == search.best_index_
    np.testing.assert_array_equal(drawn.sizes, search.cv_results_["mean_n_features"])


def test_score_against_size_wants_candidates(selector):
    with pytest.raises(InvalidInputError, match="PPFSCV"):
        ScoreSizeDisplay.from_estimator(selector)


@pytest.mark.parametrize("display", OF_A_SEARCH)
def test_a_plot_of_what_cross_validation_chose_is_that_of_its_search(display, frame, ax):
    search = PPFSCV(selector=PPFS(n_splits=5, n_folds=2), candidates=[{}], cv=2, random_state=0).fit(*frame)
    assert display.from_estimator(search, ax=ax).ax_ is ax


def test_a_plot_of_questions_wants_some(frame):
    fitted = Stepwise(cv=2, random_state=0).fit(*frame)
    with pytest.raises(InvalidInputError, match="Stepwise keeps no trace of questions to draw"):
        TimelineDisplay.from_estimator(fitted)


def test_stability_selection_is_drawn_by_its_shares(frame, ax):
    stable = StabilitySelection(PPFS(n_splits=5), n_pairs=3, random_state=0).fit(*frame)
    drawn = StabilityDisplay.from_estimator(stable, ax=ax)
    assert drawn.threshold == stable.threshold_
    by_name = dict(zip(frame[0].columns, stable.stability_, strict=True))
    assert [by_name[name] for name in drawn.names] == drawn.shares.tolist()
    assert drawn.shares.tolist() == sorted(drawn.shares, reverse=True)


def test_importances_that_nobody_measured_are_not_drawn(frame):
    stable = StabilitySelection(PPFS(n_splits=5), n_pairs=2, random_state=0).fit(*frame)
    with pytest.raises(InvalidInputError, match="StabilityDisplay"):
        ImportanceDisplay.from_estimator(stable)


@pytest.mark.parametrize("kind", [Stepwise, partial(SubsetSearch, max_subsets=4)])
def test_what_is_suggested_instead_of_importances_can_be_drawn(frame, ax, kind):
    fitted = kind(LogisticRegression(), cv=2, random_state=0).fit(*frame)
    with pytest.raises(InvalidInputError, match="BlanketDisplay draws the selected columns"):
        ImportanceDisplay.from_estimator(fitted)
    BlanketDisplay.from_estimator(fitted, ax=ax)


def test_long_names_are_shortened_in_the_middle():
    first, second = (f"measurement of the patient at admission {side}" for side in ("left", "right"))
    assert shown(first) != shown(second)
    assert len(shown(first)) == 32
    assert shown(first).startswith("measurement")


def test_names_of_methods_do_not_overprint(ax):
    n = 8
    ScoreSizeDisplay(
        np.full(n, 3.0), np.full(n, 0.9), np.full(n, 0.01), labels=[f"method {i}" for i in range(n)]
    ).plot(ax=ax)
    ax.figure.canvas.draw()
    places = sorted(text.xyann[1] * ax.bbox.height for text in ax.texts)
    # Without the line that joins a name to its point.
    height = max(Text.get_window_extent(text).height for text in ax.texts)
    assert len(places) == n
    assert np.diff(places).min() > height


def test_the_word_beside_the_chosen_candidate_is_near_it(ax):
    sizes, scores = np.array([1.0, 20.0, 30.0]), np.array([0.7, 0.6, 0.9])
    ScoreSizeDisplay(sizes, scores, np.full(3, 0.1), labels=[], chosen=1).plot(ax=ax)
    ax.figure.canvas.draw()
    (word,) = (text for text in ax.texts if text.get_text() == "chosen")
    corner = word.get_window_extent().p0
    away = (corner - ax.transData.transform((20.0, 0.6))) * 72 / ax.figure.dpi
    # In points, of which a letter is about ten high.
    assert 0 < away.min() <= away.max() < 20


def test_sufficiency_shows_three_losses_and_the_margin(frame):
    selector = PPFS(n_splits=10, random_state=0).fit(*frame)
    display = SufficiencyDisplay.from_estimator(selector, ax=Figure().subplots())
    found = selector.sufficiency_
    assert [bar.get_width() for bar in display.ax_.patches] == [
        found.of_nothing,
        found.of_selected,
        found.of_all,
    ]
    assert "5% of what all columns explain" in display.ax_.get_legend().get_texts()[0].get_text()


def test_sufficiency_needs_data(frame):
    selector = PPFS(n_splits=10, random_state=0).fit(*frame, sufficiency=False)
    with pytest.raises(InvalidInputError, match="measure_sufficiency"):
        SufficiencyDisplay.from_estimator(selector)


def test_at_least_draws_the_bounds(frame):
    selector = PPFS.calibrated(confirm=0.4, always_keep=["b", "c"], random_state=0).fit(*frame)
    display = AtLeastDisplay.from_estimator(selector, ax=Figure().subplots())
    expected = [selector.at_least(selector.confirmed_.features[: k + 1]) for k in range(len(display.bounds))]
    assert display.bounds.tolist() == expected


def test_at_least_needs_rows_that_were_held_out(selector):
    with pytest.raises(InvalidInputError, match="confirm"):
        AtLeastDisplay.from_estimator(selector)


def test_importances_are_shown_beside_what_would_have_been_found(frame):
    X, y = frame
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    display = ImportanceDisplay.from_estimator(selector, ax=Figure().subplots())
    lines = [line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert sorted(lines) == sorted(display.detectable)
    assert set(display.detectable) <= {
        selector.trace_.outcome.detectable.alone,
        selector.trace_.outcome.detectable.given,
    }


def test_roles_are_drawn_with_arrows_that_were_earned():
    rng = np.random.default_rng(0)
    cause, y = rng.normal(size=400), rng.normal(size=400)
    X = pd.DataFrame({"$other$": cause, "effect": cause + y + 0.5 * rng.normal(size=400)})
    search = MMMB(independence="fisher-z").fit(X, y)
    display = RolesDisplay.from_estimator(search, ax=Figure().subplots())
    assert len([text for text in display.ax_.texts if getattr(text, "arrow_patch", None)]) == 2
    assert "$other$\nspouse" in [text.get_text() for text in display.ax_.texts]


def test_roles_that_no_question_decided_are_not_drawn(selector):
    with pytest.raises(InvalidInputError, match="MMMB"):
        RolesDisplay.from_estimator(selector)


def test_new_rows_are_drawn_with_their_evidence(frame):
    X, y = frame
    selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="no new rows"):
        UpdateDisplay.from_estimator(selector)
    found = selector.update(X, y)
    display = UpdateDisplay.from_estimator(selector, ax=Figure().subplots())
    assert len(display.ax_.patches) == len(found.features)
