"""The test that the flat parameters of a search describe, and what is said of parameters without effect."""

import pytest
from sklearn.linear_model import LinearRegression, Ridge

from ppfs import PPFS
from ppfs.blanket._run.described_test import described_test
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, FisherZ

LINE = LinearRegression()


def described(independence=None, **parameters):
    return described_test(PPFS(independence=independence, **parameters), independence)


def changed(test):
    return {
        name: value
        for name, value in test.get_params(deep=False).items()
        if value != type(test)().get_params()[name]
    }


@pytest.mark.parametrize(
    ("independence", "parameters", "kind", "expected"),
    [
        (None, {}, PPI, {}),
        (None, {"alpha": 0.2, "n_jobs": 2}, PPI, {}),
        (
            None,
            {"n_splits": 7, "test_size": 0.4, "estimator": LINE},
            PPI,
            {"n_splits": 7, "test_size": 0.4, "estimator": LINE},
        ),
        (
            "ppi",
            {"growth_estimator": LINE, "task": "regression"},
            PPI,
            {"marginal_estimator": LINE, "task": "regression"},
        ),
        (
            "cross-fit-ppi",
            {"n_draws": 9, "growth_estimator": LINE},
            CrossFitPPI,
            {"n_draws": 9, "marginal_estimator": LINE},
        ),
        ("fisher-z", {"task": "regression"}, FisherZ, {}),
        ("fisher-z", {}, FisherZ, {}),
    ],
)
def test_parameters_that_are_not_at_their_default_describe_the_test(independence, parameters, kind, expected):
    test = described(independence, **parameters)
    assert type(test) is kind
    assert changed(test) == expected


def test_a_ready_test_is_copied_and_checked():
    ready = CrossFitPPI(Ridge(), n_draws=3)
    test = described(ready, task="auto")
    assert test is not ready
    assert (type(test.estimator), test.n_draws) == (Ridge, 3)
    with pytest.raises(ValueError, match="The 'n_draws' parameter of CrossFitPPI must be"):
        described(CrossFitPPI(n_draws=-1))
    assert isinstance(described(FisherZ(), task="regression"), FisherZ)


@pytest.mark.parametrize(
    ("independence", "parameters", "message"),
    [
        (
            "fisher-z",
            {"n_splits": 7, "estimator": LINE},
            "estimator=LinearRegression() would have no effect: independence='fisher-z' does not take it. Leave it "
            "out, or pass a ready test with parameters of its own: independence=FisherZ(...).",
        ),
        (
            "cross-fit-ppi",
            {"n_splits": 7},
            "n_splits=7 would have no effect: independence='cross-fit-ppi' does not take it. Leave it out, or pass a "
            "ready test with parameters of its own: independence=CrossFitPPI(...).",
        ),
        (
            CrossFitPPI(),
            {"growth_estimator": LINE},
            "growth_estimator=LinearRegression() would have no effect: independence=CrossFitPPI(...) is a ready test "
            "with parameters of its own. Write independence=CrossFitPPI(marginal_estimator=...), or "
            "independence='cross-fit-ppi', which takes growth_estimator.",
        ),
        (
            PPI(),
            {"n_splits": 7},
            "n_splits=7 would have no effect: independence=PPI(...) is a ready test with parameters of its own. Write "
            "independence=PPI(n_splits=...).",
        ),
        (
            FisherZ(),
            {"n_splits": 7},
            "n_splits=7 would have no effect: independence=FisherZ(...) is a ready test with parameters of its own. "
            "Leave it out.",
        ),
        (
            PPI(),
            {"task": "regression"},
            "task='regression' would have no effect: independence=PPI(...) is a ready test with parameters of its own. "
            "Write independence=PPI(task=...), or independence='ppi', which takes task.",
        ),
    ],
)
def test_parameters_without_effect_are_refused_with_a_way_out(independence, parameters, message):
    with pytest.raises(InvalidInputError) as raised:
        described(independence, **parameters)
    assert str(raised.value) == message
