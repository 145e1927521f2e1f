"""Control records: types by release, and keys and values that are malformed."""

from __future__ import annotations

import pytest

from kafka_reference.errors import IllegalArgumentException, JavaException, NullPointerException
from kafka_reference.record_batch import EndTransactionMarker, control_type, decode_end_marker, encode_end_marker
from kafka_reference.record_batch.errors import BufferUnderflowException, InvalidRecordException

COMMIT = bytes.fromhex("00000001")


@pytest.mark.parametrize("marker", [EndTransactionMarker(True, 0), EndTransactionMarker(False, -1)])
def test_end_transaction_marker_round_trips(marker: EndTransactionMarker) -> None:
    assert decode_end_marker(*encode_end_marker(marker)) == marker


@pytest.mark.parametrize(
    ("release", "types"),
    [
        ("2.6.3", "ABORT COMMIT UNKNOWN UNKNOWN UNKNOWN UNKNOWN UNKNOWN"),
        ("2.7.0", "ABORT COMMIT QUORUM_REASSIGNMENT LEADER_CHANGE UNKNOWN UNKNOWN UNKNOWN"),
        ("3.0.0", "ABORT COMMIT LEADER_CHANGE SNAPSHOT_HEADER SNAPSHOT_FOOTER UNKNOWN UNKNOWN"),
        ("3.8.0", "ABORT COMMIT LEADER_CHANGE SNAPSHOT_HEADER SNAPSHOT_FOOTER KRAFT_VERSION KRAFT_VOTERS"),
    ],
)
def test_control_record_types_are_those_of_the_release(release: str, types: str) -> None:
    assert [control_type(bytes((0, 0, 0, number)), release) for number in range(7)] == types.split()


def test_malformed_control_record_key_throws_with_message_of_the_release() -> None:
    with pytest.raises(InvalidRecordException, match=r"for end control record key. Must have at least 4.* only 3"):
        control_type(COMMIT[:3], "4.2.0")
    with pytest.raises(InvalidRecordException, match=r"for control record key. Must have at least 4.* only 3"):
        control_type(COMMIT[:3], "4.3.0")
    with pytest.raises(InvalidRecordException, match="Invalid version found for control record: -1"):
        control_type(b"\xff\xff\0\1")
    with pytest.raises(NullPointerException):
        control_type(None)
    assert control_type(b"\0\7\0\1more") == "COMMIT"


@pytest.mark.parametrize(
    ("value", "release", "error"),
    [
        (None, "4.4.0", NullPointerException),
        (bytes(5), "4.0.2", InvalidRecordException),
        (bytes(5), "4.1.0", BufferUnderflowException),
        (bytes(1), "4.1.0", BufferUnderflowException),
        (b"\xff\xff", "4.1.0", InvalidRecordException),
        (b"\xff\xff\0\0\0\0", "0.11.0.0", InvalidRecordException),
    ],
)
def test_malformed_end_marker_value_throws_exception_class_of_the_release(
    value: bytes | None, release: str, error: type[JavaException]
) -> None:
    with pytest.raises(error):
        decode_end_marker(COMMIT, value, release)


def test_decoding_control_record_of_unknown_type_as_end_marker_throws_illegal_argument() -> None:
    with pytest.raises(IllegalArgumentException, match="Invalid control record type for end transaction markerUNKNOWN"):
        decode_end_marker(b"\0\0\0\x09", bytes(6))
