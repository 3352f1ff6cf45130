"""From the scores of candidates on held-out rows to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from ppfs._conventions import Floats
from ppfs._trace import Trace
from ppfs.blanket._cv.candidates import Candidate

Rule = Literal["best", "one-se"]


@dataclass(frozen=True)
class Scored:
    """Candidates and what became of them.

    Attributes
    ----------
    scores, sizes : ndarray of shape (n_candidates, n_parts)
        The model's score on held-out rows, and how many columns it had.
    """

    scores: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """The mean score of each candidate; sums of the same scores in another order are equal."""
        return np.asarray(np.round(self.scores.mean(axis=1), 12))

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each mean over the parts."""
        n_parts = self.scores.shape[1]
        if n_parts < 2:
            return np.zeros(len(self.scores))
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(n_parts))

    def best(self, rule: Rule) -> int:
        """Return the number of the candidate that a rule chooses.

        "best" is the highest mean score; of equal ones the fewest columns, then the earliest. "one-se" is the fewest
        columns among those whose mean is within one standard error of the best; of equal ones the highest score.
        """
        means, sizes = self.means, self.sizes.mean(axis=1)
        numbers = range(len(means))
        top = min(numbers, key=lambda i: (-means[i], sizes[i], i))
        if rule == "best":
            return top
        enough = means[top] - self.standard_errors[top]
        return min((i for i in numbers if means[i] >= enough), key=lambda i: (sizes[i], -means[i], i))

    def described(self, best: int, n_columns: int, model: type) -> str:
        """Return in words how the best candidate scored, and which other numbers of columns scored about as well."""
        means, sizes = self.means, self.sizes.mean(axis=1)
        error = self.standard_errors[best]
        close = sizes[means >= means[best] - error]
        alike = (
            f" Candidates with {close.min():.0f} to {close.max():.0f} columns are within one standard error: other "
            "folds may choose another number."
            if close.max() - close.min() >= 1
            else ""
        )
        return (
            f"Of {len(means)} candidates, {model.__name__} scored best with these {_columns(n_columns)} in "
            f"cross-validation: {means[best]:.3f} ± {error:.3f}.{alike}"
        )

    def as_results(self, candidates: list[Candidate]) -> dict[str, Any]:
        """Return a dict of columns like that of scikit-learn's searches, which makes a data frame."""
        results: dict[str, Any] = {"params": [candidate.params for candidate in candidates]}
        for name in sorted({name for candidate in candidates for name in candidate.params}):
            results[f"param_{name}"] = _masked([candidate.params for candidate in candidates], name)
        for kind, values in (("test_score", self.scores), ("n_features", self.sizes)):
            results |= {f"split{part}_{kind}": values[:, part] for part in range(values.shape[1])}
            results[f"mean_{kind}"] = values.mean(axis=1)
            results[f"std_{kind}"] = values.std(axis=1)
        results["se_test_score"] = self.standard_errors
        results["rank_test_score"] = rankdata(-self.means, method="min").astype(np.int32)
        return results


def _masked(params: list[dict[str, Any]], name: str) -> np.ma.MaskedArray[Any, Any]:
    """Return one parameter of all candidates; masked for those whose grid does not have it."""
    values = np.empty(len(params), dtype=object)
    for place, one in enumerate(params):
        values[place] = one.get(name)
    return np.ma.MaskedArray(values, mask=[name not in one for one in params])


def _columns(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"


def chosen_by_score(trace: Trace, features: Sequence[int], n_columns: int, method: str) -> Trace:
    """Return the trace of a search with the features that a model does best with as its outcome."""
    outcome = trace.outcome
    if outcome is None:
        raise ValueError("The search has not ended.")
    found = outcome.selected
    added = f"among the {_columns(n_columns)} that the model does best with"
    cut = f"the model does best with {_columns(n_columns)}, without this one"
    reasons = {
        **dict.fromkeys(set(features).difference(found), added),
        **dict.fromkeys(set(found).difference(features), cut),
    }
    return trace.concluded_by(method, replace(outcome, chosen=tuple(features), reasons=reasons))
