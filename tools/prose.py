"""Check the wording of the documentation, docstrings, comments and messages against a word list.

    python tools/prose.py              # the paths listed in tools/prose.toml, as `make lint` does
    python tools/prose.py src tests    # other paths

Each hit is printed with its line and the suggested wording. Skipped are, in Markdown, code blocks, code spans, link
targets and the tables that benchmarks write, and in Python everything but comments and strings, as well as doctests and
code between backticks. A line with ``prose: allow`` is skipped; so are the lines between ``prose: off`` and
``prose: on``.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Path(__file__).with_suffix(".toml")

_CODE_BLOCK = re.compile(r"^(```+|~~~+).*?^\1", flags=re.DOTALL | re.MULTILINE)
_CODE_SPAN = re.compile(r"(`+)[^`].*?\1", flags=re.DOTALL)
# The fields of a formatted message, and the values of a parameter in a docstring.
_FIELD = re.compile(r"\{[^{}\n]*\}")
_LINK = re.compile(r"(?<=\])\([^)\s]*\)")
_DOCTEST = re.compile(r"^[ ]*(?:>>>|\.\.\.)(?: .*)?$(?:\n(?![ ]*(?:>>>|\"\"\"|$)).*)*", flags=re.MULTILINE)
# Tables that a benchmark writes into a page; the wording of the benchmark is checked where it is.
_WRITTEN = re.compile(r"<!-- ([\w-]+) -->.*?<!-- /\1 -->", flags=re.DOTALL)
_OFF = re.compile(r"^.*prose: off.*?prose: on.*?$", flags=re.DOTALL | re.MULTILINE)
# What is left of blanked code. Words may stand any number of spaces apart.
_SPACES = re.compile(r" {2,}")
_ALLOWED = re.compile(r"^.*prose: allow.*$", flags=re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A wording to avoid, and what to write."""

    pattern: re.Pattern[str]
    suggestion: str
    exception: re.Pattern[str] | None

    @classmethod
    def of(cls, find: str, write: str, but: str | None = None) -> Entry:
        """Compile an entry of the word list."""
        return cls(_compiled(find), write, None if but is None else _compiled(but))

    def hits(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the hits that no exception covers."""
        exceptions = (
            [] if self.exception is None else [found.span() for found in self.exception.finditer(text)]
        )
        for hit in self.pattern.finditer(text):
            if not any(start <= hit.end() - 1 and hit.start() < end for start, end in exceptions):
                yield hit


@dataclass(frozen=True)
class Hit:
    """Where a wording was found."""

    path: Path
    line: int
    found: str
    suggestion: str

    def __str__(self) -> str:
        """Return one line in the form of a compiler's message."""
        return f"{self.path}:{self.line}: {self.found!r}; write: {self.suggestion}"


def _compiled(expression: str) -> re.Pattern[str]:
    # A phrase may be broken between two lines, in a comment with a "#" or in a message with quotes between.
    between = r"(?:\s|#|(?<!\")\"\s+f?\"(?!\"))+"
    return re.compile(rf"\b(?:{expression.replace(' ', between)})\b", flags=re.IGNORECASE)


def word_list(path: Path = CONFIG) -> list[Entry]:
    """Return the entries of the word list."""
    return [Entry.of(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["words"]]


def prose_of(path: Path, text: str) -> str:
    """Return the text with everything but prose blanked out, so that lines keep their numbers.

    Examples
    --------
    >>> prose_of(Path("page.md"), "Pass `X`.").split()
    ['Pass', '.']
    >>> prose_of(Path("module.py"), "x = 1  # One.").split()
    ['#', 'One.']
    """
    text = _blanked(text, _OFF, _ALLOWED)
    if path.suffix == ".py":
        return _blanked(_comments_and_strings(text), _DOCTEST, _CODE_SPAN, _FIELD)
    return _blanked(text, _WRITTEN, _CODE_BLOCK, _CODE_SPAN, _LINK)


def _blanked(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        text = pattern.sub(lambda found: _blank(found.group()), text)
    return text


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _comments_and_strings(text: str) -> str:
    kept = [list(_blank(line)) for line in text.splitlines(keepends=True)]
    lines = text.splitlines(keepends=True)
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        # A string of one word is a key or a value, not prose.
        if token.type not in kinds or (token.type == tokenize.STRING and len(token.string.split()) == 1):
            continue
        (first, start), (last, end) = token.start, token.end
        for number in range(first - 1, last):
            begin = start if number == first - 1 else 0
            stop = end if number == last - 1 else len(lines[number])
            kept[number][begin:stop] = lines[number][begin:stop]
    return "".join("".join(line) for line in kept)


def check(path: Path, entries: Iterable[Entry]) -> list[Hit]:
    """Return the hits in a file, by line."""
    prose = _SPACES.sub(" ", prose_of(path, path.read_text(encoding="utf-8")))
    hits = [
        Hit(path, prose.count("\n", 0, hit.start()) + 1, " ".join(hit.group().split()), entry.suggestion)
        for entry in entries
        for hit in entry.hits(prose)
    ]
    return sorted(hits, key=lambda hit: hit.line)


def files_of(paths: Iterable[str], exclude: Iterable[str] = ()) -> list[Path]:
    """Return the Markdown and Python files below paths, which are relative to the repository."""
    left_out = {ROOT / name for name in exclude}
    found = []
    for name in paths:
        path = ROOT / name
        below = [path] if path.is_file() else [*path.rglob("*.md"), *path.rglob("*.py")]
        found += [one for one in below if left_out.isdisjoint({one, *one.parents})]
    return sorted(found)


def main(arguments: list[str]) -> int:
    """Print the hits; return 1 if there are any."""
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    entries = word_list()
    hits = [
        hit
        for path in files_of(arguments or config["paths"], config["exclude"])
        for hit in check(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path, entries)
    ]
    for hit in hits:
        print(hit)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
