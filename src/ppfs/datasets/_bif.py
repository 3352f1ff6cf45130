"""Bayesian networks from files in the Bayesian Interchange Format, plain or gzipped."""

import gzip
import io
import os
import zlib
from pathlib import Path

from ppfs.datasets._bif_parser import BIFParser
from ppfs.datasets._bif_text import BIFText
from ppfs.datasets._network import BayesianNetwork

GZIP_MAGIC = b"\x1f\x8b"
# Of the networks in the benchmarks the longest, Mildew, has 5 megabytes of text.
MAX_BYTES = 2**26


def read_network(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from a BIF file.

    Parameters
    ----------
    path : path-like
        A ``.bif`` file, or the same gzipped (recognized by its content, not its name).

    Returns
    -------
    BayesianNetwork

    Raises
    ------
    ValueError
        If the file is not valid BIF or not a network: duplicate or unknown nodes, missing rows, probabilities that do
        not sum to 1, cycles. The message contains the line number. Also if the text, its tables or the number of
        parents of a node is larger than in any published network by far.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from ppfs.datasets import read_network
    >>> text = '''
    ... network tiny { }
    ... variable rain { type discrete [ 2 ] { yes, no }; }
    ... variable wet { type discrete [ 2 ] { yes, no }; }
    ... probability ( rain ) { table 0.2, 0.8; }
    ... probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.bif")
    ...     _ = path.write_text(text)
    ...     network = read_network(path)
    >>> network.nodes, network.parents("wet")
    (('rain', 'wet'), ('rain',))
    """
    return parse_network(_read_text(Path(path)), source=os.fspath(path))


def parse_network(text: str, *, source: str = "BIF text") -> BayesianNetwork:
    """Parse the text of a BIF file; `source` names it in error messages."""
    return BIFParser(BIFText(text, source)).parse()


def _read_text(path: Path) -> str:
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    _require_small(content, path)
    try:
        if content.startswith(GZIP_MAGIC):
            # A kilobyte may expand to a megabyte: no more is expanded than is read.
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as expanded:
                content = expanded.read(MAX_BYTES + 1)
            _require_small(content, path)
        return content.decode("utf-8")
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{str(path)!r} is neither BIF text nor gzipped BIF text: {error}.") from error


def _require_small(content: bytes, path: Path) -> None:
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"{str(path)!r} holds more than {MAX_BYTES:,} bytes of text, the most that is read. Build larger networks "
            "with ppfs.datasets.BayesianNetwork."
        )
