"""
Far more columns than rows: cancer from mass spectra
====================================================

Arcene has 10,000 columns and 100 patients. With a level of 5 % and no correction, 500 columns would pass by
chance alone, so the p-values are corrected for the number of columns.
"""

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ppfs import PPFS
from ppfs.datasets import load_dataset

arcene = load_dataset("arcene")
print(arcene.X.shape)

# %%
# A linear model answers all 10,000 columns at once. Small p-values of so many columns should be counted by refits
# (``exact_tail``), but with some 750 candidates the counts do not come to an end within their budget, and columns that
# are not resolved are not selected. So the approximate p-values are used here; take them with care in so short a table.
from ppfs.independence import CrossFitPPI

model = make_pipeline(StandardScaler(), LogisticRegression())
test = CrossFitPPI(model, exact_tail=False)
selector = PPFS(independence=test, correction="bh", random_state=0).fit(arcene.X, arcene.y)
print(f"{selector.blanket_.size} columns of {arcene.X.shape[1]}, {selector.n_fits_} fits counted")

# %%
# The histogram shows that there is much to find: without any link it would be level.
from ppfs.plotting import PValueDisplay, TimelineDisplay

_ = PValueDisplay.from_estimator(selector)

# %%
_ = TimelineDisplay.from_estimator(selector)
