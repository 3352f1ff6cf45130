"""The likelihood-ratio test against scikit-learn, least squares and hand-derived limits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import chi2, f

from ppfs._data.reading import read_table
from ppfs.independence import LikelihoodRatio, PartialCorrelationT
from ppfs.independence._answers import CANNOT_TELL, IndependenceResult
from ppfs.independence._classical.likelihood_ratio import _combined
from ppfs.independence._classical.logistic import fit_logistic


def log_likelihood(design, labels):
    """Maximise the multinomial likelihood with a general optimiser."""
    n_classes = labels.max() + 1
    onehot = np.eye(n_classes)[labels]

    def loss(flat):
        scores = np.column_stack([np.zeros(len(design)), design @ flat.reshape(design.shape[1], -1)])
        logs = log_softmax(scores, axis=1)
        gradient = design.T @ (np.exp(logs) - onehot)[:, 1:]
        return -(logs * onehot).sum(), gradient.ravel()

    start = np.zeros(design.shape[1] * (n_classes - 1))
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8})
    return -found.fun


@pytest.fixture
def mixed():
    """A categorical column with three categories, two numeric ones, and targets of both kinds that depend on them."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 300), rng.normal(size=(300, 2))])
    score = (X[:, 0] == 1) + X[:, 1] + rng.logistic(size=300)
    return X, np.digitize(score, [0, 1.5]), score


def dummies(X):
    return np.column_stack([X[:, 0] == 1, X[:, 0] == 2]).astype(float)


def test_multinomial_target_equals_a_general_optimiser(mixed):
    X, y, _ = mixed
    base = np.column_stack([np.ones(300), X[:, 1]])
    larger = np.column_stack([base, dummies(X)])
    expected = 2 * (log_likelihood(larger, y) - log_likelihood(base, y))
    found = LikelihoodRatio().evaluate(X, y, 0, given=[1])
    assert found.statistic == pytest.approx(expected, rel=1e-6)
    assert found.pvalue == pytest.approx(chi2.sf(expected, 4), rel=1e-5)
    assert found.effect == pytest.approx(expected / 4, rel=1e-6)


def test_binary_target_given_a_category(mixed):
    X, y, _ = mixed
    y = np.where(y > 0, "yes", "no")
    base = np.column_stack([np.ones(300), dummies(X)])
    labels = (y == "yes").astype(int)
    expected = 2 * (log_likelihood(np.column_stack([base, X[:, 1]]), labels) - log_likelihood(base, labels))
    assert LikelihoodRatio().evaluate(X, y, 1, given=[0]).statistic == pytest.approx(expected, rel=1e-6)


def test_quantity_given_a_quantity_is_the_t_test(mixed):
    X, _, score = mixed
    X = X[:, 1:]
    ratio, t = (test.evaluate(X, score, 1, given=[0]) for test in (LikelihoodRatio(), PartialCorrelationT()))
    assert ratio.statistic == pytest.approx(t.statistic**2, rel=1e-9)
    assert ratio.pvalue == pytest.approx(t.pvalue, rel=1e-9)


def test_category_is_the_f_test_of_its_dummies(mixed):
    X, _, score = mixed

    def rss(design):
        return ((score - design @ np.linalg.lstsq(design, score, rcond=None)[0]) ** 2).sum()

    base = np.column_stack([np.ones(300), X[:, 1]])
    before, after = rss(base), rss(np.column_stack([base, dummies(X)]))
    expected = ((before - after) / 2) / (after / (300 - 4))
    found = LikelihoodRatio().evaluate(X, score, 0, given=[1])
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found.pvalue == pytest.approx(f.sf(expected, 2, 296), rel=1e-8)


def test_relabelled_categories_give_the_same_answer(mixed):
    X, y, _ = mixed
    relabelled = X.copy()
    relabelled[:, 0] = np.array([4.0, 0.0, 9.0])[X[:, 0].astype(int)]
    for x, given in [(0, [1]), (1, [0])]:
        plain = LikelihoodRatio().evaluate(X, y, x, given=given)
        other = LikelihoodRatio().evaluate(relabelled, np.array(["z", "a", "k"])[y], x, given=given)
        assert other.pvalue == pytest.approx(plain.pvalue, rel=1e-6)


def test_separated_classes_reach_the_limit_of_the_likelihood():
    # Perfectly separated, the likelihood goes to 1 and its logarithm to 0; without x it is n log(1/2).
    x = np.linspace(-1, 1, 50).reshape(-1, 1)
    found = LikelihoodRatio().evaluate(x, (x[:, 0] > 0).astype(int), 0)
    assert found.statistic == pytest.approx(2 * 50 * np.log(2), rel=1e-6)


def test_columns_that_separate_the_classes_are_equal():
    # Steps towards the limit ended at another place for each column, and whose came nearest was chosen by rounding.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = y[:, None] + rng.uniform(0, 0.9, (60, 8))
    test = LikelihoodRatio().bind(read_table(X, y, task="auto", owner="a test"))
    assert len(set(test.query_many(range(8), 8))) == 1


def test_partly_separated_classes_converge():
    # The first 20 rows of x = 1 are all of class 1; the rest is a fair coin.
    rng = np.random.default_rng(0)
    x, y = np.r_[np.ones(20), np.zeros(80)], np.r_[np.ones(20), rng.integers(0, 2, 80)].astype(int)
    n_ones = y[20:].sum()
    inside = n_ones * np.log(n_ones / 80) + (80 - n_ones) * np.log(1 - n_ones / 80)
    share = y.mean()
    base = 100 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    found = LikelihoodRatio().evaluate(x.reshape(-1, 1), y, 0)
    assert found.statistic == pytest.approx(2 * (inside - base), rel=1e-6)


def test_newton_gets_the_same_optimum_from_any_start():
    rng = np.random.default_rng(0)
    design = np.linalg.qr(np.column_stack([np.ones(100), rng.normal(size=(100, 3))]))[0]
    labels = rng.integers(0, 3, 100)
    cold = fit_logistic(design, labels)
    warm = fit_logistic(design, labels, start=10 * rng.normal(size=(2, 2)))
    assert warm.log_likelihood == pytest.approx(cold.log_likelihood, abs=1e-8)
    np.testing.assert_allclose(warm.coefficients, cold.coefficients, atol=1e-4)


def test_too_few_rows_for_the_coefficients_is_cannot_tell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6))
    labels = np.tile([0, 1], 10)
    # Intercept, three given and x: 5 coefficients need 25 rows; without one of them 20 are enough.
    assert not LikelihoodRatio().evaluate(X, labels, 0, given=[1, 2, 3]).is_reliable
    assert LikelihoodRatio().evaluate(X, labels, 0, given=[1, 2]).is_reliable


def test_rows_for_a_conditioning_set():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 40), rng.normal(size=(40, 6))])
    labelled = LikelihoodRatio().bind(read_table(X, np.tile([0, 1], 20), task="auto", owner="test"))
    # Intercept, two dummies and five numeric columns: 8 coefficients need 40 rows.
    assert labelled.has_rows_for(7, range(6))
    assert not labelled.has_rows_for(7, range(7))
    measured = LikelihoodRatio().bind(read_table(X, rng.normal(size=40), task="auto", owner="test"))
    assert measured.has_rows_for(7, range(7))


def test_symmetric_version_combines_both_directions(mixed):
    X, y, _ = mixed
    test = LikelihoodRatio(symmetric=True)
    table = read_table(X, y, task="auto", owner="test")
    plain = LikelihoodRatio().bind(table)
    forth, back = plain.query(1, 3, (2,)).pvalue, plain.query(3, 1, (2,)).pvalue
    expected = min(2 * min(forth, back), max(forth, back))
    assert test.bind(table).query(1, 3, (2,)).pvalue == pytest.approx(expected)
    assert test.bind(table).query(3, 1, (2,)).pvalue == pytest.approx(expected)


def test_where_one_direction_cannot_tell_the_other_counts():
    known = IndependenceResult(0.3, 1.0, 1.0)
    assert _combined(known, CANNOT_TELL) == _combined(CANNOT_TELL, known) == known
    assert not _combined(CANNOT_TELL, CANNOT_TELL).is_reliable


def test_fits_are_counted(mixed):
    X, y, _ = mixed
    bound = LikelihoodRatio().bind(read_table(X, y, task="auto", owner="test"))
    bound.query_many([0, 1], 3, (2,))
    assert bound.n_fits == 3  # without x, and with each of two
