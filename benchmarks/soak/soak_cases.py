"""What is fitted: a number draws the data, their kinds and units, the search, its parameters, and perhaps a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from faulty import (
    AnswersNothing,
    AnswersTooMuch,
    FailsAtFit,
    FailsLater,
    NotFinite,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import FBED, HITONMB, IAMB, GrowShrink
from ppfs.independence import PPI

Generator = np.random.Generator

# Powers of two: other units round, and rounding decides where a value is the middle of two others.
SCALES = [2.0**-100, 2.0**-30, 0.125, 1.0, 2.0**30, 2.0**100]


@dataclass(frozen=True)
class Case:
    """One fit.

    Attributes
    ----------
    number : int
        Draws everything else.

    X, y : array-like
        What is passed to ``fit``.

    search : object
        The unfitted selector.

    kind : str
        Who can confirm the answer: "trees", "models", "fisher-z" or "g2".

    fault : str
        What is wrong with it; "" for nothing.

    plain : ndarray or None
        X in ordinary units, where X is in others.

    weights : ndarray or None
    """

    number: int
    X: Any
    y: Any
    search: Any
    kind: str
    fault: str = ""
    plain: Any = None
    weights: Any = None

    @property
    def has_ties(self) -> bool:
        """Whether only the first look at each column is compared.

        Given other columns, seeds or units may decide between equal trees; and small p-values of growth are counted
        again only where the engine can refit many times.
        """
        is_forest = any("RandomForest" in type(part).__name__ for part in self.search.get_params().values())
        is_counted = self.search.get_params().get("independence") == "cross-fit-ppi"
        return (
            self.plain is not None or is_forest or is_counted or (self.kind == "trees" and bool(self.fault))
        )


def case(number: int) -> Case:
    """Return the fit with this number."""
    rng = np.random.default_rng([2021, number])
    kind = str(rng.choice(["trees", "models", "fisher-z", "g2"], p=[0.4, 0.4, 0.1, 0.1]))
    made = _DRAWN[kind](number, rng)
    if rng.random() < 0.3:
        name = str(rng.choice(list(FAULTS)))
        made = replace(FAULTS[name](made, rng), fault=name)
    return made


def _columns(rng: Generator, n_rows: int) -> np.ndarray:
    """Return columns of several kinds, some of them copies, mixtures or constants."""
    columns = [rng.normal(size=n_rows)]
    for _ in range(int(rng.integers(0, 7))):
        columns.append(
            [
                lambda: rng.normal(size=n_rows),
                lambda: rng.integers(0, 2, size=n_rows).astype(float),
                lambda: rng.integers(0, 5, size=n_rows).astype(float),
                lambda: np.round(rng.normal(size=n_rows), 1),
                lambda: rng.lognormal(sigma=2, size=n_rows),
                lambda: np.full(n_rows, 0.1),
                lambda: columns[0].copy(),
                lambda: columns[0] + 0.1 * rng.normal(size=n_rows),
            ][int(rng.integers(8))]()
        )
    return np.column_stack(columns)


def _target(rng: Generator, X: np.ndarray, task: str) -> np.ndarray:
    signal = X[:, 0] * float(rng.choice([0.0, 1.0, 3.0])) + rng.normal(size=len(X))
    if task == "regression":
        return signal
    n_classes = int(rng.choice([2, 2, 3]))
    codes = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    return [codes, codes.astype(bool) if n_classes == 2 else codes, np.array(["no", "yes", "maybe"])[codes]][
        int(rng.integers(3))
    ]


def _in_some_form(rng: Generator, X: np.ndarray) -> Any:
    """Return the same numbers as an array, a frame, or a sparse matrix."""
    forms: list[Callable[[], Any]] = [
        lambda: X,
        lambda: np.asfortranarray(X),
        lambda: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
        lambda: sp.csr_matrix(X),
        lambda: sp.csc_array(X),
    ]
    return forms[int(rng.integers(len(forms)))]()


def _in_other_units(rng: Generator, X: np.ndarray) -> np.ndarray:
    return X * rng.choice(SCALES, size=X.shape[1])


def _settings(rng: Generator, number: int) -> dict[str, Any]:
    return {
        "n_splits": int(rng.integers(5, 9)),
        "alpha": float(rng.choice([0.01, 0.05, 0.2])),
        "random_state": number,
        "correction": [None, None, "bh", "bonferroni"][int(rng.integers(4))],
    }


def _trees(number: int, rng: Generator) -> Case:
    X = _columns(rng, int(rng.integers(20, 45)))
    task = str(rng.choice(["classification", "regression"]))
    y = _target(rng, X, task)
    if task == "regression":
        # Columns that part the rows alike are equally good on paper; where sums round, the last bit would decide.
        y = np.round(y * 1024) / 1024
    rules = {"max_depth": [None, 2][int(rng.integers(2))], "min_samples_leaf": int(rng.choice([1, 5]))}
    tree = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    if rng.random() < 0.3:
        keys = ("alpha", "random_state", "correction")
        some = {key: value for key, value in _settings(rng, number).items() if key in keys}
        search = PPFS.calibrated(tree(**rules), task=task).set_params(**some)
    else:
        search = PPFS(tree(**rules), task=task, stratify=False, **_settings(rng, number))
    if rng.random() < 0.25:
        return Case(number, _in_other_units(rng, X), y, search, "trees", plain=X)
    return Case(number, _in_some_form(rng, X), y, search, "trees")


def _models(number: int, rng: Generator) -> Case:
    X = _columns(rng, int(rng.integers(30, 80)))
    exact = {"tol": 1e-10, "max_iter": 10_000}
    task, model = [
        ("classification", LogisticRegression(**exact)),
        ("classification", make_pipeline(StandardScaler(), LogisticRegression(**exact))),
        ("classification", RandomForestClassifier(5)),
        ("classification", HistGradientBoostingClassifier(max_iter=5)),
        ("regression", LinearRegression()),
        ("regression", make_pipeline(StandardScaler(), Ridge())),
        ("regression", RandomForestRegressor(4)),
    ][int(rng.integers(7))]
    y = _target(rng, X, task)
    search: Any = PPFS(model, task=task, **_settings(rng, number))
    choice = rng.random()
    if choice < 0.15:
        search.set_params(n_folds=3)
    elif choice < 0.3:
        search.set_params(knockoff="conditional", significance="corrected-t")
    elif choice < 0.4:
        test = PPI(model, n_splits=search.n_splits)
        search = FBED(independence=test, task=task, alpha=search.alpha, random_state=number)
    weights = rng.random(len(X)) + 0.1 if rng.random() < 0.1 else None
    if rng.random() < 0.15 and not isinstance(model, RandomForestClassifier | RandomForestRegressor):
        X = X.copy()
        X[rng.random(X.shape) < 0.05] = np.nan
    return Case(
        number, _in_some_form(rng, X) if not np.isnan(X).any() else X, y, search, "models", weights=weights
    )


def _fisher_z(number: int, rng: Generator) -> Case:
    X = _columns(rng, int(rng.integers(20, 80)))
    y = _target(rng, X, "regression")
    search = [IAMB, FBED, GrowShrink, HITONMB][int(rng.integers(4))]
    fitted = search(independence="fisher-z", alpha=float(rng.choice([0.01, 0.1])))
    return Case(number, _in_other_units(rng, X) if rng.random() < 0.5 else X, y, fitted, "fisher-z")


def _g2(number: int, rng: Generator) -> Case:
    n_rows = int(rng.integers(30, 80))
    levels = rng.integers(1, 5, size=int(rng.integers(1, 7)))
    X = np.column_stack([rng.integers(0, most + 1, size=n_rows) for most in levels]).astype(float)
    y = np.where(rng.random(n_rows) < 0.3, rng.integers(0, 2, size=n_rows), X[:, 0] > X[:, 0].mean()).astype(
        int
    )
    search = [IAMB, FBED, GrowShrink][int(rng.integers(3))]
    return Case(number, X, y, search(independence="g2", alpha=0.05), "g2")


_DRAWN = {"trees": _trees, "models": _models, "fisher-z": _fisher_z, "g2": _g2}


def _with_value(value: float) -> Callable[[Case, Generator], Case]:
    def change(sound: Case, rng: Generator) -> Case:
        X = _dense(sound.X)
        X[int(rng.integers(len(X))), int(rng.integers(X.shape[1]))] = value
        return replace(sound, X=X, plain=None)

    return change


def _dense(X: Any) -> np.ndarray:
    return np.array(X.toarray() if sp.issparse(X) else X, dtype=float)


def _with_model(make: Callable[[], Any]) -> Callable[[Case, Generator], Case]:
    def change(sound: Case, rng: Generator) -> Case:
        names = sound.search.get_params()
        if "estimator" not in names:
            return replace(sound, search=PPFS(make(), n_splits=5, random_state=0))
        return replace(sound, search=sound.search.set_params(estimator=make()), kind="models")

    return change


def _with_target(make: Callable[[Any, Generator], Any]) -> Callable[[Case, Generator], Case]:
    return lambda sound, rng: replace(sound, y=make(sound.y, rng))


def _sparse(damage: Callable[[Any], None]) -> Callable[[Case, Generator], Case]:
    def change(sound: Case, rng: Generator) -> Case:
        # Without missing values, and with a stored number in every column.
        X = sp.csc_array(np.nan_to_num(_dense(sound.X)) + 1.5)
        damage(X)
        return replace(sound, X=X, plain=None)

    return change


def _late_index(X: Any) -> None:
    X.indices[-1] = X.shape[0] + 100_000


def _negative_index(X: Any) -> None:
    X.indices[0] = -7


def _falling_pointer(X: Any) -> None:
    X.indptr[1:] = X.indptr[1:][::-1].copy()


def _with_weights(make: Callable[[int, Generator], Any]) -> Callable[[Case, Generator], Case]:
    return lambda sound, rng: replace(sound, weights=make(len(sound.y), rng))


def _strange_columns(make: Callable[[Any], Any]) -> Callable[[Case, Generator], Case]:
    def change(sound: Case, rng: Generator) -> Case:
        frame = pd.DataFrame(_dense(sound.X), columns=[f"c{i}" for i in range(sound.X.shape[1])])
        return replace(sound, X=make(frame), plain=None)

    return change


FAULTS: dict[str, Callable[[Case, Generator], Case]] = {
    "an infinite number": _with_value(np.inf),
    "a missing value": _with_value(np.nan),
    "a number beyond 32 bits": _with_value(1e200),
    "a number near the largest": _with_value(1.7e308),
    "a model that predicts NaN": _with_model(NotFinite),
    "a model that fails to fit": _with_model(FailsAtFit),
    "a model that fails after some fits": _with_model(FailsLater),
    "a model that answers nothing": _with_model(AnswersNothing),
    "a model that answers too much": _with_model(AnswersTooMuch),
    "a target of one value": _with_target(lambda y, rng: np.full(len(y), np.asarray(y)[0])),
    "a target with a class of one row": _with_target(
        lambda y, rng: np.where(np.arange(len(y)) == 3, "rare", "common")
    ),
    "a target with missing values": _with_target(
        lambda y, rng: np.where(rng.random(len(y)) < 0.1, np.nan, rng.random(len(y)))
    ),
    "a target of other length": _with_target(lambda y, rng: np.asarray(y)[:-1]),
    "a target of dates": _with_target(lambda y, rng: np.arange(len(y)).astype("M8[D]")),
    "a huge target": _with_target(lambda y, rng: rng.normal(size=len(y)) * 1e160),
    "a tiny target": _with_target(lambda y, rng: rng.normal(size=len(y)) * 1e-160),
    "two targets": _with_target(lambda y, rng: rng.normal(size=(len(y), 2))),
    "a target of objects": _with_target(lambda y, rng: np.array([{}] * len(y), dtype=object)),
    "an index beyond the rows": _sparse(_late_index),
    "a negative index": _sparse(_negative_index),
    "pointers that fall": _sparse(_falling_pointer),
    "negative weights": _with_weights(lambda n, rng: rng.normal(size=n)),
    "weights of one row": _with_weights(lambda n, rng: np.eye(1, n).ravel()),
    "weights without end": _with_weights(lambda n, rng: np.where(np.arange(n) == 0, np.inf, 1.0)),
    "weights far apart": _with_weights(lambda n, rng: 10.0 ** rng.uniform(-300, 300, size=n)),
    "a column of dates": _strange_columns(lambda X: X.assign(day=np.arange(len(X)).astype("M8[D]"))),
    "a column of lists": _strange_columns(lambda X: X.assign(lists=[[1]] * len(X))),
    "a column of text": _strange_columns(lambda X: X.assign(text=["ab"[i % 2] for i in range(len(X))])),
    "a column of nothing": _strange_columns(lambda X: X.assign(nothing=None)),
    "one name for two columns": _strange_columns(lambda X: pd.concat([X, X], axis=1)),
    "no columns": _strange_columns(lambda X: X.iloc[:, :0]),
    "two rows": lambda sound, rng: replace(
        sound, X=_dense(sound.X)[:2], y=np.asarray(sound.y)[:2], plain=None, weights=None
    ),
    "no rows": lambda sound, rng: replace(
        sound, X=_dense(sound.X)[:0], y=np.asarray(sound.y)[:0], plain=None, weights=None
    ),
}
