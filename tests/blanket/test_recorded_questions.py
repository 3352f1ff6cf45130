"""Which questions every search asks, in which order, and what it decides, when the answers come from a script.

The record has the blanket, the number of steps and a digest of the steps, notes and progress bars;
``told(trace)`` shows the steps.
"""

from hashlib import blake2b

import pytest
from checks.recorded import Record
from checks.scripted import drawn, scripted, told

from ppfs._conventions import watched_phases
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
from ppfs.blanket._steps.growth import grow, grow_marginally
from ppfs.blanket._steps.neighbors import hiton_neighbors, max_min_neighbors
from ppfs.blanket._steps.pairs import grow_by_pairs
from ppfs.blanket._steps.role_questions import ask_about_roles
from ppfs.blanket._steps.second_look import look_again
from ppfs.blanket._steps.shrink import shrink, shrink_until_stable, shrink_weakest_first
from ppfs.blanket._steps.skeleton import keep_joined

RECORD = Record(__file__)

SEARCHES = [
    GrowShrink(),
    IAMB(),
    InterIAMB(),
    FastIAMB(),
    IAMBnPC(),
    IAMBnPC(max_k=1),
    InterIAMBnPC(max_k=None),
    IAMBFDR(),
    FBED(n_runs=0),
    FBED(n_runs=2),
    MMMB(),
    MMMB(max_k=1),
    HITONMB(max_k=None),
    HITONMB(max_k=2),
    TIEStar(),
    TIEStar(max_withheld=1, search=FBED()),
    SGAI(),
    MixedMB(),
]

STEPS = {
    "grow": lambda inquiry: grow(inquiry, [1]),
    "grow marginally": lambda inquiry: [x for x, _ in grow_marginally(inquiry, [5, 3, 0, 1], "by")],
    "grow by pairs": lambda inquiry: [x for x, _ in grow_by_pairs(inquiry, [5, 3, 0, 1], [3, 0], None, None)],
    "shrink": lambda inquiry: shrink(inquiry, [0, 3, 1, 2, 5]),
    "shrink with restarts": lambda inquiry: shrink(inquiry, [0, 3, 1, 2, 5], restart=True, phase="another"),
    "shrink at a share of the level": lambda inquiry: shrink(inquiry, [0, 3, 1, 2, 5], factor=2.5),
    "shrink weakest first": lambda inquiry: shrink_weakest_first(inquiry, [0, 3, 1, 2, 5]),
    "shrink until stable": lambda inquiry: shrink_until_stable(inquiry, [0, 3, 1, 2, 5]),
    "roles": lambda inquiry: ask_about_roles(inquiry, [0, 3, 1, 5], 2),
    "look again": lambda inquiry: look_again(inquiry, [0, 3], "bh", found_jointly=[3]),
    "keep joined": lambda inquiry: keep_joined(inquiry, [2, 0, 3, 5], 2),
    "keep joined by any set": lambda inquiry: keep_joined(inquiry, [2, 0, 3, 5, 1], None),
    "max-min": lambda inquiry: max_min_neighbors(inquiry, 2),
    "hiton": lambda inquiry: hiton_neighbors(inquiry, None),
}


def check(name, ask, inquiry):
    with watched_phases() as phases:
        found = ask(inquiry)
    steps = told(inquiry.trace)
    bars = [f"{bar.label} {bar.total} {[mark.n_done for mark in bar.marks]}" for bar in phases]
    digest = blake2b("\n".join([*steps, *inquiry.trace.notes, *bars]).encode(), digest_size=6).hexdigest()
    RECORD.check(name, [found, len(steps), digest])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("search", SEARCHES, ids=repr)
def test_questions_of_a_search(search, seed):
    special = [{}, {"always_keep": (2,)}, {"always_keep": (0, 5), "fold": 3}, {"condition_on": (4,)}][
        seed % 4
    ]
    inquiry = scripted(drawn(seed), 6, **special)
    check(f"{search!r} {seed}", search._search, inquiry)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", STEPS)
def test_questions_of_a_step(name, seed):
    special = [{}, {"always_keep": (2,)}, {"condition_on": (4,), "fold": 2}, {"withheld": (4,)}][seed % 4]
    inquiry = scripted(drawn(seed + 20), 6, **special)
    check(f"{name} {seed}", STEPS[name], inquiry)
