"""What all estimators of ppfs share: fitting in one step, and the columns that `transform` returns."""

from ppfs._estimator.frame_selector import FrameSelector
from ppfs._estimator.one_step import in_one_step

__all__ = [
    "FrameSelector",
    "in_one_step",
]
