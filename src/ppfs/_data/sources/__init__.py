"""Files that are read a few columns at a time."""

from ppfs._data.sources.file_columns import FileColumns, FileKinds
from ppfs._data.sources.opening import is_path, open_source
from ppfs._data.sources.source import ColumnSource
from ppfs._data.sources.text import convert_text, number_styles
from ppfs._data.sources.text_format import MISSING_TEXTS, TextFormat
