"""Data sets to try a selector on: real data, Bayesian networks and simulated problems.

Three sources, from realistic to fully known:

- :func:`load_dataset` reads the twelve sets of the paper, :func:`list_datasets` names them;
- :func:`read_network` reads a Bayesian network, whose samples have a known Markov blanket for every node;
- :func:`make_blanket_problem` draws a regression or classification problem with the blanket you ask for.
"""

from ppfs.datasets._bif import read_network
from ppfs.datasets._blanket_problem import make_blanket_problem
from ppfs.datasets._dataset import Dataset
from ppfs.datasets._load import load_dataset
from ppfs.datasets._network import BayesianNetwork
from ppfs.datasets._registry import list_datasets

__all__ = [
    "BayesianNetwork",
    "Dataset",
    "list_datasets",
    "load_dataset",
    "make_blanket_problem",
    "read_network",
]
