"""Tokens of the Bayesian Interchange Format, with the line of every mistake."""

import re

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r'"([^"]+)"|([^\s{}\[\]()|,;"]+)')
_WORD = re.compile(r"[A-Za-z]+\b")
# Possessive, and a comment may end with the text: no piece of a file is read twice, whatever it holds.
_PROPERTY = re.compile(r'property\b(?:"[^"]*+"|[^;"])*+;')
_COMMENT = re.compile(r'("[^"]*+")|//[^\n]*|/\*.*?(\*/|\Z)', re.DOTALL)


class BIFText:
    """A position that moves through the text of a BIF file.

    Whole pieces (a list of names, a row of numbers) are cut out and split at once: a network with half
    a million probabilities is read in about a second, which a loop over single tokens does not do.

    Parameters
    ----------
    text : str
        Content of the file.
    source : str
        Name of the file, for error messages.

    Examples
    --------
    >>> from ppfs.datasets._bif_text import BIFText
    >>> text = BIFText("( rain | 'cloud' ) 0.2, 0.8;", "inline")
    >>> text.expect("(")
    >>> text.split_names(text.until(")"))
    ['rain', "'cloud'"]
    >>> text.numbers(2, "the row")
    [0.2, 0.8]
    """

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self.position = 0
        self._text = _COMMENT.sub(self._blank, text)
        self._skip_space()

    def error(self, message: str, position: int | None = None) -> ValueError:
        """Make the exception for a mistake at `position`, by default here."""
        line = self._text.count("\n", 0, self.position if position is None else position) + 1
        return ValueError(f"{self._source}, line {line}: {message}.")

    def at_end(self) -> bool:
        """Return whether only white space is left."""
        return self.position >= len(self._text)

    def comes(self, symbol: str) -> bool:
        """Return whether `symbol` is next."""
        return self._text.startswith(symbol, self.position)

    def take(self, symbol: str) -> bool:
        """Move behind `symbol` if it is next; the end of the file is an error."""
        if self.at_end():
            raise self.error(f"the file ends where {symbol!r} is missing")
        if not self.comes(symbol):
            return False
        self._move(self.position + len(symbol))
        return True

    def take_word(self, word: str) -> bool:
        """Move behind a keyword if it is next."""
        found = _WORD.match(self._text, self.position)
        if found is None or found[0] != word:
            return False
        self._move(found.end())
        return True

    def expect(self, symbol: str) -> None:
        """Move behind `symbol`, which must be next."""
        if not self.take(symbol):
            raise self.error(f"expected {symbol!r}, found {self._next()!r}")

    def name(self, what: str) -> str:
        """Read one name."""
        found = _NAME.match(self._text, self.position)
        if found is None:
            raise self.error(f"expected {what}, found {self._next()!r}")
        self._move(found.end())
        return found[1] or found[2]

    def property(self) -> None:
        """Move behind a ``property`` statement, which must be next."""
        found = _PROPERTY.match(self._text, self.position)
        if found is None:
            raise self.error(f"unexpected {self._next()!r}")
        self._move(found.end())

    def until(self, symbol: str) -> str:
        """Cut out the text before the next `symbol` and move behind it."""
        end = self._text.find(symbol, self.position)
        if end < 0:
            raise self.error(f"{symbol!r} is missing")
        piece = self._text[self.position : end]
        self._move(end + len(symbol))
        return piece

    def split_names(self, piece: str) -> list[str]:
        """Split a piece into its names; commas, bars and white space separate them."""
        return [quoted or bare for quoted, bare in _NAME.findall(piece)]

    def numbers(self, count: int, what: str) -> list[float]:
        """Read `count` probabilities and the semicolon behind them."""
        start = self.position
        words = self.until(";").replace(",", " ").split()
        try:
            values = [float(word) for word in words]
        except ValueError as error:
            raise self.error(f"{what}: {error}", start) from error
        if len(values) != count:
            raise self.error(f"{what} has {len(values)} probabilities, expected {count}", start)
        bad = [word for word, value in zip(words, values, strict=True) if not value >= 0]
        if bad:
            raise self.error(f"{what}: {bad[0]} is not a probability", start)
        return values

    def _blank(self, found: re.Match[str]) -> str:
        """Return the replacement of a comment, or a quoted name unchanged."""
        if found[1]:
            return found[1]
        if found[2] == "":
            raise self.error("this comment is not closed: '*/' is missing", found.start())
        # Line breaks stay, so that positions still give the right line.
        return "\n" * found[0].count("\n") or " "

    def _move(self, position: int) -> None:
        self.position = position
        self._skip_space()

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self.position)
        assert found is not None
        self.position = found.end()

    def _next(self) -> str:
        return self._text[self.position : self.position + 20].split("\n")[0]
