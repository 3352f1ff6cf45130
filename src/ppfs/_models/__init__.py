"""What a model sees and how it is fitted: estimators and their seeds, designs, encodings."""

from ppfs._models.boosting_libraries import (
    FittedLightGBM,
    LightGBMRecipe,
    has_library_model,
    is_plain_lightgbm,
    with_one_thread,
)
from ppfs._models.bootstrap import drawn_counts, tree_seeds
from ppfs._models.design import Design, dense, stacked, with_replaced
from ppfs._models.encoders import Medians, ToFrame
from ppfs._models.encoding import (
    Encoded,
    Impute,
    encoding_name,
    frame_for,
    prepared,
    prepared_for,
    weight_arguments,
)
from ppfs._models.estimators import (
    DefaultMember,
    estimator_for,
    input_tags,
    require_valid_parameters,
    task_of_estimator,
)
from ppfs._models.panel import (
    DEFAULT_PANEL,
    PanelParameters,
    accepted_input,
    members_of,
    names_of,
    task_of_members,
    usable_members,
)
from ppfs._models.parameters import KnownParameters, changed_parameters
from ppfs._models.reach import (
    block_in_reach,
    is_equivariant,
    reads_32_bits,
    table_in_reach,
    target_in_reach,
    warn_of_blur,
)
from ppfs._models.seeding import fitted_clone, seeded

__all__ = [
    "DEFAULT_PANEL",
    "DefaultMember",
    "Design",
    "Encoded",
    "FittedLightGBM",
    "Impute",
    "KnownParameters",
    "LightGBMRecipe",
    "Medians",
    "PanelParameters",
    "ToFrame",
    "accepted_input",
    "block_in_reach",
    "changed_parameters",
    "dense",
    "drawn_counts",
    "encoding_name",
    "estimator_for",
    "fitted_clone",
    "frame_for",
    "has_library_model",
    "input_tags",
    "is_equivariant",
    "is_plain_lightgbm",
    "members_of",
    "names_of",
    "prepared",
    "prepared_for",
    "reads_32_bits",
    "require_valid_parameters",
    "seeded",
    "stacked",
    "table_in_reach",
    "target_in_reach",
    "task_of_estimator",
    "task_of_members",
    "tree_seeds",
    "usable_members",
    "warn_of_blur",
    "weight_arguments",
    "with_one_thread",
    "with_replaced",
]
