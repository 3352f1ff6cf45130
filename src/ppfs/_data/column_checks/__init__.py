"""Suspicious columns, and how to fix each of them."""

from ppfs._data.column_checks.check_columns import check_columns
from ppfs._data.column_checks.warning import ColumnWarning, summary
