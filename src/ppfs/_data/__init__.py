"""The data: tables, kinds of columns, the task, reading, sources and column checks."""

from ppfs._data.block import AnyBlock, Block, Matrix, dense_column
from ppfs._data.callers_columns import CallersColumns
from ppfs._data.column_checks import ColumnWarning, check_columns, summary
from ppfs._data.combinations import number_combinations
from ppfs._data.facts import ColumnFacts, facts_of, is_compact
from ppfs._data.frames import FrameColumns, backend_of, new_frame
from ppfs._data.kinds import as_rows, can_be_levels
from ppfs._data.naming import COLUMNS_RULE, ColumnsLike, column_index
from ppfs._data.reading import (
    BY_ESTIMATOR,
    BY_TASK,
    CATEGORICAL_FEATURES_CONSTRAINT,
    CategoricalFeatures,
    FitData,
    Lags,
    NewRows,
    available_memory,
    column_names,
    in_order,
    is_on_device,
    lagged,
    only_rows,
    read_table,
    read_target,
    read_typed,
    readable,
    require_finite,
    require_one_type_of_names,
    require_repeated_labels,
    require_two_classes,
    target_of_file,
    warn_if_ambiguous,
    warn_if_neighbors_are_alike,
    weights_among,
    with_lags,
)
from ppfs._data.sources import MISSING_TEXTS, TextFormat, convert_text, is_path, number_styles, open_source
from ppfs._data.table import Table
from ppfs._data.target_kinds import KINDS, KindName, TargetKind
from ppfs._data.target_task import TASKS, SaidTask, Task, agreed_task, choose_task
from ppfs._data.time_order import RowsInTime, TimeOrder
from ppfs._data.written_numbers import NumberStyle, is_number
