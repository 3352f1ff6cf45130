"""Change the code, one small fault at a time, and see whether a test notices.

    python benchmarks/mutation/run.py map                 # which tests run which lines; what is mapped is not run again
    python benchmarks/mutation/run.py map --only tests/cli --again
    python benchmarks/mutation/run.py mutants             # the sample; what is recorded is not run again
    python benchmarks/mutation/run.py mutants --again     # those that survived, once more
    python benchmarks/mutation/run.py by-hand             # the faults of by_hand.toml
    python benchmarks/mutation/run.py render              # docs/mutation.md

The sample is drawn by a digest of each fault's name, so it stays when other lines change. The engine's faults are run
with Numba's compiler switched off. Nothing is changed in place: every worker has its own copy of the sources.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from operators import Mutant, compiles, mutants_of

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
MAPS = Path(tempfile.gettempdir()) / "ppfs-mutation"

# How many faults of each part are tried.
SAMPLE = {
    "independence": 100,
    "blanket": 80,
    "_engine": 60,
    "_reading": 35,
    "cli": 15,
    "compat.py": 10,
}
SEED = "2021"

# The cache of compiled kernels: its tests damage files in processes of their own.
NOT_TRIED = ("_engine/_jit.py", "_engine/kernel_cache.py", "_engine/checked_cache.py")

# Tests that no mutant meets: studies of the level, real data, and what only looks at other files.
LEFT_OUT = (
    "tests/benchmarks",
    "tests/independence/test_calibration.py",
    "tests/blanket/test_real_tables.py",
    "tests/engine/test_without_jit.py",
    "tests/engine/test_kernel_cache.py",
    "tests/test_examples.py",
    "tests/test_rooms.py",
    "tests/datasets",
)

# Where tests are looked for, file by file. Those of the engine are mapped and run without the compiler, which would
# hide its lines.
MAPPED = ("tests/[a-z]*/test_*.py", "tests/test_*.py")

# A mutant meets the quickest tests that run its line, as many as fit into so many seconds of the processor.
BUDGET = 6.0

# Loaded once, before the first fault: everything but the package and its tests.
_HEAVY = (
    "hypothesis.extra.numpy",
    "joblib.externals.loky",
    "narwhals",
    "numba.np.arrayobj",
    "numba.typed",
    "pandas",
    "polars",
    "pytest",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.calibration",
    "sklearn.compose",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.feature_selection",
    "sklearn.frozen",
    "sklearn.gaussian_process",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)


@dataclass(frozen=True)
class Trial:
    """What became of a mutant: "caught", "hung" (which is caught too) or "survived"."""

    key: str
    file: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str
    n_tests: int
    by: str


_NAMED = ("key", "file", "line", "operator", "before", "after")


def sample() -> list[Mutant]:
    """Return the chosen faults of every part."""
    chosen = []
    for part, wanted in SAMPLE.items():
        folder = ROOT / "src" / "ppfs"
        files = [folder / part] if part.endswith(".py") else sorted((folder / part).rglob("*.py"))
        names = [str(file.relative_to(folder)) for file in files]
        found = [
            mutant
            for name in names
            if name not in NOT_TRIED
            for mutant in mutants_of(name, (folder / name).read_text())
        ]
        found.sort(key=lambda mutant: hashlib.sha256((SEED + mutant.key).encode()).digest())
        sources = {name: (folder / name).read_text() for name in names}
        # Compiling takes longest: as many as are wanted, not all.
        chosen += islice((m for m in found if compiles(m.applied_to(sources[m.file]))), wanted)
    return chosen


def make_map(only: str, again: bool) -> None:
    """Run the tests once, file by file, and write down which lines each of them runs."""
    MAPS.mkdir(exist_ok=True)
    found = sorted(str(path.relative_to(ROOT)) for pattern in MAPPED for path in ROOT.glob(pattern))
    for file in found:
        place = _map_of(file)
        if file.startswith(LEFT_OUT) or not file.startswith(only) or (place.exists() and not again):
            continue
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "coverage_map"]
        command += ["-k", "not contract and not every_node", "--map", str(place), file]
        environment = _environment(ROOT) | {"NUMBA_DISABLE_JIT": str(int(_is_of_the_engine(file)))}
        subprocess.run(command, cwd=ROOT, env=environment, check=False)


def _map_of(file: str) -> Path:
    return MAPS / f"{file.removesuffix('.py').replace('/', '-')}.json"


def _is_of_the_engine(file: str) -> bool:
    return file.startswith(("tests/engine", "_engine"))


def _environment(root: Path) -> dict[str, str]:
    paths = [str(root / "src"), str(Path(__file__).parent)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


@cache
def _maps(is_engine: bool) -> dict[str, dict[int, set[tuple[str, float]]]]:
    """Return the tests that run each line of each file, with the seconds they take."""
    found: dict[str, dict[int, set[tuple[str, float]]]] = {}
    for path in MAPS.glob("tests-*.json"):
        if path.name.startswith("tests-engine") != is_engine:
            continue
        read = json.loads(path.read_text())
        for file, entries in read["lines"].items():
            for lines, numbers in entries:
                tests = {tuple(read["tests"][number]) for number in numbers}
                for line in lines:
                    found.setdefault(file, {}).setdefault(line, set()).update(tests)
    return found


def tests_for(mutant: Mutant) -> tuple[list[str], float]:
    """Return what to run, and how many seconds it takes without the fault.

    The tests of the line; or, where it runs when the module is loaded, those of the file.
    """
    by_line = _maps(_is_of_the_engine(mutant.file)).get(mutant.file, {})
    end = mutant.line + mutant.before.count("\n")
    on_line = set().union(*(by_line.get(line, set()) for line in range(mutant.line, end + 1)))
    in_file = set().union(*by_line.values()) if by_line else set()
    chosen, spent = [], 0.0
    for test, seconds in sorted(on_line or in_file, key=lambda one: (one[1], one[0])):
        if spent + seconds > BUDGET and chosen:
            break
        chosen.append(test)
        spent += seconds
    return chosen, spent


class Workshop:
    """A copy of the sources and tests in which one fault after the other is tried."""

    def __init__(self, number: int) -> None:
        self.root = MAPS / f"worker-{number}"
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("*.pyc"))
        for name in ("benchmarks", "docs", "README.md"):
            (self.root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "pyproject.toml", self.root)

    def path(self, file: str) -> Path:
        """Return where a file of the package stands in this copy."""
        return self.root / "src" / "ppfs" / file

    def outcome(self, file: str, changed: str, arguments: list[str], seconds: float) -> tuple[str, str]:
        """Run tests on a changed file; return what happened and the first test that failed."""
        path = self.path(file)
        before = path.read_text()
        path.write_text(changed)
        try:
            return _in_a_child(self.root, arguments, _is_of_the_engine(file), seconds)
        finally:
            path.write_text(before)


def _in_a_child(root: Path, arguments: list[str], is_engine: bool, seconds: float) -> tuple[str, str]:
    """Fork, so that the libraries are loaded once; limit the processor's time, not the clock's."""
    log = root / "log.txt"
    child = os.fork()
    if child == 0:
        _run_tests(root, arguments, is_engine, int(10 + 3 * seconds), log)
    deadline = time.monotonic() + 1200
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    if os.WIFSIGNALED(status):
        return "hung", ""
    code = os.WEXITSTATUS(status)
    failed = [line for line in log.read_text().splitlines() if line.startswith(("FAILED", "ERROR"))]
    if code == 0:
        return "survived", ""
    # No test that failed: pytest itself did, which is no merit of the tests.
    return ("caught", failed[0].split(" ")[1]) if failed else (f"exit {code}", "")


def _run_tests(root: Path, arguments: list[str], is_engine: bool, seconds: int, log: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    os.chdir(root)
    sys.path[:0] = [str(root / "src")]
    os.environ |= _environment(root)
    os.environ["NUMBA_DISABLE_JIT"] = str(int(is_engine))
    with log.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        import numba
        import pytest

        numba.config.reload_config()
        options = [
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "--no-header",
            "-W",
            "ignore:Module already imported",
        ]
        code = pytest.main([*options, *arguments])
        sys.stdout.flush()
    os._exit(int(code))


def try_mutant(mutant: Mutant) -> Trial:
    """Try one fault in this worker's copy."""
    workshop = _workshop()
    chosen, seconds = tests_for(mutant)
    outcome, by = "survived", ""
    if chosen:
        source = workshop.path(mutant.file).read_text()
        outcome, by = workshop.outcome(mutant.file, mutant.applied_to(source), chosen, seconds)
    fields = {name: getattr(mutant, name) for name in _NAMED}
    return Trial(**fields, outcome=outcome, n_tests=len(chosen), by=by)


@cache
def _workshop() -> Workshop:
    for name in _HEAVY:
        __import__(name)
    return Workshop(os.getpid())


def read_trials() -> dict[str, Trial]:
    """Return what is recorded, by the name of the fault; the last entry counts."""
    path = RESULTS / "mutants.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {trial.key: trial for trial in (Trial(**json.loads(line)) for line in lines)}


def run_sample(again: bool, only: str, limit: int, apart: bool, tests: list[str]) -> None:
    """Try the faults of the sample that are not recorded yet, in forks of one session, or each in one of its own."""
    RESULTS.mkdir(exist_ok=True)
    known = read_trials()
    is_open = {key for key, trial in known.items() if trial.outcome not in ("caught", "hung")}
    waiting = [
        mutant
        for mutant in sample()
        if mutant.file.startswith(only) and (mutant.key not in known or (again and mutant.key in is_open))
    ][:limit]
    if apart:
        for mutant in waiting:
            _record(try_mutant(mutant))
    else:
        for is_engine in (True, False):
            some = [m for m in waiting if _is_of_the_engine(m.file) == is_engine]
            _in_one_session(some, is_engine, tests)


def _record(trial: Trial) -> None:
    with (RESULTS / "mutants.jsonl").open("a") as stream:
        stream.write(json.dumps(asdict(trial)) + "\n")
    print(f"{trial.outcome:9} {trial.n_tests:4} {trial.key[:150]}", flush=True)


def _in_one_session(mutants: list[Mutant], is_engine: bool, named: list[str]) -> None:
    faults, files = [], set()
    for mutant in mutants:
        tests, seconds = (named, BUDGET) if named else tests_for(mutant)
        source = (ROOT / "src" / "ppfs" / mutant.file).read_text()
        trial = {name: getattr(mutant, name) for name in _NAMED}
        changed = mutant.applied_to(source)
        faults.append(
            {"file": mutant.file, "changed": changed, "tests": tests, "seconds": seconds, "trial": trial}
        )
        files |= {test.split("::")[0] for test in tests}
    if not faults:
        return
    waiting = MAPS / f"waiting-{os.getpid()}.json"
    waiting.write_text(json.dumps(faults))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "in_forks"]
    command += ["--faults", str(waiting), "--record", str(RESULTS / "mutants.jsonl"), *sorted(files)]
    environment = _environment(ROOT) | {"NUMBA_DISABLE_JIT": str(int(is_engine))}
    subprocess.run(command, cwd=ROOT, env=environment, check=False)


def run_by_hand() -> None:
    """Try the faults of by_hand.toml against the tests named beside them."""
    entries = tomllib.loads((Path(__file__).parent / "by_hand.toml").read_text())["mutant"]
    missed = 0
    for entry in entries:
        path = _workshop().path(entry["file"])
        source = path.read_text()
        if entry["old"] not in source:
            outcome, by = "NOT THERE", ""
        else:
            changed = source.replace(entry["old"], entry["new"], 1)
            outcome, by = _workshop().outcome(entry["file"], changed, shlex.split(entry["tests"]), 60.0)
        missed += outcome not in ("caught", "hung")
        print(f"{outcome:9} {entry['name']}  {by}", flush=True)
    print(f"{len(entries) - missed} of {len(entries)} caught")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["map", "mutants", "by-hand", "render"])
    parser.add_argument("--apart", action="store_true", help="every fault in a session of its own: slow")
    parser.add_argument("--again", action="store_true", help="also what is there: survivors, maps")
    parser.add_argument(
        "--only", default="", help="a beginning of file names: of sources for mutants, of tests for map"
    )
    parser.add_argument("--tests", nargs="*", default=[], help="these, in place of those that the map has")
    parser.add_argument("--limit", type=int, default=10**6)
    wanted = parser.parse_args()
    if wanted.what == "map":
        make_map(wanted.only, wanted.again)
    elif wanted.what == "mutants":
        run_sample(wanted.again, wanted.only, wanted.limit, wanted.apart, wanted.tests)
    elif wanted.what == "by-hand":
        run_by_hand()
    else:
        from render import write_page

        write_page(sample(), read_trials())


if __name__ == "__main__":
    main()
