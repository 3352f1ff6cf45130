import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from ppfs._engine import TreeRules


@pytest.mark.parametrize(("leaf", "split"), [(1, 2), (3, 4), (0.1, 0.05), (0.034, 0.2), (1, 0.001), (2, 0.5)])
@pytest.mark.parametrize("n_train", [7, 50, 149])
def test_limits_are_rounded_as_scikit_learn_rounds_them(leaf, split, n_train):
    X, y = load_iris(return_X_y=True)
    limits = TreeRules(min_samples_leaf=leaf, min_samples_split=split).limits(n_train)
    rows = slice(None, None, 150 // n_train)
    as_given = DecisionTreeClassifier(min_samples_leaf=leaf, min_samples_split=split, random_state=0)
    as_counts = DecisionTreeClassifier(
        min_samples_leaf=limits.min_leaf, min_samples_split=limits.min_split, random_state=0
    )
    chosen = X[rows][:n_train], y[rows][:n_train]
    trees = [model.fit(*chosen).tree_ for model in (as_given, as_counts)]
    assert trees[0].threshold.tolist() == trees[1].threshold.tolist()


def test_a_fraction_counts_rows_of_the_train_part():
    assert TreeRules(min_samples_leaf=0.1).limits(95).min_leaf == 10
    assert TreeRules(min_samples_split=0.01).limits(95).min_split == 2
    assert TreeRules(min_samples_leaf=4).limits(95).min_split == 8
