"""Private parts of Numba: named in one file, and the engine works without each of them."""

import re
from pathlib import Path

import numba
import pytest

import ppfs
from portable.without import PARTS, run

# They compile quickly.
FEW_KERNELS = "tests/engine/tables/test_pair_scores.py"


def test_one_file_names_them():
    named = [
        path.name
        for path in Path(ppfs.__file__).parent.rglob("*.py")
        if re.search(r"numba\.core|_nrt\b", path.read_text(encoding="utf-8"))
    ]
    assert named == ["numba_private.py"]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
# The same tests pass without each part; `make test-private` runs those of the whole engine.
@pytest.mark.parametrize(
    "part", [part if part == "the compiler" else pytest.param(part, marks=pytest.mark.slow) for part in PARTS]
)
def test_kernels_pass_without(part):
    """`python tests/portable/without.py` runs all tests of the engine in this way."""
    finished = run(part, [FEW_KERNELS])
    assert finished.returncode == 0, finished.stdout[-4000:]
    assert " passed" in finished.stdout
