"""Parent, child or spouse: what the questions of a search say about the arrows around the target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ppfs._trace import FAVORABLE, REST_TOGETHER, ROLES, Step, Trace

RoleName = Literal["parent", "child", "parent or child", "spouse", "undecided"]

# The phase in which searches over subsets ask whether a stranger depends on the target given a common child.
_SPOUSES = "spouses"

#: No evidence of a link, also after a correction, is no separation: in searches that do not look for separating sets,
#: only p-values of at least this count as one.
CLEARLY = 0.2


@dataclass(frozen=True)
class Role:
    """The place of a selected column in the graph around the target, as far as questions decide it.

    Attributes
    ----------
    feature : str
        Its name.

    role : {"parent", "child", "parent or child", "spouse", "undecided"}
        "parent or child": directly linked to the target, direction not decided. "spouse": not linked to it, but it
        depends on it once a common child is known. "undecided": selected, and no question decides more.

    arrows : tuple of (str, str)
        Arrows (cause, effect) that decide the role or follow from it; empty without any.

    because : str
        The question that decided, in words.
    """

    feature: str
    role: RoleName
    arrows: tuple[tuple[str, str], ...] = ()
    because: str = ""

    def __str__(self) -> str:
        """Return the role in a sentence."""
        return f"{self.feature}: {self._told}"

    @property
    def in_a_sentence(self) -> str:
        """The role, for an explanation of the column."""
        return f"Its role: {self._told}."

    @property
    def _told(self) -> str:
        arrows = (
            f" ({'; '.join(f'{cause} → {effect}' for cause, effect in self.arrows)})" if self.arrows else ""
        )
        return f"{self.role}{arrows}{f', because {self.because}' if self.because else ''}"


def roles_of(trace: Trace) -> tuple[Role, ...]:
    """Return the roles of the selected features, most important first, from the questions of a finished search.

    Two rules, which are those of constraint-based discovery for an unshielded collider. They hold if the answers are
    right, and if no hidden variable acts on two of the columns.

    - A stranger that is linked to a neighbor of the target, separated from the target by a set without that neighbor,
      and dependent on the target once the neighbor is given: target → neighbor ← stranger.
    - Two neighbors of the target that are separated by a set without the target, and dependent once the target is
      given: neighbor → target ← neighbor.

    A search that does not look for separating sets decides one thing only: a selected column that was independent of
    the target given some set, and dependent given more, is not linked to the target directly. Further questions after
    the search (`find_roles`) decide the rest: a column that some others separate from the target is a spouse, and a
    neighbor that makes it dependent again is a child; the arrow between the two is not asked about.
    """
    return tuple(_Evidence(trace).roles())


@dataclass
class _Member:
    """What was found about a selected feature."""

    arrows: list[tuple[int, int]] = field(default_factory=list)
    because: list[str] = field(default_factory=list)


class _Evidence:
    """The answers of the chosen fold, by pairs of variables."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._target = len(trace.names)
        outcome = trace.outcome
        self._fold = 0 if outcome is None else outcome.fold
        self._members = () if outcome is None else outcome.blanket
        # For pairs of variables, the sets given which they were independent, and those given which they were not.
        self._separated: defaultdict[frozenset[int], dict[frozenset[int], Step]] = defaultdict(dict)
        self._joined: defaultdict[frozenset[int], dict[frozenset[int], Step]] = defaultdict(dict)
        self._spouses: list[Step] = []
        self._looks_for_sets = False
        # Members that the further questions about roles leave open.
        self._doubtful: set[int] = set()
        steps = list(self._steps())
        further = [step for step in steps if step.phase == ROLES]
        self._was_asked_further = bool(further)
        for step in further or steps:
            self._read(step)

    def _steps(self) -> Iterator[Step]:
        wanted = {*self._members, self._target}
        for step in self._trace.steps_about(wanted):
            is_single = step.phase != REST_TOGETHER
            if step.fold == self._fold and step.is_reliable and not step.withheld and is_single:
                yield step

    def _read(self, step: Step) -> None:
        about = self._target if step.target is None else step.target
        self._looks_for_sets |= step.target is not None
        if step.feature == about:
            return
        if step.phase == ROLES and step.decision == "rejected":
            # Neither a dependence nor a clear separation.
            self._doubtful |= {step.feature} if about == self._target else set()
            return
        pair, given = frozenset({step.feature, about}), frozenset(step.others)
        answers = self._joined if step.decision in FAVORABLE else self._separated
        answers[pair].setdefault(given, step)
        if step.phase == _SPOUSES and step.decision in FAVORABLE and about == self._target:
            self._spouses.append(step)

    def roles(self) -> Iterator[Role]:
        """Yield the role of each member."""
        found = {member: _Member() for member in self._members}
        if self._was_asked_further:
            yield from self._after_further_questions(found)
            return
        spouses = self._colliders(found) if self._looks_for_sets else set()
        if self._looks_for_sets:
            self._parents(found, [x for x in self._members if x not in spouses])
        for member, one in found.items():
            yield self._role(member, one, member in spouses)

    def _after_further_questions(self, found: dict[int, _Member]) -> Iterator[Role]:
        """Yield the roles that questions among all members decide."""
        apart = {x: self._separated[frozenset({x, self._target})] for x in self._members}
        asked = {x for x in self._members if apart[x] or self._joined[frozenset({x, self._target})]}
        neighbors = [x for x in self._members if x in asked - self._doubtful and not apart[x]]
        reopened: dict[int, str] = {}
        for spouse in (x for x in self._members if apart[x]):
            for given, step in apart[spouse].items():
                for child in neighbors:
                    joined = self._joined[frozenset({spouse, self._target})].get(given | {child})
                    if joined is not None and child not in given:
                        found[child].arrows.append((self._target, child))
                        found[child].because.append(self._told(step, joined))
                        reopened.setdefault(spouse, found[child].because[-1])
        self._parents(found, neighbors)
        for member in self._members:
            name = self._trace.names[member]
            if member in neighbors:
                yield self._role(member, found[member], False)
            elif member in reopened:
                yield Role(name, "spouse", (), reopened[member])
            else:
                # Also members that no neighbor makes dependent again: their effect may just be weak.
                yield Role(name, "undecided")

    def _colliders(self, found: dict[int, _Member]) -> set[int]:
        """Enter target → child ← spouse, and return the spouses."""
        spouses: set[int] = {step.feature for step in self._spouses if step.feature in found}
        for step in self._spouses:
            apart = self._separated[frozenset({step.feature, self._target})]
            # The child is what was added to a set that separates; where two columns could be that, neither is.
            children = [x for x in step.others if frozenset(step.others) - {x} in apart]
            if step.feature not in found or len(children) != 1 or children[0] not in found:
                continue
            child = children[0]
            arrows = [(self._target, child), (step.feature, child)]
            for member in (step.feature, child):
                found[member].arrows += arrows
                found[member].because.append(self._told(apart[frozenset(step.others) - {child}], step))
        for spouse in spouses:
            found[spouse].arrows = [pair for pair in found[spouse].arrows if pair[0] == spouse]
        return spouses

    def _parents(self, found: dict[int, _Member], neighbors: list[int]) -> None:
        """Enter neighbor → target ← neighbor."""
        for i, one in enumerate(neighbors):
            for other in neighbors[i + 1 :]:
                pair = frozenset({one, other})
                for given, step in self._separated[pair].items():
                    joined = self._joined[pair].get(given | {self._target})
                    if self._target in given or joined is None:
                        continue
                    for member in (one, other):
                        found[member].arrows.append((member, self._target))
                        found[member].because.append(self._told(step, joined))
                    break

    def _role(self, member: int, one: _Member, is_spouse: bool) -> Role:
        name = self._trace.names[member]
        if is_spouse:
            return Role(name, "spouse", self._named(one.arrows), next(iter(one.because), ""))
        if not self._looks_for_sets:
            return self._of_other_searches(member)
        ends = {(self._target, member) in one.arrows, (member, self._target) in one.arrows}
        if ends == {True}:
            # Questions that contradict each other decide nothing.
            return Role(name, "parent or child", (), self._linked(member))
        if (self._target, member) in one.arrows:
            return Role(name, "child", self._named(one.arrows), one.because[0])
        if (member, self._target) in one.arrows:
            return Role(name, "parent", self._named(one.arrows), one.because[0])
        return Role(name, "parent or child", (), self._linked(member))

    def _linked(self, member: int) -> str:
        """Return the question that came closest to separating a member from the target."""
        asked = self._joined[frozenset({member, self._target})].values()
        closest = max(asked, key=lambda step: step.pvalue, default=None)
        return "" if closest is None else f"no question separates them, even {self._question(closest)}"

    def _of_other_searches(self, member: int) -> Role:
        """Return the role where no search around other columns was made: separated once, and dependent given more."""
        pair = frozenset({member, self._target})
        for given, step in self._separated[pair].items():
            if step.pvalue < CLEARLY:
                continue
            joined = next((more for larger, more in self._joined[pair].items() if larger > given), None)
            if joined is not None:
                return Role(self._trace.names[member], "spouse", (), self._told(step, joined))
        return Role(self._trace.names[member], "undecided")

    def _named(self, arrows: list[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        unique = dict.fromkeys(arrows)
        return tuple((self._called(cause), self._called(effect)) for cause, effect in unique)

    def _called(self, variable: int) -> str:
        data = self._trace.data
        if variable < self._target:
            return self._trace.names[variable]
        return "target" if data is None else data.target

    def _told(self, apart: Step, joined: Step) -> str:
        about = self._target if apart.target is None else apart.target
        pair = f"{self._called(apart.feature)} and {self._called(about)}"
        return f"{pair} show no dependence {self._question(apart)}, but do {self._question(joined)}"

    def _question(self, step: Step) -> str:
        others = [self._called(x) for x in step.others]
        return (
            f"given {', '.join(others)} (p = {step.pvalue:.2g})"
            if others
            else f"on their own (p = {step.pvalue:.2g})"
        )
