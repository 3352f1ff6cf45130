"""Answers of a predictive test about one table: its fitted models, asked about features and their knockoffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ppfs._conventions import root_entropy
from ppfs._data import Table
from ppfs._fitting import DefaultMember, encoding_name, names_of, table_for_float32, usable_members
from ppfs._parallel import MOST_ROWS_FORKED
from ppfs._rows import Exchange
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT, Answers, IndependenceResult
from ppfs.independence._bound import Binding, BoundTest, growing_batches
from ppfs.independence._predictive.combined_models import PanelMembers
from ppfs.independence._predictive.devices import DeviceChoice, choose_device
from ppfs.independence._predictive.exact_tail import PermutationTail
from ppfs.independence._predictive.marginal import COLUMN_ERRORS, Growth, grow_blocks, judged
from ppfs.independence._predictive.predictive_test import PredictiveTest
from ppfs.independence._predictive.residuals import ModelProducts, ResidualProducts
from ppfs.independence._predictive.risks.registry import risk_source
from ppfs.independence._predictive.risks.source import RiskSource
from ppfs.independence._predictive.screening import outputs_of
from ppfs.independence._predictive.tail_bound import contrasts_of
from ppfs.independence._predictive.target_problem import TargetProblems

# What an estimator sees of a table with categories, for the trace.
_SIGHT = {
    "codes": "sees categories as codes in their order",
    "native": "sees native categories",
    "frame": "sees a data frame like the one passed to fit",
    "one-hot": "sees categories one-hot encoded, and numbers scaled",
}

# With more rows a t-test over them is accurate enough, and refits take long.
MOST_ROWS_COUNTED = 500

# Questions that are answered by products of residuals at once, at most and at first: whatever the number of threads.
_MOST_AT_ONCE, _OTHERS_AT_ONCE = 64, 16

# In short tables this many questions about columns that were not selected: copies of the process are made once.
_OF_SHORT_TABLES = 128

# Fitted models are kept for the target and for this many other variables.
_MAX_OTHER_TARGETS = 8


class BoundPredictiveTest(BoundTest):
    """The test of one table: its splits and its fitted models."""

    def __init__(self, table: Table, binding: Binding, test: PredictiveTest) -> None:
        test.check_all(table)
        own = usable_members(test.estimator, table)
        only_given_nothing = (
            [] if test.marginal_estimator is None else usable_members(test.marginal_estimator, table)
        )
        self._models = [*own, *only_given_nothing]
        n_own, n_all = len(own), len(self._models)
        is_panel = max(n_own, len(only_given_nothing)) > 1
        super().__init__(table, binding, names_of(self._models, table.task) if is_panel else ())
        # The models that answer questions given other columns, and those given nothing.
        self._own = range(n_own)
        self._marginal = range(n_own, n_all) if only_given_nothing else self._own
        self._test = test
        self._uses_products = test.uses_products and table.y.dtype.names is None
        # The default panel is fitted in growth only; given other columns, its members are functions of x.
        self._has_members = isinstance(test.estimator, str)
        self._n_jobs = binding.n_jobs if test.n_jobs is None else test.n_jobs
        entropy = root_entropy(binding.random_state if test.random_state is None else test.random_state)
        self._problems = TargetProblems(test, table, entropy, binding.fold)
        # By target and model number.
        self._risks: dict[tuple[int, int], RiskSource] = {}
        self._products: dict[int, ResidualProducts] = {}
        self._growths: dict[int, Growth] = {}
        self._tails: dict[int, PermutationTail] = {}
        # Models of the growth phase, and of targets whose models were dropped.
        self._n_grown = 0
        # The target's own problem is made now, so that bad input is reported before any work.
        self._risks_of(table.target, self._panel_of(n_others=0 if self._grows_only else 1))
        self._device = self._choose_device(table.target)

    @property
    def _grows_only(self) -> bool:
        """Whether models answer questions given nothing only."""
        return self._uses_products and self._has_members

    @property
    def n_fits(self) -> int:  # type: ignore[override]
        """Models fitted so far, over all targets."""
        n_counted = sum(tail.n_fits for tail in self._tails.values())
        n_regressions = sum(products.n_fits for products in self._products.values())
        n_models = sum(risks.n_fits for risks in set(self._risks.values()))
        return self._n_grown + self._n_fits_apart + n_counted + n_regressions + n_models

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        risks = self._risks_about(self.table.target, is_marginal=self._grows_only)[0]
        return self._test.smallest_pvalue(len(risks.problem.splits))

    def notes(self) -> list[str]:
        """Return how the models of this table's target are fitted, and why, and how they see categories."""
        about_target = {
            risks
            for n_others in ((0,) if self._grows_only else (0, 1))
            for risks in self._risks_of(self.table.target, self._panel_of(n_others))
        }
        notes = sorted({risks.note for risks in about_target})
        if self._device.note:
            notes.append(self._device.note)
        if self.models:
            notes.insert(
                0, f"a panel of models: {', '.join(self.models)}; p-values combined by Cauchy's method"
            )
        if self._uses_products:
            functions = (
                "functions of the column" if self._has_members else "what the models predict from the column"
            )
            notes.append(f"given other columns: products of the residuals of the target and of {functions}")
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

    def _answers(self, xs: Sequence[int], target: int, given: frozenset[int]) -> Iterator[IndependenceResult]:
        for are_members, run in _runs(xs, given):
            panel = self._panel_of(len(given) - are_members)
            if self._is_by_products(len(given) - are_members):
                for source in self._sources_of(target).values() if are_members else ():
                    source.expected_removals = run
                # A search may stop at any answer about a member; about other columns, hardly any search does.
                for batch in growing_batches(run, *self._batch_sizes(are_members=are_members)):
                    yield from self._judge(batch, target, given)
                continue
            sources = self._risks_of(target, panel)
            for source in sources if are_members else ():
                source.expected_removals, source.last_removal = run, self._last_removal
            first, most = map(min, zip(*(source.batch_sizes(are_members) for source in sources), strict=True))
            if are_members and len(given) > 1 and not self._is_trivial(run[0], given):
                next_few = run[:most]
                first = max(first, min(source.n_until_used(next_few, given) for source in sources))
            for batch in growing_batches(run, first, most):
                yield from self._judge(batch, target, given)

    def _batch_sizes(self, *, are_members: bool) -> tuple[int, int]:
        """Return how many questions are answered by products of residuals at once, at first and at most."""
        if are_members:
            return 1, _MOST_AT_ONCE
        is_short = self.table.n_rows <= MOST_ROWS_FORKED
        return (_OF_SHORT_TABLES, _OF_SHORT_TABLES) if is_short else (_OTHERS_AT_ONCE, _MOST_AT_ONCE)

    def _marginal_blocks(
        self, xs: NDArray[np.intp], target: int
    ) -> Iterator[tuple[NDArray[np.intp], Answers]]:
        for is_single, some in self._by_width(xs):
            if not is_single:
                judged_one_by_one = list(self._judge(some.tolist(), target, frozenset()))
                yield some, Answers.of(judged_one_by_one, len(self.models))
                continue
            growth = self._growth(target)
            for block, grown in grow_blocks(growth, self.table, some, self._n_jobs, self._on_error):
                self._n_grown += grown.n_fits
                self.failures.update({int(block[place]): what for place, what in grown.failures.items()})
                yield block, grown.answers

    def _by_width(self, xs: NDArray[np.intp]) -> Iterator[tuple[bool, NDArray[np.intp]]]:
        """Cut variables into runs of single columns and runs of groups of columns."""
        if self.table.has_single_columns_only:  # Checking each of a million would take long.
            if xs.size:
                yield True, xs
            return
        for is_single, run in groupby(xs.tolist(), self.table.is_single):
            yield is_single, np.array(list(run), dtype=np.intp)

    def _growth(self, target: int) -> Growth:
        """Return what answers questions given nothing, prepared once."""
        if target not in self._growths:
            members = self._panel_of(n_others=0)
            sources = self._risks_of(target, members)
            device = self._device if target == self.table.target else self._choose_device(target)
            growers = tuple(device.grower(source) for source in sources)
            self._growths[target] = Growth(self._test, growers, members)
        return self._growths[target]

    def _choose_device(self, target: int) -> DeviceChoice:
        """Return where the models of questions given nothing are grown."""
        if self._test.device == "cpu":
            return DeviceChoice(False, "")
        sources = self._risks_about(target, is_marginal=True)
        counts_draws = self._test.counts_draws
        return choose_device(self._test.device, sources, self.table, counts_draws=counts_draws)

    def exact_tail(self, target: int) -> PermutationTail | None:
        """Return what counts small p-values given nothing by refitting rearranged columns, or None."""
        wanted = self._test.exact_tail
        growth = self._growth(target)
        # Randomization is a count already, and its equal p-values would all count as extreme.
        is_counted = self.table.n_rows <= MOST_ROWS_COUNTED and self._test.significance != "randomisation"
        # Exchanged blocks are not like neighbors where they meet: with few long blocks counts are too small.
        is_counted &= self.table.time is None
        quick = growth.quick_part() if is_counted else None
        if not wanted or (wanted == "auto" and quick is None):
            return None
        if target not in self._tails:
            exchange = Exchange(self.table.n_rows, self.table.groups)
            problem = self._risks_about(target, is_marginal=True)[0].problem
            self._tails[target] = PermutationTail(
                quick or growth,
                self.table,
                outputs_of(problem),
                exchange,
                self._problems.entropy,
                self._problems.fold,
                self._n_jobs,
                target,
                self.known.counts,
                self._remember_count,
                contrasts_of(problem) if self.table.groups is None else (),
            )
        return self._tails[target]

    def _judge(self, xs: Sequence[int], target: int, given: Set[int]) -> Iterator[IndependenceResult]:
        """Answer about columns that are either all in `given` or all outside it."""
        open_questions = [x for x in xs if not self._is_trivial(x, given)]
        answered = dict(zip(open_questions, self._assess_or_drop(open_questions, target, given), strict=True))
        for x in xs:
            yield answered.get(x, INDEPENDENT)

    def _is_trivial(self, x: int, given: Set[int]) -> bool:
        """Return whether x adds nothing to `given` by definition: it is constant, or a copy of a given column."""
        is_constant = x != self.table.target and bool(self.table.constant_mask[x])
        return is_constant or (bool(given) and self.table.order.has_twin(x, given))

    def _assess_or_drop(
        self, xs: Sequence[int], target: int, given: Set[int]
    ) -> Iterable[IndependenceResult]:
        """Answer; with on_error="drop", leave out columns outside `given` that the models fail on."""
        if self._on_error == "raise" or not xs or xs[0] in given:
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
        n_others = len(given) - (xs[0] in given)
        if not n_others and self.table.is_single(xs[0]):
            grown = self._growth(target)(self.table.block(xs))
            self._n_grown += grown.n_fits
            return grown.answers
        if self._is_by_products(n_others):
            return self._products_of(target).answers(xs, given)
        names = self.table.names_of(xs)
        answers = []
        members = self._panel_of(n_others)
        for source in self._risks_of(target, members):
            risks = source.of_members(xs, given) if xs[0] in given else source.of_added(xs, given)
            answer = judged(self._test, source.problem, risks, names)
            # Other columns are drawn given x, whether a model uses it or not.
            answer.is_inert[:] &= self._test.knockoff == "permutation"
            answers.append(answer)
        return members.joined(answers)

    def _is_by_products(self, n_others: int) -> bool:
        """Return whether questions given `n_others` features are answered by products of residuals."""
        return n_others > 0 and self._uses_products

    def _products_of(self, target: int) -> ResidualProducts:
        """Return what answers questions about this target given other features."""
        if target not in self._products:
            self._drop_old_targets(keep=target)
            response_given = self.table.response_given if target == self.table.target else None
            key = len(self.models), self._problems.entropy, self._problems.fold
            further = response_given, int(effective_n_jobs(self._n_jobs))
            sources = self._sources_of(target)
            self._products[target] = (
                ModelProducts(self.table, sources, *key, *further)
                if sources
                else ResidualProducts(
                    self.table,
                    self._problems.of(target, self._models[0]),
                    self._default_members,
                    *key,
                    *further,
                )
            )
        return self._products[target]

    @property
    def _default_members(self) -> dict[int, int]:
        """The models of the default panel, by their number in it."""
        return {
            model.number: number
            for number in self._own
            if isinstance(model := self._models[number], DefaultMember)
        }

    def _sources_of(self, target: int) -> dict[int, RiskSource]:
        """Return the caller's models that answer questions given other features."""
        if self._has_members:
            return {}
        members = self._panel_of(n_others=1)
        return dict(zip(members.numbers, self._risks_of(target, members), strict=True))

    def _panel_of(self, n_others: int) -> PanelMembers:
        """Return which models answer about a feature given `n_others` features."""
        numbers = self._own if n_others else self._marginal
        models = self._models
        answering = [
            number
            for number in numbers
            if not isinstance(model := models[number], DefaultMember) or model.is_asked_given(n_others)
        ]
        return PanelMembers.of(models, answering, len(self.models))

    def _risks_about(self, target: int, is_marginal: bool) -> list[RiskSource]:
        """Return the sources of risks for questions about this target given nothing, or given another feature."""
        return self._risks_of(target, self._panel_of(0 if is_marginal else 1))

    def _risks_of(self, target: int, members: PanelMembers) -> list[RiskSource]:
        """Return the sources of risks of some models for this target."""
        for number in members.numbers:
            if (target, number) not in self._risks:
                self._drop_old_targets(keep=target)
                problem = self._problems.of(target, self._models[number])
                table = table_for_float32(self.table, problem.estimator)
                self._risks[target, number] = risk_source(table, problem, self._n_jobs)
        return [self._risks[target, number] for number in members.numbers]

    def _drop_old_targets(self, keep: int) -> None:
        """Drop the models of all but the last few variables that a search used as targets.

        MMMB and HITON-MB ask about many, one after the other, and fitted models take memory. Their answers stay.
        """
        targets = (*(target for target, _ in self._risks), *self._products)
        others = list(dict.fromkeys(t for t in targets if t not in (keep, self.table.target)))
        for target in others[: max(0, len(others) + 1 - _MAX_OTHER_TARGETS)]:
            for key in [key for key in self._risks if key[0] == target]:
                self._n_grown += self._risks.pop(key).n_fits
            self._growths.pop(target, None)
            self._problems.forget(target)
            self._n_grown += self._products.pop(target).n_fits if target in self._products else 0


def _runs(xs: Sequence[int], members: frozenset[int]) -> Iterator[tuple[bool, Sequence[int]]]:
    """Cut `xs` into runs that are either all in `members` or all outside it."""
    if members.issuperset(xs) or members.isdisjoint(xs):
        yield xs[0] in members, xs
        return
    for are_members, run in groupby(xs, key=members.__contains__):
        yield are_members, list(run)
