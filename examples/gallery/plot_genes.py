"""
Far more columns than rows: cancer from mass spectra
====================================================

Arcene has 10,000 columns and 100 patients. With a level of 5 % and no correction, about 500 irrelevant columns would be
selected by chance, so the p-values are corrected for the number of columns.
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
# A linear model tests all 10,000 columns at once. A t-test over 100 patients is not accurate enough for the small
# p-values that so many columns need, so they are computed by permuting the columns and refitting the model.
model = make_pipeline(StandardScaler(), LogisticRegression())
selector = PPFS.calibrated(model, random_state=0).fit(arcene.X, arcene.y)
print(f"{selector.blanket_.size} columns of {arcene.X.shape[1]}, {selector.n_fits_} fits counted")
print(next(note for note in selector.trace_.notes if note.startswith("exact growth")))

# %%
# The histogram shows that many columns are relevant: otherwise it would be flat.
from ppfs.plotting import PValueDisplay, TimelineDisplay

_ = PValueDisplay.from_estimator(selector)

# %%
_ = TimelineDisplay.from_estimator(selector)
