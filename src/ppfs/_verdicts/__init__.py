"""Conclusions about a selection as a whole, after the search."""

from ppfs._verdicts.by_output import Blankets, blankets_of
from ppfs._verdicts.closed_testing import at_least, at_least_among_first
from ppfs._verdicts.detectable import detectable_of, rows_needed
from ppfs._verdicts.keeping import DataAtHand
from ppfs._verdicts.measuring import Divided, measure_sufficiency
from ppfs._verdicts.new_rows import (
    Watched,
    given_with_rows,
    require_alike,
    require_squares,
    stacked_rows,
    update_with,
)
from ppfs._verdicts.repeating import SupportsOfParts, sufficiency_of
from ppfs._verdicts.roles import CLEARLY, Role, roles_of
from ppfs._verdicts.sufficiency import Sufficiency
from ppfs._verdicts.updating import Update, Watch, after_batch, begin, read_off
