"""Reading what the command line names: files of many kinds, standard input, data sets of the registry."""

from ppfs.cli.input.columns import resolve, with_text_columns
from ppfs.cli.input.data import FrameRead, Input
from ppfs.cli.input.reading import read, read_file, read_frame

__all__ = ["FrameRead", "Input", "read", "read_file", "read_frame", "resolve", "with_text_columns"]
