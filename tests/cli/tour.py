"""The commands of docs/quick-start.md, with what they print; ``python tests/cli/tour.py`` updates the page."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "quick-start.md"

_BLOCK = re.compile(r"```console\n\$ ppfs (.*?)\n(.*?)```", flags=re.DOTALL)


def steps(page):
    """Yield each command's arguments, and the text below it."""
    for command, printed in _BLOCK.findall(page):
        yield shlex.split(command), printed


def without_times(text):
    """Leave out seconds, which no two machines share."""
    return re.sub(r" *\d+\.\d+ │$", "│", text, flags=re.MULTILINE)


def rewritten(page, run):
    """Return the page with what the commands print now."""
    return _BLOCK.sub(
        lambda found: f"```console\n$ ppfs {found[1]}\n{run(quicker(shlex.split(found[1])))}```", page
    )


def quicker(arguments):
    """Leave out the scores of a report, which the command does not print and which take most of its time."""
    return [*arguments, "--report-cv", "0"] if "--report" in arguments else arguments


def write_table(page):
    """Write the table of the tour by the page's own command, without other data and without a network."""
    (code,) = re.findall(r'^python -c "(.*)"$', page, flags=re.MULTILINE)
    nowhere = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    environment = {**os.environ, **nowhere, "PPFS_DATA": "", "SCIKIT_LEARN_DATA": str(Path.cwd())}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def _printed(arguments):
    from ppfs.cli._app import app
    from ppfs.cli._failures import run

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(app, arguments)
    assert code == 0, arguments
    return out.getvalue()


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_table(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), _printed), encoding="utf-8")
