"""Searches for the Markov blanket of the target."""

from ppfs.blanket._aggregate import Fold
from ppfs.blanket._base import BaseBlanketSelector
from ppfs.blanket._ppfs import PPFS

__all__ = ["PPFS", "BaseBlanketSelector", "Fold"]
