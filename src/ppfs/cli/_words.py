"""The library's messages in the words of the command line."""

from __future__ import annotations

import re

from ppfs.cli._parameters import SearchRequest, flag_of

_PARAMETERS = sorted(
    {*SearchRequest.__dataclass_fields__, "always_keep", "categorical_features", "feature_groups"}
)
_ASSIGNED = re.compile(rf"\b({'|'.join(_PARAMETERS)})=(\"[^\"]*\"|'[^']*'|[\w.+-]+)")
_NAMED = re.compile(r"\b(n_splits|n_folds|n_jobs|n_draws|always_keep|min_features)\b")
_QUOTED = re.compile(rf"(?:The )?'({'|'.join(_PARAMETERS)})' parameter of (\w+)")


def in_flags(message: str) -> str:
    """Return a message in which parameters are called by their flags.

    Examples
    --------
    >>> in_flags('Pass impute="median", or raise n_splits.')
    'Pass --impute median, or raise --splits.'
    """
    message = _QUOTED.sub(lambda found: flag_of(found[1]), message)
    message = _ASSIGNED.sub(lambda found: f"{flag_of(found[1])} {found[2].strip(chr(34) + chr(39))}", message)
    return _NAMED.sub(lambda found: flag_of(found[1]), message)
