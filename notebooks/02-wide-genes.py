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
# # Few patients, many genes
#
# 200 patients and 5,000 genes, three of which matter. The table is drawn here, so that we know the truth.

# %%
import numpy as np
import pandas as pd

from ppfs import PPFS

rng = np.random.default_rng(1)
n_patients, n_genes = 200, 5_000
names = [f"gene {number}" for number in range(n_genes)]
X = pd.DataFrame(rng.normal(size=(n_patients, n_genes)), columns=names)
truth = names[:3]
y = (X[truth].sum(axis=1) + 0.5 * rng.normal(size=n_patients) > 0).astype(int)

# %% [markdown]
# ## The paper's test selects noise
#
# Its p-values are too small, and there are 5,000 of them.

# %%
paper = PPFS(n_splits=10, random_state=0).fit(X, y)
chosen = set(paper.get_feature_names_out())
print(len(chosen), "selected,", len(chosen & set(truth)), "of the three")

# %% [markdown]
# ## The calibrated test, corrected for the number of columns
#
# `correction="bh"` is the default of the preset. Small p-values of the growth phase come from permutations: a t-test on
# 200 rows cannot be trusted far out in the tail.

# %%
selector = PPFS.calibrated(random_state=0).fit(X, y)
chosen = set(selector.get_feature_names_out())
print(sorted(chosen))
assert set(truth) <= chosen
assert len(chosen - set(truth)) <= 1

# %% [markdown]
# ## And if nothing matters?

# %%
noise = PPFS.calibrated(random_state=0).fit(X, rng.permutation(y))
print(noise.blanket_.size, "columns selected after the labels were shuffled")
