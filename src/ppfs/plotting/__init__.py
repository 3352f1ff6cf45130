"""Plots of a selection, as Display classes in scikit-learn's style: ``SomeDisplay.from_estimator(selector)``."""

from ppfs.plotting._at_least import AtLeastDisplay
from ppfs.plotting._blanket import BlanketDisplay
from ppfs.plotting._importance import ImportanceDisplay, meaning_of_importances
from ppfs.plotting._pvalues import PValueDisplay
from ppfs.plotting._results import results_of
from ppfs.plotting._roles import RolesDisplay
from ppfs.plotting._score_size import ScoreSizeDisplay
from ppfs.plotting._stability import StabilityDisplay
from ppfs.plotting._sufficiency import SufficiencyDisplay
from ppfs.plotting._timeline import TimelineDisplay
from ppfs.plotting._update import UpdateDisplay

__all__ = [
    "AtLeastDisplay",
    "BlanketDisplay",
    "ImportanceDisplay",
    "PValueDisplay",
    "RolesDisplay",
    "ScoreSizeDisplay",
    "StabilityDisplay",
    "SufficiencyDisplay",
    "TimelineDisplay",
    "UpdateDisplay",
    "meaning_of_importances",
    "results_of",
]
