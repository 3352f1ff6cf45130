"""scikit-learn's diagram shows what a fitted selector selected, alone, in a pipeline and in a notebook."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from ppfs import PPFS


def in_notebook(selector):
    return selector._repr_mimebundle_()["text/html"]


def in_pipeline(selector):
    return estimator_html_repr(make_pipeline(selector, LogisticRegression()))


def problem():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["<b>age</b>", "b", "c"])
    return X, (X["<b>age</b>"] + 0.3 * rng.normal(size=200) > 0).astype(int)


@pytest.mark.parametrize("shown", [estimator_html_repr, in_notebook, in_pipeline])
def test_the_selected_columns_stand_in_the_diagram_with_their_names_escaped(shown):
    selector = PPFS(LogisticRegression(), n_splits=20, random_state=0)
    assert "columns selected" not in shown(selector)
    selector.fit(*problem())
    said = "1 of 3 columns selected, most important first: &#x27;&lt;b&gt;age&lt;/b&gt;&#x27;"
    assert said in shown(selector)
    assert "<b>age</b>" not in shown(selector)


def test_showing_a_selector_computes_nothing(monkeypatch):
    """scikit-learn's table of fitted attributes reads all that it finds."""
    selector = PPFS(LogisticRegression(), n_splits=20, random_state=0).fit(*problem())
    monkeypatch.setattr("ppfs._verdicts.sufficiency_of", None)
    monkeypatch.setattr("ppfs._verdicts.blankets_of", None)
    assert "support_" in estimator_html_repr(selector) or sklearn.__version__ < "1.9"


def test_an_empty_selection_is_said():
    X, y = problem()
    selector = PPFS.calibrated(random_state=0).fit(X[["b", "c"]], y)
    assert "0 of 2 columns selected<" in estimator_html_repr(selector)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_the_kind_of_output_that_was_set_for_all_estimators_is_returned(kind):
    library = pytest.importorskip(kind)
    X, y = problem()
    selector = PPFS(LogisticRegression(), n_splits=20, random_state=0).fit(X, y)
    with config_context(transform_output=kind):
        kept = selector.transform(X)
    assert isinstance(kept, library.DataFrame)
    assert list(kept.columns) == ["<b>age</b>"]
