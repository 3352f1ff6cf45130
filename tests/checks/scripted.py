"""Answers from a script, so that the questions of a search can be compared as a whole."""

from hashlib import blake2b

from checks.graphs import empty_table

from ppfs._trace import Trace
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import BoundTest, IndependenceResult
from ppfs.independence._answers import CANNOT_TELL


class ScriptedTest(BoundTest):
    """Answers by a function of x, the target and the other columns given, and writes down what it is asked.

    Parameters
    ----------
    script : dict or callable
        By (x, *others given, in ascending order): a p-value, or an answer. Questions that a dict lacks have p = 1.
        A function gets x, the target and the others as a frozenset.
    """

    def __init__(self, table, script, models=()):
        super().__init__(table, models=models)
        self.script = script
        self.asked = []

    def _answers(self, xs, target, given):
        for x in xs:
            others = frozenset(given) - {x}
            self.asked.append((x, *sorted(others)))
            if callable(self.script):
                answer = self.script(x, target, others)
            else:
                answer = self.script.get((x, *sorted(others)), 1.0)
            yield (
                answer
                if isinstance(answer, IndependenceResult)
                else IndependenceResult(answer, 2.0, 1.0 - answer)
            )


def scripted(script, n_columns, alpha=0.05, table=None, **given):
    """Return an inquiry about a table, by default one whose values mean nothing; the last variable is the target."""
    table = empty_table(n_columns + 1) if table is None else table
    given = {"target": n_columns, "fold": 0, **given}
    return Inquiry(ScriptedTest(table, script), alpha=alpha, trace=Trace(table.names), **given)


# The level itself, values just beside it, and ties.
_PVALUES = (0.0, 1e-9, 1e-9, 0.004, 0.02, 0.05, 0.050001, 0.2, 0.7, 1.0)


def drawn(seed):
    """Return a script of answers that are drawn by a digest of the question: some are reliable, some inert."""

    def answer(x, target, others):
        text = repr((seed, *sorted((x, target)), sorted(others)))
        numbers = blake2b(text.encode(), digest_size=4).digest()
        if numbers[0] < 20:
            return CANNOT_TELL
        # Given many, most are independent, so that searches end.
        pvalue = _PVALUES[min(9, numbers[1] * 10 // 256 + len(others) * (numbers[1] % 2))]
        return IndependenceResult(pvalue, 1.0, (0.1, 0.2, 0.3)[numbers[2] % 3], is_inert=numbers[3] < 60)

    return answer


def told(trace):
    """Return the steps of a trace, one text each: phase, question, adjusted p-value where it differs, decision."""
    return [
        f"{step.phase}: {step.feature}{'' if step.target is None else f' of {step.target}'}"
        f" | {' '.join(map(str, step.given))}{' without ' + ' '.join(map(str, step.withheld)) if step.withheld else ''}"
        f"{f' adjusted {step.adjusted_pvalue:.6g}' if step.adjusted_pvalue != step.pvalue else ''} {step.decision}"
        for step in trace
    ]
