"""The disk cache of kernels notices an edit in any file of the engine."""

import os
import subprocess
import sys

import pytest

from ppfs._engine._jit import ENGINE_STAMP
from ppfs._engine.cart import grow
from ppfs._engine.routing import losses_of_rows, risks, weighted_mean
from ppfs._engine.single_column import _column_risks
from ppfs._engine.single_column_rows import _column_row_losses


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
@pytest.mark.parametrize(
    "compiled",
    [grow, risks, losses_of_rows, weighted_mean, _column_risks, _column_row_losses],
    ids=lambda compiled: compiled.__name__,
)
def test_kernels_carry_the_stamp_of_the_whole_engine(compiled):
    """Numba keeps the stamp of one file only; should it rename the attribute, this test says so."""
    assert compiled._cache._cache_file._source_stamp == ENGINE_STAMP


def test_importing_ppfs_loads_neither_numba_nor_the_engine():
    code = "import sys, ppfs; assert not {'numba', 'ppfs._engine'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
