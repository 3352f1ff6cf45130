"""What all estimators of ppfs share: the recipe of a fit, and the columns that `transform` returns."""

from ppfs._estimator.fit_recipe import Selector
from ppfs._estimator.one_step import in_one_step
