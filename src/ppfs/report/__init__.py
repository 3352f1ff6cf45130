"""A selection told to people who were not there: one page, in HTML, JSON or Markdown."""

from ppfs.report._report import Report

__all__ = ["Report"]
