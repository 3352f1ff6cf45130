"""Random problems for the boosting kernels: every kind of column and target that boosted trees treat differently."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy.special import xlogy
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ppfs._conventions.sklearn_compat import are_bins_weighted, method_of_bins
from ppfs._engine import BoostingRules, prepare_boosting

CLASS_LOSSES = ("log-loss", "brier", "zero-one")
NUMBER_LOSSES = ("squared", "absolute")
DEVIANCES = {"poisson": "poisson-deviance", "gamma": "gamma-deviance"}


@dataclass(frozen=True)
class BoostedProblem:
    """One problem: columns, target, splits, and rules without the loss."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    train: list
    test: list
    draws: list
    parameters: dict
    reduces: str = "squared_error"
    weights: np.ndarray | None = None

    def weights_of(self, rows):
        """How much rows count in a fit, or None."""
        return None if self.weights is None else self.weights[rows]

    @property
    def losses(self):
        """The losses that suit the target."""
        if self.reduces in DEVIANCES:
            return (DEVIANCES[self.reduces], *NUMBER_LOSSES)
        return CLASS_LOSSES if self.n_classes else NUMBER_LOSSES

    @property
    def model(self):
        """scikit-learn's model of such a target, not fitted."""
        rules = {**self.parameters, "early_stopping": False, "random_state": 0}
        if self.n_classes:
            return HistGradientBoostingClassifier(**rules)
        return HistGradientBoostingRegressor(loss=self.reduces, **rules)

    def prepared(self, loss, *, is_by_row=False, weights=None):
        """Return the problem as the engine takes it."""
        rules = BoostingRules(**self.parameters, quantiles=method_of_bins(), loss=loss, reduces=self.reduces)
        return prepare_boosting(
            self.y,
            self.n_classes,
            self.train,
            self.test,
            self.draws,
            rules,
            weights,
            is_by_row=is_by_row,
            fit_weights=self.weights,
        )


def make_problem(
    seed,
    n_rows,
    n_classes,
    n_columns=3,
    missing=0.0,
    n_folds=3,
    n_draws=2,
    is_weighted=False,
    reduces="squared_error",
    **parameters,
):
    """Draw columns of three kinds, a target that depends on the first, and folds that test every row once.

    Continuous columns and targets make ties between gains unlikely, and these could be decided otherwise.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    if n_columns > 1:
        X[:, 1] = X[:, 1].round(1)
    if n_columns > 2:
        X[:, 2] = np.exp(3 * X[:, 2])
    signal = 2 * np.sin(2 * X[:, 0]) + X[:, -1].clip(-3, 3) / 3 + rng.normal(size=n_rows)
    X[rng.random(X.shape) < missing] = np.nan
    y = signal
    if n_classes:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    if reduces == "poisson":
        y = rng.poisson(np.exp(signal / 2)).astype(float)
    elif reduces == "gamma":
        y = np.exp(signal / 2)
    folds = np.array_split(rng.permutation(n_rows), n_folds)
    train = [np.setdiff1d(np.arange(n_rows), fold) for fold in folds]
    draws = [np.array([rng.permutation(fold.size) for _ in range(n_draws)]) for fold in folds]
    weights = rng.uniform(0.2, 3.0, size=n_rows) if is_weighted else None
    return BoostedProblem(X, y, n_classes, train, folds, draws, parameters, reduces, weights)


@st.composite
def boosted_problems(draw, max_columns=3, min_columns=1):
    """Draw a problem and parameters of boosting."""
    n_rows = draw(st.sampled_from([45, 90, 330]))
    reduces = draw(st.sampled_from(["squared_error", "squared_error", "poisson", "gamma"]))
    parameters = {
        "learning_rate": draw(st.sampled_from([0.1, 0.5])),
        "max_iter": draw(st.integers(1, 8)),
        "max_leaf_nodes": draw(st.sampled_from([None, 2, 5, 31])),
        "max_depth": draw(st.sampled_from([None, 1, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 5, 20])),
        "l2_regularization": draw(st.sampled_from([0.0, 1.5])),
        "max_bins": draw(st.sampled_from([2, 16, 255])),
    }
    return make_problem(
        draw(st.integers(0, 10**6)),
        n_rows,
        draw(st.sampled_from([0, 2, 3])) if reduces == "squared_error" else 0,
        n_columns=draw(st.integers(min_columns, max_columns)),
        missing=draw(st.sampled_from([0.0, 0.2])),
        is_weighted=draw(st.booleans()) and are_bins_weighted(),
        reduces=reduces,
        **parameters,
    )


def row_losses(loss, truth, predicted):
    """Return one loss a row."""
    if loss in NUMBER_LOSSES:
        return (truth - predicted) ** 2 if loss == "squared" else np.abs(truth - predicted)
    if loss == "poisson-deviance":
        return 2 * (xlogy(truth, truth / predicted) - truth + predicted)
    if loss == "gamma-deviance":
        return 2 * (truth / predicted - 1 - np.log(truth / predicted))
    rows = np.arange(truth.size)
    if loss == "log-loss":
        return -np.log(np.clip(predicted[rows, truth], np.finfo(float).eps, 1 - np.finfo(float).eps))
    if loss == "brier":
        return ((predicted - np.eye(predicted.shape[1])[truth]) ** 2).sum(axis=1)
    return (predicted.argmax(axis=1) != truth).astype(float)
