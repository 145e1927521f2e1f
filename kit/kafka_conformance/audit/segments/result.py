"""What segment files add to an audit: the field ``segments`` of ``audit.json``.

A *producer* is a producer id: one writer, over all partitions and epochs. Its records are judged together, so that a rule
shows which a topic of several writers hides. Offsets and timestamps are as in ``kafka_conformance.audit.result``.
"""

from __future__ import annotations

import msgspec

__all__ = ["Problem", "Producer", "RuleShare", "SegmentEvidence"]


class Producer(msgspec.Struct, frozen=True):
    """A producer id, and the rule that places its records.

    ``producer_id`` is -1 for the records of all producers without one.
    ``rules`` are those that explain all of its keyed records: several that its keys do not tell apart, none if there is no
    such rule. ``verdict`` is ``rule``, ``too few keys``, ``no keys``, ``several writers`` (without a producer id) or
    ``contradicted``: no rule explains all records, ``rules`` has the one that explains most, and ``contradictions`` counts
    the others. ``explains`` has the keyed records that each of ``rules`` and the expected rule explains.
    """

    producer_id: int
    first_epoch: int
    last_epoch: int
    records: int
    keyed: int
    distinct: int
    """A lower bound of the different keys; a key in two partitions counts twice."""
    partitions: int
    first_ms: int | None
    last_ms: int | None
    verdict: str
    rules: tuple[str, ...]
    contradictions: int
    explains: dict[str, int]


class RuleShare(msgspec.Struct, frozen=True):
    """The keyed records of all producers of which their ids show the same ``rules``; several, if their keys do not tell.

    Without ``rules``, those of which the ids show none. ``anonymous``: they have no producer id.
    """

    rules: tuple[str, ...]
    anonymous: bool
    producers: int
    """0 if ``anonymous``: their number is not known."""
    keyed: int


class Problem(msgspec.Struct, frozen=True):
    """What is wrong in a file, at a ``position`` in bytes and an ``offset``.

    ``kind``: ``sequence gap``, ``sequence repeated``, ``epoch back``, ``coordinator epoch back`` of a producer; ``corrupt``
    for bytes or records that cannot be read, and are not judged. ``certain`` is False where compaction, retention or an
    expired producer may be the cause.
    """

    kind: str
    certain: bool
    partition: int
    file: str
    position: int
    offset: int
    what: str


class SegmentEvidence(msgspec.Struct, frozen=True):
    """What the segment files show beside the placement of records. ``bytes`` is the size of all ``files``.

    Of ``producers`` those with the most records are kept, of ``problems`` the first ones.
    """

    folders: tuple[str, ...]
    files: int
    bytes: int
    partitions_known: bool
    """Whether the partition count was given; else it is that of the folders."""
    producers: tuple[Producer, ...]
    producers_in_all: int
    by_rule: tuple[RuleShare, ...]
    """The keyed records of all producers, by rule, the most first; those without a rule last."""
    problems: tuple[Problem, ...]
    problems_in_all: int
    problems_certain: int
    """Those of all problems that nothing legal explains."""
    checked_batches: int
    """Batches with a producer id, whose sequences and epochs were checked."""
