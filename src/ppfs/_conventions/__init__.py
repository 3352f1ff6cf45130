"""Conventions of all layers: array types, random streams, ranks, progress, messages, scikit-learn's private names."""

from ppfs._conventions.deprecation import DEPRECATED, value_of_renamed, warn_of_removal
from ppfs._conventions.limits import as_many_as_fit
from ppfs._conventions.messages import warn_caller
from ppfs._conventions.progress import OutOfTimeError, Phase, Progress, ProgressBar, watched_phases
from ppfs._conventions.random import RandomStateLike, integer_seed, root_entropy, seeded_state, stream
from ppfs._conventions.ranks import mean_ranks
from ppfs._conventions.sklearn_compat import (
    N_JOBS_RULE,
    HasMethods,
    InstanceWith,
    Interval,
    IsModel,
    Options,
    StrOptions,
    are_bins_weighted,
    bagged_rows,
    bags_draw_by_weight,
    bootstrapped_rows,
    can_predict,
    can_repeat_draws,
    check_sample_weight,
    draw_by_weight,
    gamma_of,
    method_of_bins,
    n_rows_of,
    output_config,
    refuse_wrong_parameters,
    scales_in_input_type,
    separates_missing_from_one_value,
    take_rows,
)
from ppfs._conventions.types import Floats
