"""Questions of ``consumer-fetch``: batches of a log, the aborted list that a broker gives for them, and a fetch offset.

Batches stand one behind the other, as in a log. Most are of magic 2; markers end the transactions of three producers.
Compaction takes records out, and leaves the offsets of the batch. A part of a batch may be damaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_conformance.rules.record_batch.wire import CODECS, Message, RawBatch, compressed, message_set, raw_record

__all__ = ["ABORT", "COMMIT", "TRANSACTIONAL", "Log", "questions"]

TRANSACTIONAL, _CONTROL = 0x10, 0x20
ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"
_KEYS = (ABORT, COMMIT)
_MARKER_VALUE = bytes(6)
_CODEC_IDS = {name: number for number, name in enumerate(CODECS)}
_LEGACY = 9


@dataclass
class Log:
    """Batches that are appended one behind the other, and the transactions that were aborted."""

    next_offset: int = 0
    parts: list[bytes] = field(default_factory=list)
    aborted: list[tuple[int, int]] = field(default_factory=list)
    open: dict[int, int] = field(default_factory=dict)

    def append(
        self,
        count: int = 1,
        /,
        *,
        kept: Sequence[int] | None = None,
        producer: int = -1,
        transactional: bool = False,
        codec: str = "none",
        **wrong: Any,
    ) -> Log:
        """Append a batch of ``count`` offsets, of whose records compaction has kept these, or all."""
        kept = range(count) if kept is None else kept
        if transactional:
            self.open.setdefault(producer, self.next_offset)
        records = b"".join(raw_record(b"k", b"v", offset_delta=place) for place in kept)
        batch = RawBatch(
            compressed(codec, records), len(kept), self.next_offset, last_offset_delta=count - 1, producer_id=producer,
            producer_epoch=min(producer, 0), base_sequence=min(producer, 0),
            attributes=_CODEC_IDS[codec] | (TRANSACTIONAL if transactional else 0),
        )  # fmt: skip
        return self._put(replace(batch, **wrong), count)

    def end(
        self, producer: int, *, commit: bool = False, key: bytes | None = None, empty: bool = False, **wrong: Any
    ) -> Log:
        """Append the marker that ends the transaction of a producer; ``empty``: compaction has removed its record."""
        record = b"" if empty else raw_record(_KEYS[commit] if key is None else key, _MARKER_VALUE)
        first = self.open.pop(producer, None)
        if not commit and first is not None:
            self.aborted.append((producer, first))
        batch = RawBatch(
            record, int(not empty), self.next_offset, last_offset_delta=0, producer_id=producer, producer_epoch=0,
            attributes=TRANSACTIONAL | _CONTROL,
        )  # fmt: skip
        return self._put(replace(batch, **wrong), 1)

    def legacy(
        self, count: int, magic: int = 1, codec: str = "none", *, kept: Sequence[int] | None = None, crc_xor: int = 0
    ) -> Log:
        """Append messages of magic 0 or 1, in a wrapper if there is a codec; in magic 1 its offsets are relative."""
        kept = range(count) if kept is None else kept
        base, wraps = self.next_offset, codec != "none"
        start = 0 if wraps and magic == 1 else base
        messages = [Message(b"v", b"k", start + place, magic, crc_xor=crc_xor) for place in kept]
        data = message_set(messages)
        if wraps:
            last = base + max(kept, default=0)
            value = compressed(codec, data, magic=magic)
            data = Message(value, None, last, magic, _CODEC_IDS[codec]).data()
        self.parts.append(data)
        self.next_offset += count
        return self

    def gap(self, count: int) -> Log:
        """Leave offsets out: compaction has removed their batches."""
        self.next_offset += count
        return self

    def _put(self, batch: RawBatch, count: int) -> Log:
        self.parts.append(batch.data())
        self.next_offset += count
        return self

    @property
    def data(self) -> bytes:
        """The batches, one after another."""
        return b"".join(self.parts)

    def question(
        self, fetch_offset: int = 0, *, aborted: Sequence[tuple[int, int]] | None = None, **fields: Any
    ) -> ConsumerFetchQuestion:
        """Return the question with these batches; with read_committed, by default with the list that a broker gives."""
        if aborted is None:
            aborted = self.aborted if fields.get("read_committed") else ()
        data = fields.pop("data", self.data)
        return ConsumerFetchQuestion(data.hex(), fetch_offset, aborted=tuple(aborted), **fields)


_WRONG: tuple[dict[str, Any], ...] = (
    {"crc_xor": 1}, {"count": 9}, {"count": -1}, {"attributes": 5}, {"magic": 3}, {"length": 13}, {"length": 40},
    {"length": 49}, {"length": 57},
)  # fmt: skip
_BAD_KEYS = (b"", b"\0", b"\0\0\0\2", b"\0\0\0\x63", b"\xff\xff\0\0", None)


@st.composite
def questions(draw: st.DrawFn) -> ConsumerFetchQuestion:
    """Draw a log of one to six batches, and how it is fetched."""
    log = Log(draw(st.sampled_from((0, 0, 5, 100, 2**40))))
    first = log.next_offset
    damaged = draw(st.integers(0, 3)) == 0
    for _ in range(draw(st.integers(1, 6))):
        _append(draw, log, damaged=damaged)
    committed = draw(st.sampled_from((True, True, False)))
    aborted = list(log.aborted)
    # The broker also lists the start of a transaction that ends behind the response.
    aborted += [(producer, start) for producer, start in log.open.items() if draw(st.integers(0, 2)) == 0]
    order = draw(st.sampled_from(("given", "reversed", "doubled", "other")))
    if order == "reversed":
        aborted.reverse()
    elif order == "doubled":
        aborted += aborted
    elif order == "other" and draw(st.booleans()):
        aborted.append((draw(st.integers(1, 4)), draw(st.integers(first, log.next_offset + 2))))
    data = log.data
    if draw(st.integers(0, 5)) == 0:
        data = data[: draw(st.integers(max(0, len(data) - 120), len(data)))]
    offset = draw(st.integers(first, log.next_offset + 1)) if draw(st.booleans()) else first
    return log.question(
        offset,
        aborted=aborted if committed or draw(st.booleans()) else (),
        data=data,
        read_committed=committed,
        check_crcs=draw(st.sampled_from((True, True, True, False))),
    )


def _append(draw: st.DrawFn, log: Log, *, damaged: bool) -> None:
    kind = draw(st.sampled_from(("plain", "transaction", "transaction", "transaction", "end", "end", "legacy", "gap")))
    count = draw(st.integers(1, 4))
    wrong = draw(st.sampled_from(_WRONG)) if damaged and draw(st.booleans()) else {}
    codec = draw(st.sampled_from(("none", "none", "none", *CODECS)))
    if wrong.keys() & {"attributes", "length", "count"}:
        codec = "none"
    kept = draw(st.one_of(st.none(), st.none(), st.lists(st.integers(0, count - 1), unique=True).map(sorted)))
    if kind == "gap":
        log.gap(count)
    elif kind == "legacy":
        magic = draw(st.integers(0, 1))
        codec = "gzip" if codec == "zstd" else codec
        log.legacy(count, magic, codec, kept=kept or None, crc_xor=wrong.get("crc_xor", 0))
    elif kind == "end":
        producer = draw(st.sampled_from((*log.open, 3) if not log.open else tuple(log.open)))
        key = draw(st.sampled_from(_BAD_KEYS[:-1])) if damaged and draw(st.booleans()) else None
        log.end(producer, commit=draw(st.booleans()), key=key, empty=draw(st.integers(0, 5)) == 0, **wrong)
    else:
        # A producer with a transaction that is open may write in it only.
        producer = draw(st.integers(1, 3)) if kind == "transaction" else draw(st.sampled_from((-1, -1, 7)))
        log.append(count, kept=kept, producer=producer, transactional=kind == "transaction", codec=codec, **wrong)
