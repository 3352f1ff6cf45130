"""A test of products of two residuals: of the target and of functions of x, both given the other columns."""

from ppfs.independence._predictive.residuals.model_products import ModelProducts
from ppfs.independence._predictive.residuals.residual_products import ResidualProducts
