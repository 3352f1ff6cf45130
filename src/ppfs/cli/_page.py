"""The help of the command line as a page: ``python -m ppfs.cli._page > docs/cli.md``."""

from __future__ import annotations

import click

from ppfs.cli._app import app

_HEAD = """# The command line

This page is the help of the command, made by `python -m ppfs.cli._page` and checked by a test.
[The quick start](quick-start.md) shows it at work.

- Results go to standard output, messages and progress to standard error: after `ppfs select data.csv -t y > names.txt`
  the file holds names only.
- Exit codes: 0 it ran, even if nothing was selected; 1 a file or its content cannot be used; 2 the command was
  misused; 130 Ctrl-C, 143 SIGTERM.
- `--debug` shows tracebacks. Flags that are not given have the defaults of the library.
- COLUMNS are names separated by commas; a flag may be repeated. A column whose name contains a comma can be named too.
- MODEL is a short name or `module:Class`, followed by parameters as JSON: `'forest{"max_depth": 5}'`. No code is
  evaluated.
"""


def page() -> str:
    """Return the page: the help of every command, 100 characters wide."""
    group = click.Context(app, info_name="ppfs", terminal_width=100, **app.context_settings)
    parts = [_HEAD, _section(app, group)]
    for name, command in sorted(app.commands.items()):
        parts.append(_section(command, click.Context(command, group, info_name=name, terminal_width=100)))
    return "\n".join(parts)


def _section(command: click.Command, context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    print(page(), end="")
