"""From paired risks to p-values, for many questions at once.

Every test here is one-sided: large differences (a higher risk with the knockoff) make
small p-values. Rows are questions, columns are splits or tested rows.
"""

from ppfs.independence._predictive.significance.by_name import SIGNIFICANCES
from ppfs.independence._predictive.significance.combination import cauchy_combination
from ppfs.independence._predictive.significance.cross_fitted import (
    randomisation,
    seen_by_each_other,
    seen_in_moments,
)
from ppfs.independence._predictive.significance.differences import risk_differences
from ppfs.independence._predictive.significance.signed_rank import MAX_EXACT_TIED, tails_of
from ppfs.independence._predictive.significance.t_tests import effective_freedom, moments_of
