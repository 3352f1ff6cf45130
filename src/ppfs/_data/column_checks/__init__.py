"""Columns to check: identifiers, copies, leaks and the like, each with what to do about it."""

from ppfs._data.column_checks.check_columns import check_columns
from ppfs._data.column_checks.warning import ColumnWarning, summary

__all__ = ["ColumnWarning", "check_columns", "summary"]
