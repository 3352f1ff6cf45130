"""A simulated GPU: kernels compiled for the CPU, on NumPy arrays."""

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock

import numpy as np
import pytest

from ppfs._engine.cuda.device import Device
from ppfs._engine.cuda.source import kernel_source

_HERE = Path(__file__).parent
# The simulator has one set of fibers.
_ONE_AT_A_TIME = Lock()

_COMPILERS = ("g++", "clang++", "c++")


class SimulatedDevice(Device):
    """Runs the kernels' own source on the CPU; see `simulator.h`."""

    xp = np
    name = "simulated GPU"
    memory = 2**28

    def __init__(self, library, *, is_backwards, shared_memory):
        self._library = library
        self._is_backwards = is_backwards
        self.shared_memory = shared_memory

    def launch(self, kernel, n_blocks, n_threads, arguments, shared_bytes=0):
        assert 0 < n_threads <= 1024
        assert shared_bytes <= self.shared_memory
        kept = [_as_argument(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(one) for one in kept))
        run = self._library[f"simulate_{kernel}"]
        with _ONE_AT_A_TIME:
            run(n_blocks, n_threads, shared_bytes, int(self._is_backwards), pointers)

    def address(self, array):
        return array.ctypes.data

    def to_host(self, array):
        return array.copy()

    def copy_to(self, array, out):
        assert out.flags.c_contiguous
        out[:] = array


def _as_argument(argument):
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong}[type(argument)](argument)


def simulated_device(*, is_backwards=False, shared_memory=200_000):
    """Return a simulated GPU, or skip the test where there is no compiler."""
    return SimulatedDevice(_library(), is_backwards=is_backwards, shared_memory=shared_memory)


@cache
def _library():
    compiler = next((path for path in map(shutil.which, _COMPILERS) if path), None)
    if compiler is None:
        pytest.skip(f"no C++ compiler is here ({', '.join(_COMPILERS)}): CUDA kernels cannot be simulated")
    folder = Path(mkdtemp(prefix="ppfs-simulator-"))
    source = kernel_source()
    names = re.findall(r"^KERNEL (\w+)\(", source, flags=re.MULTILINE)
    listed = "\n".join(f"SIMULATED({name})" for name in names)
    (folder / "kernels.cpp").write_text(f"{source}\n{listed}\n")
    command = [compiler, "-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared"]
    command += [
        f"-I{_HERE}",
        "-o",
        str(folder / "kernels.so"),
        str(folder / "kernels.cpp"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(folder / "kernels.so"))
    shutil.rmtree(folder, ignore_errors=True)
    return library
