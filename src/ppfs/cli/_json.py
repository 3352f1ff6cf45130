"""JSON on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

# Before 8.4 Click's types took no parameter.
if TYPE_CHECKING:
    ObjectType = click.ParamType[dict[str, Any]]
else:
    ObjectType = click.ParamType


class _JSONObject(ObjectType):
    """An object in JSON, never evaluated."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Return the object, or say what is wrong with the text."""
        try:
            return parsed_object(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


JSON = _JSONObject()


def parsed_object(text: str) -> dict[str, Any]:
    """Return what a JSON object holds.

    Examples
    --------
    >>> parsed_object('{"C": 1}')
    {'C': 1}
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no JSON ({error}). Write it like '{{\"C\": 1}}'.") from error
    if not isinstance(value, dict):
        raise ValueError(f"{text!r} is no JSON object. Write it like '{{\"C\": 1}}'.")
    return value
