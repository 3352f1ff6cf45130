"""All that needs a GPU in one run: the tests, the sanitizer, and the figures of docs/gpu.md.

python benchmarks/gpu/all.py                    # about nine minutes with 16 cores; each step has its own limit
python benchmarks/gpu/all.py --steps tests panel

The output of each step follows its name and the seconds it took.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
_PANEL, _DEVICES, _DRAWS = (
    "tests/independence/test_cuda_panel.py",
    "tests/independence/test_devices.py",
    "tests/engine/cuda/test_draws.py",
)
_TESTS = ["tests/engine/cuda", _DEVICES, _PANEL]
_PYTEST = [PYTHON, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider"]
# What every kernel of the panel, of draws and of ranks takes part in.
_CHOSEN = "panel-classes or panel-numbers or (three or weights) and panel or missed or ranks"
_SOME = [*_PYTEST, _PANEL, _DEVICES, _DRAWS, "-k", _CHOSEN]

#: The command of each step, and how many seconds it may take.
STEPS: dict[str, tuple[list[str], int]] = {
    "panel": ([PYTHON, "benchmarks/gpu/panel.py", "--tables", "wide"], 130),
    "fits": ([PYTHON, "benchmarks/gpu/growth.py", "--tables", "fits", "transfer"], 60),
    "tests": ([*_PYTEST, *_TESTS], 150),
    "memcheck": (["compute-sanitizer", "--tool", "memcheck", *_SOME], 60),
    "racecheck": (["compute-sanitizer", "--tool", "racecheck", *_SOME], 60),
    "kernels": ([PYTHON, "benchmarks/gpu/panel.py", "--tables", "kernels", "draws"], 90),
    "noise": ([PYTHON, "benchmarks/gpu/panel.py", "--tables", "noise", "--noise-tables", "40"], 90),
    "cores": (
        [PYTHON, "benchmarks/scale/cores.py", "--size", "0.3", "--threads", "1", "2", "4", "8", "16"],
        150,
    ),
    "growth": ([PYTHON, "benchmarks/gpu/growth.py", "--tables", "cases"], 150),
    "paper": ([PYTHON, "benchmarks/gpu/paper.py"], 120),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", nargs="*", choices=list(STEPS), default=list(STEPS))
    for name in parser.parse_args().steps:
        command, most = STEPS[name]
        if shutil.which(command[0]) is None:
            print(f"=== {name}: {command[0]} is not here", flush=True)
            continue
        start = perf_counter()
        print(f"=== {name}", flush=True)
        try:
            code: int | str = subprocess.run(command, cwd=ROOT, timeout=most, check=False).returncode
        except subprocess.TimeoutExpired:
            code = f"cut at {most} s"
        print(f"=== {name} ended with {code} after {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
