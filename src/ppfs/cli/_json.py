"""JSON on the command line."""

from __future__ import annotations

import json
from typing import Any

import click

# Longer texts are cut in messages.
_MOST_SHOWN = 100


class _JSONObject(click.ParamType[dict[str, Any]]):
    """An object in JSON, never evaluated."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Return the object, or report what is wrong with the text."""
        try:
            return parsed_object(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


JSON = _JSONObject()


def parsed(text: str) -> Any:
    """Return what a JSON text holds; every text that is not valid JSON raises a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parsed_object(text: str) -> dict[str, Any]:
    """Return what a JSON object holds.

    Examples
    --------
    >>> parsed_object('{"C": 1}')
    {'C': 1}
    """
    shown = repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
    try:
        value = parsed(text)
    except ValueError as error:
        raise ValueError(f"{shown} is not valid JSON ({error}). Write it like '{{\"C\": 1}}'.") from error
    if not isinstance(value, dict):
        raise ValueError(f"{shown} is not a JSON object. Write it like '{{\"C\": 1}}'.")
    return value
