"""Timings that asv keeps from version to version: every kernel, and five whole fits.

    pip install asv virtualenv
    cd benchmarks/asv
    asv run v0.1.0..main && asv publish && asv preview
    asv run --quick --python=same --bench Fits        # the installed version, once

Compilation is left out: what is timed runs once in `setup`.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from ppfs import PPFS
from ppfs.blanket import IAMB

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "kernels"))

from kernel_problems import KERNEL_CASES


class Kernels:
    """The cases of `benchmarks/versions/speed.py`."""

    params = [list(KERNEL_CASES)]
    param_names = ["case"]

    def setup(self, case):
        """Prepare a problem, and compile."""
        self.run = KERNEL_CASES[case]()
        self.run()

    def time_kernel(self, case):
        """Time one call."""
        self.run()


FITS = {
    "PPFS, 300 x 500": (300, 500, lambda: PPFS(random_state=0)),
    "PPFS of forests, 200 x 50": (
        200,
        50,
        lambda: PPFS(RandomForestClassifier(50), n_splits=5, random_state=0),
    ),
    "calibrated, 300 x 100": (300, 100, lambda: PPFS.calibrated(random_state=0)),
    "calibrated logistic, 300 x 500": (
        300,
        500,
        lambda: PPFS.calibrated(LogisticRegression(), random_state=0),
    ),
    "IAMB, 1000 x 100": (1000, 100, lambda: IAMB()),
}


class Fits:
    """Whole fits on planted problems: three columns decide."""

    params = [list(FITS)]
    param_names = ["fit"]
    timeout = 300

    def setup(self, fit):
        """Draw the data, and compile."""
        n_rows, n_columns, self.make = FITS[fit]
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(n_rows, n_columns))
        self.y = (self.X[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)
        self.make().fit(self.X, self.y)

    def time_fit(self, fit):
        """Time one fit."""
        self.make().fit(self.X, self.y)

    def peakmem_fit(self, fit):
        """Measure the memory of one fit."""
        self.make().fit(self.X, self.y)
