"""Flags in sections, and commands that receive them as one object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click


class Flag(click.Option):
    """An option with a heading in the help.

    Parameters
    ----------
    section : str
        The heading.

    is_written : bool, default=False
        Whether the value is a file that the command writes.
    """

    def __init__(self, *args: Any, section: str = "Options", is_written: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section
        self.is_written = is_written


class SectionedCommand(click.Command):
    """A command whose help lists the flags under headings, and which keeps its command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the flags, and keep them so that the command can be repeated."""
        ctx.meta["ppfs.arguments"] = list(args)
        self._refuse_repeated(ctx, list(args))
        rest = super().parse_args(ctx, args)
        self._refuse_overwriting(ctx)
        return rest

    def _refuse_overwriting(self, ctx: click.Context) -> None:
        """Raise if a file that is to be written is one that is read, or that another flag writes."""
        files = [
            Path(ctx.params[one.name]) for one in self.params if _is_read(one) and ctx.params.get(one.name)
        ]
        taken = [(file, "is a file that this command reads") for file in files]
        for one in self.params:
            if isinstance(one, Flag) and one.is_written and ctx.params.get(one.name or "") is not None:
                name, path = max(one.opts, key=len), Path(ctx.params[one.name])
                for other, why in taken:
                    if _is_same_file(path, other):
                        raise click.UsageError(f"{name} {path} {why}. Name another file.", ctx)
                taken.append((path, f"is written by {name} too"))

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """Raise if a flag that takes one value is given twice: the first value would be lost."""
        _, _, order = self.make_parser(ctx).parse_args(args)
        for parameter, count in Counter(order).items():
            is_switch = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
            if count > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or is_switch):
                name = max(parameter.opts, key=len)
                raise click.UsageError(
                    f"{name} is given {count} times, and takes one value. Leave all but one out.", ctx
                )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags, section by section, in the order in which sections first appear."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            # Click 8.5 has a line for arguments too; the usage names them already.
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Other"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _is_read(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument) or "--data" in parameter.opts


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # One of them does not exist.
        return one.absolute() == other.absolute()


def flag(section: str, *names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return a decorator for a flag under a heading."""
    return click.option(*names, cls=Flag, section=section, **settings)


# Removed from the command line before it is parsed; here for the help.
debug_flag = click.option(
    "--debug", cls=Flag, section="Output", is_flag=True, expose_value=False, help="Show tracebacks of errors."
)


def gathered(
    keyword: str, kind: type, flags: Sequence[Callable[[Any], Any]]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds flags to a command, and passes their values as one object.

    Parameters
    ----------
    keyword : str
        The argument of the command that receives the object.

    kind : type
        A dataclass; the names of its fields are those of the flags.

    flags : sequence of decorators
        In the order of the help.
    """
    names = [field.name for field in fields(kind)]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathering(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return command(**values, **{keyword: kind(**own)})

        decorated: Callable[..., Any] = gathering
        for add in reversed(flags):
            decorated = add(decorated)
        return decorated

    return decorate
