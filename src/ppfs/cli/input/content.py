"""The bytes of a file or of standard input, unpacked, and what kind of file they are."""

from __future__ import annotations

import sys
from pathlib import Path

from ppfs._libraries import imported
from ppfs._printable import listed
from ppfs.cli._failures import InputFailure

_KINDS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "excel", b"\xd0\xcf\x11\xe0": "excel"}
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def raw_bytes(data: str) -> bytes:
    """Return what a file, or standard input for "-", holds, unpacked."""
    if data == "-":
        return unpacked(sys.stdin.buffer.read(), "standard input")
    path = Path(data)
    if path.is_dir():
        raise InputFailure(
            f"{data!r} is a directory. Name a file in it; or add --stream for a folder of Parquet files that hold "
            "different columns of the same rows."
        )
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputFailure(f"There is no file {data!r}. Check the path, or use --dataset.") from None
    except OSError as error:
        raise InputFailure(
            f"{data!r} cannot be read: {error.strerror or error}. Check the path and its permissions."
        ) from error
    return unpacked(content, data)


def unpacked(content: bytes, name: str) -> bytes:
    """Return what compressed bytes hold: the first bytes distinguish gzip, bzip2, xz, zstd and zip."""
    import bz2
    import gzip
    import lzma
    import zlib

    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content)
        if content.startswith(b"BZh"):
            return bz2.decompress(content)
        if content.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(content)
        if content.startswith(b"\x28\xb5\x2f\xfd"):
            return _unpacked_zstd(content)
        if content.startswith(b"PK\x03\x04"):
            return _unzipped(content, name)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise InputFailure(
            f"{name!r} begins like a compressed file, but cannot be unpacked: {error}. Is the download complete?"
        ) from error
    return content


def _unpacked_zstd(content: bytes) -> bytes:
    pa = imported("pyarrow", "Reading .zst files", "files")
    unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()
    return unpacked


def kind_of(content: bytes, name: str) -> str:
    """Return the kind of a file, "text", "parquet", "arrow" or "excel", by its first bytes, not by its name."""
    for magic, kind in _KINDS.items():
        if content.startswith(magic):
            return kind
    if content[:4] == b"\xff\xff\xff\xff":  # An Arrow stream begins with a continuation marker.
        return "arrow"
    if not content.strip():
        raise InputFailure(f"{name!r} is empty. It needs a header row and rows below it.")
    head = content[:65536]
    if b"\x00" in head and not head.startswith(_BOMS):
        raise InputFailure(
            f"{name!r} is a binary file of an unknown format. Save it as CSV, Parquet, Feather or Excel; "
            ".npy, zarr, HDF5 and h5ad files are read with --stream."
        )
    return "text"


def _unzipped(content: bytes, name: str) -> bytes:
    """Return the only file of a zip archive; an Excel file, which is a zip archive too, is returned as it is."""
    import io
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(io.BytesIO(content))
        files = [
            file for file in archive.namelist() if not file.endswith("/") and not file.startswith("__MACOSX")
        ]
        if "[Content_Types].xml" in files:
            return content
        if len(files) == 1 and not files[0].endswith(".npy"):
            return archive.read(files[0])
    except (BadZipFile, RuntimeError, NotImplementedError) as error:
        raise OSError(error) from error
    if files and all(file.endswith(".npy") for file in files):
        raise InputFailure(
            f"{name!r} is an archive of NumPy arrays: {listed(files)}. Save the columns and the target as one table, "
            "such as a CSV or Parquet file or a .npy array, or use ppfs in Python."
        )
    raise InputFailure(
        f"{name!r} is an archive of {len(files)} files: {listed(files)}. Unpack it and name one."
    )
