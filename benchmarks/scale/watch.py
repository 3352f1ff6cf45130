"""How many threads of a process could run, on Linux: CPU seconds by that number, as JSON on stdout.

python benchmarks/scale/watch.py 1234

It looks a thousand times a second, until it is told to end (SIGTERM). It prints "ready" first. A separate process,
because a thread of the watched one would need the interpreter's lock. The fits of cores.py are watched by it.
"""

import json
import signal
import sys
import time
from pathlib import Path


def watch(process: int) -> None:
    """Look at the threads of a process until told to end; print CPU seconds by the number of runnable threads."""
    has_ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: has_ended.append(number))
    print("ready", flush=True)
    # The clock of another process, as the C library's clock_getcpuclockid makes it.
    clock = (~process << 3) | 2
    threads = Path(f"/proc/{process}/task")
    found: dict[int, float] = {}
    before = time.clock_gettime(clock)
    while not has_ended:
        time.sleep(1e-3)
        n_runnable = sum(_is_runnable(thread) for thread in threads.iterdir())
        now = time.clock_gettime(clock)
        found[n_runnable] = found.get(n_runnable, 0.0) + now - before
        before = now
    print(json.dumps(found))


def _is_runnable(thread: Path) -> bool:
    try:
        state = (thread / "stat").read_bytes()
    except OSError:
        # It has ended.
        return False
    return state[state.rindex(b")") + 2 :].startswith(b"R")


if __name__ == "__main__":
    watch(int(sys.argv[1]))
