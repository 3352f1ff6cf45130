"""Names from data as a terminal, a plot and a page can show them."""


def printable(text: str) -> str:
    r"""Return text in which whatever a terminal would act on is spelled out.

    A column's name comes from a file: it may hold escape sequences that move the cursor, set the title or hide what
    follows, and line breaks that make two names of one.

    Examples
    --------
    >>> from ppfs._printable import printable
    >>> print(printable("dose\x1b[31m\nred"))
    dose\x1b[31m\nred
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )
