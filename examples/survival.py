"""Find the columns that the survival of patients depends on.

The target is a structured array as in scikit-survival: whether the event was observed, and when. All estimators of
scikit-survival work, with a loss function for their predictions: here Cox regression with the negative logarithm of its
partial likelihood. Run with ``python examples/survival.py``; needs scikit-survival.
"""

import numpy as np
from sksurv.datasets import load_gbsg2
from sksurv.linear_model import CoxPHSurvivalAnalysis

from ppfs import PPFS


def partial_likelihood_loss(y, risk):
    """Return minus the logarithm of the probability that each event hits its patient and no one else at risk.

    Parameters
    ----------
    y : structured array of shape (n_rows,)
        Its first field tells whether the event was seen, its second one when.

    risk : ndarray of shape (n_rows,)
        The logarithm of the predicted hazard, up to a constant.

    Returns
    -------
    ndarray of shape (n_rows,)
        0 for rows whose event was not seen.
    """
    was_seen, when = (y[name] for name in y.dtype.names)
    still_at_risk = when[np.newaxis, :] >= when[:, np.newaxis]
    hazard_at_risk = np.where(still_at_risk, np.exp(risk), 0.0).sum(axis=1)
    return np.where(was_seen, np.log(hazard_at_risk) - risk, 0.0)


def main():
    """Select from 686 patients of the German Breast Cancer Study Group 2."""
    X, y = load_gbsg2()
    # A little penalty: the dummies of a category add up to the intercept.
    model = CoxPHSurvivalAnalysis(alpha=1.0)
    selector = PPFS.calibrated(model, loss=partial_likelihood_loss, random_state=0).fit(X, y)
    for column in selector.blanket_:
        print(f"{X.columns[column]:8} p = {selector.pvalues_[column]:.2g}")
    return selector


if __name__ == "__main__":
    main()
