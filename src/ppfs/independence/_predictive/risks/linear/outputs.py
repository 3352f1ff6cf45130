"""From the linear outputs of a model to its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ppfs._conventions import Floats
from ppfs.independence._predictive.losses import Output


def as_predicted(outputs: Floats, wanted: Output) -> NDArray[Any]:
    """Turn linear outputs into predictions; see `predict`.

    Parameters
    ----------
    outputs : ndarray of shape (..., n_scores)
        One score: a number, or the log-odds of the second class. Several: one per class.

    Returns
    -------
    ndarray of shape (...) or (..., n_classes)
    """
    if outputs.shape[-1] == 1:
        return _of_one_score(outputs[..., 0], wanted)
    if wanted == "labels":
        labels: NDArray[np.intp] = outputs.argmax(axis=-1)
        return labels
    if wanted == "margins":
        return outputs
    shares = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    probabilities: Floats = shares / shares.sum(axis=-1, keepdims=True)
    return probabilities


def _of_one_score(outputs: Floats, wanted: Output) -> NDArray[Any]:
    if wanted == "values":
        return outputs
    if wanted == "labels":
        return (outputs > 0).astype(np.intp)
    if wanted == "margins":
        return np.stack([-outputs / 2.0, outputs / 2.0], axis=-1)
    return np.stack([expit(-outputs), expit(outputs)], axis=-1)
