"""Every parameter of PPFS as a flag. A flag that is not given has the default of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from ppfs.cli._json import JSON
from ppfs.cli.flags.sections import flag, gathered

#: Flags whose name is not that of the parameter.
SHORT_NAMES = {
    "n_splits": "--splits",
    "n_folds": "--folds",
    "n_draws": "--draws",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "always_keep": "--keep",
    "categorical_features": "--categorical",
    "feature_groups": "--feature-group",
    "independence": "--test",
}

#: The values of --task.
TASK_CHOICES = ["auto", "classification", "regression", "count", "positive", "ordinal", "survival"]

#: Searches, by the names of the command line.
METHODS = {
    "ppfs": "ppfs.blanket:PPFS",
    "grow-shrink": "ppfs.blanket:GrowShrink",
    "iamb": "ppfs.blanket:IAMB",
    "inter-iamb": "ppfs.blanket:InterIAMB",
    "fast-iamb": "ppfs.blanket:FastIAMB",
    "iamb-npc": "ppfs.blanket:IAMBnPC",
    "inter-iamb-npc": "ppfs.blanket:InterIAMBnPC",
    "iamb-fdr": "ppfs.blanket:IAMBFDR",
    "fbed": "ppfs.blanket:FBED",
    "mmmb": "ppfs.blanket:MMMB",
    "hiton-mb": "ppfs.blanket:HITONMB",
    "ppfs-cv": "ppfs.blanket:PPFSCV",
    "stability": "ppfs.blanket:StabilitySelection",
    "tie-star": "ppfs.blanket:TIEStar",
    "sgai": "ppfs.blanket:SGAI",
    "mixed-mb": "ppfs.blanket:MixedMB",
    "stepwise": "ppfs.wrappers:Stepwise",
    "subset-search": "ppfs.wrappers:SubsetSearch",
    "permutation-importance": "ppfs.wrappers:PermutationImportance",
}

#: Tests, by the names of the command line and of the library.
TESTS = {
    "calibrated": "cross-fit-ppi",
    "paper": "ppi",
    "auto": "auto",
    "g2": "g2",
    "chi2": "chi2",
    "fisher-z": "fisher-z",
    "partial-t": "partial-t",
    "likelihood-ratio": "likelihood-ratio",
}

NAMED_MODELS = ("tree", "forest", "boosting", "linear", "svm", "panel", "lightgbm", "xgboost")


def flag_of(parameter: str) -> str:
    """Return the flag of a parameter.

    Examples
    --------
    >>> flag_of("n_splits"), flag_of("test_size")
    ('--splits', '--test-size')
    """
    return SHORT_NAMES.get(parameter, "--" + parameter.replace("_", "-"))


@dataclass(frozen=True)
class SearchRequest:
    """What the flags say about the search; None where a flag was not given.

    The fields are the parameters of PPFS, except these.

    Attributes
    ----------
    method : str
        A key of `METHODS`.

    method_params : dict or None
        Parameters that only some searches have.

    test : str or None
        A key of `TESTS`.

    estimator_params : dict or None
        Parameters of the estimator.

    keep, condition_on, categorical : tuple of str
        Columns, as the user wrote them.

    feature_group : tuple of str
        "name=column,column" each.
    """

    method: str
    method_params: dict[str, Any] | None
    test: str | None
    estimator: tuple[str, ...]
    estimator_params: dict[str, Any] | None
    growth_estimator: str | None
    alpha: float | None
    correction: str | None
    interactions: str | None
    growth: str | None
    second_look: bool | None
    confirm: float | None
    task: str | None
    n_folds: int | None
    min_features: int | None
    n_splits: int | None
    test_size: float | None
    stratify: str | None
    knockoff: str | None
    significance: str | None
    n_draws: int | None
    conditional: str | None
    loss: str | None
    class_weight: str | None
    impute: str | None
    splitter: str | None
    keep: tuple[str, ...]
    condition_on: tuple[str, ...]
    categorical: tuple[str, ...]
    feature_group: tuple[str, ...]
    random_state: int
    n_jobs: int | None
    device: str | None
    on_error: str | None
    memory_limit: int | None
    checkpoint: str | None
    cluster: str | None
    quiet: bool


def number_of_jobs(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
    """Refuse 0 workers."""
    if value == 0:
        raise click.UsageError(
            "--jobs 0 is not a number of workers: write 1 for one worker, or -1 for all cores."
        )
    return value


_SEARCH, _TEST, _COLUMNS, _RUN = "Search", "Test and model", "Columns", "Running"
_MODEL = ", ".join(NAMED_MODELS) + " or module:Class"

seed_flag = flag(
    _RUN,
    "--seed",
    "--random-state",
    "random_state",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of all random draws.",
)
jobs_flag = flag(
    _RUN,
    "--jobs",
    "--n-jobs",
    "n_jobs",
    type=int,
    callback=number_of_jobs,
    help="Parallel workers; -1 for all cores.  [default: 1]",
)

_FLAGS = [
    flag(
        _SEARCH,
        "--method",
        type=click.Choice(list(METHODS)),
        default="ppfs",
        metavar="NAME",
        help=f"The search: {', '.join(METHODS)}.",
        show_default=True,
    ),
    flag(_SEARCH, "--method-params", type=JSON, help="Parameters that only this search has, as JSON."),
    flag(_SEARCH, "--alpha", type=float, help="Level of each test.  [default: 0.05]"),
    flag(
        _SEARCH,
        "--correction",
        type=click.Choice(["bh", "by", "bonferroni", "none"]),
        help="Correction of the growth phase for multiple testing.  [default: bh; none with --test paper]",
    ),
    flag(
        _SEARCH,
        "--interactions",
        type=click.Choice(["pairs"]),
        help="Also search for columns that help only together with another one.",
    ),
    flag(
        _SEARCH,
        "--growth",
        type=click.Choice(["marginal", "joint", "both", "auto"]),
        help="Test columns on their own, given all others, or both; auto: both in small tables.  "
        "[default: auto; marginal with --test paper]",
    ),
    flag(
        _SEARCH,
        "--second-look/--no-second-look",
        default=None,
        help="Test rejected columns again, given the selected ones.  [default: yes; no with --test paper]",
    ),
    flag(
        _SEARCH,
        "--confirm",
        type=float,
        metavar="SHARE",
        help="Hold out a share of the rows, such as 0.3, and test the selected columns on them.",
    ),
    flag(
        _SEARCH,
        "--folds",
        "--n-folds",
        "n_folds",
        type=int,
        help="Search in each of K folds and select the blanket that agrees best with the others: the paper's K.  "
        "[default: 0]",
    ),
    flag(_SEARCH, "--min-features", type=int, help="Select at least this many columns.  [default: 0]"),
    flag(
        _TEST,
        "--test",
        "--independence",
        "test",
        type=click.Choice(list(TESTS)),
        metavar="NAME",
        help=f"The independence test: {', '.join(TESTS)}. 'calibrated' is made to keep the "
        "level --alpha; 'paper' is the paper's test, which is more liberal.  "
        "[default: calibrated for --method ppfs, auto for the others]",
    ),
    flag(
        _TEST,
        "--estimator",
        "--model",
        multiple=True,
        metavar="MODEL",
        help=f"The model: {_MODEL}. Repeat the flag to combine models; 'panel' is a recommended combination.",
    ),
    flag(
        _TEST,
        "--estimator-params",
        type=JSON,
        help="Its parameters as JSON, such as '{\"C\": 1}'. Other flags take them after the model: "
        "'forest{\"max_depth\": 5}'.",
    ),
    flag(_TEST, "--growth-estimator", metavar="MODEL", help="Another model for the growth phase."),
    flag(
        _TEST,
        "--task",
        type=click.Choice(TASK_CHOICES),
        help="Kind of target; survival needs --event.  [default: auto]",
    ),
    flag(_TEST, "--loss", metavar="NAME", help="Loss function.  [default: auto]"),
    flag(_TEST, "--class-weight", metavar="balanced|JSON", help="Weights of the rows by class."),
    flag(_TEST, "--impute", type=click.Choice(["median"]), help="Impute missing values of numeric columns."),
    flag(
        _TEST,
        "--draws",
        "--n-draws",
        "n_draws",
        type=int,
        help="How often a column is replaced in the test rows.  [default: 10; 1 with --test paper]",
    ),
    flag(_TEST, "--conditional", metavar="MODEL", help="The model of a column given others."),
    flag(
        _TEST,
        "--splitter",
        metavar="module:Class",
        help="How rows are split, such as 'sklearn.model_selection:TimeSeriesSplit{\"n_splits\": 5}'.",
    ),
    flag(
        _TEST,
        "--stratify",
        type=click.Choice(["auto", "yes", "no"]),
        help="Stratify splits by class.  [default: auto]",
    ),
    flag(
        _TEST,
        "--splits",
        "--n-splits",
        "n_splits",
        type=int,
        help="Train/test splits per question, with --test paper: the paper's B.  [default: 30]",
    ),
    flag(
        _TEST,
        "--test-size",
        type=float,
        help="Share of the rows in the test part, with --test paper.  [default: 0.2]",
    ),
    flag(
        _TEST,
        "--knockoff",
        type=click.Choice(["permutation", "conditional"]),
        help="What replaces a column, with --test paper.  [default: permutation]",
    ),
    flag(
        _TEST,
        "--significance",
        type=click.Choice(["wilcoxon", "paired-t", "corrected-t"]),
        help="The test over the splits, with --test paper.  [default: wilcoxon]",
    ),
    flag(
        _COLUMNS,
        "--keep",
        "--always-keep",
        "keep",
        multiple=True,
        metavar="COLUMNS",
        help="Columns that are always selected.",
    ),
    flag(
        _COLUMNS,
        "--condition-on",
        multiple=True,
        metavar="COLUMNS",
        help="Columns to condition every question on; they are never selected.",
    ),
    flag(
        _COLUMNS,
        "--categorical",
        "--categorical-features",
        "categorical",
        multiple=True,
        metavar="COLUMNS",
        help="Numeric columns that hold codes of categories.",
    ),
    flag(
        _COLUMNS,
        "--feature-group",
        "--feature-groups",
        "feature_group",
        multiple=True,
        metavar="NAME=COLUMNS",
        help="Columns that form one feature.",
    ),
    seed_flag,
    jobs_flag,
    flag(
        _RUN,
        "--device",
        type=click.Choice(["cpu", "cuda", "auto"]),
        help="Where the growth phase runs; 'cuda' is an NVIDIA GPU and needs CuPy.  [default: cpu]",
    ),
    flag(
        _RUN,
        "--on-error",
        type=click.Choice(["raise", "drop"]),
        help="What to do with a column on which the model fails.  [default: raise]",
    ),
    flag(_RUN, "--memory-limit", type=int, metavar="BYTES", help="Memory for columns, with --stream."),
    flag(
        _RUN,
        "--checkpoint",
        metavar="FOLDER",
        help="Save answers there; ppfs resume continues an interrupted run from them.",
    ),
    flag(
        _RUN,
        "--cluster",
        metavar="ADDRESS",
        help="Run on a cluster: tcp://scheduler:8786 for Dask, ray://head:10001 or ray for Ray.",
    ),
    flag(
        _RUN, "--quiet", "--no-progress", "-q", "quiet", is_flag=True, help="Show no progress and no notes."
    ),
]

search_flags = gathered("search", SearchRequest, _FLAGS)
