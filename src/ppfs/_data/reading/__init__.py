"""Reading of the arguments of ``fit`` into a `Table`."""

from ppfs._data.reading.ambiguous_target import BY_ESTIMATOR, BY_TASK, warn_if_ambiguous
from ppfs._data.reading.columns import column_names
from ppfs._data.reading.device_arrays import is_on_device
from ppfs._data.reading.files import available_memory, target_of_file
from ppfs._data.reading.finite import require_finite
from ppfs._data.reading.fit_data import FitData
from ppfs._data.reading.kinds import CATEGORICAL_FEATURES_CONSTRAINT, CategoricalFeatures
from ppfs._data.reading.lags import Lags, lagged, with_lags
from ppfs._data.reading.new_rows import NewRows
from ppfs._data.reading.read import read_table
from ppfs._data.reading.readable import readable, require_one_type_of_names
from ppfs._data.reading.rows import only_rows, weights_among
from ppfs._data.reading.target import (
    in_order,
    read_target,
    read_typed,
    require_repeated_labels,
    require_two_classes,
)
from ppfs._data.reading.time import warn_if_neighbors_are_alike
