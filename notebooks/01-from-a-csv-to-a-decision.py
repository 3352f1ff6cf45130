# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # From a CSV file to a decision
#
# You have a table and a column to predict. Which columns are needed, why, and what is lost without the others?
#
# The table is the breast cancer data of scikit-learn, written to a CSV file first, so that this notebook runs anywhere.

# %%
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer

from ppfs import PPFS, compare

data = load_breast_cancer(as_frame=True).frame
path = Path(tempfile.mkdtemp()) / "tumors.csv"
data.to_csv(path, index=False)

table = pd.read_csv(path)
X, y = table.drop(columns="target"), table["target"]

# %% [markdown]
# ## Select
#
# `PPFS.calibrated` tests each column with a panel of models, given the other columns that are kept.

# %%
selector = PPFS.calibrated(random_state=0).fit(X, y)
selector.results_.query("selected")[["column", "importance", "pvalue"]]

# %% [markdown]
# ## Why was a column kept or dropped?

# %%
print(selector.trace_.explain("mean radius"))

# %% [markdown]
# ## What does it cost?
#
# The selection is repeated inside each training fold, so that the scores are honest.

# %%
comparison = compare(
    X, y, methods={"ppfs": PPFS.calibrated(random_state=0), "all": "all"}, cv=3, random_state=0
)
print(comparison)

# %% [markdown]
# ## Pass it on
#
# The report is one HTML file; the selection itself a JSON file that `ppfs apply` and `ppfs.export.from_json` read.

# %%
from ppfs.export import from_json, to_json

selector.report().save(path.with_name("report.html"))
keep = from_json(to_json(selector, path.with_name("selection.json")))
assert list(keep.transform(X).columns) == selector.get_feature_names_out().tolist()
