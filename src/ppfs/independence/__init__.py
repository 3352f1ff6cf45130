"""Tests that answer "is x independent of the target given these columns?"."""

from ppfs.independence._answers import Answers, IndependenceResult
from ppfs.independence._bound import Binding, BoundTest, Listener, OnError
from ppfs.independence._choose import TESTS_BY_NAME, Automatic
from ppfs.independence._classical.contingency import ChiSquared, GSquared
from ppfs.independence._classical.correlation import FisherZ, PartialCorrelationT
from ppfs.independence._classical.likelihood_ratio import LikelihoodRatio
from ppfs.independence._known_answers import KnownAnswers, Question
from ppfs.independence._oracle import DSeparation
from ppfs.independence._predictive.bound_predictive import MOST_ROWS_COUNTED
from ppfs.independence._predictive.cross_fit import CrossFitPPI
from ppfs.independence._predictive.losses import Loss, LossFunction, choose_loss, predict
from ppfs.independence._predictive.ppi import PPI, PPI_CONSTRAINTS
from ppfs.independence._predictive.predictive_test import PredictiveTest
from ppfs.independence._predictive.residuals.functions import SHARE_OF_THE_LINE
from ppfs.independence._predictive.screening import EFFECTIVE_VIEWS
from ppfs.independence._predictive.tail_bound import LARGEST_BOUND
from ppfs.independence._rearrangements import CountedRearrangements, ExactTail, Rearrangements
from ppfs.independence._test import IndependenceTest

# What the reference lists; the other names are for other rooms of this package.
__all__ = [
    "PPI",
    "Automatic",
    "ChiSquared",
    "CrossFitPPI",
    "DSeparation",
    "FisherZ",
    "GSquared",
    "IndependenceResult",
    "LikelihoodRatio",
    "PartialCorrelationT",
]
