"""Selected columns are tested on rows that the search never saw."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from checks.scripted import ScriptedTest
from sklearn.linear_model import LogisticRegression, Ridge

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._data.table import Table
from ppfs._trace import Outcome, Trace
from ppfs.blanket._run.confirm import RowsAside, confirm, search_and_confirm
from ppfs.blanket._run.confirming_search import _bound_in_words
from ppfs.blanket._steps.correction import adjust
from ppfs.exceptions import InvalidInputError
from ppfs.independence import (
    Automatic,
    Binding,
    BoundTest,
    CrossFitPPI,
    FisherZ,
    IndependenceResult,
    IndependenceTest,
)


def table(seed: int = 0, n_rows: int = 120, n_columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_rows)


def search(**parameters: object) -> PPFS:
    return PPFS.calibrated(Ridge(), **{"confirm": 0.3, "random_state": 0, **parameters})


def test_true_columns_are_confirmed_and_the_trace_tells() -> None:
    X, y = table()
    selector = search().fit(X, y)
    confirmed = selector.confirmed_
    assert sorted(confirmed.features) == ["x0", "x1"]
    assert confirmed.is_confirmed.all()
    assert confirmed.n_rows == 36
    assert confirmed.columns == tuple((column,) for column in selector.blanket_.tolist())
    assert (confirmed.adjusted_pvalues >= confirmed.pvalues).all()
    assert confirmed.fdr == confirmed.adjusted_pvalues.max() <= 0.05
    assert confirmed.to_frame()["feature"].tolist() == list(confirmed.features)
    assert "on rows set aside, confirm: 'x0' given 'x1'" in selector.trace_.explain("x0")
    assert any("36 rows that the search never saw: 2 of 2" in note for note in selector.trace_.notes)


def test_the_search_is_that_of_the_other_rows_and_of_them_alone() -> None:
    X, y = table()
    selector = search().fit(X, y)
    others = selector.trace_.data.n_rows
    assert others == 84
    rng = np.random.default_rng(1)
    # Whatever stands in the rows aside: the first fit tells which they are, by what their loss changes.
    changed = y.copy()
    aside = _rows_aside(X, y)
    changed[aside] = rng.normal(size=aside.size)
    again = search().fit(X, changed)
    assert again.blanket_.tolist() == selector.blanket_.tolist()
    np.testing.assert_array_equal(again.pvalues_, selector.pvalues_)
    assert not again.confirmed_.is_confirmed.any()


def _rows_aside(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    parts = RowsAside.of(read_table(X, y, task="regression", owner=PPFS()), 0.3, 0)
    assert not set(parts.aside.kept_rows) & set(parts.searched.kept_rows)
    return np.asarray(parts.aside.kept_rows)


def test_what_is_not_there_is_confirmed_no_more_often_than_promised() -> None:
    """Selection from noise at a level of 60 %: all selected columns are false, and the held-out rows show it."""
    pvalues = []
    test = CrossFitPPI(Ridge(), exact_tail=False)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 12)), rng.normal(size=80)
        selector = PPFS(independence=test, alpha=0.6, confirm=0.5, random_state=seed).fit(X, y)
        pvalues += selector.confirmed_.pvalues.tolist()
    found = np.array(pvalues)
    assert found.size > 80
    for level in (0.05, 0.2, 0.5):
        assert (found <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / found.size)
    # Not far below either: a test that never rejects would pass the above.
    assert (found <= 0.5).mean() > 0.25


def test_classes_keep_their_proportions_and_groups_stay_together() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.repeat([0, 1], [80, 20])
    parts = RowsAside.of(read_table(X, y, task="classification", owner=PPFS()), 0.3, 0)
    assert np.bincount(parts.aside.y.astype(int)).tolist() == [24, 6]
    groups = np.repeat(np.arange(20), 5)
    grouped = read_table(X, y, task="classification", owner=PPFS(), groups=groups)
    parts = RowsAside.of(grouped, 0.3, 0)
    assert not set(parts.aside.groups.tolist()) & set(parts.searched.groups.tolist())


def test_same_seed_same_rows() -> None:
    X, y = table()
    first, second, other = (search(random_state=seed).fit(X, y).confirmed_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.pvalues, second.pvalues)
    assert first.pvalues.tolist() != other.pvalues.tolist()


def test_nothing_selected_is_nothing_to_confirm() -> None:
    rng = np.random.default_rng(0)
    selector = search().fit(rng.normal(size=(60, 3)), rng.normal(size=60))
    assert selector.confirmed_.features == ()
    assert selector.confirmed_.fdr == 0.0
    assert PPFS.calibrated(Ridge(), random_state=0).fit(*table()).confirmed_ is None
    assert str(selector.confirmed_).startswith("nothing was selected")


def test_folds_and_groups_of_columns_and_the_papers_test_can_be_confirmed() -> None:
    X, y = table(n_rows=200)
    assert len(search(n_folds=3).fit(X, y).confirmed_.features) >= 2
    grouped = search(feature_groups={"pair": [0, 1]}).fit(X, y).confirmed_
    assert ("pair", (0, 1)) in zip(grouped.features, grouped.columns, strict=True)
    assert PPFS(Ridge(), n_splits=5, confirm=0.4, random_state=0).fit(X, y).confirmed_.is_confirmed.any()


@pytest.mark.parametrize("confirm", [0.0, 1.0, 1.5, -0.1, "some"])
def test_a_share_lies_between_0_and_1(confirm: object) -> None:
    with pytest.raises(ValueError, match="'confirm' parameter of PPFS"):
        search(confirm=confirm).fit(*table())


def test_too_few_rows_are_refused_before_the_search() -> None:
    X, y = table(n_rows=24)
    with pytest.raises(
        InvalidInputError, match=r"confirm=0.2 sets 5 of 24 rows aside.*at least 10 rows.*confirm=None"
    ):
        search(confirm=0.2).fit(X, y)
    with pytest.raises(InvalidInputError, match="leaves 24 to search in and 0 to confirm on"):
        search(confirm=0.001).fit(X, y)
    with pytest.raises(InvalidInputError, match="leaves 1 to search in and 23 to confirm on"):
        search(confirm=0.95).fit(X, y)


def test_a_class_that_is_missing_aside_is_an_error_that_says_so() -> None:
    X, _ = table(n_rows=30)
    y = np.array(["a"] * 29 + ["b"])
    with pytest.raises(InvalidInputError, match=r"confirm=0.3 sets 9 of 30 rows aside"):
        PPFS.calibrated(LogisticRegression(), confirm=0.3, random_state=0).fit(X, y)


def test_few_confirmed_columns_are_false_where_many_were_selected() -> None:
    """Ten causes among 190 columns of noise, growth without correction: the rows aside sort the false ones out."""
    n_true = n_false = n_false_selected = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 200))
        y = X[:, :10].sum(axis=1) / 2 + rng.normal(size=300)
        test = CrossFitPPI(Ridge(), exact_tail=False)
        selector = PPFS(independence=test, confirm=0.4, random_state=seed).fit(X, y)
        n_false_selected += int((selector.blanket_ >= 10).sum())
        found = selector.confirmed_
        columns = np.array([column for (column,) in found.columns])[found.is_confirmed]
        n_true += int((columns < 10).sum())
        n_false += int((columns >= 10).sum())
    assert n_false_selected >= 4
    assert n_true >= 30
    # 5 % of the confirmed ones are allowed: two of forty. Six would have a chance of 0.01 at that rate.
    assert n_false <= 5


@pytest.mark.parametrize(("correction", "told"), [(None, "bh"), ("by", "by"), ("bonferroni", "bonferroni")])
def test_p_values_of_the_rows_aside_are_always_adjusted(correction: str | None, told: str) -> None:
    X, y = table()
    confirmed = search(correction=correction).fit(X, y).confirmed_
    assert confirmed.correction == told
    expected = adjust(np.asarray(confirmed.pvalues), told)
    np.testing.assert_array_equal(confirmed.adjusted_pvalues, expected)


def asked_about(
    pvalues: dict[int, float], n_rows: int = 6, groups: dict[str, list[int]] | None = None
) -> ScriptedTest:
    X = np.random.default_rng(0).normal(size=(n_rows, 4))
    table = read_table(X, X[:, 0], task="regression", owner=FisherZ(), feature_groups=groups)
    unreliable = IndependenceResult(1.0, 0.0, 0.0, is_reliable=False)
    return ScriptedTest(table, lambda x, target, others: pvalues.get(x, unreliable))


@pytest.mark.parametrize(
    ("correction", "adjusted", "is_confirmed"),
    [
        ("bh", [0.06, 0.06, 1.0], [False] * 3),
        (None, [0.06, 0.06, 1.0], [False] * 3),
        ("bonferroni", [0.09, 0.12, 1.0], [False] * 3),
    ],
)
def test_members_are_tested_given_the_others(
    correction: str | None, adjusted: list[float], is_confirmed: list[bool]
) -> None:
    bound = asked_about({0: 0.03, 2: 0.04})
    trace = Trace(bound.table.names)
    found = confirm(bound, [2, 0, 1], [3], trace, correction, 0.05)
    assert bound.asked == [(2, 0, 1, 3), (0, 1, 2, 3), (1, 0, 2, 3)]
    assert (found.features, found.columns) == (("x2", "x0", "x1"), ((2,), (0,), (1,)))
    assert found.pvalues.tolist() == [0.04, 0.03, 1.0]
    np.testing.assert_allclose(np.sort(found.adjusted_pvalues), adjusted)
    assert (found.is_confirmed.tolist(), found.effects.tolist()) == (is_confirmed, [0.96, 0.97, 0.0])
    assert (found.n_rows, found.alpha, found.correction) == (6, 0.05, correction or "bh")
    assert [
        (step.fold, step.phase, step.feature, step.given, step.statistic, step.decision, step.is_reliable)
        for step in trace
    ] == [
        (-1, "confirm", 2, (2, 0, 1, 3), 2.0, "dropped", True),
        (-1, "confirm", 0, (2, 0, 1, 3), 2.0, "dropped", True),
        (-1, "confirm", 1, (2, 0, 1, 3), 0.0, "dropped", False),
    ]
    assert [step.adjusted_pvalue for step in trace] == found.adjusted_pvalues.tolist()
    assert trace.notes == [str(found)]


def test_what_is_confirmed_is_told_and_framed() -> None:
    bound = asked_about({0: 0.05, 1: 0.01}, groups={"both": [2, 3]})
    names = bound.table.names
    members = [names.index(name) for name in ("x1", "x0", "both")]
    bound.script = lambda x, target, others: {"x0": 0.3, "x1": 0.01, "both": 0.03}[names[x]]
    found = confirm(bound, members, [], Trace(names), "bonferroni", 0.09)
    assert found.columns == ((1,), (0,), (2, 3))
    assert found.is_confirmed.tolist() == [True, False, True]
    assert found.fdr == pytest.approx(0.9)
    assert str(found) == (
        "confirmed on 6 rows that the search never saw: 2 of 3 columns at 0.09 (bonferroni); FDR of the whole set 0.9"
    )
    frame = found.to_frame()
    assert list(frame) == ["feature", "pvalue", "adjusted_pvalue", "effect", "confirmed"]
    assert frame["feature"].tolist() == ["x1", "x0", "both"]
    assert frame["confirmed"].tolist() == [True, False, True]
    assert frame["effect"].tolist() == [0.99, 0.7, 0.97]
    nothing = confirm(bound, [], [], Trace(names), "bh", 0.05)
    assert nothing.fdr == 0.0
    assert (
        str(nothing)
        == "nothing was selected, so the 6 rows that the search never saw have nothing to confirm"
    )


@pytest.mark.parametrize(
    ("share", "n_aside"), [(0.2, 2), (0.5, 5), (0.8, 8), (0.25, 3), (0.15, None), (0.1, None), (0.9, None)]
)
def test_rows_are_held_out_of_ten(share: float, n_aside: int | None) -> None:
    X = np.arange(20.0).reshape(10, 2)
    table = read_table(X, np.arange(10.0) ** 2, task="regression", owner=FisherZ())
    if n_aside is None and round(share * 10) != 2:
        with pytest.raises(InvalidInputError) as raised:
            RowsAside.of(table, share, 0)
        n = round(share * 10)
        assert str(raised.value) == (
            f"confirm={share} of 10 rows leaves {10 - n} to search in and {n} to confirm on, and both need some. Pass "
            "more rows, or confirm=None."
        )
        return
    rows = RowsAside.of(table, share, 0)
    assert rows.numbers.tolist() == sorted(set(rows.numbers.tolist()))
    assert rows.aside.X[:, 0].tolist() == X[rows.numbers, 0].tolist()
    assert rows.searched.X[:, 0].tolist() == np.delete(X[:, 0], rows.numbers).tolist()
    assert rows.numbers.size == (n_aside or 2)
    assert rows.numbers.tolist() == RowsAside.of(table, share, 0).numbers.tolist()


def test_the_proportions_of_two_classes_are_kept_aside() -> None:
    y = np.repeat([0, 1], [20, 10])
    X = np.arange(60.0).reshape(30, 2)
    table = read_table(X, y, task="classification", owner=FisherZ())
    for seed in range(4):
        assert y[RowsAside.of(table, 0.3, seed).numbers].sum() == 3
    grouped = read_table(X, y, task="classification", owner=FisherZ(), groups=np.repeat(np.arange(10), 3))
    held_out = RowsAside.of(grouped, 0.3, 0).numbers
    assert {row // 3 for row in held_out.tolist()} == {row // 3 for row in held_out[::3].tolist()}
    assert held_out.size == 9


def test_rows_that_are_too_few_for_the_test_are_told_with_their_number() -> None:
    X = np.arange(20.0).reshape(10, 2)
    rows = RowsAside.of(read_table(X, np.arange(10.0), task="regression", owner=FisherZ()), 0.2, 0)

    class Picky(FisherZ):
        def _bind(self, table: Table, binding: Binding) -> BoundTest:
            assert (binding.fold, binding.random_state, binding.n_jobs) == (0xC0DE, 5, 3)
            raise InvalidInputError("Two rows are too few.")

    with pytest.raises(InvalidInputError) as raised:
        rows.bind(Picky(), 0.2, 5, 3)
    assert str(raised.value) == (
        "confirm=0.2 sets 2 of 10 rows aside, on which the selection cannot be tested: Two rows are too few. Or set a "
        "larger share aside, or confirm=None."
    )


def selector_of(**given: object) -> SimpleNamespace:
    made = {"random_state": 0, "n_jobs": None, "correction": "bh", "alpha": 0.05, "n_fits_": 5, "n_tests_": 7}
    return SimpleNamespace(**made, **given)


def test_fits_and_answers_of_the_rows_aside_are_counted_too() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    table = read_table(X, X[:, 0] + X[:, 1], task="regression", owner=FisherZ())
    trace = Trace(table.names)
    trace.conclude(Outcome((1, 0), condition_on=(2,)))
    selector = selector_of(trace_=trace, independence_=FisherZ())
    searched: list[Table] = []
    found = search_and_confirm(selector, table, FisherZ(), 0.3, searched.append)
    assert found is not None
    assert (found.features, found.n_rows, searched[0].n_rows) == (("x1", "x0"), 12, 28)
    assert (selector.n_fits_, selector.n_tests_) == (5, 9)
    assert selector._rows_aside.size == 12
    assert [step.given for step in trace] == [(1, 0, 2), (1, 0, 2)]
    assert search_and_confirm(selector, table, FisherZ(), None, searched.append) is None
    assert selector._rows_aside is None
    assert searched[1] is table


@pytest.mark.parametrize("test", [FisherZ(), Automatic()])
def test_a_test_that_cannot_be_bound_is_refused_before_the_search(test: IndependenceTest) -> None:
    """What "auto" means is known after the search only."""
    X = np.random.default_rng(0).normal(size=(8, 7))
    table = read_table(X, X[:, 0], task="regression", owner=FisherZ())
    searched: list[Table] = []

    def search(part: Table) -> None:
        searched.append(part)
        raise KeyError

    def refuse(self: RowsAside, *given: object) -> None:
        raise InvalidInputError("x")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowsAside, "bind", refuse)
        with pytest.raises(KeyError if isinstance(test, Automatic) else InvalidInputError):
            search_and_confirm(selector_of(), table, test, 0.5, search)
    assert len(searched) == isinstance(test, Automatic)


@pytest.mark.parametrize(
    ("n_before", "bound", "words"),
    [
        (0, 1, "By the rows held out it is related to the target given the others."),
        (0, 0, "By the rows held out it is not shown to be related to the target given the others."),
        (1, 1, "Of it and the 1 more important column, at least 1 is related to the target given the others, by the "
         "rows held out (probability 90% for all sets)."),
        (2, 0, "Of it and the 2 more important columns, at least 0 are related to the target given the others, by the "
         "rows held out (probability 90% for all sets)."),
        (2, 3, "Of it and the 2 more important columns, at least 3 are related to the target given the others, by the "
         "rows held out (probability 90% for all sets)."),
    ],
)  # fmt: skip
def test_bounds_are_told_in_words(n_before: int, bound: int, words: str) -> None:
    assert _bound_in_words(n_before, bound, 0.1) == words
