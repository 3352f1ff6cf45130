"""Tests that answer "is x independent of the target given these columns?"."""

from ppfs.independence._base import BoundTest, IndependenceResult, IndependenceTest
from ppfs.independence._choose import Automatic
from ppfs.independence._contingency import ChiSquared, GSquared
from ppfs.independence._correlation import FisherZ, PartialCorrelationT
from ppfs.independence._cross_fit import CrossFitPPI
from ppfs.independence._likelihood_ratio import LikelihoodRatio
from ppfs.independence._oracle import DSeparation
from ppfs.independence._predictive_permutation import PPI

__all__ = [
    "PPI",
    "Automatic",
    "BoundTest",
    "ChiSquared",
    "CrossFitPPI",
    "DSeparation",
    "FisherZ",
    "GSquared",
    "IndependenceResult",
    "IndependenceTest",
    "LikelihoodRatio",
    "PartialCorrelationT",
]
