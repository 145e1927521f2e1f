"""What a trace shows against a client, and what it does not show."""

from __future__ import annotations

import pytest
from crc32c import crc32c
from traces import Conversation, batch

from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.exchanges import decoded
from kafka_conformance.wire.recording.judge import KINDS, Judge

_LAST = 2**31 - 1


def judged(talk: Conversation) -> Judge:
    judge = Judge()
    judge.take(decoded(talk.lines, shipped_codec()))
    return judge


def kinds(talk: Conversation) -> list[str]:
    found = [one.kind for one in judged(talk).findings]
    assert set(found) <= KINDS.keys()
    return found


def test_consecutive_batch_sequences_with_wraparound_give_no_finding() -> None:
    talk = Conversation()
    for sequence, records in ((_LAST - 2, 2), (_LAST, 1), (0, 3), (3, 1)):
        talk.produced(talk.produce(batch(sequence, records)))
    assert kinds(talk) == []
    assert judged(talk).totals.records == 7


def test_sequence_gap_between_batches_of_a_producer_is_found() -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(0, 2)))
    talk.produced(talk.produce(batch(3)))
    assert kinds(talk) == ["sequence-gap"]
    assert "sequence 3 in place of 2" in judged(talk).findings[0].what


def test_sequence_wraparound_before_int32_max_is_a_gap() -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(_LAST - 1, 1)))
    talk.produced(talk.produce(batch(0)))
    assert kinds(talk) == ["sequence-gap"]


@pytest.mark.parametrize(("given", "found"), [(True, ["sequence-gap"]), (False, [])])
def test_nonzero_first_sequence_is_a_gap_only_if_trace_has_init_producer_id(given: bool, found: list[str]) -> None:
    talk = Conversation()
    if given:
        talk.give_id()
    talk.produced(talk.produce(batch(5)))
    assert kinds(talk) == found


def test_new_producer_epoch_restarts_sequence_at_zero() -> None:
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0, 3)))
    talk.give_id(epoch=1)
    talk.produced(talk.produce(batch(0, epoch=1)))
    assert kinds(talk) == []
    talk.produced(talk.produce(batch(3, epoch=1)))
    assert kinds(talk) == ["sequence-gap"]


def test_retried_batch_with_identical_bytes_is_counted_without_finding() -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(0, 2)), fate="lose-response")
    talk.close()
    talk.produced(talk.produce(batch(0, 2), connection=2), connection=2)
    talk.produced(talk.produce(batch(2), connection=2), connection=2)
    assert kinds(talk) == []
    assert judged(talk).totals.repeated == 1


@pytest.mark.parametrize("answered", ["acknowledged", "lost", "not answered"])
def test_different_records_under_a_used_sequence_are_found_as_sequence_reuse(answered: str) -> None:
    talk = Conversation()
    first = talk.produce(batch(0, 2))
    if answered != "not answered":
        talk.produced(first, fate="lose-response" if answered == "lost" else "")
    talk.produce(batch(0, 2, b"other"), connection=2)
    assert kinds(talk) == ["sequence-reused"]
    assert answered.replace("lost", "acknowledged, and the response was lost") in judged(talk).findings[0].what


def test_batch_rejected_as_too_large_may_be_split_without_sequence_finding() -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(0, 4)), error=10)
    talk.produced(talk.produce(batch(0, 2)))
    talk.produced(talk.produce(batch(2, 2)))
    assert kinds(talk) == []


@pytest.mark.parametrize(("records", "error", "found"), [(1, 10, {b"v"}), (2, 10, set()), (1, 6, set())])
def test_only_record_of_a_batch_refused_as_too_large_is_indivisible(
    records: int, error: int, found: set[bytes]
) -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(0, records)), error=error)
    assert judged(talk).indivisible == found


def test_sequence_may_restart_at_zero_after_unknown_producer_id_error() -> None:
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0)))
    talk.produced(talk.produce(batch(1)), error=59)
    talk.produced(talk.produce(batch(0, 1, b"other")))
    assert kinds(talk) == []


def test_batches_resent_with_old_sequences_after_unknown_producer_id_error_are_no_gap() -> None:
    """As Java does since 2.5: the batch that was refused, and those after it, keep their sequences."""
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0)))
    talk.produced(talk.produce(batch(1)), error=59)
    talk.produced(talk.produce(batch(2)), error=45)
    talk.produced(talk.produce(batch(1)))
    talk.produced(talk.produce(batch(2)))
    talk.produced(talk.produce(batch(3)))
    assert kinds(talk) == []


def refused_epoch(talk: Conversation) -> None:
    """As Java's client was recorded: 3 records are refused with 47 while 7 are in flight, and the epoch is raised."""
    talk.give_id()
    talk.produced(talk.produce(batch(0)))
    first, second = talk.produce(batch(1, 7)), talk.produce(batch(8, 3))
    talk.produced(first)
    talk.produced(second, error=47)


def test_new_epoch_may_start_at_record_count_in_flight_but_later_gap_is_found() -> None:
    talk = Conversation()
    refused_epoch(talk)
    in_flight = talk.produce(batch(11, 7))
    behind = talk.produce(batch(7, 3, epoch=1))
    talk.produced(in_flight, error=45)
    talk.produced(behind, error=45)
    talk.produced(talk.produce(batch(0, 7, epoch=1)))
    talk.produced(talk.produce(batch(7, 3, epoch=1)))
    talk.produced(talk.produce(batch(10, 7, epoch=1)))
    assert kinds(talk) == []
    talk.produce(batch(18, epoch=1))
    assert "sequence 18 in place of 17" in judged(talk).findings[0].what


def test_new_epoch_may_start_at_record_count_of_pending_batch_acknowledged_after_the_error() -> None:
    """Java numbers a batch in flight again, whatever becomes of it: a broker refuses the next one with 45."""
    talk = Conversation()
    refused_epoch(talk)
    talk.produced(talk.produce(batch(11, 7)))
    talk.produced(talk.produce(batch(7, 3, epoch=1)), error=45)
    talk.produced(talk.produce(batch(0, 3, epoch=2)))
    assert kinds(talk) == []


@pytest.mark.parametrize(("first", "found"), [(0, []), (3, []), (4, ["sequence-gap"]), (7, ["sequence-gap"])])
def test_new_epoch_starting_at_neither_0_nor_refused_record_count_is_a_gap(first: int, found: list[str]) -> None:
    """Of 3 records that were refused, and with nothing in flight; no response gave the epoch."""
    talk = Conversation()
    refused_epoch(talk)
    talk.produced(talk.produce(batch(first, 2, epoch=1)))
    assert kinds(talk) == found


def test_new_epoch_without_an_error_that_starts_above_0_in_a_partition_is_a_gap() -> None:
    talk = Conversation()
    talk.give_id()
    for partition, first in ((0, 0), (1, 0), (2, 4)):
        talk.produced(talk.produce(batch(first, 2, epoch=1), partition=partition), partition=partition)
    assert kinds(talk) == ["sequence-gap"]


def test_batches_after_a_refused_batch_may_be_renumbered_lower_but_a_later_gap_is_found() -> None:
    """As a transactional producer of Java does: the 3 records of the refused batch are taken off."""
    talk = Conversation()
    talk.produced(talk.produce(batch(0, 5)))
    refused, behind = talk.produce(batch(5, 3)), talk.produce(batch(8, 4))
    talk.produced(refused, error=87)
    new = talk.produce(batch(9, 2))
    talk.produced(behind, error=45)
    talk.produced(new, error=45)
    talk.produced(talk.produce(batch(5, 4)))
    talk.produced(talk.produce(batch(9, 2)))
    talk.produced(talk.produce(batch(11)))
    assert kinds(talk) == []
    talk.produce(batch(14))
    assert kinds(talk) == ["sequence-gap"]


@pytest.mark.parametrize("sequence", [6, 7, 10])
def test_sequence_that_no_refused_batch_explains_is_a_gap(sequence: int) -> None:
    talk = Conversation()
    talk.produced(talk.produce(batch(0, 5)))
    talk.produced(talk.produce(batch(5, 3)), error=87)
    talk.produce(batch(sequence, 2))
    assert kinds(talk) == ["sequence-gap"]


def test_gap_that_is_filled_later_is_found_once_for_each_batch_in_the_wrong_place() -> None:
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0)))
    talk.produced(talk.produce(batch(5, 4)), fate="lose-response")
    for sequence in (1, 5, 9, 13):
        talk.produced(talk.produce(batch(sequence, 4)))
    assert kinds(talk) == ["sequence-gap", "sequence-gap"]


def test_batch_of_an_older_epoch_in_the_partition_is_stale() -> None:
    talk = Conversation()
    talk.give_id()
    talk.produced(talk.produce(batch(0)))
    talk.produced(talk.produce(batch(0, epoch=1), partition=1), partition=1)
    talk.produced(talk.produce(batch(1)))  # another partition: it goes on until its batches are answered
    talk.produced(talk.produce(batch(0, epoch=1)))
    assert kinds(talk) == []
    talk.produced(talk.produce(batch(2)), error=47)
    assert kinds(talk) == ["stale-epoch"]


@pytest.mark.parametrize(("many", "found"), [(5, []), (6, ["too-many-in-flight"])])
def test_sixth_in_flight_produce_request_of_idempotent_producer_is_found(many: int, found: list[str]) -> None:
    talk = Conversation()
    for sequence in range(many):
        talk.produce(batch(sequence))
    assert kinds(talk) == found


def test_trace_with_responses_between_requests_has_no_finding_of_too_many_in_flight() -> None:
    talk = Conversation()
    waiting = [talk.produce(batch(sequence)) for sequence in range(5)]
    for sequence in range(5, 20):
        talk.produced(waiting.pop(0))
        waiting.append(talk.produce(batch(sequence)))
    assert kinds(talk) == []


def test_producer_without_idempotence_may_exceed_five_in_flight_requests() -> None:
    talk = Conversation()
    for _ in range(20):
        talk.produce(batch(-1, producer=-1))
    assert kinds(talk) == []


def test_request_version_outside_broker_api_versions_is_found() -> None:
    talk = Conversation()
    asked = talk.ask("ApiVersions", {})
    talk.answer("ApiVersions", {"apiKeys": [{"apiKey": 0, "minVersion": 3, "maxVersion": 8}]}, asked)
    talk.produce(batch(-1, producer=-1))
    assert kinds(talk) == ["version-not-offered"]
    assert judged(talk).findings[0].what == "Produce version 9; the broker offers 3 to 8"


@pytest.mark.parametrize("connection", [1, 2])
def test_request_version_is_checked_against_api_versions_of_same_connection(connection: int) -> None:
    talk = Conversation()
    asked = talk.ask("ApiVersions", {})
    talk.answer("ApiVersions", {"apiKeys": [{"apiKey": 0, "minVersion": 3, "maxVersion": 8}]}, asked)
    talk.produce(batch(-1, producer=-1), connection=connection)
    assert kinds(talk) == (["version-not-offered"] if connection == 1 else [])


def test_bad_checksum_two_batches_in_one_partition_and_truncated_batch_are_findings() -> None:
    talk = Conversation()
    data = bytearray(batch(0))
    data[-1] ^= 1
    talk.produced(talk.produce(bytes(data)), error=2)
    talk.produced(talk.produce(batch(0), batch(1), connection=2), error=87, connection=2)
    talk.produced(talk.produce(batch(0)[:-3], connection=3), error=2, connection=3)
    assert kinds(talk) == ["bad-checksum", "bad-batch", "bad-batch"]


def commit(talk: Conversation, offset: int, generation: int = 1) -> None:
    partitions = [{"partitionIndex": 0, "committedOffset": offset}]
    talk.ask("OffsetCommit", {"groupId": "g", "generationIdOrMemberEpoch": generation, "memberId": "m",
                              "topics": [{"name": "orders", "partitions": partitions}]})  # fmt: skip


def fetch(talk: Conversation, offset: int, records: bytes) -> None:
    asked = talk.ask("Fetch", {"replicaId": -1, "maxWaitMs": 1, "minBytes": 1, "topics": [
        {"topic": "orders", "partitions": [{"partition": 0, "fetchOffset": offset, "partitionMaxBytes": 1}]}]})  # fmt: skip
    talk.answer("Fetch", {"responses": [{"topic": "orders", "partitions": [
        {"partitionIndex": 0, "errorCode": 0, "highWatermark": 9, "records": records}]}]}, asked)  # fmt: skip


@pytest.mark.parametrize(("offset", "generation", "found"), [(3, 1, []), (4, 1, ["commit-ahead"]), (4, -1, [])])
def test_offset_commit_beyond_fetched_records_is_found_if_the_request_has_a_group_generation(
    offset: int, generation: int, found: list[str]
) -> None:
    talk = Conversation()
    fetch(talk, 0, batch(0, 3))
    commit(talk, offset, generation)
    assert kinds(talk) == found


def test_offset_commit_for_partition_without_traced_fetch_is_not_judged() -> None:
    talk = Conversation()
    commit(talk, 1_000)
    assert kinds(talk) == []


@pytest.mark.parametrize(("late_ms", "found"), [(5_000, []), (7_000, ["heartbeat-late"])])
def test_heartbeat_later_than_session_timeout_is_found(late_ms: float, found: list[str]) -> None:
    talk = Conversation()
    asked = talk.ask("JoinGroup", {"groupId": "g", "sessionTimeoutMs": 6_000, "rebalanceTimeoutMs": 1, "memberId": "",
                                   "protocolType": "consumer", "protocols": []})  # fmt: skip
    talk.answer("JoinGroup", {"errorCode": 0, "generationId": 1, "protocolName": "range", "leader": "m", "memberId": "m",
                              "members": []}, asked)  # fmt: skip
    talk.at_ms += late_ms
    talk.ask("Heartbeat", {"groupId": "g", "generationId": 1, "memberId": "m"})
    assert kinds(talk) == found


def test_older_epoch_is_stale_on_a_connection_opened_after_the_newer_one_ended() -> None:
    talk = Conversation()
    talk.give_id()
    talk.produce(batch(0, epoch=1), connection=2)
    talk.produce(batch(0, epoch=0), connection=1)  # this one was opened before, and may be read late
    assert kinds(talk) == []
    talk.close(2)
    talk.produce(batch(1, epoch=0), connection=1)
    assert kinds(talk) == []
    talk.produce(batch(2, epoch=0), connection=3)
    assert kinds(talk) == ["stale-epoch"]


def test_batch_with_producer_id_but_without_sequence_is_found_as_bad_batch() -> None:
    talk, data = Conversation(), bytearray(batch(0))
    data[53:57] = b"\xff" * 4
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4)
    talk.produced(talk.produce(bytes(data)), error=87)
    assert kinds(talk) == ["bad-batch"]


def test_keyed_records_are_counted_by_java_partition_and_unknown_partition_is_found() -> None:
    talk = Conversation()
    partitions = [{"errorCode": 0, "partitionIndex": one, "leaderId": 1, "leaderEpoch": 0, "replicaNodes": [1],
                   "isrNodes": [1], "offlineReplicas": []} for one in range(4)]  # fmt: skip
    asked = talk.ask("Metadata", {})
    talk.answer(
        "Metadata", {"brokers": [], "topics": [{"errorCode": 0, "name": "orders", "partitions": partitions}]}, asked
    )
    for partition in range(4):
        talk.produced(talk.produce(batch(-1, 2, producer=-1), partition=partition), partition=partition)
    assert kinds(talk) == []
    placed = judged(talk).placed["orders"]
    assert (placed.partitions, placed.keyed, placed.as_java) == (4, 8, 2)
    talk.produce(batch(-1, producer=-1), partition=4)
    assert kinds(talk) == ["unknown-partition"]


def test_undecodable_message_in_trace_is_counted() -> None:
    talk = Conversation()
    talk.produce(batch(-1, producer=-1))
    frame = talk.lines[0]
    talk.lines[0] = type(frame)(
        **{name: getattr(frame, name) for name in frame.__struct_fields__} | {"data": frame.data[:-2]}
    )  # type: ignore[union-attr]
    assert judged(talk).totals.undecoded == 1
