"""What every selector tells scikit-learn of its input, with models that take missing values or sparse columns."""

from dataclasses import asdict

import pytest
from checks.recorded import Record
from checks.searches import CLASSICAL
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags

from ppfs import PPFS, PPFSCV, wrappers
from ppfs.blanket import StabilitySelection
from ppfs.export import SelectedColumns

RECORD = Record(__file__)

MODELS = {
    "none": None,
    "panel": "panel",
    "lines": LinearRegression(),
    "neighbors": KNeighborsClassifier(),
    "boosting": HistGradientBoostingClassifier(),
    "dense": GaussianProcessRegressor(),
    "several": [LinearRegression(), HistGradientBoostingClassifier()],
}
OF_MODELS = [PPFS, PPFS.calibrated, PPFSCV, *(getattr(wrappers, name) for name in wrappers.__all__)]


def what_it_says(selector):
    tags = get_tags(selector)
    said = {part: asdict(getattr(tags, part)) for part in ("input_tags", "target_tags")}
    said |= {
        "requires_fit": tags.requires_fit,
        "no_validation": tags.no_validation,
        "type": tags.estimator_type,
    }
    # Those that are not as usual; scikit-learn adds others.
    return {
        name: {key: value for key, value in one.items() if value not in (False, None)}
        if isinstance(one, dict)
        else one
        for name, one in said.items()
    }


def test_selectors_of_models_say_what_they_take():
    for make in OF_MODELS:
        for name, model in MODELS.items():
            if make is PPFSCV and not (model is None or hasattr(model, "fit")):
                continue  # It needs a model that predicts.
            RECORD.check(f"{make.__qualname__} of {name}", what_it_says(make(model)))


def test_selected_columns_say_what_they_take():
    RECORD.check("SelectedColumns", what_it_says(SelectedColumns(["a"], ["a", "b"])))


@pytest.mark.parametrize("search", [*CLASSICAL, StabilitySelection], ids=lambda one: one.__name__)
def test_searches_say_what_they_take(search):
    RECORD.check(search.__name__, what_it_says(search()))
