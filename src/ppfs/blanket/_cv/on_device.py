"""A search whose models are fitted on another device."""

from __future__ import annotations

from sklearn.base import clone

from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.exceptions import InvalidInputError


def on_device(search: BaseBlanketSelector, device: str | None) -> BaseBlanketSelector:
    """Return a copy of a search with another device, or the search itself if that is None.

    Raises
    ------
    InvalidInputError
        If the search has no models, and so no device.
    """
    if device is None:
        return search
    parameters = search.get_params(deep=True)
    name = next((name for name in ("independence__device", "device") if name in parameters), None)
    if name is None:
        raise InvalidInputError(
            f"device={device!r} chooses where models are fitted in the growth phase, but {type(search).__name__} has "
            "no such models: its test is computed on the CPU. Leave device out, or use a predictive test such as "
            "CrossFitPPI."
        )
    changed: BaseBlanketSelector = clone(search).set_params(**{name: device})
    return changed
