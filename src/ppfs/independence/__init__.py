"""Tests that answer "is x independent of the target given these columns?"."""

from ppfs.independence._base import BoundTest, IndependenceResult, IndependenceTest
from ppfs.independence._oracle import DSeparation
from ppfs.independence._predictive_permutation import PPI

__all__ = ["PPI", "BoundTest", "DSeparation", "IndependenceResult", "IndependenceTest"]
