"""What can be said of a selection as a whole, after the search."""

from ppfs._verdicts.keeping import DataAtHand
from ppfs._verdicts.measuring import Divided, measure_sufficiency
from ppfs._verdicts.repeating import sufficiency_of
from ppfs._verdicts.sufficiency import Sufficiency

__all__ = ["DataAtHand", "Divided", "Sufficiency", "measure_sufficiency", "sufficiency_of"]
