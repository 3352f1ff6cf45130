"""Which models are left to slower ways, and why: each source's limits, just within and just beyond."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from ppfs.independence._predictive import devices
from ppfs.independence._predictive.risks import boosting, column_trees, forests
from ppfs.independence._predictive.risks.boosted_linear import BoostedLinearRisks
from ppfs.independence._predictive.risks.boosting import BoostingRisks
from ppfs.independence._predictive.risks.column_trees import (
    ColumnTreeRisks,
    WeightedForestRisks,
    WeightedTreeRisks,
)
from ppfs.independence._predictive.risks.cuda_panel import refusal_of_panel
from ppfs.independence._predictive.risks.forests import ForestRisks
from ppfs.independence._predictive.risks.linear.recipe import recipe_of
from ppfs.independence._predictive.risks.linear.single_columns import LinearGrower
from ppfs.independence._predictive.risks.log_linear import LogLinearRisks
from ppfs.independence._predictive.risks.naive_bayes import NaiveBayesRisks
from ppfs.independence._predictive.risks.source import OTHER_KIND
from ppfs.independence._predictive.risks.trees import TreeRisks
from ppfs.models import BoostedLinearClassifier

AS_THEY_ARE = "the engine grows trees on dense columns of numbers as they are"
DENSE = "the engine reads dense columns of numbers as they are"
OTHER_VALUES = "the target has values that this model does not take"
LABELS = SimpleNamespace(name="zero-one", output="labels")
MARGINS = SimpleNamespace(name="hinge", output="margins")
VALUES = SimpleNamespace(name="squared", output="values")
YES, NO = np.array([False, True]), np.array([False, False])


def table(**changed):
    usual = {"is_sparse": False, "codes": np.arange(4), "classes": np.arange(2), "task": "classification"}
    usual |= {"n_levels": np.zeros(2, dtype=int), "has_missing": False, "is_mixed": False}
    usual["storage"] = SimpleNamespace(shape=(4, 2))
    facts = {"is_plain": True, "has_infinite": NO, "is_too_large": NO, "has_missing": NO}
    facts |= {name: changed.pop(name) for name in [*changed] if name in facts and name != "has_missing"}
    facts["has_missing"] = changed.pop("missing", NO)
    return SimpleNamespace(**{**usual, "facts": SimpleNamespace(**facts), **changed})


def problem(estimator, n_train=4, **changed):
    usual = {
        "estimator": estimator, "y": np.array([0, 1, 0, 1]), "classes": np.arange(2), "impute": None, "frame": None,
        "loss": SimpleNamespace(name="log-loss", output="probabilities"),
        "weights": SimpleNamespace(fit=None, loss=None),
        "splits": [SimpleNamespace(train=np.arange(2), test=np.arange(1)),
                   SimpleNamespace(train=np.broadcast_to(-1, n_train), test=np.arange(1))],
    }  # fmt: skip
    usual["truth"] = changed.get("y", usual["y"])
    return SimpleNamespace(**{**usual, **changed})


def of_numbers(estimator, y=(0.0, 1.0, 2.0, 3.0), **changed):
    return problem(estimator, y=np.array(y), classes=np.empty(0), **{"loss": VALUES, **changed})


WEIGHTED = SimpleNamespace(fit=np.ones(4), loss=np.ones(4))
TREE, FOREST, BOOSTED = DecisionTreeClassifier(), RandomForestClassifier(), HistGradientBoostingClassifier()
EARLY = HistGradientBoostingClassifier(early_stopping=False)
POISSON = HistGradientBoostingRegressor(loss="poisson")
BAYES = GaussianNB()


@pytest.mark.parametrize(
    ("source", "table", "problem", "reason"),
    [
        (BoostingRisks, table(), problem(BOOSTED), None),
        (BoostingRisks, table(), problem(FOREST), OTHER_KIND),
        (BoostingRisks, table(), problem(BOOSTED, n_train=10_000), None),
        (BoostingRisks, table(), problem(BOOSTED, n_train=10_001),
         "the engine neither stops early nor samples, and a train part has 10001 rows"),
        (BoostingRisks, table(), problem(EARLY, n_train=200_000), None),
        (BoostingRisks, table(), problem(EARLY, n_train=200_001),
         "the engine neither stops early nor samples, and a train part has 200001 rows"),
        (BoostingRisks, table(), problem(BOOSTED, impute="median"), "the engine boosts on columns as they are"),
        (BoostingRisks, table(is_sparse=True), problem(BOOSTED), "the engine boosts on columns as they are"),
        (BoostingRisks, table(n_levels=np.array([0, 255])), problem(BOOSTED), None),
        (BoostingRisks, table(n_levels=np.array([256, 0])), problem(BOOSTED),
         "the engine does not merge categories, and a column has 256"),
        (BoostingRisks, table(classes=np.arange(256)), of_numbers(HistGradientBoostingRegressor()),
         "the engine does not merge categories, and a column has 256"),
        (BoostingRisks, table(classes=np.arange(256), task="regression"),
         of_numbers(HistGradientBoostingRegressor()), None),
        (BoostingRisks, table(), of_numbers(POISSON), None),
        (BoostingRisks, table(), of_numbers(POISSON, y=(0.0, 0.0, 2.0, 3.0)), OTHER_VALUES),
        (BoostingRisks, table(), of_numbers(POISSON, y=(1.0, 0.0, 2.0, -1e-9)), OTHER_VALUES),
        (BoostingRisks, table(), of_numbers(HistGradientBoostingRegressor(loss="gamma")), OTHER_VALUES),
        (BoostingRisks, table(), of_numbers(HistGradientBoostingRegressor(loss="gamma"), y=(1.0, 2.0, 3.0, 4.0)), None),
        (BoostingRisks, table(), problem(BOOSTED, loss=MARGINS), "the engine does not support the loss 'hinge'"),
        (BoostingRisks, table(), of_numbers(HistGradientBoostingRegressor(), y=np.ones((4, 3))),
         "the engine predicts one output, and the target has 3"),
        (BoostingRisks, table(codes=np.ones((4, 2))), problem(BOOSTED),
         "the engine reads single columns, and the target has several"),
        # Leaves of 20 rows and more: 5 of them, and two nodes per leaf.
        (BoostingRisks, table(), problem(HistGradientBoostingClassifier(max_iter=50_000), n_train=119), None),
        (BoostingRisks, table(), problem(HistGradientBoostingClassifier(max_iter=50_001), n_train=119),
         "the engine keeps trees of 1000000 nodes in all, and these may have 1000020"),
        (BoostingRisks, table(), of_numbers(HistGradientBoostingRegressor(max_iter=100_001), n_train=119),
         "the engine keeps trees of 1000000 nodes in all, and these may have 1000010"),
        (BoostedLinearRisks, table(), problem(BoostedLinearClassifier()), None),
        (BoostedLinearRisks, table(), problem(BOOSTED), OTHER_KIND),
        (BoostedLinearRisks, table(is_sparse=True), problem(BoostedLinearClassifier()),
         "the engine fits these models to columns as they are"),
        (BoostedLinearRisks, table(), problem(BoostedLinearClassifier(), impute="median"),
         "the engine fits these models to columns as they are"),
        (TreeRisks, table(), problem(TREE), None),
        (TreeRisks, table(), problem(ExtraTreeClassifier()), OTHER_KIND),
        (TreeRisks, table(), problem(TREE, weights=WEIGHTED), "the engine supports row weights in dense columns only"),
        (TreeRisks, table(is_plain=False), problem(TREE, weights=WEIGHTED),
         "the columns have missing values or numbers too large for 32 bits"),
        (TreeRisks, table(), of_numbers(DecisionTreeRegressor(criterion="poisson")),
         "the engine does not support criterion='poisson'"),
        (ForestRisks, table(), problem(FOREST), None),
        (ForestRisks, table(), problem(RandomForestClassifier(4096)), None),
        (ForestRisks, table(), problem(RandomForestClassifier(4097)),
         "the engine grows at most 4096 trees, and n_estimators=4097"),
        (ForestRisks, table(), problem(RandomForestClassifier(bootstrap=False, max_samples=0.5)),
         "it refuses max_samples without bootstrap"),
        (ForestRisks, table(), problem(BaggingClassifier(BAYES)), OTHER_KIND),
        (ForestRisks, table(), problem(TREE), OTHER_KIND),
        (WeightedTreeRisks, table(is_plain=False, missing=YES), problem(TREE, weights=WEIGHTED), None),
        (WeightedTreeRisks, table(), problem(FOREST), OTHER_KIND),
        (WeightedTreeRisks, table(codes=np.ones((4, 2))), problem(TREE),
         "the engine reads single columns, and the target has several"),
        (WeightedForestRisks, table(), problem(TREE), OTHER_KIND),
        (WeightedForestRisks, table(missing=YES), problem(FOREST), None),
        (ColumnTreeRisks, table(), problem(ExtraTreesClassifier()), OTHER_KIND),
        (ColumnTreeRisks, table(codes=np.ones((4, 2))), problem(TREE, loss=LABELS), None),
        (ColumnTreeRisks, table(), problem(TREE, loss=MARGINS), "the engine does not predict margins"),
        (ColumnTreeRisks, table(), of_numbers(DecisionTreeRegressor(), y=np.ones((4, 2))),
         "the engine predicts one output, and the target has 2"),
        (ColumnTreeRisks, table(), problem(TREE, impute="mean"), AS_THEY_ARE),
        (ColumnTreeRisks, table(), problem(TREE, frame=list), AS_THEY_ARE),
        (ColumnTreeRisks, table(is_sparse=True), problem(TREE), AS_THEY_ARE),
        (ColumnTreeRisks, table(has_infinite=YES), problem(TREE), "the columns have numbers too large for 32 bits"),
        (ColumnTreeRisks, table(is_too_large=YES), problem(TREE), "the columns have numbers too large for 32 bits"),
        (ColumnTreeRisks, table(), problem(RandomForestClassifier(4097)),
         "the engine grows at most 4096 trees, and n_estimators=4097"),
        (ColumnTreeRisks, table(), of_numbers(RandomForestRegressor(criterion="poisson")),
         "the engine does not support criterion='poisson'"),
        (NaiveBayesRisks, table(), problem(BAYES), None),
        (NaiveBayesRisks, table(), problem(BAYES, loss=LABELS), None),
        (NaiveBayesRisks, table(), problem(TREE), OTHER_KIND),
        (NaiveBayesRisks, table(), problem(BAYES, weights=WEIGHTED), "the engine does not support row weights"),
        (NaiveBayesRisks, table(is_sparse=True), problem(BAYES), DENSE),
        (NaiveBayesRisks, table(), problem(BAYES, impute="mean"), DENSE),
        (NaiveBayesRisks, table(), problem(BAYES, frame=list), DENSE),
        (NaiveBayesRisks, table(), problem(BAYES, loss=MARGINS), "the engine does not predict margins"),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor()), None),
        (LogLinearRisks, table(), of_numbers(Ridge()), OTHER_KIND),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor(), y=(0.0, -1e-9)), OTHER_VALUES),
        (LogLinearRisks, table(), of_numbers(TweedieRegressor(power=1.9)), None),
        (LogLinearRisks, table(), of_numbers(TweedieRegressor(power=2.0)), OTHER_VALUES),
        (LogLinearRisks, table(), of_numbers(GammaRegressor(), y=(1.0, 2.0)), None),
        (LogLinearRisks, table(), of_numbers(GammaRegressor()), OTHER_VALUES),
        (LogLinearRisks, table(), of_numbers(TweedieRegressor(power=0.9)), "the engine does not support power=0.9"),
        (LogLinearRisks, table(), of_numbers(TweedieRegressor(power=2.1)), "the engine does not support power=2.1"),
        (LogLinearRisks, table(is_sparse=True), of_numbers(PoissonRegressor()), DENSE),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor(), impute="mean"), DENSE),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor(), frame=list), DENSE),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor(), y=np.ones((4, 2))), OTHER_VALUES),
        (LogLinearRisks, table(), of_numbers(PoissonRegressor(), loss=MARGINS), "the engine does not predict margins"),
    ],
)  # fmt: skip
def test_what_a_source_leaves_to_others(source, table, problem, reason):
    assert source.refusal(table, problem) == reason


@pytest.mark.parametrize(
    ("module", "name", "source", "problem", "table", "reason"),
    [
        (boosting, "are_bins_weighted", BoostingRisks, problem(BOOSTED, weights=WEIGHTED), table(),
         "the engine does not reproduce how this version of scikit-learn bins weighted rows"),
        (boosting, "method_of_bins", BoostingRisks, problem(BOOSTED), table(),
         "the engine does not reproduce how this version of scikit-learn makes bins"),
        (forests, "can_repeat_draws", ForestRisks, problem(FOREST), table(),
         "the engine does not reproduce how this version of scikit-learn draws rows"),
        (forests, "draws_by_weight", ForestRisks, problem(FOREST, weights=WEIGHTED), table(),
         "the engine supports row weights where forests draw their rows by them"),
        (column_trees, "separates_missing_from_one_value", ColumnTreeRisks, problem(TREE), table(missing=YES),
         "this version of scikit-learn does not separate missing values from a single value"),
    ],
)  # fmt: skip
def test_what_depends_on_the_version_of_scikit_learn(
    monkeypatch, module, name, source, problem, table, reason
):
    monkeypatch.setattr(module, name, lambda *anything: None)
    assert source.refusal(table, problem) == reason
    monkeypatch.setattr(module, name, lambda *anything: "quantile")
    monkeypatch.setattr(forests, "samples_of", lambda problem: [np.array([1])])
    assert source.refusal(table, problem) is None


@pytest.mark.parametrize(("most", "is_refused"), [(255, False), (256, True)])
def test_a_row_is_drawn_at_most_255_times(monkeypatch, most, is_refused):
    monkeypatch.setattr(forests, "samples_of", lambda problem: [np.array([1, 3]), np.array([most, 0])])
    reason = f"the engine counts to 255 draws of a row, and there are {most}" if is_refused else None
    of_share = problem(RandomForestClassifier(max_samples=0.5))
    assert ForestRisks.refusal(table(), of_share) == reason
    assert WeightedForestRisks.refusal(table(), of_share) == reason
    assert ForestRisks.refusal(table(), problem(FOREST, weights=WEIGHTED)) == reason
    # As many draws as rows, all equally likely, are not even counted.
    assert ForestRisks.refusal(table(), problem(FOREST)) is None


CATEGORIES = {"is_mixed": True, "n_levels": np.array([3, 0])}
SQUARES = "the engine supports categories in models with an intercept and a penalty on squares only"


@pytest.mark.parametrize(
    ("table", "problem", "reason"),
    [
        (table(), of_numbers(PoissonRegressor()), OTHER_KIND),
        (table(), of_numbers(Ridge(), loss=SimpleNamespace(name="callable")),
         "the engine does not support the loss 'callable'"),
        (table(), of_numbers(Ridge(), y=np.ones((4, 2))), "the engine predicts one output from single columns"),
        (table(codes=np.ones((4, 2))), of_numbers(Ridge()), "the engine predicts one output from single columns"),
        (table(has_missing=True), of_numbers(Ridge()), "the columns have missing values"),
        (table(has_missing=True), of_numbers(Ridge(), impute="median", weights=WEIGHTED),
         "the engine does not fill missing values by weighted medians"),
        (table(), of_numbers(Ridge(positive=True)), "the engine does not support positive=True"),
        (table(), of_numbers(make_pipeline(PolynomialFeatures(), SplineTransformer(), PolynomialFeatures(), Ridge())),
         "the engine does not multiply columns made by other steps"),
        (table(), of_numbers(make_pipeline(SplineTransformer(), PolynomialFeatures(), Ridge())),
         "the engine does not multiply columns made by other steps"),
        (table(), of_numbers(Ridge([1.0, 2.0])), "the engine supports one alpha for all columns"),
        (table(), of_numbers(ElasticNet(alpha=0.0)), "alpha=0 has no unique answer"),
        (table(), problem(LogisticRegression(class_weight="balanced"), weights=WEIGHTED),
         "versions of scikit-learn differ in whether rows or their weights are balanced"),
        (table(), problem(LogisticRegression(solver="liblinear"), classes=np.arange(3)),
         "liblinear fits one model per class"),
        (table(), problem(LogisticRegression(solver="liblinear", C=np.inf)),
         "the engine does not support C=inf with solver='liblinear'"),
        (table(), problem(LogisticRegression(l1_ratio=0.5, penalty="elasticnet", solver="saga", C=np.inf)),
         "the engine does not support C=inf with solver='saga'"),
        (table(**CATEGORIES), of_numbers(LinearRegression(fit_intercept=False)), SQUARES),
        (table(**CATEGORIES), of_numbers(ElasticNet()), SQUARES),
        (table(**CATEGORIES), problem(LogisticRegression(C=np.inf)),
         "without a penalty the coefficients of categories are not unique"),
        (table(**CATEGORIES), of_numbers(make_pipeline(PolynomialFeatures(), Ridge())),
         "the engine multiplies columns of numbers only"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_linear_models_that_scikit_learn_fits(table, problem, reason):
    assert recipe_of(table, problem) == reason


def growing(estimator, is_labels=True, **changed):
    own = (problem if is_labels else of_numbers)(estimator, **changed)
    return LinearGrower(own, recipe_of(table(), own))


@pytest.mark.parametrize(
    ("grower", "table", "counts_draws", "reason"),
    [
        (growing(LogisticRegression()), table(), False, None),
        (growing(make_pipeline(StandardScaler(), SplineTransformer(), LogisticRegression())), table(), False, None),
        (growing(LogisticRegression()), table(is_sparse=True), False, "there are kernels for dense columns only"),
        (growing(LogisticRegression()), table(), True, "there are no kernels that count draws"),
        (growing(LogisticRegression(), classes=np.arange(3)), table(), False, "a train part lacks a class"),
        (growing(LogisticRegression(), loss=MARGINS), table(), False, "there is no kernel for loss='hinge'"),
        (growing(LogisticRegression(class_weight="balanced")), table(), False,
         "there is no kernel for Logistic with these parameters"),
        (growing(ElasticNet(), False), table(), False, "there is no kernel for ElasticNet with these parameters"),
        (growing(LinearRegression(), False), table(), False,
         "there are kernels for models with an intercept and a penalty only"),
        (growing(Ridge(fit_intercept=False), False), table(), False,
         "there are kernels for models with an intercept and a penalty only"),
        (growing(make_pipeline(StandardScaler(with_mean=False), Ridge()), False), table(), False,
         "there is no kernel for StandardScaler(with_mean=False)"),
        (growing(make_pipeline(StandardScaler(with_std=False), Ridge()), False), table(), False,
         "there is no kernel for StandardScaler(with_std=False)"),
        (growing(make_pipeline(SplineTransformer(degree=2), Ridge()), False), table(), False,
         "there is a kernel for splines with {'n_knots': 5, 'degree': 3, 'knots': 'uniform', "
         "'extrapolation': 'constant', 'include_bias': True} only"),
        (growing(make_pipeline(SplineTransformer(), StandardScaler(), Ridge()), False), table(), False,
         "there is no kernel for StandardScaler"),
    ],
)  # fmt: skip
def test_linear_models_without_a_kernel_for_a_gpu(grower, table, counts_draws, reason):
    grower.problem.splits = [SimpleNamespace(train=np.arange(4))]
    assert refusal_of_panel(grower, table, counts_draws) == reason


@pytest.mark.parametrize(("n_features", "is_small"), [(12_500, False), (12_499, True)])
def test_a_gpu_is_worth_a_hundred_million_numbers(n_features, is_small):
    sources = [SimpleNamespace(problem=SimpleNamespace(splits=[None] * n)) for n in (3, 5)]
    reason = "1000 rows of 12499 columns in 8 splits are too little work for a GPU" if is_small else None
    assert devices._refusal_of_size(sources, SimpleNamespace(n_rows=1000, n_features=n_features)) == reason
