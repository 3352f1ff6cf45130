"""Risks of decision trees from the engine: the same answers as scikit-learn's trees, much sooner."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._table import Table
from ppfs.independence._knockoffs import permuted
from ppfs.independence._model_risks import Floats, PairedRisks, Problem

if TYPE_CHECKING:
    from ppfs._engine import Forest, SortedColumns, TreeRules

# The parameters of scikit-learn's trees that the engine does not know, and the only value they may have.
_UNKNOWN_TO_ENGINE: dict[str, Any] = {
    "splitter": "best",
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "class_weight": None,
    "ccp_alpha": 0.0,
    "monotonic_cst": None,
}
_KNOWN_TO_ENGINE = ("criterion", "max_depth", "min_samples_leaf", "min_samples_split")
_CRITERIA = {
    DecisionTreeClassifier: {"gini", "entropy", "log_loss"},
    DecisionTreeRegressor: {"squared_error"},
}
_LOSSES = {"log-loss", "brier", "zero-one", "squared", "absolute"}

# Columns are sorted and assessed in blocks of about this many stored entries, which bounds the memory.
_ENTRIES_PER_BLOCK = 2**18


def why_not_engine(problem: Problem, table: Table) -> str | None:
    """Return None if the engine can answer for this estimator and these data, else the reason why not."""
    estimator = problem.estimator
    if type(estimator) not in _CRITERIA:
        return "the engine knows decision trees only"
    parameters = estimator.get_params(deep=False)
    for name, only in _UNKNOWN_TO_ENGINE.items():
        if name in parameters and parameters[name] != only:
            return f"the engine does not know {name}={parameters[name]!r}"
    if parameters["criterion"] not in _CRITERIA[type(estimator)]:
        return f"the engine does not know criterion={parameters['criterion']!r}"
    if problem.loss.name not in _LOSSES:
        return f"the engine does not know the loss {problem.loss.name!r}"
    if problem.knockoff is not permuted:
        return "the engine knows the permutation knockoff only"
    from ppfs._engine import fits_float32

    if not fits_float32(table.X.data if table.is_sparse else table.X):
        return "the columns have missing values or numbers too large for 32 bits"
    return None


class TreeRisks:
    """Answers "what is the risk with x, and with its knockoff?" from the engine's trees.

    Columns are shown to the trees in the order of their content (see `Table.canonical`), which decides ties,
    so removing a column that a tree does not use leaves that tree as it is.

    Attributes
    ----------
    n_fits : int
        Trees grown so far.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None) -> None:
        from ppfs._engine import Splits

        self.problem = problem
        self.n_fits = 0
        self.note = f"{type(problem.estimator).__name__} is grown by the engine"
        self._table = table
        self._n_threads = effective_n_jobs(n_jobs)
        self._rules = _rules_of(problem)
        self._splits = Splits.from_sequences(
            [split.train for split in problem.splits],
            [split.test for split in problem.splits],
            [split.permutation for split in problem.splits],
        )
        self._members: Set[int] = frozenset()
        self._position: dict[int, int] = {}
        self._forest: Forest | None = None

    def batch_sizes(self, are_members: bool, is_marginal: bool) -> tuple[int, int]:
        """Return how many questions to answer at once, at first and at most."""
        if are_members or not is_marginal:
            return 1, 64
        table = self._table
        entries_per_column = 1 + table.X.nnz // table.n_features if table.is_sparse else table.n_rows
        block = max(1, _ENTRIES_PER_BLOCK // entries_per_column)
        return block, block

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one column set.

        After a removal only the trees that split on the removed column are grown again.
        """
        forest = self._forest_of(members)
        positions = [self._position[x] for x in xs]
        replaced = forest.permuted_risk(positions)
        base = np.broadcast_to(forest.base_risk, replaced.shape)
        return PairedRisks(base, replaced, np.logical_not(forest.used[:, positions].any(axis=0)))

    def of_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        """Return the risks of questions about columns outside `given`."""
        if given:
            answers = [self.of_members([x], given | {x}) for x in xs]
            base = np.concatenate([risks.base for risks in answers])
            replaced = np.concatenate([risks.replaced for risks in answers])
        else:
            base, replaced = self._of_single_columns(xs)
        return PairedRisks(base, replaced, np.zeros(len(xs), dtype=bool))

    def _of_single_columns(self, xs: Sequence[int]) -> tuple[Floats, Floats]:
        from ppfs._engine import single_column_risks

        self.n_fits += len(xs) * len(self.problem.splits)
        return single_column_risks(
            self._columns(xs),
            self.problem.truth,
            self.problem.classes.size,
            self._splits,
            self._rules,
            self._n_threads,
        )

    def _forest_of(self, members: Set[int]) -> Forest:
        forest = self._forest
        gone = self._members - members
        if forest is None or len(members) + len(gone) != len(self._members):
            forest = self._grow(members)
        else:
            # Columns that no tree uses go first: they cost nothing, and no new tree can then pick them.
            n_users = forest.used.sum(axis=0).tolist()
            for position in sorted((self._position[column] for column in gone), key=n_users.__getitem__):
                forest, n_refits = forest.without(position)
                self.n_fits += n_refits
        self._forest = forest
        self._members = members
        return forest

    def _grow(self, members: Set[int]) -> Forest:
        from ppfs._engine import grow_forest

        ordered = self._table.canonical(members)
        self._position = {column: i for i, column in enumerate(ordered)}
        self.n_fits += len(self.problem.splits)
        return grow_forest(
            self._columns(ordered),
            self.problem.truth,
            self.problem.classes.size,
            self._splits,
            self._rules,
            self._n_threads,
        )

    def _columns(self, columns: Sequence[int]) -> SortedColumns:
        from ppfs._engine import SortedColumns

        block = self._table.take(columns)
        return SortedColumns.from_sparse(block) if sp.issparse(block) else SortedColumns.from_dense(block)


def _rules_of(problem: Problem) -> TreeRules:
    from ppfs._engine import TreeRules

    parameters = problem.estimator.get_params(deep=False)
    return TreeRules(**{name: parameters[name] for name in _KNOWN_TO_ENGINE}, loss=problem.loss.name)
