"""Transcripts of a script: how a trace becomes lines, and whose scripts have one of Java's client."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from traces import Conversation, batch, topics

pytest.importorskip("kafka")

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.client_gate import transcript
from kafka_conformance.wire.client_gate.script import Script, Settings, shipped, steady
from kafka_conformance.wire.client_gate.transcript import (
    Exchange,
    JavaTranscript,
    fingerprint,
    java_transcripts,
    read_java_transcripts,
    transcript_of,
    write_java_transcripts,
)
from kafka_conformance.wire.codec.messages import shipped_codec


def texts(said: Conversation) -> list[str]:
    return [each.text() for each in transcript_of(said.lines, shipped_codec()).exchanges]


def test_transcript_of_repeated_batch_names_sequence_and_lost_response() -> None:
    said = Conversation()
    said.produced(said.produce(batch(0, 2)))
    said.produced(said.produce(batch(2, 3, b"w")), fate="lose-response")
    said.close()
    said.produced(said.produce(batch(2, 3, b"w"), connection=2), connection=2)
    assert texts(said) == [
        "Produce 9: partition 0, next: sequence 0, epoch 0, 2 records → ok",
        "Produce 9: partition 0, next: sequence 2, epoch 0, 3 records → response lost",
        "Produce 9: partition 0, again: sequence 2, epoch 0, 3 records → ok",
    ]


@pytest.mark.parametrize(
    ("second", "relation"),
    [
        (batch(2, 1, b"new"), "next"),
        (batch(0, 2), "again"),
        (batch(0, 2, epoch=1), "again, new epoch"),
        (batch(0, 1, b"new", epoch=1), "new epoch"),
        (batch(0, 1, b"new", producer=8), "new epoch"),
        (batch(9, 2), "again, renumbered"),
        (batch(0, 1, b"new"), "renumbered"),
        (batch(5, 1, b"new"), "gap"),
        (batch(0, 1, b"new", producer=-1), "new"),
    ],
)
def test_second_batch_of_partition_has_relation_by_records_producer_and_sequence(second: bytes, relation: str) -> None:
    said = Conversation()
    said.produce(batch(0, 2))
    said.produce(second)
    assert [each.relation for each in transcript_of(said.lines, shipped_codec()).exchanges] == ["next", relation]


def test_batch_after_sequence_wraparound_follows_the_batch_before() -> None:
    said = Conversation()
    said.produce(batch(2**31 - 2, 3))
    said.produce(batch(1, 1, b"w"))
    assert [each.relation for each in transcript_of(said.lines, shipped_codec()).exchanges] == ["gap", "next"]


def test_transcript_orders_lines_by_connection_whatever_came_first() -> None:
    said = Conversation()
    second = said.produce(batch(2, 1, b"w"), connection=2)
    first = said.produce(batch(0, 2), connection=1)
    said.produced(second, connection=2)
    said.produced(first, 6)
    assert texts(said) == [
        "Produce 9: partition 0, next: sequence 0, epoch 0, 2 records → error 6 NOT_LEADER_OR_FOLLOWER",
        "Produce 9: partition 0, next: sequence 2, epoch 0, 1 record → ok",
    ]


def test_transcript_of_fetches_leaves_out_empty_ones_and_names_repeated_offset() -> None:
    said = Conversation()
    for offset, data, fate in (
        (0, b"", ""),
        (0, batch(0), "lose-response"),
        (0, batch(0), ""),
        (1, None, ""),
        (0, b"x", ""),
    ):
        wanted = [{"partition": 3, "fetchOffset": offset, "partitionMaxBytes": 1}]
        asked = said.ask("Fetch", {"topics": [{"topic": "orders", "partitions": wanted}]})
        given = [{"partitionIndex": 3, "errorCode": 0, "highWatermark": 1, "records": data}]
        answer = {"responses": [{"topic": "orders", "partitions": given}]}
        said.answer("Fetch", answer, asked, fate=fate)
    assert texts(said) == [
        "Fetch 11: partition 3, next: offset 0 → response lost",
        "Fetch 11: partition 3, again: offset 0 → ok",
        "Fetch 11: partition 3, again: offset 0 → ok",
    ]


def test_transcript_of_group_has_commits_by_partition_and_heartbeats_only_with_errors() -> None:
    said = Conversation()
    commit = [{"partitionIndex": at, "committedOffset": 7} for at in (0, 1)]
    asked = said.ask("OffsetCommit", {"groupId": "g", "topics": topics("orders", commit)})
    given = [{"partitionIndex": at, "errorCode": code} for at, code in ((0, 0), (1, 22))]
    said.answer("OffsetCommit", {"topics": topics("orders", given)}, asked)
    for code in (0, 27):
        said.answer("Heartbeat", {"errorCode": code}, said.ask("Heartbeat", {"groupId": "g", "memberId": "m"}))
    assert texts(said) == [
        "OffsetCommit 8: partition 0, offset 7 → ok",
        "OffsetCommit 8: partition 1, offset 7 → error 22 ILLEGAL_GENERATION",
        "Heartbeat 4 → error 27 REBALANCE_IN_PROGRESS",
    ]


def test_transcript_of_undecodable_records_and_unknown_requests_has_a_line_for_each() -> None:
    said = Conversation()
    said.produce(b"no batch at all, though longer than a header of one is" * 3)
    said.lines.append(msgspec.structs.replace(said.lines[0], api="", version=-1, correlation=99, data=b"\x00"))
    assert texts(said) == ["Produce 9: partition 0, new → no response", "a request that cannot be read → no response"]


def test_transcript_longer_than_the_limit_counts_lines_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "_MOST", 2)
    said = Conversation()
    for number in range(5):
        said.produced(said.produce(batch(number, 1, b"%d" % number)))
    found = transcript_of(said.lines, shipped_codec())
    assert (len(found.exchanges), found.left_out) == (2, 3)


def test_every_shipped_script_has_a_current_transcript_of_javas_client() -> None:
    java = java_transcripts()
    assert java.release == "4.4.0"
    variants = [one for script in shipped() for one in (script, steady(script))]
    missing = [script.id for script in variants if java.of_script(script) is None]
    assert not missing, "python ci/java_transcripts.py"
    assert java.by_key.keys() == set(map(fingerprint, variants)), (
        "a transcript is of no script: python ci/java_transcripts.py"
    )


def test_changed_script_has_no_transcript_of_javas_client_but_renamed_one_has() -> None:
    java, (script, *_) = java_transcripts(), shipped()
    assert java.of_script(msgspec.structs.replace(script, id="mine/one", title="else", about="https://x")) is not None
    changes = {"rounds": 7, "settings": Settings(linger_ms=6), "refuse": ("Produce=3:6",), "partitions": 1}
    for name, value in changes.items():
        changed = msgspec.structs.replace(script, **{name: value})
        assert java.of_script(changed) is None, name


def test_transcripts_of_java_survive_writing_and_reading_and_damage_is_reported(tmp_path: Path) -> None:
    path, script = tmp_path / "java.ndjson", Script("a/b", "t")
    line = Exchange("Produce", 9, 0, "next", 0, 0, 1, "ok")
    write_java_transcripts(path, "9.9.9", [JavaTranscript(fingerprint(script), script.id, [line])])
    found = read_java_transcripts(path).of_script(script)
    assert found is not None
    assert found.exchanges == [line]
    whole = path.read_bytes()
    for data in (b"", b"{}\n", whole.replace(b'"Produce"', b"1"), whole.replace(b'"format":1', b'"format":2')):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"java\.ndjson"):
            read_java_transcripts(path)
