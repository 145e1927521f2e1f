"""How much of a rule a target answered: enough to be judged, or not.

A kind of question (a required label of the rule that is asked in domain) is a *core* kind, unless the rule lists it as one
that a client may lack (``Rule.optional_labels``). A question that is of an optional kind as well may be unsupported. A rule
is judged only if :data:`LEAST` of the other questions of each core kind are answered.

A rule may have two halves (``Rule.half``), and an implementation may have only one of them: if no question of a half is
answered, the other half is judged alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kafka_conformance.core.events import Coverage, Everyday
from kafka_conformance.core.pipeline import Judgement, Tally
from kafka_conformance.core.protocol import Agrees, Answer, Answered, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.answer_parts import read
from kafka_conformance.reports.terminal import plural

__all__ = ["LEAST", "Answers", "conforming_rules", "missing_coverage"]

LEAST = 0.9
"""The share of a core kind that has to be answered."""

_REASONS, _REASON_LENGTH, _NAME_LENGTH = 8, 200, 40
_OTHERS = "(other reasons)"
_ANY = "any"


@dataclass(slots=True)
class Answers:
    """A target's answers about a rule in a release: their tally, the right ones, and what was not supported."""

    tally: Tally
    own_draws: bool = False
    """Whether the target makes its own draws: then its right answers can be others than the expected ones."""
    right: list[tuple[Question, Answer]] = field(default_factory=list)
    answered: list[Question] = field(default_factory=list)
    unsupported: list[Question] = field(default_factory=list)
    unsigned: int = 0
    harmless: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    _left_out: Counter[str] = field(default_factory=Counter)
    _given: Counter[str] = field(default_factory=Counter)
    _reasons: Counter[str] = field(default_factory=Counter)
    _everyday: Counter[str] = field(default_factory=Counter)
    _plain: frozenset[Question] = field(init=False)

    def __post_init__(self) -> None:
        self._plain = frozenset(self.tally.rule.plain())

    def add(self, judgement: Judgement) -> None:
        """Count one judgement; one without an expected answer was not asked."""
        if not isinstance(judgement.expected, Answered):
            return
        self.tally.add(judgement)
        if judgement.question in self._plain:
            unsupported, agrees = (isinstance(judgement.verdict, kind) for kind in (Unsupported, Agrees))
            self._everyday["unsupported" if unsupported else "asked"] += 1
            self._everyday["agreed"] += agrees
        if isinstance(judgement.verdict, Unsupported):
            self.unsupported.append(judgement.question)
            self._reasons[clipped(judgement.verdict.why, _REASON_LENGTH)] += 1
        elif isinstance(judgement.actual, Answered):
            self.answered.append(judgement.question)
            right = judgement.expected.answer
            if not self.own_draws:
                right = self._read(judgement.question, right, judgement.actual.answer)
            if isinstance(judgement.verdict, Agrees):
                given = judgement.actual.answer if self.own_draws else right
                self.right.append((judgement.question, given))
                self.unsigned += "hash" in judgement.expected.answer and judgement.actual != judgement.expected

    def _read(self, question: Question, expected: Answer, actual: Answer) -> Answer:
        """Count the parts of two answers; return the expected one without what the actual one leaves out."""
        reading = read(self.tally.rule, question, expected, actual)
        self._left_out.update(reading.left_out)
        self._given.update(reading.given)
        self.harmless.update(reading.harmless)
        self.fields.update(f"too many: {clipped(name, _NAME_LENGTH)}" for name in reading.too_many)
        self.fields.update(f"missing: {name}" for name in reading.missing)
        return reading.expected

    @property
    def fields_seen(self) -> dict[str, int]:
        """The fields that are too many or missing, the most frequent first."""
        return dict(self.fields.most_common(_REASONS))

    @property
    def left_out(self) -> tuple[Coverage, ...]:
        """The optional parts that the target left out, in the order of the rule."""
        both = self._left_out + self._given
        return tuple(Coverage(part, self._given[part], both[part]) for part in sorted(self._left_out))

    def halves(self, differing: Iterable[Question], known: Iterable[Question]) -> dict[str, str]:
        """Return the verdict of each half of the rule; none for a rule without halves.

        ``differing`` are the questions that have a wrong answer, ``known`` those whose difference is known.
        """
        rule = self.tally.rule
        half = rule.half
        asked = {name for one in (*self.answered, *self.unsupported) if (name := half(one))}
        wrong, covered, answered = (set(map(half, ones)) for ones in (differing, known, self.answered))
        short = {name for name in answered if _missing(rule, *_of_half(rule, name, self.answered, self.unsupported))}
        verdicts = (("differs", wrong), ("not judged", short), ("known", covered), ("conforms", answered))
        return {
            name: next((verdict for verdict, halves in verdicts if name in halves), "not asked")
            for name in sorted(asked)
        }

    @property
    def everyday(self) -> Everyday | None:
        """The counts of the rule's everyday questions; None if none was put to the target."""
        counts = self._everyday
        return Everyday(counts["asked"], counts["agreed"], counts["unsupported"]) if counts else None

    @property
    def reasons(self) -> dict[str, int]:
        """The target's reasons for what it does not support, the most frequent first, the rarest as one."""
        found = dict(self._reasons.most_common(_REASONS))
        rest = self._reasons.total() - sum(found.values())
        return {**found, _OTHERS: rest} if rest else found

    @property
    def missing(self) -> tuple[Coverage, ...]:
        """The kinds with too few answered questions, the least covered first."""
        return missing_coverage(self.tally.rule, self.answered, self.unsupported)


def conforming_rules(conform: int, asked: int, rules: int, in_part: int = 0) -> str:
    """Return a text that says how many of the rules asked conform; ``rules`` is the number that the kit has.

    >>> conforming_rules(2, 2, 32)
    '2 of 2 rules asked conform (the kit has 33)'
    """
    verb = "conforms" if conform == 1 else "conform"
    words = f"{conform} of {plural(asked, 'rule')} asked {verb}"
    words += f", {in_part} in part" if in_part else ""
    return f"{words} (the kit has {rules})" if asked < rules else words


def missing_coverage(rule: Rule, answered: Sequence[Question], unsupported: Sequence[Question]) -> tuple[Coverage, ...]:
    """Return the core kinds with fewer than :data:`LEAST` answered, the least covered first.

    Each half of the rule counts separately, if any question of it is answered. Where every question of a half is of an
    optional kind too, all of them together are one kind, "any".
    """
    halves = sorted(set(map(rule.half, answered)))
    below = [kind for half in halves for kind in _missing(rule, *_of_half(rule, half, answered, unsupported))]
    return tuple(sorted(below, key=lambda kind: (kind.answered / kind.asked, -kind.asked)))


def _of_half(rule: Rule, half: str, *lists: Sequence[Question]) -> list[list[Question]]:
    return [[one for one in ones if rule.half(one) == half] for ones in lists]


def _missing(rule: Rule, answered: Sequence[Question], unsupported: Sequence[Question]) -> list[Coverage]:
    if not unsupported or not answered:  # nothing is missing, or everything
        return []
    core, yes, no = rule.required_labels - rule.optional_labels.keys(), Counter[str](), Counter[str]()
    for questions, counts in ((answered, yes), (unsupported, no)):
        for question in questions:
            labels = set(rule.labels(question))
            if labels.isdisjoint(rule.optional_labels):
                counts.update(labels & core)
    kinds = [Coverage(kind, yes[kind], yes[kind] + no[kind]) for kind in sorted(yes | no)]
    kinds = kinds or [Coverage(_ANY, len(answered), len(answered) + len(unsupported))]
    return [kind for kind in kinds if kind.answered < LEAST * kind.asked]
