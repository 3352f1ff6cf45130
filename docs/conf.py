"""How the documentation becomes a site: ``make docs`` builds it, runs the examples and fails on any warning."""

import inspect
import os
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, os.path.abspath("../src"))

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
html_css_files = ["tables.css"]
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

# The benchmark data are next to the project, or not there: examples on them are then shown without being run.
_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
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
