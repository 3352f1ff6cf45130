"""The quick scan for two classes finds the cut that the general scan finds, to the last bit."""

import numpy as np
import pytest

from ppfs._engine.inputs.target import make_target
from ppfs._engine.jit.kernels import kernel
from ppfs._engine.trees.cuts import ENTRY, make_sides, try_column
from ppfs._engine.trees.rules import Criterion, Limits
from ppfs._engine.trees.two_classes import best_two_class_cut, fill_scales


@kernel
def scan_quickly(entries, stats, target, scales, least, limits, out):
    fill_scales(entries.size, scales)
    out[0], out[1], out[2] = best_two_class_cut(
        0, entries.size, stats, entries, target.classes, scales, least, limits
    )


@kernel
def scan_generally(entries, stats, target, limits, sides, out):
    _, out[0], out[1], _ = try_column(
        0, entries.size, entries.size, float(entries.size), stats, entries, target, None, None, limits, sides
    )


def problem(generator, n_rows, n_values):
    """Return the sorted entries of a column, its target, and the numbers of rows in each class."""
    values = generator.integers(0, n_values, size=n_rows) if n_values else generator.standard_normal(n_rows)
    classes = generator.permutation(np.arange(n_rows) < generator.integers(1, n_rows)).astype(int)
    entries = np.empty(n_rows, dtype=ENTRY)
    order = np.argsort(values, kind="stable")
    entries["row"], entries["value"] = order, values[order]
    return entries, make_target(classes, 2), np.bincount(classes, minlength=2).astype(float)


def scanned(entries, target, stats, least, min_leaf):
    out = np.zeros(3)
    limits = Limits(int(Criterion.GINI), 100, 2, min_leaf)
    scan_quickly(entries, stats, target, np.empty(entries.size), least, limits, out)
    return out


@pytest.mark.parametrize("n_values", [0, 2, 5])
@pytest.mark.parametrize("min_leaf", [1, 4])
def test_the_cut_is_that_of_the_general_scan(n_values, min_leaf):
    generator = np.random.default_rng(0)
    for n_rows in [2, 3, 5, 8, 20, 61, 300] * 20:
        entries, target, stats = problem(generator, n_rows, n_values)
        if entries["value"][0] == entries["value"][-1]:
            continue
        expected = np.zeros(2)
        limits = Limits(int(Criterion.GINI), 100, 2, min_leaf)
        scan_generally(entries, stats, target, limits, make_sides(2), expected)
        assert scanned(entries, target, stats, 0.0, min_leaf)[:2].tolist() == expected.tolist()


def test_a_column_is_skipped_only_if_another_one_is_clearly_better():
    generator = np.random.default_rng(1)
    n_skipped = 0
    for _ in range(300):
        entries, target, stats = problem(generator, 40, 0)
        own = scanned(entries, target, stats, 0.0, 1)
        other_entries = entries.copy()
        other_entries["row"] = generator.permutation(40)
        other = scanned(other_entries, target, stats, 0.0, 1)
        after = scanned(entries, target, stats, other[2], 1)
        assert max(other[0], after[0]) == max(other[0], own[0])
        n_skipped += after[0] == -np.inf
        # A column with the same best gain, bit for bit, is not skipped.
        assert scanned(entries, target, stats, own[2], 1)[0] == own[0]
    assert n_skipped > 50
