"""What a finding makes unreadable: which offsets, up to the next good one, and what else was among them.

A loss is known in part where it is found. Example: bytes at position 1,111 are not a batch, and offset 18 was to follow. The
next batch that is read begins with offset 24, so 18 to 23 are lost, and 24 is the next good offset. Whether the end of a
transaction was among them is known if the transaction index has one there. Whether they had the only copy of a producer's
state is known at the end: a snapshot that is newer has it too.

A start that recovers the segment cuts the log off: then all that follows is lost with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafka_conformance.log_inspect.findings import Answer, Effect, LogFinding, Loss
from kafka_conformance.log_inspect.header import BatchHeader

__all__ = ["Losses"]


class Losses:
    """The losses of a partition, in the order of its log."""

    def __init__(self) -> None:
        self.open: list[Loss] = []
        """Losses after which no good batch has been read so far."""
        self._found: list[tuple[LogFinding, Loss, int | None]] = []
        self._before = (0, 0)
        self._unmarked: list[Loss] = []
        self._lost_snapshots: list[Loss] = []
        self._snapshots: list[int] = []
        self._newest_snapshot = -1
        self._known_end = 0

    def add(self, found: LogFinding | None, header: BatchHeader | None = None) -> None:
        """Take note of a finding with a loss; ``header`` is that of the batch, None for bytes that are not one."""
        if found is None or found.loss is None:  # counted only
            return
        self._found.append((found, found.loss, None if header is None else header.producer_id))
        if found.loss.next_good is None:
            self.open.append(found.loss)
        if found.loss.marker is Answer.UNKNOWN:
            self._unmarked.append(found.loss)

    def mark(self) -> None:
        """Begin what :meth:`withdraw` comes back to, as :class:`Findings` does."""
        self._before = len(self._found), self._known_end

    def withdraw(self) -> None:
        """Remove what was added since the last :meth:`mark`."""
        count, self._known_end = self._before
        removed = {id(loss) for _, loss, _ in self._found[count:]}
        del self._found[count:]
        self.open = [loss for loss in self.open if id(loss) not in removed]
        self._unmarked = [loss for loss in self._unmarked if id(loss) not in removed]

    def resume(self, offset: int) -> None:
        """Take note of the next good batch."""
        for loss in self.open:
            loss.next_good = offset
        self.open.clear()

    def indexed_markers(self, offsets: Collection[int]) -> None:
        """Take note of the abort markers that the transaction index of a segment names."""
        for loss in self._unmarked:
            if any(_within(loss, offset) for offset in offsets):
                loss.marker = Answer.YES
        # The index of a later segment names markers of later offsets.
        self._unmarked = [loss for loss in self.open if loss.marker is Answer.UNKNOWN]

    def lost_snapshot(self, offset: int) -> Loss:
        """Return the loss of a snapshot that is missing or cannot be read: no record is lost."""
        self._lost_snapshots.append(Loss(offset, offset - 1, marker=Answer.NO))
        return self._lost_snapshots[-1]

    def good_snapshot(self, offset: int) -> None:
        """Take note of a snapshot that can be read."""
        self._snapshots.append(offset)

    def known_end(self, offset: int) -> None:
        """Take note that offsets before this one were in the log, as an index has it."""
        self._known_end = max(self._known_end, offset)

    def finish(
        self,
        end: int,
        bases: Sequence[int],
        producers: Mapping[int, int],
        last_marker: int,
        *,
        high: int,
        end_after: int,
        cut: bool,
    ) -> None:
        """Complete the losses when all of the partition is read.

        ``end`` is the end of the log, ``high`` the high watermark if it is higher, ``end_after`` the end after a start,
        which removes later snapshots; ``bases`` are those of the segments.
        ``producers`` has the last offset of each producer that follows all losses, ``last_marker`` is the offset of the last
        batch that ends a transaction. ``cut``: a start cuts the log off, and removes later segments.
        """
        high = max(high, self._known_end)
        self._newest_snapshot = max((offset for offset in self._snapshots if offset <= end_after), default=-1)
        latest = max((loss.first for _, loss, _ in self._found), default=0)
        for found, loss, producer in self._found:
            if found.effect is Effect.TRUNCATES:
                following = None if cut else next((base for base in bases if base > loss.first), None)
                self._truncated(
                    loss, max(end, high), following, producers, last_marker, producer, last=loss.first == latest
                )
                continue
            if loss.last is None:
                known = loss.next_good if loss.next_good is not None else high
                loss.last = known - 1 if known > loss.first else None
            if loss.state is Answer.UNKNOWN:
                loss.state = self._only_copy(loss, producer, producers, last=loss.first == latest)
        # A log that begins with offset 0 has every producer, and so has another snapshot with the log after it.
        whole = self._newest_snapshot >= 0 or (bases[:1] == [0] and not self._found)
        for loss in self._lost_snapshots:
            loss.state = Answer.NO if whole else Answer.YES

    def _truncated(
        self,
        loss: Loss,
        end: int,
        following: int | None,
        producers: Mapping[int, int],
        last_marker: int,
        producer: int | None,
        *,
        last: bool,
    ) -> None:
        loss.next_good = following
        until = max(end, 0 if loss.last is None else loss.last + 1) if following is None else following
        loss.last = until - 1 if until > loss.first else None
        if loss.last is None:
            return
        if loss.first <= last_marker <= loss.last:
            loss.marker = Answer.YES
        own = producer is not None and producer >= 0
        if own or any(loss.first <= offset <= loss.last for offset in producers.values()):
            loss.state = Answer.YES
        elif producer is not None and last:  # later producers are not known if more is damaged
            loss.state = Answer.NO

    def _only_copy(self, loss: Loss, producer: int | None, producers: Mapping[int, int], *, last: bool) -> Answer:
        if self._newest_snapshot > (loss.first if loss.last is None else loss.last):
            return Answer.NO
        if producer is None:
            return Answer.UNKNOWN
        if producer < 0 or producer in producers:
            return Answer.NO
        return Answer.YES if last else Answer.UNKNOWN


def _within(loss: Loss, offset: int) -> bool:
    end = loss.next_good if loss.last is None else loss.last + 1
    return loss.first <= offset and (end is None or offset < end)
