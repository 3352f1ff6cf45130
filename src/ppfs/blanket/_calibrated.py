"""The recommended settings of PPFS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from ppfs._fitting import DEFAULT_PANEL
from ppfs._printable import listed
from ppfs.blanket._run.described_test import OF_THE_PAPERS_TEST
from ppfs.blanket._run.grow_and_shrink import Growth
from ppfs.exceptions import InvalidInputError


class CalibratedPreset:
    """A search with the constructor `calibrated` beside its own."""

    @classmethod
    def calibrated(
        cls,
        estimator: Any = DEFAULT_PANEL,
        *,
        correction: str | None = "bh",
        growth: Growth = "auto",
        second_look: bool = True,
        **parameters: Any,
    ) -> Self:
        """Return the recommended settings: valid p-values, and models for every kind of dependence.

        The test is `ppfs.independence.CrossFitPPI` with a panel of four models: a linear model, splines, products of
        two columns, and a linear model followed by boosted trees. Given other columns, it tests products of the
        residuals of the target and of functions of the column, which is right if either of the two regressions is.
        P-values of the growth phase are corrected for the number of columns: if no column depends on the target, about
        one of twenty fits selects a column.

        Parameters
        ----------
        estimator : estimator, list of estimator, "panel" or None, default="panel"
            The models of the test: "panel" is `ppfs.models.default_panel`; one model or a list of them replaces it;
            None is a decision tree, which has little power.

        correction : {"bh", "by", "bonferroni"} or None, default="bh"
            How the p-values of the growth phase are adjusted.

        growth : {"marginal", "joint", "both", "auto"}, default="auto"
            How columns become candidates: "auto" tests columns on their own and, in small tables, also given all
            others; see `PPFS`.

        second_look : bool, default=True
            Test rejected columns again, given the selected ones, and these given each other; in small tables, test
            whether the rejected columns add something together.

        **parameters
            Other parameters of `PPFS`, except those of the paper's test: `n_splits`, `test_size`, `knockoff`,
            `significance` and `independence`.

        Returns
        -------
        PPFS
            ``PPFS(estimator, independence="cross-fit-ppi", correction=correction, growth=growth,
            second_look=second_look, **parameters)``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ppfs import PPFS
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> selector = PPFS.calibrated(random_state=0).fit(X, y)
        >>> "petal width (cm)" in selector.get_feature_names_out()
        True
        """
        wrong = sorted({"independence", *OF_THE_PAPERS_TEST} & set(parameters))
        if wrong:
            raise InvalidInputError(
                f"PPFS.calibrated does not take {listed(wrong)}: the preset decides how the test is made. Use "
                "PPFS(independence=CrossFitPPI(...), correction='bh') to set the test's own parameters."
            )
        make: Callable[..., Self] = cls
        return make(
            estimator,
            independence="cross-fit-ppi",
            correction=correction,
            growth=growth,
            second_look=second_look,
            **parameters,
        )
