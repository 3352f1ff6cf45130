"""Ctrl-C while a kernel runs is a KeyboardInterrupt, whatever the kernel returns."""

import signal

import numpy as np
import pytest

from ppfs import _engine
from ppfs._engine.jit.kernels import allocating_kernel, kernel

RNG = np.random.default_rng(0)
N_ROWS = 200
BLOCK = RNG.normal(size=(1, N_ROWS, 20))
CLASSES = RNG.integers(0, 2, N_ROWS)
ONES = np.ones(N_ROWS)
DESIGN = RNG.normal(size=(10, N_ROWS))
LIKELIHOOD = _engine.Likelihood(DESIGN, CLASSES, np.empty(0), ONES[:10], 2, False)

CALLS = {
    "logistic_columns": (BLOCK, CLASSES, np.empty(0), 2, 1.0, True, False, 1e-9),
    "sparse_logistic_columns": (BLOCK, CLASSES, ONES, 2, 1.0, 0.0, True, 1e-9),
    "fit_scores": (LIKELIHOOD, np.zeros((1, 10)), 1e-9),
    "ridge_columns": (BLOCK, ONES, CLASSES.astype(float), 1.0, True),
    "line_columns": (BLOCK[0], ONES, CLASSES.astype(float), 1.0, True),
    "independent_rows": (DESIGN @ DESIGN.T, 1e-12),
}


@pytest.fixture
def interrupts():
    """Let a timer of the process do what Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def call_until_interrupted(function, arguments, seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    while True:
        function(*arguments)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts")
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_is_a_keyboard_interrupt(name, interrupts):
    function = getattr(_engine, name)
    function(*CALLS[name])
    for seconds in np.linspace(0.001, 0.01, 30):
        with pytest.raises(KeyboardInterrupt):
            call_until_interrupted(function, CALLS[name], seconds)


@pytest.mark.parametrize("compiled_by", [kernel, allocating_kernel])
def test_a_kernel_must_not_return_several_arrays(compiled_by):
    def both(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return values, values

    with pytest.raises(TypeError, match="both returns several arrays"):
        compiled_by(both)
