"""Growth block by block: blocks never change an answer, and every worker has some."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ppfs._data.reading import read_table
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive import marginal
from ppfs.independence._predictive.marginal import cut, judged
from ppfs.independence._predictive.risks import any_model, linear, trees
from ppfs.independence._predictive.risks.paired import PairedRisks

GROWERS = {
    "tree": (DecisionTreeClassifier(), trees.TreeGrower),
    "logistic": (LogisticRegression(), linear.single_columns.LinearGrower),
    "bayes": (GaussianNB(), any_model.ModelGrower),
}


def _table(is_sparse=False):
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(60, 9)), 1)
    X[:, 4] = 1.0
    if is_sparse:
        X[generator.random(X.shape) < 0.6] = 0.0
    y = (X[:, 0] + generator.normal(size=60) > 0).astype(int)
    return read_table(sp.csc_array(X) if is_sparse else X, y, task="auto", owner=None)


def _asked(test, table, n_jobs=None):
    bound = test.bind(table, random_state=0, n_jobs=n_jobs)
    return bound.query_many(range(9), table.target), bound


@pytest.mark.parametrize("name", GROWERS)
@pytest.mark.parametrize("test", [PPI, CrossFitPPI])
def test_blocks_of_any_size_give_the_same_answers(name, test, monkeypatch):
    estimator, grower = GROWERS[name]
    expected, bound = _asked(test(estimator), _table())
    for n_bytes in (1, 60 * 8 * 2, 2**30):
        monkeypatch.setattr(grower, "bytes_per_block", n_bytes)
        answers, again = _asked(test(estimator), _table())
        assert answers == expected
        assert again.n_fits == bound.n_fits


def test_what_is_sent_is_several_blocks_and_answered_block_by_block(monkeypatch):
    """A scheduler's price for a task is paid once for many columns; models still see as many as they are quick with."""
    estimator, grower = GROWERS["tree"]
    expected, bound = _asked(PPI(estimator), _table())
    seen = []

    def answered(self, block, original=marginal.Growth.__call__):
        seen.append(block.n_columns)
        return original(self, block)

    monkeypatch.setattr(marginal.Growth, "__call__", answered)
    monkeypatch.setattr(marginal, "tasks_are_sent", lambda n_workers, prefers: True)
    monkeypatch.setattr(grower, "bytes_per_block", 60 * 8 * 2)
    answers, again = _asked(PPI(estimator), _table())
    assert answers == expected
    assert again.n_fits == bound.n_fits
    assert seen == [9, 2, 2, 2, 2, 1]


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("name", GROWERS)
def test_workers_give_the_same_answers(name, backend):
    estimator, _ = GROWERS[name]
    expected, _ = _asked(CrossFitPPI(estimator), _table())
    with parallel_config(backend=backend):
        answers, _ = _asked(CrossFitPPI(estimator), _table(), n_jobs=2)
    assert answers == expected


def test_sparse_blocks_are_answered_as_dense_ones():
    sparse = _table(is_sparse=True)
    dense = read_table(sparse.X.toarray(), sparse.y, task="auto", owner=None)
    assert _asked(PPI(), sparse)[0] == _asked(PPI(), dense)[0]


def test_tall_columns_leave_no_worker_idle():
    """A column of many bytes is a block of its own, and a few columns are still several blocks."""
    assert [block.size for block in cut(np.arange(3), 10**9, 2**21, n_workers=2)] == [1, 1, 1]
    assert len(cut(np.arange(16), 8, 2**21, n_workers=2)) == 8
    assert [block.size for block in cut(np.arange(5), 8, 2**21, n_workers=2, least=2)] == [2, 2, 1]
    assert [block.size for block in cut(np.arange(2), 10**9, 2**21, n_workers=2, least=2)] == [1, 1]


def test_what_all_columns_share_is_prepared_once(monkeypatch):
    made = []
    from ppfs import _engine
    from ppfs._engine.one_column.prepared_columns import prepare_columns

    def counted(*arguments):
        made.append(1)
        return prepare_columns(*arguments)

    monkeypatch.setattr(_engine, "prepare_columns", counted)
    # Without compiled kernels, trees of a small table are grown in another way.
    monkeypatch.setattr(_engine, "is_sooner_grown", lambda n_rows: False)
    monkeypatch.setattr(trees.TreeGrower, "bytes_per_block", 1)
    _asked(PPI(), _table())
    assert made == [1]


def test_a_member_alone_is_the_same_question_as_growth_asks():
    table = _table()
    bound = PPI().bind(table, random_state=0)
    alone = bound.query(0, table.target)
    n_fits = bound.n_fits
    assert bound.query(0, table.target, [0]) == alone
    assert bound.n_fits == n_fits


def test_what_a_model_uses_is_not_inert_though_its_risks_are_equal():
    """Without this column the model may be another one; one that no model uses can be left out of all of them."""
    base, replaced = (
        np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]),
        np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 3.0]]),
    )
    test = CrossFitPPI(DecisionTreeClassifier(), significance="wilcoxon", random_state=0)
    rng = np.random.default_rng(0)
    table = read_table(rng.normal(size=(20, 3)), np.arange(20) % 2, task="classification", owner=test)
    risks = PairedRisks(base, replaced, np.array([True, False, False]))
    problem = test.bind(table)._risks_about(table.target, is_marginal=False)[0].problem
    answers = judged(test, problem, risks, ["a", "b", "c"])
    assert answers.is_inert.tolist() == [True, False, False]
    assert answers.pvalues.tolist()[:2] == [1.0, 1.0]


@pytest.mark.parametrize(("name", "n_used"), [("tree", 12), ("logistic", 8)])
def test_growth_has_no_more_threads_than_are_of_use(monkeypatch, name, n_used):
    """Linear models hold the interpreter's lock for a quarter of their time."""
    given = {}

    def noted(function, shared, items, *, n_jobs, **others):
        given.update(n_jobs=n_jobs, n_blocks=len(items))
        return (function(shared, others["prepare"](item)) for item in items)

    monkeypatch.setattr(marginal, "run_tasks", noted)
    X = np.random.default_rng(0).normal(size=(60, 100))
    table = read_table(X, (X[:, 0] > 0).astype(int), task="auto", owner=None)
    growth = PPI(GROWERS[name][0], n_splits=5).bind(table, random_state=0)._growth(table.target)
    monkeypatch.setattr(type(growth), "is_worth_threads", lambda self, n: True)
    with parallel_config("threading"):
        list(marginal.grow_blocks(growth, table, np.arange(100), 12))
    assert given == {"n_jobs": n_used, "n_blocks": -(-100 // -(-100 // (4 * n_used)))}
