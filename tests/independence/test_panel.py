"""Several models asked together: what their answers come to, who is asked, and what the trace says of it."""

import numpy as np
import pytest
from scipy.stats import cauchy
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

from ppfs import PPFS
from ppfs.blanket import HITONMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.significance import cauchy_combination
from ppfs.models import default_panel

CURVES = make_pipeline(SplineTransformer(), Ridge())


@pytest.fixture(scope="module")
def curved():
    """A table whose column 1 acts along a parabola, and column 0 along a line."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=150)


def test_the_combination_is_the_mean_of_cauchy_variables():
    pvalues = np.random.default_rng(0).uniform(size=(50, 3)) * 0.9
    expected = cauchy.sf(cauchy.isf(pvalues).mean(axis=1))
    np.testing.assert_allclose(cauchy_combination(pvalues)[0], expected, rtol=1e-9)
    weighted = cauchy.sf(cauchy.isf(pvalues) @ [0.5, 0.25, 0.25])
    np.testing.assert_allclose(cauchy_combination(pvalues, [2, 1, 1])[0], weighted, rtol=1e-9)
    assert cauchy_combination(np.array([[1.0, 0.95]]))[0] == 0.95


def test_the_combination_keeps_what_all_agree_on_and_hears_one_among_many():
    agreed, alone, silenced, sure = np.array(
        [[1e-12] * 3, [1e-12, 0.5, 0.5], [1e-3, 1.0, 1.0], [0.0, 0.5, 1.0]]
    )
    np.testing.assert_allclose(cauchy_combination(agreed[np.newaxis])[0], 1e-12, rtol=1e-9)
    np.testing.assert_allclose(cauchy_combination(alone[np.newaxis])[0], 3e-12, rtol=1e-9)
    assert cauchy_combination(silenced[np.newaxis])[0] < 0.02
    assert cauchy_combination(sure[np.newaxis])[0] == 0


@pytest.mark.parametrize("given", [(), (0,)])
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_a_panel_joins_what_its_models_say_alone(curved, make, given):
    models = [LinearRegression(), CURVES, DecisionTreeRegressor(max_depth=3)]
    alone = [make(model, random_state=0).evaluate(*curved, 1, given) for model in models]
    together = make(models, random_state=0).evaluate(*curved, 1, given)
    if make is CrossFitPPI and given:
        # What each model predicts from the others is a regressor for all of them.
        assert together.pvalue == cauchy_combination(np.array([together.model_pvalues]))[0][0]
        assert np.argmin(together.model_pvalues) == np.argmin([one.pvalue for one in alone])
        return
    assert together.model_pvalues == tuple(one.pvalue for one in alone)
    assert together.pvalue == cauchy_combination(np.array([together.model_pvalues]))[0][0]
    assert together.effect == min(alone, key=lambda one: (one.pvalue, -one.effect)).effect


def test_the_trace_says_who_saw_a_link(curved):
    selector = PPFS([LinearRegression(), CURVES], independence="cross-fit-ppi", random_state=0).fit(*curved)
    assert set(selector.blanket_) == {0, 1}
    assert selector.trace_.models == ("LinearRegression", "SplineTransformer+Ridge")
    frame = selector.trace_.to_frame()
    about = frame[(frame["feature"] == "x1") & (frame["phase"] == "shrink")].iloc[-1]
    assert about["seen_by"] == "SplineTransformer+Ridge"
    assert about["model_pvalues"][1] < 0.01 < about["model_pvalues"][0]
    assert "clearest for SplineTransformer+Ridge (LinearRegression 0." in selector.trace_.explain("x1")
    rejected = frame[frame["decision"] == "rejected"]
    assert rejected["seen_by"].isna().all()
    assert (rejected["model_pvalues"].map(len) == 2).all()
    assert "by model: LinearRegression" in selector.trace_.explain("x3")


def test_a_single_model_leaves_no_panel_in_the_trace(curved):
    selector = PPFS([LinearRegression()], independence="cross-fit-ppi", random_state=0).fit(*curved)
    alone = PPFS(LinearRegression(), independence="cross-fit-ppi", random_state=0).fit(*curved)
    np.testing.assert_array_equal(selector.pvalues_, alone.pvalues_)
    assert "seen_by" not in selector.trace_.to_frame().columns


def test_growth_may_have_models_of_its_own(curved):
    selector = PPFS(
        LinearRegression(),
        growth_estimator=[LinearRegression(), CURVES],
        independence="cross-fit-ppi",
        random_state=0,
    ).fit(*curved)
    growth, shrink = (
        selector.trace_.to_frame().query(f"phase == '{phase}'") for phase in ("growth", "shrink")
    )
    assert selector.trace_.models == ("LinearRegression", "LinearRegression (2)", "SplineTransformer+Ridge")
    assert np.isnan(np.vstack(growth["model_pvalues"])[:, 0]).all()
    given_others = shrink[shrink["n_given"] > 0]
    assert np.isnan(np.vstack(given_others["model_pvalues"])[:, 1:]).all()
    # The line is not enough to keep the parabola.
    assert (growth["decision"] == "candidate").sum() == 2
    assert selector.blanket_.tolist() == [0]


def test_models_in_a_list_have_parameters(curved):
    models = [Ridge(), CURVES]
    selector = PPFS(models, independence="cross-fit-ppi", random_state=0)
    copy = clone(selector).set_params(estimator__0__alpha=1e6, estimator__1=LinearRegression())
    assert (copy.estimator[0].alpha, models[0].alpha) == (1e6, 1.0)
    assert copy.get_params()["estimator__0__alpha"] == 1e6
    assert type(copy.estimator[1]) is LinearRegression
    assert models[1] is CURVES
    before = copy.fit(*curved).pvalues_
    assert (copy.set_params(estimator__0__alpha=1.0).fit(*curved).pvalues_ != before).any()
    with pytest.raises(InvalidInputError, match="names model 7"):
        copy.set_params(estimator__7=Ridge())


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "without a model"),
        ([Ridge], r"estimator\[0\] is the class Ridge"),
        ([Ridge(), "tree"], r"estimator\[1\]='tree' is not a model"),
        ([Ridge(), LogisticRegression()], "the classifier LogisticRegression and the regressor Ridge"),
        ([LogisticRegression(), LogisticRegression(C=2)], "cannot predict|is for classification"),
    ],
)
def test_a_panel_that_cannot_be_asked_is_refused(curved, models, message):
    for test in (CrossFitPPI(models), PPFS(models, independence="cross-fit-ppi", task="regression")):
        with pytest.raises(InvalidInputError, match=message):
            test.evaluate(*curved, 0, task="regression") if isinstance(test, CrossFitPPI) else test.fit(
                *curved
            )


def test_the_default_panel_follows_the_task_of_each_target():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=80) > 0
    # HITON-MB asks about the columns too, which are numeric.
    search = HITONMB(independence=CrossFitPPI("panel"), random_state=0).fit(X, y)
    assert search.blanket_.tolist() == [0]
    assert search.trace_.models == (
        "LogisticRegression",
        "SplineTransformer+LogisticRegression",
        "PolynomialFeatures+LogisticRegression",
        "BoostedLinearClassifier",
    )


@pytest.mark.parametrize("kind", ["gaps", "sparse", "two outputs", "categories", "weights"])
def test_the_default_panel_takes_every_kind_of_table(kind, curved):
    import pandas as pd
    import scipy.sparse as sp

    X, y = curved[0][:, :3].copy(), curved[1]
    weights = None
    if kind == "gaps":
        X[::10, 1] = np.nan
    elif kind == "sparse":
        X = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    elif kind == "two outputs":
        y = np.column_stack([y, X[:, 2]])
    elif kind == "categories":
        X = pd.DataFrame({"line": X[:, 0], "level": np.where(X[:, 1] ** 2 > 1, "high", "low")})
    elif kind == "weights":
        weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    selector = PPFS("panel", independence="cross-fit-ppi", random_state=0).fit(X, y, sample_weight=weights)
    assert 0 in selector.blanket_


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_engine_knows_the_default_panel(task, curved):
    X, y = curved
    target = y > y.mean() if task == "classification" else y
    notes = PPFS("panel", independence="cross-fit-ppi", random_state=0).fit(X, target).trace_.notes
    assert sum("engine" in note for note in notes) >= 2
    # Products are the engine's in growth only, where they are not asked.
    assert sum("scikit-learn" in note for note in notes) <= 1
    assert len(default_panel(task)) == 4


def test_products_are_asked_about_given_others_and_the_line_counts_most(curved):
    X, y = curved
    rng = np.random.default_rng(5)
    X = np.column_stack([X, rng.normal(size=(150, 20))])
    y = y + X[:, 2] * X[:, 3]
    test = CrossFitPPI("panel", random_state=0)
    alone, among_few = (test.evaluate(X, y, 3, given) for given in ([], [0, 1, 2]))
    assert np.isnan(alone.model_pvalues[2])
    assert among_few.model_pvalues[2] < 0.01 < min(among_few.model_pvalues[:2])
    weighted = cauchy_combination(np.array([among_few.model_pvalues]), [8.0, 2.0, 1.5, 0.3])
    assert among_few.pvalue == weighted[0][0]


def test_answers_of_a_panel_do_not_depend_on_workers(curved):
    one, two = (
        PPFS("panel", independence="cross-fit-ppi", random_state=0, n_jobs=n).fit(*curved) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.pvalues_, two.pvalues_)
    by_model = (np.vstack(selector.trace_.to_frame()["model_pvalues"]) for selector in (one, two))
    np.testing.assert_array_equal(*by_model)


def test_a_panel_continues_from_a_checkpoint(tmp_path, curved):
    selector = PPFS([LinearRegression(), CURVES], independence="cross-fit-ppi", random_state=0)
    fresh = clone(selector).fit(*curved)
    selector.set_params(checkpoint=tmp_path / "run").fit(*curved)
    again = clone(selector).fit(*curved)
    assert again.n_tests_ == 0
    np.testing.assert_array_equal(again.pvalues_, fresh.pvalues_)
    assert (
        again.trace_.to_frame()["model_pvalues"].tolist() == fresh.trace_.to_frame()["model_pvalues"].tolist()
    )


def test_the_notes_begin_with_the_models_and_how_they_are_joined():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    first = PPFS.calibrated(random_state=0).fit(X, y).trace_.notes[0]
    assert first.startswith("a panel of models: LogisticRegression, ")
    assert first.endswith("p-values combined by Cauchy's method")
    alone = PPFS.calibrated(LogisticRegression(), random_state=0).fit(X, y).trace_.notes
    assert not any("panel" in note for note in alone)
