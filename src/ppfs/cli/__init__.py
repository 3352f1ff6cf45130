"""The ``ppfs`` command: a thin layer over the library."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from ppfs.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit(f"The ppfs command needs {error.name}, which is not installed. Run: pip install 'ppfs[cli]'")
    app()
