"""A notebook shows what a fitted selector selected."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from ppfs import PPFS


def shown(selector):
    return selector._repr_mimebundle_()["text/html"]


def problem():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["<b>age</b>", "b", "c"])
    return X, (X["<b>age</b>"] + 0.3 * rng.normal(size=200) > 0).astype(int)


def test_the_selected_columns_stand_below_the_diagram_with_their_names_escaped():
    selector = PPFS(LogisticRegression(), n_splits=20, random_state=0)
    assert "columns selected" not in shown(selector)
    selector.fit(*problem())
    assert "1 of 3 columns selected, most important first: &#x27;&lt;b&gt;age&lt;/b&gt;&#x27;" in shown(
        selector
    )


def test_an_empty_selection_is_said():
    X, y = problem()
    selector = PPFS.calibrated(random_state=0).fit(X[["b", "c"]], y)
    assert "0 of 2 columns selected<" in shown(selector)
