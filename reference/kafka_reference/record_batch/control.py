"""Control records: read and write their keys and values.

The key is a version and a type (two int16); the value of a record that ends a transaction is a version (int16) and the epoch
of the coordinator (int32).

Java source mirrored: ``ControlRecordType`` and ``EndTransactionMarker``, since 0.11.0.0.
"""

from __future__ import annotations

from kafka_reference.arguments import checked, proven_by
from kafka_reference.errors import IllegalArgumentException, NullPointerException
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.errors import BufferUnderflowException, InvalidRecordException
from kafka_reference.record_batch.types import EndTransactionMarker
from kafka_reference.releases import NEWEST, Release

__all__ = ["control_type", "decode_end_marker", "encode_end_marker"]

_KEY_SIZE, _VALUE_SIZE = 4, 6


@checked
def encode_end_marker(marker: EndTransactionMarker) -> tuple[bytes, bytes]:
    """Return the key and the value of a record that ends a transaction."""
    return (
        bytes(2) + marker.commit.to_bytes(2, "big"),
        bytes(2) + marker.coordinator_epoch.to_bytes(4, "big", signed=True),
    )


@checked(release=proven_by("record-batch"))
def control_type(key: bytes | None, release: str | Release = NEWEST) -> str:
    """Return the type of a control record, for example "COMMIT"; "UNKNOWN" if ``release`` has no such type.

    Raises InvalidRecordException for a key that is too short or has a negative version.
    """
    behaviour = RecordBatchBehaviour.of(release)
    if key is None:
        raise NullPointerException
    if len(key) < _KEY_SIZE:
        raise InvalidRecordException(
            f"Invalid value size found for {behaviour.control_key_size_message}. Must have at least {_KEY_SIZE} bytes, "
            f"but found only {len(key)}"
        )
    version = int.from_bytes(key[:2], "big", signed=True)
    if version < 0:
        raise InvalidRecordException(
            f"Invalid version found for control record: {version}. May indicate data corruption"
        )
    return behaviour.control_types.get(int.from_bytes(key[2:4], "big", signed=True), "UNKNOWN")


@checked(release=proven_by("record-batch"))
def decode_end_marker(key: bytes | None, value: bytes | None, release: str | Release = NEWEST) -> EndTransactionMarker:
    """Return the end of a transaction, from the key and the value of a control record.

    Raises IllegalArgumentException if it ends no transaction, and InvalidRecordException if it is malformed.
    """
    kind = control_type(key, release)
    if kind not in ("ABORT", "COMMIT"):
        raise IllegalArgumentException(f"Invalid control record type for end transaction marker{kind}")
    if value is None:
        raise NullPointerException
    underflows = RecordBatchBehaviour.of(release).short_marker_underflows
    if len(value) < _VALUE_SIZE and not underflows:
        raise InvalidRecordException(
            f"Invalid value size found for end transaction marker. Must have at least {_VALUE_SIZE} bytes, but found "
            f"only {len(value)}"
        )
    if len(value) < 2:
        raise BufferUnderflowException
    version = int.from_bytes(value[:2], "big", signed=True)
    if version < 0:
        raise InvalidRecordException(
            f"Invalid version found for end transaction marker: {version}. May indicate data corruption"
        )
    if len(value) < _VALUE_SIZE:
        raise BufferUnderflowException
    return EndTransactionMarker(kind == "COMMIT", int.from_bytes(value[2:6], "big", signed=True))
