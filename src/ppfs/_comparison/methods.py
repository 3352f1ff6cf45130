"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from sklearn.base import clone

from ppfs._comparison.peers import PEERS
from ppfs._printable import did_you_mean
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    PPFS,
    PPFSCV,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    StabilitySelection,
)
from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

#: The name of using all columns.
ALL = "all"

_SELECTORS: dict[str, Callable[[], Any]] = {
    "ppfs": PPFS.calibrated,
    "ppfs-paper": PPFS,
    "ppfs-cv": PPFSCV,
    "stability": StabilitySelection,
    "grow-shrink": GrowShrink,
    "iamb": IAMB,
    "inter-iamb": InterIAMB,
    "fast-iamb": FastIAMB,
    "iamb-npc": IAMBnPC,
    "inter-iamb-npc": InterIAMBnPC,
    "iamb-fdr": IAMBFDR,
    "fbed": FBED,
    "mmmb": MMMB,
    "hiton-mb": HITONMB,
    "sgai": SGAI,
    "mixed-mb": MixedMB,
    "stepwise": Stepwise,
    "subset-search": SubsetSearch,
    "permutation-importance": PermutationImportance,
}

#: All names: no selection, the peers, and the searches of this library with their defaults.
METHODS: tuple[str, ...] = (ALL, *PEERS, *_SELECTORS)

DEFAULT_METHODS = (ALL, "ppfs", "ppfs-cv", "rfecv", "l1", "univariate")


def methods_of(methods: Sequence[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return each method's name with its selector; the name itself for peers and for all columns."""
    if methods is None:
        methods = DEFAULT_METHODS
    if isinstance(methods, str):
        methods = (methods,)
    named = dict(methods) if isinstance(methods, Mapping) else {str(name): str(name) for name in methods}
    if not named:
        raise InvalidInputError(f"methods is empty. Name some, such as {', '.join(DEFAULT_METHODS)}.")
    return {name: _method(method) for name, method in named.items()}


def _method(method: Any) -> Any:
    if not isinstance(method, str):
        if not hasattr(method, "fit") or not hasattr(method, "get_support"):
            raise InvalidInputError(
                f"{method!r} is not a selector: it needs fit and get_support. Name a method, or pass a selector."
            )
        return method
    if method in _SELECTORS:
        return _SELECTORS[method]()
    if method in METHODS:
        return method
    hint = did_you_mean(method, METHODS)
    raise InvalidInputError(f"There is no method {method!r}.{hint} The methods are {', '.join(METHODS)}.")


def selects_for_a_model(selector: Any) -> bool:
    """Return whether a selector selects for the model that will be scored."""
    return isinstance(selector, PPFSCV | Stepwise | SubsetSearch | PermutationImportance)


def ready(
    selector: Any, *, model: Any, scoring: Any, seed: int, n_jobs: int | None, kind: str | None = None
) -> Any:
    """Return a copy of a selector with its open parameters set: model, scoring, seed, workers and kind of target."""
    selector = clone(selector)
    known = set(signature(type(selector).__init__).parameters)
    wanted = {"random_state": seed, "n_jobs": n_jobs}
    if selects_for_a_model(selector):
        wanted |= {"estimator": model, "scoring": scoring}
    elif kind is not None and getattr(selector, "task", None) == "auto":
        selector.set_params(task=kind)
    left_open = {name for name in wanted if name in known and getattr(selector, name) is None}
    return selector.set_params(**{name: wanted[name] for name in left_open})
