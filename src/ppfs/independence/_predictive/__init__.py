"""Tests of whether a model predicts worse when a feature is replaced by its knockoff."""
