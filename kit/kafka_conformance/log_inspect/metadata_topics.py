"""The partitions that the cluster's metadata places on this node, from the local ``__cluster_metadata-0``.

A start compares them with the folders: a partition whose topic id the metadata does not have, or has on other nodes, is
renamed to ``-stray``. The local copy of a broker that is not a controller may lack the newest records.

Java source mirrored: ``LogManager.isStrayKraftReplica``, since 3.7.0, and the schemas of the records that are read.
"""

from __future__ import annotations

import contextlib
import struct
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

from kafka_conformance.log_inspect.directory import Partition, small_file
from kafka_conformance.log_inspect.metadata_fields import MetadataFields
from kafka_reference.errors import JavaException
from kafka_reference.record_batch.batches import DefaultBatch, decode_batches

__all__ = ["MetadataTopics", "read_metadata_topics"]

_TOPIC, _PARTITION, _PARTITION_CHANGE, _REMOVE_TOPIC = 2, 3, 5, 9
_REPLICAS = 2
_LARGEST = 64 * 2**20


@dataclass(slots=True)
class MetadataTopics:
    """Topic ids and the replicas of their partitions; ``node`` is this node's id."""

    node: int
    replicas: dict[tuple[str, int], frozenset[int]] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)

    def why_stray(self, topic_id: str, number: int) -> str:
        """Return why a start sets a partition aside, "" if it does not."""
        if topic_id not in self.topics:
            return "the cluster's metadata has no topic of this id"
        replicas = self.replicas.get((topic_id, number))
        if replicas is None:
            return f"the metadata has no partition {number} of {self.topics[topic_id]}"
        if self.node not in replicas:
            return f"the metadata has its replicas on {', '.join(map(str, sorted(replicas)))}, not on this node {self.node}"
        return ""

    def apply(self, value: bytes) -> None:
        """Apply a record of the metadata."""
        fields = MetadataFields(value)
        fields.unsigned()  # version of the frame
        kind = fields.unsigned()
        fields.unsigned()
        if kind == _TOPIC:
            name = fields.text()
            self.topics[_id(fields)] = name
        elif kind == _REMOVE_TOPIC:
            gone = _id(fields)
            self.topics.pop(gone, None)
            for key in [key for key in self.replicas if key[0] == gone]:
                del self.replicas[key]
        elif kind == _PARTITION:
            number, topic = fields.int32(), _id(fields)
            self.replicas[topic, number] = fields.int32s()
        elif kind == _PARTITION_CHANGE:
            number, topic = fields.int32(), _id(fields)
            if (replicas := fields.tagged().get(_REPLICAS)) is not None:
                self.replicas[topic, number] = MetadataFields(replicas).int32s()


def read_metadata_topics(partition: Partition, node: int) -> MetadataTopics | None:
    """Return the topics of the newest snapshot and of the log after it, up to the first damage; None if not readable."""
    found = MetadataTopics(node)
    files = [partition.folder / name for name in partition.metadata_snapshots[-1:]]
    after = int(files[0].name[:20]) if files else 0
    files += [segment.path("log") for segment in partition.segments]
    for file in files:
        try:
            data = small_file(file, _LARGEST)
        except OSError:
            return None
        with contextlib.suppress(JavaException, ValueError, IndexError, struct.error):
            _read(found, data, after if file.suffix == ".log" else -1)
    return found


def _read(found: MetadataTopics, data: bytes, after: int) -> None:
    for batch in decode_batches(data):
        if not isinstance(batch, DefaultBatch) or not batch.valid():
            return
        if batch.control or batch.last_offset < after:
            continue
        for record in batch.records():
            if record is not None and record.value is not None:
                found.apply(record.value)


def _id(fields: MetadataFields) -> str:
    return urlsafe_b64encode(fields.take(16)).rstrip(b"=").decode()
