"""From a fitted selector to every place where the result is wanted; a place that fails does not lose the result."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ppfs.cli._failures import InputFailure
from ppfs.cli._terminal import say, writing
from ppfs.cli.flags.output import OutputRequest
from ppfs.cli.flags.parameters import SearchRequest
from ppfs.cli.input import Input
from ppfs.cli.output.column_warnings import warning_lines
from ppfs.cli.output.formats import write
from ppfs.cli.output.result import result_document
from ppfs.cli.output.scored_report import report_of
from ppfs.cli.output.selection import save
from ppfs.cli.output.writing import replaced, write_columns


@dataclass
class Delivery:
    """What a search found, and where it is wanted.

    Attributes
    ----------
    data : Input
        What was searched.

    search : SearchRequest
        How.

    output : OutputRequest
        Where the result goes.

    command : str
        The command line, for the report.

    seconds : float
        How long the search took.
    """

    selector: Any
    data: Input
    search: SearchRequest
    output: OutputRequest
    command: str
    seconds: float

    def run(self) -> None:
        """Write the result everywhere; what fails is reported at the end, and the result is kept all the same."""
        for line in warning_lines(self._result["warnings"]):
            say(f"warning: {line}")
        steps: list[tuple[Any, Callable[[], None]]] = [
            (True, self._print),
            (self.output.save, self._save),
            (self.output.output, self._write_columns),
            (self.output.report, self._write_report),
            (self.output.mlflow, self._log),
        ]
        failures = [failure for is_wanted, step in steps if is_wanted and (failure := _failure_of(step))]
        if not failures:
            return
        if self.output.save is None or not self.output.save.is_file():
            self._rescue()
        raise failures[0]

    @cached_property
    def _format(self) -> str:
        if self.output.format != "auto":
            return self.output.format
        return "table" if sys.stdout is not None and sys.stdout.isatty() else "names"

    @cached_property
    def _result(self) -> dict[str, Any]:
        from ppfs.report import measure

        if self.output.report is not None or self.output.sufficiency:
            # The result and the report say the same.
            failure = measure(self.selector)
            if failure and self.output.sufficiency:
                say(f"warning: {failure}")
        needs_columns = self._format != "names" or self.output.save is not None
        return result_document(self.selector, self.data, self.search, with_columns=needs_columns)

    def _print(self) -> None:
        with writing():
            write(self._result, self._format)
        if not self._result["selected"]:
            say(
                "No column was selected: there is no evidence at this alpha that one helps to predict the target."
            )
            for note in self._result["notes"]:
                if note.startswith("no column was selected: "):
                    say(f"note: {note.removeprefix('no column was selected: ')}")
        if self.output.sufficiency and self._result["sufficiency"]:
            say(self._result["sufficiency"]["summary"])

    def _save(self) -> None:
        if self.output.save is not None:
            save(self._result, self.selector.trace_, self.output.save)

    def _write_columns(self) -> None:
        rows, path = self.data.rows, self.output.output
        if rows is not None and path is not None:
            chosen = {*self.data.ids, *self._result["selected"], *self.data.target_columns}
            write_columns(rows, [name for name in rows.frame.columns if name in chosen], path)

    def _write_report(self) -> None:
        if self.output.report is not None:
            n_folds = self.output.report_cv
            report = report_of(self.selector, self.data, self.command, n_folds, self.seconds)
            with replaced(self.output.report) as place:
                report.save(place)
            say(f"Report: {self.output.report}")

    def _log(self) -> None:
        import mlflow

        from ppfs.export import log_to_mlflow

        try:
            run = mlflow.start_run(experiment_id=mlflow.set_experiment(self.output.mlflow).experiment_id)
            with run:
                log_to_mlflow(self.selector)
        except mlflow.exceptions.MlflowException as error:
            raise InputFailure(f"MLflow did not log the run: {error}") from error
        say(f"MLflow: run {run.info.run_id} of experiment {self.output.mlflow!r}")

    def _rescue(self) -> None:
        """Save the selection where there is room, so that the search need not run again."""
        result = result_document(self.selector, self.data, self.search)
        path = None
        try:
            descriptor, name = tempfile.mkstemp(prefix="ppfs-selection-", suffix=".json")
            os.close(descriptor)
            path = Path(name)
            save(result, self.selector.trace_, path)
        except Exception:
            if path is not None:
                path.unlink(missing_ok=True)
            say("The selection could not be saved elsewhere either.")
            return
        say(
            f"The selection is saved as {str(path)!r}: ppfs apply writes its columns, ppfs explain its reasons."
        )


def _failure_of(step: Callable[[], None]) -> Exception | None:
    try:
        step()
    except Exception as error:
        return error
    return None
