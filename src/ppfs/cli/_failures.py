"""Exit codes, and messages instead of tracebacks.

0: it ran, also if nothing was selected. 1: a file or its content cannot be used. 2: the command line is invalid. 130:
Ctrl-C; 128 and its number for another signal.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from signal import SIGINT
from typing import Any

import click

from ppfs.cli._signals import received, settle
from ppfs.cli._terminal import CannotWriteError, say


class ExitCode(IntEnum):
    """What the shell gets."""

    done = 0
    input = 1
    usage = 2
    interrupted = 130


class InputFailure(click.ClickException):
    """A file or its content cannot be used; the message says how to fix it."""

    exit_code = ExitCode.input


class UsageFailure(click.ClickException):
    """The flags contradict each other or the data; the message says how to fix it."""

    exit_code = ExitCode.usage


def run(app: click.Command, arguments: Sequence[str]) -> int:
    """Run the command and return its exit code.

    ``--debug``, anywhere on the command line, shows the traceback of an error.
    """
    wanted = [argument for argument in arguments if argument != "--debug"]
    try:
        with _warnings_as_messages():
            result = app.main(args=wanted, prog_name="ppfs", standalone_mode=False)
    except BaseException as error:
        if len(wanted) < len(arguments):
            traceback.print_exc()
        return _ended_by(error)
    settle()
    return result if isinstance(result, int) else ExitCode.done


@contextmanager
def _warnings_as_messages() -> Iterator[None]:
    """Show each warning of this package once, as a message; warnings of other libraries are hidden."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        from ppfs.cli._words import in_flags

        text = in_flags(str(message))
        is_ours = category.__module__ == "ppfs.exceptions" or category.__name__ == "ConvergenceWarning"
        if is_ours and text not in said:
            said.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield


def _ended_by(error: BaseException) -> int:
    """Print what went wrong, and return the exit code."""
    settle()
    signal = received()
    if isinstance(error, click.Abort | KeyboardInterrupt) or signal is not None:
        if not isinstance(error, click.Abort):
            click.echo(err=True)  # Ends the line of the terminal's ^C, as Click does.
        say("Interrupted." if signal in (None, SIGINT) else "Terminated.")
        return ExitCode.interrupted if signal is None else 128 + signal
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return ExitCode.usage
    if isinstance(error, click.UsageError):
        _say_usage(error)
        return ExitCode.usage
    if isinstance(error, click.ClickException):
        say(error.format_message())
        return error.exit_code
    if isinstance(error, CannotWriteError):
        say(f"The result cannot be written to {error.where}: {error}. Write it elsewhere.")
        return ExitCode.input
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else ExitCode.input
    if isinstance(error, MemoryError):
        say(f"There is not enough memory for this: {str(error) or 'use fewer splits, columns or rows.'}")
        return ExitCode.input
    return _ended_by_the_library(error)


def _say_usage(error: click.UsageError) -> None:
    command = error.ctx.command_path if error.ctx is not None else "ppfs"
    message = error.format_message()
    say(message if "--help" in message else f"{message} See: {command} --help")


def _ended_by_the_library(error: BaseException) -> int:
    from ppfs.cli._words import in_flags
    from ppfs.exceptions import CheckpointError, EstimatorFailedError

    expected = (ValueError, TypeError, OSError, ImportError, CheckpointError, EstimatorFailedError)
    text = in_flags(str(error) or type(error).__name__)
    if isinstance(error, expected):
        say(text)
    else:
        say(f"{type(error).__name__}: {text}\nThis should not happen: run again with --debug and report it.")
    # scikit-learn's name for a parameter with an invalid value.
    return ExitCode.usage if type(error).__name__ == "InvalidParameterError" else ExitCode.input
