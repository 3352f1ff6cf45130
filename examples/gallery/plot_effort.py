"""
Regression with few rows: the effort of software projects
=========================================================

Desharnais contains 81 projects of a Canadian software company.
Which columns does the effort, in person-hours, depend on?
"""

# %%
# The table contains a project number, which has no meaning for new projects, so we drop it.
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS
from ppfs.datasets import load_dataset

effort = load_dataset("desharnais")
frame = effort.to_frame()
X, y = frame.drop(columns=effort.target_name), frame[effort.target_name]
X = X.drop(columns=[name for name in X.columns if name.lower() in ("id", "project")])
print(list(X.columns))

# %%
# Folds show how much the selection depends on the rows.
model = make_pipeline(StandardScaler(), Ridge())
selector = PPFS.calibrated(model, n_folds=5, random_state=0).fit(X, y)
print(selector.get_feature_names_out())

# %%
from ppfs.plotting import ImportanceDisplay, StabilityDisplay

_ = ImportanceDisplay.from_estimator(selector)

# %%
_ = StabilityDisplay.from_estimator(selector)
