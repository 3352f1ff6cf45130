"""The pages list what there is: decisions by theme, and every public name in the reference."""

import importlib
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DECISIONS = DOCS / "decisions"


def text(path):
    return path.read_text(encoding="utf-8")


LISTED = re.findall(r"^ {3}(ppfs\.[\w.]+)$", text(DOCS / "api.md"), flags=re.MULTILINE)


def test_the_index_of_decisions_lists_each_one_by_its_title():
    listed = re.findall(
        r"^- \[(.+?)\]\((\d{4}-[\w-]+\.md)\)", text(DECISIONS / "index.md"), flags=re.MULTILINE
    )
    titles = {path.name: text(path).splitlines()[0].removeprefix("# ") for path in DECISIONS.glob("0*.md")}
    assert {name: title for title, name in listed} == titles
    assert len(listed) == len(titles)


@pytest.mark.parametrize("path", sorted(DECISIONS.glob("0*.md")), ids=lambda path: path.stem)
def test_the_title_of_a_decision_has_its_number(path):
    assert text(path).startswith(f"# {int(path.name[:4])}. ")


def test_what_the_index_calls_superseded_has_a_status():
    marked = re.findall(r"\]\((\d{4}-[\w-]+\.md)\) \(", text(DECISIONS / "index.md"))
    assert len(marked) > 5
    for name in marked:
        assert "\n**Status.** " in text(DECISIONS / name), name


def links():
    """Yield pages, the files that they link to, and the headings there."""
    for page in [*DOCS.glob("*.md"), *DECISIONS.glob("*.md"), DOCS.parent / "README.md"]:
        for target, anchor in re.findall(r"\]\(([^)#:]*?)(?:#([\w-]+))?\)", text(page)):
            yield page, (page.parent / target if target else page), anchor


def anchors(page):
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", text(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_links_between_files_lead_somewhere():
    found = list(links())
    assert len(found) > 100
    assert [(page.name, str(target)) for page, target, _ in found if not target.exists()] == []


def test_links_to_headings_lead_to_one():
    found = [(page.name, target, anchor) for page, target, anchor in links() if anchor]
    assert len(found) > 5
    assert [(name, anchor) for name, target, anchor in found if anchor not in anchors(target)] == []


@pytest.mark.parametrize(
    "module", ["ppfs", "ppfs.blanket", "ppfs.compat", "ppfs.independence", "ppfs.wrappers", "ppfs.export"]
)
def test_the_reference_lists_every_public_class_once(module):
    members = importlib.import_module(module)
    listed = Counter(name.rpartition(".")[2] for name in LISTED)
    classes = {name for name in members.__all__ if isinstance(getattr(members, name), type)}
    assert classes
    assert {name: listed[name] for name in classes} == dict.fromkeys(classes, 1)


# They need a store of MLflow; tests/export has them.
WITHOUT_EXAMPLE = {"ppfs.export.log_to_mlflow", "ppfs.export.mlflow_run"}


@pytest.mark.parametrize("name", LISTED)
def test_what_the_reference_lists_has_an_example(name):
    """`make doctest` runs it."""
    module, _, attribute = name.rpartition(".")
    documented = getattr(importlib.import_module(module), attribute).__doc__
    assert (">>> " in documented) == (name not in WITHOUT_EXAMPLE)


@pytest.fixture(scope="module")
def conf():
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_a_selector_has_its_own_methods_and_those_from_scikit_learn(conf):
    methods = {method.name: method for method in conf.methods_of("ppfs.PPFS")}
    assert {"fit", "transform", "inverse_transform", "report", "calibrated"} <= {
        name for name, method in methods.items() if method.is_own
    }
    assert methods["get_support"].signature == "(indices=False)"
    assert all(method.summary for method in methods.values())
    assert not any(
        "`" in method.summary.replace("``", "") for method in methods.values() if not method.is_own
    )


def test_properties_that_the_docstring_does_not_list_are_on_the_page(conf):
    assert {"nodes", "edges"} <= set(conf.properties_of("ppfs.datasets.BayesianNetwork"))
    # Listed in the docstring, and so not shown twice.
    assert "results_" not in conf.properties_of("ppfs.PPFS")


def test_fitted_attributes_keep_the_underscore_at_their_end(conf):
    assert conf.napoleon_use_ivar is False


def test_the_page_of_a_test_has_what_a_user_calls(conf):
    names = {method.name for method in conf.methods_of("ppfs.independence.CrossFitPPI")}
    assert names == {"evaluate", "bind", "get_params", "set_params"}


def test_the_files_that_contributors_are_sent_to_exist():
    page = text(DOCS / "contributing.md")
    answers = re.findall(r"^\| [^|]+\? \| `(src/[^`]+)` \|$", page, flags=re.MULTILINE)
    assert len(answers) == 10
    named = set(re.findall(r"`((?:src|tests|benchmarks|docs|tools)/[\w/]+(?:\.\w+|/))`", page))
    assert len(named) > 20
    placeholders = {path for path in named if path.endswith("name.py")}
    missing = [path for path in {*answers, *named} - placeholders if not (DOCS.parent / path).exists()]
    assert missing == []


def test_the_classes_and_functions_that_contributors_are_sent_to_exist():
    source = DOCS.parent / "src" / "ppfs"
    for path, name in [
        ("independence/_predictive/risks/source.py", "class RiskSource"),
        ("independence/_predictive/risks/source.py", "def refusal"),
        ("independence/_predictive/risks/registry.py", "SOURCES"),
        ("independence/_test.py", "class IndependenceTest"),
        ("independence/_bound.py", "class BoundTest"),
        ("blanket/_run/independence_search.py", "class IndependenceSearch"),
        ("independence/_choose.py", "TESTS_BY_NAME"),
        ("cli/flags/parameters.py", "METHODS"),
    ]:
        assert name in text(source / path), (path, name)


def test_examples_on_data_that_do_not_come_along_are_known_to_the_site():
    shipped = {"wdbc"}
    gallery = DOCS.parent / "examples" / "gallery"
    needed = [
        path.stem.removeprefix("plot_")
        for path in sorted(gallery.glob("plot_*.py"))
        if set(re.findall(r'load_dataset\("(\w+)"', text(path))) - shipped
    ]
    (known,) = re.findall(r"_ON_OTHER_DATA = \((.+)\)", text(DOCS / "conf.py"))
    assert re.findall(r'"(\w+)"', known) == needed
