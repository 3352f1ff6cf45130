"""What every plot draws: lines, points, bars, arrows and words, with their places, colors and order."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from checks.drawings import described
from checks.recorded import Record
from sklearn.linear_model import LinearRegression

from ppfs import PPFS, PPFSCV, compare
from ppfs.blanket import IAMB, MMMB, StabilitySelection
from ppfs.plotting import (
    AtLeastDisplay,
    BlanketDisplay,
    ImportanceDisplay,
    PValueDisplay,
    RolesDisplay,
    ScoreSizeDisplay,
    StabilityDisplay,
    SufficiencyDisplay,
    TimelineDisplay,
    UpdateDisplay,
)
from ppfs.report._pictures import pictures_of

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.patches")
Figure = pytest.importorskip("matplotlib.figure").Figure

RECORD = Record(__file__)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 6))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] + X[:, 2] + 0.6 * rng.normal(size=100)
    X[:, 3] = y + X[:, 4] + 0.5 * X[:, 3]
    return pd.DataFrame(X, columns=["cause", "copy", "other", "effect", "spouse", "noise"]), y


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = PPFS.calibrated(LinearRegression(), confirm=0.3, random_state=2).fit(X[:80], y[:80])
        search.measure_sufficiency(X[:80], y[:80])
        search.update(X[80:], y[80:], X=X[:80], y=y[:80])
        return {
            "search": search,
            "folds": PPFS(LinearRegression(), n_splits=6, n_folds=4, random_state=0).fit(X, y),
            "graph": MMMB().fit(X, y),
            "halves": StabilitySelection(IAMB(), n_pairs=4, random_state=0).fit(X, y),
            "candidates": PPFSCV(LinearRegression(), cv=3, random_state=0).fit(X, y),
            "comparison": compare(
                X,
                y,
                methods={"iamb": IAMB(), "all": "all"},
                estimator=LinearRegression(),
                cv=3,
                random_state=0,
            ),
        }


PLOTS = {
    "importance": (ImportanceDisplay.from_estimator, "search", {}),
    "importance of two": (ImportanceDisplay.from_estimator, "folds", {"max_columns": 2}),
    "blanket": (BlanketDisplay.from_estimator, "search", {}),
    "blanket, one neighbor": (BlanketDisplay.from_estimator, "graph", {"max_neighbours": 1}),
    "timeline": (TimelineDisplay.from_estimator, "search", {}),
    "timeline of a graph": (TimelineDisplay.from_estimator, "graph", {}),
    "p-values": (PValueDisplay.from_estimator, "search", {"bins": 5}),
    "stability of folds": (StabilityDisplay.from_estimator, "folds", {}),
    "stability of halves": (StabilityDisplay.from_estimator, "halves", {"max_columns": 4}),
    "sufficiency": (SufficiencyDisplay.from_estimator, "search", {}),
    "at least": (AtLeastDisplay.from_estimator, "search", {}),
    "update": (UpdateDisplay.from_estimator, "search", {}),
    "roles": (RolesDisplay.from_estimator, "graph", {}),
    "scores": (ScoreSizeDisplay.from_estimator, "candidates", {}),
    "scores of methods": (ScoreSizeDisplay.from_comparison, "comparison", {}),
}


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_those_on_record(name, fitted):
    draw, what, said = PLOTS[name]
    ax = Figure().subplots()
    if "max_neighbours" in said:
        draw(fitted[what], ax=Figure().subplots()).plot(ax=ax, **said)
    else:
        draw(fitted[what], ax=ax, **said)
    RECORD.check(name, described(ax))


def test_the_pictures_of_a_report_are_those_on_record(fitted):
    for name in ("search", "graph", "halves"):
        drawn = [
            [one.title, one.caption, re.search(r'viewBox="([^"]*)"', one.svg)[1].split()]
            for one in pictures_of(fitted[name])
        ]
        RECORD.check(f"report of {name}", drawn)
