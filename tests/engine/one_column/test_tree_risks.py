"""Trees on one column: equal to scikit-learn's and to the slow twin.

scikit-learn's trees on one column may differ from the engine's for two reasons only, both about numbers
(regression) and neither visible in a risk beyond its last digits:

- two cuts that are equally good on paper: sums of numbers are rounded, in the order of the rows, and
  scikit-learn's order differs. Class counts, and numbers whose sums are exact, are not affected.
- a node whose numbers differ by no more than rounding: scikit-learn stops when the variance it computes is at
  most 2.2e-16. The engine does so too when y varies little (variance below 1e-3); otherwise it splits such a
  node, and the predictions differ by less than 1e-7.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import single_column_tree
from scipy import sparse

from engine.grown_trees import fit_sklearn, sklearn_risk
from engine.problems import COLUMN_KINDS, problems, single_column_risks
from ppfs._engine import SortedColumns, Splits, TreeRules


def _assert_equals_sklearn(problem):
    base, permuted = single_column_risks(problem.columns, *problem.arguments)
    for column in range(problem.X.shape[1]):
        for split in range(problem.splits.n_splits):
            model = fit_sklearn(problem, split, [column])
            test, permutation = problem.splits.test[split], problem.splits.permutations[split]
            values, truth = problem.X[test][:, [column]], problem.y[test]
            expected = sklearn_risk(problem, model, values, truth)
            np.testing.assert_allclose(base[column, split], expected, rtol=1e-10, atol=1e-12)
            expected = sklearn_risk(problem, model, values[permutation], truth)
            np.testing.assert_allclose(permuted[column, split], expected, rtol=1e-10, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(problems(is_classification=True))
def test_class_risks_equal_scikit_learn(problem):
    _assert_equals_sklearn(problem)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(problems(is_classification=False, exact=True))
def test_number_risks_equal_scikit_learn(problem):
    _assert_equals_sklearn(problem)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(problems(max_columns=3))
def test_risks_equal_the_slow_twin(problem):
    expected = single_column_tree.single_column_risks(
        problem.X, problem.y, problem.n_classes, problem.splits, problem.rules
    )
    found = single_column_risks(problem.columns, *problem.arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", COLUMN_KINDS, ids=lambda kind: kind.__name__.strip("_"))
@settings(derandomize=True, deadline=None, max_examples=5)
@given(data=st.data())
def test_sparse_and_dense_columns_have_the_same_risks(kind, data):
    problem = data.draw(problems(kinds=(kind,), max_columns=2, exact=True))
    dense = single_column_risks(SortedColumns.from_dense(problem.X), *problem.arguments)
    other = single_column_risks(problem.columns, *problem.arguments)
    np.testing.assert_allclose(dense, other, rtol=1e-12, atol=1e-12)


def test_a_class_missing_from_the_train_part_has_probability_zero():
    columns = SortedColumns.from_dense([[0.0], [1.0], [2.0]])
    splits = Splits.from_sequences([[0, 1]], [[2]], [[0]])
    base, permuted = single_column_risks(columns, [0, 1, 2], 3, splits, TreeRules())
    expected = -np.log(np.finfo(np.float64).eps)
    assert base[0, 0] == permuted[0, 0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("n_classes", "criterion"), [(2, "gini"), (0, "squared_error")])
@pytest.mark.parametrize("is_limited", [False, True])
def test_zeros_that_were_never_seen_go_where_the_threshold_says(n_classes, criterion, is_limited):
    """The train part has -1 and 1 only, so the cut is at 0 exactly, and zeros belong to its left."""
    X = np.array([[-1.0], [-1.0], [1.0], [1.0], [0.0], [0.0], [1.0]])
    y = np.array([0, 0, 1, 1, 0, 0, 1]) if n_classes else np.array([0.0, 0, 1, 1, 0, 0, 1])
    splits = Splits.from_sequences([[0, 1, 2, 3]], [[4, 5, 6]], [[2, 0, 1]])
    loss = "brier" if n_classes else "squared"
    rules = TreeRules(criterion=criterion, loss=loss, max_depth=2 if is_limited else None)
    found = [
        np.ravel(single_column_risks(columns, y, n_classes, splits, rules))
        for columns in (SortedColumns.from_dense(X), SortedColumns.from_sparse(sparse.csc_array(X)))
    ]
    # The zeros are called 0 and the 1 is called 1, all rightly; shuffled, the calls are 1, 0, 0: two are wrong.
    wrong = 2.0 if n_classes else 1.0
    np.testing.assert_allclose(found, [[0.0, 2 * wrong / 3]] * 2, atol=1e-12)


def test_numbers_of_a_tiny_scale_give_scikit_learns_single_leaf():
    """The variance, 1e-18, is below the tolerance with which scikit-learn calls a node pure."""
    columns = SortedColumns.from_dense([[0.0], [1.0], [2.0], [3.0]])
    splits = Splits.from_sequences([[0, 1, 2]], [[3]], [[0]])
    y = np.array([0.0, 1.0, 2.0, 5.0]) * 1e-9
    base, _ = single_column_risks(
        columns, y, 0, splits, TreeRules(criterion="squared_error", loss="absolute")
    )
    assert base[0, 0] == pytest.approx(4e-9)


@pytest.mark.parametrize(
    ("n_classes", "loss"), [(2, "log-loss"), (3, "brier"), (0, "squared"), (0, "absolute")]
)
def test_a_column_that_says_nothing_has_exactly_equal_risks(n_classes, loss):
    """A permutation deals the same losses to other rows: no difference, not even in the last bit."""
    rng = np.random.default_rng(0)
    n_rows = 70
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    order = rng.permutation(n_rows)
    splits = Splits.from_sequences([order[:45]], [order[45:]], [rng.permutation(25)])
    criterion = "gini" if n_classes else "squared_error"
    columns = SortedColumns.from_dense(np.ones((n_rows, 1)))
    rules = TreeRules(criterion=criterion, loss=loss)
    base, permuted = single_column_risks(columns, y, n_classes, splits, rules)
    np.testing.assert_array_equal(base, permuted)


def test_leaves_with_equal_fractions_have_exactly_equal_risks():
    """Both values of the column have one third of class 1, stored or not."""
    y = np.array([0, 0, 1] * 12)
    X = np.repeat([0.0, 1.0, 0.0, 1.0], 9)[:, np.newaxis]
    splits = Splits.from_sequences(
        [np.arange(18)], [np.arange(18, 36)], [np.random.default_rng(3).permutation(18)]
    )
    for columns in (SortedColumns.from_dense(X), SortedColumns.from_sparse(X)):
        base, permuted = single_column_risks(columns, y, 2, splits, TreeRules())
        assert base[0, 0] == permuted[0, 0]
