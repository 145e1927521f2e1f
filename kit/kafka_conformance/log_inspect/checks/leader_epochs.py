"""Leader epochs: the checkpoint ascends, and agrees with the epochs in the batches.

A line ``epoch offset`` means: this epoch begins at this offset. Epochs and offsets ascend. A leader that appends nothing has
a line all the same; a line that begins at or after the log's end is legal.

Java source mirrored: ``LeaderEpochFileCache`` and ``LeaderEpochCheckpointFile``.
"""

from __future__ import annotations

from bisect import bisect_right

from kafka_conformance.core.java_text import parse_int, parse_long
from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.directory import METADATA, checkpoint_lines, small_text
from kafka_conformance.log_inspect.findings import Effect
from kafka_conformance.log_inspect.header import BatchHeader

__all__ = ["LeaderEpochCheck"]

NAME = "leader-epoch-checkpoint"


class LeaderEpochCheck:
    """Checks the epochs of batches. ``epoch`` is that of the last batch with one: batches that repeat it need no check."""

    def __init__(self, context: Context) -> None:
        self._context, self._path = context, context.partition.folder / NAME
        self._name = context.name(self._path)
        self._epochs: list[int] = []
        self._starts: list[int] = []
        self._readable, self._reported, self._again = True, False, False
        self._file = ""
        self.epoch = -1
        self.until = -1  # the first offset at which the checkpoint has another epoch
        self._read()

    def begin(self, file: str) -> None:
        """Begin a segment."""
        self._file = file

    def batch(self, position: int, header: BatchHeader) -> None:
        """Check a batch whose epoch or offset is new."""
        epoch, base = header.leader_epoch, header.base_offset
        if epoch < 0:
            return
        if epoch < self.epoch:
            self._context.findings.add(
                "leader-epoch-back", self._file, f"leader epoch {epoch} follows {self.epoch}", position=position,
                offset=base,
            )  # fmt: skip
        place = self._place(epoch, base)
        if not self._starts:
            self._missing(f"it has no line, and batches have leader epoch {epoch}")
        elif place < 0 and self._above_start(base) and self._context.partition.name != METADATA:
            # The cluster's metadata begins within a segment, at a snapshot, and no checkpoint has its log start offset.
            where = f"offset {base} has leader epoch {epoch} in {self._file}"
            self._missing(f"it begins with offset {self._starts[0]}; {where}")
        else:
            if place >= 0 and self._epochs[place] != epoch and self._above_start(base):
                self._context.findings.add(
                    "leader-epochs-wrong", self._name, f"offset {base} has leader epoch {epoch} in {self._file}; the "
                    f"checkpoint says {self._epochs[place]}", offset=base,
                )  # fmt: skip
            self.until = self._starts[place + 1] if place + 1 < len(self._starts) else 2**63
        self.epoch = epoch

    def _place(self, epoch: int, base: int) -> int:
        """Return the place of the line for an offset, -1 if none is for it."""
        place = bisect_right(self._starts, base) - 1
        if self._readable and not self._again and (not self._starts or (place >= 0 and self._epochs[place] != epoch)):
            self._again = True  # a broker may have written the checkpoint in the meantime
            self._read()
            place = bisect_right(self._starts, base) - 1
        return place

    def _above_start(self, offset: int) -> bool:
        start = self._context.log_start_offset
        return start is None or offset >= start

    def _missing(self, what: str) -> None:
        if not self._reported and self._readable and self._context.partition.only is None:
            self._reported = True
            self._context.findings.add("leader-epochs-missing", self._name, what)

    def _read(self) -> None:
        self._epochs, self._starts = [], []
        back = ""
        try:
            for words in checkpoint_lines(small_text(self._path)):
                if len(words) != 2:
                    raise ValueError(f"{' '.join(words)[:60]!r} is not an epoch with an offset")
                epoch, start = parse_int(words[0]), parse_long(words[1])
                if epoch < 0 or start < 0:
                    raise ValueError(f"{epoch} {start}: an epoch and its offset are 0 or more")
                if self._epochs and (epoch <= self._epochs[-1] or start <= self._starts[-1]):
                    back = back or f"{epoch} {start} follows {self._epochs[-1]} {self._starts[-1]}"
                self._epochs.append(epoch)
                self._starts.append(start)
        except FileNotFoundError:
            return
        except OSError as error:
            self._readable = False
            self._context.findings.add("unreadable", self._name, str(error.strerror))
        except ValueError as error:  # UnicodeDecodeError among them
            self._readable = False
            self._context.findings.add("leader-epochs-corrupt", self._name, str(error))
            self._epochs, self._starts = [], []
        if back and self._readable:  # a broker drops the lines before it that are not lower, and starts
            self._readable = False
            self._context.findings.add("leader-epochs-corrupt", self._name, back, effect=Effect.WRONG)
            self._epochs, self._starts = [], []
