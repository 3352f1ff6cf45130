"""Bayesian networks from files in the Bayesian Interchange Format, plain or gzipped."""

import gzip
import os
import zlib
from pathlib import Path

from ppfs.datasets._bif_parser import BIFParser
from ppfs.datasets._bif_text import BIFText
from ppfs.datasets._network import BayesianNetwork

GZIP_MAGIC = b"\x1f\x8b"


def read_network(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from a BIF file.

    Parameters
    ----------
    path : path-like
        A ``.bif`` file, or the same gzipped (told by its content, not its name).

    Returns
    -------
    BayesianNetwork

    Raises
    ------
    ValueError
        If the file breaks the format or is no network: duplicate or unknown nodes, missing rows,
        probabilities that do not sum to 1, cycles. The message gives the line.

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
    content = path.read_bytes()
    try:
        if content.startswith(GZIP_MAGIC):
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{str(path)!r} is neither BIF text nor gzipped BIF text: {error}.") from error
