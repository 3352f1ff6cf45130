"""The kernels' source, which is compiled for the machine's GPU when it is first used."""

import re
from functools import cache
from importlib.resources import files

#: The files of each group of kernels, in the order in which they build on each other. A group is compiled by itself.
GROUPS = {
    "trees": (
        "device.cuh",
        "sorting.cu",
        "trees.cu",
        "limits.cu",
        "tree_risks.cu",
        "neighbors.cu",
        "tree_rows.cu",
        "forests.cu",
        "ranks.cu",
    ),
    "panel": (
        "device.cuh",
        "sorting.cu",
        "trees.cu",
        "panel.cu",
        "lines.cu",
        "splines.cu",
        "softmax.cu",
        "boosting.cu",
        "paired.cu",
    ),
    "draws": ("device.cuh", "draws.cu"),
}

#: Products and sums are rounded one by one, as on the CPU: answers must not differ in their last bits.
OPTIONS = ("--std=c++17", "--fmad=false")


@cache
def kernel_source(group: str | None = None) -> str:
    """Return the source of a group of kernels as one text, or of all kernels."""
    names = dict.fromkeys(name for own in GROUPS.values() for name in own) if group is None else GROUPS[group]
    folder = files(__package__).joinpath("kernels")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


@cache
def group_of_kernels() -> dict[str, str]:
    """Return the group of each kernel: the first one that has it."""
    groups: dict[str, str] = {}
    for group in GROUPS:
        for kernel in re.findall(r"^KERNEL (\w+)\(", kernel_source(group), flags=re.MULTILINE):
            groups.setdefault(kernel, group)
    return groups
