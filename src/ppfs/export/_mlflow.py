"""A selection as a run of MLflow: parameters, metrics, and the report and the trace as artifacts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError
from ppfs.export._json import to_json

# MLflow cuts or refuses longer values.
_LONGEST = 500


def log_to_mlflow(selector: Any, *, folder: str = "ppfs") -> None:
    """Log a fitted selector to the active run of MLflow; without one, to a new run.

    Parameters
    ----------
    selector : fitted selector

    folder : str, default="ppfs"
        Where in the run's artifacts the files go: "selection.json" (what `from_json` reads, with the trace),
        "report.json", and "report.html" if matplotlib is installed.

    Notes
    -----
    Parameters are those that differ from their defaults. Metrics are the numbers of rows, columns, selected columns and
    fitted models.
    """
    mlflow = imported("mlflow", "Logging a run", "mlflow")
    check_is_fitted(selector)
    report = selector.report()
    summary = report.summary
    mlflow.log_params({f"ppfs.{name}": str(value)[:_LONGEST] for name, value in _parameters(summary).items()})
    mlflow.log_metrics(
        {
            "ppfs.n_rows": summary["data"]["n_rows"],
            "ppfs.n_columns": summary["data"]["n_columns"],
            "ppfs.n_selected": len(summary["selected"]),
            "ppfs.n_fits": summary["n_fits"],
        }
    )
    with tempfile.TemporaryDirectory() as place:
        to_json(selector, Path(place) / "selection.json")
        report.save(Path(place) / "report.json")
        try:
            report.save(Path(place) / "report.html")
        except ImportError as error:
            mlflow.set_tag("ppfs.report", str(error))
        mlflow.log_artifacts(place, folder)


@contextmanager
def mlflow_run(selector: Any, **options: Any) -> Iterator[Any]:
    """Start a run of MLflow, and log a selector to it when the block ends without an error.

    Parameters
    ----------
    selector : selector
        Fitted inside the block.

    options : dict
        Passed to ``mlflow.start_run``, such as ``run_name=``.

    Yields
    ------
    mlflow.ActiveRun

    Examples
    --------
    ::

        selector = PPFS.calibrated(random_state=0)
        with mlflow_run(selector, run_name="columns of the churn table"):
            selector.fit(X, y)
    """
    mlflow = imported("mlflow", "Logging a run", "mlflow")
    with mlflow.start_run(**options) as run:
        yield run
        if not hasattr(selector, "blanket_"):
            raise InvalidInputError(
                f"{type(selector).__name__} was not fitted inside the block, so there is nothing to log. Call its fit "
                "there."
            )
        log_to_mlflow(selector)


def _parameters(summary: dict[str, Any]) -> dict[str, Any]:
    return {"search": summary["search"], "seed": summary["seed"], **summary["parameters"]}
