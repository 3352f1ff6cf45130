"""What will go still works, with a warning at the caller's line that says what to use."""

import warnings

import pytest

from ppfs._conventions import DEPRECATED, value_of_renamed, warn_of_removal


def test_the_new_name_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value_of_renamed("old", DEPRECATED, "new", 3, since="0.2", removed_in="0.4") == 3


def test_the_old_name_still_works_with_a_warning():
    with pytest.warns(FutureWarning, match=r"'old' was renamed to 'new' in version 0\.2.*Pass new=5 instead"):
        assert value_of_renamed("old", 5, "new", 3, since="0.2", removed_in="0.4") == 5


def test_arrays_are_values_too():
    import numpy as np

    with pytest.warns(FutureWarning, match="was renamed"):
        kept = value_of_renamed("old", np.array(["deprecated"]), "new", None, since="0.2", removed_in="0.4")
    assert kept.tolist() == ["deprecated"]


def test_a_removal_names_the_version_and_the_replacement():
    with pytest.warns(
        FutureWarning, match=r"^f\(\) is deprecated since version 0\.2, .* 0\.4\. Use g\(\)\.$"
    ) as seen:
        warn_of_removal("f()", since="0.2", removed_in="0.4", instead="Use g().")
    assert len(seen) == 1
