"""The oldest versions are read from pyproject.toml, and every requirement says one."""

import pytest

from portable.oldest import PYPROJECT, constraints


def test_the_highest_lower_bound_of_a_package_counts(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[project]\nname = "own"\ndependencies = ["a>=1.9", "b-c[x]>=2"]\n'
        '[project.optional-dependencies]\nmore = ["own[less]", "a>=1.10"]\nless = '
        "[\"d>=0.1.2; os_name != 'nt'\"]\n"
    )
    assert constraints(path) == ["a==1.10", "b-c==2", "d==0.1.2"]


@pytest.mark.parametrize("requirement", ["a", "a<2", "a; python_version < '3.12'"])
def test_a_requirement_without_a_plain_lower_bound_is_refused(tmp_path, requirement):
    path = tmp_path / "pyproject.toml"
    path.write_text(f'[project]\nname = "own"\ndependencies = ["{requirement}"]\n')
    with pytest.raises(ValueError, match=r"lower bound|of the form"):
        constraints(path)


def test_every_requirement_of_this_package_has_a_lower_bound():
    names = {line.partition("==")[0] for line in constraints(PYPROJECT)}
    assert {"numpy", "scikit-learn", "click", "pytest"} <= names
