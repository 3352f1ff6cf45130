"""Predictive Permutation Feature Selection: the smallest set of columns that still predicts the target."""

from importlib.metadata import version

from ppfs.blanket import PPFS

__version__ = version("ppfs")

__all__ = ["PPFS", "__version__"]
