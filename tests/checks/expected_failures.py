"""Checks of scikit-learn that a selector fails for a reason."""

from ppfs import PPFS
from ppfs.blanket import FBED
from ppfs.wrappers import PermutationImportance, Stepwise

DIVIDES_ROWS = (
    "rows are divided at random: a table with repeated rows is divided in other places than one with weights. "
    "tests/blanket/test_real_tables.py compares weights and repeated rows with the same division."
)
REFUSES_WEIGHTS = "the classical tests take no weights but 0 and 1, and say so"


def expected_failures(selector):
    """Return the names of the checks with the reasons."""
    equivalence = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    is_predictive = isinstance(selector, PPFS | PermutationImportance | Stepwise) or (
        isinstance(selector, FBED) and selector.independence != "auto"
    )
    if is_predictive:
        return dict.fromkeys(equivalence, DIVIDES_ROWS)
    return dict.fromkeys((*equivalence, "check_sample_weights_not_overwritten"), REFUSES_WEIGHTS)
