import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV
from ppfs.blanket import IAMB, StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI
from ppfs.wrappers import Stepwise

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] > 0).astype(int)

NOT_TABLES = [
    (dict(enumerate(X.T)), "type dict. Pass pandas.DataFrame"),
    ((row for row in X), r"type generator. Pass list\(X\)"),
    ({1, 2}, "type set"),
    (None, "type NoneType"),
    (object(), "type object"),
    (np.ndarray, "type type"),
    (b"abc", "type bytes"),
    ([{"a": 1.0, "b": 2.0}] * 40, r"type list and holds dicts. Pass pandas.DataFrame\(X\)"),
]


@pytest.mark.parametrize(("given", "message"), NOT_TABLES)
@pytest.mark.parametrize("weights", [{}, {"sample_weight": np.arange(40.0)}])
def test_what_is_no_table_is_named_by_its_type(given, message, weights):
    with pytest.raises(InvalidInputError, match=f"X must be an array.*{message}"):
        PPFS(n_splits=5).fit(given, Y, **weights)


@pytest.mark.parametrize(
    "selector",
    [
        IAMB(),
        PPFSCV(DecisionTreeClassifier()),
        StabilitySelection(PPFS(n_splits=5), n_pairs=1),
        Stepwise(DecisionTreeClassifier()),
    ],
)
def test_every_selector_refuses_a_dict(selector):
    with pytest.raises(InvalidInputError, match=r"X must be an array.*type dict"):
        selector.fit({"a": X[:, 0], "b": X[:, 1]}, Y)


def test_transform_and_evaluate_refuse_a_generator():
    fitted = PPFS(n_splits=10, random_state=0).fit(X, Y)
    with pytest.raises(InvalidInputError, match="type generator"):
        fitted.transform(row for row in X)
    with pytest.raises(InvalidInputError, match="type generator"):
        PPI(DecisionTreeClassifier()).evaluate((row for row in X), Y, 0)


@pytest.mark.parametrize("y", [dict(enumerate(Y)), iter(Y), set(Y), 3, [{"a": 1}] * 40, b"01" * 20])
def test_a_target_without_rows_is_named_by_its_type(y):
    with pytest.raises(InvalidInputError, match=f"y must be an array.*type {type(y).__name__}"):
        PPFS(n_splits=5).fit(X, y)


@pytest.mark.parametrize(
    "selector",
    [
        PPFS(n_splits=5, n_jobs=0),
        IAMB(n_jobs=0),
        PPFSCV(DecisionTreeClassifier(), n_jobs=0),
        StabilitySelection(n_jobs=0),
        Stepwise(DecisionTreeClassifier(), n_jobs=0),
        IAMB(independence=PPI(DecisionTreeClassifier(), n_jobs=0)),
    ],
)
def test_no_jobs_at_all_are_refused_before_the_fit(selector):
    with pytest.raises(ValueError, match=r"'n_jobs' parameter of .* must be an int in the range.*Got 0"):
        selector.fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (sp.csr_array(Y[:, None]), r"y is a sparse matrix. Pass y.toarray\(\).ravel\(\)"),
        (np.where(Y, b"yes", b"no"), "y holds bytes, such as b'yes'. Decode them to text"),
        ([10**400 * int(label) for label in Y], "y holds an integer that is too large for a float"),
        ([10**30 * int(label) for label in Y], "floats beyond 2\\*\\*53"),
    ],
)
def test_targets_that_no_model_takes_are_refused_with_a_way_out(y, message):
    with pytest.raises(InvalidInputError, match=message):
        PPFS(n_splits=5).fit(X, y)


def test_integers_beyond_64_bits_are_quantities():
    numbers = [10**30 + int(10**28 * value) for value in X[:, 0]]
    found = PPFS.calibrated().fit(X, numbers)
    assert found.get_feature_names_out().tolist() == ["x0"]


def test_names_of_several_types_are_refused_with_a_way_out():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", 3.5])
    with pytest.raises(InvalidInputError, match=r"types 'float', 'str', such as 3\.5") as raised:
        PPFS(n_splits=10, random_state=0).fit(frame, Y)
    way_out = str(raised.value).split("Pass ")[-1].rstrip(".")
    renamed = eval(way_out, {"X": frame})  # noqa: S307
    assert PPFS(n_splits=10, random_state=0).fit(renamed, Y).feature_names_in_.tolist() == ["a", "3.5"]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_refused_with_a_way_out():
    with pytest.raises(InvalidInputError, match=r"Pass np\.asarray\(X\)"):
        PPFS(n_splits=5).fit(np.matrix(X), Y)
