"""Reading what the command line names: files of many kinds, standard input, data sets of the registry."""

from ppfs.cli.input.data import Input
from ppfs.cli.input.reading import read, read_frame

__all__ = ["Input", "read", "read_frame"]
