"""A step of a script as one class: its fields, its answer, how it is taken, drawn, worded, labelled and judged in domain.

Some rules ask scripts: steps that are taken one after another on one and the same object. The functions below play, draw,
label and judge every such script; they call the methods of the steps and know none of them. A rule defines one subclass of
:class:`Step` for each kind of step, and a *history*: what the steps are taken on. For example, a counter::

    class Count(Step, frozen=True, tag="count"):
        by: Int32

        def take(self, counter: Counter) -> Answer:
            return {"total": counter.add(self.by)}

        @classmethod
        def weighted(cls) -> Iterator[Weighted]:
            yield 3, cls(1)      # three of four steps count by one
            yield 1, cls(-1)

``play(Counter(), [Count(1), Count(1)])`` is ``{"steps": [{"total": 1}, {"total": 2}]}``. A step that throws is answered by
its exception, and the script goes on: the state that an exception leaves behind is part of the rule.

A change of ``take``, ``weighted`` or a field voids the proof of the rule. A change of the methods in ``PROSE`` does not: no
answer depends on them (:mod:`kafka_conformance.verify.reachable_code`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar

from hypothesis import strategies as st

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Answer, Question, answered

__all__ = ["PROSE", "Scripts", "Step", "Weighted", "domain_of", "labels_of", "nearest_of", "play"]

PROSE: Final = frozenset({"words", "mark", "labels", "domain", "nearest"})
"""The methods of a step that decide neither a question of a proof nor an answer."""

S = TypeVar("S", bound="Step")
_BYTE = 256


class Step(Question, frozen=True, tag_field="op"):
    """One step of a script. A subclass declares its fields, and its tag is the step's ``op``."""

    answer: ClassVar[type[AnswerType] | None] = None
    """The type of the answer to a step that does not throw; None: the answer is ``{}``."""

    def take(self, history: Any) -> Answer:
        """Take the step on ``history`` and return its answer. Raises JavaException where Kafka throws."""
        raise NotImplementedError

    @classmethod
    def weighted(cls) -> Iterable[Weighted]:
        """Return the steps of this kind that are drawn, each with its weight; the simplest first."""
        raise NotImplementedError

    def cluster_after(self, cluster: Any) -> Any:
        """Return the question's cluster after this step, if it was ``cluster`` before."""
        return cluster

    def words(self) -> str:
        """Return the step as a sentence, for a timeline."""
        raise NotImplementedError

    def mark(self) -> str:
        """Return the step in a few words, for a figure."""
        raise NotImplementedError

    def labels(self, before: Sequence[Any]) -> Iterable[str]:  # noqa: ARG002 (for subclasses)
        """Return the kinds of question that the step makes of a script in which the steps ``before`` precede it."""
        return ()

    def domain(self, cluster: Any) -> str:  # noqa: ARG002 (for subclasses)
        """Return why no user can bring the step about on this cluster, or "" if one can."""
        return ""

    def nearest(self, cluster: Any) -> Self:  # noqa: ARG002 (for subclasses)
        """Return the step in domain that is most like this one."""
        return self


Weighted: TypeAlias = tuple[int, Step | Callable[[st.DrawFn, Any], Step]]
"""A weight, and a step: ready, or made from the draw and the question's first cluster."""


class Scripts:
    """Draws scripts of 1 to ``longest`` steps.

    ``kinds`` are the classes of steps, the simplest first. A script shrinks towards fewer steps, and each step towards the
    first one of the first kind.
    """

    def __init__(self, *kinds: type[Step], longest: int) -> None:
        choices = [choice for kind in kinds for weight, choice in kind.weighted() for _ in range(weight)]
        if len(choices) > _BYTE:
            raise ValueError(f"the weights of the steps add up to {len(choices)}: expected at most {_BYTE}")
        self.choices = choices
        # One string of bytes, of which each selects a step: a list strategy draws each step separately.
        self._selected = st.binary(min_size=1, max_size=longest)

    def draw(self, draw: st.DrawFn, cluster: Any) -> list[Step]:
        """Return the steps of a script that begins with ``cluster``."""
        chosen = [self.choices[byte % len(self.choices)] for byte in draw(self._selected)]
        return [choice if isinstance(choice, Step) else choice(draw, cluster) for choice in chosen]


def play(history: Any, steps: Iterable[Step]) -> Answer:
    """Take all steps on ``history`` and return their answers."""
    return {"steps": [answered(step.take, history) for step in steps]}


def labels_of(steps: Sequence[Step]) -> Iterator[str]:
    """Return the kinds of question that the steps of a script make of it."""
    for place, step in enumerate(steps):
        yield from step.labels(steps[:place])


def domain_of(cluster: Any, steps: Iterable[Step]) -> str:
    """Return why no user can bring a step of the script about, or "" if one can bring about all."""
    for step in steps:
        if reason := step.domain(cluster):
            return reason
        cluster = step.cluster_after(cluster)
    return ""


def nearest_of(cluster: Any, steps: Iterable[S]) -> tuple[S, ...]:
    """Return the script in domain that is most like this one; ``cluster`` is in domain."""
    nearest: list[S] = []
    for step in steps:
        nearest.append(step.nearest(cluster))
        cluster = nearest[-1].cluster_after(cluster)
    return tuple(nearest)
