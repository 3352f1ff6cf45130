"""Run the tests whose numbers depend on the processor as other processors would run them.

    python tests/portable/cpus.py                  every setting that this machine can take, in half an hour or more
    python tests/portable/cpus.py --list           what these are
    python tests/portable/cpus.py --settings "two threads" -- -x tests/engine

NumPy, OpenBLAS, Numba and OpenMP choose their code by the processor, and environment variables make them choose
another. What stands behind ``--`` goes to pytest. What the libraries chose is printed before the tests of a setting.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).resolve().parents[2]

#: Tests of numbers: what the others check is text, files and processes.
PART = [
    f"tests/{room}"
    for room in [
        "engine",
        "independence",
        "checks",
        "blanket",
        "wrappers",
        "fitting",
        "models",
        "rows",
        "trace",
    ]
]

# What a processor must be able to do for a core type of OpenBLAS.
_CORE_TYPES = {"Prescott": "SSE3", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512_SKX"}

# Prints what the libraries chose.
_CHOSEN = """
import numpy, scipy.linalg, sklearn.ensemble, llvmlite.binding
from numba.core import config
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info
pools = threadpool_info()
print("NumPy", [name for name in __cpu_dispatch__ if __cpu_features__[name]] or "baseline", end=", ")
print("OpenBLAS", *{pool["architecture"] for pool in pools if pool["user_api"] == "blas"}, end=", ")
print("OpenMP", *{pool["num_threads"] for pool in pools if pool["user_api"] == "openmp"}, end=" threads, ")
print("Numba", config.CPU_NAME or llvmlite.binding.get_host_cpu_name())
"""


def settings():
    """Return the environment variables of each setting that this machine can take, by name."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = {"as it is": {}}
    # From the widest instructions to the narrowest: disabling one disables those that build on it.
    wide = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    for narrowest in range(len(wide) - 1, -1, -1):
        disabled = wide[narrowest:]
        found[f"NumPy without {' '.join(disabled)}"] = {"NPY_DISABLE_CPU_FEATURES": " ".join(disabled)}
    for name, needed in _CORE_TYPES.items():
        if __cpu_features__.get(needed):
            found[f"OpenBLAS for {name}"] = {"OPENBLAS_CORETYPE": name}
    found["Numba for any processor"] = {"NUMBA_CPU_NAME": "generic"}
    found["two threads"] = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    found["the plainest of all"] = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(wide),
        "OPENBLAS_CORETYPE": "Prescott",
        "NUMBA_CPU_NAME": "generic",
    }
    return {name: one | variables for name, variables in found.items()}


def run(variables, cache, arguments):
    """Run the tests with some environment variables; return pytest's exit code."""
    environment = os.environ | variables
    if "NUMBA_CPU_NAME" in variables:
        # Kernels for another processor do not take the place of those in the cache.
        environment["NUMBA_CACHE_DIR"] = cache
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", _CHOSEN], env=environment, cwd=ROOT, check=True)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments], env=environment, cwd=ROOT, check=False
    ).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the settings and stop")
    parser.add_argument("--settings", nargs="+", choices=settings(), default=list(settings()), metavar="NAME")
    parser.add_argument("arguments", nargs="*", help="for pytest; tests of numbers where nothing is given")
    options = parser.parse_args()
    if options.list:
        print("\n".join(settings()))
        return 0
    arguments = options.arguments or ["-n", "auto", "--dist", "worksteal", *PART]
    failed = []
    with tempfile.TemporaryDirectory(prefix="ppfs-kernels-") as cache:
        for name in options.settings:
            print(f"\n=== {name}", flush=True)
            start = time.monotonic()
            code = run(settings()[name], cache, arguments)
            print(
                f"=== {name}: {'failed' if code else 'passed'} in {time.monotonic() - start:.0f} s",
                flush=True,
            )
            failed += [name] * bool(code)
    print(f"\n{len(options.settings) - len(failed)} of {len(options.settings)} settings passed")
    print("\n".join(f"failed: {name}" for name in failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
