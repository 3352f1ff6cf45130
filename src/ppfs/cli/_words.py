"""Messages of the library with flags instead of parameters."""

from __future__ import annotations

import re

from ppfs.cli.flags.parameters import SearchRequest, flag_of

_PARAMETERS = sorted(
    {*SearchRequest.__dataclass_fields__, "always_keep", "categorical_features", "feature_groups"}
)
_ASSIGNED = re.compile(rf"\b({'|'.join(_PARAMETERS)})=(\"[^\"]*\"|'[^']*'|[\w.+-]+)")
_NAMED = re.compile(r"\b(n_splits|n_folds|n_jobs|n_draws|always_keep|min_features)\b")
_CALL = re.compile(r"(\b\w+\([^()]*\))")
_YES_NO = {"True": "yes", "False": "no"}
_QUOTED = re.compile(rf"(?:The )?'({'|'.join(_PARAMETERS)})' parameter of (\w+)")
# What Python's arguments say that no flag has, or that flags have under another name.
_SENTENCES = {
    "fewer folds of the test, for example independence=CrossFitPPI(n_folds=2)": "a search without models, for example "
    "--method iamb",
    "Impute them first (sklearn.impute.SimpleImputer), or use a test that does so in each train part: "
    'PPI(impute="median")': "Fill them in, or add --test calibrated --impute median, which does so in each train part",
    "Use PPI, whose splits keep groups of rows together, or CrossFitPPI, which tests groups instead of rows": "Add "
    "--test calibrated, which tests groups instead of rows",
    'pass time="index"': "add --time index",
    "pass groups": "add --groups",
}


def in_flags(message: str) -> str:
    """Return a message in which parameters are replaced by their flags.

    Examples
    --------
    >>> in_flags('Pass impute="median", or raise n_splits.')
    'Pass --impute median, or raise --splits.'
    """
    for said, shown in _SENTENCES.items():
        message = message.replace(said, shown)
    parts = _CALL.split(message)
    # Every other part is a call, such as CrossFitPPI(n_folds=5): Python code, which has no flags.
    parts[::2] = [_outside_calls(part) for part in parts[::2]]
    return "".join(parts)


def _outside_calls(message: str) -> str:
    message = _QUOTED.sub(lambda found: flag_of(found[1]), message)
    message = _ASSIGNED.sub(lambda found: f"{flag_of(found[1])} {_flag_value(*found.groups())}", message)
    return _NAMED.sub(lambda found: flag_of(found[1]), message)


def _flag_value(parameter: str, value: str) -> str:
    """Return a parameter's value as its flag takes it."""
    if parameter == "stratify":
        value = _YES_NO.get(value, value)
    return value.strip("\"'")
