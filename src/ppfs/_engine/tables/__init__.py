"""Contingency tables and scores of pairs."""
