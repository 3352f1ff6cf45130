"""Where the benchmarks find their data, what they note about the machine, and how results are kept and shown."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

#: The libraries whose versions decide the timings of ppfs.
LIBRARIES = ("ppfs", "numpy", "scipy", "scikit-learn", "joblib", "numba", "llvmlite")

# Above this share of busy cores before a benchmark starts, its timings say little.
_BUSY = 0.25


def data_folder() -> Path:
    """Return the folder with the paper's data sets, or end with a message that says where to put them."""
    named = os.environ.get("PPFS_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        sys.exit(
            f"The benchmark data are not in {folder}.\n"
            "Set PPFS_DATA to the folder that holds wdbc.csv, madelon.npz and the others; "
            "docs/datasets.md names their sources."
        )
    return folder


def say(message: str) -> None:
    """Report progress on stderr; results alone go to stdout."""
    print(message, file=sys.stderr, flush=True)


def describe_machine() -> dict[str, Any]:
    """Note what timings depend on: cores, processor, versions, and how busy the machine was before."""
    load = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    if _is_busy(load, cores):
        say(f"The machine is busy (load {load:.1f} on {cores} cores): timings will be too long.")
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": cores,
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "load before": round(load, 2),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in LIBRARIES},
    }


def _version(name: str) -> str:
    """Return the version of a library; ppfs may be run from its sources."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "from source"


def machine_lines(machine: Mapping[str, Any]) -> list[str]:
    """Say in two lines where results come from."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    load = machine["load before"]
    busy = (
        " (other work was running: wall-clock times are too long)" if _is_busy(load, machine["cores"]) else ""
    )
    return [
        f"{machine['cores']} cores ({machine['processor']}, {machine['system']}), {machine['date']}, "
        f"load before the run {load}{busy}.",
        f"Python {machine['python']}, {versions}.",
    ]


def run_child(command: Sequence[str | Path], **environment: str | Path) -> dict[str, Any]:
    """Run a command in a separate process and return the JSON object on the last line of its output."""
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    done = subprocess.run(
        [str(part) for part in command], env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def save(results: Mapping[str, Any], path: Path) -> None:
    """Keep results as JSON, for docs/speed.md to cite."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    say(f"Written to {path.relative_to(REPOSITORY)}.")


def load(path: Path) -> dict[str, Any]:
    """Read what `save` kept."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out a table that is readable as text and valid as Markdown.

    Examples
    --------
    >>> print(markdown_table(["set", "s"], [["wdbc", 1]]))
    | set  | s |
    | ---- | - |
    | wdbc | 1 |
    """
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    ruled = [cells[0], ["-" * width for width in widths], *cells[1:]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in ruled
    )


def verdict(is_met: bool) -> str:
    """Say whether a requirement is met."""
    return "yes" if is_met else "NO"


def _is_busy(load: float, cores: int) -> bool:
    return load > _BUSY * cores


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"
