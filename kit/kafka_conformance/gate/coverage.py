"""How much of a rule a target answered: enough to be judged, or not.

A kind of question (a required label of the rule that is asked in domain) is a *core* kind, unless the rule lists it as one
that a client may lack (``Rule.optional_labels``). A question that is of an optional kind as well may be unsupported. Of all
others, :data:`LEAST` of each core kind have to be answered; a rule below that is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_conformance.core.events import Coverage
from kafka_conformance.core.pipeline import Judgement, Tally
from kafka_conformance.core.protocol import Agrees, Answer, Answered, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sanitize import clipped

__all__ = ["LEAST", "Answers", "missing_coverage"]

LEAST = 0.9
"""The share of a core kind that has to be answered."""

_REASONS, _REASON_LENGTH = 8, 200
_OTHERS = "(other reasons)"
_ANY = "any"


@dataclass(slots=True)
class Answers:
    """A target's answers about a rule in a release: their tally, the right ones, and what was not supported."""

    tally: Tally
    own_draws: bool = False
    """Whether the target draws by itself: then its right answers are its own, not the expected ones."""
    right: list[tuple[Question, Answer]] = field(default_factory=list)
    answered: list[Question] = field(default_factory=list)
    unsupported: list[Question] = field(default_factory=list)
    unsigned: int = 0
    _reasons: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        """Count one judgement; one without an expected answer was not asked."""
        if not isinstance(judgement.expected, Answered):
            return
        self.tally.add(judgement)
        if isinstance(judgement.actual, Answered):
            self.answered.append(judgement.question)
        if isinstance(judgement.verdict, Agrees):
            given = judgement.actual if self.own_draws else judgement.expected
            if isinstance(given, Answered):
                self.right.append((judgement.question, given.answer))
            self.unsigned += "hash" in judgement.expected.answer and judgement.actual != judgement.expected
        elif isinstance(judgement.verdict, Unsupported):
            self.unsupported.append(judgement.question)
            self._reasons[clipped(judgement.verdict.why, _REASON_LENGTH)] += 1

    @property
    def reasons(self) -> dict[str, int]:
        """The target's reasons for what it does not support, the most frequent first, the rarest as one."""
        found = dict(self._reasons.most_common(_REASONS))
        rest = self._reasons.total() - sum(found.values())
        return {**found, _OTHERS: rest} if rest else found

    @property
    def missing(self) -> tuple[Coverage, ...]:
        """The kinds of which too few questions were answered, the least covered first."""
        return missing_coverage(self.tally.rule, self.answered, self.unsupported)


def missing_coverage(rule: Rule, answered: Sequence[Question], unsupported: Sequence[Question]) -> tuple[Coverage, ...]:
    """Return the core kinds of which fewer than :data:`LEAST` are answered, the least covered first.

    Where every question is of an optional kind too, all of them together are one kind, "any".
    """
    if not unsupported or not answered:  # nothing is missing, or everything
        return ()
    core, yes, no = rule.required_labels - rule.optional_labels.keys(), Counter[str](), Counter[str]()
    for questions, counts in ((answered, yes), (unsupported, no)):
        for question in questions:
            labels = set(rule.labels(question))
            if labels.isdisjoint(rule.optional_labels):
                counts.update(labels & core)
    kinds = [Coverage(kind, yes[kind], yes[kind] + no[kind]) for kind in sorted(yes | no)]
    kinds = kinds or [Coverage(_ANY, len(answered), len(answered) + len(unsupported))]
    below = [kind for kind in kinds if kind.answered < LEAST * kind.asked]
    return tuple(sorted(below, key=lambda kind: (kind.answered / kind.asked, -kind.asked)))
