"""The base class of PyImpetus's two selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import Progress, RandomStateLike
from ppfs._data import Task, readable
from ppfs._estimator import in_one_step
from ppfs._libraries import imported
from ppfs._printable import listed
from ppfs.blanket import PPFS
from ppfs.exceptions import InvalidInputError

_SIGNIFICANCE = {"non-parametric": "wilcoxon", "parametric": "paired-t"}

# Names of parameters in messages, and PyImpetus's names for them; values first.
_WORDS = {
    r"significance=['\"]wilcoxon['\"]": 'sig_test_type="non-parametric"',
    r"significance=['\"]paired-t['\"]": 'sig_test_type="parametric"',
    r"stratify=True": "simul_type=1",
    r"stratify=(False|['\"]auto['\"])": "simul_type=0",
    r"\bn_splits\b": "num_simul",
    r"\bn_folds\b": "cv",
    r"\balpha\b": "p_val_thresh",
    r"\btest_size\b": "simul_size",
    r"'estimator' parameter": "'model' parameter",
}

_PYIMPETUS_ARGUMENTS = {"data": "X", "Y": "y"}

Selector = TypeVar("Selector", bound="type[PyImpetusSelector]")


def _accepting_pyimpetus_arguments(selector: Selector) -> Selector:
    """Make methods accept their arguments by PyImpetus's names too.

    This is applied to the finished class, because scikit-learn wraps `transform` while the class is created, and its
    wrapper only accepts X.
    """
    for name in ("fit", "transform", "fit_transform"):
        setattr(selector, name, _renaming(getattr(selector, name)))
    return selector


def _renaming(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def renamed(self: Any, *arguments: Any, **named: Any) -> Any:
        return method(
            self, *arguments, **{_PYIMPETUS_ARGUMENTS.get(key, key): value for key, value in named.items()}
        )

    return renamed


@_accepting_pyimpetus_arguments
class PyImpetusSelector(TransformerMixin, BaseEstimator):
    """The parameters and methods of both selectors."""

    # Arguments that metadata routing may pass to fit.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"sample_weight": None}

    _task: Task

    selector_: PPFS

    # Set in fit, or by the caller through `MB` and `feat_imp_scores`.
    _blanket: list[Any] | None = None
    _scores: Sequence[float] = ()
    # The names of the columns as the data frame has them, numbers as numbers; None for arrays.
    _labels: list[Any] | None = None

    def __init__(
        self,
        model: Any = None,
        p_val_thresh: float = 0.05,
        num_simul: int = 30,
        cv: Any = 0,
        simul_size: float = 0.2,
        simul_type: int = 0,
        sig_test_type: str = "non-parametric",
        random_state: RandomStateLike = None,
        n_jobs: int | None = -1,
        verbose: int | None = 2,
    ) -> None:
        self.model = model
        self.p_val_thresh = p_val_thresh
        self.num_simul = num_simul
        self.cv = cv
        self.simul_size = simul_size
        self.simul_type = simul_type
        self.sig_test_type = sig_test_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, time: Any = None, **params: Any) -> Self:
        """Find the Markov blanket of the target.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns; ``data=`` is the same.

        y : array-like of shape (n_rows,)
            The target; ``Y=`` is the same.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together; see `ppfs.PPFS.fit`.

        time : array-like of shape (n_rows,), str or RowsInTime, default=None
            The order of the rows in time; see `ppfs.PPFS.fit`.

        **params
            `sample_weight`, array-like of shape (n_rows,): how much each row counts; see `ppfs.PPFS.fit`.

        Returns
        -------
        self
        """
        labels = _labels_of(X)
        readable = _with_text_labels(X, labels)
        with in_one_step(self) as draft:
            selector = self._selector(X, y)
            with _in_pyimpetus_words(type(self).__name__):
                draft.selector_ = selector.fit(readable, y, groups=groups, time=time, **params)
            validate_data(draft, readable, skip_check_array=True)
            if readable is not X:
                # As in scikit-learn, names that are not strings are ignored.
                del draft.feature_names_in_
            draft._labels = labels
            order = draft._order()
            draft._blanket = [draft._label(column) for column in order.tolist()]
            draft._scores = [float(score) for score in draft.selector_.scores_[order]]
        return self

    def transform(self, X: Any) -> Any:
        """Return the blanket's columns, most important first, as the kind of table that was passed.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Of a data frame the columns of the blanket are taken by name: others may be missing, and any may be added
            or stand elsewhere. An array must have the columns of `fit`. ``data=`` is the same.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
        """
        check_is_fitted(self)
        blanket = self.MB or []
        labels = _labels_of(X)
        if labels is None:
            matrix = self._checked(X)
            return matrix[:, self._columns(blanket, matrix.shape[1])]
        if self._labels is None and not set(blanket) <= set(labels):
            # Fitted on an array, whose columns have no names to look for.
            places = self._columns(blanket, len(labels))
        else:
            missing = [label for label in blanket if label not in labels]
            if missing:
                raise InvalidInputError(
                    f"X lacks {listed(missing)} of the columns that were selected. It has {listed(labels)}."
                )
            places = [labels.index(label) for label in blanket]
        if nw.dependencies.is_pandas_dataframe(X):
            return X.iloc[:, places]
        return nw.from_native(X, eager_only=True)[:, places].to_native()

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are in `MB`: a mask, or their numbers in ascending order.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return numbers.

        Returns
        -------
        ndarray of bool, shape (n_features,), or ndarray of int
        """
        check_is_fitted(self, "selector_")
        columns = np.sort(np.array(self._columns(self.MB or [], self.n_features_in_), dtype=np.intp))
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[columns] = True
        return columns if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` returns, in its order: those in `MB`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the columns of `fit`. None: the names that were seen there.

        Returns
        -------
        ndarray of object, shape (n_selected,)
        """
        check_is_fitted(self, "selector_")
        names: list[Any] = list(self.MB or [])
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if hasattr(self, "feature_names_in_") and not np.array_equal(given, self.feature_names_in_):
                raise InvalidInputError("input_features is not equal to feature_names_in_. Leave it out.")
            if len(given) != self.n_features_in_:
                raise InvalidInputError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), "
                    f"got {len(given)}."
                )
            names = [given[column] for column in self._columns(names, self.n_features_in_)]
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array

    def __sklearn_is_fitted__(self) -> bool:
        return self._blanket is not None

    @property
    def MB(self) -> list[Any] | None:
        """Names of the blanket's columns, most important first; None before `fit`.

        The columns of an array are named Column1, Column2 and so on, as in PyImpetus. Another list may be assigned:
        `transform` then returns those columns.
        """
        return self._blanket

    @MB.setter
    def MB(self, names: Sequence[Any] | None) -> None:
        self._blanket = None if names is None else list(names)

    @property
    def feat_imp_scores(self) -> list[float]:
        """The paper's score, log(1/p), of each member of `MB`; empty before `fit`. It may be assigned, as `MB`."""
        return list(self._scores)

    @feat_imp_scores.setter
    def feat_imp_scores(self, scores: Sequence[float]) -> None:
        self._scores = list(scores)

    def feature_importance(self) -> Any:
        """Draw the scores as bars and return the Matplotlib axes."""
        check_is_fitted(self)
        plt = imported("matplotlib.pyplot", "feature_importance", "plots")
        names = [str(name) for name in self.MB or ()]
        _, axes = plt.subplots(figsize=(6, 0.3 * len(names) + 1), layout="constrained")
        axes.barh(range(len(names)), self.feat_imp_scores)
        axes.set_yticks(range(len(names)), names, size="small")
        axes.invert_yaxis()
        axes.set(xlabel="Importance score, log(1/p)", ylabel="Feature")
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def _order(self) -> NDArray[np.intp]:
        blanket = self.selector_.blanket_
        return blanket[np.argsort(-self.selector_.scores_[blanket], kind="stable")]

    def _label(self, column: int) -> Any:
        return f"Column{column + 1}" if self._labels is None else self._labels[column]

    def _columns(self, blanket: Sequence[Any], n_columns: int) -> list[int]:
        """Return the numbers of columns by their names in `fit`."""
        known = {self._label(column): column for column in range(n_columns)}
        unknown = [name for name in blanket if name not in known]
        if unknown:
            raise InvalidInputError(
                f"MB names {listed(unknown)}, but the columns are called {listed(list(known))}."
            )
        return [known[name] for name in blanket]

    def _checked(self, X: Any) -> Any:
        """Return an array or sparse matrix that can be indexed by columns."""
        X = readable(X)
        tags = get_tags(self).input_tags
        rules = {"accept_sparse": "csr", "ensure_all_finite": not tags.allow_nan, "dtype": None}
        if not hasattr(self, "n_features_in_"):
            return check_array(X, **rules)
        return validate_data(self, X, reset=False, **rules)

    def _selector(self, X: Any, y: Any) -> PPFS:
        if self.sig_test_type not in _SIGNIFICANCE:
            raise InvalidInputError(
                f"sig_test_type must be one of {sorted(_SIGNIFICANCE)}, but is {self.sig_test_type!r}."
            )
        if self.simul_type not in (0, 1):
            raise InvalidInputError(
                f"simul_type must be 0 (plain splits) or 1 (stratified splits), but is {self.simul_type!r}."
            )
        return PPFS(
            self.model,
            n_splits=self.num_simul,
            n_folds=self.cv.get_n_splits(X, y) if hasattr(self.cv, "get_n_splits") else self.cv,
            alpha=self.p_val_thresh,
            test_size=self.simul_size,
            stratify=self.simul_type == 1,
            significance=_SIGNIFICANCE[self.sig_test_type],
            task=self._task,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            progress=self._progress(),
        )

    def _progress(self) -> Progress:
        wanted = 0 if self.verbose is None else self.verbose
        return "log" if wanted >= 2 else wanted > 0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags = get_tags(PPFS(self.model, task=self._task)).input_tags
        return tags


@contextmanager
def _in_pyimpetus_words(owner: str) -> Iterator[None]:
    """Replace names of parameters in errors by those that the caller used."""
    try:
        yield
    except ValueError as error:
        said = str(error).replace("parameter of PPFS", f"parameter of {owner}")
        for ours, theirs in _WORDS.items():
            said = re.sub(ours, theirs, said)
        if said == str(error):
            raise
        raise InvalidInputError(said) from error


def _labels_of(X: Any) -> list[Any] | None:
    """Return the names of a data frame's columns, as they are; None for anything else."""
    if nw.dependencies.is_pandas_dataframe(X):
        return list(X.columns)
    if nw.dependencies.is_into_dataframe(X):
        return list(nw.from_native(X, eager_only=True).columns)
    return None


def _with_text_labels(X: Any, labels: list[Any] | None) -> Any:
    """Return a data frame whose names are text, because scikit-learn refuses names of several types."""
    is_mixed = labels is not None and len({isinstance(label, str) for label in labels}) > 1
    return X.set_axis([str(label) for label in labels or ()], axis=1) if is_mixed else X
