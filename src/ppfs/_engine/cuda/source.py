"""The kernels' source, which is compiled for the GPU at hand when it is first used."""

from functools import cache
from importlib.resources import files

#: In the order in which they build on each other.
_FILES = (
    "device.cuh",
    "sorting.cu",
    "trees.cu",
    "limits.cu",
    "tree_risks.cu",
    "neighbors.cu",
    "tree_rows.cu",
    "forests.cu",
    "panel.cu",
    "lines.cu",
    "splines.cu",
    "boosting.cu",
    "paired.cu",
)

#: Products and sums are rounded one by one, as on the CPU: answers must not differ in their last bits.
OPTIONS = ("--std=c++17", "--fmad=false")


@cache
def kernel_source() -> str:
    """Return the source of all kernels as one text."""
    folder = files(__package__).joinpath("kernels")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES)
