"""Which rows trade places."""

from __future__ import annotations

import numpy as np

from ppfs._rows import Exchange


def draws(exchange: Exchange, column: np.ndarray, n_draws: int = 50) -> np.ndarray:
    by_value = exchange.trades_values(column)
    return column[exchange.sources(np.random.default_rng(0), n_draws, by_value=by_value)]


def test_rows_without_groups_trade_freely() -> None:
    column = np.arange(6.0)
    copies = draws(Exchange(6), column)
    assert copies.shape == (50, 6)
    assert (np.sort(copies, axis=1) == column).all()
    assert len(np.unique(copies, axis=0)) > 30


def test_values_that_are_constant_within_groups_stay_so() -> None:
    groups = np.array([7, 7, 7, 2, 2, 5])
    column = np.array([1.0, 1, 1, np.nan, np.nan, 3])
    exchange = Exchange(6, groups)
    copies = draws(exchange, column)
    assert exchange.moves(column) == 1.0
    assert exchange.n_units(by_value=True) == 3
    for group in (7, 2, 5):
        part = copies[:, groups == group]
        assert ((part == part[:, :1]) | np.isnan(part) & np.isnan(part[:, :1])).all()
    # Groups of different sizes trade values, so a value may stand in more rows than before.
    assert len({str(copy.tolist()) for copy in copies}) == 6


def test_a_missing_value_is_a_value_of_its_own() -> None:
    """A group with one missing value is not constant, whichever of its rows comes first."""
    groups = np.array([0, 0, 1, 1, 2, 2])
    for column in ([1.0, np.nan, 2, 2, 3, 3], [np.nan, 1.0, 2, 2, 3, 3]):
        exchange = Exchange(6, groups)
        assert not exchange.trades_values(np.array(column))
        # So whole groups are exchanged, and their values stay side by side.
        pairs = {str(pair) for copy in draws(exchange, np.array(column)) for pair in copy.reshape(3, 2)}
        assert pairs == {str(np.array(column[:2])), "[2. 2.]", "[3. 3.]"}


def test_groups_of_equal_size_trade_places_as_wholes() -> None:
    groups = np.array([0, 1, 0, 1, 2, 2, 3, 4, 4, 4])
    column = np.arange(10.0)
    exchange = Exchange(10, groups)
    copies = draws(exchange, column)
    pairs = {(0.0, 2.0), (1.0, 3.0), (4.0, 5.0)}
    for copy in copies:
        assert {tuple(copy[groups == group].tolist()) for group in (0, 1, 2)} == pairs
        # No other group has their size, so they have nobody to trade with.
        assert copy[groups == 3].tolist() == [6.0]
        assert copy[groups == 4].tolist() == [7.0, 8.0, 9.0]
    assert len({tuple(copy.tolist()) for copy in copies}) == 6
    assert exchange.moves(column) == 0.6
    assert exchange.n_units(by_value=False) == 5
