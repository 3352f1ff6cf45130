"""The GPU, as far as kernels need it: arrays, launches, and what is missing where there is none."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import local
from typing import Any, TypeAlias

import numpy as np

from ppfs._engine.cuda.source import OPTIONS, kernel_source

#: An array in the memory of a device. CuPy has no type hints.
DeviceArray: TypeAlias = Any

#: How to install what a GPU needs.
_INSTALL = "install CuPy for your version of CUDA, for example with pip install 'ppfs[gpu]'"

# A block of Volta and later may use at least this much shared memory without asking for more.
_SHARED_MEMORY_OF_ALL = 48 * 1024


class Device(ABC):
    """Runs kernels on arrays of its own.

    Attributes
    ----------
    xp : module
        CuPy, or NumPy where kernels are simulated: its functions make arrays of this device.

    name : str

    shared_memory : int
        How many bytes the threads of a block can share.

    memory : int
        Bytes of memory.
    """

    xp: Any
    name: str
    shared_memory: int
    memory: int

    @abstractmethod
    def launch(
        self,
        kernel: str,
        n_blocks: int,
        n_threads: int,
        arguments: Sequence[Any],
        shared_bytes: int = 0,
    ) -> None:
        """Run a kernel; arguments are arrays of this device and NumPy scalars. `n_threads` is the size of a block."""

    @abstractmethod
    def address(self, array: DeviceArray) -> int:
        """Return where an array begins in the device's memory."""

    @abstractmethod
    def to_host(self, array: DeviceArray) -> Any:
        """Return a copy of an array as a NumPy array."""

    @abstractmethod
    def copy_to(self, array: DeviceArray, out: Any) -> None:
        """Copy an array of this device to a contiguous NumPy array."""

    def own_stream(self) -> AbstractContextManager[Any]:
        """Return a context in which the work of this thread does not wait for that of other threads."""
        return nullcontext()

    def launch_over(self, kernel: str, n_items: int, arguments: Sequence[Any], n_threads: int = 128) -> None:
        """Run a kernel with one thread per item."""
        if n_items:
            self.launch(kernel, -(-n_items // n_threads), n_threads, arguments)


class CudaDevice(Device):
    """The current NVIDIA GPU, through CuPy."""

    def __init__(self) -> None:
        self.xp = import_module("cupy")
        properties = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)
        self.name = properties["name"].decode()
        self.shared_memory = int(properties["sharedMemPerBlockOptin"])
        self.memory = int(properties["totalGlobalMem"])
        self._streams = local()
        self._module = self.xp.RawModule(code=kernel_source(), options=OPTIONS)
        self._kernels: dict[str, Any] = {}

    def launch(
        self,
        kernel: str,
        n_blocks: int,
        n_threads: int,
        arguments: Sequence[Any],
        shared_bytes: int = 0,
    ) -> None:
        """Run a kernel in the current stream of this thread."""
        function = self._kernels.get(kernel)
        if function is None:
            function = self._kernels[kernel] = self._module.get_function(kernel)
        if shared_bytes > max(_SHARED_MEMORY_OF_ALL, function.max_dynamic_shared_size_bytes):
            function.max_dynamic_shared_size_bytes = shared_bytes
        function((n_blocks,), (n_threads,), tuple(arguments), shared_mem=shared_bytes)

    def own_stream(self) -> AbstractContextManager[Any]:
        """Return the stream of this thread, which waits for work in the default stream only."""
        if not hasattr(self._streams, "own"):
            self._streams.own = self.xp.cuda.Stream()
        stream: AbstractContextManager[Any] = self._streams.own
        return stream

    def address(self, array: DeviceArray) -> int:
        """Return where an array begins in the device's memory."""
        return int(array.data.ptr)

    def to_host(self, array: DeviceArray) -> Any:
        """Return a copy of an array as a NumPy array."""
        return self.xp.asnumpy(array)

    def copy_to(self, array: DeviceArray, out: Any) -> None:
        """Copy an array of this device to a contiguous NumPy array."""
        array.get(out=out)


def missing_for_cuda() -> str | None:
    """Return what is missing for a GPU to be used, with the way out, or None if one can be.

    Examples
    --------
    >>> what = missing_for_cuda()
    >>> what is None or "CuPy" in what or "GPU" in what
    True
    """
    if find_spec("cupy") is None:
        return f"CuPy is not installed: {_INSTALL}"
    try:
        cupy: Any = import_module("cupy")
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except (
        Exception
    ) as error:  # CuPy raises errors of its own for a missing driver, and import errors for others.
        return f"CuPy finds no NVIDIA GPU ({type(error).__name__}: {error}): check the driver with nvidia-smi"
    return None if n_devices else "CuPy finds no NVIDIA GPU: check the driver with nvidia-smi"


@cache
def cuda_device() -> Device:
    """Return the current GPU, whose kernels are compiled once."""
    return CudaDevice()


def on_device(device: Device, array: Any, dtype: Any) -> DeviceArray:
    """Return a contiguous copy of an array in the device's memory."""
    return device.xp.asarray(np.ascontiguousarray(array, dtype=dtype))
