"""
Columns that matter only together: an exclusive-or of three
===========================================================

The sign of a product of three columns has no link to any one of them, nor to any two.
A search that tests one column at a time finds nothing.
"""

# %%
# 600 rows, 20 columns, and a target made of the first three.
import numpy as np

from ppfs import PPFS

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 20))
y = (X[:, 0] * X[:, 1] * X[:, 2] > 0).astype(int)

print(PPFS.calibrated(growth="marginal", second_look=False, random_state=0).fit(X, y).blanket_)

# %%
# In small tables the preset also fits models of all columns and tests each column given all others.
selector = PPFS.calibrated(random_state=0).fit(X, y)
print(selector.blanket_)

# %%
# The explanation names the phase in which the column became a candidate.
print(selector.trace_.explain(0))

# %%
from ppfs.plotting import ImportanceDisplay

_ = ImportanceDisplay.from_estimator(selector)
