"""Put a built documentation beside those of other versions, and write what the switcher and visitors need.

    python tools/site.py site pages dev       # site/ becomes pages/dev
    python tools/site.py site pages 0.1       # a release; the newest one is what visitors get first

`pages/versions.json` lists the versions, `pages/index.html` leads to the newest release, and `pages/llms.txt` is its
own. A folder of that name is replaced; others are left alone.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

_DEV = "dev"
_NAME = re.compile(r"\d+\.\d+")


def versions_in(pages: Path) -> list[str]:
    """Return the names of the versions in a folder: the development version, then releases, newest first."""
    names = [path.name for path in pages.iterdir() if path.is_dir()]
    releases = sorted(filter(_NAME.fullmatch, names), key=_numbers, reverse=True)
    return [_DEV] * (_DEV in names) + releases


def add(built: Path, pages: Path, name: str) -> list[str]:
    """Copy a built site into a folder of versions, and return the names of all versions."""
    if name != _DEV and not _NAME.fullmatch(name):
        raise SystemExit(f"A version is called 'dev' or by two numbers, as 0.1, not {name!r}.")
    if not (built / "index.html").is_file():
        raise SystemExit(f"{built} has no index.html: run `make docs`.")
    pages.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(pages / name, ignore_errors=True)
    shutil.copytree(built, pages / name, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))
    names = versions_in(pages)
    first = next((one for one in names if one != _DEV), _DEV)
    titles = {_DEV: "development", first: f"{first} (newest)"} if first != _DEV else {_DEV: "development"}
    listed = [{"name": one, "title": titles.get(one, one)} for one in names]
    (pages / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(
        f'<!doctype html>\n<html lang="en">\n<title>ppfs</title>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="refresh" content="0; url={first}/">\n<a href="{first}/">The documentation of ppfs</a>\n',
        encoding="utf-8",
    )
    shutil.copy(pages / first / "llms.txt", pages / "llms.txt")
    # GitHub's pages leave out folders that begin with an underscore, unless this file is there.
    (pages / ".nojekyll").touch()
    return names


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split("."))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("built", type=Path, help="the folder that `make docs` wrote")
    parser.add_argument("pages", type=Path, help="the folder of all versions")
    parser.add_argument("name", help="'dev', or a version as 0.1")
    asked = parser.parse_args(arguments)
    print("\n".join(add(asked.built, asked.pages, asked.name)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
