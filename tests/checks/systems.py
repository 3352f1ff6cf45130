"""Marks for tests of what only some systems have."""

import multiprocessing
import os
import signal

import pytest

#: Processes can be sent any signal.
needs_signals = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL") or not hasattr(os, "killpg"), reason="this system has no signals of POSIX"
)

#: Processes can be copies of this one.
needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork"
)

#: Any user may make a link.
needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
