"""What the flags turn into: the selector and its parameters, and the table as ``fit`` gets it. Nothing is fitted."""

import inspect
import shlex

import click
import numpy as np
import pandas as pd
import pytest
from checks.recorded import Record

import ppfs as library

RECORD = Record(__file__)
N = 30


def write_tables():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, 3)).round(2), columns=["age", "dose", "a,b"])
    frame["sex"] = np.where(rng.random(N) < 0.5, "f", "m")
    frame["site"] = np.arange(N) % 5
    frame["day"] = np.arange(N)[::-1]
    frame["weight"] = 1.0 + np.arange(N) % 3
    frame["n"] = np.arange(N) % 4
    frame["event"] = np.arange(N) % 2
    frame["level"] = 3 * (np.arange(N) % 3)
    frame["risk"] = (frame["age"] + rng.normal(size=N)).round(2)
    frame.to_csv("p.csv", index=False)
    frame[["age", "sex", "dose", "risk"]].to_csv("german.csv", index=False, sep=";", decimal=",")
    gaps = frame[["age", "site", "weight", "event", "risk"]].astype(object)
    gaps.loc[3, "risk"] = "none"
    for row in (4, 6, 8, 9, 10, 11, 12):
        gaps.loc[row, ["weight", "event", "site"]] = None
    gaps.to_csv("gaps.csv", index=False)
    gaps.assign(risk=None).to_csv("nothing.csv", index=False)
    with pd.ExcelWriter("two.xlsx") as book:
        frame[["age", "risk"]].to_excel(book, sheet_name="first", index=False)
        frame[["dose", "risk"]].to_excel(book, sheet_name="second", index=False)
    frame[["age", "site", "risk"]].to_feather("p.feather")
    frame[["age", "site", "risk"]].to_parquet("p.parquet")
    frame.assign(when=pd.Timestamp("2024-01-01"))[["age", "when", "risk"]].to_parquet("dates.parquet")
    np.save("p.npy", frame[["age", "dose", "risk"]].to_numpy())


P = "p.csv -t risk"
COMMANDS = [
    f"select {P}",
    f"select {P} -q",
    f"select {P} --alpha 0.01 --folds 3 --min-features 2 --correction none --seed 7 --jobs 2",
    f"select {P} --correction bh --second-look --growth joint --interactions pairs",
    f"select {P} --no-second-look --growth marginal --confirm 0.3 --memory-limit 2000",
    f"select {P} --test paper --splits 7 --test-size 0.3 --knockoff permutation --significance wilcoxon",
    f"select {P} --test paper --splits 7 --significance paired-t --stratify yes --draws 3",
    f"select {P} --test calibrated --estimator linear --growth-estimator tree --conditional linear",
    f"select {P} --estimator tree --estimator forest --stratify no",
    f"select {P} --estimator panel --estimator boosting --stratify auto",
    f"select {P} --estimator svm --estimator-params '{{\"C\": 2}}'",
    f"select {P} --estimator 'forest{{\"max_depth\": 5}}' --loss absolute --impute median",
    f"select {P} --estimator sklearn.neighbors:KNeighborsRegressor",
    f"select {P} --estimator lightgbm",
    f"select {P} --estimator-params '{{\"C\": 2}}'",
    f"select {P} --estimator panel --estimator-params '{{\"C\": 2}}'",
    f"select {P} --splitter 'KFold{{\"n_splits\": 4}}' --test paper",
    f"select {P} --splitter sklearn.model_selection:GroupKFold --groups site --test paper",
    f"select {P} --keep age,'\"a,b\"' --condition-on dose --categorical site,level",
    f"select {P} --feature-group both=age,dose --feature-group one=site",
    f"select {P} --feature-group age,dose",
    f"select {P} --feature-group =age,dose",
    f"select {P} --drop 'a,b' --drop age,day --id site --weights weight --groups level",
    f"select {P} --time day --gap 2 --lags 1,3",
    f"select {P} --time index --lags 2 --each-lag --feature-group both=age,dose",
    f"select {P} --gap 2",
    f"select {P} --time index --each-lag",
    f"select {P} --time index --lags 0",
    f"select {P} --time index --lags ,",
    "select p.csv -t day --event event",
    "select p.csv -t day --event event --estimator linear",
    "select p.csv -t day --event event --estimator lightgbm",
    "select p.csv -t day --event level",
    "select p.csv -t day --event event --task count",
    "select p.csv -t n --exposure weight",
    "select p.csv -t n --exposure weight --task survival",
    "select p.csv -t n --exposure weight --task count --estimator linear",
    "select p.csv -t n --task ordinal --estimator forest",
    'select p.csv -t level --class-weight \'{"0": 2, "3": 1, "6": 4}\'',
    "select p.csv -t level --class-weight balanced --test paper --estimator linear",
    "select p.csv -t level --class-weight 3",
    "select p.csv -t sex --estimator linear",
    f"select {P} --method iamb",
    f"select {P} --method iamb --test fisher-z",
    f"select {P} --method iamb --estimator tree --alpha 0.2",
    f"select {P} --method mmmb --test paper --splits 9 --growth-estimator tree",
    f"select {P} --method mmmb --test fisher-z --splits 9",
    f'select {P} --method stepwise --method-params \'{{"direction": "backward"}}\'',
    f"select {P} --method stepwise --method-params '{{\"nobody\": 1}}'",
    f"select {P} --method stepwise --splits 3",
    f"select {P} --method stability --jobs 2 --seed 3 --alpha 0.1",
    f"select {P} --method stability -q --method-params '{{\"n_pairs\": 7}}'",
    f"select {P} --method stability --method-params '{{\"pairs\": 7}}'",
    f"select {P} --splits 4",
    f"select {P} --device cpu --on-error drop",
    "select german.csv -t risk",
    "select german.csv -t risk --sep ';' --decimal , --encoding latin-1",
    "select german.csv -t risk --sep ab",
    "select german.csv -t risk --encoding klingon",
    "select gaps.csv -t risk",
    "select gaps.csv -t risk --na none",
    "select gaps.csv -t risk --na none --drop-missing-target",
    "select gaps.csv -t age --drop risk --weights weight",
    "select gaps.csv -t age --drop risk --groups site",
    "select gaps.csv -t age --drop risk --event event",
    "select gaps.csv -t age --drop risk --time weight",
    "select nothing.csv -t risk",
    "select two.xlsx -t risk",
    "select two.xlsx -t risk --sheet second",
    "select two.xlsx -t risk --sheet secnd",
    "select two.xlsx -t risk --sep ;",
    "select p.feather -t risk",
    "select p.parquet -t risk --na none",
    "select p.parquet -t risk --stream",
    "select p.parquet -t risk --stream --drop age",
    "select p.parquet -t risk --stream --sheet first",
    "select p.parquet -t risk --stream --sep ;",
    "select p.parquet -t nobody --stream",
    "select nobody.parquet -t risk --stream",
    "select p.npy -t x2",
    "select dates.parquet -t risk",
    "select p.csv -t risk --drop age,dose,sex,site,day,weight,n,event,level --id 'a,b'",
    "select german.csv -t risk --report-cv 3",
    "select german.csv -t risk --report-cv 31 --report r.md",
    "select german.csv -t risk -o r.nobody",
    "select german.csv -t risk --report r.nobody",
    "select german.csv -t risk -o nowhere/r.csv",
    "select german.csv -t risk -o . ",
    "select german.csv -t risk -o r.csv --save r.csv",
    "select german.csv -t risk --alpha 0.1 --alpha 0.2",
    "select p.parquet -t risk --stream -o r.csv",
    f"select {P} --cluster nowhere",
    f"compare {P}",
    f"compare {P} --methods 'all, ppfs,' --estimator linear --scoring r2 --cv 4 --seed 3 --jobs 2 -q",
    f"compare {P} --task regression --time-limit 9 --groups site --weights weight",
    "compare p.csv -t day --event event --estimator tree",
    f"compare {P} --estimator-params '{{\"C\": 2}}'",
    "compare p.parquet -t risk --stream",
    f"compare {P} --plot r.txt",
]


def type_in_words(values):
    """Return the type of values; pandas 2 keeps texts as objects."""
    is_text = values.dtype == object and all(isinstance(one, str) for one in values)
    return "str" if is_text else str(values.dtype)


def said(value):
    """Return a value in words that do not change from run to run."""
    if isinstance(value, pd.DataFrame):
        return {str(name): said(value[name]) for name in value.columns}
    if isinstance(value, pd.Series | np.ndarray):
        return [type_in_words(value), len(value), *map(str, value[:4].tolist())]
    if isinstance(value, library.RowsInTime):
        return {name: said(one) for name, one in vars(value).items()}
    if isinstance(value, dict):
        return {str(key): said(one) for key, one in value.items()}
    if hasattr(value, "get_params"):
        return [type(value).__name__, *changed_parameters(value)]
    return [said(one) for one in value] if isinstance(value, list | tuple) else repr(value)


def changed_parameters(estimator):
    """Return the parameters that are not at their default."""
    usual = inspect.signature(type(estimator)).parameters
    return [
        f"{name}={said(value)}"
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in usual or repr(usual[name].default) != repr(value)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        write_tables()
    return place


@pytest.fixture
def caught(monkeypatch):
    """Stop commands before anything is fitted, and keep what would have been."""
    kept = {}

    def stop(selector, data, *_):
        kept["selector"] = said(selector)
        kept["X"], kept["y"], kept["fit"] = said(data.X), said(data.y), said(data.fit_arguments())
        kept["names"], kept["notes"], kept["ids"] = data.names, list(data.notes), list(data.ids)
        rows = data.rows
        kept["rows"] = None if rows is None else [len(rows.frame), *map(str, rows.frame.columns)]
        raise click.Abort

    def stop_comparing(X, y, **settings):
        kept.update(X=said(X), y=said(y), settings=said(settings))
        raise click.Abort

    monkeypatch.setattr("ppfs.cli._fitting.warn_of_many_classes", stop)
    monkeypatch.setattr("ppfs.compare", stop_comparing)
    return kept


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_become_the_settings_on_record(ppfs, folder, caught, monkeypatch, command):
    monkeypatch.chdir(folder)
    done = ppfs(*shlex.split(command))
    words = done.stderr.replace(str(folder), "FOLDER").splitlines()
    RECORD.check(command, {"code": done.exit_code, "stderr": words, **caught})
