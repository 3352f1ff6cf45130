"""Run the tests of files, checkpoints and processes as if parts of Linux were missing, as on Windows and macOS.

    python tests/portable/systems.py                        without each part, then without all: an hour or more
    python tests/portable/systems.py --parts fork fcntl     without some of them, one at a time
    python tests/portable/systems.py --parts all -- -x tests/cli/test_process.py

What stands behind ``--`` goes to pytest. The parts are missing in every Python process that a test starts.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ABSENT = Path(__file__).resolve().parent / "absent"

#: What can be missing; `absent/sitecustomize.py` takes it away.
PARTS = ("fork", "signals", "madvise", "glibc", "fcntl", "sysconf", "replacing open files", "UTF-8")

# Where no encoding is given, files are read as ASCII, which fails where Windows would read other letters; output is
# written as Windows does.
_NO_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"}

#: Tests of files, checkpoints and processes.
PART = [
    "tests/blanket/test_checkpoint.py",
    "tests/blanket/test_checkpoint_folder.py",
    "tests/data",
    "tests/parallel",
    "tests/cli",
    "tests/export",
    "tests/scale",
    "tests/datasets",
]


def environment(parts):
    """Return the environment variables of processes in which some parts are missing."""
    paths = [str(ABSENT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    removed = ",".join(part for part in parts if part != "UTF-8")
    return (
        os.environ
        | {"PPFS_ABSENT": removed, "PYTHONPATH": os.pathsep.join(paths)}
        | (_NO_UTF8 if "UTF-8" in parts else {})
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--parts", nargs="+", choices=[*PARTS, "all"], default=[*PARTS, "all"], metavar="NAME"
    )
    parser.add_argument("arguments", nargs="*", help="for pytest")
    options = parser.parse_args()
    arguments = options.arguments or ["-n", "auto", "--dist", "worksteal", *PART]
    failed = []
    for part in options.parts:
        print(f"\n=== without {part}", flush=True)
        missing = environment(PARTS if part == "all" else [part])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        failed += [part] * bool(subprocess.run(command, env=missing, cwd=ROOT, check=False).returncode)
    print("\n".join(f"failed: without {part}" for part in failed) or "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
