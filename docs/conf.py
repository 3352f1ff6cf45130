"""How the documentation becomes a site: ``make docs`` builds it, runs the examples and fails on any warning."""

import inspect
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent / "src"), str(_HERE)]

import llms

project = "ppfs"
release = version = version_of("ppfs")
author = "the ppfs developers"
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = "ppfs"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
# Those of the theme, and the list of versions below the name.
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
_PROJECT = tomllib.loads((_HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Where the newest release is shown, for links from elsewhere.
html_baseurl = f"{_PROJECT['urls']['Homepage']}/{'.'.join(version.split('.')[:2])}/"
html_context = {"description": _PROJECT["description"], "html_baseurl": html_baseurl}
exclude_patterns = [
    "_templates",
    "generated/**/*.ipynb",
    "generated/**/*.py",
    "generated/**/*.zip",
    "generated/**/*.md5",
]
# Pages link to scripts, tests and the license beside the documentation, which are not part of the site.
suppress_warnings = ["myst.xref_missing", "myst.header", "config.cache"]
myst_heading_anchors = 3

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
# As fields, names of fitted attributes would lose the underscore at their end, which reStructuredText reads as a link.
napoleon_use_ivar = False

# The button copies commands and code: neither prompts nor what they print.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Without the benchmark data next to the project, examples on them are shown without being run.
_DATA = _HERE.parents[1] / "shared" / "data"
_ON_OTHER_DATA = ("credit", "effort", "genes")
if "PPFS_DATA" not in os.environ and _DATA.is_dir():
    os.environ["PPFS_DATA"] = str(_DATA)

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated",
    "filename_pattern": "/plot_" if "PPFS_DATA" in os.environ else rf"/plot_(?!{'|'.join(_ON_OTHER_DATA)})",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
}


@dataclass(frozen=True)
class Method:
    """A method on the page of its class."""

    name: str
    is_own: bool
    signature: str
    summary: str


# An independence test is asked by these; its other methods serve the searches.
METHODS_OF_TESTS = ("evaluate", "bind", "get_params", "set_params")
# Those that only scikit-learn's metadata routing calls.
ROUTING = ("get_metadata_routing",)


def methods_of(fullname):
    """Return the methods to document on the page of a class, its own first.

    Methods that a class has from scikit-learn get their summary only: their docstrings refer to labels of
    scikit-learn's documentation.
    """
    module, _, name = fullname.rpartition(".")
    described = getattr(import_module(module), name)
    is_test = module == "ppfs.independence"
    found = []
    for name, attribute in inspect.getmembers(described, callable):
        if name.startswith("_") or name in ROUTING or (is_test and name not in METHODS_OF_TESTS):
            continue
        owner = next(base for base in described.__mro__ if name in vars(base))
        is_request = type(inspect.getattr_static(described, name)).__name__ == "RequestMethod"
        summary = (inspect.getdoc(attribute) or "").partition("\n\n")[0].replace("\n", " ")
        summary = re.sub(r":\w+:`([^<`]*?)(?: <[^>`]*>)?`", r"\1", summary)
        is_own = owner.__module__.startswith("ppfs") and not is_request
        found.append(Method(name, is_own, _signature(attribute), summary))
    return sorted(found, key=lambda method: (not method.is_own, method.name != "fit", method.name))


def properties_of(fullname):
    """Return the properties of a class that its docstring does not list among the attributes."""
    module, _, name = fullname.rpartition(".")
    described = getattr(import_module(module), name)
    if module == "ppfs.independence":
        return []
    return [
        name
        for name, attribute in inspect.getmembers_static(described)
        if isinstance(attribute, property | cached_property)
        and not name.startswith("_")
        and f"{name} : " not in (described.__doc__ or "")
    ]


def _signature(method):
    signature = inspect.signature(method)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


autosummary_generate = True
autosummary_context = {"methods_of": methods_of, "properties_of": properties_of}


def draw_card(app, error):
    """Draw what is shown where a link to the site is shared: the name and the description."""
    if error is not None or app.builder.name != "html":
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#0b3954")
    figure.text(0.07, 0.66, project, fontsize=96, color="white", weight="bold")
    figure.text(
        0.07,
        0.42,
        _PROJECT["description"].partition(": ")[2],
        fontsize=30,
        color="white",
        wrap=True,
        va="top",
    )
    figure.savefig(Path(app.outdir) / "_static" / "card.png")


def make_accessible(app, pagename, templatename, context, doctree):
    """Give headings of the navigation a level, and let the keyboard reach code and tables that scroll sideways."""
    if "furo_navigation_tree" in context:
        tree = context["furo_navigation_tree"]
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    if "body" in context:
        body = context["body"].replace("<pre>", '<pre tabindex="0">')
        context["body"] = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')


def setup(app):
    # After the theme has made its navigation.
    app.connect("html-page-context", make_accessible, priority=900)
    app.connect("build-finished", llms.write)
    app.connect("build-finished", draw_card)
