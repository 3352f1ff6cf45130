"""Run tests as if a private part of Numba were missing.

    python tests/portable/without.py                       the tests of the engine without each part: half an hour
    python tests/portable/without.py --parts "the cache"   without one of them
    python tests/portable/without.py -- -x tests/engine/tables

What stands behind ``--`` goes to pytest. The module is also the plugin of pytest that switches a part off before the
package is loaded: PPFS_WITHOUT has its name.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _without_compiler():
    from ppfs._engine.jit import compiler

    compiler.compiler_of = lambda _kind: {}


def _without_cache():
    from ppfs._engine.jit import disk_cache

    disk_cache.keep_on_disk = lambda _compiled, _stamp: None


def _without_uncounted_kernels():
    from ppfs._engine.jit import numba_private

    numba_private.UNCOUNTED = numba_private.COUNTED = {}


def _without_events():
    from ppfs._engine.jit import compile_listener

    compile_listener.take_the_time = lambda: None


#: How each part is switched off.
PARTS = {
    "the compiler": _without_compiler,
    "the cache": _without_cache,
    "uncounted kernels": _without_uncounted_kernels,
    "events": _without_events,
}

# These tests are about the parts themselves.
_ABOUT_PARTS = "tests/engine/jit"


def run(part, arguments):
    """Run tests without a part; return the finished process."""
    with tempfile.TemporaryDirectory(prefix="ppfs-kernels-") as cache:
        # Plugins of other libraries take longer to import than the engine.
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment = os.environ | alone | {"PPFS_WITHOUT": part, "NUMBA_CACHE_DIR": cache}
        paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "portable.without", "-p", "no:cacheprovider"]
        return subprocess.run(
            command + arguments, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME")
    parser.add_argument(
        "arguments", nargs="*", help="for pytest; the tests of the engine where nothing is given"
    )
    options = parser.parse_args()
    arguments = options.arguments or ["tests/engine", f"--ignore={_ABOUT_PARTS}"]
    failed = []
    for part in options.parts:
        finished = run(part, arguments)
        print(f"without {part}: {finished.stdout.splitlines()[-1]}", flush=True)
        if finished.returncode:
            failed.append(part)
            print(finished.stdout[-4000:], finished.stderr[-4000:])
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
elif "PPFS_WITHOUT" in os.environ:
    PARTS[os.environ["PPFS_WITHOUT"]]()
