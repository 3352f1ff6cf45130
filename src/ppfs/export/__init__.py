"""Export of a selection to JSON, ONNX, skops and MLflow."""

from ppfs.export._columns import SelectedColumns
from ppfs.export._document import document_of as document_of
from ppfs.export._document import read_document as read_document
from ppfs.export._document import written as written
from ppfs.export._json import from_json, to_json
from ppfs.export._mlflow import log_to_mlflow, mlflow_run
from ppfs.export._onnx import register_onnx_converters, to_onnx
from ppfs.export._skops import TRUSTED_TYPES, skops_types

__all__ = [
    "TRUSTED_TYPES",
    "SelectedColumns",
    "from_json",
    "log_to_mlflow",
    "mlflow_run",
    "register_onnx_converters",
    "skops_types",
    "to_json",
    "to_onnx",
]
