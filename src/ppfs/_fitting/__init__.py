"""The input of models and their fits: estimators and seeds, designs, encodings."""

from ppfs._fitting.boosting_libraries import (
    FittedLightGBM,
    LightGBMRecipe,
    has_library_model,
    is_plain_lightgbm,
    with_one_thread,
)
from ppfs._fitting.bootstrap import drawn_counts, tree_seeds
from ppfs._fitting.column_transformers import reads_frames
from ppfs._fitting.design import Design, dense, stacked, with_replaced
from ppfs._fitting.encoders import MAX_DUMMIES, Medians, ToFrame, dummy_places, standard
from ppfs._fitting.encoding import (
    Encoded,
    Impute,
    encoding_name,
    frame_for,
    prepared,
    prepared_for,
    require_suits,
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
    is_sharp,
    reads_float32,
    table_for_float32,
    target_for_float32,
    warn_of_lost_precision,
)
from ppfs._fitting.label_probabilities import LabelProbabilities, called, for_labels
from ppfs._fitting.panel_members import (
    DEFAULT_PANEL,
    PanelParameters,
    accepted_input,
    members_of,
    names_of,
    task_of_members,
    usable_members,
)
from ppfs._fitting.parameters import KnownParameters, changed_parameters, default_parameters
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
