"""The types of ONNX's inputs and the parts of a converted selector, one by one."""

from types import SimpleNamespace as Of

import numpy as np
import pandas as pd
import pytest

from ppfs import blanket, compat, wrappers
from ppfs.exceptions import InvalidInputError
from ppfs.export import SelectedColumns, _onnx

pytest.importorskip("skl2onnx", exc_type=ImportError)


def test_every_selector_has_a_converter():
    found = _onnx._selectors()
    assert found[-1] is SelectedColumns
    rooms = [getattr(room, name) for room in (blanket, compat, wrappers) for name in room.__all__]
    selectors = [one for one in rooms if isinstance(one, type) and hasattr(one, "get_support")]
    assert found[:-1] == selectors
    assert len(found) > 15


def test_columns_have_types():
    frame = pd.DataFrame(
        {
            "a": [0.5],
            "b": np.array([1], dtype=np.int16),
            "c": [True],
            "d": ["x"],
            "e": pd.Categorical(["x"]),
            "f": np.array([0.5], dtype=np.float32),
        }
    )
    found = _onnx._types_of(frame)
    assert [(name, type(kind).__name__, kind.shape) for name, kind in found] == [
        ("a", "FloatTensorType", [None, 1]),
        ("b", "Int64TensorType", [None, 1]),
        ("c", "BooleanTensorType", [None, 1]),
        ("d", "StringTensorType", [None, 1]),
        ("e", "StringTensorType", [None, 1]),
        ("f", "FloatTensorType", [None, 1]),
    ]
    with pytest.raises(InvalidInputError, match="Column 'g' is of type Datetime"):
        _onnx._types_of(pd.DataFrame({"g": [pd.Timestamp("2020-01-01")]}))


class Kind:
    """A type of ONNX with a shape."""

    def __init__(self, shape):
        self.shape = shape


def selector(*mask):
    mask = np.array(mask)
    return Of(get_support=lambda indices=False: np.flatnonzero(mask) if indices else mask)


class Scope:
    """What sklearn-onnx declares operators and variables in."""

    def __init__(self):
        self.operator = Of(outputs=[])
        self.declared = []

    def declare_local_operator(self, name, model):
        self.declared.append((name, model))
        return self.operator

    def declare_local_variable(self, name, kind):
        return Of(name=name, kind=kind)

    def get_unique_variable_name(self, name):
        return f"{name}1"

    def get_unique_operator_name(self, name):
        return f"{name}2"


def test_columns_that_are_inputs_of_their_own_are_passed_on():
    assert _onnx._parse(Scope(), selector(True, False, True), ["a", "b", "c"]) == ["a", "c"]
    assert _onnx._parse(Scope(), selector(True), ["a"]) == ["a"]
    with pytest.raises(
        InvalidInputError, match="No columns were selected, and ONNX has no tables without columns"
    ):
        _onnx._parse(Scope(), selector(False, False), ["a"])


@pytest.mark.parametrize("mask", [(True, False, True), (True, False)])
def test_a_matrix_gets_an_operator(mask):
    scope, model = Scope(), selector(*mask)
    inputs = [Of(type=Kind([None, len(mask)]))]
    (output,) = _onnx._parse(scope, model, inputs)
    assert scope.declared == [(f"{_onnx._ALIAS}SimpleNamespace", model)]
    assert (scope.operator.inputs, scope.operator.outputs) == (inputs, [output])
    assert (output.name, type(output.kind), output.kind.shape) == ("selected", Kind, [None, sum(mask)])


def test_the_shape_of_the_output_is_that_of_the_selection():
    operator = Of(
        inputs=[Of(type=Kind([7, 3]))], outputs=[Of(type=None)], raw_operator=selector(True, False, True)
    )
    _onnx._shape(operator)
    assert (type(operator.outputs[0].type), operator.outputs[0].type.shape) == (Kind, [7, 2])


def test_a_selector_is_one_node():
    made = []
    container = Of(
        add_initializer=lambda *arguments: made.append(arguments),
        add_node=lambda *arguments, **settings: made.append((arguments, settings)),
    )
    operator = Of(
        inputs=[Of(full_name="X")], outputs=[Of(full_name="Y")], raw_operator=selector(True, False, True)
    )
    _onnx._convert(Scope(), operator, container)
    assert made[0][0::2] == ("columns1", [2])
    assert made[0][3] == [0, 2]
    assert made[1] == (
        ("ArrayFeatureExtractor", ["X", "columns1"], "Y"),
        {"op_domain": "ai.onnx.ml", "name": "PpfsSelected2"},
    )


@pytest.mark.parametrize(
    ("X", "options", "asked"),
    [
        (np.arange(6.0).reshape(3, 2), {"a": 1}, {"a": 1}),
        (pd.DataFrame({"x": [0.5]}), {"a": 1}, {"initial_types": "types", "a": 1}),
        (pd.DataFrame({"x": [0.5]}), {"initial_types": "own"}, {"initial_types": "own"}),
    ],
)
def test_models_are_converted_with_the_types_of_some_rows(monkeypatch, X, options, asked):
    called = []
    registered = []
    fake = Of(
        to_onnx=lambda *arguments, **settings: called.append((arguments, settings)),
        update_registered_converter=lambda *arguments, **settings: registered.append((arguments, settings)),
    )
    monkeypatch.setattr(_onnx, "imported", lambda *_: fake)
    monkeypatch.setattr(_onnx, "_types_of", lambda frame: "types")
    _onnx.to_onnx("model", X, **options)
    ((arguments, settings),) = called
    assert settings == asked
    assert arguments[0] == "model"
    assert [rows.tolist() for rows in arguments[1:]] == ([] if "initial_types" in asked else [[[0.0, 1.0]]])
    assert len(registered) == len(_onnx._selectors())
    assert registered[-1] == (
        (SelectedColumns, f"{_onnx._ALIAS}SelectedColumns", _onnx._shape, _onnx._convert),
        {"overwrite": True, "parser": _onnx._parse},
    )
