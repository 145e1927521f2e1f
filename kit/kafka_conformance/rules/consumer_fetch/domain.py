"""Which questions of ``consumer-fetch`` a user can bring about.

A consumer reads whatever a broker returns: batches of every format and of every client, damaged by disks and networks. A
broker returns batches in the order of their offsets, and none that ends below the fetch offset.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.consumer_fetch.generators import Log
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import decode_header

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "domain", "nearest", "plain"]

OPTIONAL_LABELS = {
    "message format 0 or 1": "message formats 0 and 1",
    "a compressed batch": "compression",
    "check.crcs off": "the setting check.crcs",
    "read_committed": "transactions",
    "an aborted transaction": "transactions",
    "a batch skipped whole": "transactions",
}
OPTIONAL_PARTS = {
    "cause": "the exception that another one wraps",
    "again": "what a consumer does after an exception",
}


def domain(question: ConsumerFetchQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    try:
        first = decode_header(bytes.fromhex(question.records))
        below = first is not None and first.last_offset < question.fetch_offset
    except JavaException:
        below = False
    return "a broker returns no batch that ends below the fetch offset" if below else ""


def nearest(question: ConsumerFetchQuestion) -> ConsumerFetchQuestion:
    """Return the question with the offset of the first batch."""
    if not domain(question):
        return question
    first = decode_header(bytes.fromhex(question.records))
    offset = max(0, 0 if first is None else first.last_offset)
    return ConsumerFetchQuestion(
        question.records, offset, question.read_committed, question.aborted, question.check_crcs
    )


def plain() -> Iterator[ConsumerFetchQuestion]:
    """Yield everyday responses: of one batch and of two, from the middle of a batch, with transactions, compacted."""
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        for offset in (20, 21, 22):
            yield Log(20).append(3, codec=codec).append(2, codec=codec).question(offset)
    for commit in (False, True):
        for committed in (False, True):
            log = Log().append(2, producer=1, transactional=True).append(1).end(1, commit=commit).append(1)
            yield log.question(read_committed=committed)
    yield Log().append(3, kept=(0,)).append(3, kept=()).question()
    yield Log().append(3, kept=(0, 1)).question(2)
    yield ConsumerFetchQuestion("")
