"""Columns that stay where they are: files that are read a few columns at a time."""

from ppfs._sources.lazy import FileBlock, LazyColumns, LazyKinds
from ppfs._sources.opening import is_path, open_source
from ppfs._sources.source import ColumnSource
from ppfs._sources.text import GAPS, TextFormat, convert_text

__all__ = [
    "GAPS",
    "ColumnSource",
    "FileBlock",
    "LazyColumns",
    "LazyKinds",
    "TextFormat",
    "convert_text",
    "is_path",
    "open_source",
]
