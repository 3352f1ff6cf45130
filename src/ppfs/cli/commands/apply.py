"""``ppfs apply``: reduce another table to the selected columns."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from ppfs.cli._failures import InputFailure
from ppfs.cli._terminal import say, writing
from ppfs.cli.flags.data import FILE_FLAGS, FileRequest
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag, gathered
from ppfs.cli.flags.written_files import TABLES, written_file


@dataclass(frozen=True)
class ApplyRequest(FileRequest):
    """What the flags say; see `FileRequest` for those that describe the table.

    Attributes
    ----------
    selection : str
        A file made by ``ppfs select --save``.

    data : str
        The table to reduce; "-" for standard input.

    output : Path or None
        Where to write it; None is standard output, as CSV.

    id : tuple of str
        Further columns to write.

    with_target : bool
        Whether to write the target too.
    """

    selection: str
    data: str
    output: Path | None
    id: tuple[str, ...]
    with_target: bool


_FLAGS = [
    click.argument("selection"),
    click.argument("data"),
    *FILE_FLAGS,
    flag(
        "Output",
        "--output",
        "-o",
        **written_file(TABLES),
        help="Where to write.  [default: CSV to standard output]",
    ),
    flag("Output", "--id", multiple=True, metavar="COLUMNS", help="Further columns to write."),
    flag("Output", "--with-target", is_flag=True, help="Write the target too."),
    debug_flag,
]


@click.command(cls=SectionedCommand)
@gathered("request", ApplyRequest, _FLAGS)
def apply(request: ApplyRequest) -> None:
    """Reduce another table to the selected columns.

    SELECTION is a file made by ppfs select --save, DATA the table; - for standard input. Columns are found by
    name; their order and other columns do not matter.
    """
    from ppfs._printable import listed
    from ppfs.cli.input import read_file
    from ppfs.cli.input.columns import resolve
    from ppfs.cli.output.cells import changed_texts, not_a_formula, spelled_out
    from ppfs.cli.output.selection import load
    from ppfs.cli.output.writing import write_columns

    selection = load(request.selection)
    table = read_file(request.data, request)
    for note in table.notes:
        say(note)
    chosen = set(selection["selected"])
    wanted = [row["column"] for row in selection["columns"] if row["column"] in chosen]
    names = list(table.frame.columns)
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputFailure(
            f"{table.name!r} lacks {len(missing)} of the {len(wanted)} selected columns: {listed(missing)}. Name a "
            f"table with the columns of {selection['data']!r}."
        )
    extra = [*request.id, *([selection["target"]] if request.with_target else [])]
    ids = resolve(extra, names, repr(table.name))
    target = [name for name in ids if name == selection["target"]]
    wanted = [*(name for name in ids if name not in (*target, *wanted)), *wanted, *target]
    if request.output is not None:
        write_columns(table, wanted, request.output)
        say(f"{request.output}: {len(table.frame)} rows, {len(wanted)} of {len(names)} columns")
        return
    shown, _ = changed_texts(
        table.written(wanted, has_types=False), lambda text: spelled_out(not_a_formula(text))
    )
    with writing():
        shown.to_csv(sys.stdout, index=False, lineterminator="\n")
