"""Selected columns are tested on rows that the search never saw."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from ppfs import PPFS
from ppfs.blanket._steps.correction import adjust
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI


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
    from ppfs._data.reading import read_table
    from ppfs.blanket._run.confirm import RowsAside

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
    from ppfs._data.reading import read_table
    from ppfs.blanket._run.confirm import RowsAside

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
