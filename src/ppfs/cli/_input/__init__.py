"""Reading what the command line names: files of many kinds, standard input, data sets of the registry."""

from ppfs.cli._input.data import Input
from ppfs.cli._input.reading import read, read_frame

__all__ = ["Input", "read", "read_frame"]
