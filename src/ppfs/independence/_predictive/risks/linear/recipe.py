"""Which estimators are linear in their columns, and how they are fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import KnownParameters, Medians, require_valid_parameters
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.linear import least_squares
from ppfs.independence._predictive.risks.linear.categories import n_dummies, n_slots
from ppfs.independence._predictive.risks.linear.logistic import Logistic
from ppfs.independence._predictive.risks.linear.penalized_intercept import PenalizedIntercept
from ppfs.independence._predictive.risks.linear.solver import Solver
from ppfs.independence._predictive.risks.linear.sparse_logistic import SparseLogistic
from ppfs.independence._predictive.risks.linear.steps import FittedSteps, is_joint, is_known_step, keeps_width
from ppfs.independence._predictive.risks.small_tables import is_small
from ppfs.independence._predictive.risks.source import OTHER_KIND

# Parameters of the iteration have no effect here: it ends at the optimum.
_ITERATION = ("copy_X", "max_iter", "n_jobs", "random_state", "tol", "verbose", "warm_start")
_KNOWN = {
    LinearRegression: KnownParameters(
        read=("fit_intercept",), only={"positive": (False,)}, without_effect=_ITERATION
    ),
    Ridge: KnownParameters(
        read=("alpha", "fit_intercept"),
        only={"positive": (False,), "solver": ("auto", "cholesky", "svd")},
        without_effect=_ITERATION,
    ),
    Lasso: KnownParameters(
        read=("alpha", "fit_intercept", "positive"),
        only={"precompute": (False, True)},
        without_effect=(*_ITERATION, "selection"),
    ),
    ElasticNet: KnownParameters(
        read=("alpha", "l1_ratio", "fit_intercept", "positive"),
        only={"precompute": (False, True)},
        without_effect=(*_ITERATION, "selection"),
    ),
    LogisticRegression: KnownParameters(
        read=("C", "class_weight", "fit_intercept", "penalty", "l1_ratio", "intercept_scaling"),
        only={
            "dual": (False,),
            "solver": ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
            "multi_class": ("auto", "deprecated"),
        },
        without_effect=_ITERATION,
    ),
    Pipeline: KnownParameters(
        read=("steps",), only={"transform_input": (None,)}, without_effect=("memory", "verbose")
    ),
}


@dataclass(frozen=True)
class Recipe:
    """A linear model and the transformers before it.

    Attributes
    ----------
    steps : tuple
        Unfitted transformers, in their order.

    is_mixed : bool
        Whether columns of codes are categories.
    """

    steps: tuple[Any, ...]
    solver: Solver
    is_mixed: bool = False

    def widths(self, n_levels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number of regressors of each column."""
        return np.where(self.is_mixed & (n_levels > 0), n_slots(n_levels), self.width)

    def n_coefficients_of(self, codes: NDArray[Any], trains: Sequence[NDArray[np.intp]]) -> float:
        """Return the number of coefficients for a categorical column; infinite if its regressors are transformed.

        Parameters
        ----------
        trains : sequence of ndarray of int
            The train rows of each split.
        """
        if not all(map(keeps_width, self.steps)):
            return np.inf
        # One category says nothing that the others and the intercept do not say.
        return max(1, n_dummies(codes, trains) - 1)

    def for_many_columns(self) -> Recipe:
        """Return the same recipe, with a solver that is compiled."""
        if not isinstance(self.solver, Logistic):
            return self
        return replace(self, solver=replace(self.solver, is_small=False))

    @property
    def is_additive(self) -> bool:
        """Whether the model is a sum of one function per column."""
        return not any(is_joint(step) for step in self.steps)

    @cached_property
    def _example(self) -> Floats:
        """The regressors of some column, shape (n_rows, n_regressors)."""
        columns = np.column_stack([np.arange(100.0), np.arange(100.0)])
        made = FittedSteps.of(self.steps, columns, is_single=True).transform(columns)
        return made[:, : made.shape[1] // 2]

    @property
    def width(self) -> int:
        """How many regressors a single column becomes."""
        return int(self._example.shape[1])

    @cached_property
    def n_coefficients(self) -> int:
        """The number of coefficients of a single column.

        That is the number of its regressors, without those that are redundant given the others and the intercept:
        splines add up to 1, and a power of 0 is 1.
        """
        example = self._example
        centered = example - example.mean(axis=0) if self.solver.has_intercept else example
        return int(np.linalg.matrix_rank(centered))


def recipe_of(table: Table, problem: Problem) -> Recipe | str:
    """Return how the models of this problem are fitted, or why that is left to scikit-learn."""
    *before, last = steps = _steps(problem.estimator)
    if type(last) not in _SOLVERS:
        return OTHER_KIND
    refusal = _refusal_of_data(table, problem) or _refusal_of_steps(table, problem, steps)
    if refusal is not None:
        return refusal
    for step in steps:
        require_valid_parameters(step, f"{type(problem.estimator).__name__}'s step")
    solver = _SOLVERS[type(last)](last, problem)
    if isinstance(solver, str):
        return solver
    if isinstance(solver, Logistic):
        solver = replace(solver, is_small=is_small(table, problem))
    filling = [Medians()] if table.has_missing else []
    recipe = Recipe((*filling, *before), solver, table.is_mixed)
    return (_refusal_of_categories(recipe) if table.is_mixed else None) or recipe


def _refusal_of_categories(recipe: Recipe) -> str | None:
    solver = recipe.solver
    if not recipe.is_additive:
        return "the engine multiplies columns of numbers only"
    if not (isinstance(solver, least_squares.Ridge | Logistic) and solver.has_intercept):
        return "the engine supports categories in models with an intercept and a penalty on squares only"
    if isinstance(solver, Logistic) and not solver.penalty:
        return "without a penalty the coefficients of categories are not unique"
    return None


def _refusal_of_data(table: Table, problem: Problem) -> str | None:
    if problem.loss.name == "callable":
        return "the engine does not support the loss 'callable'"
    if problem.y.ndim > 1 or table.codes.ndim > 1:
        # Where another variable is predicted, the target may be among the columns.
        return "the engine predicts one output from single columns"
    if table.has_missing and problem.impute is None:
        return "the columns have missing values"
    if table.has_missing and problem.weights.fit is not None:
        return "the engine does not fill missing values by weighted medians"
    return None


def _refusal_of_steps(table: Table, problem: Problem, steps: Sequence[Any]) -> str | None:
    *before, last = steps
    for model in (problem.estimator, last):
        unknown = _KNOWN[type(model)].first_unknown(model)
        if unknown is not None:
            return f"the engine does not support {unknown}"
    if problem.weights.fit is not None and not _weigh_the_last(steps):
        return "the engine passes weights of rows to the last step of a pipeline only"
    for step in before:
        if not is_known_step(step, of_sparse=table.is_sparse):
            return f"the engine does not support the step {step!r}"
    if any(map(is_joint, before)) and not _are_powers(before):
        return "the engine does not multiply columns made by other steps"
    return None


def _steps(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, or the estimator alone."""
    if type(estimator) is not Pipeline:
        return [estimator]
    steps = [step for _, step in estimator.steps]
    return [step for step in steps[:-1] if step is not None and step != "passthrough"] + steps[-1:]


def _weigh_the_last(steps: Sequence[Any]) -> bool:
    """Return whether weights are passed to the last step only, the default without metadata routing."""
    if not get_config()["enable_metadata_routing"] or len(steps) == 1:
        return True
    *before, last = (step.get_metadata_routing().fit.requests.get("sample_weight", False) for step in steps)
    return last is True and not any(request is not False for request in before)


def _are_powers(steps: Sequence[Any]) -> bool:
    """Return whether the products of a single column are powers: no earlier step makes several columns of it."""
    first = next(number for number, step in enumerate(steps) if is_joint(step))
    return not any(is_joint(step) for step in steps[first + 1 :]) and all(map(keeps_width, steps[:first]))


def _of_least_squares(estimator: LinearRegression, problem: Problem) -> Solver:
    return least_squares.Ridge(0.0, estimator.fit_intercept)


def _of_ridge(estimator: Ridge, problem: Problem) -> Solver | str:
    if np.ndim(estimator.alpha):
        return "the engine supports one alpha for all columns"
    return least_squares.Ridge(float(estimator.alpha), estimator.fit_intercept)


def _of_elastic_net(estimator: ElasticNet, problem: Problem) -> Solver | str:
    if estimator.alpha == 0:
        # scikit-learn advises against it, and its answer is where it stopped.
        return "alpha=0 has no unique answer"
    l1_ratio = float(estimator.l1_ratio)
    return least_squares.ElasticNet(
        estimator.alpha * l1_ratio,
        estimator.alpha * (1.0 - l1_ratio),
        estimator.fit_intercept,
        estimator.positive,
    )


def _of_logistic(estimator: LogisticRegression, problem: Problem) -> Solver | str:
    parameters = estimator.get_params(deep=False)
    is_weighted = problem.weights.fit is not None
    if parameters["class_weight"] == "balanced" and is_weighted:
        return "versions of scikit-learn differ in whether rows or their weights are balanced"
    l1_ratio = _l1_ratio(parameters)
    is_liblinear = parameters["solver"] == "liblinear"
    is_sparse = l1_ratio is not None and l1_ratio > 0.0
    n_scores = 1 if problem.classes.size == 2 else problem.classes.size
    if l1_ratio is None:
        return "penalty and l1_ratio disagree"
    if is_liblinear and n_scores > 1:
        return "liblinear fits one model per class"
    if is_sparse and parameters["solver"] != "saga" and not (is_liblinear and l1_ratio == 1.0):
        return "scikit-learn refuses this penalty with this solver"
    has_penalty = parameters.get("penalty", "deprecated") is not None and np.isfinite(parameters["C"])
    if (is_liblinear or is_sparse) and not has_penalty:
        return f"the engine does not support C={parameters['C']} with solver={parameters['solver']!r}"
    penalty = 1.0 / parameters["C"] if has_penalty else 0.0
    has_own_intercept = parameters["fit_intercept"] and not is_liblinear
    class_weight = parameters["class_weight"]
    solver: Solver = (
        SparseLogistic(
            penalty * l1_ratio, penalty * (1.0 - l1_ratio), has_own_intercept, class_weight, n_scores
        )
        if is_sparse
        else Logistic(penalty, has_own_intercept, class_weight)
    )
    if is_liblinear and parameters["fit_intercept"]:
        return PenalizedIntercept(solver, float(parameters["intercept_scaling"]))
    return solver


def _l1_ratio(parameters: Mapping[str, Any]) -> float | None:
    """Return the share of the L1 penalty; None where two parameters disagree.

    Until scikit-learn 1.7 `penalty` decides, since 1.8 `l1_ratio` does unless `penalty` is given.
    """
    penalty, l1_ratio = parameters.get("penalty", "deprecated"), parameters.get("l1_ratio")
    if penalty in ("elasticnet", "deprecated"):
        return 0.0 if l1_ratio is None else float(l1_ratio)
    own = 1.0 if penalty == "l1" else 0.0
    return own if l1_ratio in (None, 0.0, own) else None


_SOLVERS: dict[type, Callable[[Any, Problem], Solver | str]] = {
    LinearRegression: _of_least_squares,
    Ridge: _of_ridge,
    Lasso: _of_elastic_net,
    ElasticNet: _of_elastic_net,
    LogisticRegression: _of_logistic,
}
