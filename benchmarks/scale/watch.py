"""How many threads of a process and its copies could run, on Linux: CPU seconds by that number, as JSON on stdout.

python benchmarks/scale/watch.py 1234

It looks a thousand times a second, until it is told to end (SIGTERM). It prints "ready" first. A separate process,
because a thread of the watched one would need the interpreter's lock. The fits of cores.py are watched by it.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def watch(process: int) -> None:
    """Look at the threads of a process and its children until told to end; print CPU seconds by how many could run."""
    has_ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: has_ended.append(number))
    print("ready", flush=True)
    found: dict[int, float] = {}
    # Workers of an earlier fit may be there.
    before = {one: _cpu_seconds(one) for one in [process, *_children(process)]}
    is_last = False
    while not is_last:
        time.sleep(1e-3)
        is_last = bool(has_ended)
        processes = [process, *_children(process)]
        n_runnable = sum(_n_runnable(one) for one in processes)
        # Of a new process all counts, and of one that has ended what it used since the last look is lost.
        now = {one: _cpu_seconds(one) for one in processes}
        used = sum(max(seconds - before.get(one, 0.0), 0.0) for one, seconds in now.items())
        found[n_runnable] = found.get(n_runnable, 0.0) + used
        before = now
    print(json.dumps(found))


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split() if int(child) != os.getpid()]


def _cpu_seconds(process: int) -> float:
    try:
        # The clock of another process, as the C library's clock_getcpuclockid makes it.
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def _n_runnable(process: int) -> int:
    try:
        return sum(_is_runnable(thread) for thread in Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return 0


def _is_runnable(thread: Path) -> bool:
    try:
        state = (thread / "stat").read_bytes()
    except OSError:
        # It has ended.
        return False
    return state[state.rindex(b")") + 2 :].startswith(b"R")


if __name__ == "__main__":
    watch(int(sys.argv[1]))
