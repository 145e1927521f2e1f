"""The metadata of a cluster on KRaft, from the file of the controller's metadata log.

A broker's view of the metadata is behind the controller's, and there is none while no broker runs. The log of a controller
with the only vote is the metadata itself, and its batches carry the controller's clock.

Java source mirrored: ``PartitionRegistration.merge`` and the schemas of the records that are read, since 3.9.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.log_inspect.metadata_fields import MetadataFields
from kafka_conformance.replication.live.metadata_source import PartitionChange, PartitionView
from kafka_reference.record_batch.batches import DefaultBatch, decode_batches

__all__ = ["FILE", "MetadataLog"]

FILE = Path("__cluster_metadata-0", "00000000000000000000.log")
"""The log in the controller's folder: it is far smaller than a segment in the time that histories take."""

_REGISTER, _TOPIC, _PARTITION, _PARTITION_CHANGE, _FENCE, _UNFENCE, _REGISTRATION_CHANGE, _CLEAR_ELR = (
    0, 2, 3, 5, 7, 8, 17, 28
)  # fmt: skip
_NO_LEADER_CHANGE = -2
_ELR_OF_PARTITION, _ISR, _LEADER, _ELR = 1, 0, 1, 6
_FENCED = 0


@dataclass(slots=True)
class MetadataLog:
    """The records of the log so far, a metadata source; :meth:`read` adds what was appended since."""

    file: Path
    """The log's file."""
    fenced: dict[int, bool] = field(default_factory=dict)
    """Whether each registered broker is fenced."""
    fences: list[tuple[int, int]] = field(default_factory=list)
    """The ends of sessions: the controller's time in ms, and the broker."""
    _topics: dict[bytes, str] = field(default_factory=dict)
    _changes: dict[str, list[PartitionChange]] = field(default_factory=dict)
    _position: int = 0

    def read(self) -> None:
        """Read what was appended. Raises BrokerLost if the log cannot be read."""
        try:
            with self.file.open("rb") as log:
                log.seek(self._position)
                data = log.read()
        except OSError as error:
            raise BrokerLost(f"the controller's metadata log {self.file} cannot be read: {error.strerror}") from error
        for batch in decode_batches(data):
            self._position += batch.size_in_bytes
            if isinstance(batch, DefaultBatch) and not batch.control:
                for record in batch.records():
                    if record is not None and record.value is not None:
                        self._apply(record.value, batch.max_timestamp)

    def partition(self, topic: str) -> PartitionView | None:
        """Return the state of partition 0 of a topic; None if there is none yet."""
        changes = self._changes.get(topic)
        return changes[-1].view if changes else None

    def changes(self, topic: str) -> tuple[PartitionChange, ...]:
        """Return all states of partition 0 of a topic, in order."""
        return tuple(self._changes.get(topic, ()))

    def _apply(self, value: bytes, time_ms: int) -> None:
        fields = MetadataFields(value)
        fields.unsigned()  # version of the frame
        kind, version = fields.unsigned(), fields.unsigned()
        match kind:
            case _ if kind == _REGISTER:
                self.fenced[fields.int32()] = True  # a broker is fenced until its first heartbeat that has caught up
            case _ if kind in (_FENCE, _UNFENCE):
                self._change_session(fields.int32(), time_ms, fenced=kind == _FENCE)
            case _ if kind == _REGISTRATION_CHANGE:
                broker = fields.int32()
                fields.skip(8)
                if fenced := fields.tagged().get(_FENCED):
                    self._change_session(broker, time_ms, fenced=fenced == b"\x01")
            case _ if kind == _TOPIC:
                name = fields.text()
                self._topics[fields.take(16)] = name
            case _ if kind == _CLEAR_ELR:
                self._clear_elr(fields.text(), time_ms)
            case _ if kind == _PARTITION:
                self._add_partition(fields, version, time_ms)
            case _ if kind == _PARTITION_CHANGE:
                self._change_partition(fields, time_ms)

    def _change_session(self, broker: int, time_ms: int, *, fenced: bool) -> None:
        self.fenced[broker] = fenced
        if fenced:
            self.fences.append((time_ms, broker))

    def _add_partition(self, fields: MetadataFields, version: int, time_ms: int) -> None:
        number, topic = fields.int32(), fields.take(16)
        _, isr, _, _ = (fields.int32s() for _ in range(4))  # replicas, ISR, those removed, those added
        leader, epoch = fields.int32(), fields.int32()
        fields.skip(4)  # the partition epoch
        if version >= 1:
            fields.skip(16 * (fields.unsigned() - 1))  # directories
        elr = fields.tagged().get(_ELR_OF_PARTITION)
        if number == 0:
            view = PartitionView(leader, epoch, isr, _ids(elr) if elr else frozenset())
            self._changes.setdefault(self._topics[topic], []).append(PartitionChange(time_ms, view))

    def _change_partition(self, fields: MetadataFields, time_ms: int) -> None:
        number, topic, tagged = fields.int32(), fields.take(16), fields.tagged()
        if number != 0:
            return
        changes = self._changes[self._topics[topic]]
        view = changes[-1].view
        if (isr := tagged.get(_ISR)) is not None:
            view = replace(view, isr=_ids(isr))
        if (elr := tagged.get(_ELR)) is not None:
            view = replace(view, elr=_ids(elr))
        leader = MetadataFields(tagged[_LEADER]).int32() if _LEADER in tagged else _NO_LEADER_CHANGE
        if leader != _NO_LEADER_CHANGE:  # also to the same leader: each election has a new epoch
            view = replace(view, leader=leader, leader_epoch=view.leader_epoch + 1)
        changes.append(PartitionChange(time_ms, view))

    def _clear_elr(self, topic: str, time_ms: int) -> None:
        """Forget the eligible replicas of a topic, of all topics if it is empty: since 4.1.0, when a minimum is changed.

        Also written before the record of a new topic.
        """
        for changes in [self._changes.get(topic, [])] if topic else self._changes.values():
            if changes and changes[-1].view.elr:
                changes.append(PartitionChange(time_ms, replace(changes[-1].view, elr=frozenset())))


def _ids(data: bytes) -> frozenset[int]:
    return MetadataFields(data).int32s()
