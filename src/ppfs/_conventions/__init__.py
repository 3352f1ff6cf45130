"""What every layer relies on: array types, random streams, progress, messages, scikit-learn's private names."""

from ppfs._conventions.messages import warn_caller
from ppfs._conventions.progress import Progress, ProgressBar
from ppfs._conventions.random import RandomStateLike, integer_seed, root_entropy, stream
from ppfs._conventions.sklearn_compat import (
    N_JOBS_RULE,
    HasMethods,
    Interval,
    IsModel,
    Options,
    StrOptions,
    are_bins_weighted,
    bagged_rows,
    bags_draw_by_weight,
    bootstrapped_rows,
    can_predict,
    check_sample_weight,
    draw_by_weight,
    gamma_of,
    method_of_bins,
    n_rows_of,
    output_config,
    refuse_wrong_parameters,
    scales_in_input_type,
    take_rows,
)
from ppfs._conventions.types import Floats

__all__ = [
    "N_JOBS_RULE",
    "Floats",
    "HasMethods",
    "Interval",
    "IsModel",
    "Options",
    "Progress",
    "ProgressBar",
    "RandomStateLike",
    "StrOptions",
    "are_bins_weighted",
    "bagged_rows",
    "bags_draw_by_weight",
    "bootstrapped_rows",
    "can_predict",
    "check_sample_weight",
    "draw_by_weight",
    "gamma_of",
    "integer_seed",
    "method_of_bins",
    "n_rows_of",
    "output_config",
    "refuse_wrong_parameters",
    "root_entropy",
    "scales_in_input_type",
    "stream",
    "take_rows",
    "warn_caller",
]
