"""New rows: whether the selected columns are still needed, and whether others are needed now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import DEFAULT_PANEL, constant_model, estimator_for, usable_members
from ppfs._rows import divide_into_folds
from ppfs._verdicts.betting import Wagers
from ppfs._verdicts.intervals import RowMeans
from ppfs._verdicts.measuring import residuals_of
from ppfs._verdicts.rivals import moves_of

Status = Literal["still needed", "no longer needed", "drifting", "newly needed", "undecided", "no evidence"]

# A column is no longer needed where less than this share of its effect is left.
_SHARE_LEFT = 0.5

# Differences of losses are cut at this quantile of those of the earlier rows: bets need bounded numbers.
_CUT = 0.99

_N_FOLDS = 5

# With more columns than this a line is watched.
_MOST_COLUMNS = 60

# Three kinds of alarms share the level.
_N_KINDS = 3


@dataclass(frozen=True)
class Watch:
    """What was fixed before any new row was seen, and the evidence so far.

    Attributes
    ----------
    selected, others : tuple of int
        Features.

    member : int
        The place of the model in the panel.

    bounds : ndarray of shape (n_selected,)
        Differences of losses are cut at plus and minus these.

    effects : ndarray of shape (n_selected,)
        How much each selected column must lower the loss to be called needed: half of what it does in the earlier rows.

    needed, vanished, entering : Wagers
        Against "the column does not help", against "it has at least half of its effect", and, for the other columns,
        against "it does not help the selected ones".

    entering_bounds : ndarray of shape (n_others,)

    n_rows, n_new, n_batches : int
        Rows of the fit, new rows and batches so far.
    """

    selected: tuple[int, ...]
    others: tuple[int, ...]
    member: int
    bounds: Floats
    effects: Floats
    needed: Wagers
    vanished: Wagers
    entering: Wagers
    entering_bounds: Floats
    n_rows: int
    n_new: int = 0
    n_batches: int = 0

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain lists and numbers, for JSON."""
        return {
            "selected": list(self.selected),
            "others": list(self.others),
            "member": self.member,
            "bounds": self.bounds.tolist(),
            "effects": self.effects.tolist(),
            "entering_bounds": self.entering_bounds.tolist(),
            **{name: getattr(self, name).as_plain() for name in ("needed", "vanished", "entering")},
            **{name: getattr(self, name) for name in ("n_rows", "n_new", "n_batches")},
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Watch:
        """Return what `as_plain` was called with."""
        return cls(
            selected=tuple(map(int, plain["selected"])),
            others=tuple(map(int, plain["others"])),
            member=int(plain["member"]),
            bounds=np.array(plain["bounds"], dtype=np.float64),
            effects=np.array(plain["effects"], dtype=np.float64),
            needed=Wagers.from_plain(plain["needed"]),
            vanished=Wagers.from_plain(plain["vanished"]),
            entering=Wagers.from_plain(plain["entering"]),
            entering_bounds=np.array(plain["entering_bounds"], dtype=np.float64),
            n_rows=int(plain["n_rows"]),
            n_new=int(plain["n_new"]),
            n_batches=int(plain["n_batches"]),
        )


@dataclass(frozen=True)
class Update:
    """What new rows show about every column, after all batches so far.

    Attributes
    ----------
    features : tuple of str
        All features, the selected ones first.

    statuses : tuple of str
        For selected columns: "still needed" (they lower the loss of new rows), "no longer needed" (less than half of
        the effect is left), "drifting" (both were shown, at different times), or "undecided". For the others: "newly
        needed" (they lower the loss of the selected ones), or "no evidence".

    e_values : ndarray of shape (n_features,)
        The evidence behind the status: against "it does not help" for columns that are needed or newly needed, against
        "it has half of its effect" for those that are not.

    suggested : tuple of str
        The selection by the rule: without columns that are no longer needed, with those that are newly needed.

    n_new, n_batches : int
        New rows and batches so far.

    alpha : float
        With this probability at most there is ever a false alarm, over all columns and all batches.
    """

    features: tuple[str, ...]
    statuses: tuple[Status, ...]
    e_values: Floats
    suggested: tuple[str, ...]
    n_new: int
    n_batches: int
    alpha: float

    def __getitem__(self, feature: str) -> Status:
        """Return the status of a feature."""
        return self.statuses[self.features.index(feature)]

    def __str__(self) -> str:
        """Return the alarms, and what is still needed, in a sentence."""
        told = []
        for status in ("no longer needed", "drifting", "newly needed", "still needed", "undecided"):
            names = [name for name, one in zip(self.features, self.statuses, strict=True) if one == status]
            if names:
                told.append(
                    f"{status}: {', '.join(names[:10])}{f' and {len(names) - 10} more' * (len(names) > 10)}"
                )
        rows = f"After {self.n_new:,} new rows in {self.n_batches} batch{'es' * (self.n_batches != 1)}"
        return f"{rows}: {'; '.join(told) or 'no evidence about any column'}."

    def by_feature(self) -> dict[str, str]:
        """Return a sentence about each feature that something was shown about, or that is selected."""
        return {
            name: f"After {self.n_new:,} new rows it is {status} (e-value {e:.3g})."
            for name, status, e in zip(self.features, self.statuses, self.e_values, strict=True)
            if status != "no evidence"
        }

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain texts and numbers; e-values as logarithms, which are always finite."""
        return {
            "summary": str(self),
            "n_new": self.n_new,
            "n_batches": self.n_batches,
            "alpha": self.alpha,
            "suggested": list(self.suggested),
            "columns": [
                {"feature": name, "status": status, "log_e": float(np.log(max(e, 1e-300)))}
                for name, status, e in zip(self.features, self.statuses, self.e_values, strict=True)
            ],
        }


def begin(table: Table, selected: Sequence[int]) -> Watch:
    """Fix what is needed to watch new rows, from the rows of the fit."""
    members = _members(table, len(selected))
    folds = divide_into_folds(table.n_rows, None, table.groups, min(_N_FOLDS, table.n_rows), 0)
    losses = [np.empty(table.n_rows) for _ in members]
    for of_member, number in zip(losses, members, strict=True):
        for train, test in folds:
            of_member[test] = _losses(table, number, selected, train, test)
    member = members[int(np.argmin([one.mean() for one in losses]))]
    others = tuple(x for x in range(table.n_features) if x not in set(selected))
    gains, entering = np.empty((table.n_rows, len(selected))), np.empty((table.n_rows, len(others)))
    for train, test in folds:
        gains[test], entering[test] = _gains(table, member, selected, others, train, test)
    bounds = _bounds(gains)
    cut = np.clip(gains, -bounds, bounds)
    # Half of the effect, and no more than what is certain about it.
    lows = np.array([RowMeans().estimate(column, 0.9).low for column in cut.T])
    effects = np.maximum(np.minimum(_SHARE_LEFT * cut.mean(axis=0), lows), 0.0)
    entering_bounds = _bounds(entering)
    spread = np.clip(entering, -entering_bounds, entering_bounds).std(axis=0)
    return Watch(
        tuple(selected),
        others,
        member,
        bounds,
        effects,
        Wagers.guessing(cut.mean(axis=0) / bounds, cut.var(axis=0) / bounds**2),
        Wagers.guessing(effects / (bounds - effects), cut.var(axis=0) / (bounds - effects) ** 2),
        # A column that enters is guessed to have a tenth of the spread of its differences as a mean.
        Wagers.guessing(0.1 * spread / entering_bounds, (spread / entering_bounds) ** 2),
        entering_bounds,
        table.n_rows,
    )


def after_batch(watch: Watch, table: Table, n_earlier: int) -> Watch:
    """Return the evidence after a batch: the rows from `n_earlier` on, predicted by models of the rows before."""
    train, test = np.arange(n_earlier), np.arange(n_earlier, table.n_rows)
    gains, entering = _gains(table, watch.member, watch.selected, watch.others, train, test)
    gains = np.clip(gains, -watch.bounds, watch.bounds)
    return replace(
        watch,
        needed=watch.needed.after(gains / watch.bounds),
        vanished=watch.vanished.after((watch.effects - gains) / (watch.bounds - watch.effects)),
        entering=watch.entering.after(
            np.clip(entering, -watch.entering_bounds, watch.entering_bounds) / watch.entering_bounds
        ),
        n_new=watch.n_new + len(test),
        n_batches=watch.n_batches + 1,
    )


def read_off(watch: Watch, names: Sequence[str], alpha: float) -> Update:
    """Return the conclusions from the evidence so far."""
    k, m = max(1, len(watch.selected)), max(1, len(watch.others))
    # Bonferroni over the columns of a kind; a third of the level for each kind.
    lines = [np.log(_N_KINDS * count / alpha) for count in (k, k, m)]
    statuses: list[Status] = []
    logs: list[float] = []
    for needed, vanished in zip(watch.needed.highest, watch.vanished.highest, strict=True):
        is_needed, is_gone = needed >= lines[0], vanished >= lines[1]
        names_of: dict[tuple[bool, bool], Status] = {
            (True, True): "drifting",
            (True, False): "still needed",
            (False, True): "no longer needed",
            (False, False): "undecided",
        }
        statuses.append(names_of[bool(is_needed), bool(is_gone)])
        logs.append(float(vanished if is_gone else needed))
    entered = watch.entering.highest >= lines[2]
    statuses += ["newly needed" if one else "no evidence" for one in entered.tolist()]
    logs += watch.entering.highest.tolist()
    features = tuple(names[x] for x in (*watch.selected, *watch.others))
    left_out = ("no longer needed", "drifting", "no evidence")
    suggested = tuple(name for name, status in zip(features, statuses, strict=True) if status not in left_out)
    e_values = np.exp(np.minimum(logs, 700.0))
    return Update(features, tuple(statuses), e_values, suggested, watch.n_new, watch.n_batches, alpha)


def _members(table: Table, n_selected: int) -> list[int]:
    """Return the places of the panel's models that suit this number of columns, and one less."""
    return [
        number
        for number, one in enumerate(usable_members(DEFAULT_PANEL, table))
        if number == 0 or (n_selected <= _MOST_COLUMNS and one.is_asked_given(max(0, n_selected - 2)))
    ]


def _losses(table: Table, member: int, features: Sequence[int], train: Any, test: Any) -> Floats:
    """Return squared errors, or Brier scores."""
    residuals = residuals_of(table, _model(table, member, features), sorted(features), train, test)
    losses: Floats = (residuals**2).sum(axis=1)
    return losses


def _model(table: Table, member: int, features: Sequence[int]) -> Any:
    if not features:
        return constant_model(table.task)
    return estimator_for(usable_members(DEFAULT_PANEL, table)[member], table.task)


def _gains(
    table: Table, member: int, selected: Sequence[int], others: Sequence[int], train: Any, test: Any
) -> tuple[Floats, Floats]:
    """Return how much each column lowers the loss of rows that are predicted by models of all other rows.

    Returns
    -------
    ndarray of shape (n_test, n_selected)
        By how much the loss rises without a selected column.

    ndarray of shape (n_test, n_others)
        By how much it falls if a line of another column is added to the prediction. The slope is that of the training
        rows' residuals on the column, halved: half of a noisy slope costs less than it gains.
    """
    model, everywhere = _model(table, member, selected), np.arange(table.n_rows)
    residuals = residuals_of(table, model, sorted(selected), train, everywhere)
    left = residuals[test]
    gains = np.empty((len(test), len(selected)))
    for place, feature in enumerate(selected):
        without = [x for x in selected if x != feature]
        gains[:, place] = _losses(table, member, without, train, test) - (left**2).sum(axis=1)
    entering = np.zeros((len(test), len(others)))
    for residual, moved in zip(
        left.T[:, :, np.newaxis], moves_of(table, others, train, test, residuals[train]), strict=True
    ):
        entering += residual**2 - (residual - 0.5 * moved) ** 2
    return gains, entering


def _bounds(gains: Floats) -> Floats:
    """Return where differences are cut; above 0."""
    if not gains.size:
        return np.ones(gains.shape[1])
    largest = np.quantile(np.abs(gains), _CUT, axis=0)
    bounds: Floats = np.maximum(largest, 1e-12 + 1e-6 * float(np.abs(gains).max()))
    return bounds
