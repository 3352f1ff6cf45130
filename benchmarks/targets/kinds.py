"""Survival times, counts, positive amounts and ordered classes: size and power of the preset's test.

    python benchmarks/targets/kinds.py survival-size    # x has no effect given z; beside tram-GCM
    python benchmarks/targets/kinds.py survival-power   # line, square, product, step
    python benchmarks/targets/kinds.py ceiling          # the same shapes, by a likelihood ratio test that knows them
    python benchmarks/targets/kinds.py others           # count, positive, ordinal: with the task, and without it
    python benchmarks/targets/kinds.py exposure         # x changes the exposure of a count, and perhaps its rate
    python benchmarks/targets/kinds.py real             # GBSG2, veterans' lung cancer: what is selected

tram-GCM is the product of the martingale residuals of Cox's regression on z and the residuals of a linear regression of
x on z. Seeds are 0 to the number of tables minus one (`--tables`).
"""

from __future__ import annotations

import argparse
import platform
import warnings

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import stats
from sksurv.datasets import load_gbsg2, load_veterans_lung_cancer
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import ppfs
from ppfs import PPFS, _engine
from ppfs.independence import CrossFitPPI

Floats = NDArray[np.float64]

SIZE = [
    (100, "normal", 0.5),
    (100, "skewed", 0.5),
    (100, "categorical", 0.5),
    (200, "normal", 0.3),
    (200, "normal", 0.8),
    (200, "correlated .9", 0.3),
    (200, "correlated .9", 0.8),
    (200, "skewed", 0.8),
    (200, "six columns", 0.5),
    (200, "curved", 0.5),
    (500, "normal", 0.5),
    (500, "skewed", 0.5),
    (500, "categorical", 0.5),
    (500, "curved", 0.5),
]
SHAPES = ("line", "square", "product", "step")


def unit(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / values.std())


def columns(rng: np.random.Generator, n: int, kind: str) -> tuple[Floats, Floats, Floats]:
    """Return x, the columns z that it depends on, and the effect of z."""
    if kind == "correlated .9":
        z = rng.normal(size=(n, 1))
        x = 0.9 * z[:, 0] + np.sqrt(0.19) * rng.normal(size=n)
    elif kind == "skewed":
        z = np.exp(0.8 * rng.normal(size=(n, 2)))
        x = np.exp(0.5 * np.log(z[:, 0]) + 0.7 * rng.normal(size=n))
    elif kind == "categorical":
        z = np.column_stack([rng.normal(size=n), rng.integers(0, 2, size=n)])
        x = (rng.normal(size=n) + 0.8 * z[:, 0] > 0.8).astype(float)
    elif kind == "six columns":
        z = rng.normal(size=(n, 6))
        x = 0.5 * z[:, 0] + 0.5 * z[:, 1] + 0.7 * rng.normal(size=n)
    elif kind == "curved":
        z = rng.normal(size=(n, 2))
        x = 0.7 * z[:, 0] ** 2 + 0.7 * rng.normal(size=n)
        return x, z, 0.6 * unit(z[:, 0] ** 2)
    else:
        z = rng.normal(size=(n, 2))
        x = 0.6 * z[:, 0] + 0.8 * rng.normal(size=n)
    return x, z, 0.7 * unit(z[:, 0])


def effect(shape: str, x: Floats, z: Floats) -> Floats:
    own = unit(x)
    return {
        "line": own,
        "square": 0.7 * own**2,
        "product": own * unit(z[:, 0]),
        "step": 1.6 * (own > 0.5),
    }[shape]


def survival(rng: np.random.Generator, log_hazard: Floats, share_censored: float) -> NDArray[np.void]:
    time, other = rng.exponential(size=(2, log_hazard.size))
    time = time * np.exp(-log_hazard)
    low, high = 1e-4, 1e4
    for _ in range(50):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if (middle * other < time).mean() > share_censored else (low, middle)
    censored = low * other
    return Surv.from_arrays(time <= censored, np.minimum(time, censored))


def tram_gcm(x: Floats, z: Floats, y: NDArray[np.void]) -> float:
    model = CoxPHSurvivalAnalysis(alpha=1e-8, ties="efron").fit(z, y)
    hazard = np.array(
        [f(t) for f, t in zip(model.predict_cumulative_hazard_function(z), y["time"], strict=True)]
    )
    design = np.column_stack([np.ones(x.size), z])
    products = (y["event"] - hazard) * (x - design @ np.linalg.lstsq(design, x, rcond=None)[0])
    return float(2 * stats.norm.sf(abs(np.sqrt(x.size) * products.mean() / products.std())))


def asked(x: Floats, z: Floats, y: object, task: str = "auto") -> float:
    X = np.column_stack([x, z])
    test = CrossFitPPI("panel", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return test.evaluate(X, y, 0, given=range(1, X.shape[1]), task=task).pvalue


def survival_size(n_tables: int) -> None:
    print("\n| rows | columns | censored | ppfs | tram-GCM |")
    print("| --- | --- | --- | --- | --- |")
    for n, kind, censored in SIZE:
        calls = np.zeros(2)
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, n])
            x, z, of_z = columns(rng, n, kind)
            y = survival(rng, of_z, censored)
            calls += [asked(x, z, y) < 0.05, tram_gcm(x, z, y) < 0.05]
        own, other = calls / n_tables
        print(f"| {n} | {kind} | {censored:.0%} | {own:.3f} | {other:.3f} |", flush=True)


def survival_power(n_tables: int) -> None:
    print("\n| columns | shape | ppfs | tram-GCM |")
    print("| --- | --- | --- | --- |")
    for kind in ("normal", "skewed"):
        total = np.zeros(2)
        for shape in SHAPES:
            calls = np.zeros(2)
            for seed in range(n_tables):
                rng = np.random.default_rng([seed, 200])
                x, z, of_z = columns(rng, 200, kind)
                y = survival(rng, of_z + 0.37 * effect(shape, x, z), 0.5)
                calls += [asked(x, z, y) < 0.05, tram_gcm(x, z, y) < 0.05]
            total += calls / n_tables / len(SHAPES)
            print(f"| {kind} | {shape} | {calls[0] / n_tables:.2f} | {calls[1] / n_tables:.2f} |", flush=True)
        print(f"| {kind} | mean | {total[0]:.2f} | {total[1]:.2f} |", flush=True)


def log_likelihood(X: Floats, risk_sets: _engine.RiskSets) -> float:
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    log_hazards = scaled @ _engine.fit_cox(scaled, risk_sets, 1e-8).coefficients
    log_hazards -= log_hazards.max()
    return risk_sets.log_likelihood(np.exp(log_hazards), log_hazards)


def ceiling(n_tables: int) -> None:
    """Test with the true function of x and the whole level: no test that has to look for it finds more."""
    print("\n| columns | shape | known shape | tram-GCM |")
    print("| --- | --- | --- | --- |")
    for kind in ("normal", "skewed"):
        total = np.zeros(2)
        for shape in SHAPES:
            calls = np.zeros(2)
            for seed in range(n_tables):
                rng = np.random.default_rng([seed, 200])
                x, z, of_z = columns(rng, 200, kind)
                own = effect(shape, x, z)
                y = survival(rng, of_z + 0.37 * own, 0.5)
                risk_sets = _engine.RiskSets(y["time"].copy(), y["event"].copy())
                # What the effect is given z alone may be known from z.
                base = np.column_stack([z, z**2, z[:, 0] * z[:, 1]])
                gain = log_likelihood(np.column_stack([base, own]), risk_sets) - log_likelihood(
                    base, risk_sets
                )
                calls += [stats.chi2.sf(2 * gain, 1) < 0.05, tram_gcm(x, z, y) < 0.05]
            total += calls / n_tables / len(SHAPES)
            print(f"| {kind} | {shape} | {calls[0] / n_tables:.2f} | {calls[1] / n_tables:.2f} |", flush=True)
        print(f"| {kind} | mean | {total[0]:.2f} | {total[1]:.2f} |", flush=True)


def others(n_tables: int) -> None:
    def count(rng: np.random.Generator, eta: Floats) -> Floats:
        return rng.poisson(rng.gamma(2.0, 0.5, size=eta.size) * np.exp(1.0 + eta)).astype(float)

    def positive(rng: np.random.Generator, eta: Floats) -> Floats:
        return rng.gamma(1.0, np.exp(1.0 + eta))

    def ordinal(rng: np.random.Generator, eta: Floats) -> Floats:
        return np.digitize(1.5 * eta + rng.logistic(size=eta.size), [-1.5, -0.5, 0.5, 1.5]).astype(float)

    kinds = {
        "count": (count, "regression"),
        "positive": (positive, "regression"),
        "ordinal": (ordinal, "classification"),
    }
    print("\n| task | columns | effect | with the task | without it |")
    print("| --- | --- | --- | --- | --- |")
    for name, (make, plain) in kinds.items():
        for kind, shape in [("normal", None), ("skewed", None), ("normal", "line"), ("normal", "square")]:
            calls = np.zeros(2)
            for seed in range(n_tables):
                rng = np.random.default_rng([seed, 201])
                x, z, of_z = columns(rng, 200, kind)
                y = make(rng, of_z + (0.25 * effect(shape, x, z) if shape else 0.0))
                calls += [asked(x, z, y, name) < 0.05, asked(x, z, y, plain) < 0.05]
            own, other = calls / n_tables
            print(f"| {name} | {kind} | {shape or 'none'} | {own:.3f} | {other:.3f} |", flush=True)


def exposure(n_tables: int) -> None:
    print("\n| effect on the rate | with the exposure | without it |")
    print("| --- | --- | --- |")
    for slope in (0.0, 0.2):
        calls = np.zeros(2)
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, 202])
            z = rng.normal(size=300)
            x = 0.6 * z + 0.8 * rng.normal(size=300)
            exposed = np.exp(0.8 * x + 0.3 * rng.normal(size=300))
            y = rng.poisson(exposed * np.exp(0.4 * z + slope * x)).astype(float)
            both = np.column_stack([y, exposed])
            calls += [asked(x, z[:, np.newaxis], one, "count") < 0.05 for one in (both, y)]
        print(f"| {slope} | {calls[0] / n_tables:.3f} | {calls[1] / n_tables:.3f} |", flush=True)


def real(n_tables: int) -> None:
    print("\n| data | selected, most important first |")
    print("| --- | --- |")
    for name, load in {"GBSG2": load_gbsg2, "veterans": load_veterans_lung_cancer}.items():
        X, y = load()
        selector = PPFS.calibrated(random_state=0).fit(X, y)
        print(f"| {name} | {', '.join(X.columns[column] for column in selector.blanket_)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {
        "survival-size": survival_size,
        "survival-power": survival_power,
        "ceiling": ceiling,
        "others": others,
        "exposure": exposure,
        "real": real,
    }
    parser.add_argument("part", choices=list(parts))
    parser.add_argument("--tables", type=int, default=200)
    given = parser.parse_args()
    print(f"ppfs {ppfs.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}")
    error = np.sqrt(0.0475 / given.tables)
    print(f"{given.tables} tables per cell; one standard error of a share of .05 is {error:.3f}")
    parts[given.part](given.tables)


if __name__ == "__main__":
    main()
