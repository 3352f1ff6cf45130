"""From what the caller passed to ``fit`` to a `Table`, or to an error that helps."""

from ppfs._reading._ambiguous_target import BY_ESTIMATOR, BY_TASK, warn_if_ambiguous
from ppfs._reading._columns import column_names
from ppfs._reading._files import available_memory
from ppfs._reading._finite import require_finite
from ppfs._reading._kinds import CATEGORICAL_FEATURES_CONSTRAINT, CategoricalFeatures
from ppfs._reading._new_rows import NewRows
from ppfs._reading._read import read_table
from ppfs._reading._rows import only_rows, weights_among
from ppfs._reading._target import read_target, require_two_classes

__all__ = [
    "BY_ESTIMATOR",
    "BY_TASK",
    "CATEGORICAL_FEATURES_CONSTRAINT",
    "CategoricalFeatures",
    "NewRows",
    "available_memory",
    "column_names",
    "only_rows",
    "read_table",
    "read_target",
    "require_finite",
    "require_two_classes",
    "warn_if_ambiguous",
    "weights_among",
]
