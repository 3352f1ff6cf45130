"""Columns that are selected to reach min_features: what came closest, first."""

from types import SimpleNamespace

import numpy as np

from ppfs._data.reading import read_table
from ppfs.blanket._run.fill_up import fill_up


def test_a_column_that_was_asked_about_comes_before_one_that_was_not():
    table = read_table(
        np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2, task="auto", owner="x"
    )
    for asked in range(3):
        decided_by = {asked: SimpleNamespace(pvalue=1.0, effect=0.5)}
        assert fill_up([], 1, table=table, decided_by=decided_by, barred=()) == [asked]
