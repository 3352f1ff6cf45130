"""Every search of the library, for the contracts that all of them share."""

import pytest

from ppfs import PPFS
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    SGAI,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    TIEStar,
)

CLASSICAL = [
    GrowShrink,
    IAMB,
    InterIAMB,
    FastIAMB,
    IAMBnPC,
    InterIAMBnPC,
    IAMBFDR,
    FBED,
    MMMB,
    HITONMB,
    TIEStar,
    SGAI,
    MixedMB,
]

every_search = pytest.mark.parametrize("search", CLASSICAL, ids=lambda search: search.__name__)
every_search_and_ppfs = pytest.mark.parametrize(
    "search", [*CLASSICAL, PPFS], ids=lambda search: search.__name__
)
