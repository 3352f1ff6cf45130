"""What the classical tests assume: independent rows that count alike, and one target."""

from __future__ import annotations

from ppfs._data import Table
from ppfs.exceptions import InvalidInputError


def require_plain_rows(table: Table, user: str) -> None:
    """Refuse weights, groups of rows and targets of several columns, which `user` knows nothing of."""
    if table.weights is not None:
        raise InvalidInputError(
            f"{user} takes no sample_weight, unless all weights are 0 or equal. Use a predictive test, such as PPI, "
            "with an estimator that takes weights, or leave the weights out."
        )
    if table.groups is not None:
        raise InvalidInputError(
            f"{user} needs independent rows, so it takes no groups. Use PPI, whose splits keep groups together, or "
            "CrossFitPPI, which tests groups in place of rows."
        )
    if table.codes.ndim > 1:
        what = "a structured array" if table.y.dtype.names is not None else f"{table.y.shape[1]} columns"
        raise InvalidInputError(
            f"{user} needs a target of one column, but y is {what}. Select for one column at a time, or use PPI with "
            "an estimator that predicts all of them."
        )


def require_numbers(table: Table, user: str) -> None:
    """Refuse categories and groups of columns, which have no correlation with anything."""
    for feature, columns in enumerate(table.columns if table.is_mixed or table.has_feature_groups else ()):
        name = table.names[feature]
        if len(columns) > 1:
            raise InvalidInputError(
                f"{user} needs single columns, but the group {name!r} has {len(columns)}. Use LikelihoodRatio or PPI, "
                "or leave the group out of feature_groups."
            )
        # Two categories are 0 and 1, as two classes are.
        if table.n_levels[columns[0]] > 2:
            labels = table.categories.get(columns[0], ())
            example = f", such as {labels[0]!r}," if labels else ""
            raise InvalidInputError(
                f"{user} needs numbers, but {name!r} has {table.n_levels[columns[0]]} categories{example} whose order "
                "means nothing. Use LikelihoodRatio or PPI, or GSquared if all columns are categorical."
            )
