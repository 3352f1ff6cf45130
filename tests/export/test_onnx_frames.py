"""Twenty pipelines of frames with categories, missing values and names that ONNX does not allow give equal tables."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.blanket import FBED, IAMB, GrowShrink, InterIAMB
from ppfs.export import SelectedColumns, to_onnx
from ppfs.independence import PPI

pytest.importorskip("skl2onnx", exc_type=ImportError)
runtime = pytest.importorskip("onnxruntime", exc_type=ImportError)

NEEDED = ["body mass (kg)", "Größe", "city"]
COLUMNS = ["noise", *NEEDED, "x.1", "is 'new'", "visits", "color"]


def mixed(kind):
    """Return a frame whose columns of text are of a kind, and a target that needs three of its eight columns."""
    rng = np.random.default_rng(2)
    n = 240
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "body mass (kg)": np.where(rng.random(n) < 0.08, np.nan, rng.normal(size=n)),
            "Größe": np.where(rng.random(n) < 0.08, np.nan, rng.normal(size=n)),
            "city": rng.choice(["Ulm", "Bonn", "São Paulo"], size=n),
            "x.1": rng.normal(size=n),
            "is 'new'": rng.random(n) < 0.5,
            "visits": rng.integers(0, 30, size=n),
            "color": rng.choice(["red", "green", "a, b"], size=n),
        }
    )
    assert list(frame) == COLUMNS
    score = (
        2 * frame["body mass (kg)"].fillna(0) - 2 * frame["Größe"].fillna(0) + 4 * (frame["city"] == "Ulm")
    )
    texts = ["city", "color"]
    return frame.astype(dict.fromkeys(texts, kind)), (score + 0.3 * rng.normal(size=n) > 1).astype(int)


def prepared(scaler, encoder):
    """Return a step that fills missing values and encodes texts."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), scaler), make_column_selector(dtype_include="number")),
            ("texts", encoder, make_column_selector(dtype_include=["object", "category"])),
        ]
    )


def one_hot():
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def ordinal():
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


LINEAR = {"impute": "median", "random_state": 0}
QUICK = {"growth": "marginal", "second_look": False}


def asked():
    return PPI(n_splits=9, **LINEAR)


SELECTORS = {
    "PPFS": lambda: PPFS(n_splits=9, **LINEAR),
    "PPFS in folds": lambda: PPFS(n_splits=9, n_folds=2, **LINEAR),
    "calibrated": lambda: PPFS.calibrated(**QUICK, **LINEAR),
    "confirmed": lambda: PPFS.calibrated(confirm=0.3, **QUICK, **LINEAR),
    "GrowShrink": lambda: GrowShrink(independence=asked()),
    "IAMB": lambda: IAMB(independence=asked()),
    "InterIAMB": lambda: InterIAMB(independence=asked()),
    "FBED": lambda: FBED(independence=asked()),
    "PPFS of naive Bayes": lambda: PPFS(GaussianNB(), n_splits=9, **LINEAR),
    "SelectedColumns": lambda: SelectedColumns(NEEDED, COLUMNS),
}
MODELS = [
    (StandardScaler, one_hot, LogisticRegression()),
    (MinMaxScaler, ordinal, DecisionTreeClassifier(max_depth=4, random_state=0)),
    (StandardScaler, one_hot, RandomForestClassifier(5, max_depth=4, random_state=0)),
    (StandardScaler, one_hot, GaussianNB()),
    (MinMaxScaler, ordinal, GradientBoostingClassifier(n_estimators=5, random_state=0)),
]
PIPELINES = [
    pytest.param(name, *MODELS[(2 * i + j) % len(MODELS)], kind, id=f"{name}, {kind}")
    for i, name in enumerate(SELECTORS)
    for j, kind in enumerate(["object", "category"])
]


def run(onnx, frame):
    """Return what onnxruntime computes from a frame, one input per column."""
    session = runtime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
    kinds = {
        "tensor(float)": np.float32,
        "tensor(int64)": np.int64,
        "tensor(bool)": bool,
        "tensor(string)": object,
    }
    by_name = {each.name: each for each in session.get_inputs()}
    feed = {}
    for name in frame.columns:
        # sklearn-onnx replaces what ONNX does not allow in names.
        known = re.sub(r"\W", "_", name)
        if known in by_name:
            feed[known] = frame[[name]].to_numpy(dtype=kinds[by_name[known].type])
    return session.run(None, feed)


@pytest.mark.parametrize(("name", "scaler", "encoder", "model", "kind"), PIPELINES)
def test_pipelines_of_frames_give_the_same_tables_and_predictions(name, scaler, encoder, model, kind):
    X, y = mixed(kind)
    selector = SELECTORS[name]().set_output(transform="pandas")
    pipeline = make_pipeline(selector, prepared(scaler(), encoder()), model).fit(X, y)
    assert 2 <= pipeline[0].get_support().sum() < len(COLUMNS)
    (table,) = run(to_onnx(pipeline[:-1], X), X)
    assert table == pytest.approx(np.asarray(pipeline[:-1].transform(X), dtype=float), abs=1e-5)
    labels, shares = run(to_onnx(pipeline, X, options={"zipmap": False}), X)
    assert np.array_equal(labels, pipeline.predict(X))
    assert shares == pytest.approx(pipeline.predict_proba(X), abs=1e-5)


def test_there_are_twenty_pipelines():
    assert len(PIPELINES) == 20
