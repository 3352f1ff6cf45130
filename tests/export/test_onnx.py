"""A pipeline with a selector gives the same predictions in onnxruntime."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.blanket import FBED, IAMB, GrowShrink
from ppfs.exceptions import InvalidInputError
from ppfs.export import SelectedColumns, to_onnx
from ppfs.wrappers import PermutationImportance, Stepwise

pytest.importorskip("skl2onnx", exc_type=ImportError)
runtime = pytest.importorskip("onnxruntime", exc_type=ImportError)


def run(onnx, feed):
    session = runtime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {each.name: feed[each.name] for each in session.get_inputs()})


def numbers(n_classes=2):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6)).astype(np.float32)
    score = X[:, 1] + X[:, 4] + 0.3 * rng.normal(size=300)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


SELECTORS = {
    "PPFS": PPFS(n_splits=20, random_state=0),
    "calibrated": PPFS.calibrated(random_state=0),
    "GrowShrink": GrowShrink(),
    "IAMB": IAMB(),
    "FBED": FBED(),
    "Stepwise": Stepwise(LogisticRegression()),
    "PermutationImportance": PermutationImportance(LogisticRegression(), random_state=0),
    "SelectedColumns": SelectedColumns(["b", "e"], list("abcdef")),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selector_alone_keeps_the_same_columns(name):
    X, y = numbers()
    selector = SELECTORS[name].fit(X, y)
    (kept,) = run(to_onnx(selector, X), {"X": X})
    assert np.array_equal(kept, selector.transform(X))


MODELS = {
    "logistic": LogisticRegression(),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_classifiers_after_a_selector_predict_the_same(model, n_classes):
    X, y = numbers(n_classes)
    pipeline = make_pipeline(PPFS(n_splits=20, random_state=0), MODELS[model]).fit(X, y)
    assert 0 < pipeline[0].support_.sum() < 6
    labels, shares = run(to_onnx(pipeline, X, options={"zipmap": False}), {"X": X})
    assert np.array_equal(labels, pipeline.predict(X))
    assert shares == pytest.approx(pipeline.predict_proba(X), abs=1e-5)


def test_a_regressor_after_a_selector_predicts_the_same():
    X, _ = numbers()
    y = X[:, 1] - X[:, 4]
    pipeline = make_pipeline(PPFS(Ridge(), n_splits=5, random_state=0), Ridge()).fit(X, y)
    (predicted,) = run(to_onnx(pipeline, X), {"X": X})
    assert predicted.ravel() == pytest.approx(pipeline.predict(X), abs=1e-5)


COLUMNS = ["body mass", "noise", "city", "gap", "more noise"]


def mixed():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "body mass": rng.normal(size=200),
            "noise": rng.normal(size=200),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], size=200),
            "gap": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
            "more noise": rng.normal(size=200),
        }
    )
    assert list(frame) == COLUMNS
    score = 2 * frame["body mass"] + 4 * (frame["city"] == "Ulm") + 2 * frame["gap"].fillna(0)
    return frame, (score + 0.3 * rng.normal(size=200) > 1).astype(int)


def frame_pipeline(selector):
    by_kind = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
            ("texts", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        ]
    )  # fmt: skip
    return make_pipeline(selector.set_output(transform="pandas"), by_kind, LogisticRegression())


@pytest.mark.parametrize(
    "selector",
    [
        PPFS.calibrated(impute="median", random_state=0),
        SelectedColumns(["body mass", "city", "gap"], COLUMNS),
    ],
    ids=["calibrated", "by hand"],
)
def test_frames_with_categories_missing_values_and_odd_names(selector):
    X, y = mixed()
    pipeline = frame_pipeline(selector).fit(X, y)
    assert set(pipeline[0].get_feature_names_out()) == {"body mass", "city", "gap"}
    # sklearn-onnx replaces what ONNX does not allow in names.
    feed = {
        name.replace(" ", "_"): X[[name]].to_numpy(dtype=object if name == "city" else np.float32)
        for name in X.columns
    }
    labels, shares = run(to_onnx(pipeline, X, options={"zipmap": False}), feed)
    assert np.array_equal(labels, pipeline.predict(X))
    assert shares == pytest.approx(pipeline.predict_proba(X), abs=1e-5)


def test_an_empty_selection_is_refused():
    X, y = numbers()
    selector = PPFS.calibrated(random_state=0).fit(np.random.default_rng(0).normal(size=X.shape), y)
    assert not selector.support_.any()
    with pytest.raises(InvalidInputError, match="No columns were selected"):
        to_onnx(selector, X)


def test_columns_that_onnx_cannot_hold_are_named():
    X, _ = mixed()
    selector = SelectedColumns(["noise"], list(X.columns))
    with pytest.raises(InvalidInputError, match="Column 'day' is of type Datetime"):
        to_onnx(selector, X.assign(day=pd.Timestamp("2026-01-01")))
