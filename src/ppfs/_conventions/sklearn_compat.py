"""Private names of scikit-learn, in one place.

All other modules import them from here, so that a new version of scikit-learn can break this file only. Each name is
listed with the versions that it was checked with. Names that only make something faster have a fallback: where they are
not found, models are fitted through scikit-learn's interface (decision 240).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

# Some rows of an array, a sparse matrix, a list or a data frame of any kind: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
from sklearn.utils import _safe_indexing as take_rows

# Declared rules for parameters: 1.6.1, 1.7.2, 1.8.0, 1.9.1. scikit-learn's own estimators use them; it documents none.
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

# What `set_output` asked for: 1.6.1, 1.7.2, 1.8.0, 1.9.1. There is no public way to read the setting.
from sklearn.utils._set_output import _get_output_config as output_config

# Weights of rows as an array, with scikit-learn's errors: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

# The number of rows of anything array-like, with scikit-learn's errors: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
from sklearn.utils.validation import _num_samples as n_rows_of

from ppfs._conventions.random import seeded_state

__all__ = [
    "N_JOBS_RULE",
    "HasMethods",
    "InstanceWith",
    "Interval",
    "IsModel",
    "Options",
    "StrOptions",
    "bagged_rows",
    "bootstrapped_rows",
    "can_predict",
    "can_repeat_draws",
    "check_sample_weight",
    "draw_by_weight",
    "gamma_of",
    "method_of_bins",
    "n_rows_of",
    "output_config",
    "refuse_wrong_parameters",
    "take_rows",
]

# joblib rejects 0 workers; negative numbers are counted back from the number of cores.
N_JOBS_RULE: list[Any] = [
    Interval(Integral, None, 0, closed="neither"),
    Interval(Integral, 1, None, closed="left"),
    None,
]


def can_predict(model: Any) -> bool:
    """Return whether a model can be fitted and will then predict.

    Some models have `predict` only after `fit`, such as StackingClassifier without a final estimator, so their tags are
    considered too. A class, such as ``Ridge`` in place of ``Ridge()``, cannot be fitted.
    """
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "get_params")):
        return False
    says_so = hasattr(type(model), "predict") and hasattr(model, "__sklearn_tags__")
    return hasattr(model, "predict") or (says_so and (is_classifier(model) or is_regressor(model)))


class InstanceWith(HasMethods):
    """The rule of a parameter that holds an object with some methods; its class has them too, but is not accepted."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value satisfies the rule."""
        return not isinstance(val, type) and bool(super().is_satisfied_by(val))


class IsModel(HasMethods):
    """The rule of a parameter that holds a model: see `can_predict`.

    With `takes_classes`, a class satisfies it: the owner of the parameter refuses classes with a message of its own.
    """

    def __init__(self, *, takes_classes: bool = False) -> None:
        super().__init__(["fit", "predict", "get_params"])
        self._takes_classes = takes_classes

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value satisfies the rule."""
        return can_predict(val) or (self._takes_classes and isinstance(val, type))


def refuse_wrong_parameters(estimator: Any) -> None:
    """Raise the same error as scikit-learn's estimators in `fit` for parameters outside their declared rules.

    Their check has no public name: 1.6.1, 1.7.2, 1.8.0, 1.9.1. Nothing is raised for estimators without it.
    """
    # Estimators of other packages inherit the check without declaring the rules that it looks for.
    if hasattr(estimator, "_validate_params") and hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


@cache
def method_of_bins() -> str | None:
    """Return how HistGradientBoosting computes the edges of bins in long columns, by NumPy's name of the method.

    It changed from "midpoint" to "averaged_inverted_cdf", and the function has no public name: 1.6.1, 1.7.2, 1.8.0,
    1.9.1. Returns None if the installed version does neither.
    """
    try:
        from sklearn.ensemble._hist_gradient_boosting.binning import _find_binning_thresholds

        column = np.array([0.0, 1.0, 3.0, 7.0, 15.0, 31.0])
        edges = _find_binning_thresholds(column, max_bins=4)
    except (ImportError, TypeError):
        return None
    for method in ("averaged_inverted_cdf", "midpoint"):
        if np.array_equal(edges, np.percentile(column, [25.0, 50.0, 75.0], method=method)):
            return method
    return None


@cache
def are_bins_weighted() -> bool:
    """Return whether HistGradientBoosting uses row weights for the edges of bins in long columns, as 1.9 does.

    Older versions ignore them: 1.6.1, 1.7.2, 1.8.0.
    """
    try:
        from sklearn.ensemble._hist_gradient_boosting.binning import _find_binning_thresholds

        column, weights = np.array([0.0, 1.0, 3.0, 7.0, 15.0, 31.0]), np.array([1.0, 1.0, 2.0, 3.0, 0.5, 0.5])
        edges = _find_binning_thresholds(column, max_bins=4, sample_weight=weights)
    except (ImportError, TypeError):
        return False
    # Two of eight lie below 3, so the first edge is between; four and six are reached at 3 and 7.
    return bool(np.array_equal(edges, [2.0, 5.0, 7.0]))


@cache
def separates_missing_from_one_value() -> bool:
    """Return whether trees separate missing values from a single value, as the engine does.

    They do since 1.8: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
    """
    from sklearn.tree import DecisionTreeClassifier

    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    return bool(DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1]).get_depth() == 1)


@cache
def scales_in_input_type() -> bool:
    """Return whether StandardScaler rounds mean and deviation to the type of the columns before it uses them.

    It does since 1.8. Before, float32 columns were scaled in float64 and then rounded: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
    """
    from sklearn.preprocessing import StandardScaler

    column = np.array([[0.0], [1.0], [1.0]], dtype=np.float32)
    moved = StandardScaler(with_std=False).fit_transform(column)
    return bool(moved[1, 0] == np.float32(1.0) - np.float32(2.0 / 3.0))


def bootstrapped_rows(
    forest: Any, seeds: Iterable[int], n_rows: int, weights: NDArray[np.float64] | None = None
) -> list[NDArray[np.intp]]:
    """Return the rows that trees of a forest with these seeds draw; weights are for versions that `draw_by_weight`.

    Both functions have no public name, and got a further argument for weights in 1.9: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
    """
    from sklearn.ensemble._forest import _generate_sample_indices, _get_n_samples_bootstrap

    n_drawn = _with_weights(_get_n_samples_bootstrap, weights)(n_rows, forest.max_samples)
    draw = _with_weights(_generate_sample_indices, weights)
    return [draw(generator, n_rows, n_drawn) for generator in map(seeded_state, seeds)]


@cache
def can_repeat_draws() -> bool:
    """Return whether `bootstrapped_rows` and `bagged_rows` find the functions that they need: 1.6.1 to 1.9.1."""
    try:
        from sklearn.ensemble._bagging import _generate_bagging_indices  # noqa: F401
        from sklearn.ensemble._forest import _generate_sample_indices, _get_n_samples_bootstrap  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def draw_by_weight() -> bool:
    """Return whether forests draw rows by their weights, and grow trees from how often each was drawn, as since 1.9.

    Before, all rows were drawn with equal probability and weighted in the trees: 1.6.1, 1.7.2, 1.8.0, 1.9.1.
    """
    from sklearn.ensemble._forest import _generate_sample_indices

    return "sample_weight" in signature(_generate_sample_indices).parameters


@cache
def bags_draw_by_weight() -> bool:
    """Return whether bags draw rows by their weights; see `draw_by_weight`."""
    from sklearn.ensemble._bagging import _generate_bagging_indices

    return "sample_weight" in signature(_generate_bagging_indices).parameters


def bagged_rows(
    bag: Any, seeds: Iterable[int], n_rows: int, weights: NDArray[np.float64] | None = None
) -> list[NDArray[np.intp]]:
    """Return the rows that models of a bag with these seeds draw if there is one column.

    See `bootstrapped_rows`; weights are for versions where `bags_draw_by_weight`. The columns are drawn before the
    rows, from the same generator.
    """
    from sklearn.ensemble import _bagging

    if hasattr(_bagging, "_get_n_samples_bootstrap"):
        n_drawn = _bagging._get_n_samples_bootstrap(n_rows, bag.max_samples, weights)
    else:
        is_count = isinstance(bag.max_samples, Integral)
        n_drawn = bag.max_samples if is_count else int(bag.max_samples * n_rows)
    draw = _with_weights(_bagging._generate_bagging_indices, weights)
    return [
        draw(generator, bag.bootstrap_features, bag.bootstrap, 1, n_rows, 1, n_drawn)[1]
        for generator in map(seeded_state, seeds)
    ]


def _with_weights(function: Any, weights: NDArray[np.float64] | None = None) -> Any:
    """Pass row weights, or None, to a function that accepts them."""
    return (
        partial(function, sample_weight=weights)
        if "sample_weight" in signature(function).parameters
        else function
    )


def gamma_of(machine: Any) -> float | None:
    """Return the factor of squared distances in a fitted support vector machine: 1.6.1, 1.7.2, 1.8.0, 1.9.1.

    The parameter may be the name of a rule; the resulting number is not public. Returns None if it is not found.
    """
    gamma = getattr(machine, "_gamma", None)
    return None if gamma is None else float(gamma)
