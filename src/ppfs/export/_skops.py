"""Which types a selector consists of, for skops."""

from __future__ import annotations

from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError

# Types of the standard library and of NumPy that fitted selectors hold; they have no behavior beyond their content.
_PLAIN = ("builtins.frozenset", "numpy.random._generator.Generator", "numpy.random._pcg64.PCG64")


def skops_types(data: bytes) -> list[str]:
    """Return the types in a file of skops that belong to ppfs, to be trusted when it is loaded.

    skops stores estimators without pickle, and loads only types that are known or trusted by name. The types of this
    library are safe to trust: loading one runs none of its code but `__setstate__` of plain data classes. A file with
    types of other libraries raises an error that names them; look at those before you trust them.

    Parameters
    ----------
    data : bytes
        What ``skops.io.dumps`` returned, or the content of a file of ``skops.io.dump``.

    Returns
    -------
    list of str
        For ``skops.io.loads(data, trusted=...)``.
    """
    skops_io = imported("skops.io", "Naming types for skops", "skops")
    unknown = skops_io.get_untrusted_types(data=data)
    foreign = [name for name in unknown if not name.startswith("ppfs.") and name not in _PLAIN]
    if foreign:
        raise InvalidInputError(
            f"The file holds types that are not from ppfs: {', '.join(foreign)}. If you trust them, pass them to "
            "skops.io.loads together with the others."
        )
    return list(unknown)
