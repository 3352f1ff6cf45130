"""Bounded p-values hold for every arrangement of tiny tables, and take the place of draws."""

from __future__ import annotations

from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.exact_tail import DRAWS_AT_ONCE, PermutationTail
from ppfs.independence._predictive.rearranged_columns import counts_of
from ppfs.independence._predictive.screening import Screening, lines_and_ranks, outputs_of, rearranged
from ppfs.independence._predictive.tail_bound import TailBound, contrasts_of, log_chance


def columns(n_rows: int) -> np.ndarray:
    """Columns of many shapes, as rows: the last has missing values, another one outlier."""
    rng = np.random.default_rng(0)
    made = [
        rng.normal(size=n_rows),
        np.exp(2 * rng.normal(size=n_rows)),
        -np.exp(2 * rng.normal(size=n_rows)),
        np.arange(n_rows) % 3 == 0,
        np.arange(n_rows) == 0,
        np.where(np.arange(n_rows) % 4 == 0, np.nan, rng.normal(size=n_rows)),
    ]
    return np.array(made, dtype=float)


def target(y: np.ndarray, *, is_class: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the contrasts and the outputs of a target."""
    weights = SimpleNamespace(loss=None, fit=None)
    problem = SimpleNamespace(y=y, classes=np.unique(y) if is_class else np.empty(0), weights=weights)
    outputs = outputs_of(problem)
    assert outputs is not None
    return list(contrasts_of(problem)), outputs


@pytest.mark.parametrize(("n_rows", "n_members"), [(12, 6), (12, 2), (13, 5)])
def test_the_bound_is_never_below_the_share_of_all_samples(n_rows: int, n_members: int) -> None:
    chosen = np.array(list(combinations(range(n_rows), n_members)))
    for values in lines_and_ranks(columns(n_rows)).reshape(-1, n_rows):
        sums = values[chosen].sum(axis=1)
        for total in np.unique(sums.round(12)):
            sign = 1.0 if total >= 0 else -1.0
            exact = np.mean(sign * sums >= sign * total - 1e-9)
            assert np.exp(log_chance(values, n_members, total)) >= exact - 1e-12


def test_bounded_pvalues_are_valid_over_all_arrangements_of_two_classes() -> None:
    """For every t, at most the share t of all arrangements has a p-value up to t."""
    n_rows, n_members = 12, 6
    samples = np.array(list(combinations(range(n_rows), n_members)))
    rest = np.array([np.setdiff1d(np.arange(n_rows), sample) for sample in samples])
    sources = np.column_stack([samples, rest])
    bound = TailBound(
        lines_and_ranks(columns(n_rows)), *target(np.arange(n_rows) >= n_members, is_class=True), level=0.9
    )
    n_below = 0
    for column in range(len(columns(n_rows))):
        pvalues = bound.pvalues(np.full(len(sources), column), sources)
        for t in np.unique(pvalues):
            assert np.mean(pvalues <= t) <= t
        n_below += int((pvalues < 1.0).sum())
    assert n_below > 20, "no arrangement is bounded, so that nothing is tested"


@pytest.mark.parametrize("kind", ["numbers", "tied numbers", "three classes"])
def test_bounded_pvalues_are_valid_over_all_permutations_of_other_targets(kind: str) -> None:
    n_rows = 7
    y = {
        "numbers": np.array([0.1, 5.0, 0.3, 0.2, 9.0, 0.5, 0.7]),
        "tied numbers": np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
        "three classes": np.array([0, 0, 1, 1, 2, 2, 2]),
    }[kind]
    sources = np.array(list(permutations(range(n_rows))))
    bound = TailBound(
        lines_and_ranks(columns(n_rows)), *target(y, is_class=kind == "three classes"), level=0.999
    )
    n_below = 0
    for column in range(len(columns(n_rows))):
        pvalues = bound.pvalues(np.full(len(sources), column), sources)
        for t in np.unique(pvalues):
            assert np.mean(pvalues <= t) <= t
        n_below += int((pvalues < 1.0).sum())
    assert n_below > 20, "no arrangement is bounded, so that nothing is tested"


def test_the_contrasts_are_classes_or_the_upper_half() -> None:
    labels = np.array(["a", "b", "a", "c", "a", "a", "b"])
    assert [rows.tolist() for rows in target(labels, is_class=True)[0]] == [[1, 3, 6], [1, 6], [3]]
    assert [rows.tolist() for rows in target(np.array([0, 1, 1]), is_class=True)[0]] == [[0]]
    assert [rows.tolist() for rows in target(np.array([3.0, 9.0, 1.0, 2.0]), is_class=False)[0]] == [[0, 1]]
    # Nothing is above the median.
    assert target(np.array([0.0, 1.0, 1.0]), is_class=False)[0] == []


def test_larger_bounds_than_the_level_are_not_given() -> None:
    made = np.arange(80.0)[np.newaxis]
    sources = np.arange(80)[np.newaxis]
    of_target = target(np.arange(80) >= 40, is_class=True)
    (small,) = TailBound.of(made, *of_target, n_features=1).pvalues(np.zeros(1, dtype=np.intp), sources)
    assert 0.0 < small <= 1e-5
    (none,) = TailBound.of(made, *of_target, n_features=10**9).pvalues(np.zeros(1, dtype=np.intp), sources)
    assert none == 1.0


@pytest.mark.parametrize("kind", ["two classes", "three classes", "numbers", "one large number"])
def test_bounded_arrangements_stand_out_in_the_sharpest_screening(kind: str) -> None:
    """So all of them are among the draws that are looked at."""
    rng = np.random.default_rng(2)
    made = columns(40)
    y = {
        "two classes": np.arange(40) < 15,
        "three classes": np.arange(40) // 14,
        "numbers": np.arange(40) + rng.normal(size=40),
        # The upper half of the rows says little about a target that one row dominates.
        "one large number": np.where(np.arange(40) == 3, 1e6, np.arange(40.0)),
    }[kind]
    contrasts, outputs = target(y, is_class="classes" in kind)
    bound = TailBound(lines_and_ranks(made), contrasts, outputs, level=0.01)
    screening = Screening.of(made, 40)
    bounds = screening.bounds(0.01, len(outputs))
    n_bounded = n_not_bounded = 0
    for _ in range(300):
        # Orders in which small values tend to come first.
        order = np.argsort(np.nan_to_num(made[0]) + rng.normal(scale=0.5, size=40))
        sources = np.tile(order, (len(made), 1))
        is_bounded = bound.pvalues(np.arange(len(made)), sources) < 1.0
        stands_out = screening.stands_out(rearranged(outputs, order[np.newaxis]), bounds)[:, 0]
        assert stands_out[is_bounded].all()
        n_bounded += int(is_bounded.sum())
        n_not_bounded += int((~stands_out).sum())
    assert n_bounded > (50 if kind != "one large number" else -1)
    assert n_not_bounded > 0


def _tail(X: np.ndarray, y: np.ndarray, task: str = "classification", **fit: np.ndarray) -> PermutationTail:
    model = LogisticRegression() if task == "classification" else Ridge()
    test = CrossFitPPI(model, task=task, random_state=0)
    table = read_table(X, y, task=task, owner=test, **fit)
    tail = test.bind(table).exact_tail(table.target)
    assert isinstance(tail, PermutationTail)
    return tail


def test_draws_with_a_bound_count_as_extreme(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = (y + 0.5 * rng.normal(size=60))[:, np.newaxis]
    assert _tail(X, y).n_as_extreme([0], 0, 4 * DRAWS_AT_ONCE, 1.0)[0] == 0
    monkeypatch.setattr(
        PermutationTail,
        "_bound",
        lambda self, part: TailBound(
            lines_and_ranks(part.columns), self.contrasts, self.outputs, level=0.999
        ),
    )
    n_bounded = _tail(X, y).n_as_extreme([0], 0, 4 * DRAWS_AT_ONCE, 1.0)[0]
    assert 0 < n_bounded < 4 * DRAWS_AT_ONCE


def test_only_free_rows_without_weights_are_bounded() -> None:
    X = np.repeat(np.arange(60.0), 2)[:, np.newaxis]
    y = (np.arange(120) >= 60).astype(int)
    assert _tail(X, y).bounded_pvalues([0])[0] < 1e-5
    assert _tail(X, np.arange(120) // 40).bounded_pvalues([0])[0] < 1e-5
    assert _tail(X, np.arange(120.0), "regression").bounded_pvalues([0])[0] < 1e-5
    assert _tail(X, y, sample_weight=np.linspace(1.0, 2.0, 120)).bounded_pvalues([0])[0] == 1.0
    assert _tail(X, y, groups=np.arange(120) // 2).bounded_pvalues([0])[0] == 1.0


def test_a_strong_column_is_called_without_draws_and_the_trace_says_so() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 300))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    selector = PPFS.calibrated(LogisticRegression(), random_state=0).fit(X, y)
    assert selector.support_[0]
    assert any("1 still smaller p-values certified by a bound" in note for note in selector.trace_.notes)
    assert any("0 times in all" in note for note in selector.trace_.notes)


def test_draws_with_the_p_value_of_the_column_itself_are_as_extreme() -> None:
    copies = SimpleNamespace(owners=np.array([0, 0, 0, 2]), may_be_bounded=np.empty(0, dtype=int), block=None)
    grown = SimpleNamespace(answers=SimpleNamespace(pvalues=np.array([0.1, 0.3, 0.05, 0.2])), n_fits=7)
    drawing = SimpleNamespace(
        stands_out=np.array([True, False, True]),
        observed=np.array([0.1, 0.9, 0.2]),
        tail_bound=None,
        copies=lambda chunks: [copies, SimpleNamespace(owners=np.empty(0), may_be_bounded=None)],
        growth=lambda block: grown,
    )
    found = counts_of(drawing, range(3))
    assert found.counts.tolist() == [2, 3 * DRAWS_AT_ONCE, 1]
    assert (found.n_refitted, found.n_fits) == (4, 7)
