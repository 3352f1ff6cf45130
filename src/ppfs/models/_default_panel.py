"""The models that are used together if the caller does not choose a model."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from ppfs.models._boosted_linear import BoostedLinearClassifier, BoostedLinearRegressor


def default_panel(task: Literal["classification", "regression"], *, sparse: bool = False) -> list[Any]:
    """Return the models of ``estimator="panel"``: for linear effects, curves, products, and anything else.

    No single model finds every kind of dependence: a linear model is best for linear effects, splines for curves,
    products for interactions of two columns, trees for steps. Together they are close to the best of them everywhere
    (docs/p-values.md). As the panel that a test asks, the line counts twice, and products are asked about
    columns given 1 to 20 others.

    Parameters
    ----------
    task : {"classification", "regression"}

    sparse : bool, default=False
        Whether columns are stored sparsely. Splines and boosted trees would fill them up, so that the linear model is
        left alone.

    Returns
    -------
    list of estimator
        Unfitted, all of them known to the engine.

    Examples
    --------
    >>> from ppfs.models import default_panel
    >>> [type(model).__name__ for model in default_panel("regression")]
    ['Pipeline', 'Pipeline', 'Pipeline', 'BoostedLinearRegressor']
    """
    if sparse:
        line = LogisticRegression() if task == "classification" else Ridge()
        return [make_pipeline(StandardScaler(with_mean=False), line)]
    if task == "classification":
        return [
            make_pipeline(StandardScaler(), LogisticRegression()),
            make_pipeline(StandardScaler(), SplineTransformer(), LogisticRegression()),
            make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False), LogisticRegression()),
            BoostedLinearClassifier(),
        ]
    return [
        make_pipeline(StandardScaler(), Ridge()),
        make_pipeline(StandardScaler(), SplineTransformer(), Ridge()),
        make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False), Ridge()),
        BoostedLinearRegressor(),
    ]
