"""Gradient boosting on bins, on one column and on several."""
