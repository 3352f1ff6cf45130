"""What the predictive tests share: models are fitted in train parts and compared with and without a knockoff."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ppfs._conventions import N_JOBS_RULE, Floats, HasMethods, Interval, IsModel, RandomStateLike, StrOptions
from ppfs._data import TASKS, SaidTask, Table, require_finite
from ppfs._fitting import (
    DEFAULT_PANEL,
    DefaultMember,
    Impute,
    PanelParameters,
    estimator_for,
    for_labels,
    input_tags,
    members_of,
    require_suits,
    require_valid_parameters,
    task_of_members,
)
from ppfs._rows import ClassWeight, Split, Stratify, refuse_single_use
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.conditional_draws import ConditionalKnockoff
from ppfs.independence._predictive.draws import Knockoff, PermutationKnockoff
from ppfs.independence._predictive.losses import LOSS_NAMES, LossFunction
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._test import IndependenceTest

_MODELS = [IsModel(takes_classes=True), list, tuple, StrOptions({DEFAULT_PANEL}), None]

# What every predictive test accepts.
PREDICTIVE_CONSTRAINTS: dict[str, Any] = {
    "estimator": _MODELS,
    "marginal_estimator": _MODELS,
    "stratify": ["boolean", StrOptions({"auto"})],
    "knockoff": [StrOptions({"permutation", "conditional"})],
    "n_draws": [Interval(Integral, 1, None, closed="left")],
    "conditional": [IsModel(takes_classes=True), None],
    "loss": [StrOptions(set(LOSS_NAMES)), callable],
    "class_weight": [StrOptions({"balanced"}), Mapping, None],
    "impute": [StrOptions({"median"}), None],
    "splitter": [HasMethods(["split", "get_n_splits"]), list, tuple, Iterator, None],
    "task": [StrOptions({"auto", *TASKS})],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": N_JOBS_RULE,
    "device": [StrOptions({"cpu", "cuda", "auto"})],
}


@dataclass(kw_only=True, eq=False, repr=False)
class PredictiveTest(PanelParameters, IndependenceTest):
    """A test of whether a model predicts worse when one feature is replaced by its knockoff.

    A subclass defines how the rows are split, what replaces a feature, and how the differences
    become a p-value.
    """

    estimator: Any = field(default=None, kw_only=False)
    stratify: Stratify = "auto"
    knockoff: str = "permutation"
    n_draws: int = 1
    conditional: Any = None
    loss: str | LossFunction = "auto"
    class_weight: ClassWeight = None
    impute: Impute = None
    splitter: Any = None
    task: SaidTask = "auto"
    marginal_estimator: Any = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    device: str = "cpu"

    is_by_row: ClassVar[bool] = False
    loss_of_probabilities: ClassVar[str] = "log-loss"
    reads_response = True

    @property
    def stop_after(self) -> int:
        """After how many draws that are as good as the feature itself a question ends; 0 for never."""
        return 0

    @property
    def exact_tail(self) -> bool | Literal["auto"]:
        """Whether small p-values given nothing are computed by permutation."""
        return False

    @property
    def uses_products(self) -> bool:
        """Whether questions given other columns are answered by products of residuals, without models of x and z."""
        return False

    def ranks(self, n_splits: int) -> bool:
        """Return whether the test needs sums of the ranks of differences only."""
        return False

    @property
    def counts_draws(self) -> bool:
        """Whether p-values are counts of draws that are no worse."""
        return False

    def _validate_params(self) -> None:
        super()._validate_params()
        refuse_single_use(self.splitter)

    @abstractmethod
    def check(self, table: Table) -> None:
        """Raise if parameters contradict each other, or if the table has too few rows for random splits."""

    @abstractmethod
    def labels_to_stratify(self, labels: NDArray[Any], table: Table, warn: bool) -> NDArray[Any] | None:
        """Return the labels whose proportions the splits keep, or None."""

    @abstractmethod
    def draw_splits(self, table: Table, labels: NDArray[Any] | None, entropy: int, fold: int) -> list[Split]:
        """Divide the rows at random; rows of one group stay together."""

    @abstractmethod
    def check_splits(self, splits: list[Split]) -> None:
        """Raise if this test cannot use the splits of the caller's splitter."""

    @abstractmethod
    def assess(
        self, risks: PairedRisks, differences: Floats, problem: Problem, is_screened: bool
    ) -> tuple[Floats, Floats]:
        """Return p-values and statistics, one of each per question.

        Parameters
        ----------
        differences : ndarray of shape (n_questions, n_pairs)
            Replaced minus base risks, rounding error removed.

        is_screened : bool
            Whether these are single columns given nothing, whose small p-values may be counted by permutations later.
        """

    def make_knockoff(self, n_test: int) -> Knockoff:
        """Return what replaces a feature in test parts of about `n_test` rows."""
        if self.knockoff == "permutation":
            return PermutationKnockoff()
        return ConditionalKnockoff(self.conditional, n_test, self.impute)

    @abstractmethod
    def smallest_pvalue(self, n_splits: int) -> float:
        """Return the smallest p-value this test can reach with `n_splits` splits, whatever the data."""

    @property
    def is_of_package(self) -> bool:
        """Whether the models are the package's own: a decision tree, or the default panel."""
        return self.estimator is None or isinstance(self.estimator, str)

    def declared_task(self) -> SaidTask | None:
        """Return the task that the parameters imply, or None when the target decides."""
        for model in (self.estimator, self.marginal_estimator, self.conditional):
            if isinstance(model, type):
                raise InvalidInputError(
                    f"{model.__name__} is a class, but an estimator must be an instance: pass {model.__name__}()."
                )
        of_models = [
            task_of_members(getattr(self, name), name) for name in ("estimator", "marginal_estimator")
        ]
        return self.task if self.task != "auto" else of_models[0]

    def check_all(self, table: Table) -> None:
        """Raise if parameters, models or data do not fit each other, before any model is fitted."""
        self.check(table)
        self._check_models()
        self._check_columns(table)

    def _check_models(self) -> None:
        """Raise if the parameters of a model are invalid, whether or not the engine fits it."""
        for name in ("estimator", "marginal_estimator", "conditional"):
            for model in members_of(getattr(self, name), name):
                if model is not None and not isinstance(model, DefaultMember):
                    require_valid_parameters(model, name)

    def _check_columns(self, table: Table) -> None:
        """Raise if an estimator cannot take the columns, the target or the weights."""
        if self.is_of_package and table.y.dtype.names is not None:
            own = "a decision tree" if self.estimator is None else "the default panel"
            raise InvalidInputError(
                f"y is a structured array, which {own} cannot predict, unless it has an event and a time as in "
                "scikit-survival. Pass an estimator that can, and a function as loss."
            )
        marginal = [] if self.marginal_estimator is None else members_of(self.marginal_estimator)
        for model in (*members_of(self.estimator), *marginal):
            # The default panel fills missing values by itself, and takes weights.
            if isinstance(model, DefaultMember):
                require_finite(table, allow_missing=True, user="the default panel")
                continue
            require_suits(estimator_for(for_labels(model, table), table.task), table, self.impute)
        if self.conditional is not None:
            self._check_conditional(table)

    def _check_conditional(self, table: Table) -> None:
        """Raise if the model of x given z cannot make draws, or cannot take missing values."""
        name = type(self.conditional).__name__
        if self.knockoff == "permutation":
            raise InvalidInputError(
                f"conditional={name} would not be used: knockoff='permutation' shuffles columns and needs no model. "
                "Use knockoff='conditional', or leave conditional out."
            )
        if not (is_classifier(self.conditional) or is_regressor(self.conditional)):
            raise InvalidInputError(
                f"conditional={name} is neither a regressor nor a classifier, so it cannot predict a column. Use a "
                "regressor for numeric columns, such as RandomForestRegressor, or a classifier for categories."
            )
        if is_classifier(self.conditional) and not hasattr(self.conditional, "predict_proba"):
            raise InvalidInputError(
                f"conditional={name} has no predict_proba, from which columns with few values are drawn. Use a "
                f"classifier that has it, such as LogisticRegression or CalibratedClassifierCV({name}())."
            )
        if table.has_missing:
            require_finite(
                table,
                allow_missing=self.impute is not None
                or (input_tags(self.conditional).allow_nan and not table.is_sparse),
                user=f"conditional={name}",
                way_out='Pass impute="median" to fill them with the median of each train part, or conditional=None '
                "for the package's own model, which takes NaN.",
            )
