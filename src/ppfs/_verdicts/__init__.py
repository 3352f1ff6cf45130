"""What can be said of a selection as a whole, after the search."""

from ppfs._verdicts.closed_testing import at_least, at_least_among_first
from ppfs._verdicts.detectable import detectable_of, rows_needed
from ppfs._verdicts.keeping import DataAtHand
from ppfs._verdicts.measuring import Divided, measure_sufficiency
from ppfs._verdicts.repeating import sufficiency_of
from ppfs._verdicts.sufficiency import Sufficiency

__all__ = [
    "DataAtHand",
    "Divided",
    "Sufficiency",
    "at_least",
    "at_least_among_first",
    "detectable_of",
    "measure_sufficiency",
    "rows_needed",
    "sufficiency_of",
]
