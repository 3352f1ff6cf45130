"""How much is done at once: the limits of memory and work at their natural size, with arrays that take no memory."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from ppfs.independence._bound import growing_batches
from ppfs.independence._classical import levels
from ppfs.independence._classical.contingency import BoundContingency
from ppfs.independence._classical.partial import Correlations
from ppfs.independence._predictive.exact_tail import PermutationTail
from ppfs.independence._predictive.rearranged_columns import columns_at_once
from ppfs.independence._predictive.residuals.index import Features
from ppfs.independence._predictive.residuals.smoother import Smoother
from ppfs.independence._predictive.risks.any_model import ColumnGrower, FittedModels
from ppfs.independence._predictive.risks.libraries import LibraryProblem
from ppfs.independence._predictive.risks.linear.risks import LinearRisks
from ppfs.independence._predictive.risks.linear.single_columns import LinearGrower
from ppfs.independence._predictive.risks.trees import TreeGrower


def tall(n_rows, n_columns=1):
    return np.broadcast_to(np.float64(0), (n_rows, n_columns))


@pytest.mark.parametrize(
    ("n_rows", "is_on_device", "n_columns"),
    [
        (2**17, False, 1),
        (2**17 + 1, False, 1),
        (2**16, False, 2),
        (2**16 + 1, False, 1),
        (2**22, True, 2),
        (2**22 + 1, True, 1),
    ],
)
def test_a_megabyte_of_rearranged_columns_is_tested_together(n_rows, is_on_device, n_columns):
    assert columns_at_once(n_rows, is_on_device=is_on_device) == n_columns


@pytest.mark.parametrize(("n_rows", "sizes"), [(2**17, [2, 2, 1]), (2**17 + 1, [1] * 5)])
def test_columns_of_close_integers_are_coded_a_few_at_a_time(monkeypatch, n_rows, sizes):
    ranked = []
    monkeypatch.setattr(levels, "as_rows", lambda X, columns: np.empty((columns.size, 0)))
    monkeypatch.setattr(levels._engine, "rank_levels", lambda values, *rest: ranked.append(len(values)))
    whole = SimpleNamespace(is_whole=np.ones(5, dtype=bool), spans=np.zeros(5), lowest=np.zeros(5))
    table = SimpleNamespace(
        X=None, n_rows=n_rows, n_features=5, kinds=SimpleNamespace(whole_columns_of=lambda X: whole)
    )
    levels._code_close_columns(table, None)
    assert ranked == sizes


@pytest.mark.parametrize(("n_cells", "sizes"), [(2**19, [2, 2, 1]), (2**19 + 1, [1] * 5), (2**21, [1] * 5)])
def test_tables_of_counts_have_a_million_cells_together(n_cells, sizes):
    bound = SimpleNamespace(
        _strata=lambda target, given: SimpleNamespace(n_strata=1, n_classes=1), _counts=[2, n_cells, 3, 4, 5]
    )
    assert [len(some) for some in BoundContingency._batches_of(bound, [0, 1, 2, 3, 4], 5, ())] == sizes


@pytest.mark.parametrize(("n_rows", "first"), [(2**16, 2), (2**16 + 1, 1), (2**18, 1)])
def test_a_first_batch_has_as_many_columns_as_are_counted_for_free(monkeypatch, n_rows, first):
    bound = object.__new__(BoundContingency)
    bound.table = SimpleNamespace(n_rows=n_rows)
    asked = []
    monkeypatch.setattr(
        BoundContingency, "_batch", lambda self, xs, *rest: asked.append(len(xs)) or [None] * len(xs)
    )
    list(bound._answers(range(9), 9, frozenset()))
    assert asked == [len(batch) for batch in growing_batches(range(9), first)]


@pytest.mark.parametrize(("n_rows", "sizes"), [(2**19, [2, 2, 1]), (2**19 + 1, [1] * 5)])
def test_a_million_numbers_are_correlated_at_once(n_rows, sizes):
    blocks = []

    def block(columns):
        blocks.append(columns.stop - columns.start)
        return np.zeros((blocks[-1], 1))

    own = SimpleNamespace(
        _scores_of=lambda variables: [tall(n_rows)[:, 0]],
        _table=SimpleNamespace(n_features=5),
        _block=block,
        _target=np.zeros((1, 1)),
    )
    Correlations._correlate(own, 0)
    assert blocks == sizes


@pytest.mark.parametrize(("n_rows", "is_kept"), [(2**20 // 4, True), (2**20 // 4 + 1, False)])
def test_features_of_a_million_values_are_kept(n_rows, is_kept):
    made = []
    features = Features(tall(n_rows, 4))
    for _ in range(2):
        features._kept("rows", None, features.values.size, lambda: made.append(0))
    assert len(made) == (1 if is_kept else 2)


@pytest.mark.parametrize(("n_rows", "n_blocks"), [(2**14, 1), (2**14 + 1, 2), (2**15, 2)])
def test_leverages_are_computed_for_some_rows_at_a_time(n_rows, n_blocks):
    blocks = Smoother._blocks.fget(SimpleNamespace(n_rows=n_rows))
    assert blocks == [slice(first, first + 2**14) for first in (0, 2**14)][:n_blocks]


def test_a_block_of_columns_has_a_megabyte_or_four_columns():
    assert ColumnGrower.bytes_per_block == 2**18
    for n_rows, n_bytes in ((2**15, 2**20), (2**15 + 1, 2**20 + 32), (10, 2**20)):
        assert (
            LinearGrower.bytes_per_block.fget(SimpleNamespace(problem=SimpleNamespace(y=range(n_rows))))
            == n_bytes
        )


@pytest.mark.parametrize(
    ("is_sparse", "n_rows", "is_fitted"),
    [(True, 2**22, True), (True, 2**22 + 1, False), (False, 2**23, True)],
)
def test_sparse_members_are_made_dense_up_to_eight_million_values(is_sparse, n_rows, is_fitted):
    source = SimpleNamespace(
        _recipe=SimpleNamespace(
            is_additive=True,
            solver=SimpleNamespace(can_fit=lambda n_regressors, n_rows: (n_regressors, n_rows) == (2, 7)),
            widths=lambda n_levels: n_levels + 1,
        ),
        _table=SimpleNamespace(
            n_rows=n_rows, is_sparse=is_sparse, n_levels_of=lambda members: np.zeros(2, dtype=int)
        ),
        problem=SimpleNamespace(splits=[SimpleNamespace(train=np.arange(n)) for n in (9, 7, 8)]),
    )
    assert LinearRisks._can_fit(source, {0, 1}) is is_fitted


@pytest.mark.parametrize(
    ("n_base", "stop_after", "is_together"), [(2**22, 0, True), (2**22 + 1, 0, False), (1, 3, False)]
)
def test_questions_with_many_risks_are_answered_one_by_one(monkeypatch, n_base, stop_after, is_together):
    asked = []

    def knockoff(design, feature):
        asked.append(feature)
        raise StopIteration

    models = object.__new__(FittedModels)
    models.problem = SimpleNamespace(n_draws=2, stop_after=stop_after, knockoff=knockoff)
    models._base, models._design = tall(n_base)[:, 0], SimpleNamespace(places={0: 0, 1: 1})
    calls = []
    risks = FittedModels.risks
    monkeypatch.setattr(
        FittedModels, "risks", lambda self, features: calls.append(len(features)) or risks(self, features)
    )
    with pytest.raises((StopIteration, RuntimeError)):
        models.risks([0, 1])
    assert calls == ([2] if is_together else [2, 1])


@pytest.mark.parametrize(("n_columns", "is_with_one_thread"), [(4, True), (5, False)])
def test_designs_of_a_million_values_are_fitted_with_one_thread(monkeypatch, n_columns, is_with_one_thread):
    problem = object.__new__(LibraryProblem)
    called = []
    monkeypatch.setattr(
        "ppfs.independence._predictive.problem.Problem.fit", lambda *given: called.append("usual")
    )
    one = SimpleNamespace(estimator=Ridge(), fit=lambda *given: called.append("one"))
    monkeypatch.setattr(LibraryProblem, "_with_one_thread", one)
    monkeypatch.setattr(LibraryProblem, "_is_direct", False)
    problem.fit(SimpleNamespace(X=tall(2**18, n_columns)), None)
    assert called == (["one"] if is_with_one_thread else ["usual"])


def tail_of(**parts):
    tail = object.__new__(PermutationTail)
    for name, value in {"outputs": np.zeros((1, 3)), "_is_begun": False, **parts}.items():
        setattr(tail, name, value)
    return tail


@pytest.mark.parametrize(
    ("outputs", "share", "refitted"),
    [(None, 0.01, 1.0), ("some", 0.01, 0.022), ("some", 0.45, 0.99), ("some", 0.46, 1.0)],
)
def test_models_are_refitted_to_more_draws_than_stand_out_in_one_view(outputs, share, refitted):
    assert tail_of(outputs=outputs)._share_refitted(share) == pytest.approx(refitted)


# Four megabytes of columns, or 64 on a GPU, of which so many are refitted in a chunk of 64 draws.
@pytest.mark.parametrize(
    ("n_rows", "is_on_device", "n_columns", "n_chunks"),
    [
        (128, False, 2, 32), (128, False, 3, 21), (128, False, 64, 1), (128, False, 100, 1), (2**17, False, 1, 1),
        (128, True, 2, 512), (2**17, True, 1, 1), (2**12, True, 4, 8), (128, True, 1, 512),
    ],
)  # fmt: skip
def test_a_task_has_as_many_draws_as_fill_its_memory(n_rows, is_on_device, n_columns, n_chunks):
    tail = tail_of(
        outputs=None, table=SimpleNamespace(n_rows=n_rows), growth=SimpleNamespace(is_on_device=is_on_device)
    )
    assert tail._chunks_per_task(n_columns, 0.5) == n_chunks


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(10, [256, 44]), (819, [256, 44]), (820, [255, 45]), (2**25 // 160 + 1, [1] * 300)]
)
def test_columns_are_screened_together(n_rows, sizes):
    def read(variables):
        block = SimpleNamespace(
            X=np.zeros((2, len(variables))), n_columns=len(variables), take=lambda own: own.size
        )
        return SimpleNamespace(read=lambda: block)

    tail = tail_of(
        table=SimpleNamespace(n_rows=n_rows, block=read),
        exchange=SimpleNamespace(trades_values=lambda column: False),
    )
    assert [part.block for part in tail._parts(range(300))] == sizes


@pytest.mark.parametrize(("moved", "can_refine"), [(0.5, True), (0.49, False)])
def test_a_column_is_rearranged_where_half_of_its_rows_can_move(moved, can_refine):
    block = SimpleNamespace(X=np.zeros((2, 1)))
    table = SimpleNamespace(
        is_single=lambda x: x != 1, block=lambda variables: SimpleNamespace(read=lambda: block)
    )
    groups = SimpleNamespace(groups=np.zeros(2), moves=lambda column: moved)
    assert tail_of(table=table, exchange=groups).can_refine([0, 1]).tolist() == [can_refine, False]
    free = SimpleNamespace(groups=None)
    assert tail_of(table=table, exchange=free).can_refine([0, 1]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("n_columns", "end", "is_compiled"), [(3, 64, True), (1, 128, False), (1, 192, True)]
)
def test_kernels_are_compiled_for_more_than_150_refits(n_columns, end, is_compiled):
    """Models are refitted to all draws here: 192, 128 and 192 of them."""
    grown = []
    growth = SimpleNamespace(for_many_columns=lambda: grown.append(growth) or growth)
    tail = tail_of(outputs=None, growth=growth, _parts=lambda xs: [])
    for _ in range(2):
        assert tail.n_as_extreme(range(n_columns), 0, end, 0.5).tolist() == [0] * n_columns
    assert len(grown) == is_compiled


@pytest.mark.parametrize(("n_columns", "is_worth"), [(4, False), (5, True)])
def test_trees_of_two_million_rows_are_not_worth_threads(n_columns, is_worth):
    grower = object.__new__(TreeGrower)
    splits = [SimpleNamespace(train=SimpleNamespace(size=size)) for size in (200_000, 300_000)]
    object.__setattr__(grower, "problem", SimpleNamespace(splits=splits))
    assert grower.is_worth_threads(n_columns) is is_worth
