"""Models that are the end of their worker, and what tests of schedulers look at."""

import os
import signal

import numpy as np
from sklearn.naive_bayes import GaussianNB


def deadly_model(marker, widest, times=1):
    """Return a model like GaussianNB that kills its worker the first few times it is fitted to so many columns.

    Parameters
    ----------
    marker : Path
        A file whose size counts the deaths, in all processes together.

    widest : {1, 2}
        1 for models of one column, as in growth; 2 for models of more, as in shrink.
    """
    here = os.getpid()

    def is_next():
        """Take one of the deaths, unless all are taken: two workers may ask at the same moment."""
        for number in range(times):
            try:
                marker.with_name(f"{marker.name}-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            with marker.open("ab") as file:
                file.write(b"x")
            return True
        return False

    # Local, so that it is sent with its code: workers do not know this file.
    class Deadly(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            is_meant = (X.shape[1] == 1) == (widest == 1) and os.getpid() != here
            if is_meant and is_next():
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
            return super().fit(X, y, sample_weight)

    return Deadly()


def told(fitted):
    return fitted.blanket_.tolist(), fitted.pvalues_.tolist(), fitted.importances_.tolist()


class Counted:
    """Counts how often it is packed for sending."""

    n_sent = 0

    def __reduce__(self):
        Counted.n_sent += 1
        return int, (5,)


def page_faults(n_values, item):
    """Return how many pages the system handed out for arrays that were made and dropped one after the other."""
    # Windows has no such module.
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(n_values)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
