"""Sets as bits of 64-bit words, so that unions and differences of 64 elements take one instruction."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Int64s, int64, kernel_part

Words: TypeAlias = npt.NDArray[np.uint64]

#: Bits of a word.
WORD = 64

NONE, ONE = np.uint64(0), np.uint64(1)


def n_words(n_things: int) -> int:
    """Return the number of words of a set with up to the given number of elements."""
    return -(-n_things // WORD)


def sets_of_rows(members: Sequence[npt.NDArray[np.integer[Any]]], n_rows: int) -> Words:
    """Return, for each row, the set of the lists that contain it, shape (n_words, n_rows)."""
    words = np.zeros((n_words(len(members)), n_rows), dtype=np.uint64)
    for number, rows in enumerate(members):
        words[number // WORD, rows] |= ONE << np.uint64(number % WORD)
    return words


_config: Any = numba.config

if _config.DISABLE_JIT:  # Plain Python has no access to the compiler's instruction for it.

    def first_bit(word: np.uint64) -> int:
        """Return the number of the lowest bit that is set, of a word that is not empty."""
        number = int(word)
        return (number & -number).bit_length() - 1

    def count_bits(word: np.uint64) -> int:
        """Return how many bits are set."""
        return int(word).bit_count()

else:
    from numba import types
    from numba.extending import intrinsic

    def _count_trailing_zeros(_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            is_undefined_for_zero = context.get_constant(types.boolean, True)
            return builder.cttz(arguments[0], is_undefined_for_zero)

        return types.uint64(word), generate

    def _count_population(_context: Any, word: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(word), generate

    _trailing_zeros: Any = intrinsic(_count_trailing_zeros)
    _population: Any = intrinsic(_count_population)

    @kernel_part
    def first_bit(word: np.uint64) -> int:
        """Return the number of the lowest bit that is set, of a word that is not empty."""
        return int64(_trailing_zeros(word))

    @kernel_part
    def count_bits(word: np.uint64) -> int:
        """Return how many bits are set."""
        return int64(_population(word))


@kernel_part
def tally(word: np.uint64, digit: int, planes: Words, counter: int) -> None:
    """Add 2**digit to the count of each bit that is set; ``planes[counter, k]`` holds binary digit k of 64 counts."""
    while word != NONE:
        carry = planes[counter, digit] & word
        planes[counter, digit] ^= word
        word = carry
        digit += 1


@kernel_part
def tallied(planes: Words, counter: int, bit: int) -> int:
    """Return the count of one bit; see `tally`."""
    count = 0
    for digit in range(planes.shape[1]):
        count += int64((planes[counter, digit] >> np.uint64(bit)) & ONE) << digit
    return count


def make_planes(n_counters: int, n_rows: int) -> Words:
    """Allocate counters that hold counts of up to ``n_rows``."""
    return np.zeros((n_counters, n_rows.bit_length() + 1), dtype=np.uint64)


def unpacked(words: Words, n_things: int) -> Int64s:
    """Convert sets (n_words, n_rows) to zeros and ones of shape (n_things, n_rows)."""
    numbers = np.arange(n_things)
    shifts = (numbers % WORD).astype(np.uint64)[:, np.newaxis]
    return ((words[numbers // WORD] >> shifts) & ONE).astype(np.int64)
