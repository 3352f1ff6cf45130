"""How often irrelevant columns are rejected in tables that were designed without knowledge of the test.

    python benchmarks/calibration/another_make.py run --replicates 100     # resumes; results/another_make.csv
    python benchmarks/calibration/another_make.py print                    # the table of docs/p-values.md

In every cell a column x is independent of the target given all other columns. The cells in HARD are meant to be beyond
what 300 rows can tell. The test was changed after they were first run (docs/decisions/0385-what-is-left-of-classes.md).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_otherwise import ROWS, ask_missing, table

from ppfs.independence import CrossFitPPI

RESULTS = Path(__file__).parent / "results" / "another_make.csv"

# Columns, target, and the number of the column x.
Table = tuple[Any, np.ndarray, int]
Draw = Callable[[np.random.Generator, int], Table]


def streams(rng):
    """Return three generators: for z and what is hidden, for the noise of x, and for that of y."""
    s = rng.integers(0, 2**63 - 1, size=3)
    return tuple(np.random.default_rng(int(k)) for k in s)


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def bernoulli(r, eta):
    return (r.random(len(eta)) < sigmoid(eta)).astype(int)


def pick(r, logits):
    """Draw a class per row, with probabilities softmax(logits)."""
    return np.argmax(logits + r.gumbel(size=logits.shape), axis=1)


def categories(codes, names, ordered=False):
    return pd.Categorical.from_codes(np.asarray(codes), list(names), ordered=ordered)


def frame_of(cols, xname, y):
    return pd.DataFrame(cols), np.asarray(y), list(cols).index(xname)


def array_of(z, x, pos, y):
    return np.column_stack([z[:, :pos], x, z[:, pos:]]).astype(float), np.asarray(y), pos


CELLS, TARGET, HARD = {}, {}, set()


def cell(target, hard=False):
    def deco(f):
        CELLS[f.__name__] = f
        TARGET[f.__name__] = target
        if hard:
            HARD.add(f.__name__)
        return f

    return deco


# ------------------------------------------------------------------ numeric y


@cell("numeric")
def num_sine_square(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 3))
    c = np.sin(1.5 * z[:, 0]) + 0.5 * (z[:, 1] ** 2 - 1)
    x = c + 0.7 * rx.normal(size=n)
    y = c + 0.5 * z[:, 2] + 0.7 * ry.normal(size=n)
    return array_of(z, x, 1, y)


@cell("numeric")
def num_debt_ratio(rng, n):
    rz, rx, ry = streams(rng)
    debt, inc = np.exp(rz.normal(1, 0.6, n)), np.exp(rz.normal(1, 0.5, n))
    assets, age = np.exp(rz.normal(3, 1, n)), rz.uniform(20, 70, n)
    r = debt / inc
    x = r * np.exp(0.4 * rx.normal(size=n))
    y = 3 + 2 * np.sqrt(r) - 0.3 * np.log(assets) + 0.6 * ry.normal(size=n)
    return frame_of(
        {"debt": debt, "income": inc, "assets": assets, "age": age, "utilisation": x}, "utilisation", y
    )


@cell("numeric")
def num_steps_t3(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 5))
    c = (z[:, 0] > 0.3).astype(float) + (z[:, 1] < -0.5)
    x = 1.2 * c + 0.4 * rx.standard_t(3, n)
    y = 1.2 * c + 0.5 * z[:, 2] + 0.4 * ry.standard_t(3, n)
    return array_of(z, x, 3, y)


@cell("numeric")
def num_group_slope(rng, n):
    rz, rx, ry = streams(rng)
    g = rz.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    u, w = rz.uniform(-1.7, 1.7, n), rz.normal(size=n)
    c = np.array([-1.2, -0.3, 0.6, 1.5])[g] * u
    x = c + 0.3 * w + 0.7 * rx.normal(size=n)
    y = c - 0.4 * w + 0.5 * (g == 3) + 0.7 * ry.normal(size=n)
    return frame_of({"x": x, "arm": categories(g, "ABCD"), "dose": u, "w": w}, "x", y)


@cell("numeric")
def num_hetero_both(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 6))
    s = 0.5 * np.exp(0.5 * z[:, 1])
    x = np.abs(z[:, 0]) + s * rx.normal(size=n)
    y = np.abs(z[:, 0]) + 0.3 * z[:, 2] + s * ry.normal(size=n)
    return array_of(z, x, 0, y)


@cell("numeric")
def num_treatment_strong(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 6))
    for j in range(1, 6):
        z[:, j] = 0.5 * z[:, j - 1] + np.sqrt(0.75) * z[:, j]
    f = z[:, 0] + 0.7 * (z[:, 1] ** 2 - 1) - 0.5 * z[:, 2]
    x = bernoulli(rx, 1.5 * f)
    y = 2 * f + 0.4 * ry.normal(size=n)
    cols = {f"z{j}": z[:, j] for j in range(6)}
    cols["treated"] = x
    return frame_of(cols, "treated", y)


@cell("numeric")
def num_spend_selected(rng, n):
    rz, rx, _ry = streams(rng)
    m_ = 3 * n + 100
    z = rz.normal(size=(m_, 3))
    ma = np.maximum(z[:, 0], 0) + 0.5 * z[:, 1]
    ya = ma + 0.3 * z[:, 2] + 0.8 * rz.normal(size=m_)
    k = np.flatnonzero(ya + 0.5 * z[:, 0] > -0.3)[:n]
    z, m, y = z[k], ma[k], ya[k]
    x = np.where(rx.random(n) < sigmoid(0.3 - 1.2 * m), 0.0, np.exp(0.5 * m + 0.6 * rx.normal(size=n)))
    return frame_of({"z1": z[:, 0], "spend": x, "z2": z[:, 1], "z3": z[:, 2]}, "spend", y)


@cell("numeric")
def num_missing_lab(rng, n):
    rz, rx, ry = streams(rng)
    age, bmi, lab = rz.normal(size=(3, n))
    lab = 0.4 * age + lab
    miss = rz.random(n) < sigmoid(-1 + age)
    f = np.where(miss, -0.8, lab)
    x = np.round(lab + 0.4 * bmi + 0.7 * rx.normal(size=n), 1)
    y = f + 0.5 * f**2 + 0.4 * age + 0.8 * ry.normal(size=n)
    return frame_of({"age": age, "bmi": bmi, "lab": np.where(miss, np.nan, lab), "marker": x}, "marker", y)


@cell("numeric")
def num_factor12(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 12))
    z[:, :8] = rz.normal(size=(n, 1)) + 0.15 * z[:, :8]
    s = z[:, :8].mean(1)
    x = s + 0.33 * rx.normal(size=n)
    y = s + 0.4 * (s**2 - 1) + 0.4 * z[:, 8] + 0.8 * ry.normal(size=n)
    return array_of(z, x, 12, y)


@cell("numeric", hard=True)
def num_checkerboard(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.random((n, 3))
    c = 1.0 - 2.0 * ((np.floor(5 * z[:, 0]) + np.floor(5 * z[:, 1])) % 2)
    x = c + 0.8 * rx.normal(size=n)
    y = c + z[:, 2] + 0.8 * ry.normal(size=n)
    return array_of(z, x, 2, y)


# ------------------------------------------------------------------ two classes


@cell("binary")
def bin_product(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 4))
    p = np.clip(z[:, 0] * z[:, 1], -3, 3)
    return array_of(z, p + 0.7 * rx.normal(size=n), 4, bernoulli(ry, 1.5 * p + 0.5 * z[:, 2]))


@cell("binary")
def bin_visits_ushape(rng, n):
    rz, rx, ry = streams(rng)
    age = rz.integers(20, 86, n)
    sex, smoke = rz.integers(0, 2, n), (rz.random(n) < 0.3).astype(int)
    a = (age - 52) / 19
    x = rx.poisson(np.exp(0.1 + 0.5 * a**2 + 0.3 * smoke))
    y = bernoulli(ry, -1.5 + a**2 + 0.6 * smoke - 0.3 * sex)
    return frame_of(
        {"age": age, "visits": x, "sex": categories(sex, ["f", "m"]), "smoke": smoke}, "visits", y
    )


@cell("binary")
def bin_drug_choice(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 5))
    h = (z[:, 0] > 0) * z[:, 1]
    x = pick(rx, np.column_stack([np.zeros(n), 1.2 * z[:, 0], 1.2 * z[:, 1], 1.5 * h]))
    y = bernoulli(ry, z[:, 0] + z[:, 1] + h - 0.5)
    cols = {f"z{j}": z[:, j] for j in range(5)}
    cols["drug"] = categories(x, ["none", "a", "b", "c"])
    return frame_of(cols, "drug", y)


@cell("binary")
def bin_detection_limit(rng, n):
    rz, rx, ry = streams(rng)
    w, v = np.exp(rz.normal(size=n)), np.maximum(0.5, np.exp(rz.normal(size=n)))
    bmi, age = rz.normal(size=n), rz.uniform(-1.7, 1.7, n)
    c = np.log1p(w) + 0.6 * np.log(v)
    x = np.maximum(0.8, np.exp(0.9 * c - 0.6 + 0.6 * rx.normal(size=n)))
    y = bernoulli(ry, -4 + 1.8 * c + 0.5 * age)
    return frame_of({"cotinine": x, "smoke": w, "lead": v, "bmi": bmi, "age": age}, "cotinine", y)


@cell("binary")
def bin_near_separable(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 7))
    f = z[:, 0] + np.sin(2 * z[:, 1]) + 0.5 * z[:, 2]
    return array_of(z, 0.5 * f + 0.3 * z[:, 3] + rx.normal(size=n), 5, bernoulli(ry, 5 * f))


@cell("binary", hard=True)
def bin_fast_sine(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.random((n, 2))
    c = np.sin(30 * np.pi * z[:, 0])
    return array_of(z, c + 0.6 * rx.normal(size=n), 0, bernoulli(ry, 2 * c + z[:, 1] - 0.5))


# ------------------------------------------------------------------ three or more classes

_CENT = np.array([[0, 0, 0, 0], [1.8, 1.0, 0, 0], [0, 1.8, 1.4, 0]], float)


@cell("multiclass")
def multi3_latent_clusters(rng, n):
    rz, rx, ry = streams(rng)
    C = rz.choice(3, n, p=[0.45, 0.3, 0.25])
    z = _CENT[C] + rz.normal(size=(n, 4))
    x = np.array([0, 1.5, -1.0])[C] + 0.6 * rx.normal(size=n)
    d = ((z[:, None, :] - _CENT[None]) ** 2).sum(2)
    return array_of(z, x, 2, pick(ry, -0.6 * d))


@cell("multiclass")
def multi4_rare_missing_x(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 6))
    log_second = z[:, 1].copy()
    z[:, 1] = np.exp(log_second)
    z1 = z[:, 0]
    x = 0.7 * z1 + 0.7 * log_second + 0.3 * z1**2 + 0.7 * rx.normal(size=n)
    x[rx.random(n) < sigmoid(-1.5 + z1)] = np.nan
    logits = [0.7 + z1, 0.3 * z1**2 + 0.5 * log_second - 0.3, log_second + 0.5 * z[:, 2] - 0.5]
    y = pick(ry, np.column_stack([np.full(n, 2.6), *logits]))
    return array_of(z, x, 6, y)


@cell("multiclass")
def multi3_likert_x(rng, n):
    rz, rx, ry = streams(rng)
    t = rz.normal(size=(2, n))
    z1 = np.digitize(t[0], [-1.2, -0.4, 0.4, 1.2]) + 1
    z2 = np.digitize(0.4 * t[0] + 0.9 * t[1], [-1.2, -0.4, 0.4, 1.2]) + 1
    z3, z4 = rz.normal(size=n), rz.random(n)
    c = 0.5 * (z1 - 3) - 0.5 * (z2 - 3) + 0.8 * np.tanh(2 * z3)
    x = np.digitize(1.2 * c + rx.logistic(size=n), [-2, -0.7, 0.7, 2]) + 1
    y = np.digitize(1.2 * c + ry.logistic(size=n), [-0.8, 1.0])
    return frame_of({"q1": z1, "q2": z2, "q3": x, "mood": z3, "u": z4}, "q3", y)


@cell("multiclass")
def multi5_habitat_depth(rng, n):
    rz, rx, ry = streams(rng)
    h = rz.choice(3, n, p=[0.5, 0.3, 0.2])
    d, t, w = rz.random(n), rz.normal(size=n), rz.normal(size=n)
    s = np.array([1.0, -1.0, 0.3])[h] * (d - 0.5)
    L = s[:, None] * np.array([-5.0, -2.5, 0, 2.5, 5.0]) + np.array([0.3, 0, 0, -0.2, -0.3])
    L[:, 4] += 0.4 * t
    x = 2.5 * s + 0.3 * t + 0.6 * rx.normal(size=n)
    return frame_of(
        {"habitat": categories(h, ["reef", "sand", "kelp"]), "depth": d, "temp": t, "size": x, "w": w},
        "size",
        pick(ry, L),
    )


@cell("multiclass", hard=True)
def multi3_three_signs(rng, n):
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 8))
    s = np.sign(z[:, 0] * z[:, 1] * z[:, 2])
    return array_of(
        z, s + 0.8 * rx.normal(size=n), 4, pick(ry, np.column_stack([1.2 * s, 0.3 * z[:, 3], -1.2 * s]))
    )


# ------------------------------------------------------------------ counts


@cell("count")
def cnt_seasonal(rng, n):
    rz, rx, ry = streams(rng)
    day, year, wind = rz.integers(1, 366, n), rz.integers(0, 5, n), np.round(rz.exponential(1, n), 1)
    c = np.cos(2 * np.pi * (day - 200) / 365)
    x = np.round(12 + 8 * c - wind + 3 * rx.normal(size=n))
    return frame_of(
        {"temp": x, "day": day, "year": year, "wind": wind},
        "temp",
        ry.poisson(np.exp(1 + 0.7 * c + 0.1 * year)),
    )


@cell("count")
def cnt_negbin_exposure(rng, n):
    rz, rx, ry = streams(rng)
    lE, a, g, p = rz.normal(0, 0.8, n), rz.normal(size=n), rz.integers(0, 3, n), np.exp(rz.normal(0, 0.5, n))
    mu = 1.5 * np.exp(lE + 0.4 * a + np.array([0, 0.5, -0.5])[g])
    x = np.exp(lE + 0.5 * np.abs(a) + 0.6 * (g == 1) + 0.6 * rx.normal(size=n))
    y = ry.poisson(mu * ry.gamma(1.5, 1 / 1.5, n))
    return frame_of(
        {
            "exposure": np.exp(lE),
            "age": a,
            "type": categories(g, ["car", "van", "moto"]),
            "km": x,
            "power": p,
        },
        "km",
        y,
    )


_SITE = np.random.default_rng(11).normal(size=80)


@cell("count", hard=True)
def cnt_many_sites(rng, n):
    rz, rx, ry = streams(rng)
    g, u = rz.integers(0, 80, n), rz.normal(size=n)
    b = _SITE[g]
    x = b + 0.4 * u + 0.8 * rx.normal(size=n)
    return frame_of(
        {"site": categories(g, [f"s{k}" for k in range(80)]), "u": u, "x": x},
        "x",
        ry.poisson(np.exp(0.5 + 0.7 * b + 0.2 * u)),
    )


def draw(name: str, n_rows: int, replicate: int) -> Table:
    """Draw a table: the same for a cell's name and a number, whatever else is run."""
    key = blake2b(f"{name}/{n_rows}#{replicate}".encode(), digest_size=8).digest()
    return CELLS[name](np.random.default_rng(int.from_bytes(key)), n_rows)


def ask(name: str, n_rows: int, replicate: int) -> tuple[float, bool]:
    """Return the p-value of the preset's test, and whether it says that it may be too small."""
    X, y, x = draw(name, n_rows, replicate)
    answer = CrossFitPPI("panel", impute="median", random_state=replicate).evaluate(
        X,
        y,
        x,
        given=[column for column in range(X.shape[1]) if column != x],
        task="regression" if TARGET[name] in ("numeric", "count") else "classification",
    )
    return answer.pvalue, answer.may_be_too_small


def main(cells: list[str], results: Path) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "print"])
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--results", type=Path, default=results)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.what == "run":
        ask_missing(cells, {"preset": ask}, arguments.replicates, arguments.rows, arguments.results)
    else:
        print(table(cells, arguments.results, HARD))


if __name__ == "__main__":
    main(list(CELLS), RESULTS)
