"""Several ways to select columns, scored on rows that were not used to select."""

from ppfs._comparison.comparing import compare
from ppfs._comparison.methods import METHODS, selects_for_a_model
from ppfs._comparison.result import Comparison, MethodScores
