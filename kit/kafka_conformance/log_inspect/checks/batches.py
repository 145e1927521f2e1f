"""Batches of a log: checksums, headers, ascending offsets, gaps, and the names of segments."""

from __future__ import annotations

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.findings import Answer, Loss, Severity
from kafka_conformance.log_inspect.header import CODECS, BatchHeader

__all__ = ["BatchCheck", "unreadable_batch"]

_MOST = 0x7FFFFFFF


class BatchCheck:
    """Checks every batch of a partition, in the order of its segments.

    ``last_offset`` is that of the last batch, -1 at first. ``gaps`` counts places at which offsets are missing.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.last_offset = -1
        self.gaps = 0
        self.exact = False  # is last_offset + 1 the offset that an uncompacted log goes on with?
        self.next_base: int | None = None
        self._file, self._base, self._legacy = "", 0, False

    def begin(self, file: str, base_offset: int, next_base: int | None) -> None:
        """Begin a segment; ``next_base`` names the segment after it."""
        if self.exact and base_offset > self.last_offset + 1:
            # The gap is reported with the first batch, or here if the segment has none.
            self._gap(file, 0, base_offset)
            self.last_offset = base_offset - 1
        self._file, self._base, self.next_base, self._legacy = file, base_offset, next_base, False
        if not self.exact:
            self.last_offset, self.exact = max(self.last_offset, base_offset - 1), True

    def batch(self, position: int, header: BatchHeader) -> None:
        """Check a batch whose checksum is right."""
        base, delta = header.base_offset, header.last_offset_delta
        last = base + delta
        if base <= self.last_offset or base < self._base or (self.exact and base != self.last_offset + 1):
            self._misplaced(position, header)
        if header.magic == 2:
            if header.records != delta + 1 or delta < 0 or header.attributes & ~0x7F:
                self._count(position, header)
            if header.attributes & 0x07 >= len(CODECS):
                self._bad(position, header, f"codec {header.attributes & 7} is unknown")
        elif not self._legacy:
            self._legacy = True
            self._context.findings.add(
                "old-format", self._file, f"magic {header.magic}", position=position, size=header.size, offset=base
            )
        if last - self._base > _MOST:
            self._context.findings.add(
                "offset-past-segment", self._file, f"offset {last} in the segment of {self._base}", position=position,
                size=header.size, offset=last,
            )  # fmt: skip
        if self.next_base is not None and last >= self.next_base:
            self._context.findings.add(
                "segments-overlap", self._file, f"offset {last}, but the next segment begins at {self.next_base}",
                position=position, size=header.size, offset=base,
            )  # fmt: skip
            self.next_base = None  # once per segment
        self.last_offset, self.exact = last, True

    def invalid(self, position: int, header: BatchHeader) -> None:
        """Report a batch whose checksum is wrong; its offsets are not used, nor is a gap after it reported."""
        self._context.losses.add(self._context.findings.add(
            "crc-mismatch", self._file, f"the batch of {header.size:,} bytes at offset {header.base_offset} has another "
            f"checksum than the {header.crc:#010x} in its header", position=position, size=header.size,
            offset=header.base_offset, loss=unreadable_batch(header),
        ), header)  # fmt: skip
        self.exact = False

    def damaged(self) -> None:
        """Record bytes that are not a batch: what follows may begin at any offset."""
        self.exact = False

    def _misplaced(self, position: int, header: BatchHeader) -> None:
        base, findings = header.base_offset, self._context.findings
        if base < self._base:
            findings.add(
                "offset-before-segment", self._file, f"offset {base} in the segment of {self._base}", position=position,
                size=header.size, offset=base,
            )  # fmt: skip
        elif base <= self.last_offset and not (header.magic < 2 and base == self.last_offset == self._base - 1):
            findings.add(
                "offsets-overlap", self._file, f"a batch of offsets {base} to {header.last_offset} follows offset "
                f"{self.last_offset}", position=position, size=header.size, offset=base,
            )  # fmt: skip
        elif base > self.last_offset + 1 and header.magic == 2:
            self._gap(self._file, position, base)

    def _gap(self, file: str, position: int, base: int) -> None:
        self.gaps += 1
        missing = base - self.last_offset - 1
        severity = self._context.gap_severity
        start = self._context.log_start_offset
        if start is not None and base <= start:
            severity = Severity.NOTE
        loss = None if severity is Severity.NOTE else Loss(self.last_offset + 1, base - 1, base)
        self._context.losses.add(self._context.findings.add(
            "offset-gap", file, f"{missing:,} offset{'s are' if missing > 1 else ' is'} missing, from "
            f"{self.last_offset + 1} to {base - 1}", position=position, offset=self.last_offset + 1, severity=severity,
            loss=loss,
        ))  # fmt: skip

    def _count(self, position: int, header: BatchHeader) -> None:
        delta, count = header.last_offset_delta, header.records
        if delta < 0 or count < 0 or count > delta + 1:
            self._bad(position, header, f"{count} records, and a last offset delta of {delta}")
        elif header.attributes & ~0x7F:
            self._bad(position, header, f"attributes {header.attributes & 0xFFFF:#06x} have unknown bits")
        elif not self._context.cleaned:
            self._context.cleaned = True  # only compaction removes records from a batch
        if count < delta + 1:
            self.gaps += 1

    def _bad(self, position: int, header: BatchHeader, what: str) -> None:
        self._context.findings.add(
            "bad-header", self._file, what, position=position, size=header.size, offset=header.base_offset
        )


def unreadable_batch(header: BatchHeader) -> Loss:
    """Return the loss of a batch whose header can be read; it may be wrong too."""
    last = max(header.last_offset, header.base_offset)
    return Loss(header.base_offset, last, marker=Answer.YES if header.control else Answer.NO)
