"""Losses of new rows with no column, with the selected ones, and with all of them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs._conventions import Floats
from ppfs._data import Table, Task
from ppfs._fitting import (
    DEFAULT_PANEL,
    DefaultMember,
    constant_model,
    estimator_for,
    fitted_clone,
    naming_the_model,
    seen_by,
    usable_members,
    weight_arguments,
)
from ppfs._fitting import names_of as names_of_models
from ppfs._rows import divide_into_folds
from ppfs._verdicts.intervals import OF_FOLDS, RowMeans, inflation_of_folds
from ppfs._verdicts.rivals import rank_rivals
from ppfs._verdicts.scores import scores_of
from ppfs._verdicts.sufficiency import Compared, Sufficiency
from ppfs.independence import Loss, choose_loss, predict

Rows = NDArray[np.intp]

# In further models this many columns, those most related to the residuals, join the selected ones.
_N_JOINING = (1, 4, 16)

# The most features for curves, products and boosted trees: beyond, a fit of each takes longer than a search.
_MOST_FOR_CURVES, _MOST_FOR_PRODUCTS, _MOST_FOR_TREES = 60, 40, 200

# Predictions of two models can be averaged if they are of these kinds.
_AVERAGED = ("probabilities", "values")

# Losses that are squares of differences.
_QUADRATIC = ("squared", "brier")

# With more columns than this a line is also fitted with a penalty that grows with their number.
_FEW = 20

# Rows that were held out are divided into this many parts; the best model for a part is chosen on the others.
_N_PARTS = 5


@dataclass(frozen=True)
class Divided:
    """How the rows were divided.

    Attributes
    ----------
    pairs : list of (ndarray of int, ndarray of int)
        The rows that models are fitted on, and the rows that they predict.

    n_folds : int
        Number of folds; 0 for rows that were held out.
    """

    pairs: list[tuple[Rows, Rows]]
    n_folds: int


def measure_sufficiency(
    table: Table,
    divided: Divided,
    select: Callable[[Rows], Sequence[int]],
    *,
    estimator: Any = DEFAULT_PANEL,
    loss: Any = "auto",
    margin: float = 0.05,
    seed: int = 0,
) -> Sufficiency:
    """Measure how much better a model is with all columns than with the selected ones.

    On either side the best model of a panel is taken. Which one is best for the rows of a fold is decided by the other
    folds, so that the choice favors neither side. Models with all columns are the panel with all of them, and with the
    selected ones and the 1, 4 or 16 most related to the residuals of the training rows: in wide tables a model of
    all columns at once would hide a missing column under the noise of the others.

    Parameters
    ----------
    select : callable
        Returns the features that are selected in some rows.

    estimator : estimator, list of estimator or "panel"
        The models; with `loss="auto"` the default panel is compared too.

    loss : str or callable
        As in the tests; "auto" is the squared error, or Brier's score of probabilities.
    """
    measured, n_selected = measured_losses(table, divided, select, estimator=estimator, loss=loss, seed=seed)
    return measured.concluded(divided, n_selected, margin)


def measured_losses(
    table: Table,
    divided: Divided,
    select: Callable[[Rows], Sequence[int]],
    *,
    estimator: Any,
    loss: Any,
    seed: int,
) -> tuple[Measured, float]:
    """Return the losses of all models, and how many features were selected on average; see `measure_sufficiency`."""
    task, found = table.task, _models(estimator, loss, table)
    members = list(zip(names_of_models(found, task), found, strict=True))
    models = [estimator_for(member, task) for member in found]
    measured = Measured(table, _common_loss(loss, models, task), seed)
    n_selected = []
    for number, (train, test) in enumerate(divided.pairs):
        selected = sorted(select(train))
        n_selected.append(len(selected))
        measured.enter(
            number,
            train,
            test,
            {
                "nothing": [("constant", constant_model(task), ())],
                "selected": list(_with_selected(members, selected, task)),
                "all": list(_with_all(members, table, selected, train, seed)),
            },
        )
    return measured, float(np.mean(n_selected))


def _models(estimator: Any, loss: Any, table: Table) -> list[Any]:
    """Return the models to compare: the caller's, and the default panel unless the loss is the caller's own.

    What a single model lacks is not what the selected columns lack: in many tables the paper's full decision tree
    predicts probabilities no better than a constant.
    """
    own = usable_members(estimator, table)
    is_panel = any(isinstance(model, DefaultMember) for model in own)
    return (
        own
        if is_panel or loss != "auto" or table.y.ndim > 1
        else [*own, *usable_members(DEFAULT_PANEL, table)]
    )


Candidate = tuple[str, Any, Sequence[int]]

# Losses and predictions of all rows, and the name of the model in each part.
Chosen = tuple[Floats, NDArray[Any], list[str]]


def _with_selected(
    members: Sequence[tuple[str, Any]], selected: Sequence[int], task: Task
) -> Iterator[Candidate]:
    if not selected:
        yield "constant", constant_model(task), ()
        return
    for name, member in members:
        if _is_fitted_on(member, len(selected)):
            yield name, estimator_for(member, task), selected


def _with_all(
    members: Sequence[tuple[str, Any]], table: Table, selected: Sequence[int], train: Rows, seed: int
) -> Iterator[Candidate]:
    """Yield the models that see all columns of the training rows."""
    task, everything = table.task, range(table.n_features)
    others = [feature for feature in everything if feature not in set(selected)]
    if not others:
        yield from _with_selected(members, selected, task)
        return
    yield from (
        (f"{name}, all columns", model, used)
        for name, model, used in _with_selected(members, everything, task)
    )
    if any(isinstance(member, DefaultMember) for _, member in members) and table.n_features > _FEW:
        yield "line with a strong penalty, all columns", _penalized(table), everything
    ranked = rank_rivals(table.rows(train), others, _residuals(table, selected, train, seed))
    for n_joining in _N_JOINING:
        if n_joining < len(others):
            joined = sorted([*selected, *ranked[:n_joining]])
            more = f"{n_joining} more column{'s' * (n_joining > 1)}"
            yield from (
                (f"{name}, {more}", model, used)
                for name, model, used in _with_selected(members, joined, task)
            )


def _is_fitted_on(member: Any, n_features: int) -> bool:
    """Return whether a model is used with this number of features; the caller's models always are."""
    if not isinstance(member, DefaultMember):
        return True
    limit = (np.inf, _MOST_FOR_CURVES, _MOST_FOR_PRODUCTS, _MOST_FOR_TREES)[member.number]
    return member.is_asked_given(n_features - 1) and n_features <= limit


def _penalized(table: Table) -> Any:
    scaler, n = StandardScaler(with_mean=not table.is_sparse), table.n_features
    line = Ridge(alpha=n) if table.task == "regression" else LogisticRegression(C=1 / n)
    return make_pipeline(scaler, line)


def _residuals(table: Table, selected: Sequence[int], train: Rows, seed: int) -> Floats:
    """Return what additive curves of the selected features leave of the training rows, shape (n_train, n_outputs)."""
    member = usable_members(DEFAULT_PANEL, table)[: 2 if len(selected) <= _MOST_FOR_CURVES else 1][-1]
    return residuals_of(table, estimator_for(member, table.task), selected, train, train, seed)


def residuals_of(
    table: Table, estimator: Any, features: Sequence[int], train: Rows, test: Rows, seed: int = 0
) -> Floats:
    """Return what a model of some rows leaves of others, shape (n_test, n_outputs).

    One output per class, for which 1 is the row's own class; without features, the residuals of a constant.
    """
    if table.task == "classification":
        truth = np.eye(table.classes.size)[table.codes[test].astype(np.intp)]
    else:
        truth = table.codes[test].reshape(len(test), -1)
    output = "probabilities" if table.task == "classification" else "values"
    predicted = _predicted(table, estimator, features, train, test, output, seed)
    return np.asarray(truth - predicted.reshape(truth.shape))


def _predicted(
    table: Table, estimator: Any, features: Sequence[int], train: Rows, test: Rows, output: Any, seed: int
) -> NDArray[Any]:
    """Fit a model on some rows and predict others."""
    y, weights = table.y, table.weights
    if table.task == "classification" and (y[train] == y[train][0]).all():
        # Most classifiers raise for a single class.
        features = ()
    X, model = seen_by(estimator, table, features, "median" if table.has_missing else None)
    arguments = weight_arguments(model, None if weights is None else weights[train])
    with naming_the_model(model, table, features), warnings.catch_warnings():
        # How well a model predicts is measured, whether or not its solver has converged.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = fitted_clone(model, X[train], y[train], seed=seed, **arguments)
        return predict(fitted, X[test], output, table.classes)


def predicted_in_sample(table: Table, estimator: Any, features: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the losses of a model in the rows that it was fitted on, and its predictions."""
    rows = np.arange(table.n_rows)
    loss = _common_loss("auto", [estimator], table.task)
    predicted = _predicted(table, estimator, features, rows, rows, loss.output, 0)
    truth = table.codes.astype(np.intp) if table.task == "classification" else table.y
    return np.asarray(loss.rows(truth, predicted), dtype=np.float64), predicted


def _common_loss(loss: Any, models: Sequence[Any], task: Task) -> Loss:
    """Return a loss that all models of a panel can be compared by."""
    if loss == "auto" and task == "classification":
        has_probabilities = all(hasattr(model, "predict_proba") for model in models)
        loss = "brier" if has_probabilities else "zero-one"
    return choose_loss(loss, task, models[0])


class Measured:
    """Predictions and losses of all models, for the rows that were predicted so far."""

    def __init__(self, table: Table, loss: Loss, seed: int) -> None:
        self._table, self.loss, self._seed = table, loss, seed
        # The names of the models that were best, by side and division.
        self.chosen: dict[str, list[str]] = {}
        # Whether the model of all columns was averaged with that of the selected ones, by division.
        self.is_averaged: list[bool] = []
        self._rows: list[Rows] = []
        self._parts: list[NDArray[np.intp]] = []
        # For each side and model, the losses and predictions of each division; models may be missing from some.
        self.losses: dict[str, list[dict[str, Floats]]] = {}
        self.predictions: dict[str, list[dict[str, NDArray[Any]]]] = {}

    def enter(self, number: int, train: Rows, test: Rows, sides: dict[str, list[Candidate]]) -> None:
        """Fit all models on the training rows of a division and predict the others."""
        table, loss, truth = self._table, self.loss, self._truth(test)
        known: dict[tuple[str, tuple[int, ...]], NDArray[Any]] = {}
        found: dict[str, dict[str, tuple[Floats, NDArray[Any]]]] = {}
        for side, candidates in sides.items():
            found[side] = {}
            for name, model, features in candidates:
                key = name.split(",")[0], tuple(features)
                if key not in known:
                    known[key] = _predicted(table, model, features, train, test, loss.output, self._seed)
                found[side][name] = np.asarray(loss.rows(truth, known[key]), dtype=np.float64), known[key]
        self.take(number, test, found)

    def _truth(self, rows: Rows) -> NDArray[Any]:
        table = self._table
        if table.task == "classification" and not self.loss.wants_labels:
            return table.codes[rows].astype(np.intp)
        return np.asarray(table.y[rows])

    def take(self, number: int, test: Rows, found: dict[str, dict[str, tuple[Floats, NDArray[Any]]]]) -> None:
        """Add losses and predictions of the rows of a division, by side and model."""
        for side, by_name in found.items():
            self.losses.setdefault(side, []).append({name: one[0] for name, one in by_name.items()})
            self.predictions.setdefault(side, []).append({name: one[1] for name, one in by_name.items()})
        self._rows.append(test)
        self._parts.append(np.full(len(test), number, dtype=np.intp))

    def concluded(self, divided: Divided, n_selected: float, margin: float) -> Sufficiency:
        """Choose the best models and compare them."""
        table = self._table
        rows = np.concatenate(self._rows)
        parts = np.concatenate(self._parts)
        if not divided.n_folds:
            parts = self._divided_again(rows)
        weights = None if table.weights is None else table.weights[rows]
        groups = None if table.groups is None else table.groups[rows]
        chosen = {side: self._best(side, parts, weights) for side in self.losses}
        self.chosen = {side: one[2] for side, one in chosen.items()}
        averaged = self._averaged(chosen["selected"][1], chosen["all"][1], rows)
        means = RowMeans(weights, groups)
        if divided.n_folds:
            means = replace(means, inflation=self._inflation(chosen, averaged, means))
        chosen["all"] = self._steadied(chosen["all"], averaged, parts, weights)
        losses = {side: one[0] for side, one in chosen.items()}
        compared = Compared.of(losses["nothing"], losses["selected"], losses["all"], means, margin)
        return Sufficiency(
            **vars(compared),
            loss=self.loss.name,
            scores=scores_of(table, self.loss, rows, {side: one[1] for side, one in chosen.items()}, weights),
            models={side: Counter(chosen[side][2]).most_common(1)[0][0] for side in ("selected", "all")},
            n_rows=len(rows),
            n_training_rows=round(float(np.mean([len(train) for train, _ in divided.pairs]))),
            n_folds=divided.n_folds,
            n_selected=n_selected,
        )

    def _divided_again(self, rows: Rows) -> NDArray[np.intp]:
        """Return parts of rows that were held out; the best model is chosen on the other parts."""
        groups = self._table.groups
        parts = np.zeros(len(rows), dtype=np.intp)
        of_rows = None if groups is None else groups[rows]
        n_parts = min(_N_PARTS, len(rows) if of_rows is None else np.unique(of_rows).size)
        if n_parts > 1:
            folds = divide_into_folds(len(rows), None, of_rows, n_parts, self._seed)
            for number, (_, inside) in enumerate(folds):
                parts[inside] = number
        return parts

    def _averaged(
        self, selected: NDArray[Any], everything: NDArray[Any], rows: Rows
    ) -> tuple[Floats, NDArray[Any]] | None:
        """Return losses and predictions of the mean of two models; None where these have no mean."""
        if self.loss.output not in _AVERAGED:
            return None
        predicted = (selected + everything) / 2
        return np.asarray(self.loss.rows(self._truth(rows), predicted), dtype=np.float64), predicted

    def _inflation(
        self, chosen: dict[str, Chosen], averaged: tuple[Floats, NDArray[Any]] | None, means: RowMeans
    ) -> float:
        """Return the factor of the variance of differences between models that were fitted in folds."""
        if averaged is None or self.loss.name not in _QUADRATIC:
            return OF_FOLDS
        selected, everything = chosen["selected"][0], chosen["all"][0]
        # By the parallelogram law.
        moved = 2.0 * (selected + everything) - 4.0 * averaged[0]
        return inflation_of_folds(selected - everything, moved, means)

    def _steadied(
        self,
        everything: Chosen,
        averaged: tuple[Floats, NDArray[Any]] | None,
        parts: NDArray[np.intp],
        weights: Floats | None,
    ) -> Chosen:
        """Return the models of all columns, averaged with those of the selected ones where that predicts better.

        Whether it does is decided on the other parts, as the models were. Where the other columns are noise, the mean
        of both models has half of that noise; where a column is missing, it has three quarters of the gain.
        """
        losses, predictions, names = everything
        self.is_averaged = [False] * len(names)
        if averaged is None:
            return everything
        losses, predictions = losses.copy(), predictions.copy()
        numbers = np.unique(parts)
        for place, number in enumerate(numbers.tolist()):
            inside = parts == number
            outside = ~inside if numbers.size > 1 else inside
            w = None if weights is None else weights[outside]
            if np.average((averaged[0] - everything[0])[outside], weights=w) < 0:
                losses[inside], predictions[inside] = averaged[0][inside], averaged[1][inside]
                self.is_averaged[place] = True
        return losses, predictions, names

    def _best(self, side: str, parts: NDArray[np.intp], weights: Floats | None) -> Chosen:
        """Return losses and predictions of the models that were best on the other parts, and their names."""
        everywhere = set.intersection(*(set(losses) for losses in self.losses[side]))
        # In a division without columns to choose from, a constant takes the place of every model.
        names = sorted(everywhere) or sorted(set.union(*(set(losses) for losses in self.losses[side])))
        losses = {name: np.concatenate([_of(one, name) for one in self.losses[side]]) for name in names}
        predictions = {
            name: np.concatenate([_of(one, name) for one in self.predictions[side]]) for name in names
        }
        numbers = np.unique(parts)
        best: list[str] = []
        chosen_losses = np.empty(len(parts))
        chosen_predictions = np.empty_like(predictions[names[0]])
        for number in numbers.tolist():
            inside = parts == number
            outside = ~inside if numbers.size > 1 else inside
            w = None if weights is None else weights[outside]
            best.append(min(names, key=lambda name: float(np.average(losses[name][outside], weights=w))))
            chosen_losses[inside] = losses[best[-1]][inside]
            chosen_predictions[inside] = predictions[best[-1]][inside]
        return chosen_losses, chosen_predictions, best


def _of(by_name: dict[str, Any], name: str) -> Any:
    """Return what belongs to a model in a division; the first of those that it has where it lacks this one."""
    return by_name[name] if name in by_name else next(iter(by_name.values()))
