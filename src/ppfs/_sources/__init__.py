"""Columns that stay where they are: files that are read a few columns at a time."""

from ppfs._sources.lazy import FileBlock, LazyColumns, LazyKinds
from ppfs._sources.opening import is_path, open_source
from ppfs._sources.source import ColumnSource

__all__ = ["ColumnSource", "FileBlock", "LazyColumns", "LazyKinds", "is_path", "open_source"]
