"""Selectors that judge columns by a model's score: the baselines that blanket searches are compared with."""

from ppfs.wrappers._permutation_importance import PermutationImportance
from ppfs.wrappers._stepwise import Stepwise
from ppfs.wrappers._subset_search import SubsetSearch

__all__ = ["PermutationImportance", "Stepwise", "SubsetSearch"]
