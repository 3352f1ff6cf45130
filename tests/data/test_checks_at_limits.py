"""Column checks at the limits of their rules: just told, and just not."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data import read_table
from ppfs._data.column_checks import blocks, check_columns
from ppfs._data.column_checks.blocks import column_blocks, some_rows
from ppfs._data.column_checks.copies import copies
from ppfs._data.column_checks.identifiers import identifiers
from ppfs._data.column_checks.leakage import leaks
from ppfs._data.column_checks.near_constant import near_constant
from ppfs._data.column_checks.repeated_units import repeated_units
from ppfs._data.column_checks.text import odd_texts
from ppfs._data.column_checks.warning import ColumnWarning, summary
from ppfs._data.table import CallersRows, Table

nan = np.nan


def table_of(*columns, y=None, task="regression", names=None, **options):
    X = np.column_stack(columns)
    y = np.arange(len(X)) % 7 / 3 if y is None else np.asarray(y)
    return Table.of(X, y, names or [f"x{i}" for i in range(X.shape[1])], task, **options)


def told(look, *columns, **options):
    return [warning.column for warning in look(table_of(*columns, **options))]


def of_text(labels, n_rows=None):
    """Return the one warning about a column of text, or None."""
    labels = tuple(labels)
    n_rows = n_rows or max(60, 3 * len(labels))
    table = table_of(
        np.arange(n_rows) % len(labels), names=["c"], n_levels=np.array([len(labels)]), categories={0: labels}
    )
    found = list(odd_texts(table))
    assert len(found) <= 1
    return found[0] if found else None


# Nearly constant ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "rare", "finding"),
    [
        (99, [3], None),
        (100, [3], "holds one value in 99 of 100 rows"),
        (100, [3, 60], None),
        (199, [3], "holds one value in 198 of 199 rows"),
        (199, [3, 60], None),
        (200, [3, 60], "holds one value in 198 of 200 rows"),
        (200, [3, 60, 100], None),
        # Of the 25 rows that are looked at first, at most five may differ.
        (2401, [100, 500, 900, 1300], "holds one value in 2397 of 2401 rows"),
        (2401, [0, 100, 200, 300, 400], "holds one value in 2396 of 2401 rows"),
        (2401, [0, 100, 200, 300, 400, 500], None),
        # None of the five is next to another: ten pairs of neighbors differ.
        (2401, [100, 300, 500, 700, 900], "holds one value in 2396 of 2401 rows"),
    ],
)
def test_one_value_in_ninety_nine_of_a_hundred_rows_is_nearly_constant(n_rows, rare, finding):
    column = np.full(n_rows, 4.0)
    column[rare] = -1 - np.arange(len(rare))
    found = list(near_constant(table_of(column, np.arange(n_rows) / 3, names=["a", "b"])))
    if finding is None:
        assert found == []
        return
    assert found == [
        ColumnWarning(
            "a",
            "near-constant",
            f"'a' {finding}: only the others can predict anything.",
            "Leave it out: X.drop(columns='a').",
            "Leave it out with --drop 'a'.",
        )
    ]


def test_constant_columns_of_every_table():
    columns = np.ones(12), np.full(12, nan), np.arange(12) / 3, np.zeros(12)
    findings = [warning.finding for warning in near_constant(table_of(*columns))]
    assert findings == [
        "'x0' holds one value in all rows, so that it cannot predict the target.",
        "'x1' is missing in all rows, so that it cannot predict the target.",
        "'x3' holds one value in all rows, so that it cannot predict the target.",
    ]
    sparse = Table.of(sp.csc_array(np.eye(200)[:, :3] * [1, 0, 1]), np.arange(200) / 3, "abc", "regression")
    assert [warning.column for warning in near_constant(sparse)] == ["b"]


# Identifiers -------------------------------------------------------------------------------------------


def spread_over(n_rows, spread):
    """Return different integers of which the largest is as far from the smallest."""
    return np.append(np.arange(n_rows - 1), spread - 1)[::-1] + 50


@pytest.mark.parametrize(
    ("spread", "n_columns", "is_told"),
    # Exp(-100**2 / 2 / spread) is a hundredth of one over the number of columns.
    [(100, 1, True), (1085, 1, True), (1086, 1, False), (723, 10, True), (724, 10, False)],
)
def test_integers_that_never_repeat_are_an_identifier_where_some_would_by_chance(spread, n_columns, is_told):
    others = np.random.default_rng(0).normal(size=(100, n_columns - 1))
    found = list(identifiers(table_of(spread_over(100, spread), others)))
    what = "is a running number" if spread == 100 else "holds a different integer in every row"
    expected = ColumnWarning(
        "x0",
        "identifier",
        f"'x0' {what}, like an index or an identifier: it can predict only how the rows were sorted.",
        "Leave it out: X.drop(columns='x0').",
        "If it names the rows, add --id 'x0'.",
    )
    assert found == ([expected] if is_told else [])


def test_what_repeats_or_has_a_fraction_or_is_missing_is_no_identifier():
    running = np.arange(100.0)
    changed = {}
    for name, value in {"twice": 7.0, "fraction": 98.5, "missing": nan, "infinite": np.inf}.items():
        changed[name] = running.copy()
        changed[name][99] = value
        changed[name + " early"] = running.copy()
        changed[name + " early"][2] = 7.0 if value == 7.0 else value
    assert told(identifiers, *changed.values()) == []
    assert told(identifiers, running, running, n_levels=np.array([0, 100])) == ["x0"]
    assert [one.column for one in identifiers(table_of(running, 0 * running, running * 3))] == ["x0", "x2"]
    sparse = Table.of(sp.csc_array(running[:, None]), running / 3, "a", "regression")
    assert list(identifiers(sparse)) == []


# Copies ------------------------------------------------------------------------------------------------


def test_copies_are_equal_in_every_row_and_of_one_kind():
    rng = np.random.default_rng(0)
    a = rng.normal(size=80)
    a[3] = 0.0
    minus_zero, late, holes = a.copy(), a.copy(), a.copy()
    minus_zero[3], late[79] = -0.0, 1.0
    holes[[5, 50]] = nan
    codes = rng.integers(0, 3, size=80)
    table = table_of(
        a, minus_zero, late, holes, codes, codes, codes, holes, a, 0 * a, 0 * a,
        n_levels=np.array([0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0]),
    )  # fmt: skip
    found = {one.column: one for one in copies(table)}
    assert sorted(found) == ["x1", "x6", "x7", "x8"]
    assert [found[name].finding.split("'")[3] for name in ("x1", "x6", "x7", "x8")] == [
        "x0",
        "x5",
        "x3",
        "x0",
    ]
    assert found["x8"] == ColumnWarning(
        "x8",
        "copy",
        "'x8' is a copy of 'x0': at most one of them is selected.",
        "Leave one of them out: X.drop(columns='x8').",
        "Leave one of them out with --drop 'x8'.",
    )
    assert told(copies, np.arange(3.0), np.arange(3.0)) == ["x1"]
    assert told(copies, np.arange(3.0), np.arange(3.0)[::-1]) == []
    assert told(copies, np.ones(3)) == []


# Leakage -----------------------------------------------------------------------------------------------


def classes_apart(n_classes, n_rows):
    codes = np.arange(n_rows) % n_classes
    return codes, codes + 0.3 * np.random.default_rng(0).random(n_rows)


@pytest.mark.parametrize(
    ("n_classes", "is_told"), [(1, False), (2, True), (3, True), (20, True), (21, False)]
)
def test_two_to_twenty_classes_may_be_separated(n_classes, is_told):
    codes, x = classes_apart(n_classes, 84)
    noise = np.random.default_rng(1).normal(size=84)
    found = list(leaks(table_of(noise, x, -x, y=codes, task="classification")))
    assert [one.column for one in found] == (["x1", "x2"] if is_told else [])
    if is_told:
        assert found[0] == ColumnWarning(
            "x1",
            "leakage",
            "'x1' alone separates the classes without an error. Is it known when predictions are made, or a result of "
            "the target?",
            "If it is not known then, leave it out: X.drop(columns='x1').",
            "If it is not known then, leave it out with --drop 'x1'.",
        )


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "is_told"), [(9, 1, False), (10, 1, True), (10, 2, False), (11, 2, True)]
)
def test_few_rows_or_many_columns_separate_classes_by_chance(n_rows, n_columns, is_told):
    codes, x = classes_apart(2, n_rows)
    others = np.random.default_rng(1).normal(size=(n_rows, n_columns - 1))
    assert told(leaks, x, others, y=codes, task="classification") == (["x0"] if is_told else [])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("place", [0, 1, 40, 83])
def test_one_row_among_those_of_another_class_is_enough(n_classes, place):
    codes, x = classes_apart(n_classes, 84)
    x[place] = x[(place + 1) % 84]
    assert told(leaks, x, y=codes, task="classification") == []
    x[place] = nan
    assert told(leaks, x, y=codes, task="classification") == ["x0"]


def test_sparse_columns_separate_classes_where_the_zeros_are_of_one_class():
    codes = np.repeat([0, 1, 2], [30, 10, 20])
    columns = {
        "zero in the first class": np.where(codes == 0, 0.0, codes),
        "zero in the last class": np.where(codes == 2, 0.0, codes - 5.0),
        "zero in two classes": np.where(codes == 1, 1.0, 0.0),
        "one zero elsewhere": np.where(np.arange(60) == 35, 0.0, codes),
        "one more zero": np.where((codes == 0) | (np.arange(60) == 59), 0.0, codes),
    }
    for make in (np.asarray, sp.csc_array):
        table = Table.of(
            make(np.column_stack(list(columns.values()))), codes, list(columns), "classification"
        )
        assert [one.column for one in leaks(table)] == list(columns)[:2]


@pytest.mark.parametrize(
    ("n_rows", "n_labels", "n_columns", "is_told"),
    # Half to the power of the rows that repeat a category is a hundredth from seven on.
    [(20, 13, 1, True), (20, 14, 1, False), (20, 12, 2, True), (20, 13, 2, False), (80, 40, 1, True)],
)
def test_categories_of_one_class_each_are_leakage_where_they_repeat(n_rows, n_labels, n_columns, is_told):
    codes = np.arange(n_rows) % 2
    labels = np.arange(n_rows) // 2 % (n_labels // 2) * 2 + codes
    labels[-1] = n_labels - 1
    others = np.random.default_rng(1).normal(size=(n_rows, n_columns - 1))
    options = {
        "n_levels": np.array([n_labels] + [0] * (n_columns - 1)),
        "categories": {0: tuple(f"l{i:02}" for i in range(n_labels))},
        "task": "classification",
    }
    assert told(leaks, labels, others, y=codes, **options) == (["x0"] if is_told else [])
    mixed = labels.copy()
    mixed[-2] = labels[-1]
    assert told(leaks, mixed, others, y=codes, **options) == []
    one = {**options, "n_levels": np.array([1] + [0] * (n_columns - 1))}
    assert told(leaks, 0 * labels, others, y=codes, **one) == []


def test_a_curved_function_of_the_target_is_leakage_where_two_values_are_equal():
    y = np.arange(32.0)
    curve = np.exp(y / 3.0)
    curve[21] = curve[20]
    assert np.corrcoef(curve, y)[0, 1] < 0.7
    assert told(leaks, curve, y=y) == ["x0"]


def test_linear_functions_of_the_target_are_leakage_up_to_a_little_noise():
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    noise = rng.normal(size=200)
    y, noise = y - y.mean(), noise - noise.mean()
    noise -= y * (noise @ y) / (y @ y)
    noise *= np.sqrt(y @ y / (noise @ noise))
    # Correlations of 1 / sqrt(1 + c**2): 0.99995, 0.9998 and their negatives.
    columns = y + 0.01 * noise, y + 0.02 * noise, -y + 0.01 * noise, 5 - 3 * y
    assert told(leaks, *columns, y=y) == ["x0", "x2", "x3"]
    found = next(leaks(table_of(*columns, y=y)))
    assert found.finding.startswith("'x0' alone orders the rows exactly as the target does. Is it known")
    holes, infinite = y.copy(), y.copy()
    holes[3], infinite[3] = nan, np.inf
    assert told(leaks, holes, infinite, np.ones(200), y=y) == []
    # Where the largest values are missing or infinite, the others may be in order.
    holes, infinite = (np.where(y == y.max(), value, y**3) for value in (nan, np.inf))
    assert told(leaks, y**3, holes, infinite, y=y) == ["x0"]
    assert told(leaks, y, y, y=y, n_levels=np.array([200, 0])) == ["x1"]
    assert told(leaks, y, y=np.column_stack([y, y])) == []
    assert list(leaks(Table.of(sp.csc_array(y[:, None]), y, "a", "regression"))) == []


@pytest.mark.parametrize(("n_ties", "is_told"), [(0, True), (10, True), (11, False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_functions_have_at_most_a_tenth_of_ties(n_ties, is_told, sign):
    rows = np.arange(100.0)
    y = rows.copy()
    y[1 : 1 + 2 * n_ties : 2] = y[0 : 2 * n_ties : 2]
    shuffled = np.random.default_rng(0).permutation(100)
    assert told(leaks, sign * np.exp(rows / 5)[shuffled], y=y[shuffled]) == (["x0"] if is_told else [])
    # Ties of the column count as well, where the rows are in order.
    assert told(leaks, np.exp(y / 5), y=rows) == (["x0"] if is_told else [])


def test_one_step_in_the_wrong_direction_is_no_monotone_function():
    x, y = np.exp(np.arange(100.0) / 5), np.arange(100.0)
    y[[40, 41]] = y[[41, 40]]
    assert told(leaks, x, y=y) == []
    assert told(leaks, x[:10], y=np.arange(10.0)) == ["x0"]
    assert told(leaks, x[:9], y=np.arange(9.0)) == []


# Repeated units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_units", "n_each", "is_told"),
    [
        ("patient", 10, 2, True),
        ("patient", 9, 4, False),
        ("k", 21, 2, True),
        ("k", 20, 2, False),
        *(("k", 21, length, True) for length in (3, 7, 63, 64, 65)),
        ("k", 30, 1, False),
        ("patient", 30, 1, False),
    ],
)
def test_units_are_ten_or_more_with_two_rows_each_or_more(name, n_units, n_each, is_told):
    units = np.random.default_rng(0).permutation(n_units).repeat(n_each)
    found = list(repeated_units(table_of(units, np.arange(units.size) / 3, names=[name, "a"])))
    assert len(found) == is_told
    if is_told:
        assert found[0] == ColumnWarning(
            name,
            "repeated-unit",
            f"{name!r} looks like the identifier of {n_units} units with {n_each}.0 rows each: rows of one unit are "
            "not independent.",
            f"If they belong together, pass groups=X[{name!r}] to fit, and leave the column out.",
            f"If they belong together, add --groups {name!r}.",
        )


def test_units_without_a_name_are_sorted_and_of_one_size():
    units = np.arange(30).repeat(4)
    longer, apart, early = units.copy(), units.copy(), units.copy()
    longer[-5] = 29
    apart[[3, 119]] = apart[[119, 3]]
    early[3] = 1
    assert told(repeated_units, units, longer, apart, early) == ["x0"]
    names = ["patient", "patients", "subject_id", "unit"]
    assert told(repeated_units, longer, apart, early, longer, names=names) == names[:3]
    holes, fraction = units.astype(float), units.astype(float)
    holes[7], fraction[100] = nan, 0.5
    assert told(repeated_units, holes, holes + 0.5, names=["patient", "subject"]) == []
    assert told(repeated_units, np.arange(62) // 2, names=["patient"]) == ["patient"]
    assert told(repeated_units, np.append(np.arange(61) // 2, 77), names=["patient"]) == []


def test_units_are_not_reported_beside_groups_or_in_sparse_tables():
    units = np.arange(30.0).repeat(4)
    assert told(repeated_units, units, rows=CallersRows(120, groups=np.arange(120) // 4)) == []
    assert list(repeated_units(Table.of(sp.csc_array(units[:, None]), units / 3, "k", "regression"))) == []
    assert told(repeated_units, np.array([1.0])) == []


# Text --------------------------------------------------------------------------------------------------


def days(n):
    return [f"2020-01-{day:02}" for day in range(1, n + 1)]


@pytest.mark.parametrize(
    ("labels", "is_told"),
    [
        (days(5), True),
        (days(4), False),
        ([*days(9), "late"], True),
        ([f"day {i}" for i in range(6)] + days(19), False),
        ([f"{day}.2.2020" for day in range(1, 9)], True),
        ([f"{day}.13.2020" for day in range(1, 9)], False),
        ([f"{day}/31/20" for day in (1, 3, 5, 7, 8)], True),
        ([f"2020-01-{day:02} 10:0{day}" for day in range(1, 9)], True),
        ([f"1.2.2020 10:0{day}" for day in range(1, 9)], True),
        ([f"1.2.2020T10:0{day}" for day in range(1, 9)], True),
        ([f"at 2020-01-0{day}" for day in range(1, 9)], False),
    ],
)
def test_nine_of_ten_texts_are_dates(labels, is_told):
    found = of_text(labels)
    assert (found is not None) == is_told
    if is_told:
        assert found == ColumnWarning(
            "c",
            "dates",
            f"'c' is text that holds dates, such as {labels[0]!r}: {len(labels)} categories without an order.",
            "Convert it to numbers or categories: days since a date, the month, the weekday.",
            "Leave it out with --drop 'c', or convert it to days, months or weekdays first.",
        )


def numbers(n):
    return [f"{i}.5" for i in range(10, 10 + n)]


@pytest.mark.parametrize(
    ("labels", "beside", "remedy", "flag"),
    [
        (numbers(9), None, "", ""),
        (numbers(10), ", such as '10.5'", "X['c'].astype(float)", "Store it as numbers."),
        ([*numbers(10), "?"], " beside '?'", "X['c'].mask(X['c'].isin(['?'])).astype(float)",
         "Read it as missing values with --na '?'."),
        ([*numbers(10), "?", "x"], " beside '?', 'x'", "X['c'].mask(X['c'].isin(['?', 'x'])).astype(float)",
         "Read them as missing values with --na '?' --na 'x'."),
        ([*numbers(10), "?", "x", "y"], None, "", ""),
        ([*numbers(16), *"pqrs"], " beside 'p', 'q', 'r' and 1 more",
         "X['c'].mask(X['c'].isin(['p', 'q', 'r', 's'])).astype(float)",
         "Read them as missing values with --na 'p' --na 'q' --na 'r'."),
        ([*numbers(10), "(missing)"], ", such as '10.5'", "X['c'].astype(float)", "Store it as numbers."),
        ([*numbers(20), "007"], None, "", ""),
        ([f"{i},5%" for i in range(10, 30)], ", such as '10,5%'",
         'X[\'c\'].str.replace(r"[%\\s]", "", regex=True).str.replace(",", ".").astype(float)', "Store it as numbers."),
    ],
)  # fmt: skip
def test_four_of_five_texts_are_numbers(labels, beside, remedy, flag):
    found = of_text(labels)
    n_labels = len([label for label in labels if label != "(missing)"])
    if beside is None:
        assert found is None
        return
    assert found == ColumnWarning(
        "c",
        "numbers-as-text",
        f"'c' is text that holds numbers{beside}: {n_labels} categories without an order.",
        f"Convert it to numbers: {remedy}.",
        flag,
    )


@pytest.mark.parametrize(
    ("labels", "unit", "code"),
    [
        ([f"{i}.5 kg" for i in range(9)], None, ""),
        ([f"{i}.5 kg" for i in range(10)], " kg", ".str.removesuffix(' kg').astype(float)"),
        ([f"EUR {i}.5" for i in range(10)], "EUR ", ".str.removeprefix('EUR ').astype(float)"),
        ([f"{i}.5 kg" for i in range(10)] + ["3 g"], None, ""),
        ([f"{i}.5 kg" for i in range(10)] + ["kg"], None, ""),
        ([f"{i}.5% kg" for i in range(10)], None, ""),
        ([f"{i}.{i}.5 kg" for i in range(10)], None, ""),
        (
            [f"{i},5 kg" for i in range(10)],
            " kg",
            '.str.removesuffix(\' kg\').str.replace(",", ".").astype(float)',
        ),
    ],
)
def test_numbers_with_one_unit_are_ten_or_more(labels, unit, code):
    found = of_text(labels)
    if unit is None:
        assert found is None
        return
    assert found == ColumnWarning(
        "c",
        "numbers-as-text",
        f"'c' is text that holds numbers with {unit!r}, such as {labels[0]!r}: {len(labels)} categories without an "
        "order.",
        f"Convert it to numbers: X['c'].str.strip(){code}.",
        f"Remove {unit!r} from it, so that it is read as numbers.",
    )


@pytest.mark.parametrize(
    ("n_labels", "n_rows", "is_told"),
    [(20, 20, True), (19, 20, True), (18, 20, False), (19, 19, False), (20, 21, True)],
)
def test_nineteen_of_twenty_texts_differ_in_names(n_labels, n_rows, is_told):
    found = of_text([f"row {chr(97 + i)}" for i in range(n_labels)], n_rows)
    expected = ColumnWarning(
        "c",
        "identifier",
        f"'c' holds {n_labels} different texts in {n_rows} rows, as names and identifiers do.",
        "Leave it out: X.drop(columns='c').",
        "If it names the rows, add --id 'c'.",
    )
    assert found == (expected if is_told else None)


# All of them -------------------------------------------------------------------------------------------


def test_a_column_has_one_warning_and_they_are_in_the_order_of_the_columns(tmp_path):
    rows = np.arange(100.0)
    y = np.arange(100) % 2
    X = np.column_stack([rows, np.random.default_rng(0).normal(size=100), y, np.ones(100), y, rows[::-1]])
    names = list("abcdef")
    found = check_columns(Table.of(X, y, names, "classification"))
    assert [(one.column, one.kind) for one in found] == [
        ("a", "identifier"), ("c", "leakage"), ("d", "near-constant"), ("e", "leakage"), ("f", "identifier"),
    ]  # fmt: skip
    assert summary(found) == "columns to check: 2 identifier, 2 leakage, 1 near-constant; see warnings_"
    assert found[0].message == f"{found[0].finding} {found[0].remedy}"
    assert check_columns(Table.of(X[:, [1]], y, ["b"], "classification")) == ()
    np.save(tmp_path / "X.npy", X)
    table = read_table(tmp_path / "X.npy", y, task="auto", owner="a test")
    assert check_columns(table) == ()
    table.values(3), table.values(1), table.values(0)
    assert [(one.column, one.kind) for one in check_columns(table)] == [
        ("x0", "identifier"),
        ("x3", "near-constant"),
    ]


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_blocks_are_dense_and_as_wide_as_they_may_be(make, monkeypatch):
    monkeypatch.setattr(blocks, "_VALUES", 7)
    X = np.arange(15.0).reshape(3, 5)
    parts = list(column_blocks(make(X)))
    assert [start for start, _ in parts] == [0, 2, 4]
    np.testing.assert_array_equal(np.hstack([part for _, part in parts]), X)
    assert [start for start, _ in column_blocks(make(np.ones((9, 3))))] == [0, 1, 2]


def test_rows_are_spread_from_the_first_to_the_last():
    assert some_rows(11, 3).tolist() == [0, 5, 10]
    assert some_rows(3, 5).tolist() == [0, 1, 2]
