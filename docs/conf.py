"""How the documentation becomes a site: ``make docs`` builds it, runs the examples and fails on any warning."""

import os
import sys
from importlib.metadata import version as version_of

sys.path.insert(0, os.path.abspath("../src"))

project = "ppfs"
release = version = version_of("ppfs")
author = "ppfs developers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = "ppfs"
exclude_patterns = ["generated/**/*.ipynb", "generated/**/*.py", "generated/**/*.zip", "generated/**/*.md5"]
# Pages link to scripts, tests and the licence beside the documentation, which are not part of the site.
suppress_warnings = ["myst.xref_missing", "myst.header", "config.cache"]
myst_heading_anchors = 3

autodoc_typehints = "none"
# The request methods are scikit-learn's, and refer to pages of its own.
autodoc_default_options = {
    "members": True,
    "exclude-members": "set_fit_request, set_score_request, set_predict_request, set_transform_request",
}
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
}
