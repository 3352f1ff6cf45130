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
# # A pipeline for production
#
# Mixed columns with missing values, the selection inside the cross-validation, and a file that another runtime can run.

# %%
import numpy as np
import onnxruntime
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ppfs import PPFS
from ppfs.export import to_onnx

rng = np.random.default_rng(4)
n_rows = 400
X = pd.DataFrame(
    {
        "age": rng.normal(50, 12, n_rows).round(),
        "dose": rng.gamma(2, 2, n_rows),
        "ward": rng.choice(["A", "B", "C"], n_rows),
        **{f"noise {number}": rng.normal(size=n_rows) for number in range(10)},
    }
)
X.loc[rng.random(n_rows) < 0.1, "dose"] = np.nan
score = 0.1 * (X["age"] - 50) + 0.5 * X["dose"].fillna(4) + 2.0 * (X["ward"] == "B") - 2.5
y = (score + rng.logistic(size=n_rows) > 0).astype(int)

# %% [markdown]
# ## Select inside the pipeline
#
# The selector reads the frame as it is; encoding and scaling come after it, so unused columns are never encoded.

# %%
encode = ColumnTransformer(
    [
        (
            "numbers",
            make_pipeline(SimpleImputer(), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        ("texts", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    ]
)
selector = PPFS.calibrated(impute="median", random_state=0).set_output(transform="pandas")
pipeline = make_pipeline(selector, encode, LogisticRegression())
print("cross-validated accuracy:", cross_val_score(pipeline, X, y, cv=3).mean().round(3))

# %%
pipeline.fit(X, y)
print(pipeline[0].get_feature_names_out())

# %% [markdown]
# ## One file for another runtime

# %%
onnx = to_onnx(pipeline, X, options={"zipmap": False})
session = onnxruntime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
texts = {"ward"}
feed = {
    each.name: X[[each.name.replace("_", " ")]].to_numpy(dtype=object if each.name in texts else np.float32)
    for each in session.get_inputs()
}
labels, _ = session.run(None, feed)
assert (labels == pipeline.predict(X)).mean() == 1.0
print(len(onnx.SerializeToString()), "bytes")
