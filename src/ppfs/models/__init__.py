"""Scikit-learn estimators that are designed for testing what a target depends on."""

from ppfs.models._boosted_linear import BoostedLinearClassifier, BoostedLinearRegressor
from ppfs.models._default_panel import default_panel

__all__ = ["BoostedLinearClassifier", "BoostedLinearRegressor", "default_panel"]
