"""Answers of a dozen and a half fits, written down: whatever changes one of them has to say so here.

The numbers are no theory, they are what the package answered when they were pinned. Splits, shuffles and seeds follow
from ``random_state`` by written rules (tests/reference/drawing.py), so a change of any draw, loss, order or p-value
shows. Blankets are pinned in the order of importance; p-values to nine digits, because libraries of linear
algebra differ in the last ones.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.blanket import FBED, HITONMB, IAMB, IAMBFDR, MMMB, SGAI, FastIAMB, InterIAMBnPC, TIEStar
from ppfs.independence import PPI, ChiSquared, CrossFitPPI, GSquared, LikelihoodRatio


def quantities():
    """Six columns around a target: cause, its copy with noise, cause, effect, spouse, noise."""
    rng = np.random.default_rng(2021)
    X = rng.normal(size=(90, 6))
    X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
    y = X[:, 0] - 0.7 * X[:, 2] + 0.8 * rng.normal(size=90)
    X[:, 3] = y + X[:, 4] + 0.6 * X[:, 3]
    return X, y


def labels():
    X, y = quantities()
    return X, np.digitize(y, [-0.5, 0.6])


def two_labels():
    X, y = quantities()
    return X, (y > 0).astype(int)


def codes():
    rng = np.random.default_rng(2022)
    X = rng.integers(0, [2, 3, 2, 4, 2], size=(300, 5))
    y = np.where(rng.random(300) < 0.8, (X[:, 0] + X[:, 1]) % 2, rng.integers(0, 2, 300))
    X[:, 2] = np.where(rng.random(300) < 0.8, X[:, 0], X[:, 2])
    return X, y


def frame():
    X, y = quantities()
    columns = {f"c{i}": X[:, i] for i in range(5)}
    columns["kind"] = np.array(["a", "b", "c"])[np.digitize(X[:, 5] + 0.5 * y, [-0.5, 0.5])]
    return pd.DataFrame(columns), y


def sparse():
    X, y = two_labels()
    return sp.csr_array(np.where(np.abs(X) > 0.4, X, 0.0)), y


GROUPED = {"feature_groups": {"pair": [3, 4]}}

FITS = {
    "the paper's search, trees": (PPFS(n_splits=20, random_state=1), two_labels),
    "trees, three classes, folds": (PPFS(n_splits=10, n_folds=3, random_state=2), labels),
    "trees, regression, corrected t": (
        PPFS(n_splits=15, significance="corrected-t", random_state=3),
        quantities,
    ),
    "shallow trees, sparse, Brier": (
        PPFS(DecisionTreeClassifier(max_depth=2), loss="brier", n_splits=12, random_state=4),
        sparse,
    ),
    "linear, groups": (PPFS(LinearRegression(), n_splits=12, random_state=5, **GROUPED), quantities),
    "logistic, Bonferroni": (
        PPFS(LogisticRegression(), n_splits=16, correction="bonferroni", random_state=6),
        two_labels,
    ),
    "naive Bayes, class weights": (
        PPFS(GaussianNB(), n_splits=8, class_weight="balanced", random_state=7),
        labels,
    ),
    "forest": (PPFS(RandomForestRegressor(5), n_splits=8, random_state=8), quantities),
    "conditional draws": (
        PPFS(Ridge(), knockoff="conditional", significance="paired-t", n_draws=3, n_splits=8, random_state=9),
        quantities,
    ),
    "calibrated, linear": (
        PPFS.calibrated(LinearRegression(), growth="marginal", second_look=False, random_state=10),
        quantities,
    ),
    "calibrated, trees": (
        PPFS.calibrated(None, correction=None, growth="marginal", second_look=False, random_state=11),
        quantities,
    ),
    "calibrated, beside others": (PPFS.calibrated(LinearRegression(), random_state=10), quantities),
    "early stop": (
        PPFS(
            independence=CrossFitPPI(Ridge(), significance="randomisation", n_draws=99, early_stop=True),
            random_state=12,
        ),
        quantities,
    ),
    "IAMB, Fisher's z": (IAMB(), quantities),
    "IAMB with the paper's test": (
        IAMB(independence=PPI(LinearRegression(), n_splits=10), random_state=13),
        frame,
    ),
    "FBED, likelihood ratio": (FBED(independence=LikelihoodRatio()), frame),
    "MMMB": (MMMB(alpha=0.1), quantities),
    "HITON-MB, chi-squared": (HITONMB(independence=ChiSquared()), codes),
    "FastIAMB, G-squared": (FastIAMB(independence=GSquared()), codes),
    "IAMB-FDR": (IAMBFDR(), quantities),
    "InterIAMBnPC, given a column": (InterIAMBnPC(condition_on=[5]), quantities),
    "TIE*": (TIEStar(alpha=0.01), quantities),
    "SGAI": (SGAI(), quantities),
}

GOLDEN = {
    "the paper's search, trees": (
        [3, 0, 4],
        [0.00222227444, 0.224890729, 0.125934204, 4.96896853e-05, 0.0444294569, 0.12045056],
    ),
    "trees, three classes, folds": ([0], [0.01171875, 0.475585938, 0.1953125, 0.0546875, 0.5, 0.109375]),
    "trees, regression, corrected t": (
        [3],
        [0.186723962, 0.277447319, 0.0643300679, 0.0372539183, 0.47404109, 0.531836204],
    ),
    "shallow trees, sparse, Brier": ([3, 0], [0.00390625, 0.0625, 0.375, 0.000244140625, 0.81640625, 1]),
    "linear, groups": (
        [3, 4, 0, 2],
        [0.00048828125, 0.211914062, 0.000244140625, 0.000244140625, 0.000244140625, 0.454833984],
    ),
    "logistic, Bonferroni": (
        [3, 0, 2],
        [1.52587891e-05, 0.410446167, 7.62939453e-05, 1.52587891e-05, 0.997909546, 0.735916138],
    ),
    "naive Bayes, class weights": (
        [3, 1],
        [0.19140625, 0.01953125, 0.0546875, 0.00390625, 0.9609375, 0.3203125],
    ),
    "forest": ([0, 3, 2], [0.0078125, 0.19140625, 0.00390625, 0.0078125, 0.9609375, 0.84375]),
    "conditional draws": (
        [3, 2, 0],
        [0.0119054887, 0.713915481, 0.000627798964, 4.69722976e-05, 0.79458618, 0.128926496],
    ),
    "calibrated, linear": (
        [1, 3, 2],
        [0.271087723, 0.000251903607, 0.00202783979, 0.000550497908, 0.967078786, 0.186532],
    ),
    "calibrated, trees": (
        [3, 1],
        [0.214969511, 0.024491575, 0.219917751, 0.000757083741, 0.822288904, 0.822393014],
    ),
    "calibrated, beside others": (
        [3, 4, 1, 2],
        [0.78706663, 0.00466543298, 0.0119890673, 0.000103601924, 0.000792056909, 0.186532],
    ),
    "early stop": ([1, 3, 2], [0.06, 0.01, 0.01, 0.01, 0.769230769, 0.5]),
    "IAMB, Fisher's z": (
        [3, 4, 0, 2],
        [8.34590177e-09, 0.581080354, 1.94100778e-05, 1.25549123e-21, 1.9382012e-11, 0.761324226],
    ),
    "IAMB with the paper's test": (
        [3, 4, 0, 2],
        [0.0009765625, 0.0966796875, 0.013671875, 0.0009765625, 0.0009765625, 0.721679688],
    ),
    "FBED, likelihood ratio": (
        [3, 4, 0, 2],
        [2.09474255e-08, 0.614906495, 2.54755789e-05, 6.66554233e-19, 1.03092374e-10, 0.167155982],
    ),
    "MMMB": (
        [4, 3, 2, 0],
        [0.0238831075, 0.143910704, 3.25638425e-08, 2.38538882e-10, 1.18680024e-16, 0.194467092],
    ),
    "HITON-MB, chi-squared": ([0], [1.32479511e-06, 0.723549887, 0.162786332, 0.344398932, 0.685055191]),
    "FastIAMB, G-squared": ([0, 1], [3.74201999e-42, 2.93769177e-36, 0.229336009, 0.0839855784, 0.31990408]),
    "IAMB-FDR": (
        [3, 4, 0, 2],
        [8.34590177e-09, 0.581080354, 1.94100778e-05, 1.25549123e-21, 1.9382012e-11, 0.761324226],
    ),
    "InterIAMBnPC, given a column": (
        [3, 4, 0, 2],
        [1.24277267e-12, 0.59020501, 4.72270838e-08, 2.33282648e-31, 2.13757724e-16, np.nan],
    ),
    "TIE*": (
        [3, 4, 0, 2],
        [8.34590177e-09, 0.581080354, 1.94100778e-05, 1.25549123e-21, 1.9382012e-11, 0.761324226],
    ),
    "SGAI": (
        [1, 3, 2],
        [0.624698502, 3.31704837e-11, 5.9336684e-07, 7.30841426e-10, 0.783428906, 0.194467092],
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_answers_are_those_that_were_pinned(name):
    search, sample = FITS[name]
    fitted = search.fit(*sample())
    blanket, pvalues = GOLDEN[name]
    assert fitted.blanket_.tolist() == blanket
    np.testing.assert_allclose(fitted.pvalues_, pvalues, rtol=1e-8, atol=1e-300)
