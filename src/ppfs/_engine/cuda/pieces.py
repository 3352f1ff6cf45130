"""A matrix in the device's memory, a piece at a time: the next piece is copied while the device works on this one."""

from collections import defaultdict
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from ppfs._engine.cuda.device import CudaDevice, Device, DeviceArray

# Bytes of a piece: large enough to fill the device, small enough that two of them are quickly pinned.
_BYTES_PER_PIECE = 2**26

# What `pointerGetAttributes` says of memory that is pinned.
_PINNED = 1


def pieces_on(device: Device, X: Any, bytes_per_piece: int = _BYTES_PER_PIECE) -> Iterator[DeviceArray]:
    """Yield the columns of a matrix in order, as matrices in the device's memory.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        In the memory of the host, or of the device. A piece is valid until the next one is asked for.
    """
    n_rows, n_columns = X.shape
    width = max(1, bytes_per_piece // (n_rows * X.itemsize))
    parts = [X[:, start : start + width] for start in range(0, n_columns, width)]
    if not isinstance(X, np.ndarray) or not isinstance(device, CudaDevice):
        yield from parts
        return
    with _Lane(device) as lane:
        yield from lane.copied(parts)


class _Lane:
    """Two pinned buffers, two in the device's memory, and a stream that copies from the former to the latter.

    Lanes are kept: pinning memory takes longer than copying it. No more of them are made than threads copy at once.
    """

    # By the number of the device.
    _idle: "defaultdict[int, SimpleQueue[_Buffers]]" = defaultdict(SimpleQueue)

    def __init__(self, device: Device) -> None:
        self._xp = device.xp
        self._queue = _Lane._idle[device.number]

    def __enter__(self) -> "_Buffers":
        try:
            self._buffers = self._queue.get_nowait()
        except Empty:
            self._buffers = _Buffers(self._xp)
        return self._buffers

    def __exit__(self, *_: object) -> None:
        self._queue.put(self._buffers)


class _Buffers:
    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._stream = xp.cuda.Stream(non_blocking=True)
        self._pinned: list[Any] = [None, None]
        self._memory: list[DeviceArray] = [None, None]
        self._copied = [xp.cuda.Event(disable_timing=True) for _ in range(2)]
        self._used = [xp.cuda.Event(disable_timing=True) for _ in range(2)]

    def copied(self, parts: list[Any]) -> Iterator[DeviceArray]:
        """Yield copies of matrices of the host; the next one is under way while the caller has one."""
        current = self._xp.cuda.get_current_stream()
        waiting = self._start(parts[0], 0)
        for number in range(len(parts)):
            slot, piece = number % 2, waiting
            if number + 1 < len(parts):
                waiting = self._start(parts[number + 1], 1 - slot)
            current.wait_event(self._copied[slot])
            yield piece
            self._used[slot].record(current)

    def _start(self, part: Any, slot: int) -> DeviceArray:
        """Begin to copy a matrix to the device."""
        xp, n_bytes = self._xp, part.nbytes
        if self._memory[slot] is None or self._memory[slot].nbytes < n_bytes:
            self._used[slot].synchronize()
            self._memory[slot] = xp.empty(n_bytes, dtype=np.uint8)
        piece = self._memory[slot][:n_bytes].view(part.dtype).reshape(part.shape)
        self._stream.wait_event(self._used[slot])
        if part.strides[1] == part.itemsize and _is_pinned(xp, part):
            # Nothing but the bus is needed: the rows of the piece are copied from where they are.
            width, pitch = part.shape[1] * part.itemsize, part.strides[0]
            xp.cuda.runtime.memcpy2DAsync(
                piece.data.ptr, width, part.ctypes.data, pitch, width, part.shape[0], 1, self._stream.ptr
            )
        else:
            self._copied[slot].synchronize()
            staged = self._staged(slot, n_bytes).view(part.dtype).reshape(part.shape)
            np.copyto(staged, part)
            piece.set(staged, stream=self._stream)
        self._copied[slot].record(self._stream)
        return piece

    def _staged(self, slot: int, n_bytes: int) -> Any:
        """Return pinned memory of the host."""
        held = self._pinned[slot]
        if held is None or held.size < n_bytes:
            memory = self._xp.cuda.alloc_pinned_memory(n_bytes)
            held = self._pinned[slot] = np.frombuffer(memory, dtype=np.uint8, count=n_bytes)
        return held[:n_bytes]


def _is_pinned(xp: Any, part: Any) -> bool:
    """Return whether an array of the host is in memory that the device can read by itself."""
    try:
        return bool(xp.cuda.runtime.pointerGetAttributes(part.ctypes.data).type == _PINNED)
    except Exception:  # In some versions memory that CUDA does not manage is an error.
        return False
