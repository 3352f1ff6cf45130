"""Reports of a selection: one page in HTML, JSON or Markdown, or a plain dictionary."""

from ppfs.report._again import is_searched_in_folds as is_searched_in_folds
from ppfs.report._report import Report
from ppfs.report._summary import column_rows as column_rows
from ppfs.report._summary import result_of as result_of
from ppfs.report._verdicts import measure as measure

__all__ = ["Report"]
