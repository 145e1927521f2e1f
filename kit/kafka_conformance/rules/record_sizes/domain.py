"""Which questions of ``record-sizes`` a user can bring about.

A record has a timestamp of 0 or more, since ProducerRecord refuses any other, and less than 2^31 bytes. A compression
ratio is one that codecs reach: a batch of few bytes may grow, and the expected ratio of early releases falls a little
below 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.record_sizes.question import AskedRecord, Length, Measured, RecordSizesQuestion

__all__ = ["OPTIONAL_LABELS", "domain", "plain", "ratio_domain"]

_LEAST_RATIO, _LARGEST_RATIO = -0.005, 20.0
_SMALLEST_RECORD, _RECORD_OVERHEAD = 7, 100
_EXPANSION = 500
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
_OLD, _HEADERS = "message formats 0 and 1", "headers"
OPTIONAL_LABELS = {
    **{f"{codec}, magic {magic}": _OLD for codec in ("none", "gzip") for magic in (0, 1)},
    "gzip, magic 2": "compression",
    "measured": "sizes by lengths alone",
    "observed": "compression",
    "an estimate below 0": "compression",
    **dict.fromkeys(("headers", "64 headers or more", "a header without a value", "headers in a message"), _HEADERS),
    "half a surrogate pair": "text that is not Unicode",
}


def ratio_domain(ratio: float) -> str:
    """Return why no producer expects this compression ratio."""
    return "" if _LEAST_RATIO <= ratio <= _LARGEST_RATIO else "no producer estimates this compression ratio"


def domain(question: RecordSizesQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def _reasons(question: RecordSizesQuestion) -> Iterator[str]:
    if any(int(record.timestamp) < 0 for record in question.records):
        yield "ProducerRecord refuses a timestamp below 0"
    yield ratio_domain(question.ratio)
    yield from map(_measured_domain, question.measured)
    for compressed, uncompressed in question.observed:
        if uncompressed < _SMALLEST_RECORD:
            yield "a record has at least 7 bytes"
        if compressed > 2 * uncompressed + _EXPANSION:
            yield "no codec makes so many bytes of so few"


def _measured_domain(measured: Measured) -> str:
    if measured.offset_delta < 0:
        return "the offset of a record in its batch is 0 or more"
    if abs(int(measured.timestamp_delta)) > _LONG_MAX:
        return "timestamps are 0 to 2^63-1"
    fields = (measured.key or 0) + (measured.value or 0)
    return "" if fields <= _INT_MAX - _RECORD_OVERHEAD else "a record and its batch have less than 2^31 bytes"


def plain() -> Iterator[RecordSizesQuestion]:
    """Yield batches of records of up to a megabyte, and sizes of records by their lengths, at every end of a varint."""
    ends = sorted({edge + more for edge in (0, *(1 << shift for shift in (6, 13, 20))) for more in (-1, 0, 1)} - {-1})
    for length in ends:
        records = (AskedRecord(1000, "6b6579", Length(length)), AskedRecord(1001, None, "00"), AskedRecord(1002))
        yield RecordSizesQuestion(records, 16384)
    lengths = (None, *ends)
    for magic in (2, 1, 0):
        yield RecordSizesQuestion((AskedRecord(),), magic=magic, measured=tuple(
            Measured(offset, offset * 3, key, value) for offset, key, value in product((0, 63, 64), lengths[:6], lengths)
        ))  # fmt: skip
