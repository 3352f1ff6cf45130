"""Selectors that judge columns by a model's score: the baselines that blanket searches are compared with."""

from ppfs.wrappers._permutation_importance import PermutationImportance
from ppfs.wrappers._stepwise import Stepwise

__all__ = ["PermutationImportance", "Stepwise"]
