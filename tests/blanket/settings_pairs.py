"""Pairs of settings that differ in one place: a fit with one must not use the answers of a fit with the other.

Each is a function of whether the place is changed. Called twice with the same argument, it makes settings of the same
content.
"""

import functools
import re
import sys
import types
from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numba import njit
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs.independence import PPI, CrossFitPPI

N = 1500
PAIRS = {}


def pair(make):
    PAIRS[make.__name__] = make
    return make


def _changed(array, is_changed, place, by=1):
    array = array.copy()
    if is_changed:
        array.flat[place] += by
    return array


def _fold_numbers(is_changed):
    return _changed(np.arange(N) % 5, is_changed, N // 2, by=-1)


@pair
def a_number(is_changed):
    return PPI(n_splits=6 + is_changed)


@pair
def an_integer_and_a_float(is_changed):
    return PPI(LogisticRegression(C=1.0 if is_changed else 1))


@pair
def the_sign_of_zero(is_changed):
    return PPI(LogisticRegression(tol=-0.0 if is_changed else 0.0))


@pair
def the_last_bit(is_changed):
    return PPI(LogisticRegression(C=np.nextafter(0.1, 1) if is_changed else np.float64(0.1)))


@pair
def a_numpy_scalar_of_another_type(is_changed):
    return PPI(LogisticRegression(C=np.float32(0.5) if is_changed else np.float64(0.5)))


@pair
def the_class_of_the_test(is_changed):
    return (CrossFitPPI if is_changed else PPI)(LogisticRegression())


@pair
def the_class_of_the_estimator(is_changed):
    return PPI(DecisionTreeClassifier() if is_changed else LogisticRegression())


@pair
def the_middle_of_predefined_folds(is_changed):
    return PPI(splitter=PredefinedSplit(_fold_numbers(is_changed)))


@pair
def the_middle_of_listed_rows(is_changed):
    rows = _changed(np.arange(N), is_changed, N // 2)
    return PPI(splitter=[(rows, np.arange(3)), (np.arange(9), rows)])


@pair
def the_order_of_listed_rows(is_changed):
    rows = np.arange(N)
    return PPI(splitter=[(rows[:9][::-1] if is_changed else rows[:9], rows[9:])] * 6)


@pair
def the_type_of_an_array(is_changed):
    rows = np.arange(N).astype(np.int32 if is_changed else np.int64)
    return PPI(splitter=[(rows[:9], rows[9:])] * 6)


@pair
def the_shape_of_an_array(is_changed):
    knots = np.arange(12.0).reshape((3, 4) if is_changed else (4, 3))
    return PPI(make_pipeline(SplineTransformer(knots=knots), LogisticRegression()))


@pair
def the_splitter(is_changed):
    return PPI(splitter=ShuffleSplit(6) if is_changed else KFold(6))


@pair
def a_parameter_of_a_splitter(is_changed):
    return PPI(splitter=GroupKFold(7 if is_changed else 6))


@pair
def the_state_of_a_generator(is_changed):
    state = np.random.RandomState(0)
    state.uniform(size=1 + is_changed)
    return PPI(splitter=ShuffleSplit(6, random_state=state))


@pair
def a_generator_of_another_seed(is_changed):
    return PPI(splitter=ShuffleSplit(6, random_state=np.random.RandomState(10 + is_changed)))


@pair
def a_class_weight(is_changed):
    return PPI(LogisticRegression(), class_weight={0: 1.0, 1: 2.0 + is_changed})


@pair
def the_order_of_a_dictionary(is_changed):
    weights = {1: 2.0, 0: 1.0} if is_changed else {0: 1.0, 1: 2.0}
    return PPI(LogisticRegression(class_weight=weights))


@pair
def a_step_of_a_pipeline(is_changed):
    return PPI(make_pipeline(StandardScaler(with_mean=is_changed), LogisticRegression()))


@pair
def the_name_of_a_step(is_changed):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    if is_changed:
        model.steps[0] = ("scale", model.steps[0][1])
    return PPI(model)


@pair
def a_model_of_a_panel(is_changed):
    return CrossFitPPI([LogisticRegression(), DecisionTreeClassifier(max_depth=3 + is_changed)])


@pair
def a_coefficient_of_a_frozen_model(is_changed):
    model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    model.coef_ = _changed(model.coef_, is_changed, 0, by=1e-9)
    return PPI(FrozenEstimator(model))


@pair
def a_threshold_of_a_frozen_tree(is_changed):
    X = np.arange(200.0)
    y = X > 99
    y[150 + is_changed] = False
    return PPI(FrozenEstimator(DecisionTreeClassifier(random_state=0).fit(X[:, None], y)))


@pair
def a_metadata_request(is_changed):
    scaler = StandardScaler()
    if is_changed:
        with config_context(enable_metadata_routing=True):
            scaler.set_fit_request(sample_weight=True)
    return PPI(make_pipeline(scaler, LogisticRegression()))


def _loss(function):
    return PPI(LogisticRegression(), loss=function)


@pair
def a_constant_in_a_function(is_changed):
    if is_changed:
        return _loss(lambda truth, values: abs(truth - values[:, 1]) * 2.0)
    return _loss(lambda truth, values: abs(truth - values[:, 1]) * 3.0)


@pair
def a_name_in_a_function(is_changed):
    if is_changed:
        return _loss(lambda truth, values: np.abs(truth - values[:, 1]))
    return _loss(lambda truth, values: np.exp(truth - values[:, 1]))


@pair
def an_operator_in_a_function(is_changed):
    if is_changed:
        return _loss(lambda truth, values: truth - values[:, 1])
    return _loss(lambda truth, values: truth * values[:, 1])


@pair
def a_constant_in_a_function_in_a_function(is_changed):
    def one(truth, values):
        return (lambda x: [y + 1 for y in x])(truth)

    def other(truth, values):
        return (lambda x: [y + 2 for y in x])(truth)

    other.__qualname__, other.__name__ = one.__qualname__, one.__name__
    other.__code__ = other.__code__.replace(co_name="one", co_qualname=one.__code__.co_qualname)
    return _loss(other if is_changed else one)


@pair
def a_default(is_changed):
    def loss(truth, values, by=(1, [2, 3 + is_changed])):
        return by[0] * (truth - values[:, 1])

    return _loss(loss)


@pair
def a_default_by_name(is_changed):
    def loss(truth, values, *, by=1 + is_changed):
        return by * (truth - values[:, 1])

    return _loss(loss)


@pair
def a_number_in_a_closure(is_changed):
    by = 1.0 + is_changed
    return _loss(lambda truth, values: by * (truth - values[:, 1]))


@pair
def the_middle_of_an_array_in_a_closure(is_changed):
    by = _changed(np.linspace(0, 1, N), is_changed, N // 2, by=1e-12)
    return _loss(lambda truth, values: by * (truth - values[:, 1]))


@pair
def a_list_deep_in_a_closure(is_changed):
    settings = {"a": [1, {"b": (2, [3 + is_changed])}]}

    def by():
        return settings["a"][1]["b"][1][0]

    return _loss(lambda truth, values: by() * (truth - values[:, 1]))


@pair
def an_attribute_of_a_function(is_changed):
    def loss(truth, values):
        return loss.by * (truth - values[:, 1])

    loss.by = 1 + is_changed
    return _loss(loss)


@pair
def a_global_variable(is_changed):
    return _loss(_in_a_module("BY = {}\ndef loss(truth, values):\n    return BY * values", is_changed).loss)


@pair
def a_global_that_a_called_function_reads(is_changed):
    source = "BY = [{}]\ndef by():\n    return BY[0]\ndef loss(truth, values):\n    return by() * values"
    return _loss(_in_a_module(source, is_changed).loss)


@pair
def a_variable_of_an_imported_module(is_changed):
    settings = _in_a_module("BY = {}", is_changed)
    module = _in_a_module("def loss(truth, values):\n    return settings.BY * values", False)
    module.settings = settings
    return _loss(module.loss)


@pair
def a_variable_of_a_module_in_a_module(is_changed):
    package = _in_a_module("", False)
    package.settings = _in_a_module("BY = {}", is_changed)
    module = _in_a_module("def loss(truth, values):\n    return package.settings.BY * values", False)
    module.package = package
    return _loss(module.loss)


@pair
def a_variable_of_a_module_that_a_function_imports(is_changed):
    source = "def loss(truth, values):\n    import callers_settings\n    return callers_settings.BY * values"
    sys.modules["callers_settings"] = _in_a_module("BY = {}", is_changed)
    return _loss(_in_a_module(source, False).loss)


@pair
def a_function_that_another_one_imports_by_name(is_changed):
    source = "def loss(truth, values):\n    from callers_settings import by as f\n    return f() * values"
    sys.modules["callers_settings"] = _in_a_module("def by():\n    return {}", is_changed)
    return _loss(_in_a_module(source, False).loss)


@pair
def a_variable_of_a_module_in_a_dictionary(is_changed):
    module = _in_a_module("def loss(truth, values):\n    return modules['a'].BY * values", False)
    module.modules = {"a": _in_a_module("BY = {}", is_changed)}
    return _loss(module.loss)


@pair
def a_variable_of_a_module_in_a_closure(is_changed):
    source = "def made(by):\n    def loss(truth, values):\n        return by.BY * values\n    return loss"
    return _loss(_in_a_module(source, False).made(_in_a_module("BY = {}", is_changed)))


@pair
def an_argument_of_a_partial_function(is_changed):
    return _loss(functools.partial(_in_a_module("def f(a, t, v):\n    return v", False).f, 1 + is_changed))


@pair
def what_a_cached_function_wraps(is_changed):
    return _loss(functools.lru_cache(_in_a_module("def f(truth, values):\n    return {}", is_changed).f))


@pair
def a_bound_method_of_another_object(is_changed):
    Loss = _in_a_module("class Loss:\n    def loss(self, truth, values):\n        return self.by", False).Loss
    loss = Loss()
    loss.by = 1 + is_changed
    return _loss(loss.loss)


@pair
def the_function_in_a_transformer(is_changed):
    scale = FunctionTransformer(np.log1p if is_changed else np.sqrt)
    return PPI(make_pipeline(scale, LogisticRegression()))


@pair
def the_function_inside_a_compiled_one(is_changed):
    return _loss(njit(_in_a_module("def f(truth, values):\n    return {}", is_changed).f))


@pair
def an_option_of_a_compiled_function(is_changed):
    return _loss(njit(fastmath=is_changed)(_in_a_module("def f(truth, values):\n    return 1.0", False).f))


@pair
def an_object_that_is_called(is_changed):
    source = "class Loss:\n    def __call__(self, truth, values):\n        return {}"
    return _loss(_in_a_module(source, is_changed).Loss())


def _in_a_module(source, is_changed):
    module = types.ModuleType("mine")
    exec(source.format(1 + is_changed), vars(module))
    return module


def _model(is_changed, source):
    """Return an estimator of a class that was written in a module of the caller's."""
    module = _in_a_module("", False)
    vars(module).update(
        BaseEstimator=BaseEstimator, ClassifierMixin=ClassifierMixin, np=np, functools=functools
    )
    exec(source.replace("{}", str(1 + is_changed)), vars(module))
    return PPI(module.Model())


_HEAD = "class Model(ClassifierMixin, BaseEstimator):\n"


@pair
def the_code_of_a_method(is_changed):
    return _model(is_changed, _HEAD + "    def fit(self, X, y):\n        self.k_ = {}\n        return self")


@pair
def an_attribute_of_a_class(is_changed):
    return _model(is_changed, _HEAD + "    k = {}\n    def fit(self, X, y):\n        return self")


@pair
def an_array_of_a_class(is_changed):
    return _model(is_changed, _HEAD + f"    k = np.where(np.arange({N}) == 700, {{}}, 0)\n")


@pair
def a_method_of_a_base_class(is_changed):
    base = "class Base(ClassifierMixin, BaseEstimator):\n    def fit(self, X, y):\n        return {}\n"
    return _model(is_changed, base + "class Model(Base):\n    pass")


@pair
def a_static_method_of_a_class(is_changed):
    return _model(is_changed, _HEAD + "    @staticmethod\n    def k():\n        return {}")


@pair
def a_property_of_a_class(is_changed):
    return _model(is_changed, _HEAD + "    @property\n    def classes_(self):\n        return {}")


@pair
def a_cached_property_of_a_class(is_changed):
    return _model(is_changed, _HEAD + "    @functools.cached_property\n    def k(self):\n        return {}")


@pair
def what_a_decorated_method_wraps(is_changed):
    wrapper = """
def twice(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return 2 * function(*arguments)
    return wrapper
"""
    return _model(is_changed, wrapper + _HEAD + "    @twice\n    def k(self):\n        return {}")


@pair
def a_class_that_a_method_makes_objects_of(is_changed):
    part = "class Part:\n    k = {}\n"
    return _model(is_changed, part + _HEAD + "    def fit(self, X, y):\n        return Part()")


@pair
def what_is_set_beside_the_parameters(is_changed):
    return _model(
        is_changed,
        _HEAD
        + "    def __init__(self):\n        self._k = [0, {}]\n    def fit(self, X, y):\n        return self",
    )


@dataclass
class Weights:
    values: object


class Slotted:
    __slots__ = ("values",)


class Pickled:
    """An object that is pickled without its attributes."""

    def __init__(self, value):
        self.value = value

    def __deepcopy__(self, memory):
        return type(self)(self.value)

    def __reduce__(self):
        return type(self), (0,)


Pair = namedtuple("Pair", "first second")


class Named(list):
    name = ""


def _parameter(value):
    """Return settings with a value of any kind among the parameters of the estimator."""
    return PPI(FunctionTransformer(kw_args={"value": value}))


@pair
def a_field_of_a_data_class(is_changed):
    return _parameter(Weights([1, 2 + is_changed]))


@pair
def an_attribute_that_is_not_pickled(is_changed):
    return _parameter(Pickled(is_changed))


@pair
def an_attribute_in_slots(is_changed):
    value = Slotted()
    value.values = (1, 2 + is_changed)
    return _parameter(value)


@pair
def an_item_of_a_named_tuple(is_changed):
    return _parameter(Pair(1, 2 + is_changed))


@pair
def an_item_of_a_list_with_a_name(is_changed):
    return _parameter(Named([1, 2 + is_changed]))


@pair
def the_name_of_a_list_with_a_name(is_changed):
    value = Named([1, 2])
    value.name = "a" if is_changed else "b"
    return _parameter(value)


@pair
def a_member_of_a_set(is_changed):
    return _parameter({"a", "b", "c", "d" if is_changed else "e"})


@pair
def an_item_of_other_mappings(is_changed):
    return _parameter([OrderedDict(a=1), UserDict(a=1 + is_changed)])


@pair
def a_pattern(is_changed):
    return _parameter(re.compile("a+" if is_changed else "a*"))


@pair
def an_object_in_an_array_of_objects(is_changed):
    return _parameter(np.array(["a", None, [1, 2 + is_changed]], dtype=object))


@pair
def a_cell_of_a_data_frame(is_changed):
    return _parameter(pd.DataFrame({"a": _changed(np.arange(N), is_changed, 700), "b": "text"}))


@pair
def a_value_of_a_sparse_matrix(is_changed):
    return _parameter(csr_array(_changed(np.eye(40), is_changed, 41)))


@pair
def what_a_masked_array_hides(is_changed):
    return _parameter(np.ma.masked_array(np.arange(N), np.arange(N) == 700 + is_changed))


@pair
def a_value_in_a_structure_that_holds_itself(is_changed):
    value = {"k": 1 + is_changed}
    value["self"] = [value]
    return _parameter(Weights(value))
