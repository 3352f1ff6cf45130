"""Survival times, counts and rows in time on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.usefixtures("small_forests")


@pytest.fixture
def followed(tmp_path):
    """A file of 200 patients whose survival, and number of visits, depend on their dose."""
    rng = np.random.default_rng(0)
    dose, age = rng.normal(size=(2, 200))
    time, censored = rng.exponential(size=(2, 200))
    time, censored = time * np.exp(-dose), 1.5 * censored
    table = pd.DataFrame(
        {
            "dose": dose,
            "age": age,
            "days": np.minimum(time, censored),
            "died": (time <= censored).astype(int),
            "visits": rng.poisson(np.exp(0.5 * dose)),
            "date": pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d"),
        }
    )
    path = tmp_path / "followed.csv"
    table.to_csv(path, index=False)
    return path


def test_survival_is_a_time_and_an_event(ppfs, followed):
    done = ppfs(
        "select", followed, "-t", "days", "--event", "died", "--drop", "visits,date", "--random-state", 0
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.split() == ["dose"]


def test_methods_are_compared_on_survival_times(ppfs, followed):
    done = ppfs(
        *(
            "compare",
            followed,
            "-t",
            "days",
            "--event",
            "died",
            "--drop",
            "visits,date",
            "--methods",
            "all,ppfs,l1",
        ),
        *("--estimator", "linear", "--cv", 3, "--random-state", 0, "--format", "json"),
    )
    assert done.exit_code == 0, done.stderr
    methods = json.loads(done.stdout)["methods"]
    assert all(method["score"] > 0.6 for method in methods)


def test_counts_in_time(ppfs, followed):
    done = ppfs(
        *("select", followed, "-t", "visits", "--task", "count", "--drop", "days,died"),
        *("--time", "date", "--gap", 3, "--random-state", 0, "--format", "json"),
    )
    assert done.exit_code == 0, done.stderr
    assert '"task": "count"' in done.stdout
    assert '"dose"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-t", "days", "--event", "died", "--task", "count"], "--event is for survival times"),
        (["-t", "days", "--event", "age"], "must hold 1 where the event was observed"),
        (["-t", "days", "--task", "survival"], "a time and whether the event was observed"),
        (["-t", "days", "--gap", "3"], "--gap has no effect: it needs --time"),
        (["-t", "days", "--time", "when"], "when"),
        (["-t", "days", "--lags", "1"], "--lags has no effect: it needs --time"),
        (["-t", "days", "--time", "index", "--each-lag"], "--each-lag has no effect: it needs --lags"),
        (["-t", "days", "--time", "index", "--lags", "1,x"], "separated by commas, such as 1,2,7"),
    ],
)
def test_wrong_use_is_explained(ppfs, followed, arguments, said):
    done = ppfs("select", followed, *arguments, "--drop", "visits,date")
    assert done.exit_code != 0
    assert said in done.stderr


def test_lagged_copies_are_columns(ppfs, followed, tmp_path):
    table = pd.read_csv(followed)
    table["pain"] = table["dose"].shift(2).fillna(0.0)
    table.sample(frac=1, random_state=0).to_csv(followed, index=False)
    flags = ["-t", "pain", "--drop", "days,died,visits", "--time", "date", "--random-state", 0]
    done = ppfs("select", followed, *flags, "--lags", "1,2", "--output", tmp_path / "chosen.csv")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.split() == ["dose", "dose_lag1", "dose_lag2"]
    assert "the first 2 rows have no past" in done.stderr
    written = pd.read_csv(tmp_path / "chosen.csv")
    np.testing.assert_allclose(written["dose_lag2"], written["pain"])
    done = ppfs("select", followed, *flags, "--lags", 2, "--each-lag")
    assert done.stdout.split() == ["dose_lag2"]


def test_counts_have_exposures(ppfs, followed):
    table = pd.read_csv(followed)
    table["years"] = np.exp(table["age"])
    table["visits"] = np.random.default_rng(1).poisson(table["years"] * np.exp(0.6 * table["dose"]))
    table.to_csv(followed, index=False)
    flags = ["-t", "visits", "--drop", "days,died,date", "--random-state", 0]
    done = ppfs("select", followed, *flags, "--exposure", "years", "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert '"task": "count"' in done.stdout
    assert json.loads(done.stdout)["selected"][0] == "dose"
    done = ppfs("select", followed, *flags, "--exposure", "years", "--task", "regression")
    assert "--exposure is for counts" in done.stderr


@pytest.mark.parametrize("name", ["linear", "sksurv.linear_model:CoxnetSurvivalAnalysis"])
def test_models_of_scikit_survival_have_names(ppfs, followed, name):
    flags = ["-t", "days", "--event", "died", "--drop", "visits,date", "--random-state", 0]
    done = ppfs("select", followed, *flags, "--test", "paper", "--n-splits", 8, "--estimator", name)
    assert done.exit_code == 0, done.stderr
    assert "dose" in done.stdout.split()
    done = ppfs("select", followed, *flags, "--estimator", "lightgbm")
    assert "'lightgbm' does not predict survival times" in done.stderr


def test_the_cost_of_counts_with_exposures_is_estimated(ppfs, followed):
    table = pd.read_csv(followed).assign(years=lambda frame: np.exp(frame["age"]))
    table.to_csv(followed, index=False)
    done = ppfs("plan", followed, "-t", "visits", "--exposure", "years", "--drop", "days,died,date")
    assert done.exit_code == 0, done.stderr
    assert "200 rows, 2 columns" in done.stdout


def test_new_rows_are_read_with_their_exposure(ppfs, followed, tmp_path):
    """Age changes the exposure alone: without it, age would be newly needed."""
    table = pd.read_csv(followed)
    table["years"] = np.exp(table["age"])
    table["visits"] = np.random.default_rng(1).poisson(table["years"] * np.exp(1 + 0.6 * table["dose"]))
    table[:100].to_csv(tmp_path / "old.csv", index=False)
    table[100:].to_csv(tmp_path / "new.csv", index=False)
    kept = tmp_path / "kept.json"
    flags = ["-t", "visits", "--exposure", "years", "--drop", "days,died,date", "--random-state", 0]
    ppfs("select", tmp_path / "old.csv", *flags, "--save", kept)
    assert json.loads(kept.read_text())["exposure"] == "years"
    done = ppfs("update", kept, tmp_path / "new.csv")
    assert done.exit_code == 0, done.stderr
    assert "age" not in done.stdout
    done = ppfs("update", kept, tmp_path / "new.csv")
    assert "no row counts twice" in done.stderr


def test_survival_times_have_no_update(ppfs, followed, tmp_path):
    kept = tmp_path / "kept.json"
    flags = ["-t", "days", "--event", "died", "--drop", "visits,date", "--random-state", 0]
    ppfs("select", followed, *flags, "--save", kept)
    done = ppfs("update", kept, followed)
    assert done.exit_code == 1
    assert "Fit again with the new rows" in done.stderr


def test_an_exposure_that_is_missing_is_named_with_its_line(ppfs, followed):
    table = pd.read_csv(followed)
    table["years"] = 1.0 + np.arange(len(table)) % 3
    table.loc[4, "years"] = np.nan
    table.to_csv(followed, index=False)
    done = ppfs("select", followed, "-t", "visits", "--drop", "days,died,date", "--exposure", "years")
    assert done.exit_code == 1
    assert "--exposure years" in done.stderr
