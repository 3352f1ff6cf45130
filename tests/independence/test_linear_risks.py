"""Linear models answered by the engine equal those that scikit-learn fits one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.any_model import ModelRisks
from ppfs.independence._predictive.risks.linear import LinearRisks
from ppfs.independence._predictive.risks.linear.least_squares import ElasticNet as ElasticNetSolver
from ppfs.independence._predictive.risks.linear.least_squares import Ridge as RidgeSolver
from ppfs.independence._predictive.risks.linear.logistic import Logistic
from ppfs.independence._predictive.risks.linear.steps import require_squarable
from ppfs.independence._predictive.risks.linear.target import TrainTarget

EXACT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}
EXACT_SIZES = {"tol": 1e-12, "max_iter": 100_000}


def problem(task, n_rows=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 100, 0, 5, 0, 0]
    X[:, 3] = np.round(X[:, 3])
    X[:, 4] = 0.0
    X[:2, 4] = 1.0
    signal = X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=n_rows)
    if task == "regression":
        return X, signal
    n_classes = {"classification": 2, "three classes": 3}[task]
    return X, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def both(test, X, y, **reading):
    """Return who answers, the engine and scikit-learn."""
    bound = test.bind(read_table(X, y, task="auto", owner="test", **reading))
    ours = bound._risks_about(bound.table.target, is_marginal=True)[0]
    assert isinstance(ours, LinearRisks)
    return ours, ModelRisks(bound.table, ours.problem, None, "a comparison")


def assert_same(ours, theirs, rtol):
    np.testing.assert_allclose(ours.base, theirs.base, rtol=rtol, atol=1e-3 * rtol)
    np.testing.assert_allclose(ours.replaced, theirs.replaced, rtol=rtol, atol=1e-3 * rtol)
    if ours.by_draw is not None:
        np.testing.assert_allclose(ours.by_draw, theirs.by_draw, rtol=rtol)


def grown(source, columns):
    """Return the risks of models of single columns."""
    return source.grower().risks(source._table.block(list(columns)))


def risks_of(test, X, y, n_columns):
    """Return the risks of all single columns, computed at once and one by one."""
    ours, theirs = both(test, X, y)
    return grown(ours, range(n_columns)), grown(theirs, range(n_columns))


REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(50.0),
    Ridge(fit_intercept=False),
    Lasso(0.1, **EXACT_SIZES),
    Lasso(0.1, positive=True, fit_intercept=False, **EXACT_SIZES),
    ElasticNet(0.1, l1_ratio=0.3, **EXACT_SIZES),
    make_pipeline(StandardScaler(), Ridge(5.0)),
    make_pipeline(RobustScaler(), Lasso(0.05, **EXACT_SIZES)),
    make_pipeline(MinMaxScaler((-1, 2)), LinearRegression()),
    make_pipeline(MinMaxScaler(clip=True), Ridge()),
    make_pipeline(MaxAbsScaler(), "passthrough", Ridge(0.1)),
    make_pipeline(StandardScaler(with_std=False), RobustScaler(), Ridge(fit_intercept=False)),
    make_pipeline(SplineTransformer(n_knots=4), Ridge(0.1)),
    make_pipeline(StandardScaler(), SplineTransformer(n_knots=3, degree=2, extrapolation="linear"), Ridge()),
]

CLASSIFIERS = [
    LogisticRegression(**EXACT),
    LogisticRegression(C=100.0, **EXACT),
    LogisticRegression(C=0.01, **EXACT),
    LogisticRegression(fit_intercept=False, **EXACT),
    LogisticRegression(class_weight="balanced", **EXACT),
    LogisticRegression(class_weight={0: 3.0}, **EXACT),
    make_pipeline(StandardScaler(), LogisticRegression(**EXACT)),
    make_pipeline(RobustScaler(), LogisticRegression(C=0.1, **EXACT)),
    make_pipeline(SplineTransformer(n_knots=3), LogisticRegression(**EXACT)),
]

# Until 1.7 scikit-learn asks for penalised sizes by name.
_BY_RATIO = LogisticRegression().get_params().get("penalty") != "l2"
LASSO = {"l1_ratio": 1.0} if _BY_RATIO else {"penalty": "l1"}
ELASTIC_NET = {"l1_ratio": 0.4} | ({} if _BY_RATIO else {"penalty": "elasticnet"})
SAGA = {"solver": "saga", "tol": 1e-9, "max_iter": 100_000, "random_state": 0}
LIBLINEAR = {"solver": "liblinear", "tol": 1e-10, "max_iter": 10_000, "random_state": 0}

TWO_CLASSES = [
    LogisticRegression(**LIBLINEAR),
    LogisticRegression(C=0.1, intercept_scaling=3.0, class_weight="balanced", **LIBLINEAR),
    LogisticRegression(fit_intercept=False, **LIBLINEAR),
    make_pipeline(StandardScaler(), LogisticRegression(C=0.3, **LASSO, **LIBLINEAR)),
    make_pipeline(StandardScaler(), LogisticRegression(C=0.3, **LASSO, **SAGA)),
    make_pipeline(StandardScaler(), LogisticRegression(C=0.3, class_weight={1: 2.0}, **ELASTIC_NET, **SAGA)),
    make_pipeline(StandardScaler(), LogisticRegression(C=2.0, fit_intercept=False, **ELASTIC_NET, **SAGA)),
]


@pytest.mark.parametrize(
    ("estimator", "task"),
    [(estimator, "classification") for estimator in TWO_CLASSES]
    + [(estimator, "three classes") for estimator in TWO_CLASSES[4:]],
    ids=repr,
)
def test_penalised_sizes_and_intercepts_equal_scikit_learns_models(estimator, task):
    X, y = problem(task)
    if not hasattr(estimator, "steps"):
        X = X - X.mean(axis=0)
    ours, theirs = both(CrossFitPPI(estimator, n_draws=2, n_folds=3, random_state=0), X, y)
    # Where all slopes are zero saga stops before its intercept is found, so only columns that matter are compared.
    assert_same(grown(ours, [0, 1]), grown(theirs, [0, 1]), rtol=1e-4)
    members = frozenset({0, 1, 3, 5})
    assert_same(ours.of_members([0, 3, 5], members), theirs.of_members([0, 3, 5], members), rtol=1e-4)
    fewer = members - {3}
    assert_same(ours.of_members([0, 5], fewer), theirs.of_members([0, 5], fewer), rtol=1e-4)


def test_penalized_intercepts_of_more_classes_are_left_to_scikit_learn():
    bound = PPI(TWO_CLASSES[0], n_splits=5).bind(
        read_table(*problem("three classes"), task="auto", owner="test")
    )
    assert type(bound._risks_about(6, is_marginal=True)[0]) is ModelRisks


WITH_PRODUCTS = [
    make_pipeline(PolynomialFeatures(2), LinearRegression()),
    make_pipeline(StandardScaler(), PolynomialFeatures(3, include_bias=False), StandardScaler(), Ridge()),
]


@pytest.mark.parametrize("estimator", WITH_PRODUCTS, ids=repr)
def test_models_of_products_are_left_to_scikit_learn(estimator):
    ours, theirs = both(CrossFitPPI(estimator, n_folds=3, random_state=0), *problem("regression"))
    assert "with products through scikit-learn's interface" in ours.note
    members = frozenset({0, 2, 5})
    np.testing.assert_array_equal(
        ours.of_members([0], members).replaced, theirs.of_members([0], members).replaced
    )


@pytest.mark.parametrize("knockoff", ["permutation", "conditional"])
@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        make_pipeline(StandardScaler(), Ridge()),
        make_pipeline(StandardScaler(), SplineTransformer(), Ridge()),
        make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False), Ridge()),
    ],
    ids=repr,
)
def test_filled_gaps_equal_scikit_learns_models(estimator, knockoff):
    X, y = problem("regression")
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    # A column of which train parts may know nothing.
    X[1:, 5] = np.nan
    test = PPI(estimator, n_splits=5, knockoff=knockoff, impute="median", random_state=0)
    ours, theirs = both(test, X, y)
    assert_same(grown(ours, range(6)), grown(theirs, range(6)), rtol=1e-8)
    members = frozenset({0, 1, 2, 3})
    assert_same(ours.of_members([0, 2], members), theirs.of_members([0, 2], members), rtol=1e-8)
    assert_same(ours.of_added([4], members), theirs.of_added([4], members), rtol=1e-8)


def test_gaps_hide_no_number_that_is_too_large():
    X = np.array([[np.nan, 1.0], [-1e150, 1.0], [2.0, 1.0]])
    with pytest.raises(InvalidInputError, match=r"'a' holds numbers up to 1e\+150"):
        require_squarable(X, ["a", "b"], (), Ridge())


@pytest.mark.parametrize("estimator", REGRESSORS + WITH_PRODUCTS, ids=repr)
def test_growth_of_regressors_equals_one_fit_a_column(estimator):
    ours, theirs = risks_of(PPI(estimator, n_splits=5, random_state=0), *problem("regression"), 6)
    assert_same(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("task", ["classification", "three classes"])
def test_growth_of_classifiers_equals_one_exact_fit_a_column(estimator, task):
    ours, theirs = risks_of(PPI(estimator, n_splits=5, random_state=0), *problem(task), 6)
    assert_same(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(
    ("loss", "task"),
    [("absolute", "regression")]
    + [
        (loss, task)
        for loss in ("log-loss", "brier", "hinge", "zero-one")
        for task in ("classification", "three classes")
    ],
)
def test_growth_knows_all_losses(loss, task):
    model = Ridge() if task == "regression" else LogisticRegression(**EXACT)
    test = PPI(make_pipeline(StandardScaler(), model), n_splits=5, loss=loss, random_state=0)
    assert_same(*risks_of(test, *problem(task), 6), rtol=1e-5)


@pytest.mark.parametrize("knockoff", ["permutation", "conditional"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
def test_shrinkage_of_regressors_equals_scikit_learns_models(estimator, knockoff):
    test = CrossFitPPI(estimator, knockoff=knockoff, n_draws=3, n_folds=3, random_state=0)
    ours, theirs = both(test, *problem("regression"))
    members = frozenset({0, 1, 3, 5})
    assert_same(ours.of_members([0, 3, 5], members), theirs.of_members([0, 3, 5], members), rtol=1e-6)


@pytest.mark.parametrize(
    ("knockoff", "task"), [("permutation", "classification"), ("conditional", "three classes")]
)
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_shrinkage_of_classifiers_equals_scikit_learns_exact_models(estimator, knockoff, task):
    test = CrossFitPPI(estimator, knockoff=knockoff, n_draws=3, n_folds=3, random_state=0)
    ours, theirs = both(test, *problem(task))
    members = frozenset({0, 1, 3, 5})
    assert_same(ours.of_members([0, 3, 5], members), theirs.of_members([0, 3, 5], members), rtol=1e-5)


@pytest.mark.parametrize("loss", ["log-loss", "hinge", "zero-one"])
@pytest.mark.parametrize("task", ["classification", "three classes"])
def test_shrinkage_of_classifiers_knows_all_losses(loss, task):
    test = PPI(
        make_pipeline(StandardScaler(), LogisticRegression(**EXACT)), n_splits=5, loss=loss, random_state=0
    )
    ours, theirs = both(test, *problem(task))
    members = frozenset({0, 1, 2, 5})
    assert_same(ours.of_members([0, 2], members), theirs.of_members([0, 2], members), rtol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [(LinearRegression(), "regression"), (LogisticRegression(**EXACT), "three classes")],
    ids=repr,
)
def test_candidates_given_others_equal_scikit_learns_models(estimator, task):
    ours, theirs = both(PPI(estimator, n_splits=5, random_state=0), *problem(task))
    given = frozenset({1, 5})
    assert_same(ours.of_added([0, 2, 3], given), theirs.of_added([0, 2, 3], given), rtol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (LinearRegression(), "regression"),
        (make_pipeline(StandardScaler(), Ridge()), "regression"),
        (Lasso(0.05, **EXACT_SIZES), "regression"),
        (make_pipeline(SplineTransformer(n_knots=3), Ridge()), "regression"),
        (LogisticRegression(**EXACT), "classification"),
        (LogisticRegression(class_weight={0: 2.0}, **EXACT), "three classes"),
    ],
    ids=repr,
)
def test_weights_of_rows_equal_scikit_learns(estimator, task):
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 80)
    X, y = problem(task)
    ours, theirs = both(PPI(estimator, n_splits=5, random_state=0), X, y, sample_weight=weights)
    assert_same(grown(ours, [0, 1, 2]), grown(theirs, [0, 1, 2]), rtol=1e-5)
    members = frozenset({0, 1, 2, 5})
    assert_same(ours.of_members([0, 2], members), theirs.of_members([0, 2], members), rtol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (LinearRegression(), "regression"),
        (Ridge(), "regression"),
        (make_pipeline(StandardScaler(), Ridge(3.0)), "regression"),
        (Lasso(0.1, **EXACT_SIZES), "regression"),
        (LogisticRegression(**EXACT), "classification"),
        (make_pipeline(StandardScaler(), LogisticRegression(C=0.1, **EXACT)), "three classes"),
    ],
    ids=repr,
)
def test_more_members_than_rows_equal_scikit_learns_models(estimator, task):
    rng = np.random.default_rng(3)
    X, y = problem(task, n_rows=30)
    X = np.hstack([X[:, [0, 1]], rng.normal(size=(30, 48))])
    ours, theirs = both(PPI(estimator, n_splits=5, random_state=0), X, y)
    members = frozenset(range(50))
    assert_same(ours.of_members([0, 1, 7], members), theirs.of_members([0, 1, 7], members), rtol=1e-4)


def test_copies_and_combinations_of_columns_get_the_shortest_solution():
    X, y = problem("regression")
    X = np.column_stack([X[:, [0, 1, 2]], X[:, 0] + X[:, 1], 2.0 * X[:, 2]])
    ours, theirs = both(PPI(LinearRegression(), n_splits=5, random_state=0), X, y)
    members = frozenset(range(5))
    assert_same(ours.of_members([0, 3, 4], members), theirs.of_members([0, 3, 4], members), rtol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (Ridge(solver="auto"), "regression"),
        (LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000), "classification"),
        (
            make_pipeline(
                StandardScaler(with_mean=False),
                LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000),
            ),
            "three classes",
        ),
    ],
    ids=repr,
)
def test_sparse_columns_equal_their_dense_copies(estimator, task):
    X, y = problem(task)
    X[:, [0, 2]] *= np.random.default_rng(0).random((80, 2)) < 0.3
    members = frozenset({0, 1, 2})
    answers = []
    for columns in (sp.csr_array(X), X):
        ours, _ = both(PPI(estimator, n_splits=5, random_state=0), columns, y)
        answers.append((grown(ours, [0, 1, 2, 4]), ours.of_members([0, 2], members)))
    for sparse, dense in zip(*answers, strict=True):
        assert_same(sparse, dense, rtol=1e-9)


def test_groups_of_columns_equal_scikit_learns_models():
    X, y = problem("regression")
    test = CrossFitPPI(make_pipeline(StandardScaler(), Ridge()), n_folds=3, n_draws=2, random_state=0)
    ours, theirs = both(test, X, y, feature_groups={"pair": [0, 2]})
    names = ours._table.names
    pair, other = names.index("pair"), next(i for i, name in enumerate(names) if name != "pair")
    members = frozenset(range(len(names)))
    for asked in (
        lambda source: source.of_added([pair], frozenset()),
        lambda source: source.of_members([pair, other], members),
    ):
        answer = asked(ours)
        assert_same(answer, asked(theirs), rtol=1e-6)
        assert answer.n_coefficients.tolist() == [2, 1][: len(answer.base)]


@pytest.mark.parametrize(
    ("estimator", "task", "expected"),
    [
        (Ridge(), "regression", 1),
        (LogisticRegression(), "classification", 1),
        (LogisticRegression(), "three classes", 2),
        (make_pipeline(SplineTransformer(n_knots=4, degree=3), Ridge()), "regression", 5),
        (make_pipeline(SplineTransformer(n_knots=3, degree=3), LogisticRegression()), "three classes", 8),
    ],
    ids=repr,
)
def test_coefficients_that_a_feature_takes_are_counted(estimator, task, expected):
    ours, _ = both(CrossFitPPI(estimator, random_state=0), *problem(task))
    assert grown(ours, [0, 1]).n_coefficients.tolist() == [expected, expected]
    assert ours.of_members([0], frozenset({0, 1})).n_coefficients.tolist() == [expected]


def test_separable_classes_converge():
    X, _ = problem("classification")
    y = (X[:, 0] > 0).astype(int)
    ours, theirs = risks_of(PPI(LogisticRegression(C=1e4, **EXACT), n_splits=5, random_state=0), X, y, 6)
    np.testing.assert_allclose(ours.base, theirs.base, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
@pytest.mark.parametrize(
    "y", [np.array([1] + [0] * 9), np.array([1, 2] + [0] * 8), np.array([2, 2, 1, 1] + [0] * 6)], ids=str
)
def test_train_parts_that_lack_classes_never_predict_them(y):
    X = np.arange(20.0).reshape(10, 2) % 7
    test = PPI(LogisticRegression(**EXACT), n_splits=20, random_state=0, stratify=False)
    ours, theirs = both(test, X, y)
    assert_same(grown(ours, [0, 1]), grown(theirs, [0, 1]), rtol=1e-4)
    members = frozenset({0, 1})
    assert_same(ours.of_members([0, 1], members), theirs.of_members([0, 1], members), rtol=1e-4)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(positive=True),
        Ridge(solver="lsqr"),
        Lasso(alpha=0.0),
        LogisticRegression(solver="liblinear", dual=True),
        make_pipeline(Normalizer(), Ridge()),
        make_pipeline(SplineTransformer(extrapolation="error"), Ridge()),
        make_pipeline(SplineTransformer(), PolynomialFeatures(), Ridge()),
    ],
    ids=repr,
)
def test_other_models_and_parameters_are_left_to_scikit_learn(estimator):
    task = "classification" if isinstance(estimator, LogisticRegression) else "regression"
    bound = PPI(estimator, n_splits=5).bind(read_table(*problem(task), task="auto", owner="test"))
    assert type(bound._risks_about(6, is_marginal=True)[0]) is ModelRisks


def test_parameters_of_steps_that_scikit_learn_refuses_are_refused():
    bound = PPI(make_pipeline(StandardScaler(), Ridge(alpha=-1.0)), n_splits=5)
    with pytest.raises(InvalidInputError, match="alpha"):
        bound.bind(read_table(*problem("regression"), task="auto", owner="test"))


def test_scalers_that_fill_up_sparse_columns_are_left_to_scikit_learn():
    X, y = problem("regression")
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler()):
        bound = PPI(make_pipeline(scaler, Ridge()), n_splits=5).bind(
            read_table(sp.csr_array(X), y, task="auto", owner="test")
        )
        assert type(bound._risks_about(6, is_marginal=True)[0]) is ModelRisks


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(0.0), Lasso(1e-60), LogisticRegression(C=1e6)], ids=repr
)
def test_a_column_that_is_constant_in_the_train_parts_predicts_the_mean(model):
    """The mean of many 0.1 is not 0.1: without care the rounding error becomes a slope of 1e16."""
    rng = np.random.default_rng(0)
    X = np.full((60, 2), 0.1)
    X[50:] = rng.normal(size=(10, 2))
    y = rng.normal(size=60)
    if isinstance(model, LogisticRegression):
        y = (y > 0).astype(int)
    splits = [(rng.permutation(50)[:43], np.arange(50, 60)) for _ in range(5)]
    answer = PPI(model, splitter=splits, significance="paired-t", random_state=0).evaluate(X, y, 0)
    assert answer.pvalue == 1.0
    assert answer.effect == 0.0


MODELS = [
    (make_pipeline(StandardScaler(), Ridge()), "regression"),
    (Lasso(0.05), "regression"),
    (make_pipeline(SplineTransformer(n_knots=3), Ridge()), "regression"),
    (LogisticRegression(), "classification"),
    (make_pipeline(RobustScaler(), LogisticRegression()), "three classes"),
]


@pytest.mark.parametrize(("estimator", "task"), MODELS, ids=repr)
def test_answers_do_not_depend_on_the_batch_the_threads_or_what_was_asked_before(estimator, task):
    test = CrossFitPPI(estimator, n_draws=3, n_folds=3, random_state=0)
    table = read_table(*problem(task), task="auto", owner="test")

    def source(n_jobs):
        return test.bind(table, n_jobs=n_jobs)._risks_about(table.target, is_marginal=True)[0]

    together, one_by_one = source(2), source(1)
    everything, fewer = frozenset({0, 1, 2, 3, 5}), frozenset({0, 2, 5})
    pairs = [
        (
            grown(together, [0, 1, 2, 3]),
            [grown(one_by_one, [x]) for x in (0, 1, 2, 3)],
        ),
        (
            together.of_members([0, 2, 5], everything),
            [one_by_one.of_members([x], everything) for x in (0, 2, 5)],
        ),
        # The second source has not seen the larger set, whose regressors the first takes over.
        (together.of_members([0, 2, 5], fewer), [source(1).of_members([x], fewer) for x in (0, 2, 5)]),
        (
            together.of_added([2, 5], frozenset({0})),
            [source(1).of_members([x], frozenset({0, x})) for x in (2, 5)],
        ),
    ]
    for batch, alone in pairs:
        for name in ("base", "replaced", "by_draw"):
            np.testing.assert_array_equal(
                getattr(batch, name), np.concatenate([getattr(one, name) for one in alone]), err_msg=name
            )


# At this tolerance scikit-learn's line search may end at rounding, and says so.
@pytest.mark.filterwarnings("ignore:Line search of Newton solver")
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(24, 60),
    n_classes=st.sampled_from([0, 2, 3]),
    scaler=st.sampled_from([None, StandardScaler(), RobustScaler()]),
    has_intercept=st.booleans(),
    decimals=st.integers(0, 3),
)
def test_random_tables_give_scikit_learns_answers(seed, n_rows, n_classes, scaler, has_intercept, decimals):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)) * 10.0 ** rng.integers(-1, 2, 4), decimals)
    y = rng.permutation(np.arange(n_rows) % n_classes) if n_classes else rng.normal(size=n_rows)
    model = (
        LogisticRegression(fit_intercept=has_intercept, **EXACT)
        if n_classes
        else Ridge(fit_intercept=has_intercept)
    )
    estimator = model if scaler is None else make_pipeline(scaler, model)
    ours, theirs = both(PPI(estimator, n_splits=5, random_state=seed), X, y)
    columns = [x for x in range(4) if np.ptp(X[:, x])]
    if not columns:
        return
    assert_same(grown(ours, columns), grown(theirs, columns), rtol=1e-5)
    members = frozenset(columns)
    assert_same(ours.of_members(columns, members), theirs.of_members(columns, members), rtol=1e-5)


def test_numbers_are_refused_from_where_their_squares_could_not_be_added_up():
    require_squarable(np.array([[1e145, -1e145]]), ["a", "b"], [], Ridge())
    with pytest.raises(InvalidInputError, match=r"'b' holds numbers up to 1\.1e\+145"):
        require_squarable(np.array([[1.0, -1.1e145]]), ["a", "b"], [], Ridge())


def test_a_target_far_from_zero_costs_no_digits():
    """Both are multiples of 1/256, so that the sum is exact."""
    rng = np.random.default_rng(0)
    design = rng.normal(size=(2, 50))
    y = np.round(256 * (design.sum(axis=0) + rng.normal(size=50))) / 256
    solver = RidgeSolver(1.0, has_intercept=True)
    near, far = (
        solver.data(design, TrainTarget(y + shift, np.empty(0), None)).fit()[0] for shift in (0.0, 2.0**40)
    )
    np.testing.assert_allclose(far, near, rtol=1e-9)


def test_a_train_part_of_one_class_of_three_predicts_it():
    target = TrainTarget(np.ones(4, dtype=np.intp), np.array(["a", "b", "c"]), None)
    slopes, intercepts = Logistic(1.0, True, None).data(np.ones((2, 4)), target).fit()
    assert slopes.tolist() == [[0.0, 0.0]] * 3
    assert intercepts.tolist() == [-np.inf, 0.0, -np.inf]


def test_a_constant_column_beside_others_has_no_slope():
    """Its mean is not exactly its value, so that rounding errors would be left of it."""
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    assert (X - X.mean(axis=0))[:, 0].any()
    target = TrainTarget(np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]), np.empty(0), None)
    for model in (ElasticNetSolver(0.0, 0.1, True, False), RidgeSolver(0.5, True)):
        slopes, _ = model.fit_columns(X[np.newaxis], target)
        assert slopes.ravel()[0] == 0.0
        assert slopes.ravel()[1] > 0.1


@pytest.mark.parametrize("unit", [1.0, 1e-20, 1e20])
def test_dependent_regressors_are_told_apart_in_any_unit(unit):
    """Two copies of a column share its slope; a third one, of another size, gets the rest."""
    x, other = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    design = unit * np.stack([x, x, other])
    target = TrainTarget(6 * x + 5 * other, np.empty(0), None)
    slopes, intercepts = RidgeSolver(0.0, True).data(design, target).by_singular_values()
    np.testing.assert_allclose(slopes * unit, [[3.0, 3.0, 5.0]], rtol=1e-12)
    np.testing.assert_allclose(intercepts, [0.0], atol=1e-12)
