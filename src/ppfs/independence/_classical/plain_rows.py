"""What the classical tests assume: independent rows of equal weight, and one target."""

from __future__ import annotations

from ppfs._data import Table
from ppfs.exceptions import InvalidInputError


def require_plain_rows(table: Table, user: str) -> None:
    """Raise if there are weights, groups of rows or several outputs, which `user` does not support."""
    if table.weights is not None:
        raise InvalidInputError(
            f"{user} does not support sample_weight, unless all weights are 0 or equal. Use a predictive test, such as "
            "PPI, with an estimator that supports weights, or leave the weights out."
        )
    if table.groups is not None:
        raise InvalidInputError(
            f"{user} needs independent rows, so it does not support {'groups' if table.time is None else 'time'}. Use "
            "PPI, whose splits keep groups of rows together, or CrossFitPPI, which tests groups instead of rows."
        )
    if table.codes.ndim > 1:
        what = "a structured array" if table.y.dtype.names is not None else f"{table.y.shape[1]} columns"
        raise InvalidInputError(
            f"{user} needs a target of one column, but y is {what}. Select for one column at a time, or use PPI with "
            "an estimator that predicts all of them."
        )


def require_numbers(table: Table, user: str) -> None:
    """Raise if there are categories or groups of columns, for which correlation is undefined."""
    for feature, columns in enumerate(table.columns if table.is_mixed or table.has_feature_groups else ()):
        name = table.names[feature]
        if len(columns) > 1:
            raise InvalidInputError(
                f"{user} needs single columns, but the group {name!r} has {len(columns)}. Use LikelihoodRatio or PPI, "
                "or leave the group out of feature_groups."
            )
        # Two categories are read as 0 and 1, like two classes.
        if table.n_levels[columns[0]] > 2:
            labels = table.categories.get(columns[0], ())
            example = f", such as {labels[0]!r}," if labels else ""
            raise InvalidInputError(
                f"{user} needs numbers, but {name!r} has {table.n_levels[columns[0]]} categories{example} without "
                "an order. Use LikelihoodRatio or PPI, or GSquared if all columns are categorical."
            )
