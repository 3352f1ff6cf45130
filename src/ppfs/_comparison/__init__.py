"""Several ways to select columns, scored on rows that none of them has seen."""

from ppfs._comparison.comparing import compare
from ppfs._comparison.methods import METHODS
from ppfs._comparison.result import Comparison, MethodScores

__all__ = ["METHODS", "Comparison", "MethodScores", "compare"]
