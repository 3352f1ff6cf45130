"""The fits whose answers are recorded: every search, test, kind of model and kind of data.

Only public names are used, so the same table of cases runs on an older state of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import samples
from lightgbm import LGBMClassifier, LGBMRegressor
from samples import Sample
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from ppfs import PPFS
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    TIEStar,
)
from ppfs.compat import PPIMBC, PPIMBR
from ppfs.independence import (
    PPI,
    ChiSquared,
    CrossFitPPI,
    DSeparation,
    FisherZ,
    GSquared,
    LikelihoodRatio,
    PartialCorrelationT,
)
from ppfs.wrappers import PermutationImportance, Stepwise

Sampling = Callable[[], Sample]

SEARCHES = [
    GrowShrink,
    IAMB,
    InterIAMB,
    FastIAMB,
    IAMBnPC,
    InterIAMBnPC,
    IAMBFDR,
    FBED,
    MMMB,
    HITONMB,
    TIEStar,
    SGAI,
    MixedMB,
]


@dataclass(frozen=True)
class Case:
    """One fit: its name, what is fitted, and on what. Both are created again for every recording."""

    name: str
    make: Callable[[], Any]
    sample: Sampling


def all_cases() -> list[Case]:
    """Return every case, with names that differ."""
    families = [
        _searches,
        _search_options,
        _classical_tests,
        _ppfs_models,
        _ppfs_options,
        _ppfs_data,
        _cross_fit,
        _calibrated,
        _wrappers,
        _compat,
    ]
    found = [case for family in families for case in family()]
    names = [case.name for case in found]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return found


def _searches() -> Iterator[Case]:
    """Every search with every kind of test."""
    tests: dict[str, tuple[Any, Sampling]] = {
        "auto-continuous": ("auto", samples.linear_gaussian),
        "auto-categorical": ("auto", samples.codes),
        "auto-mixed": ("auto", samples.mixed_pandas),
        "ppi-tree": (PPI(n_splits=6), samples.binary),
        "cross-fit-linear": (CrossFitPPI(LinearRegression()), samples.linear_gaussian),
    }
    for search in SEARCHES:
        for name, (test, sample) in tests.items():
            make = partial(search, independence=test, random_state=0)
            yield Case(f"search/{search.__name__}/{name}", make, sample)
        edges = [(0, 4), (1, 4), (4, 2), (3, 2), (0, 3)]
        oracle = partial(search, independence=DSeparation(edges), random_state=0)
        yield Case(
            f"search/{search.__name__}/oracle", oracle, lambda: Sample(np.eye(6)[:, :4], np.arange(6.0))
        )


def _search_options() -> Iterator[Case]:
    for search in SEARCHES:
        make = partial(search, n_folds=3, random_state=1)
        yield Case(f"search-folds/{search.__name__}", make, samples.linear_gaussian)
        kept = partial(search, always_keep=[7], condition_on=[1], random_state=1)
        yield Case(f"search-special-columns/{search.__name__}", kept, samples.linear_gaussian)
    groups = {"first": [0, 1], "second": [3, 8]}
    for search in (IAMB, FBED, GrowShrink, SGAI, MixedMB, TIEStar):
        make = partial(search, feature_groups=groups, random_state=1)
        yield Case(f"search-groups/{search.__name__}", make, samples.linear_gaussian)
    more: dict[str, tuple[Any, Sampling]] = {
        "FBED-runs": (partial(FBED, n_runs=3), samples.linear_gaussian),
        "SGAI-wealth": (partial(SGAI, wealth=0.1), samples.linear_gaussian),
        "MMMB-max-k": (partial(MMMB, max_k=1), samples.codes),
        "HITONMB-wrapper": (partial(HITONMB, wrapper=GaussianNB()), samples.codes),
        "HITONMB-all-sets": (partial(HITONMB, max_k=None), samples.codes),
        "TIEStar-estimator": (partial(TIEStar, estimator=GaussianNB(), max_withheld=2), samples.codes),
        "TIEStar-search": (
            partial(TIEStar, search=FBED(alpha=0.01), max_blankets=4),
            samples.linear_gaussian,
        ),
        "IAMB-alpha": (partial(IAMB, alpha=0.001), samples.linear_gaussian),
        "IAMB-weights-ppi": (partial(IAMB, independence="ppi"), partial(samples.weighted, samples.binary)),
        "IAMB-groups-cross-fit": (
            partial(IAMB, independence="cross-fit-ppi"),
            partial(samples.grouped, samples.binary),
        ),
        "FastIAMB-sparse": (FastIAMB, samples.sparse_codes),
        "IAMBFDR-wide": (IAMBFDR, samples.wide_regression),
        "FBED-wide": (FBED, samples.wide_regression),
        "FBED-three-classes": (FBED, samples.wide_three_classes),
        "IAMB-truth-values": (IAMB, samples.truth_values),
    }
    for name, (make, sample) in more.items():
        yield Case(f"search-options/{name}", partial(make, random_state=2), sample)


def _classical_tests() -> Iterator[Case]:
    contingency: dict[str, Any] = {
        "g2": GSquared(),
        "g2-few-rows": GSquared(min_rows_per_cell=40),
        "chi2": ChiSquared(),
        "chi2-exact-moments": ChiSquared(exact_moments=True),
    }
    tables: dict[str, Sampling] = {
        "codes": samples.codes,
        "three-classes": samples.codes_of_three_classes,
        "pandas": samples.categories_pandas,
        "polars": samples.categories_polars,
        "sparse": samples.sparse_codes,
    }
    for name, test in contingency.items():
        for kind, sample in tables.items():
            yield Case(f"test/{name}/{kind}", partial(InterIAMB, independence=test), sample)
    correlations: dict[str, Any] = {"fisher-z": FisherZ(), "partial-t": PartialCorrelationT()}
    for name, test in correlations.items():
        for sample in (
            samples.linear_gaussian,
            samples.sparse_regression,
            samples.single_precision,
            samples.wide_regression,
        ):
            yield Case(f"test/{name}/{sample.__name__}", partial(InterIAMB, independence=test), sample)
    ratios: dict[str, Any] = {
        "likelihood-ratio": LikelihoodRatio(),
        "likelihood-ratio-symmetric": LikelihoodRatio(symmetric=True),
    }
    mixed = (
        samples.mixed_pandas,
        samples.mixed_pandas_labels,
        samples.mixed_polars,
        samples.mixed_polars_labels,
        samples.three_classes,
        samples.linear_gaussian,
        samples.codes,
    )
    for name, test in ratios.items():
        for sample in mixed:
            yield Case(f"test/{name}/{sample.__name__}", partial(IAMB, independence=test), sample)


def _ppfs_models() -> Iterator[Case]:
    quick = {"n_estimators": 8, "random_state": 0}
    boosted = {"n_estimators": 8, "min_child_samples": 5, "n_jobs": 1, "verbose": -1, "random_state": 0}
    classifiers: dict[str, Any] = {
        "default": None,
        "tree-depth-2": DecisionTreeClassifier(max_depth=2),
        "tree-leaf-5": DecisionTreeClassifier(min_samples_leaf=5, criterion="entropy"),
        "tree-leaf-share": DecisionTreeClassifier(min_samples_leaf=0.1, min_samples_split=0.3),
        "tree-max-features": DecisionTreeClassifier(max_features=1, random_state=0),
        "tree-pruned": DecisionTreeClassifier(ccp_alpha=0.02),
        "tree-leaves": DecisionTreeClassifier(max_leaf_nodes=4),
        "tree-impurity": DecisionTreeClassifier(min_impurity_decrease=0.01),
        "tree-balanced": DecisionTreeClassifier(class_weight="balanced"),
        "extra-tree": ExtraTreeClassifier(random_state=0),
        "logistic": LogisticRegression(),
        "logistic-strong-penalty": LogisticRegression(C=0.05),
        "logistic-no-intercept": LogisticRegression(fit_intercept=False),
        "logistic-balanced": LogisticRegression(class_weight="balanced"),
        "logistic-pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(**quick),
        "forest-unseeded": RandomForestClassifier(n_estimators=4),
        "extra-trees": ExtraTreesClassifier(**quick),
        "hist-boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0),
        "lightgbm": LGBMClassifier(**boosted),
        "bayes": GaussianNB(),
        "neighbours": KNeighborsClassifier(3),
        "discriminant": LinearDiscriminantAnalysis(),
        "svm": SVC(),
        "linear-svm": LinearSVC(random_state=0),
        "ridge-classifier": RidgeClassifier(),
        "perceptron": Perceptron(max_iter=20, tol=None),
    }
    for name, model in classifiers.items():
        yield Case(f"ppfs/binary/{name}", partial(PPFS, model, n_splits=8, random_state=0), samples.binary)
    few = (
        "default",
        "tree-leaf-5",
        "logistic",
        "logistic-pipeline",
        "forest",
        "hist-boosting",
        "lightgbm",
        "bayes",
        "svm",
    )
    for name in few:
        make = partial(PPFS, classifiers[name], n_splits=6, random_state=0)
        yield Case(f"ppfs/three-classes/{name}", make, samples.three_classes)
    regressors: dict[str, Any] = {
        "default": None,
        "tree-depth-3": DecisionTreeRegressor(max_depth=3),
        "tree-leaf-5": DecisionTreeRegressor(min_samples_leaf=5, min_samples_split=12),
        "tree-absolute": DecisionTreeRegressor(criterion="absolute_error", max_depth=2),
        "tree-leaf-weight": DecisionTreeRegressor(min_weight_fraction_leaf=0.1),
        "linear": LinearRegression(),
        "linear-no-intercept": LinearRegression(fit_intercept=False),
        "linear-positive": LinearRegression(positive=True),
        "ridge": Ridge(alpha=2.0),
        "ridge-pipeline": make_pipeline(StandardScaler(), Ridge()),
        "polynomial": make_pipeline(PolynomialFeatures(2), Ridge()),
        "spline": make_pipeline(SplineTransformer(n_knots=4), Ridge(alpha=0.1)),
        "lasso": Lasso(alpha=0.05),
        "forest": RandomForestRegressor(**quick),
        "boosting": GradientBoostingRegressor(**quick),
        "hist-boosting": HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0),
        "lightgbm": LGBMRegressor(**boosted),
        "neighbours": KNeighborsRegressor(3),
        "svm": SVR(),
    }
    for name, model in regressors.items():
        make = partial(PPFS, model, n_splits=8, random_state=0)
        yield Case(f"ppfs/regression/{name}", make, samples.regression)
    yield Case(
        "ppfs/regression/poisson",
        partial(PPFS, PoissonRegressor(), n_splits=6, random_state=0),
        lambda: Sample(samples.regression().X, np.exp(samples.regression().y / 3)),
    )


def _ppfs_options() -> Iterator[Case]:
    trees: dict[str, dict[str, Any]] = {
        "defaults": {},
        "folds": {"n_folds": 3},
        "alpha": {"alpha": 0.01},
        "test-size": {"test_size": 0.4},
        "not-stratified": {"stratify": False},
        "paired-t": {"significance": "paired-t"},
        "corrected-t": {"significance": "corrected-t"},
        "draws": {"n_draws": 4},
        "conditional": {"knockoff": "conditional", "n_splits": 8},
        "conditional-corrected": {"knockoff": "conditional", "significance": "corrected-t", "n_splits": 8},
        "bh": {"correction": "bh"},
        "by": {"correction": "by"},
        "bonferroni": {"correction": "bonferroni"},
        "brier": {"loss": "brier"},
        "zero-one": {"loss": "zero-one"},
        "class-weight": {"class_weight": "balanced"},
        "class-weight-dict": {"class_weight": {0: 1.0, 1: 5.0}},
        "always-keep": {"always_keep": [7]},
        "condition-on": {"condition_on": [2]},
        "generator": {"random_state": 123456789},
        "growth-estimator": {"growth_estimator": LogisticRegression(), "n_splits": 8},
        "feature-groups": {"feature_groups": {"pair": [0, 3], "rest": [4, 7]}},
        "groups-and-folds": {"feature_groups": {"pair": [0, 3]}, "n_folds": 2},
        "many-splits": {"n_splits": 60},
    }
    for name, parameters in trees.items():
        yield Case(f"ppfs-options/{name}", partial(PPFS, **{"random_state": 3, **parameters}), samples.binary)
    splitters: dict[str, Any] = {
        "k-fold": KFold(7, shuffle=True, random_state=0),
        "repeated": RepeatedKFold(n_splits=4, n_repeats=2),
        "shuffle-unseeded": ShuffleSplit(9, test_size=0.3),
        "time-series": TimeSeriesSplit(6),
        "pairs": [
            (np.arange(start, start + 80) % 110, np.arange(start + 80, start + 110) % 110)
            for start in range(0, 110, 15)
        ],
    }
    for name, splitter in splitters.items():
        yield Case(
            f"ppfs-splitter/{name}", partial(PPFS, splitter=splitter, random_state=3), samples.regression
        )
    linear: dict[str, dict[str, Any]] = {
        "absolute": {"loss": "absolute"},
        "callable": {"loss": _huber},
        "conditional": {"knockoff": "conditional", "n_draws": 2, "n_splits": 8},
        "conditional-ridge": {"knockoff": "conditional", "conditional": Ridge(), "n_splits": 8},
        "feature-groups": {"feature_groups": {"pair": [0, 3]}},
        "folds": {"n_folds": 4, "n_splits": 8},
        "corrected-t": {"significance": "corrected-t"},
    }
    for name, parameters in linear.items():
        make = partial(PPFS, LinearRegression(), random_state=4, **parameters)
        yield Case(f"ppfs-linear-options/{name}", make, samples.linear_gaussian)


def _ppfs_data() -> Iterator[Case]:
    tables: dict[str, Sampling] = {
        "text-labels": samples.text_labels,
        "rare-class": samples.rare_class,
        "codes": samples.codes,
        "categories-pandas": samples.categories_pandas,
        "categories-polars": samples.categories_polars,
        "mixed-pandas": samples.mixed_pandas,
        "mixed-pandas-labels": samples.mixed_pandas_labels,
        "mixed-polars": samples.mixed_polars,
        "mixed-polars-labels": samples.mixed_polars_labels,
        "gaps": samples.gaps,
        "gaps-regression": samples.gaps_regression,
        "gaps-in-text": samples.gaps_in_text,
        "named": samples.named,
        "ties": samples.ties,
        "single-precision": samples.single_precision,
        "truth-values": samples.truth_values,
        "sparse-regression": samples.sparse_regression,
        "sparse-binary": samples.sparse_binary,
        "wide": samples.wide,
        "wide-regression": samples.wide_regression,
        "wide-three-classes": samples.wide_three_classes,
        "two-outputs": samples.two_outputs,
        "weights": partial(samples.weighted, samples.binary),
        "weights-regression": partial(samples.weighted, samples.regression),
        "row-groups": partial(samples.grouped, samples.binary),
        "row-groups-and-weights": partial(samples.grouped_and_weighted, samples.regression),
    }
    for name, sample in tables.items():
        yield Case(f"ppfs-data/tree/{name}", partial(PPFS, n_splits=8, random_state=5), sample)
    scaled_logistic = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    logistic: dict[str, Sampling] = {
        "text-labels": samples.text_labels,
        "rare-class": samples.rare_class,
        "categories-pandas": samples.categories_pandas,
        "mixed-pandas-labels": samples.mixed_pandas_labels,
        "mixed-polars-labels": samples.mixed_polars_labels,
        "sparse-binary": samples.sparse_binary,
        "wide": samples.wide,
        "wide-three-classes": samples.wide_three_classes,
        "weights": partial(samples.weighted, samples.binary),
        "row-groups": partial(samples.grouped, samples.binary),
    }
    for name, sample in logistic.items():
        make = partial(PPFS, LogisticRegression(), n_splits=6, random_state=5)
        yield Case(f"ppfs-data/logistic/{name}", make, sample)
    yield Case(
        "ppfs-data/logistic-pipeline/sparse-binary",
        partial(PPFS, scaled_logistic, n_splits=6, random_state=5),
        samples.sparse_binary,
    )
    linear: dict[str, Sampling] = {
        "mixed-pandas": samples.mixed_pandas,
        "mixed-polars": samples.mixed_polars,
        "sparse-regression": samples.sparse_regression,
        "wide-regression": samples.wide_regression,
        "two-outputs": samples.two_outputs,
        "weights": partial(samples.weighted, samples.regression),
        "row-groups": partial(samples.grouped, samples.regression),
    }
    for name, sample in linear.items():
        make = partial(PPFS, LinearRegression(), n_splits=8, random_state=5)
        yield Case(f"ppfs-data/linear/{name}", make, sample)
    imputed: dict[str, Any] = {
        "logistic": (LogisticRegression(), samples.gaps),
        "tree": (None, samples.gaps),
        "linear": (LinearRegression(), samples.gaps_regression),
        "linear-text": (LinearRegression(), samples.gaps_in_text),
    }
    for name, (model, sample) in imputed.items():
        make = partial(PPFS, model, impute="median", n_splits=8, random_state=5)
        yield Case(f"ppfs-data/impute/{name}", make, sample)
    survival = partial(PPFS, _LogTime(), loss=_survival_loss, task="regression", n_splits=6, random_state=5)
    yield Case("ppfs-data/survival", survival, samples.survival)


def _cross_fit() -> Iterator[Case]:
    tests: dict[str, tuple[CrossFitPPI, Sampling]] = {
        "tree": (CrossFitPPI(), samples.binary),
        "tree-regression": (CrossFitPPI(), samples.regression),
        "three-classes": (CrossFitPPI(), samples.three_classes),
        "linear": (CrossFitPPI(LinearRegression()), samples.linear_gaussian),
        "ridge": (CrossFitPPI(Ridge()), samples.linear_gaussian),
        "logistic": (CrossFitPPI(LogisticRegression()), samples.binary),
        "logistic-three-classes": (CrossFitPPI(LogisticRegression()), samples.three_classes),
        "spline": (CrossFitPPI(make_pipeline(SplineTransformer(n_knots=4), Ridge())), samples.regression),
        "polynomial": (
            CrossFitPPI(make_pipeline(PolynomialFeatures(2), LinearRegression())),
            samples.regression,
        ),
        "forest": (CrossFitPPI(RandomForestRegressor(6, random_state=0)), samples.regression),
        "hist-boosting": (
            CrossFitPPI(HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5)),
            samples.regression,
        ),
        "two-outputs": (CrossFitPPI(LinearRegression()), samples.two_outputs),
        "folds": (CrossFitPPI(n_folds=3), samples.binary),
        "draws": (CrossFitPPI(n_draws=3), samples.binary),
        "permutation": (CrossFitPPI(knockoff="permutation"), samples.binary),
        "conditional-ridge": (CrossFitPPI(LinearRegression(), conditional=Ridge()), samples.linear_gaussian),
        "conditional-tree": (
            CrossFitPPI(conditional=DecisionTreeClassifier(max_depth=2)),
            samples.categories_pandas,
        ),
        "randomisation": (
            CrossFitPPI(LinearRegression(), significance="randomisation", n_draws=39),
            samples.linear_gaussian,
        ),
        "early-stop": (
            CrossFitPPI(LinearRegression(), significance="randomisation", n_draws=99, early_stop=True),
            samples.linear_gaussian,
        ),
        "early-stop-tree": (
            CrossFitPPI(
                DecisionTreeClassifier(max_depth=3), significance="randomisation", n_draws=99, early_stop=True
            ),
            samples.binary,
        ),
        "log-loss": (
            CrossFitPPI(DecisionTreeClassifier(min_samples_leaf=5), loss="log-loss"),
            samples.binary,
        ),
        "absolute": (CrossFitPPI(LinearRegression(), loss="absolute"), samples.linear_gaussian),
        "class-weight": (CrossFitPPI(class_weight="balanced"), samples.rare_class),
        "impute": (CrossFitPPI(LogisticRegression(), impute="median"), samples.gaps),
        "gaps": (CrossFitPPI(), samples.gaps),
        "splitter": (CrossFitPPI(splitter=StratifiedKFold(4)), samples.binary),
        "splitter-unseeded": (CrossFitPPI(splitter=KFold(4, shuffle=True)), samples.regression),
        "not-stratified": (CrossFitPPI(stratify=False), samples.binary),
        "marginal-estimator": (CrossFitPPI(marginal_estimator=LogisticRegression()), samples.binary),
        "mixed-pandas": (CrossFitPPI(), samples.mixed_pandas),
        "mixed-polars": (CrossFitPPI(), samples.mixed_polars_labels),
        "mixed-linear": (CrossFitPPI(LinearRegression()), samples.mixed_pandas),
        "gaps-in-text": (CrossFitPPI(), samples.gaps_in_text),
        "sparse": (CrossFitPPI(), samples.sparse_binary),
        "sparse-linear": (CrossFitPPI(Ridge()), samples.sparse_regression),
        "weights": (CrossFitPPI(), partial(samples.weighted, samples.binary)),
        "weights-linear": (CrossFitPPI(LinearRegression()), partial(samples.weighted, samples.regression)),
        "row-groups": (CrossFitPPI(), partial(samples.grouped, samples.binary)),
        "row-groups-linear": (CrossFitPPI(LinearRegression()), partial(samples.grouped, samples.regression)),
        "lightgbm": (
            CrossFitPPI(LGBMRegressor(n_estimators=6, min_child_samples=5, n_jobs=1, verbose=-1)),
            samples.regression,
        ),
    }
    for name, (test, sample) in tests.items():
        yield Case(f"cross-fit/{name}", partial(PPFS, independence=test, random_state=6), sample)
        by_t = partial(PPFS, independence=_by_t_test(test), random_state=6)
        yield Case(f"cross-fit-t/{name}", by_t, sample)


def _by_t_test(test: CrossFitPPI) -> CrossFitPPI:
    """Return the test without counted p-values, which older versions do not have: the rest can then be compared."""
    return clone(test).set_params(exact_tail=False) if "exact_tail" in test.get_params(deep=False) else test


def _calibrated() -> Iterator[Case]:
    presets: dict[str, tuple[dict[str, Any], Sampling]] = {
        "tree": ({}, samples.binary),
        "regression": ({}, samples.regression),
        "linear": ({"estimator": LinearRegression()}, samples.linear_gaussian),
        "logistic": ({"estimator": LogisticRegression()}, samples.binary),
        "no-correction": ({"estimator": LogisticRegression(), "correction": None}, samples.binary),
        "by": ({"estimator": Ridge(), "correction": "by"}, samples.linear_gaussian),
        "folds": ({"estimator": LinearRegression(), "n_folds": 3}, samples.linear_gaussian),
        "groups": (
            {"estimator": LinearRegression(), "feature_groups": {"pair": [1, 8]}},
            samples.linear_gaussian,
        ),
        "always-keep": ({"estimator": LinearRegression(), "always_keep": [7]}, samples.linear_gaussian),
        "condition-on": ({"estimator": LinearRegression(), "condition_on": [1]}, samples.linear_gaussian),
        "growth-estimator": ({"growth_estimator": LogisticRegression()}, samples.binary),
        "wide": ({"estimator": LogisticRegression()}, samples.wide),
        "wide-regression": ({"estimator": LinearRegression()}, samples.wide_regression),
        "forest": ({"estimator": RandomForestClassifier(6, random_state=0)}, samples.binary),
        "mixed": ({"estimator": LinearRegression()}, samples.mixed_pandas),
        "weights": ({"estimator": LinearRegression()}, partial(samples.weighted, samples.regression)),
        "row-groups": ({"estimator": LinearRegression()}, partial(samples.grouped, samples.regression)),
        "sparse": ({"estimator": Ridge()}, samples.sparse_regression),
    }
    for name, (parameters, sample) in presets.items():
        yield Case(f"calibrated/{name}", partial(PPFS.calibrated, random_state=7, **parameters), sample)
        # The same model, asked once and not a panel, by the t-test.
        others = dict(parameters)
        model, growth = others.pop("estimator", None), others.pop("growth_estimator", None)
        test = _by_t_test(CrossFitPPI(model, marginal_estimator=growth))
        by_t = partial(PPFS, independence=test, random_state=7, **{"correction": "bh", **others})
        yield Case(f"calibrated-t/{name}", by_t, sample)


def _wrappers() -> Iterator[Case]:
    fitted: dict[str, tuple[Any, Sampling]] = {
        "stepwise/default": (Stepwise, samples.binary),
        "stepwise/linear": (partial(Stepwise, LinearRegression()), samples.regression),
        "stepwise/scoring": (
            partial(Stepwise, LogisticRegression(), scoring="neg_log_loss", cv=3),
            samples.binary,
        ),
        "stepwise/mixed": (partial(Stepwise, DecisionTreeRegressor(max_depth=3)), samples.mixed_pandas),
        "stepwise/groups": (
            partial(Stepwise, Ridge(), feature_groups={"pair": [0, 3]}),
            samples.linear_gaussian,
        ),
        "stepwise/weights": (partial(Stepwise, Ridge()), partial(samples.weighted, samples.regression)),
        "importance/default": (PermutationImportance, samples.binary),
        "importance/linear": (partial(PermutationImportance, LinearRegression()), samples.regression),
        "importance/n-features": (
            partial(PermutationImportance, select="n_features", n_features=2),
            samples.three_classes,
        ),
        "importance/pvalue": (
            partial(PermutationImportance, GaussianNB(), select="pvalue", n_nulls=20),
            samples.binary,
        ),
        "importance/pvalue-tree": (
            partial(PermutationImportance, select="pvalue", n_nulls=20, n_repeats=3),
            samples.regression,
        ),
        "importance/cv": (
            partial(PermutationImportance, GaussianNB(), select="cv", cv=3),
            samples.three_classes,
        ),
        "importance/fitted-rows": (
            partial(PermutationImportance, Ridge(), test_size=None, threshold=0.01),
            samples.linear_gaussian,
        ),
        "importance/groups": (
            partial(PermutationImportance, Ridge(), feature_groups={"pair": [0, 3]}),
            samples.linear_gaussian,
        ),
        "importance/row-groups": (PermutationImportance, partial(samples.grouped, samples.binary)),
        "importance/polars": (PermutationImportance, samples.mixed_polars),
        "importance/sparse": (partial(PermutationImportance, Ridge()), samples.sparse_regression),
    }
    for name, (make, sample) in fitted.items():
        yield Case(f"wrapper/{name}", partial(make, random_state=8), sample)


def _compat() -> Iterator[Case]:
    quiet = {"random_state": 9, "n_jobs": 1, "verbose": 0}
    classifiers: dict[str, tuple[dict[str, Any], Sampling]] = {
        "default": ({}, samples.binary),
        "named": ({"num_simul": 10}, samples.named),
        "stratified": ({"simul_type": 1, "num_simul": 10}, samples.three_classes),
        "parametric": ({"sig_test_type": "parametric", "num_simul": 10}, samples.binary),
        "cv": ({"cv": 3, "num_simul": 8}, samples.binary),
        "splitter": ({"cv": KFold(4), "num_simul": 8}, samples.binary),
        "logistic": ({"model": LogisticRegression(), "p_val_thresh": 0.01, "num_simul": 10}, samples.binary),
        "simul-size": ({"simul_size": 0.35, "num_simul": 10}, samples.binary),
    }
    for name, (parameters, sample) in classifiers.items():
        yield Case(f"compat/PPIMBC/{name}", partial(PPIMBC, **quiet, **parameters), sample)
    regressors: dict[str, tuple[dict[str, Any], Sampling]] = {
        "default": ({}, samples.regression),
        "named": ({"num_simul": 10, "p_val_thresh": 0.1}, samples.named_regression),
        "linear-cv": ({"model": LinearRegression(), "cv": 3, "num_simul": 8}, samples.linear_gaussian),
    }
    for name, (parameters, sample) in regressors.items():
        yield Case(f"compat/PPIMBR/{name}", partial(PPIMBR, **quiet, **parameters), sample)


def _huber(y: Any, prediction: Any) -> Any:
    size = np.abs(y - prediction)
    return np.where(size < 1, size**2 / 2, size - 0.5)


class _LogTime(LinearRegression):
    """Predicts the logarithm of the recorded times."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _LogTime:
        super().fit(X, np.log(y["time"]), sample_weight)
        return self


def _survival_loss(y: Any, prediction: Any) -> Any:
    return np.where(y["event"], np.abs(np.log(y["time"]) - prediction), 0.0)
