"""Estimators that choose columns by name or type see a data frame, if there was one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ppfs import PPFS
from ppfs.independence import PPI
from ppfs.wrappers import PermutationImportance, Stepwise

N_ROWS = 150


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(size=N_ROWS),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], N_ROWS)),
            "noise": rng.normal(size=N_ROWS),
            "town": rng.choice(["Oslo", "Rome"], N_ROWS),
        }
    )


@pytest.fixture(scope="module")
def y(frame):
    rng = np.random.default_rng(1)
    return frame["size"] + 2.0 * (frame["colour"] == "red") + 0.5 * rng.normal(size=N_ROWS)


def by_name(**settings):
    return make_pipeline(
        ColumnTransformer(
            [
                ("numbers", StandardScaler(), ["size", "noise"]),
                ("text", OneHotEncoder(handle_unknown="ignore"), ["colour", "town"]),
            ],
            **settings,
        ),
        LinearRegression(),
    )


def by_type():
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        ),
        LinearRegression(),
    )


def by_position():
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), [0, 2]), (OneHotEncoder(handle_unknown="ignore"), [False, True, False, True])
        ),
        LinearRegression(),
    )


def by_slice():
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), slice("colour", "colour")),
            (OneHotEncoder(handle_unknown="ignore"), slice(3, None)),
            remainder="passthrough",
        ),
        LinearRegression(),
    )


def searched():
    return GridSearchCV(by_name(), {"columntransformer__sparse_threshold": [0]}, cv=2)


@pytest.mark.parametrize(
    "make",
    [
        by_name,
        by_type,
        by_position,
        lambda: GridSearchCV(by_name(), {"columntransformer__sparse_threshold": [0]}, cv=2),
    ],
    ids=["name", "type", "position", "search"],
)
def test_a_column_transformer_chooses_among_the_columns_of_a_model(frame, y, make):
    selector = PPFS(make(), n_splits=6, random_state=0).fit(frame, y)
    assert set(selector.get_feature_names_out()) == {"size", "colour"}
    assert any("sees a data frame" in note for note in selector.trace_.notes)


def test_polars_and_pandas_give_the_same_answers(frame, y):
    columns = {
        name: frame[name].astype(str if frame[name].dtype != float else float).tolist() for name in frame
    }
    polars = pl.DataFrame(columns).with_columns(pl.col("colour").cast(pl.Categorical))
    ours, theirs = (PPFS(by_name(), n_splits=6, random_state=0).fit(X, y) for X in (frame, polars))
    np.testing.assert_array_equal(ours.pvalues_, theirs.pvalues_)


def test_a_column_that_the_transformer_drops_helps_no_model(frame, y):
    only_noise = make_pipeline(make_column_transformer((StandardScaler(), ["noise"])), LinearRegression())
    assert PPI(only_noise, random_state=0).evaluate(frame, y, "size").pvalue == 1.0
    lone = make_pipeline(make_column_transformer((FirstColumn(), "noise")), LinearRegression())
    assert PPI(lone, random_state=0).evaluate(frame, y, "size").pvalue == 1.0


class FirstColumn(StandardScaler):
    """A transformer of one column, as those of text are."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.asarray(X).reshape(-1, 1), y, sample_weight)

    def transform(self, X, copy=None):
        return super().transform(np.asarray(X).reshape(-1, 1), copy)


def test_a_lone_column_stays_one(frame, y):
    model = make_pipeline(make_column_transformer((FirstColumn(), "size")), LinearRegression())
    assert PPI(model, random_state=0).evaluate(frame, y, "size", given=["noise"]).pvalue < 0.01


def test_feature_groups_keep_the_names_of_their_columns(frame, y):
    groups = {"both": ["size", "colour"]}
    selector = PPFS(by_name(), n_splits=6, feature_groups=groups, random_state=0).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["size", "colour"]


def test_columns_called_by_numbers_are_chosen_by_position(frame, y):
    numbered = frame[["size", "noise"]].set_axis([7, 3], axis=1)
    model = make_pipeline(make_column_transformer((StandardScaler(), [0])), LinearRegression())
    assert PPI(model, random_state=0).evaluate(numbered, y, 0).pvalue < 0.01
    assert PPI(model, random_state=0).evaluate(numbered, y, 1).pvalue == 1.0


@pytest.mark.parametrize("wrapper", [Stepwise, PermutationImportance])
def test_wrappers_show_frames_too(frame, y, wrapper):
    found = wrapper(by_name(remainder="passthrough"), random_state=0).fit(frame, y).get_feature_names_out()
    assert {"size", "colour"} <= set(found)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SimpleImputer(), LogisticRegression()),
        make_pipeline(StandardScaler(), SimpleImputer(), LogisticRegression()),
        make_pipeline("passthrough", SimpleImputer(), LogisticRegression()),
        GridSearchCV(make_pipeline(SimpleImputer(), LogisticRegression()), {}, cv=2),
        make_pipeline(
            make_column_transformer((SimpleImputer(), make_column_selector())), LogisticRegression()
        ),
    ],
    ids=["imputer", "scaler first", "passthrough", "search", "column transformer"],
)
def test_models_that_impute_take_gaps(frame, y, model):
    gappy = frame[["size", "noise"]].copy()
    gappy.loc[::7, "size"] = np.nan
    selector = PPFS(model, n_splits=6, random_state=0).fit(gappy, (y > 0).astype(int))
    assert selector.get_feature_names_out().tolist() == ["size"]
    assert np.isnan(selector.transform(gappy)).any().all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(LogisticRegression()),
    ],
    ids=repr,
)
def test_models_that_do_not_impute_are_refused_with_a_way_out(frame, y, model):
    gappy = frame[["size", "noise"]].copy()
    gappy.loc[::7, "size"] = np.nan
    with pytest.raises(ValueError, match='impute="median"'):
        PPFS(model).fit(gappy, (y > 0).astype(int))
