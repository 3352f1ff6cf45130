"""A release is refused as long as its parts disagree, and the metadata are complete."""

import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path):
    for name, text in {
        "pyproject.toml": '[project]\nversion = "1.2.3"\n',
        "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
        "docs/changelog.md": "# Changelog\n\n## 1.2.3 (2027-01-31)\n\n## 1.2.2 (2026-12-01)\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_consistent_project_is_ready(release, project):
    assert release.check(project, "v1.2.3") == "1.2.3"


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has the version 1.2.2"),
        ("docs/changelog.md", "1.2.3", "1.3.0", "first entry .* is 1.3.0"),
        ("docs/changelog.md", "2027-01-31", "not released yet", "'not released yet'"),
    ],
)
def test_what_disagrees_is_named(release, project, name, old, new, message):
    path = project / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(release.NotReady, match=message):
        release.check(project)


def test_another_tag_is_refused(release, project):
    with pytest.raises(release.NotReady, match=r"tag it v1\.2\.3"):
        release.check(project, "v1.2.4")


def test_the_version_stands_everywhere(release):
    assert release.check(ROOT, is_final=False) == PYPROJECT["project"]["version"]


def test_the_recipe_has_the_checksum_of_the_archive(release, tmp_path):
    (tmp_path / "ppfs-0.9.tar.gz").write_bytes(b"abc")
    # The checksum of "abc" stands in FIPS 180-2, appendix B.1.
    assert release.recipe(tmp_path) == (
        "version: 0.9\nsha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_the_links_of_the_readme_lead_to_the_address_of_the_project():
    home = PYPROJECT["project"]["urls"]["Homepage"]
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    (rule,) = hook["substitutions"]
    assert rule["replacement"] == f"]({home}/\\1)"
    shown = re.sub(rule["pattern"], rule["replacement"], (ROOT / "README.md").read_text(encoding="utf-8"))
    assert re.findall(r"\]\((?!https://)", shown) == []
    assert f"]({home}/docs/quick-start.md)" in shown


def test_the_archive_holds_every_folder_that_git_tracks():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout of the repository")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tops = {line.partition("/")[0] for line in tracked.splitlines()} - {".gitignore", "pyproject.toml"}
    included = {
        entry.strip("/") for entry in PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    }
    assert {top for top in tops if top not in included and not top.endswith(".md")} == set()


def test_the_conda_recipe_asks_for_the_same_versions():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    asked = set(re.findall(r"^    - ([\w-]+ >=[\w.]+)$", recipe, re.MULTILINE))
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["cli"], *PYPROJECT["build-system"]["requires"]]
    assert {one.replace(">=", " >=") for one in needed} <= asked
    assert f'version: "{project["version"]}"' in recipe
    assert f"homepage: {project['urls']['Homepage']}" in recipe
