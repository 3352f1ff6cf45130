"""Selectors as a part of ONNX models, through sklearn-onnx."""

from __future__ import annotations

from typing import Any

import numpy as np

from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError
from ppfs.export._columns import SelectedColumns

_ALIAS = "PpfsSelector"


def register_onnx_converters() -> None:
    """Teach sklearn-onnx (the package skl2onnx) every selector of this library.

    Pipelines with a selector can then be converted by ``skl2onnx.to_onnx`` as any other; `to_onnx` calls this. It
    can be called more than once.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from ppfs.export import SelectedColumns, register_onnx_converters
    >>> register_onnx_converters()
    >>> onnx = skl2onnx.to_onnx(SelectedColumns(["b"], ["a", "b"]), np.ones((1, 2), dtype=np.float32))
    >>> [each.name for each in onnx.graph.input]
    ['X']
    """
    skl2onnx = imported("skl2onnx", "Writing ONNX", "onnx")
    for selector in _selectors():
        skl2onnx.update_registered_converter(
            selector, f"{_ALIAS}{selector.__name__}", _shape, _convert, overwrite=True, parser=_parse
        )


def to_onnx(model: Any, X: Any, **options: Any) -> Any:
    """Convert a fitted selector, or a pipeline with one, to an ONNX model.

    Parameters
    ----------
    model : fitted estimator
        A selector, or a pipeline of selectors and whatever sklearn-onnx converts.

    X : array or data frame
        Some rows of the data, for the types of the inputs. A data frame becomes one input per column, by its name with
        "_" for spaces; an array becomes one input "X". Numbers with a fraction are in single precision there, which
        every operator of ONNX's runtimes takes; pass ``initial_types=`` for others.

    options : dict
        Passed to ``skl2onnx.to_onnx``.

    Returns
    -------
    onnx.ModelProto
        ``onnxruntime.InferenceSession(to_onnx(...).SerializeToString())`` runs it.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from ppfs.export import SelectedColumns, to_onnx
    >>> keep = SelectedColumns(["b", "c"], ["a", "b", "c"])
    >>> rows = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
    >>> onnx = to_onnx(keep, rows).SerializeToString()
    >>> session = onnxruntime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
    >>> session.run(None, {"X": rows})[0]
    array([[2., 3.],
           [5., 6.]], dtype=float32)
    """
    register_onnx_converters()
    skl2onnx = imported("skl2onnx", "Writing ONNX", "onnx")
    if hasattr(X, "columns"):
        options = {"initial_types": _types_of(X), **options}
        return skl2onnx.to_onnx(model, **options)
    return skl2onnx.to_onnx(model, np.asarray(X)[:1], **options)


def _selectors() -> list[type]:
    from ppfs import blanket, compat, wrappers

    found = [getattr(room, name) for room in (blanket, compat, wrappers) for name in room.__all__]
    return [one for one in found if isinstance(one, type) and hasattr(one, "get_support")] + [SelectedColumns]


def _types_of(frame: Any) -> list[tuple[str, Any]]:
    """Return one input per column: numbers with a fraction in single precision, everything else as text."""
    import narwhals as nw

    types = imported("skl2onnx.common.data_types", "Writing ONNX", "onnx")
    schema = nw.from_native(frame, eager_only=True).schema
    kinds = []
    for name, kind in schema.items():
        if kind.is_float():
            shown = types.FloatTensorType
        elif kind.is_integer():
            shown = types.Int64TensorType
        elif kind == nw.Boolean:
            shown = types.BooleanTensorType
        elif kind in (nw.String, nw.Object, nw.Categorical, nw.Enum):
            shown = types.StringTensorType
        else:
            raise InvalidInputError(
                f"Column {name!r} is of type {kind}, which ONNX does not have. Convert it to numbers or text first."
            )
        kinds.append((name, shown([None, 1])))
    return kinds


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Return the outputs of a selector: some of its inputs, if each is a column; a new matrix otherwise."""
    columns = model.get_support(indices=True)
    if columns.size == 0:
        raise InvalidInputError(
            "No columns were selected, and ONNX has no tables without columns. Select with min_features=1."
        )
    if len(inputs) > 1 or model.get_support().size == 1:
        return [inputs[column] for column in columns]
    operator = scope.declare_local_operator(f"{_ALIAS}{type(model).__name__}", model)
    operator.inputs = list(inputs)
    output = scope.declare_local_variable("selected", inputs[0].type.__class__([None, len(columns)]))
    operator.outputs.append(output)
    return [output]


def _shape(operator: Any) -> None:
    taken = operator.inputs[0].type
    n_selected = int(operator.raw_operator.get_support().sum())
    operator.outputs[0].type = taken.__class__([taken.shape[0], n_selected])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    columns = operator.raw_operator.get_support(indices=True)
    proto = imported("onnx", "Writing ONNX", "onnx").TensorProto
    places = scope.get_unique_variable_name("columns")
    container.add_initializer(places, proto.INT64, [columns.size], columns.tolist())
    container.add_node(
        "ArrayFeatureExtractor",
        [operator.inputs[0].full_name, places],
        operator.outputs[0].full_name,
        op_domain="ai.onnx.ml",
        name=scope.get_unique_operator_name("PpfsSelected"),
    )
