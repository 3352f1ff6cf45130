"""The input of models and their fits: estimators and seeds, designs, encodings."""

from ppfs._fitting.boosting_libraries import (
    FittedLightGBM,
    LightGBMRecipe,
    has_library_model,
    is_plain_lightgbm,
    with_one_thread,
)
from ppfs._fitting.bootstrap import drawn_counts, tree_seeds
from ppfs._fitting.design import Design, dense, stacked, with_replaced
from ppfs._fitting.encoders import MAX_DUMMIES, Medians, ToFrame, dummy_places, one_hot, standard
from ppfs._fitting.encoding import (
    Encoded,
    Impute,
    encoding_name,
    frame_for,
    prepared,
    prepared_for,
    weight_arguments,
)
from ppfs._fitting.estimators import (
    DefaultMember,
    estimator_for,
    input_tags,
    require_valid_parameters,
    task_of_estimator,
)
from ppfs._fitting.float32_precision import (
    block_for_float32,
    is_equivariant,
    reads_float32,
    table_for_float32,
    target_for_float32,
    warn_of_lost_precision,
)
from ppfs._fitting.panel_members import (
    DEFAULT_PANEL,
    PanelParameters,
    accepted_input,
    members_of,
    names_of,
    task_of_members,
    usable_members,
)
from ppfs._fitting.parameters import KnownParameters, changed_parameters
from ppfs._fitting.scoring import (
    CrossValidated,
    Scorer,
    constant_model,
    fold_score,
    naming_the_model,
    scorer_for,
    seen_by,
    weighted_score,
)
from ppfs._fitting.seeding import fitted_clone, seeded

__all__ = [
    "DEFAULT_PANEL",
    "MAX_DUMMIES",
    "CrossValidated",
    "DefaultMember",
    "Design",
    "Encoded",
    "FittedLightGBM",
    "Impute",
    "KnownParameters",
    "LightGBMRecipe",
    "Medians",
    "PanelParameters",
    "Scorer",
    "ToFrame",
    "accepted_input",
    "block_for_float32",
    "changed_parameters",
    "constant_model",
    "dense",
    "drawn_counts",
    "dummy_places",
    "encoding_name",
    "estimator_for",
    "fitted_clone",
    "fold_score",
    "frame_for",
    "has_library_model",
    "input_tags",
    "is_equivariant",
    "is_plain_lightgbm",
    "members_of",
    "names_of",
    "naming_the_model",
    "one_hot",
    "prepared",
    "prepared_for",
    "reads_float32",
    "require_valid_parameters",
    "scorer_for",
    "seeded",
    "seen_by",
    "stacked",
    "standard",
    "table_for_float32",
    "target_for_float32",
    "task_of_estimator",
    "task_of_members",
    "tree_seeds",
    "usable_members",
    "warn_of_lost_precision",
    "weight_arguments",
    "weighted_score",
    "with_one_thread",
    "with_replaced",
]
