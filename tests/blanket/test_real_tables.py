"""Real tables: categories, missing values, groups of columns and of rows, weights."""

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import FBED
from ppfs.datasets import load_dataset, make_blanket_problem
from ppfs.independence import PPI, CrossFitPPI


# Rows of the same class lie together in this file.
@pytest.mark.filterwarnings("ignore::ppfs.exceptions.DependentRowsWarning")
@pytest.mark.data
@pytest.mark.parametrize(
    "model",
    [None, LogisticRegression(), HistGradientBoostingClassifier(max_iter=20)],
    ids=["tree", "logistic", "boosting"],
)
def test_credit_in_its_raw_form_gives_the_same_blanket_from_pandas_and_polars(model):
    pl = pytest.importorskip("polars")
    credit = load_dataset("credit")
    pandas_frame = credit.to_frame().drop(columns=credit.target_name)
    names = [str(name) for name in pandas_frame.columns]
    polars_frame = pl.DataFrame({name: pandas_frame[name].to_list() for name in names})
    selector = PPFS(model, n_splits=10, random_state=0)
    from_pandas = selector.fit(pandas_frame, credit.y).get_feature_names_out().tolist()
    from_polars = selector.fit(polars_frame, credit.y).get_feature_names_out().tolist()
    assert len(credit.categorical) >= 9
    assert from_pandas == from_polars
    # A9, "prior default" in most accounts of this set, is its strongest column in every published analysis.
    assert "A9" in from_pandas


@pytest.fixture(scope="module")
def planted():
    """Four members of twelve features; four hold text, three are two columns, every column has missing values."""
    X, y, blanket, groups = make_blanket_problem(
        1200,
        n_features=12,
        n_spouses=0,
        n_relatives=0,
        n_categorical=4,
        n_grouped=3,
        missing=0.05,
        noise=0.6,
        random_state=0,
    )
    group_of = {column: name for name, columns in groups.items() for column in columns}
    features = list(dict.fromkeys(group_of.get(name, name) for name in X.columns))
    wanted = {features[member] for member in blanket}
    columns = {name for name in X.columns if group_of.get(name, name) in wanted}
    return X, y, groups, columns


KINDS = {
    "tree": DecisionTreeRegressor(min_samples_leaf=20),
    "ridge": Ridge(),
    "boosting": HistGradientBoostingRegressor(max_iter=30),
    "forest": RandomForestRegressor(20, min_samples_leaf=5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_blanket_is_found_among_categories_gaps_and_groups(planted, kind):
    X, y, groups, columns = planted
    selector = PPFS(
        KINDS[kind],
        n_splits=10,
        significance="corrected-t",
        feature_groups=groups,
        impute="median" if kind == "ridge" else None,
        random_state=0,
    ).fit(X, y)
    assert X.isna().to_numpy().any(axis=0).all()
    assert set(selector.get_feature_names_out()) == columns


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.DependentRowsWarning")
def test_a_column_that_identifies_the_group_is_selected_with_random_splits_and_rejected_with_groups():
    """Rows of a patient share an outcome that nothing else explains: knowing the patient is knowing the row."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 8)
    tendency = rng.normal(size=40)[patient]
    age = rng.normal(size=320)
    X = np.column_stack([patient, age])
    y = 2 * tendency + age + 0.3 * rng.normal(size=320)
    for independence in (PPI(n_splits=10), CrossFitPPI()):
        selector = PPFS(independence=independence, random_state=0)
        assert selector.fit(X, y).support_.tolist() == [True, True]
        assert not selector.fit(X, y, groups=patient).support_[0]


@pytest.mark.parametrize("model", [None, DecisionTreeClassifier(max_features=1.0), LogisticRegression()])
@pytest.mark.parametrize("significance", ["wilcoxon", "corrected-t"])
def test_weights_of_zero_are_rows_left_out(model, significance):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=120) > 0).astype(int)
    weights = (rng.random(120) < 0.7).astype(float)
    kept = weights > 0
    selector = PPFS(model, n_splits=10, significance=significance, random_state=0)
    weighted = selector.fit(X, y, sample_weight=weights)
    pvalues, note = weighted.pvalues_, weighted.trace_.notes[0]
    left_out = selector.fit(X[kept], y[kept])
    np.testing.assert_array_equal(pvalues, left_out.pvalues_)
    assert note == left_out.trace_.notes[0]
    assert ("engine" in note.split(":")[0]) == (not isinstance(model, DecisionTreeClassifier))


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(tol=1e-10, max_iter=10_000), DecisionTreeClassifier(max_depth=2)],
    ids=["logistic", "tree"],
)
def test_whole_weights_are_repeated_rows(model):
    """Where both see the same splits: the models and their risks are the same. Shuffles are not, with more rows."""
    rng = np.random.default_rng(2)
    n_rows = 90
    X = rng.normal(size=(n_rows, 2))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)
    weights = rng.integers(1, 4, size=n_rows)
    repeat = np.repeat(np.arange(n_rows), weights)
    part = np.arange(n_rows) % 3

    def base_risks(X, y, part, **weighted):
        splitter = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(3)]
        test = PPI(model, splitter=splitter, significance="paired-t", random_state=0)
        table = read_table(X, y, task="classification", owner=test, **weighted)
        source = test.bind(table)._risks_about(table.target, is_marginal=False)[0]
        return source.of_members([0], frozenset({0, 1})).base[0]

    weighted = base_risks(X, y, part, sample_weight=weights)
    np.testing.assert_allclose(weighted, base_risks(X[repeat], y[repeat], part[repeat]), rtol=1e-6)
    assert not np.allclose(weighted, base_risks(X, y, part), rtol=1e-3)


def test_every_search_takes_a_mixed_frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    colour = rng.choice(["red", "green", "blue"], size=300)
    size = rng.normal(size=300)
    frame = pd.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=300)})
    y = (colour == "red") * 2.0 + size + 0.3 * rng.normal(size=300)
    found = FBED(independence=CrossFitPPI(random_state=0)).fit(frame, y)
    assert set(found.get_feature_names_out()) == {"colour", "size"}


@pytest.mark.data
def test_dorothea_with_balanced_classes():
    """One row of ten is positive: every class counts alike in the loss, and splits keep the proportions."""
    dorothea = load_dataset("dorothea")
    rare = np.unique(dorothea.y, return_counts=True)[1].min() / dorothea.y.size
    assert rare < 0.11
    columns = dorothea.X[:, :20_000]
    # No leaf of fewer than 5 rows: the log-loss of a sure and wrong leaf would drown the rest.
    tree = DecisionTreeClassifier(min_samples_leaf=5)
    selectors = {
        weight: PPFS(tree, n_splits=10, class_weight=weight, loss="brier", random_state=0).fit(
            columns, dorothea.y
        )
        for weight in (None, "balanced")
    }
    for selector in selectors.values():
        assert "engine" in selector.trace_.notes[0].split(":")[0]
        assert 1 <= selector.support_.sum() <= 200
    assert selectors[None].blanket_.tolist() != selectors["balanced"].blanket_.tolist()


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    kind = rng.choice(["u", "v"], size=60)
    columns = {"size": rng.normal(size=60), "count": rng.integers(0, 9, size=60), "kind": kind.tolist()}
    return columns, (kind == "u").astype(int)


def selected(columns, y, frame, output):
    selector = PPFS(n_splits=5, always_keep=["count", "kind"], random_state=0).set_output(transform=output)
    return selector.fit(frame, y).transform(frame)


def test_columns_of_a_polars_frame_keep_their_types(small):
    pl = pytest.importorskip("polars")
    columns, y = small
    frame = pl.DataFrame(columns, schema_overrides={"kind": pl.Enum(["v", "u"])})
    assert selected(columns, y, frame, "polars").equals(frame[["count", "kind"]])
    as_pandas = selected(columns, y, frame, "pandas")
    assert as_pandas["count"].dtype == np.int64
    assert as_pandas["kind"].tolist() == columns["kind"]
    assert selected(columns, y, frame, "default").dtype == object


def test_columns_of_a_pandas_frame_keep_their_types_and_index(small):
    pd = pytest.importorskip("pandas")
    columns, y = small
    frame = pd.DataFrame(columns, index=range(100, 160)).astype({"kind": "category", "count": "Int64"})
    pd.testing.assert_frame_equal(selected(columns, y, frame, "pandas"), frame[["count", "kind"]])


def test_transform_refuses_a_frame_with_other_columns(small):
    pl = pytest.importorskip("polars")
    columns, y = small
    selector = PPFS(n_splits=5, always_keep=["kind"], random_state=0).set_output(transform="polars")
    selector.fit(pl.DataFrame(columns), y)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(pl.DataFrame(columns)[["kind", "count", "size"]])
