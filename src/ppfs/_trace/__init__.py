"""Why every column was kept or dropped: the record that reports and plots are made from."""

from ppfs._trace.outcome import Outcome, deciding_steps
from ppfs._trace.record import Trace
from ppfs._trace.steps import FAVOURABLE, Decision, Step

__all__ = ["FAVOURABLE", "Decision", "Outcome", "Step", "Trace", "deciding_steps"]
