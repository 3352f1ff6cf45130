"""The smallest effects that a table would have shown."""

from __future__ import annotations

from dataclasses import dataclass

from ppfs._trace.steps import Step


@dataclass(frozen=True)
class Detectable:
    """The smallest effects that would have been found with probability 0.8, in units of `effect`.

    Attributes
    ----------
    alone : float
        Of a column that the growth phase did not call.

    given : float
        Of a column that was called and then dropped given the selected ones.

    weakest : float
        The smallest effect among the selected columns; NaN if there is none.
    """

    alone: float
    given: float
    weakest: float

    def of(self, step: Step) -> float:
        """Return the smallest effect that would have been found of a column that a step decided about."""
        return self.given if step.decision == "dropped" and step.others else self.alone

    def hides(self, step: Step) -> bool:
        """Return whether an effect as large as that of the weakest selected column could have been missed."""
        return self.of(step) > self.weakest
