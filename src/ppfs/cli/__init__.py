"""The ``ppfs`` command: a thin layer over the library.

Modules here import no large library at the top, so that ``ppfs --help`` needs no NumPy.
"""

from __future__ import annotations

import atexit
import os
import sys


def main() -> None:
    """Run the command line, or report which library is not installed."""
    from ppfs._libraries import missing
    from ppfs.cli._signals import end_workers, listen, received, settle

    listen()
    # Registered first, so that it is called last, after temporary files are removed.
    atexit.register(_end_at_once)
    try:
        from ppfs.cli._app import app
        from ppfs.cli._failures import run

        code = run(app, sys.argv[1:])
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich"}:
            raise
        print(f"ppfs: {missing(error.name, 'The command', 'cli')}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # While the above was loaded; `run` handles it otherwise.
        settle()
        code = 128 + (received() or 2)
    if received() is not None:
        # The interpreter would first wait for threads, and joblib's thread waits for tasks of its worker processes.
        end_workers()
        atexit._run_exitfuncs()
    sys.exit(code)


def _end_at_once() -> None:
    """End a process that a signal interrupted: threads may be inside a kernel while the interpreter is taken down."""
    from ppfs.cli._signals import received

    signal = received()
    if signal is not None:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # Closed by the caller, as ``>&-`` does.
                stream.flush()
        os._exit(128 + signal)
