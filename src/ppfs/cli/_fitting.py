"""Reading and searching, with messages for the user."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ppfs.cli._estimating import refuse_a_class_per_row, warn_of_many_classes
from ppfs.cli._searching import selector_for
from ppfs.cli._signals import received
from ppfs.cli._terminal import say
from ppfs.cli.flags.cluster import on_cluster
from ppfs.cli.flags.data import DataRequest
from ppfs.cli.flags.parameters import SearchRequest
from ppfs.cli.input import Input, read


def read_and_say(request: DataRequest, search: SearchRequest) -> Input:
    """Return the data that the flags name, after printing what was detected while reading."""
    data = read(request, quiet=search.quiet)
    if not search.quiet:
        for note in data.notes:
            say(note)
    return data


def searched(data: Input, search: SearchRequest) -> Any:
    """Return the selector that the flags describe, fitted."""
    with announced_compilation(search.quiet):
        selector = selector_for(search, data)
        refuse_a_class_per_row(data, search.task)
        warn_of_many_classes(selector, data, search.task)
        with on_cluster(search.cluster):
            selector.fit(data.X, data.y, **data.fit_arguments())
    if received() is not None:
        # A library caught the exception that the signal raised.
        raise KeyboardInterrupt
    return selector


def timed_search(data: Input, search: SearchRequest) -> tuple[Any, float]:
    """Return the selector that the flags describe, fitted, and how long that took without compilation."""
    from ppfs import _engine

    start, compiled = time.monotonic(), _engine.compile_seconds()[0]
    selector = searched(data, search)
    return selector, time.monotonic() - start - (_engine.compile_seconds()[0] - compiled)


@contextmanager
def announced_compilation(quiet: bool) -> Iterator[None]:
    """Print a message when the engine is compiled, which happens in the first run."""
    from ppfs import _engine

    def announce() -> None:
        if not quiet:
            say("compiling, which takes up to a minute; later runs on this machine start at once")

    with _engine.before_compiling(announce):
        yield
