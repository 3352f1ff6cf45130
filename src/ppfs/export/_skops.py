"""Which types a selector consists of, for skops."""

from __future__ import annotations

from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError

#: The types that a file may hold: the selectors and tests of this library, what they learned, and plain types of
#: Python, NumPy and scikit-learn. None of them runs code when it is loaded, beyond setting its attributes.
TRUSTED_TYPES = (
    "builtins.frozenset",
    "numpy.random._generator.Generator",
    "numpy.random._pcg64.PCG64",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.tree._tree.Tree",
    "ppfs._data.column_checks.warning.ColumnWarning",
    "ppfs._data.reading.lags.Lags",
    "ppfs._data.reading.new_rows.NewRows",
    "ppfs._trace.batch.StepBatch",
    "ppfs._trace.data.DataSummary",
    "ppfs._trace.deciding.DecidingSteps",
    "ppfs._trace.detectable.Detectable",
    "ppfs._trace.outcome.Outcome",
    "ppfs._trace.record.Trace",
    "ppfs._trace.steps.Step",
    "ppfs._verdicts.betting.Wagers",
    "ppfs._verdicts.intervals.Estimate",
    "ppfs._verdicts.new_rows.Watched",
    "ppfs._verdicts.sufficiency.Sufficiency",
    "ppfs._verdicts.updating.Update",
    "ppfs._verdicts.updating.Watch",
    "ppfs.blanket._fast_iamb.FastIAMB",
    "ppfs.blanket._fbed.FBED",
    "ppfs.blanket._grow_shrink.GrowShrink",
    "ppfs.blanket._hiton_mb.HITONMB",
    "ppfs.blanket._iamb.IAMB",
    "ppfs.blanket._iamb_fdr.IAMBFDR",
    "ppfs.blanket._iamb_npc.IAMBnPC",
    "ppfs.blanket._inter_iamb.InterIAMB",
    "ppfs.blanket._inter_iamb_npc.InterIAMBnPC",
    "ppfs.blanket._mixed_mb.MixedMB",
    "ppfs.blanket._mmmb.MMMB",
    "ppfs.blanket._ppfs.PPFS",
    "ppfs.blanket._ppfs_cv.PPFSCV",
    "ppfs.blanket._run.confirm.Confirmation",
    "ppfs.blanket._run.folds.Fold",
    "ppfs.blanket._sgai.SGAI",
    "ppfs.blanket._stability.StabilitySelection",
    "ppfs.blanket._tie_star.TIEStar",
    "ppfs.compat.PPIMBC",
    "ppfs.compat.PPIMBR",
    "ppfs.export._columns.SelectedColumns",
    "ppfs.independence._choose.Automatic",
    "ppfs.independence._classical.contingency.ChiSquared",
    "ppfs.independence._classical.contingency.GSquared",
    "ppfs.independence._classical.correlation.FisherZ",
    "ppfs.independence._classical.correlation.PartialCorrelationT",
    "ppfs.independence._classical.likelihood_ratio.LikelihoodRatio",
    "ppfs.independence._predictive.cross_fit.CrossFitPPI",
    "ppfs.independence._predictive.ppi.PPI",
    "ppfs.models._boosted_linear.BoostedLinearClassifier",
    "ppfs.models._boosted_linear.BoostedLinearRegressor",
    "ppfs.wrappers._permutation_importance.PermutationImportance",
    "ppfs.wrappers._stepwise.Move",
    "ppfs.wrappers._stepwise.Stepwise",
    "ppfs.wrappers._subset_search.SubsetSearch",
)


def skops_types(data: bytes) -> list[str]:
    """Return the types in a file of skops that can be trusted: those of ``ppfs.export.TRUSTED_TYPES``.

    skops stores estimators without pickle, and loads only types that are known or trusted by name. A file with types
    that are not in the list, such as those of another library, raises an error that names them; look at those before
    you trust them.

    Parameters
    ----------
    data : bytes
        What ``skops.io.dumps`` returned, or the content of a file of ``skops.io.dump``.

    Returns
    -------
    list of str
        For ``skops.io.loads(data, trusted=...)``.

    Examples
    --------
    >>> import skops.io
    >>> from ppfs.export import SelectedColumns, skops_types
    >>> stored = skops.io.dumps(SelectedColumns(["b"], ["a", "b"]))
    >>> skops_types(stored)
    ['ppfs.export._columns.SelectedColumns']
    >>> skops.io.loads(stored, trusted=skops_types(stored)).selected
    ['b']
    """
    skops_io = imported("skops.io", "Naming types for skops", "skops")
    unknown = skops_io.get_untrusted_types(data=data)
    foreign = [name for name in unknown if name not in TRUSTED_TYPES]
    if foreign:
        raise InvalidInputError(
            f"The file holds types that are not in ppfs.export.TRUSTED_TYPES: {', '.join(foreign)}. If you trust them, "
            "pass them to skops.io.loads together with the others."
        )
    return list(unknown)
