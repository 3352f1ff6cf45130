"""Find the columns that the survival of patients depends on.

The target is a structured array as in scikit-survival: whether the event was observed, and when. The preset tests
columns by log-rank scores, the scores of Cox's model. Any estimator of scikit-survival can take its place, here a Cox
regression; its predictions are then compared by the partial likelihood. Run with ``python examples/survival.py``; needs
scikit-survival: ``pip install ppfs[survival]``.
"""

from sksurv.datasets import load_gbsg2
from sksurv.linear_model import CoxPHSurvivalAnalysis

from ppfs import PPFS


def main():
    """Select from 686 patients of the German Breast Cancer Study Group 2, with the preset and with one model."""
    X, y = load_gbsg2()
    # A little penalty: the dummies of a category add up to the intercept.
    model = CoxPHSurvivalAnalysis(alpha=1.0)
    for name, selector in {
        "the preset": PPFS.calibrated(random_state=0),
        "Cox regression": PPFS.calibrated(model, random_state=0),
    }.items():
        selector.fit(X, y)
        print(f"{name}:")
        for column in selector.blanket_:
            print(f"  {X.columns[column]:8} p = {selector.pvalues_[column]:.2g}")
    return selector


if __name__ == "__main__":
    main()
