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
# A linear model answers all 10,000 columns at once. Small p-values of so many columns cannot be left to a t-test over
# 100 patients: they are counted, by rearranging the columns and refitting the model.
model = make_pipeline(StandardScaler(), LogisticRegression())
selector = PPFS.calibrated(model, random_state=0).fit(arcene.X, arcene.y)
print(f"{selector.blanket_.size} columns of {arcene.X.shape[1]}, {selector.n_fits_} fits counted")
print(next(note for note in selector.trace_.notes if note.startswith("exact growth")))

# %%
# The histogram shows that there is much to find: without any link it would be level.
from ppfs.plotting import PValueDisplay, TimelineDisplay

_ = PValueDisplay.from_estimator(selector)

# %%
_ = TimelineDisplay.from_estimator(selector)
