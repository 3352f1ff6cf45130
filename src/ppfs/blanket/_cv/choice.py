"""From the scores of candidates on held-out rows to one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from ppfs._conventions import Floats
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
