"""The events of a gate, as a stream: every report is made from this alone.

One event is one JSON object on a line (``--events out.ndjson``), identified by its field ``event``. The order is ``began``;
then for each rule in each release ``rule_began``, a ``differed`` for each finding and a ``protocol_error`` for each time
the target broke the protocol, and ``rule_ended``; a ``stale`` for each entry of the known failures that no longer matches;
``ended``. Texts of a target are unchanged: a writer has to escape them for its own format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "Began",
    "Coverage",
    "Diagnosis",
    "Differed",
    "Distribution",
    "Ended",
    "Event",
    "Everyday",
    "Grade",
    "Known",
    "OutOfDomain",
    "ProtocolError",
    "RuleBegan",
    "RuleEnded",
    "Severity",
    "Stale",
    "Target",
    "Verdict",
    "from_lines",
    "to_line",
]

Verdict: TypeAlias = Literal["agrees", "differs", "known", "unsupported", "not judged", "errored", "crashed"]
"""The verdict on one rule in one release. ``known``: all differences are known failures; ``unsupported``: no question was
answered; ``not judged``: too few were, of a kind that every client has to answer; ``errored``: the target failed at
questions; ``crashed``: it broke the protocol or ended."""

Grade: TypeAlias = Literal["exact", "admissible", "statistical"]
"""What the target was held to: Java's own answer, one that the rule allows, or the shares of many records."""

Source: TypeAlias = Literal["frozen", "fresh", "earlier"]
"""Where a question came from: the cases that ship, Hypothesis, or a failure that an earlier run saved."""


Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
"""How bad a finding is for users, the worst first (``gate.severity``)."""


class _Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="event", omit_defaults=True):
    """One line of the stream."""


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The implementation under test: its own description, and the command that started it."""

    name: str
    version: str
    language: str
    command: str


class Diagnosis(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A known mistake that gives ``equal`` of the ``wrong`` answers the target gave to a rule's questions.

    ``also`` is how many of the right answers, of ``right`` asked, it gives as well: an explanation explains both.
    ``sample_of`` is how many wrong answers there were, if ``wrong`` are a sample of them; else 0.
    """

    mutant: str
    description: str
    equal: int
    wrong: int
    also: int = 0
    right: int = 0
    references: tuple[str, ...] = ()
    sample_of: int = 0


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The entry of the known failures that a difference falls under."""

    reason: str
    issue: str = ""
    expires: str = ""


class Distribution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Records per partition: what the rule predicts, what the target did, and how likely so much deviation is by chance."""

    title: str
    partitions: tuple[int, ...]
    expected: tuple[float, ...]
    actual: tuple[int, ...]
    p_value: float


class Coverage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of question, and how many of those asked were answered."""

    kind: str
    answered: int
    asked: int


class OutOfDomain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of questions that no user can bring about, as in :class:`RuleEnded`; they do not change the verdict."""

    asked: int
    agreed: int
    differed: int
    known: int
    failed: int
    unsupported: int


class Everyday(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of everyday questions (``Rule.plain``), which are among those of :class:`RuleEnded`.

    ``asked`` were judged, and ``unsupported`` come on top, as there.
    """

    asked: int
    agreed: int
    unsupported: int = 0


class Began(_Event, frozen=True, tag="began"):
    """The gate opens. ``unproven`` are the releases without a row in the certificate.

    ``selection`` are the patterns of the questions asked; empty: all are asked. ``case_set`` is the set of the frozen cases
    that were asked, and how many of its cases are withdrawn: "Kafka 4.4, set 1".
    """

    kit: str
    target: Target
    releases: tuple[str, ...]
    rules: tuple[str, ...]
    seed: int
    examples: int
    unproven: tuple[str, ...] = ()
    selection: str = ""
    case_set: str = ""


class RuleBegan(_Event, frozen=True, tag="rule_began"):
    """A rule in a release, with how many frozen cases there are to ask.

    ``era`` are the releases that this one stands for, itself included; empty unless eras are asked.
    """

    rule: str
    release: str
    grade: Grade
    frozen: int
    era: tuple[str, ...] = ()


class Differed(_Event, frozen=True, tag="differed"):
    """A finding: a question, as small as it became, and how many of its kind there were.

    ``file`` is where it was saved, for ``replay``, and ``by`` the target as ``replay --actual`` takes it; without a file,
    ``by`` is the command that runs a script again. ``link`` documents the rule, ``java`` the method that decides.
    ``out_of_domain`` is why no user can bring the question about, or empty.
    ``effect`` says what the finding means for users, and ``keys`` is the number of different keys in its questions.
    In a gate of brokers, ``cases`` are the ids of all cases of the kind, and ``versions`` says which versions of the request
    have the difference.
    """

    rule: str
    release: str
    id: str
    source: Source
    kind: str
    times: int
    question: dict[str, Any]
    expected: dict[str, Any]
    actual: dict[str, Any]
    java: str
    link: str
    file: str = ""
    diagnosis: Diagnosis | None = None
    known: Known | None = None
    out_of_domain: str = ""
    severity: Severity = "medium"
    effect: str = ""
    keys: int = 0
    by: str = ""
    cases: tuple[str, ...] = ()
    versions: str = ""


class ProtocolError(_Event, frozen=True, tag="protocol_error"):
    """The target broke the protocol, ended, or failed: what happened, how often, and a hint.

    ``question`` is the smallest one at fault, ``expected`` its right answer, ``id`` its name, ``file`` where it was saved,
    for ``replay``, ``by`` the target as ``replay --actual`` takes it. All five are absent where no question is at fault, but
    for ``by`` of a script, which is the command that runs it again.
    """

    rule: str
    release: str
    error: str
    what: str
    hint: str
    times: int = 1
    id: str = ""
    question: dict[str, Any] | None = None
    expected: dict[str, Any] | None = None
    file: str = ""
    by: str = ""


class RuleEnded(_Event, frozen=True, tag="rule_ended"):
    """The counts of a rule in a release: ``asked`` = agreed + differed + known + failed; ``unsupported`` comes on top.

    All counts are of questions in domain. ``reasons`` are the target's, for what it does not support, with how often it gave
    each; ``missing`` are the kinds of which too few questions were answered; ``unsigned`` counts hashes that agree as 32
    bits without a sign.

    ``left_out`` are the optional parts of answers that the target left out, each with how many answers had it; ``harmless``
    counts answers that agree but for what no user notices, and says what that is; ``fields`` counts answers with fields
    that are too many or missing. ``halves`` has the verdict of each half, for a rule that has two: "conforms", "known",
    "differs", "not judged", "not asked". ``everyday`` counts the everyday questions among all of these; None if the rule's
    questions were not counted so. ``not_run`` counts questions that were not asked, because the target was lost.
    """

    rule: str
    release: str
    grade: Grade
    verdict: Verdict
    asked: int
    agreed: int
    differed: int
    known: int
    failed: int
    unsupported: int
    frozen: int
    fresh: int
    earlier: int
    seconds: float
    diagnoses: tuple[Diagnosis, ...] = ()
    distribution: Distribution | None = None
    reasons: dict[str, int] = msgspec.field(default_factory=dict)
    missing: tuple[Coverage, ...] = ()
    unsigned: int = 0
    out_of_domain: OutOfDomain | None = None
    left_out: tuple[Coverage, ...] = ()
    harmless: dict[str, int] = msgspec.field(default_factory=dict)
    fields: dict[str, int] = msgspec.field(default_factory=dict)
    halves: dict[str, str] = msgspec.field(default_factory=dict)
    everyday: Everyday | None = None
    not_run: int = 0


class Stale(_Event, frozen=True, tag="stale"):
    """An invalid entry of the known failures: ``why`` is stale, unknown, expired, or another message."""

    entry: str
    why: str
    hint: str


class Ended(_Event, frozen=True, tag="ended"):
    """The verdict: 0 conforms, 1 differs, 2 could not be judged; ``why`` in one line.

    ``conform`` counts the rules that agree in every release asked, of ``rules_asked`` that the target or the user named, or
    of which the target answered something; the kit has ``rules``. ``in_part`` counts those of which a half agrees, and the
    other one was not asked.
    """

    exit_code: int
    why: str
    asked: int
    agreed: int
    differed: int
    known: int
    failed: int
    unsupported: int
    seconds: float
    conform: int = 0
    rules: int = 0
    in_part: int = 0
    rules_asked: int = 0
    not_run: int = 0


Event: TypeAlias = Began | RuleBegan | Differed | ProtocolError | RuleEnded | Stale | Ended


def to_line(event: Event) -> bytes:
    """The event as one line of JSON, without its end. Half a surrogate pair, which UTF-8 cannot hold, becomes ``?``."""
    try:
        return msgspec.json.encode(event)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(event), ensure_ascii=False).encode("utf-8", "replace")


def from_lines(lines: Iterable[bytes | str]) -> Iterator[Event]:
    """The events of these lines. Raises msgspec.ValidationError, msgspec.DecodeError."""
    decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
    return (decoder.decode(line) for line in lines if line.strip())
