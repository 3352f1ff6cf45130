"""Reading what the command line names: a CSV file, or a data set of the registry."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ppfs._table import listed
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Input:
    """Columns and target to select from.

    Attributes
    ----------
    name : str
        The file or data set.

    X, y : table and vector
        As ``fit`` takes them.

    names : list of str
        The column names.

    target : str
        What `y` is called.
    """

    name: str
    X: Any
    y: Any
    names: list[str]
    target: str


def read_csv(path: Path, target: str) -> Input:
    """Read a CSV file with a header row."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise InvalidInputError("Reading CSV files needs pandas. Run: pip install 'ppfs[cli]'") from error
    if not path.is_file():
        raise InvalidInputError(f"There is no file {str(path)!r}. Check the path, or use --dataset.")
    try:
        frame = pd.read_csv(path)
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a readable CSV file: {error}") from error
    names = [str(name) for name in frame.columns]
    if target not in names:
        close = get_close_matches(target, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InvalidInputError(
            f"{str(path)!r} has no column {target!r}.{hint} Its columns are {listed(names)}."
        )
    return Input(
        name=path.name,
        X=frame.drop(columns=target),
        y=frame[target],
        names=[name for name in names if name != target],
        target=target,
    )


def read_dataset(name: str) -> Input:
    """Load a data set of the registry."""
    from ppfs.datasets import load_dataset

    try:
        data = load_dataset(name)
    except (ValueError, FileNotFoundError) as error:
        raise InvalidInputError(str(error)) from error
    return Input(name, data.X, data.y, list(data.feature_names), data.target_name)
