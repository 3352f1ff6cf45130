"""The GPU, as far as kernels need it: arrays, launches, and what is missing where there is none."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import Lock, local
from typing import Any, TypeAlias

import numpy as np

from ppfs._engine.cuda.source import GROUPS, OPTIONS, group_of_kernels, kernel_source

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

    shared_memory : int
        How many bytes the threads of a block can share.

    memory : int
        Bytes of memory.

    number : int
        Its number among the devices of the machine.
    """

    xp: Any
    name: str
    number: int = 0
    shared_memory: int
    memory: int

    @abstractmethod
    def launch(
        self, kernel: str, n_blocks: int, n_threads: int, arguments: Sequence[Any], shared_bytes: int = 0
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

    def current(self) -> AbstractContextManager[Any]:
        """Return a context in which arrays are made on this device."""
        return nullcontext()

    def own_stream(self) -> AbstractContextManager[Any]:
        """Return a context in which the work of this thread does not wait for that of other threads."""
        return nullcontext()

    def launch_over(self, kernel: str, n_items: int, arguments: Sequence[Any], n_threads: int = 128) -> None:
        """Run a kernel with one thread per item."""
        if n_items:
            self.launch(kernel, -(-n_items // n_threads), n_threads, arguments)


class CudaDevice(Device):
    """An NVIDIA GPU, through CuPy."""

    def __init__(self, number: int) -> None:
        self.xp = import_module("cupy")
        self.number = number
        properties = self.xp.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        self.shared_memory = int(properties["sharedMemPerBlockOptin"])
        self.memory = int(properties["totalGlobalMem"])
        self._streams = local()
        # Compiled when a kernel is first asked for.
        self._modules = {
            group: self.xp.RawModule(code=kernel_source(group), options=OPTIONS) for group in GROUPS
        }
        self._kernels: dict[str, Any] = {}

    def launch(
        self, kernel: str, n_blocks: int, n_threads: int, arguments: Sequence[Any], shared_bytes: int = 0
    ) -> None:
        """Run a kernel in the current stream of this thread."""
        function = self._kernels.get(kernel)
        if function is None:
            module = self._modules[group_of_kernels()[kernel]]
            function = self._kernels[kernel] = module.get_function(kernel)
        if shared_bytes > max(_SHARED_MEMORY_OF_ALL, function.max_dynamic_shared_size_bytes):
            function.max_dynamic_shared_size_bytes = shared_bytes
        function((n_blocks,), (n_threads,), tuple(arguments), shared_mem=shared_bytes)

    def current(self) -> AbstractContextManager[Any]:
        """Return a context in which arrays are made on this GPU."""
        device: AbstractContextManager[Any] = self.xp.cuda.Device(self.number)
        return device

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
def cuda_devices() -> tuple[Device, ...]:
    """Return the GPUs that this process may use: all, or those that CUDA_VISIBLE_DEVICES names."""
    cupy: Any = import_module("cupy")
    return tuple(CudaDevice(number) for number in range(cupy.cuda.runtime.getDeviceCount()))


def cuda_device() -> Device:
    """Return the first GPU."""
    return cuda_devices()[0]


# How many threads use each device at the moment, by its number.
_users: Counter[int] = Counter()
_users_lock = Lock()


@contextmanager
def device_in_turn(X: Any = None) -> Iterator[Device]:
    """Use the device that holds an array, or else the one that the fewest threads use.

    Parameters
    ----------
    X : array, default=None
        In the memory of a device, or of the host.
    """
    devices = cuda_devices()
    holder = getattr(getattr(X, "device", None), "id", None)
    with _users_lock:
        device = min(
            devices, key=lambda one: (one.number != holder and holder is not None, _users[one.number])
        )
        _users[device.number] += 1
    try:
        with device.current():
            yield device
    finally:
        with _users_lock:
            _users[device.number] -= 1


def on_device(device: Device, array: Any, dtype: Any) -> DeviceArray:
    """Return a contiguous copy of an array in the device's memory."""
    return device.xp.asarray(np.ascontiguousarray(array, dtype=dtype))
