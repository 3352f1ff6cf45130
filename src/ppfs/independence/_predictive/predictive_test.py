"""What the predictive tests share: models are fitted in train parts and compared with and without a knockoff."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ppfs._conventions import (
    N_JOBS_RULE,
    Floats,
    HasMethods,
    Interval,
    IsModel,
    RandomStateLike,
    StrOptions,
    root_entropy,
)
from ppfs._data import Table, Task, require_finite
from ppfs._fitting import (
    DEFAULT_PANEL,
    DefaultMember,
    Impute,
    PanelParameters,
    encoding_name,
    estimator_for,
    frame_for,
    input_tags,
    is_equivariant,
    members_of,
    names_of,
    require_valid_parameters,
    table_in_reach,
    target_in_reach,
    task_of_members,
    usable_members,
    warn_of_blur,
    weight_arguments,
)
from ppfs._rows import (
    ClassWeight,
    Exchange,
    RowWeights,
    Split,
    Stratify,
    refuse_single_use,
    require_known_labels,
    splits_of,
    weights_by_class,
)
from ppfs.exceptions import InvalidInputError
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT, Answers, IndependenceResult
from ppfs.independence._bound import BoundTest, growing_batches
from ppfs.independence._predictive.combined_models import PanelGrowth, PanelMembers
from ppfs.independence._predictive.exact_tail import PermutationTail
from ppfs.independence._predictive.knockoffs import KNOCKOFF_NAMES, Knockoff, SharedKnockoff, choose_knockoff
from ppfs.independence._predictive.losses import (
    LOSS_NAMES,
    LOSS_POWERS,
    LossFunction,
    choose_loss,
    require_measurable,
)
from ppfs.independence._predictive.marginal import COLUMN_ERRORS, BlockFunction, Growth, grow_blocks, judged
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.registry import risk_source
from ppfs.independence._predictive.risks.source import RiskSource
from ppfs.independence._predictive.screening import outputs_of
from ppfs.independence._test import IndependenceTest

_MODELS = [IsModel(), list, tuple, StrOptions({DEFAULT_PANEL}), None]

# What every predictive test accepts.
PREDICTIVE_CONSTRAINTS: dict[str, Any] = {
    "estimator": _MODELS,
    "marginal_estimator": _MODELS,
    "stratify": ["boolean", StrOptions({"auto"})],
    "knockoff": [StrOptions(set(KNOCKOFF_NAMES))],
    "n_draws": [Interval(Integral, 1, None, closed="left")],
    "conditional": [IsModel(), None],
    "loss": [StrOptions(set(LOSS_NAMES)), callable],
    "class_weight": [StrOptions({"balanced"}), Mapping, None],
    "impute": [StrOptions({"median"}), None],
    "splitter": [HasMethods(["split", "get_n_splits"]), list, tuple, Iterator, None],
    "task": [StrOptions({"auto", "classification", "regression"})],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": N_JOBS_RULE,
}


# How the trace says what an estimator sees of a table with categories.
_SIGHT = {
    "codes": "sees categories as codes in their order",
    "native": "sees native categories",
    "frame": "sees a data frame like the one passed to fit",
    "one-hot": "sees categories one-hot encoded, and numbers scaled",
}


class PredictiveTest(PanelParameters, IndependenceTest):
    """A test that asks whether a model predicts worse when one feature gives way to its knockoff.

    A subclass says how the rows are divided, what replaces a feature, and how the differences
    become a p-value.
    """

    estimator: Any
    stratify: Stratify
    knockoff: str
    n_draws: int
    conditional: Any
    loss: str | LossFunction
    class_weight: ClassWeight
    impute: Impute
    splitter: Any
    task: Task | Literal["auto"]
    marginal_estimator: Any
    random_state: RandomStateLike
    n_jobs: int | None

    is_by_row: bool = False
    loss_of_probabilities: str = "log-loss"
    stop_after: int = 0
    exact_tail: bool | Literal["auto"] = False

    def _validate_params(self) -> None:
        super()._validate_params()
        refuse_single_use(self.splitter)

    @abstractmethod
    def check(self, table: Table) -> None:
        """Refuse parameters that do not fit each other, and tables that are too short for random splits."""

    @abstractmethod
    def labels_to_stratify(self, labels: NDArray[Any], table: Table, warn: bool) -> NDArray[Any] | None:
        """Return the labels whose proportions the splits keep, or None."""

    @abstractmethod
    def draw_splits(self, table: Table, labels: NDArray[Any] | None, entropy: int, fold: int) -> list[Split]:
        """Divide the rows at random; rows of one group stay together."""

    @abstractmethod
    def check_splits(self, splits: list[Split]) -> None:
        """Refuse what the caller's splitter made if this test cannot use it."""

    @abstractmethod
    def assess(
        self, risks: PairedRisks, differences: Floats, problem: Problem, is_screened: bool
    ) -> tuple[Floats, Floats]:
        """Return p-values and statistics, one of each a question.

        Parameters
        ----------
        differences : ndarray of shape (n_questions, n_pairs)
            Replaced minus base risks, rounding error removed.

        is_screened : bool
            Whether these are single columns given nothing, whose small p-values may be counted later.
        """

    def make_knockoff(self, n_test: int) -> Knockoff:
        """Return what replaces a feature in test parts of about `n_test` rows."""
        return choose_knockoff(self.knockoff, self.conditional, n_test, self.impute)

    @abstractmethod
    def smallest_pvalue(self, n_splits: int) -> float:
        """Return the smallest p-value this test can reach with so many splits, whatever the data."""

    def declared_task(self) -> Task | None:
        """Tell the task that the parameters imply, or None when the target decides."""
        for model in (self.estimator, self.marginal_estimator, self.conditional):
            if isinstance(model, type):
                raise InvalidInputError(
                    f"{model.__name__} is a class; as an estimator an instance is needed: {model.__name__}()."
                )
        of_models = [
            task_of_members(getattr(self, name), name) for name in ("estimator", "marginal_estimator")
        ]
        return self.task if self.task != "auto" else of_models[0]

    def bind(
        self, table: Table, *, fold: int = 0, random_state: RandomStateLike = None, n_jobs: int | None = None
    ) -> BoundPredictiveTest:
        """Return the test of these data; see `IndependenceTest.bind`."""
        self.check(table)
        self._check_models()
        self._check_columns(table)
        entropy = root_entropy(random_state if self.random_state is None else self.random_state)
        return BoundPredictiveTest(table, self, entropy, fold, n_jobs if self.n_jobs is None else self.n_jobs)

    def _check_models(self) -> None:
        """Refuse models that could not be fitted, whoever computes their risks."""
        for name in ("estimator", "marginal_estimator", "conditional"):
            for model in members_of(getattr(self, name), name):
                if model is not None and not isinstance(model, DefaultMember):
                    require_valid_parameters(model, name)

    def _check_columns(self, table: Table) -> None:
        """Refuse columns, targets and weights that an estimator cannot take, before any model is fitted."""
        if (self.estimator is None or isinstance(self.estimator, str)) and table.y.dtype.names is not None:
            own = "a decision tree" if self.estimator is None else "the default panel"
            raise InvalidInputError(
                f"y is a structured array, which {own} cannot predict. Pass an estimator that can, such as "
                "scikit-survival's CoxPHSurvivalAnalysis, and a function as loss."
            )
        marginal = [] if self.marginal_estimator is None else members_of(self.marginal_estimator)
        for model in (*members_of(self.estimator), *marginal):
            # The default panel fills gaps by itself, and takes weights.
            if isinstance(model, DefaultMember):
                require_finite(table, allow_missing=True, user="the default panel")
                continue
            estimator = estimator_for(model, table.task)
            takes_missing = input_tags(estimator).allow_nan and not table.is_sparse
            require_finite(
                table,
                allow_missing=takes_missing or self.impute is not None,
                user=type(estimator).__name__,
                way_out='Pass impute="median" to fill the gaps with the median of each train part, or use an estimator '
                "that takes NaN, such as DecisionTreeClassifier or HistGradientBoostingClassifier.",
            )
            weight_arguments(estimator, table.weights)
        if self.conditional is not None:
            self._check_conditional(table)

    def _check_conditional(self, table: Table) -> None:
        """Refuse a model of x given z that cannot make draws, or cannot take the gaps."""
        name = type(self.conditional).__name__
        if self.knockoff == "permutation":
            raise InvalidInputError(
                f"conditional={name} would not be used: knockoff='permutation' shuffles columns and needs no model. "
                "Use knockoff='conditional', or leave conditional out."
            )
        if not (is_classifier(self.conditional) or is_regressor(self.conditional)):
            raise InvalidInputError(
                f"conditional={name} is neither a regressor nor a classifier, so it cannot tell what a column is "
                "likely to be. Use a regressor for quantities, such as RandomForestRegressor, or a classifier for "
                "categories."
            )
        if is_classifier(self.conditional) and not hasattr(self.conditional, "predict_proba"):
            raise InvalidInputError(
                f"conditional={name} has no predict_proba, from which columns of few values are drawn. Use a "
                f"classifier that has it, such as LogisticRegression or CalibratedClassifierCV({name}())."
            )
        if table.has_missing:
            require_finite(
                table,
                allow_missing=self.impute is not None
                or (input_tags(self.conditional).allow_nan and not table.is_sparse),
                user=f"conditional={name}",
                way_out='Pass impute="median" to fill the gaps with the median of each train part, or conditional=None '
                "for the package's own model, which takes NaN.",
            )


# Where there are more rows, a t-test over them is close enough, and refits take long.
MOST_ROWS_COUNTED = 500

# Of so many variables other than the target the fitted models are kept.
_MAX_OTHER_TARGETS = 8


class BoundPredictiveTest(BoundTest):
    """The test of one table: its splits and its fitted models."""

    def __init__(
        self, table: Table, test: PredictiveTest, entropy: int, fold: int, n_jobs: int | None
    ) -> None:
        own = usable_members(test.estimator, table)
        only_given_nothing = (
            [] if test.marginal_estimator is None else usable_members(test.marginal_estimator, table)
        )
        self._models = [*own, *only_given_nothing]
        n_own, n_all = len(own), len(self._models)
        is_panel = max(n_own, len(only_given_nothing)) > 1
        super().__init__(table, names_of(self._models, table.task) if is_panel else ())
        # Who is asked given other columns, and who given nothing.
        self._own = range(n_own)
        self._marginal = range(n_own, n_all) if only_given_nothing else self._own
        self._test = test
        self._entropy = entropy
        self._fold = fold
        self._n_jobs = n_jobs
        # By the target and the number of the model.
        self._risks: dict[tuple[int, int], RiskSource] = {}
        self._growths: dict[int, BlockFunction] = {}
        self._shared: dict[int, tuple[list[Split], Knockoff]] = {}
        self._tails: dict[int, PermutationTail] = {}
        # Models of the growth phase, and of targets that were let go.
        self._n_grown = 0
        # The target's own problem is made now, so that bad input is reported before any work.
        self._risks_of(table.target, self._panel_of(n_others=1))

    @property
    def n_fits(self) -> int:  # type: ignore[override]
        """Models fitted so far, over all targets."""
        n_counted = sum(tail.n_fits for tail in self._tails.values())
        return self._n_grown + n_counted + sum(risks.n_fits for risks in set(self._risks.values()))

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        risks = self._risks_about(self.table.target, is_marginal=False)[0]
        return self._test.smallest_pvalue(len(risks.problem.splits))

    @property
    def notes(self) -> list[str]:
        """Who grows or fits the models of this table's target, and why; and how they see categories."""
        about_target = {
            risks
            for n_others in (0, 1)
            for risks in self._risks_of(self.table.target, self._panel_of(n_others))
        }
        notes = sorted({risks.note for risks in about_target})
        if self.models:
            notes.insert(
                0, f"a panel was asked: {', '.join(self.models)}; p-values joined by Cauchy's combination"
            )
        if self.table.is_mixed:
            estimators = [risks.problem.estimator for risks in about_target]
            notes += sorted(
                {
                    f"{type(one).__name__} {_SIGHT[encoding_name(one, has_frame=self.table.frame is not None)]}"
                    for one in estimators
                }
            )
        if self._test.exact_tail == "auto" and self.exact_tail(self.table.target) is None:
            notes.append(
                "small p-values given nothing are approximate here: CrossFitPPI(exact_tail=True) counts them"
            )
        return notes

    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        members = frozenset(given)
        for are_members, run in _runs(xs, members):
            panel = self._panel_of(len(members) - are_members)
            sizes = [risks.batch_sizes(are_members) for risks in self._risks_of(target, panel)]
            for batch in growing_batches(run, *np.min(sizes, axis=0).tolist()):
                yield from self._judge(batch, target, members)

    def _marginal_blocks(
        self, xs: NDArray[np.intp], target: int
    ) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        for is_single, some in self._by_width(xs):
            if not is_single:
                judged_one_by_one = list(self._judge(some.tolist(), target, frozenset()))
                yield some, Answers.of(judged_one_by_one, len(self.models))
                continue
            growth = self._growth(target)
            for block, grown in grow_blocks(growth, self.table, some, self._n_jobs, self.on_error):
                self._n_grown += grown.n_fits
                self.failures.update({int(block[place]): what for place, what in grown.failures.items()})
                yield block, grown.answers

    def _by_width(self, xs: NDArray[np.intp]) -> Iterator[tuple[bool, NDArray[np.intp]]]:
        """Cut variables into stretches of those that are one column and those that are several."""
        if self.table.has_single_columns_only:  # A look at each would be felt with a million of them.
            if xs.size:
                yield True, xs
            return
        for is_single, run in groupby(xs.tolist(), self.table.is_single):
            yield is_single, np.array(list(run), dtype=np.intp)

    def _growth(self, target: int) -> BlockFunction:
        """Return what answers questions given nothing, prepared once."""
        if target not in self._growths:
            members = self._panel_of(n_others=0)
            sources = self._risks_of(target, members)
            parts = tuple(Growth(self._test, source.problem, source.grower()) for source in sources)
            self._growths[target] = PanelGrowth(parts, members) if self.models else parts[0]
        return self._growths[target]

    def exact_tail(self, target: int) -> PermutationTail | None:
        """Return what counts small p-values given nothing by refitting rearranged columns, where that is wanted."""
        wanted = self._test.exact_tail
        growth = self._growth(target)
        # Randomisation is a count already, and its equal p-values would all count as extreme.
        is_counted = self.table.n_rows <= MOST_ROWS_COUNTED and self._test.significance != "randomisation"
        quick = growth.quick_part() if is_counted else None
        if not wanted or (wanted == "auto" and quick is None):
            return None
        if target not in self._tails:
            exchange = Exchange(self.table.n_rows, self.table.groups)
            outputs = outputs_of(self._risks_about(target, is_marginal=True)[0].problem)
            self._tails[target] = PermutationTail(
                quick or growth,
                self.table,
                outputs,
                exchange,
                self._entropy,
                self._fold,
                self._n_jobs,
                target,
                self.known.counts,
                self._remember_count,
            )
        return self._tails[target]

    def _judge(self, xs: Sequence[int], target: int, given: Set[int]) -> Iterator[IndependenceResult]:
        """Answer about columns that lie all inside or all outside `given`."""
        asked = [x for x in xs if not self._is_trivial(x, given)]
        answered = dict(zip(asked, self._assess_or_drop(asked, target, given), strict=True))
        for x in xs:
            yield answered.get(x, INDEPENDENT)

    def _is_trivial(self, x: int, given: Set[int]) -> bool:
        """Tell whether x says nothing beyond `given` by definition: constant, or a copy of a given column."""
        is_constant = x != self.table.target and bool(self.table.constant_mask[x])
        return is_constant or (bool(given) and self.table.has_twin(x, given))

    def _assess_or_drop(
        self, xs: Sequence[int], target: int, given: Set[int]
    ) -> Iterable[IndependenceResult]:
        """Answer, and leave out columns outside `given` that the models fail on, where the caller wants that."""
        if self.on_error == "raise" or not xs or xs[0] in given:
            return self._assess(xs, target, given)
        try:
            return list(self._assess(xs, target, given))
        except COLUMN_ERRORS as error:
            if len(xs) == 1:
                self.failures[xs[0]] = f"{type(error).__name__}: {error}"
                return [CANNOT_TELL]
        return [answer for x in xs for answer in self._assess_or_drop([x], target, given)]

    def _assess(self, xs: Sequence[int], target: int, given: Set[int]) -> Iterable[IndependenceResult]:
        if not xs:
            return []
        others = given - {xs[0]} if len(xs) == 1 else given
        if not others and self.table.is_single(xs[0]):
            grown = self._growth(target)(self.table.block(xs))
            self._n_grown += grown.n_fits
            return grown.answers
        names = self.table.names_of(xs)
        answers = []
        members = self._panel_of(len(given - {xs[0]}))
        for source in self._risks_of(target, members):
            risks = source.of_members(xs, given) if xs[0] in given else source.of_added(xs, given)
            answers.append(judged(self._test, source.problem, risks, names))
        return members.joined(answers)

    def _panel_of(self, n_others: int) -> PanelMembers:
        """Return who is asked about a feature given so many others; given nothing there may be models of their own."""
        numbers = self._own if n_others else self._marginal
        models = self._models
        asked = [
            number
            for number in numbers
            if not isinstance(model := models[number], DefaultMember) or model.is_asked_given(n_others)
        ]
        return PanelMembers.of(models, asked, len(self.models))

    def _risks_about(self, target: int, is_marginal: bool) -> list[RiskSource]:
        """Return who answers about this target given nothing, or given another feature."""
        return self._risks_of(target, self._panel_of(0 if is_marginal else 1))

    def _risks_of(self, target: int, members: PanelMembers) -> list[RiskSource]:
        """Return who answers about this target."""
        asked = members.asked
        for number in asked:
            if (target, number) not in self._risks:
                self._let_go_of_targets(beside=target)
                problem = self._problem(target, self._models[number])
                table = table_in_reach(self.table, problem.estimator)
                self._risks[target, number] = risk_source(table, problem, self._n_jobs)
        return [self._risks[target, number] for number in asked]

    def _let_go_of_targets(self, beside: int) -> None:
        """Forget the models of all but the last few variables that a search asked about in place of its target.

        MMMB and HITON-MB ask about many, one after the other, and fitted models take room. Their answers stay.
        """
        others = list(dict.fromkeys(t for t, _ in self._risks if t not in (beside, self.table.target)))
        for target in others[: len(others) + 1 - _MAX_OTHER_TARGETS]:
            for key in [key for key in self._risks if key[0] == target]:
                self._n_grown += self._risks.pop(key).n_fits
            self._growths.pop(target, None)
            self._shared.pop(target, None)

    def _problem(self, target: int, model: Any) -> Problem:
        test, table = self._test, self.table
        task = table.task_of(target)
        y = table.values(target)
        if target != table.target and y.dtype.kind == "f" and np.isnan(y).any():
            raise InvalidInputError(
                f"This search asks what {table.names[target]!r} depends on, but the column has gaps, and no model can "
                "learn to predict them. Use a search that asks about the target only, such as PPFS, IAMB or FBED, or "
                "impute the column first."
            )
        (name,) = table.names_of([target])
        estimator = estimator_for(model, task, name=name)
        classes = np.unique(y) if task == "classification" else np.empty(0)
        loss = choose_loss(test.loss, task, estimator, test.loss_of_probabilities, fields=y.dtype.names)
        require_measurable(y, loss, name)
        if target == table.target and self._fold <= 1:
            warn_of_blur(table, estimator)
        y, unit = (
            target_in_reach(y)
            if loss.name in LOSS_POWERS and is_equivariant(estimator) and y.ndim == 1
            else (y, 1.0)
        )
        splits, knockoff = self._splits_and_knockoff(target, y, classes)
        return Problem(
            estimator,
            y,
            classes,
            loss,
            knockoff,
            splits,
            test.is_by_row,
            test.stop_after,
            self._weights(target, y, classes),
            self._impute(model, estimator),
            table.groups,
            frame_for(estimator, table),
            unit ** LOSS_POWERS.get(loss.name, 0),
        )

    def _splits_and_knockoff(
        self, target: int, y: NDArray[Any], classes: NDArray[Any]
    ) -> tuple[list[Split], Knockoff]:
        """Return how rows are divided and features replaced: the same for all models that are asked."""
        if target not in self._shared:
            splits = self._splits(target, y, classes)
            knockoff = self._test.make_knockoff(min(split.test.size for split in splits))
            self._shared[target] = splits, SharedKnockoff(knockoff) if self.models else knockoff
        return self._shared[target]

    def _impute(self, model: Any, estimator: Any) -> Impute:
        """Return how gaps are filled: as the caller says, and for models of the default panel where they need it."""
        if not self.table.has_missing:
            return None
        needs_it = isinstance(model, DefaultMember) and not input_tags(estimator).allow_nan
        return "median" if needs_it else self._test.impute

    def _splits(self, target: int, y: NDArray[Any], classes: NDArray[Any]) -> list[Split]:
        test, table = self._test, self.table
        if table.task_of(target) == "classification":
            _require_two_classes(classes)
        if test.splitter is not None:
            splits = splits_of(
                test.splitter, table, y, entropy=self._entropy, fold=self._fold, n_draws=test.n_draws
            )
            test.check_splits(splits)
            return splits
        is_first = target == table.target and self._fold <= 1
        labels = test.labels_to_stratify(y, table, warn=is_first) if classes.size else None
        return test.draw_splits(table, labels, self._entropy, self._fold)

    def _weights(self, target: int, y: NDArray[Any], classes: NDArray[Any]) -> RowWeights:
        class_weight = self._test.class_weight
        # Labels of the target mean nothing where another variable is predicted.
        if target != self.table.target and not (class_weight == "balanced" and classes.size):
            class_weight = None
        if isinstance(class_weight, Mapping):
            require_known_labels(class_weight, self.table.known_labels)
        by_class = weights_by_class(class_weight, y, classes)
        return RowWeights.of(self.table.weights, by_class, np.searchsorted(classes, y) if classes.size else y)


def _require_two_classes(classes: Any) -> None:
    if classes.size < 2:
        raise InvalidInputError(
            f"y has one class only, {classes[0].item()!r}: there is nothing to predict. Pass rows of at least two "
            'classes, or task="regression" if y is a quantity.'
        )


def _runs(xs: Sequence[int], members: frozenset[int]) -> Iterator[tuple[bool, Sequence[int]]]:
    """Cut `xs` into stretches that lie wholly inside or wholly outside `members`."""
    if members.issuperset(xs) or members.isdisjoint(xs):
        yield xs[0] in members, xs
        return
    for are_members, run in groupby(xs, key=members.__contains__):
        yield are_members, list(run)
