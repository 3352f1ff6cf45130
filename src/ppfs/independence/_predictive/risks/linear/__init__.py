"""Risks of linear models, alone or behind transformers of single columns, fitted by the engine."""

from ppfs.independence._predictive.risks.linear.recipe import Recipe
from ppfs.independence._predictive.risks.linear.risks import LinearRisks
