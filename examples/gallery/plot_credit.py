"""
A table with categories: who gets credit
========================================

653 credit applications with nine categorical and six numeric columns, anonymized.
Which columns does the decision depend on?
"""

# %%
# Pass the table as it is: text columns are categorical, and nothing needs to be encoded first.
import pandas as pd

from ppfs import PPFS
from ppfs.datasets import load_dataset

credit = load_dataset("credit")
frame = credit.to_frame()
X, y = frame.drop(columns=credit.target_name), pd.Series(credit.y, name="approved")
print(X.dtypes.astype(str).value_counts().to_string())

# %%
# The calibrated preset has p-values that hold their level.
selector = PPFS.calibrated(random_state=0).fit(X, y)
print(selector.get_feature_names_out())

# %%
# Why was a column dropped? The explanation starts with the decision and lists all questions about the column.
print(selector.trace_.explain("A10"))

# %%
from ppfs.plotting import BlanketDisplay, ImportanceDisplay

_ = ImportanceDisplay.from_estimator(selector)

# %%
_ = BlanketDisplay.from_estimator(selector, target="approved")
