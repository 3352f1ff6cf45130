"""Linear models, alone or behind transformers of single columns: growth and shrinkage without scikit-learn's fits."""

from ppfs.independence._predictive.risks.linear.recipe import Recipe
from ppfs.independence._predictive.risks.linear.risks import LinearRisks

__all__ = ["LinearRisks", "Recipe"]
