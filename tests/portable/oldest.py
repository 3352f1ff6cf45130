"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python tests/portable/oldest.py > constraints.txt
    python -m pip install --constraint constraints.txt --editable '.[dev]'

installs exactly the lower bounds of the dependencies and of the extras that `dev` asks for; ``make test-oldest`` does.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def constraints(pyproject):
    """Return one line per package of the dependencies and of all extras: its highest lower bound, exactly."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    oldest = {}
    for requirement in [*project["dependencies"], *(one for extra in extras.values() for one in extra)]:
        # What is for some systems only has the same bound there.
        found = re.fullmatch(r"([\w.-]+)(\[.*\])?(>=([\w.]+))?(; .*)?", requirement)
        if found is None:
            raise ValueError(f"{requirement!r} is not of the form name[extras]>=version.")
        name, version = found[1], found[4]
        if name != project["name"]:
            if version is None:
                raise ValueError(f"{requirement!r} has no lower bound.")
            oldest[name] = max(oldest.get(name, version), version, key=_numbers)
    return [f"{name}=={version}" for name, version in sorted(oldest.items())]


def _numbers(version):
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    print("\n".join(constraints(PYPROJECT)))
