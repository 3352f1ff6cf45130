"""Division and weights of rows: folds, splits, splitters of scikit-learn, weights."""

from ppfs._rows.exchange import Exchange, draw_seed
from ppfs._rows.folds import divide_into_folds, every_class_has, folds_of
from ppfs._rows.halves import complementary_halves
from ppfs._rows.splits import (
    Split,
    Stratify,
    draw_folds,
    draw_splits,
    folds_to_stratify,
    is_stratifiable,
    labels_to_stratify,
    require_enough_groups,
    require_enough_rows,
)
from ppfs._rows.splitter import refuse_single_use, require_disjoint_tests, splits_of
from ppfs._rows.weights import ClassWeight, RowWeights, require_known_labels, weights_by_class
