"""The report of a command, with the cross-validated scores of the selection and of all columns."""

from __future__ import annotations

from typing import Any

from ppfs.cli._terminal import say
from ppfs.cli.input import Input
from ppfs.exceptions import EstimatorFailedError, InvalidInputError

#: The number of folds of the scores, unless another one is asked for.
N_FOLDS = 5

# Seconds that the scores may take without having been asked for.
_LONGEST = 60.0


def report_of(selector: Any, data: Input, command: str, n_folds: int | None, seconds: float) -> Any:
    """Return the report of a search.

    Parameters
    ----------
    data : Input
        What was searched.

    command : str
        The command line.

    n_folds : int or None
        In how many folds the selection is scored: the search is repeated in each. 0 for no scores. None for
        `N_FOLDS` if that does not take long.

    seconds : float
        How long the search took.

    Returns
    -------
    Report
        Without scores, and a message that says why, where they cannot be computed.
    """
    from ppfs.report import Report, is_searched_in_folds

    why = _why_not(data, n_folds, seconds, has_searched=is_searched_in_folds(selector, N_FOLDS))
    if why is None:
        try:
            return Report.with_scores(
                selector, data.X, data.y, cv=n_folds or N_FOLDS, command=command, **data.fit_arguments()
            )
        except (InvalidInputError, EstimatorFailedError) as error:
            why = str(error)
    if why:
        say(f"The report has no cross-validated scores: {why}")
    return Report(selector, command=command)


def _why_not(data: Input, n_folds: int | None, seconds: float, *, has_searched: bool) -> str | None:
    """Return why no scores are computed: "" if they are not wanted, None if they are computed."""
    if n_folds == 0:
        return ""
    if data.rows is None:
        return "they need the table in memory."
    estimate = N_FOLDS * seconds
    if n_folds is None and not has_searched and estimate > _LONGEST:
        from ppfs._planning import duration

        return (
            f"the search would be repeated {N_FOLDS} times, which takes about {duration(estimate)}. Add --report-cv "
            f"{N_FOLDS} to compute them."
        )
    return None
