"""Every search, with what it says of its result: the report as JSON, verdicts and explanations included."""

import json
import warnings
from dataclasses import asdict, is_dataclass

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from checks.recorded import Record
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV, RowsInTime
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    StabilitySelection,
    TIEStar,
)
from ppfs.independence import ChiSquared, FisherZ, GSquared
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

RECORD = Record(__file__)
N = 110

# They follow from the day and the machine.
VOLATILE = ("created", "versions")


def numbers():
    """Return causes, a copy with noise, an effect and its other cause, a product, a constant and noise."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 9))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] - 0.8 * X[:, 2] + 1.2 * X[:, 5] * X[:, 6] + 0.7 * rng.normal(size=N)
    X[:, 3] = y + X[:, 4] + 0.6 * X[:, 3]
    X[:, 8] = 2.5
    return pd.DataFrame(
        X, columns=["cause", "copy", "other", "effect", "spouse", "u", "v", "noise", "flat"]
    ), y


def classes():
    X, y = numbers()
    return X, np.where(y > 0.3, "ill", "well")


def three():
    X, y = numbers()
    return X, np.digitize(y, [-0.9, 0.9])


def mixed():
    X, y = numbers()
    rng = np.random.default_rng(6)
    kind = np.array(["a", "b", "c"])[np.digitize(X["other"], [-0.4, 0.6])]
    return X.assign(other=kind, row=np.arange(N), spouse=X["spouse"].mask(rng.random(N) < 0.1)), y


def codes():
    X, y = numbers()
    table = X.drop(columns="flat").apply(lambda column: np.digitize(column, np.quantile(column, [0.4, 0.8])))
    return table, np.digitize(y, [0.0])


def sparse():
    X, y = classes()
    values = X.to_numpy()
    return sp.csc_array(np.where(np.abs(values) > 0.5, values, 0.0)), y


def counts():
    X, y = numbers()
    return X, np.random.default_rng(8).poisson(np.exp(0.5 * y))


# Whatever divides rows at random has a seed: searches by a test, and also the folds of a model beside a classical test.
GROUPED = {"feature_groups": {"pair": ["u", "v"], "both": ["cause", "copy"]}}
SEEDED = {"random_state": 4}

CASES = {
    "preset": (PPFS.calibrated(**SEEDED), numbers, {}),
    "preset, classes": (PPFS.calibrated(**SEEDED), classes, {}),
    "preset, three classes": (PPFS.calibrated(correction="by", **SEEDED), three, {}),
    "preset, mixed": (PPFS.calibrated(**SEEDED), mixed, {}),
    "preset, sparse": (PPFS.calibrated(correction="bonferroni", **SEEDED), sparse, {}),
    "preset, counts": (PPFS.calibrated(task="count", **SEEDED), counts, {}),
    "preset, confirmed": (PPFS.calibrated(confirm=0.3, **SEEDED), numbers, {}),
    "preset, groups": (PPFS.calibrated(**GROUPED, **SEEDED), numbers, {}),
    "preset, pairs": (PPFS.calibrated(interactions="pairs", growth="marginal", **SEEDED), numbers, {}),
    "preset, joint": (PPFS.calibrated(growth="joint", second_look=False, **SEEDED), numbers, {}),
    "preset, both": (PPFS.calibrated(growth="both", always_keep=["noise"], **SEEDED), numbers, {}),
    "preset, given": (PPFS.calibrated(condition_on=["cause"], **SEEDED), numbers, {}),
    "preset, weights": (PPFS.calibrated(**SEEDED), numbers, {"sample_weight": 1.0 + np.arange(N) % 2}),
    "preset, clusters": (PPFS.calibrated(**SEEDED), numbers, {"groups": np.arange(N) // 5}),
    "preset, time": (PPFS.calibrated(**SEEDED), numbers, {"time": RowsInTime("index", gap=2)}),
    "preset, lines": (PPFS.calibrated(LinearRegression(), min_features=5, **SEEDED), numbers, {}),
    "preset, folds": (PPFS.calibrated(LogisticRegression(), n_folds=3, **SEEDED), classes, {}),
    "paper": (PPFS(DecisionTreeClassifier(max_depth=3), n_splits=8, **SEEDED), classes, {}),
    "paper, folds": (PPFS(LinearRegression(), n_splits=6, n_folds=3, correction="bh", **SEEDED), numbers, {}),
    "PPFSCV": (PPFSCV(LinearRegression(), cv=3, **SEEDED), numbers, {}),
    "PPFSCV, one standard error": (
        PPFSCV(
            LinearRegression(),
            selector=IAMB(),
            candidates={"alpha": [0.001, 0.05, 0.3]},
            rule="one-se",
            cv=3,
            n_repeats=2,
            **SEEDED,
        ),
        numbers,
        {},
    ),
    "stability": (StabilitySelection(IAMB(), n_pairs=5, threshold=0.6, **SEEDED), numbers, {}),
    "stability, false": (StabilitySelection(FBED(), n_pairs=4, max_false=2.0, **SEEDED), numbers, {}),
    "IAMB": (IAMB(alpha=0.1), numbers, {}),
    "IAMB, folds": (IAMB(independence=GSquared(), n_folds=3, **SEEDED), codes, {}),
    "IAMB, groups": (IAMB(independence="likelihood-ratio", **GROUPED), numbers, {}),
    "FastIAMB": (FastIAMB(independence=FisherZ(), always_keep=["noise"]), numbers, {}),
    "InterIAMB": (InterIAMB(independence=FisherZ()), numbers, {}),
    "InterIAMBnPC": (InterIAMBnPC(max_k=2), codes, {}),
    "IAMBnPC": (IAMBnPC(max_k=1, condition_on=["noise"]), numbers, {}),
    "IAMB-FDR": (IAMBFDR(alpha=0.2), numbers, {}),
    "FBED": (FBED(n_runs=2), numbers, {}),
    "GrowShrink": (GrowShrink(min_features=6), numbers, {}),
    "HITON-MB": (HITONMB(max_k=2), numbers, {}),
    "HITON-MB, wrapper": (
        HITONMB(independence=ChiSquared(), wrapper=LogisticRegression(), cv=3, **SEEDED),
        codes,
        {},
    ),
    "MMMB": (MMMB(alpha=0.1), codes, {}),
    "MMMB, numbers": (MMMB(max_k=None), numbers, {}),
    "MixedMB": (MixedMB(), lambda: (mixed()[0].drop(columns=["spouse", "row"]), mixed()[1]), {}),
    "SGAI": (SGAI(wealth=0.3), numbers, {}),
    "TIE*": (TIEStar(max_withheld=2, alpha=0.1), numbers, {}),
    "TIE*, model": (
        TIEStar(search=IAMB(), estimator=LinearRegression(), cv=3, tol=0.05, **SEEDED),
        numbers,
        {},
    ),
    "stepwise": (Stepwise(LinearRegression(), cv=3, **SEEDED), numbers, {}),
    "permutation importance": (
        PermutationImportance(LinearRegression(), n_repeats=3, **SEEDED),
        numbers,
        {},
    ),
    "permutation importance, nulls": (
        PermutationImportance(LogisticRegression(), select="pvalue", n_nulls=9, n_repeats=2, **SEEDED),
        classes,
        {},
    ),
    "beam": (SubsetSearch(LinearRegression(), max_subsets=20, cv=3, **SEEDED), numbers, {}),
    "genetic": (
        SubsetSearch(LinearRegression(), strategy="genetic", max_subsets=30, cv=3, **SEEDED),
        numbers,
        {},
    ),
    "hill climbing": (
        SubsetSearch(LinearRegression(), strategy="hill-climbing", max_subsets=25, cv=3, **SEEDED),
        numbers,
        {},
    ),
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", CASES)
def test_reports_are_those_on_record(name):
    selector, data, said = CASES[name]
    X, y = data()
    report = json.loads(selector.fit(X, y, **said).report(sufficiency=False).json())
    RECORD.check(name, {key: value for key, value in report.items() if key not in VOLATILE})


def test_verdicts_are_those_on_record():
    X, y = numbers()
    selector = PPFS.calibrated(confirm=0.3, **SEEDED).fit(X[:80], y[:80])
    at_least = [selector.at_least(), selector.at_least(["cause", "noise"], alpha=0.2)]
    selector.measure_sufficiency(X[:80], y[:80])
    selector.find_roles(X[:80], y[:80])
    update = selector.update(X[80:], y[80:], X=X[:80], y=y[:80])
    found = {
        "at least": at_least,
        "sufficiency": as_dict(selector.sufficiency_),
        "roles": [as_dict(role) for role in selector.roles_],
        "update": as_dict(update),
        "markdown": selector.report().markdown().splitlines(),
    }
    found["markdown"] = [line for line in found["markdown"] if not any(map(line.__contains__, MACHINE))]
    RECORD.check("verdicts", found)


# Lines of the report that depend on the day and the machine.
MACHINE = ("numpy", "Python 3", "202")


def as_dict(value):
    return asdict(value) if is_dataclass(value) else str(value)
