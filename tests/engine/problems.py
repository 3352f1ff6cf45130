"""Random problems for the engine: every kind of column and target that trees treat differently."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._conventions import separates_missing_from_one_value
from ppfs._engine import (
    SortedColumns,
    Splits,
    TreeRules,
    make_draws,
    prepare_columns,
    prepared_column_risks,
    prepared_column_row_losses,
)

CLASS_LOSSES = ("log-loss", "brier", "zero-one")
NUMBER_LOSSES = ("squared", "absolute")


@dataclass(frozen=True)
class Problem:
    """One problem; ``is_sparse`` says how the engine is given the columns."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    splits: Splits
    rules: TreeRules
    is_sparse: bool
    weights: np.ndarray | None = None
    has_missing: bool = False

    @property
    def columns(self):
        """The columns as the engine takes them."""
        if self.is_sparse:
            return SortedColumns.from_sparse(sparse.csc_array(self.X))
        return SortedColumns.from_dense(self.X, has_missing=self.has_missing)

    @property
    def is_weighted(self):
        """Whether rows have weights, or columns missing values."""
        return self.weights is not None or self.has_missing

    @property
    def arguments(self):
        """What the engine's functions take after the columns."""
        return self.y, self.n_classes, self.splits, self.rules


def single_column_risks(columns, y, n_classes, splits, rules, class_weights=None):
    """Prepare and compute the risks of the tree on each single column."""
    return prepared_column_risks(columns, prepare_columns(y, n_classes, splits, rules, class_weights))


def single_column_row_losses(columns, y, n_classes, splits, rules, draws, class_weights=None):
    """Prepare and compute the losses row by row of the tree on each single column."""
    prepared = prepare_columns(y, n_classes, splits, rules, class_weights)
    return prepared_column_row_losses(columns, prepared, make_draws(splits, draws))


def draw_splits(rng, n_rows, n_splits):
    """Draw splits of different sizes that leave some rows out."""
    train, test, permutations = [], [], []
    for _ in range(n_splits):
        order = rng.permutation(n_rows)
        n_test = int(rng.integers(1, max(2, n_rows // 2)))
        n_train = int(rng.integers(2, n_rows - n_test + 1))
        test.append(order[:n_test])
        train.append(order[n_test : n_test + n_train])
        permutations.append(rng.permutation(n_test))
    return Splits.from_sequences(train, test, permutations)


def draw_folds(rng, n_rows, n_folds):
    """Draw K folds, each the test part of one split: every row is tested once."""
    folds = np.array_split(rng.permutation(n_rows), n_folds)
    train = [np.setdiff1d(np.arange(n_rows), fold) for fold in folds]
    return Splits.from_sequences(train, folds, [rng.permutation(fold.size) for fold in folds])


def _continuous(rng, n_rows):
    return rng.normal(size=n_rows) * 10.0 ** rng.integers(-3, 7)


def _repeated(rng, n_rows):
    return rng.integers(-2, 3, size=n_rows) * 0.5


def _mostly_zero(rng, n_rows):
    return np.where(rng.random(n_rows) < 0.7, 0.0, rng.normal(size=n_rows).round(1))


def _binary(rng, n_rows):
    return (rng.random(n_rows) < rng.choice([0.05, 0.3])).astype(float)


def _constant(rng, n_rows):
    return np.full(n_rows, rng.choice([0.0, 3.5]))


def _nearly_tied(rng, n_rows):
    """Steps below, at and above the 1e-7 that counts as a tie; some chains of ties span more than that."""
    return rng.choice([0.0, 0.25]) + rng.integers(-6, 7, size=n_rows) * rng.choice([3e-8, 6e-8, 1.1e-7])


def _counts_near_ties():
    """Return whether scikit-learn's trees treat values within 1e-7 as equal; 1.6 and 1.7 lost that number."""
    values = np.array([[0.25], [0.25 + 3e-8]], dtype=np.float32)
    return DecisionTreeClassifier().fit(values, [0, 1]).get_depth() == 0


def _cuts_off_missing_values():
    """Return whether scikit-learn's trees on two columns cut where they report; some cuts of 1.8.0 are at NaN."""
    X = np.array([[np.nan, np.nan], [1.0, -2.0], [np.nan, 4.0], [-1.0, -3.0]])
    tree = DecisionTreeRegressor(random_state=0).fit(X, [0.64, 0.13, 0.36, -0.54]).tree_
    return separates_missing_from_one_value() and not np.isnan(tree.threshold).any()


#: Shares of missing values: any, and those with which scikit-learn's trees are the engine's.
SHARES = (0.0, 0.1, 0.6)
SHARES_LIKE_SKLEARN = SHARES if _cuts_off_missing_values() else SHARES[:1]


def skip_unless_like_sklearn(share):
    """Skip a test that compares trees on columns with missing values with those of an older scikit-learn."""
    if share > max(SHARES_LIKE_SKLEARN):
        pytest.skip("trees of this scikit-learn treat missing values in another way")


COLUMN_KINDS = (_continuous, _repeated, _mostly_zero, _binary, _constant) + (
    (_nearly_tied,) if _counts_near_ties() else ()
)


def _classes(rng, n_rows, n_classes):
    """Class codes with very unequal shares; some classes may be missing from a train part, or altogether."""
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 20.0])))
    return rng.choice(n_classes, size=n_rows, p=shares)


@st.composite
def rules(draw, is_classification):
    """Draw tree rules; half of the time without limits, as in the paper."""
    criteria = ("gini", "entropy", "log_loss") if is_classification else ("squared_error",)
    chosen = {
        "criterion": draw(st.sampled_from(criteria)),
        "loss": draw(st.sampled_from(CLASS_LOSSES if is_classification else NUMBER_LOSSES)),
    }
    if draw(st.booleans()):
        chosen["max_depth"] = draw(st.sampled_from([None, 1, 2, 3, 5]))
        chosen["min_samples_leaf"] = draw(st.sampled_from([1, 2, 3, 5, 0.05, 0.2]))
        chosen["min_samples_split"] = draw(st.sampled_from([2, 3, 6, 0.1, 0.4]))
    return TreeRules(**chosen)


@st.composite
def problems(draw, kinds=COLUMN_KINDS, max_columns=5, is_classification=None, exact=False):
    """Draw a problem.

    With ``exact`` the numbers to predict are multiples of 1/8, whose sums are never rounded: then equally
    good splits have equal gains to the last bit, whatever the order of the sums.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if is_classification is None:
        is_classification = draw(st.booleans())
    n_rows = draw(st.integers(6, 60))
    n_classes = draw(st.integers(2, 5)) if is_classification else 0
    if is_classification:
        y = _classes(rng, n_rows, n_classes)
    else:
        y = (
            rng.integers(-16, 17, size=n_rows) / 8
            if exact or draw(st.booleans())
            else rng.normal(size=n_rows)
        )
    n_columns = draw(st.integers(1, max_columns))
    X = np.column_stack([draw(st.sampled_from(kinds))(rng, n_rows) for _ in range(n_columns)])
    splits = draw_splits(rng, n_rows, draw(st.integers(1, 3)))
    return Problem(X, y, n_classes, splits, draw(rules(is_classification)), draw(st.booleans()))


@st.composite
def weighted_problems(draw, exact=False, shares=SHARES):
    """Draw a problem with row weights, missing values, or both.

    With ``exact`` weights are powers of two: no sum is rounded.
    """
    plain = draw(problems(exact=exact))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = len(plain.y)
    share = draw(st.sampled_from(shares))
    weights = rng.choice([0.5, 1.0, 2.0], size=n_rows) if exact else rng.uniform(0.2, 3.0, size=n_rows)
    if share and draw(st.booleans()):
        weights = None
    X = plain.X.copy()
    X[rng.random(X.shape) < share] = np.nan
    return replace(plain, X=X, is_sparse=False, weights=weights, has_missing=share > 0.0)
