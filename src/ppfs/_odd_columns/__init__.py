"""Columns that should make a person think, and what settles each of them."""

from ppfs._odd_columns.look import look_at
from ppfs._odd_columns.warning import ColumnWarning, summary

__all__ = ["ColumnWarning", "look_at", "summary"]
