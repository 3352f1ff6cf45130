"""Suspicious columns: one warning each, and none for ordinary columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ppfs import PPFS
from ppfs._data.column_checks import check_columns
from ppfs._data.column_checks.text import _converted
from ppfs._data.reading import read_table
from ppfs._data.written_numbers import NumberStyle
from ppfs.datasets import load_dataset
from ppfs.wrappers import PermutationImportance

N = 200
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
QUANTITY = RNG.lognormal(size=N)


def kinds(X, y=Y):
    return {
        warning.column: warning.kind for warning in check_columns(read_table(X, y, task="auto", owner="test"))
    }


ODD = {
    "running number": (np.arange(N) + 17, "identifier"),
    "shuffled index": (RNG.permutation(N), "identifier"),
    "customer number": (10**6 + RNG.choice(1000, size=N, replace=False), "identifier"),
    "names": ([f"person {i}" for i in range(N)], "identifier"),
    "iso dates": (pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"), "dates"),
    "german dates": (pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"), "dates"),
    "timestamps": (pd.date_range("2020-01-01", periods=N, freq="h").strftime("%Y-%m-%d %H:%M:%S"), "dates"),
    "numbers and strays": ([str(i % 40) if i % 30 else "unknown" for i in range(N)], "numbers-as-text"),
    "target itself": (Y * 2.0 - 1, "leakage"),
    "target with missing values": (np.where(np.arange(N) % 9, Y + 0.1 * RNG.random(N), np.nan), "leakage"),
    "target in words": (np.where(Y, "paid", "owed"), "leakage"),
    "one value": (np.ones(N), "near-constant"),
    "one exception": (np.arange(N) == 3, "near-constant"),
}


def test_columns_without_a_value_are_called_missing():
    y = np.arange(N) % 2
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=N), "none": np.nan, "one": 1.0})
    found = {warning.column: warning.finding for warning in PPFS.calibrated().fit(frame, y).warnings_}
    assert found["none"] == "'none' is missing in all rows, so that it cannot predict the target."
    assert found["one"] == "'one' holds one value in all rows, so that it cannot predict the target."


@pytest.mark.parametrize("name", ODD)
def test_an_odd_column_is_noticed(name):
    values, kind = ODD[name]
    X = pd.DataFrame({"plain": RNG.normal(size=N), name: values})
    assert kinds(X) == {name: kind}
    assert kinds(pl.from_pandas(X)) == {name: kind}


NUMBERS_AS_TEXT = {
    "rate": [f"{i % 90 + 0.6:.1f}%" for i in range(N)],
    "price": [f"${20_000 + 37 * i:,}" for i in range(N)],
    "betrag": [f"{i},5 \u20ac" for i in range(N)],
    "large": [f"1.{i:03d}.000,25" for i in range(N)],
    "strays": [f"{1000 + i:,}" if i % 30 else "unknown" for i in range(N)],
    "balance": [f"({i + 1:,}.50)" if i % 3 else f"{i + 1:,}.25" for i in range(1000, 1000 + N)],
    "loss": [f"(${i + 1}.50)" for i in range(N)],
    "minus": [f"\u2212{i + 1}.5%" for i in range(N)],
    "swiss": [f"{1 + i % 7}'{i:03d}" for i in range(N)],
}


def test_numbers_as_text_that_separate_the_classes_are_numbers_as_text():
    X = pd.DataFrame(
        {"plain": RNG.normal(size=N), "rate": [f"{50 * y + i % 40}.5%" for i, y in enumerate(Y)]}
    )
    assert kinds(X) == {"rate": "numbers-as-text"}


@pytest.mark.parametrize("name", NUMBERS_AS_TEXT)
def test_the_advice_for_numbers_as_text_loses_no_number(name):
    X = pd.DataFrame({"plain": RNG.normal(size=N), name: NUMBERS_AS_TEXT[name]})
    (warning,) = check_columns(read_table(X, Y, task="auto", owner="test"))
    assert (warning.column, warning.kind) == (name, "numbers-as-text")
    code = warning.remedy.removeprefix("Convert it to numbers: ").removesuffix(".")
    # The advice is code; it is run to see whether it holds.
    numbers = eval(code, {"X": X})  # noqa: S307
    assert numbers.dtype.kind == "f"
    style = NumberStyle.of([text for text in X[name] if text != "unknown"])
    np.testing.assert_array_equal(numbers, [style.number(text) or np.nan for text in X[name]])


@pytest.mark.parametrize("limit", ["<0.5", "> 9,000", "about 7"])
def test_values_beyond_a_limit_are_not_called_missing(limit):
    texts = [str(i % 40) if i % 9 else limit for i in range(N)]
    X = pd.DataFrame({"plain": RNG.normal(size=N), "dose": texts})
    (warning,) = check_columns(read_table(X, Y, task="auto", owner="test"))
    assert (warning.column, warning.kind) == ("dose", "numbers-as-text")
    assert f"holds numbers beside {limit!r}" in warning.finding
    for advice in (warning.remedy, warning.flag):
        assert advice.startswith(f"Write {limit!r} as a number first")
        assert "would be lost" in advice


def test_numbers_in_several_styles_are_not_called_identifiers():
    X = pd.DataFrame({"plain": RNG.normal(size=N), "sum": [f"{'$€'[i % 2]}{i}.25" for i in range(N)]})
    (warning,) = check_columns(read_table(X, Y, task="auto", owner="test"))
    assert (warning.column, warning.kind) == ("sum", "numbers-as-text")
    assert "Write all of them in the same way" in warning.remedy


PLAIN = {
    "quantity": RNG.normal(size=N),
    "count": RNG.poisson(5, size=N),
    "price": RNG.integers(0, 10**9, size=N),
    "flag": RNG.integers(0, 2, size=N),
    "rare": RNG.random(N) < 0.05,
    "city": RNG.choice(["Bern", "Rome", "Oslo"], size=N),
    "postcode": [f"0{i % 50:03d}" for i in range(N)],
    "postcode, some without a zero": [f"{7 * i % 47:02d}531" for i in range(N)],
    "version": RNG.choice(["1.2.3", "2.10.1", "3.4.0", "1.99.2", "2.2.2", "9.9.9"], size=N),
    "strong": Y + RNG.normal(size=N),
}


def test_a_plain_table_has_no_warnings():
    assert kinds(pd.DataFrame(PLAIN)) == {}
    assert kinds(pd.DataFrame(PLAIN), QUANTITY) == {}


@pytest.mark.parametrize("mirror", [lambda y: 3 * y - 1, np.log, lambda y: 1 / y])
def test_a_function_of_a_quantity_is_leakage(mirror):
    X = np.column_stack([RNG.normal(size=N), mirror(QUANTITY), QUANTITY + 0.1 * RNG.normal(size=N)])
    assert kinds(X, QUANTITY) == {"x1": "leakage"}


def test_a_copy_is_named_with_its_original():
    X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"]).assign(
        d=lambda X: X["a"], e=lambda X: X["a"]
    )
    table = read_table(X, Y, task="auto", owner="test")
    assert [(warning.column, warning.finding.split(":")[0]) for warning in check_columns(table)] == [
        ("d", "'d' is a copy of 'a'"),
        ("e", "'e' is a copy of 'a'"),
    ]


def test_columns_that_agree_in_most_rows_are_no_copies():
    X = np.zeros((N, 3))
    X[:3, 0] = X[1:5, 1] = X[:4, 2] = 1.0
    X[4:40] += RNG.integers(0, 2, size=(36, 1))
    assert "copy" not in kinds(X).values()


def test_sparse_tables_are_looked_at_without_being_made_dense():
    X = sp.random_array((N, 60), density=0.05, format="csc", random_state=RNG).toarray()
    X[:, 7] = X[:, 3]
    X[:, 9] = 0.0
    X[:, 11] = Y
    dense = kinds(X)
    assert kinds(sp.csc_array(X)) == {"x7": "copy", "x9": "near-constant", "x11": "leakage"}
    assert {name: kind for name, kind in dense.items() if kind != "near-constant"} == {
        "x7": "copy",
        "x11": "leakage",
    }


def test_sparse_copies_hold_the_same_in_the_same_rows():
    X = np.zeros((N, 6))
    X[:9, 0] = X[:9, 1] = [1.0, 2.0, 3.0] * 3
    X[:9, 2] = [2.0, 1.0, 3.0] * 3
    X[9:18, 3] = [1.0, 2.0, 3.0] * 3
    X[:8, 4] = X[:8, 0]
    X[:9, 5] = X[:9, 1]
    assert {name for name, kind in kinds(sp.csc_array(X)).items() if kind == "copy"} == {"x1", "x5"}


def test_copies_in_a_sparse_table_are_never_made_dense(monkeypatch):
    X = sp.csc_array(np.repeat(sp.random_array((N, 1), density=0.1, random_state=RNG).toarray(), 3, axis=1))
    monkeypatch.setattr("ppfs._data.column_checks.copies.dense_column", lambda *_: pytest.fail("made dense"))
    assert kinds(X)["x2"] == "copy"


def test_separation_by_chance_in_a_short_wide_table_is_no_leakage():
    y = np.array([0, 1] * 5)
    X = np.random.default_rng(1).normal(size=(10, 3000))
    separated = [j for j in range(3000) if X[y == 0, j].max() < X[y == 1, j].min()]
    assert separated
    assert "leakage" not in kinds(X, y).values()


def test_selectors_record_them_and_say_so_once_in_the_trace(recwarn):
    X = pd.DataFrame({"plain": RNG.normal(size=N), "row": np.arange(N)})
    selector = PPFS(n_splits=5, random_state=0).fit(X, Y)
    (warning,) = selector.warnings_
    assert (warning.column, warning.kind) == ("row", "identifier")
    assert "X.drop(columns='row')" in warning.message
    assert [note for note in selector.trace_.notes if "warnings_" in note] == [
        "columns to check: 1 identifier; see warnings_"
    ]
    assert [w.column for w in PermutationImportance(random_state=0).fit(X, Y).warnings_] == ["row"]
    assert not recwarn.list


@pytest.mark.parametrize("name", ["heart", "credit", "wdbc", "desharnais"])
@pytest.mark.data
def test_benchmark_tables_are_left_alone(name):
    data = load_dataset(name)
    found = kinds(data.to_frame().drop(columns=data.target_name), data.y)
    assert set(found.values()) <= {"near-constant", "identifier"}
    assert len(found) <= 1


def test_a_leak_in_a_file_that_is_streamed_is_told(tmp_path):
    """Of a streamed file the columns that a search keeps are looked at."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 30))
    y = (X[:, 3] > 0).astype(int)
    X[:, 7] = y
    np.save(tmp_path / "X.npy", X)
    streamed = PPFS(n_splits=10, random_state=0).fit(tmp_path / "X.npy", y)
    assert {(w.column, w.kind) for w in streamed.warnings_} >= {("x7", "leakage")}
    assert check_columns(read_table(tmp_path / "X.npy", y, task="auto", owner=None)) == ()


@pytest.mark.parametrize("unit", [" kg", "km", " m/s"])
def test_numbers_with_a_unit_are_named_with_code_that_loses_none(unit):
    rng = np.random.default_rng(0)
    values = rng.normal(size=60).round(2)
    X = pd.DataFrame({"mass": [f" {value}{unit}" for value in values], "b": rng.normal(size=60)})
    (warning,) = PPFS(n_splits=10, random_state=0).fit(X, np.arange(60) % 2).warnings_
    assert warning.kind == "numbers-as-text"
    assert f"numbers with {unit!r}" in warning.finding
    converted = eval(warning.remedy.split(": ")[-1].rstrip("."), {"X": X})  # noqa: S307
    assert converted.tolist() == values.tolist()


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        ([f"{i}.{i % 10}34,56 EUR" for i in range(1, 61)], lambda i: i * 1000 + i % 10 * 100 + 34.56),
        ([f"EUR {i},5" for i in range(1, 61)], lambda i: i + 0.5),
        ([f"CHF {i}'000.25" for i in range(1, 61)], lambda i: i * 1000 + 0.25),
        ([f"{i},000 kg" for i in range(1, 61)], lambda i: i * 1000),
        (
            [f"-{i}.5 °C" if i % 2 else f"{i}.5 °C" for i in range(1, 61)],
            lambda i: -i - 0.5 if i % 2 else i + 0.5,
        ),
    ],
)
def test_amounts_with_letters_are_named_with_code_that_loses_none(texts, number):
    X = pd.DataFrame({"sum": texts, "b": np.random.default_rng(0).normal(size=60)})
    (warning,) = check_columns(read_table(X, np.arange(60) % 2, task="auto", owner="test"))
    converted = eval(warning.remedy.removeprefix("Convert it to numbers: ").rstrip("."), {"X": X})  # noqa: S307
    assert converted.tolist() == [number(i) for i in range(1, 61)]


@pytest.mark.parametrize("labels", [[f"{i}a" for i in range(30)] + ["7b"], [f"A{i}" for i in range(31)]])
def test_codes_are_not_taken_for_numbers_with_a_unit(labels):
    X = pd.DataFrame({"code": labels * 2, "b": np.random.default_rng(0).normal(size=62)})
    assert PPFS(n_splits=10, random_state=0).fit(X, np.arange(62) % 2).warnings_ == ()


@pytest.mark.parametrize(("n_first", "is_told"), [(3, False), (4, True)])
def test_separated_classes_are_leakage_where_fewer_than_one_order_in_a_hundred_separates_them(
    n_first, is_told
):
    # Two of the 120 and of the 210 ways to place the first class among ten rows.
    y = np.arange(10) < n_first
    X = np.column_stack([y + 0.01 * RNG.random(10), RNG.normal(size=10)])[:, :1]
    assert ("leakage" in kinds(X, y.astype(int)).values()) == is_told


def test_a_monotone_function_may_have_a_few_ties():
    y = np.sort(QUANTITY)
    y[::50] = y[1::50]
    for x, is_told in [(np.exp(3 * y), True), (-np.exp(3 * y), True), (np.roll(np.exp(3 * y), 1), False)]:
        assert (kinds(x[:, None], y).get("x0") == "leakage") == is_told


@pytest.mark.parametrize(("middle", "is_told"), [(1.0, True), (0.2, False), (1.8, False)])
def test_three_classes_are_separated_if_all_of_them_are(middle, is_told):
    y = np.arange(60) % 3
    x = np.array([0.0, middle, 2.0])[y] + 0.4 * RNG.random(60)
    for column in (x, -x):
        assert ("leakage" in kinds(column[:, None], y).values()) == is_told


@pytest.mark.parametrize(
    ("numbers", "more", "left_out"),
    [
        (["$5", "$7"], "", r"[\$\s]"),
        (["$5", "\u2212$7", "$6"], '.str.replace("\u2212", "-")', r"[\$\s]"),
        (["$5", "($7)", "$6"], '.str.replace("(", "-")', r"[\$\)\s]"),
    ],
)
def test_a_few_minus_signs_and_brackets_are_replaced_too(numbers, more, left_out):
    assert _converted("column", NumberStyle(".", "$"), numbers) == (
        f'column{more}.str.replace(r"{left_out}", "", regex=True).astype(float)'
    )


def test_plain_numbers_need_no_replacement():
    assert _converted("column", NumberStyle("."), ["5", "7"]) == "column.astype(float)"
