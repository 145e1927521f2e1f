"""The question of ``consumer-fetch``: the records of a fetch response, and the position of the consumer."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Hex, Question

__all__ = ["AskedAborted", "ConsumerFetchQuestion"]

_Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
AskedAborted: TypeAlias = tuple[_Offset, _Offset]


class ConsumerFetchQuestion(Question, frozen=True, omit_defaults=True):
    """A fetch response for one partition, without an error."""

    records: Hex
    """The record set: batches one after another, the last possibly cut."""
    fetch_offset: _Offset = 0
    """The offset that the consumer fetched from; the first batch may begin below it."""
    read_committed: bool = False
    """Whether ``isolation.level`` is read_committed."""
    aborted: tuple[AskedAborted, ...] = ()
    """The aborted transactions: the producer id of each, and the offset of its first record."""
    check_crcs: bool = True
    """``check.crcs``."""
