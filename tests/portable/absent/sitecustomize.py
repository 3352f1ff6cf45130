"""Take away what other systems lack, in every Python process that has this folder on its path.

Python imports this module when it starts. PPFS_ABSENT names what is absent, separated by commas; `PARTS` has the names.
"""

import builtins
import ctypes
import mmap
import multiprocessing
import os
import signal
import subprocess
import sys
import types

# Signals that Windows has.
_KNOWN_SIGNALS = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"}


def _remove(module, names):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def without_fork():
    """Windows has no fork; macOS starts processes afresh."""
    _remove(os, ["fork", "forkpty"])
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    multiprocessing.set_start_method("spawn")


def without_signals():
    """Windows can interrupt and terminate a process, and nothing else."""
    # Popen.kill has its own way to kill on Windows.
    killed = signal.SIGKILL
    subprocess.Popen.kill = lambda self: self.send_signal(killed)
    _remove(signal, [name for name in dir(signal) if name.startswith("SIG") and name not in _KNOWN_SIGNALS])
    _remove(signal, ["alarm", "setitimer", "getitimer", "pthread_sigmask", "pthread_kill", "siginterrupt"])
    _remove(os, ["killpg", "getpgid", "setpgid"])


def without_madvise():
    """Windows has no advice about mapped memory."""
    _remove(mmap, [name for name in dir(mmap) if name.startswith("MADV_")])


def without_glibc():
    """The C library of macOS has no mallopt, and Windows has no way to ask for the running program."""

    def load(name, *more, **options):
        if name is None:
            raise TypeError("a name is needed")
        return loaded(name, *more, **options)

    loaded, ctypes.CDLL = ctypes.CDLL, load


def without_fcntl():
    """Windows locks files with msvcrt. Other libraries keep fcntl: on Linux asyncio needs it."""
    import fcntl

    found = builtins.__import__

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if name == "fcntl" and (globals or {}).get("__name__", "").startswith("ppfs"):
            raise ImportError("No module named 'fcntl'")
        return found(name, globals, locals, fromlist, level)

    def locking(descriptor, mode, n_bytes):
        assert (mode, n_bytes) == (msvcrt.LK_NBLCK, 1)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    builtins.__import__ = import_
    msvcrt = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.locking = 2, locking
    sys.modules["msvcrt"] = msvcrt


def without_sysconf():
    """Windows tells its memory by a call of its own, and has no module resource."""
    # On Linux it asks for a limit when it is imported, from Python 3.12 on.
    import asyncio  # noqa: F401

    n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def global_memory_status(place):
        # The length of the structure, the load, then 64 bits each: all of the memory, what is free, and more.
        words = ctypes.cast(place, ctypes.POINTER(ctypes.c_uint32))
        assert words[0] == 64
        words[2], words[3] = n_bytes & 0xFFFFFFFF, n_bytes >> 32
        return 1

    _remove(os, ["sysconf", "sysconf_names"])
    sys.modules["resource"] = None
    ctypes.windll = types.SimpleNamespace(
        kernel32=types.SimpleNamespace(GlobalMemoryStatusEx=global_memory_status)
    )


def without_replacing_open_files():
    """Windows neither removes nor replaces a file that is open or mapped."""

    def refuse_open(path):
        try:
            place = os.path.realpath(os.fsdecode(path))
        except TypeError:
            return
        if place in _open_files():
            raise PermissionError(
                13, "The process cannot access the file because it is in use", os.fspath(path)
            )

    def guarded(call, n_paths):
        def checked(*paths, **options):
            # What the standard library makes for itself on this system may be removed while it is open.
            if sys._getframe(1).f_globals.get("__name__") not in {"tempfile", "shutil"}:
                for path in paths[:n_paths]:
                    refuse_open(path)
            return call(*paths, **options)

        return checked

    os.replace, os.rename = guarded(os.replace, 2), guarded(os.rename, 2)
    os.unlink, os.remove = guarded(os.unlink, 1), guarded(os.remove, 1)


def _open_files():
    """Return the files that this process has open or mapped."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            continue
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        found.update(line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/" in line)
    return found


#: How each part is taken away.
PARTS = {
    "fork": without_fork,
    "signals": without_signals,
    "madvise": without_madvise,
    "glibc": without_glibc,
    "fcntl": without_fcntl,
    "sysconf": without_sysconf,
    "replacing open files": without_replacing_open_files,
}

if "PPFS_ABSENT" in os.environ:
    for part in filter(None, os.environ["PPFS_ABSENT"].split(",")):
        PARTS[part]()
