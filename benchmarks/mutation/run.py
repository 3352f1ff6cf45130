"""Change the code, one small fault at a time, and check whether a test detects it.

    python benchmarks/mutation/run.py map                 # which tests run which lines; what is mapped is not run again
    python benchmarks/mutation/run.py draw                # writes the sample down
    python benchmarks/mutation/run.py map --only tests/cli --again
    python benchmarks/mutation/run.py mutants             # the sample; what is recorded is not run again
    python benchmarks/mutation/run.py mutants --again     # those that survived, once more
    python benchmarks/mutation/run.py by-hand             # the faults of by_hand.toml
    python benchmarks/mutation/run.py render              # docs/mutation.md

The sample is drawn by a digest of each fault's name, so it stays when other lines change. The engine's faults are run
with Numba's compiler switched off. Nothing is changed on disk: a fault is put into a fork of a process that has
imported everything. Run it on sources that stay as they are meanwhile.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from in_forks import WARM_UP
from operators import Mutant, compiles, mutants_of
from tests_by_statement import constants_of, mark_of, marks_of, needs_no_compiler, readers_of

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
BY_HAND = RESULTS / "by_hand.jsonl"
PACKAGE = ROOT / "src" / "ppfs"
MAPS = Path(os.environ.get("PPFS_MUTATION", Path(tempfile.gettempdir()) / "ppfs-mutation"))

# How many faults of each part are tried. A part is one room, or several that share a number.
SAMPLE = {
    ("independence",): 36,
    ("blanket",): 26,
    ("_engine",): 25,
    ("_data",): 20,
    ("cli",): 15,
    (
        "_rows",
        "_fitting",
        "_trace",
        "_conventions",
        "_estimator",
        "_parallel",
        "models",
        "compat",
        "wrappers",
        "report",
        "plotting",
        "datasets",
        "_comparison",
        "_planning",
        "_verdicts",
        "export",
    ): 28,
}
SEED = "52961"

# The sample is written before any test is changed because of it. The record holds all its runs, the first one included.
DRAWN, RECORD = RESULTS / f"sample-{SEED}.jsonl", RESULTS / f"mutants-{SEED}.jsonl"

# The cache of compiled kernels, whose tests damage files in processes of their own, and what needs an NVIDIA GPU.
NOT_TRIED = (
    "_engine/jit/kernels.py",
    "_engine/jit/disk_cache.py",
    "_engine/jit/checked_cache.py",
    "_engine/cuda/pieces.py",
)

# Tests that no mutant meets: studies of the level, real data, and what only looks at other files.
LEFT_OUT = (
    "tests/benchmarks",
    "tests/independence/test_calibration.py",
    "tests/blanket/test_real_tables.py",
    "tests/engine/jit/test_without_jit.py",
    "tests/engine/jit/test_disk_cache.py",
    "tests/test_examples.py",
    "tests/test_rooms.py",
    "tests/report/test_browser.py",
    "tests/docs",
    "tests/tools",
    "tests/portable",
    "tests/scale",
    # These start the program in another process, which a fault put into this one does not reach.
    "tests/cli/test_process.py",
    "tests/cli/test_interrupts.py",
    "tests/cli/test_large_files.py",
    "tests/engine/jit/test_interrupts.py",
)

# Where tests are looked for, file by file. Those of the engine are mapped and run without the compiler, which would
# hide its lines.
MAPPED = ("tests/**/test_*.py",)

# Tests that look at what modules of some rooms make while they are loaded, and run none of their lines: the defaults of
# functions, and the flags of the command.
OF_SIGNATURES = {
    "": "tests/checks/test_documented_defaults.py",
    "cli/": "tests/cli/test_flags.py::test_flags_are_those_on_record",
}

# Without the compiler NumPy warns where unsigned numbers wrap around, as the random keys of trees do.
WRAP_AROUND = ("-W", "ignore:overflow encountered in scalar:RuntimeWarning")

# For so few faults it takes longer to load all kernels than to load those that are needed.
FEW = 10

# A mutant meets the quickest tests that run its line, as many as fit into this many CPU seconds of its fork.
BUDGET = 30.0

# What is recorded of a fault that cannot be put into what is loaded, such as a function that closes over other
# variables. It is tried in a copy of the sources then.
_NOT_PUT_IN = "exit 3"

# Files of recorded answers begin with this.
_RECORDED = "test_recorded_"

# How much of it the tests next to the module may take, those up to its room, and all.
SHARES = (0.5, 0.8, 1.0)


@dataclass(frozen=True)
class Trial:
    """What became of a mutant: "caught", "hung" (which is caught too) or "survived".

    The digest is that of the file without the fault: where it has changed since, the trial is of older sources.
    """

    key: str
    file: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str
    n_tests: int
    by: str
    digest: str


_NAMED = ("key", "file", "line", "operator", "before", "after")


def sample() -> list[Mutant]:
    """Return the chosen faults of every part, in the order of their digests: the parts are mixed."""
    chosen: list[Mutant] = []
    for rooms, wanted in SAMPLE.items():
        files = [file for room in rooms for file in sorted((PACKAGE / room).rglob("*.py"))]
        sources = {str(file.relative_to(PACKAGE)): file.read_text() for file in files}
        found = [
            mutant
            for name, source in sources.items()
            if not name.startswith(NOT_TRIED)
            for mutant in mutants_of(name, source)
        ]
        found.sort(key=_rank)
        # Compiling takes longest: as many as are wanted, not all.
        chosen += islice((m for m in found if compiles(m.applied_to(sources[m.file]))), wanted)
    return sorted(chosen, key=_rank)


def _rank(mutant: Mutant) -> bytes:
    return hashlib.sha256((SEED + mutant.key).encode()).digest()


def write_sample() -> None:
    """Write the sample down, so that it can be compared with what is run later; what is recorded of others goes."""
    for other in (*RESULTS.glob("sample-*.jsonl"), *RESULTS.glob("mutants-*.jsonl")):
        if other not in (DRAWN, RECORD):
            other.unlink()
    lines = [json.dumps({name: getattr(mutant, name) for name in _NAMED}) for mutant in sample()]
    DRAWN.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} faults")


def make_map(only: str, again: bool) -> None:
    """Run the tests once and write down which statements each of them runs, the engine's without the compiler."""
    MAPS.mkdir(exist_ok=True)
    found = sorted(str(path.relative_to(ROOT)) for pattern in MAPPED for path in ROOT.glob(pattern))
    sources = [str(path.relative_to(PACKAGE)) for path in sorted(PACKAGE.rglob("*.py"))]
    for is_engine in (False, True):
        files = [
            file
            for file in found
            if file.startswith(tuple(only.split(",")))
            and not file.startswith(LEFT_OUT)
            and _is_interpreted(file) == is_engine
            and (again or not _map_of(file).exists())
        ]
        if files:
            # With the compiler only the plain functions of the engine are marked: compiled kernels cannot be.
            waiting = MAPS / f"marked-{os.getpid()}.json"
            waiting.write_text(
                json.dumps([one for one in sources if one.startswith("_engine") or not is_engine])
            )
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "tests_by_statement",
            ]
            command += [*WRAP_AROUND, "-k", "not contract and not every_node"]
            command += ["--marked", str(waiting), "--maps", str(MAPS), *files]
            environment = _environment() | {"NUMBA_DISABLE_JIT": str(int(is_engine))}
            subprocess.run(command, cwd=ROOT, env=environment, check=False)


def _map_of(file: str) -> Path:
    return MAPS / f"{file.removesuffix('.py').replace('/', '-')}.json"


def _is_interpreted(test: str) -> bool:
    """Return whether a file of tests is mapped without the compiler: it runs kernels, whose lines it would hide."""
    return test.startswith("tests/engine") and not test.startswith("tests/engine/cuda")


def _is_in_a_kernel(file: str, line: int) -> bool:
    """Return whether a fault is in compiled code, so that its tests run without the compiler."""
    return file.startswith("_engine") and needs_no_compiler(_source(file), line)


def _environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), str(Path(__file__).parent)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


@cache
def _maps(is_kernel: bool) -> dict[str, list[tuple[str, float]]]:
    """Return the tests that meet each mark (of a statement, a function or a file), with the seconds they take."""
    found: dict[str, list[tuple[str, float]]] = {}
    for path in MAPS.glob("tests-*.json"):
        # The kernels were marked in these files only. Other functions of the engine are run by tests of all rooms.
        if path.name.startswith("tests-engine") or not is_kernel:
            read = json.loads(path.read_text())
            timed = list(read["tests"].items())
            if timed and not (ROOT / timed[0][0].split("::")[0]).exists():
                continue  # Tests that are gone since the map was made.
            for mark, numbers in read["marks"].items():
                found.setdefault(mark, []).extend(timed[number] for number in numbers)
            for tests in OF_SIGNATURES.values():
                found.setdefault(tests, []).extend(one for one in timed if one[0].startswith(tests))
    return found


def tests_for(mutant: Mutant, budget: float) -> list[str]:
    """Return what to run.

    The tests of the statement; or, where it runs when the module is loaded, those of the statements that read the
    constant that it defines, here or in other modules, or else those of the file. Test files that share a word of
    their name with the module come first, then those of its room, then the others. Each of the three may take what the
    ones before leave of its share, the quickest tests first, but one case of every test before the second case of any:
    many cases of one test see much the same.
    """
    marks = _maps(_is_in_a_kernel(mutant.file, mutant.line))
    own = [test for mark in _marks_of(mutant) for test in marks.get(mark, ())]
    looking = [tests for room, tests in OF_SIGNATURES.items() if mutant.file.startswith(room)]
    found = {
        *(own or marks.get(mutant.file, [])),
        *(test for name in looking for test in marks.get(name, [])),
    }
    by_time = sorted(found, key=lambda one: (one[1], one[0]))
    cases: Counter[str] = Counter()
    ordered = []
    for test, seconds in by_time:
        name = test.split("[")[0]
        # Each case of a record is another answer.
        ordered.append((_distance(mutant.file, test), 0 if _RECORDED in name else cases[name], seconds, test))
        cases[name] += 1
    chosen, spent = [], 0.0
    for distance, _, seconds, test in sorted(ordered):
        if spent + seconds <= budget * SHARES[distance] or not chosen:
            chosen.append(test)
            spent += seconds
    return chosen


def _marks_of(mutant: Mutant) -> list[str]:
    """Return the marks of the statements that a fault is met by; other modules may read a constant too."""
    source = _source(mutant.file)
    here = marks_of(source, mutant.file, mutant.line)
    names = {name for name in constants_of(source, mutant.line) if name.isupper() and name[0] != "_"}
    others = (str(path.relative_to(PACKAGE)) for path in sorted(PACKAGE.rglob("*.py")) if names)
    there = [
        mark for other in others if other != mutant.file for mark in readers_of(_source(other), other, names)
    ]
    return [mark for mark in here if mark != mutant.file or not there] + there


def _distance(file: str, test: str) -> int:
    """Return how far a test's file is from a module: 0 if they share a word of their names, 1 if they share a room.

    Records of answers are near to all of their room.
    """
    module, tested = Path(file), Path(test.split("::")[0])
    room = module.parts[0].strip("_")
    words = _words(module.stem) | (_words(module.parent.name) if len(module.parts) > 2 else set())
    if room in tested.parts and (
        tested.name.startswith(_RECORDED) or words & _words(tested.stem.removeprefix("test_"))
    ):
        return 0
    return 1 if room in tested.parts else 2


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in name.strip("_").split("_")}


def digest_of(file: str) -> str:
    """Return a name for what a file of the package says now; one that is gone matches no record."""
    path = PACKAGE / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else "gone"


def read_trials() -> dict[str, Trial]:
    """Return what is recorded, by the name of the fault; the last entry counts."""
    return {trial.key: trial for trial in _recorded()}


def read_first_trials() -> dict[str, Trial]:
    """Return what became of each fault when it was first tried, before tests were written because of it."""
    return {trial.key: trial for trial in reversed(_recorded()) if trial.outcome != _NOT_PUT_IN}


def _recorded() -> list[Trial]:
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    return [Trial(**json.loads(line)) for line in lines]


def run_sample(again: bool, only: str, limit: int, tests: list[str], budget: float, apart: bool) -> None:
    """Try the faults of the sample that are not recorded yet, and those of files that have changed since."""
    known = {key: trial for key, trial in read_trials().items() if trial.digest == digest_of(trial.file)}
    is_open = {key for key, trial in known.items() if trial.outcome not in ("caught", "hung")}
    waiting = [
        mutant
        for mutant in sample()
        if mutant.file.startswith(tuple(only.split(",")))
        and (mutant.key not in known or (again and mutant.key in is_open))
    ][:limit]
    faults = []
    for mutant in waiting:
        chosen = tests or tests_for(mutant, budget)
        trial = {name: getattr(mutant, name) for name in _NAMED} | {"digest": digest_of(mutant.file)}
        changed = mutant.applied_to(_source(mutant.file))
        faults.append(
            {
                "file": mutant.file,
                "is_kernel": _is_in_a_kernel(mutant.file, mutant.line),
                "changed": changed,
                "tests": chosen,
                "seconds": budget,
                "trial": trial,
            }
        )
    alone = [fault for fault in faults if apart or _is_loaded_once(fault["file"], fault["trial"]["line"])]
    for fault in alone:
        _try_apart(fault, RECORD)
    together = [fault for fault in faults if fault not in alone]
    _try(together, RECORD)
    last = read_trials()
    for fault in together:
        trial = last.get(fault["trial"]["key"])
        if trial is not None and trial.outcome == _NOT_PUT_IN:
            _try_apart(fault, RECORD)


def _is_loaded_once(file: str, line: int) -> bool:
    """Return whether a line works once, while modules are loaded: it makes flags or commands, or sets something up."""
    source = _source(file)
    sets_up = any(
        isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Call)
        and one.lineno <= line <= (one.end_lineno or 0)
        for one in ast.parse(source).body
    )
    is_of_commands = file.startswith("cli/") and (
        file.startswith("cli/flags/") or mark_of(source, file, line) == file
    )
    return sets_up or is_of_commands


def run_by_hand() -> None:
    """Try the faults of by_hand.toml against the tests named beside them; what is recorded goes."""
    faults = []
    for entry in tomllib.loads((Path(__file__).parent / "by_hand.toml").read_text())["mutant"]:
        source = _source(entry["file"])
        if entry["old"] not in source:
            raise SystemExit(f"no longer in the sources: {entry['name']}")
        changed = source.replace(entry["old"], entry["new"], 1)
        trial = {"key": entry["name"], "digest": digest_of(entry["file"])}
        faults.append(
            {
                "file": entry["file"],
                "is_kernel": _is_in_a_kernel(
                    entry["file"], source[: source.index(entry["old"])].count("\n") + 1
                ),
                "changed": changed,
                "tests": entry["tests"],
                "seconds": 60,
                "trial": trial,
            }
        )
    BY_HAND.unlink(missing_ok=True)
    _try(faults, BY_HAND)


def _source(file: str) -> str:
    return (PACKAGE / file).read_text()


def _try(faults: list[dict[str, Any]], record: Path) -> None:
    """Run the tests of each fault in forks of one session; the engine's without the compiler."""
    RESULTS.mkdir(exist_ok=True)
    for is_kernel in (False, True):
        some = [fault for fault in faults if fault["is_kernel"] == is_kernel]
        if not some:
            continue
        waiting = MAPS / f"waiting-{os.getpid()}.json"
        waiting.write_text(json.dumps(some))
        files = {test.split("::")[0] for fault in some for test in fault["tests"]}
        files |= {WARM_UP} if not is_kernel and len(some) > FEW else set()
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "in_forks"]
        command += [*WRAP_AROUND, "--faults", str(waiting), "--record", str(record), *sorted(files)]
        environment = _environment() | {"NUMBA_DISABLE_JIT": str(int(is_kernel))}
        subprocess.run(command, cwd=ROOT, env=environment, check=False)


def _try_apart(fault: dict[str, Any], record: Path) -> None:
    """Run the tests of a fault in a separate process, on a copy of the sources.

    For what cannot be put into modules that are there already: objects that are made while a module is loaded. A test
    that fails in a copy without the fault too proves nothing.
    """
    tests = list(fault["tests"])
    while failed := _failed_apart(fault, fault["changed"], tests):
        if not _failed_apart(fault, _source(fault["file"]), [failed]):
            break
        tests.remove(failed)
    trial = {
        **fault["trial"],
        "outcome": "caught" if failed else "survived",
        "n_tests": len(tests),
        "by": failed,
    }
    with record.open("a") as stream:
        stream.write(json.dumps(trial) + "\n")
    print(trial["outcome"], trial["key"][:150], trial["by"])


def _failed_apart(fault: dict[str, Any], source: str, tests: list[str]) -> str:
    """Return the first test that fails where a file of a copy of the sources has this text; "" if none does."""
    if not tests:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        (Path(folder) / "src" / "ppfs" / fault["file"]).write_text(source)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *WRAP_AROUND, *tests]
        environment = _environment() | {
            "PYTHONPATH": str(Path(folder) / "src"),
            "NUMBA_DISABLE_JIT": str(int(fault["is_kernel"])),
        }
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    # A module that cannot be loaded any more fails with the first test.
    told = [
        line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))
    ]
    return max((test for test in tests if told and told[0].startswith(test)), key=len, default=tests[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["draw", "map", "mutants", "by-hand", "render"])
    parser.add_argument("--apart", action="store_true", help="run every fault in a separate process: slow")
    parser.add_argument("--again", action="store_true", help="also what is there: survivors, maps")
    parser.add_argument(
        "--only",
        default="",
        help="beginnings of file names, with commas between: of sources for mutants, of tests for map",
    )
    parser.add_argument("--tests", nargs="*", default=[], help="these, in place of those that the map has")
    parser.add_argument("--limit", type=int, default=10**6)
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tests that a fault may meet")
    wanted = parser.parse_args()
    if wanted.what == "draw":
        write_sample()
    elif wanted.what == "map":
        make_map(wanted.only, wanted.again)
    elif wanted.what == "mutants":
        run_sample(wanted.again, wanted.only, wanted.limit, wanted.tests, wanted.budget, wanted.apart)
    elif wanted.what == "by-hand":
        run_by_hand()
    else:
        from render import write_page

        by_hand = [json.loads(line) for line in BY_HAND.read_text().splitlines()]
        first, last = (list(trials.values()) for trials in (read_first_trials(), read_trials()))
        write_page(SEED, sum(SAMPLE.values()), first, last, by_hand)


if __name__ == "__main__":
    main()
