"""Feature groups that share columns, such as gene sets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import IAMB, TIEStar
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, LikelihoodRatio
from ppfs.wrappers import Stepwise

SETS = {"repair": ["a", "b", "c"], "cycle": ["c", "d"], "transport": ["d", "e"]}


def genes(n=200, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    return X, rng.normal(size=n)


TESTS = [
    LikelihoodRatio(),
    CrossFitPPI("panel", random_state=0),
    CrossFitPPI(Ridge(), random_state=0),
    PPI(DecisionTreeRegressor(max_depth=3), n_splits=10, random_state=0),
    PPI(LinearRegression(), n_splits=10, random_state=0),
]


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_a_set_is_asked_about_by_its_own_columns(test):
    """Given a set that shares c, the question about another one is the question about its other columns."""
    X, noise = genes()
    y = X["a"] + X["c"] + noise
    shared = test.evaluate(X, y, "repair", given=["cycle"], feature_groups=SETS)
    apart = test.evaluate(
        X, y, "own", given=["cycle"], feature_groups={"own": ["a", "b"], "cycle": ["c", "d"]}
    )
    assert shared.pvalue == apart.pvalue < 0.05
    assert test.evaluate(X, y, "cycle", feature_groups=SETS).pvalue < 0.05


def test_a_set_within_others_adds_nothing():
    X, noise = genes()
    answer = CrossFitPPI("panel").evaluate(
        X, X["c"] + noise, "inner", given=["cycle"], feature_groups={**SETS, "inner": ["c"]}
    )
    assert answer.pvalue == 1.0


@pytest.mark.parametrize(
    "selector",
    [PPFS.calibrated(random_state=0), PPFS(Ridge(), n_splits=10, random_state=0), IAMB(), TIEStar()],
    ids=lambda selector: type(selector).__name__,
)
def test_one_set_with_the_shared_column_is_enough(selector):
    """The target depends on c alone: the two sets that have it are both related, and one of them is kept."""
    X, noise = genes()
    selector.set_params(feature_groups=SETS).fit(X, 2 * X["c"] + noise)
    names = set(selector.get_feature_names_out())
    assert names in ({"a", "b", "c"}, {"c", "d"})
    assert len(selector.blanket_) == len(set(selector.blanket_.tolist())) == len(names)
    assert selector.trace_.names == ("repair", "cycle", "transport", "f")
    kept = "repair" if "a" in names else "cycle"
    assert selector.trace_.explain("c") == selector.trace_.explain(kept)
    assert selector.pvalues_[2] == selector.pvalues_[0 if kept == "repair" else 3] < 0.05


def test_both_sets_are_kept_if_each_has_its_own_effect():
    X, noise = genes()
    selector = PPFS.calibrated(feature_groups=SETS, random_state=0).fit(
        X, X["b"] + X["c"] + X["d"] + 0.5 * noise
    )
    assert selector.get_feature_names_out().tolist() == ["a", "b", "c", "d"]
    assert len(selector.results_) == 6
    assert selector.sufficiency_.scores["r2"]["selected"] > 0.5


def test_size_of_a_set_without_an_effect_of_its_own():
    calls = 0
    # 5 % of 30 tables are called by chance, 6 or more with a probability of 0.3 %.
    for seed in range(30):
        X, noise = genes(100, seed)
        answer = CrossFitPPI("panel", random_state=0).evaluate(
            X, X["c"] + noise, "repair", given=["cycle"], feature_groups=SETS
        )
        calls += answer.pvalue < 0.05
    assert calls <= 5


def test_what_is_ambiguous_or_not_possible_is_said():
    X, noise = genes()
    with pytest.raises(InvalidInputError, match="Column 'c' is in 2 groups, 'repair', 'cycle'"):
        PPFS.calibrated(feature_groups=SETS, always_keep=["c"]).fit(X, noise)
    with pytest.raises(InvalidInputError, match="some features share columns"):
        PPFS.calibrated(feature_groups=SETS, growth="joint").fit(X, noise)


def test_a_checkpoint_holds_the_answers(tmp_path):
    X, noise = genes()
    settings = {"feature_groups": SETS, "random_state": 0, "checkpoint": tmp_path / "kept"}
    first = PPFS.calibrated(**settings).fit(X, 2 * X["c"] + noise)
    again = PPFS.calibrated(**settings).fit(X, 2 * X["c"] + noise)
    assert again.n_fits_ == 0
    np.testing.assert_array_equal(first.pvalues_, again.pvalues_)


def test_wrappers_take_them():
    X, noise = genes()
    wrapper = Stepwise(Ridge(), feature_groups=SETS).fit(X, 2 * X["c"] + noise)
    assert "c" in wrapper.get_feature_names_out()
