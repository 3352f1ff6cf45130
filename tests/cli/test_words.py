"""Messages of the library speak of flags on the command line."""

import pytest

from ppfs.cli._words import in_flags


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('Pass impute="median", or raise n_splits.', "Pass --impute median, or raise --splits."),
        # A flag has its own words for a boolean.
        ("pass stratify=False to silence this", "pass --stratify no to silence this"),
        ('If so, pass time="index", or', "If so, add --time index, or"),
        ("one unit, such as a patient, pass groups.", "one unit, such as a patient, add --groups."),
        (
            "Use more rows, or fewer folds of the test, for example independence=CrossFitPPI(n_folds=2).",
            "Use more rows, or a search without models, for example --method iamb.",
        ),
        # The test's own folds are no flag: --folds are those of the search.
        ("CrossFitPPI(n_folds=5) needs 10 rows", "CrossFitPPI(n_folds=5) needs 10 rows"),
        ('n_folds=3: use PPI(impute="median")', '--folds 3: use PPI(impute="median")'),
    ],
)
def test_parameters_are_called_by_their_flags_outside_calls(said, shown):
    assert in_flags(said) == shown


@pytest.mark.parametrize(
    ("column", "flags", "advice"),
    [
        ("bmi", (), "Fill them in, or add --test calibrated --impute median"),
        ("age", ("--groups", "noise"), "Add --test calibrated, which tests groups instead of rows"),
    ],
)
def test_what_a_test_cannot_read_is_said_with_the_flags_of_another_test(
    ppfs, table, patients, column, flags, advice
):
    missing = patients[column].mask(patients.index == 3) if not flags else patients[column]
    patients.assign(**{column: missing}).to_csv(table, index=False)
    done = ppfs("select", table, "-t", "ill", "--method", "iamb", *flags)
    assert done.exit_code == 1
    assert advice in done.stderr
    assert "PPI" not in done.stderr
