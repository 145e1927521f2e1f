"""Cassettes replayed without a broker: those of kafka-python in ``cassettes``, and small ones that are made here.

Those of kafka-python are recorded again, after a new version of it or of the scripts, with ``--run NAME`` for each file::

    kafka-conformance gate client --seed 20261129 --record-cassettes tests/kit/wire/client_gate/cassettes \\
        --run lost/response -- python3 ci/adapters/kafka_python_adapter.py
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("kafka")

from client_mistakes import MISTAKES, RUNNING, Planter, replace_reader

from kafka_conformance.core.errors import OffScript
from kafka_conformance.wire.client_gate import replay
from kafka_conformance.wire.client_gate.cassette import (
    FORMAT,
    Cassette,
    CassetteHead,
    cassette_path,
    digest,
    read_cassette,
)
from kafka_conformance.wire.client_gate.replay import Player
from kafka_conformance.wire.client_gate.runner import ScriptOutcome, ScriptVerdict, replay_script
from kafka_conformance.wire.client_gate.script import Script, shipped, steady
from kafka_conformance.wire.client_gate.workload import workload_of
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.trace import Frame
from kafka_reference.record_batch import NewBatch, NewRecord, encode_batch

HERE = Path(__file__).parent / "cassettes"
ADAPTER = Path(__file__).parents[4] / "ci/adapters/kafka_python_adapter.py"
BEGINNING = f"import os, runpy; env = os.environ; adapter = lambda: runpy.run_path({str(ADAPTER)!r})\n"
SCRIPTS = {script.id: steady(script) for script in shipped()}
RECORDED = sorted(str(path.relative_to(HERE)).removesuffix(".ndjson.gz") for path in HERE.rglob("*.gz"))


def replayed(name: str, folder: Path, program: str = "adapter()") -> ScriptOutcome:
    """Replay a cassette with an adapter, which may call the right one as ``adapter()``."""
    script = SCRIPTS[name]
    cassette = read_cassette(cassette_path(HERE, script))
    assert cassette is not None
    workload = workload_of(script, cassette.head.seed)
    return replay_script(script, workload, cassette, [sys.executable, "-c", BEGINNING + program], folder)


def test_replayed_cassettes_of_kafka_python_give_the_recorded_verdicts(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(RECORDED, pool.map(lambda name: replayed(name, tmp_path / name), RECORDED), strict=True))
    assert len(outcomes) >= 20
    for name, outcome in outcomes.items():
        cassette = read_cassette(cassette_path(HERE, SCRIPTS[name]))
        assert cassette is not None
        assert (outcome.verdict.value, outcome.why) == (cassette.head.verdict, ""), name
        assert cassette.head.broker == "4.4.0"
    assert {outcome.verdict for outcome in outcomes.values()} == {ScriptVerdict.AGREES, ScriptVerdict.DIFFERS}
    assert sum(path.stat().st_size for path in HERE.rglob("*.gz")) < 300_000


SENDS_LESS = """
lines = open(env["WORKLOAD"]).readlines()
open(env["WORKLOAD"], "w").writelines(lines[:-21])
adapter()
open(env["RESULTS"], "a").writelines('{"record": %d}\\n' % at for at in range(100, 120))
"""
SENDS_ANOTHER_VALUE = """
text = open(env["WORKLOAD"]).read()
open(env["WORKLOAD"], "w").write(text.replace('"value":"63 ', '"value":"99 '))
adapter()
"""
SENDS_MORE = """
open(env["WORKLOAD"], "a").write('{"send": 120, "key": null, "value": "120 "}\\n{"flush": true}\\n')
adapter()
"""


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (SENDS_LESS, r"off script: Produce v\d+, request \d+ of the recording, was not sent"),
        (SENDS_ANOTHER_VALUE, r"off script: Produce .*value: b'63 .* was recorded, and b'99 .* is sent"),
        (SENDS_MORE, r"off script: Produce v\d+ was recorded 6 times, and is sent once more"),
    ],
)
def test_replay_raises_off_script_if_client_sends_fewer_more_or_other_records_than_recorded(
    tmp_path: Path, program: str, why: str
) -> None:
    with pytest.raises(OffScript, match=why):
        replayed("produce/plain", tmp_path, program)


def test_replay_finds_a_wrong_offset_in_the_results_of_the_client(tmp_path: Path) -> None:
    program = """
adapter()
text = open(env["RESULTS"]).read()
open(env["RESULTS"], "w").write(text.replace('"offset": 3}', '"offset": 4}'))
"""
    outcome = replayed("produce/plain", tmp_path, program)
    assert [one.kind for one in outcome.findings] == ["stored-elsewhere"]


def test_replays_with_planted_client_defects_differ_or_raise_off_script_and_never_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_reader(monkeypatch)

    def planted(name: str) -> tuple[bool, str]:
        mistake = MISTAKES[name]
        script = next(each for each in mistake.scripts if each in RECORDED)
        RUNNING.planter = planter = Planter(mistake, 1)
        try:
            outcome = replayed(script, tmp_path / name)
        except OffScript as error:
            return planter.planted, str(error)
        return planter.planted, outcome.verdict.value + "".join(f" {one.kind}" for one in outcome.findings)

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(MISTAKES, pool.map(planted, MISTAKES), strict=True))
    print(found)
    assert sum(is_planted for is_planted, _ in found.values()) >= 22
    for name, (is_planted, outcome) in found.items():
        assert not is_planted or outcome.startswith(("differs", "off script")), name
    assert "sequence-reused" in found["another batch under the sequence of a retry"][1]
    assert "bad-checksum" in found["a checksum that is wrong"][1]


def test_cassette_recorded_for_another_script_or_workload_raises_off_script() -> None:
    script = SCRIPTS["produce/plain"]
    cassette = read_cassette(cassette_path(HERE, script))
    assert cassette is not None
    workload = workload_of(script, cassette.head.seed)
    cassette.check(script, workload)
    with pytest.raises(
        OffScript, match="the cassette is void: it is of another version of the script; record it again"
    ):
        cassette.check(msgspec.structs.replace(script, rounds=7), workload)
    with pytest.raises(OffScript, match="the cassette is void: it is of another version of the workload"):
        cassette.check(script, workload_of(script, cassette.head.seed + 1))


Exchange = tuple[str, int, dict[str, Any], dict[str, Any] | None]
NOW_MS = 1_790_000_000_000


def batch(value: bytes, timestamp: int = NOW_MS, partition: int = 0) -> dict[str, Any]:
    """Return a Produce request of one record."""
    data = encode_batch(NewBatch(records=[NewRecord(timestamp, None, value)]))
    return {"acks": -1, "timeoutMs": 1000, "topicData": [
        {"name": "t", "partitionData": [{"index": partition, "records": data}]}]}  # fmt: skip


def stored(offset: int, partition: int = 0) -> dict[str, Any]:
    return {"responses": [{"name": "t", "partitionResponses": [
        {"index": partition, "errorCode": 0, "baseOffset": offset, "logAppendTimeMs": -1, "logStartOffset": 0}
    ]}]}  # fmt: skip


def fetch(offset: int = 0) -> dict[str, Any]:
    return {"replicaId": -1, "maxWaitMs": 10, "minBytes": 1, "maxBytes": 100, "sessionEpoch": -1, "topics": [
        {"topic": "t", "partitions": [{"partition": 0, "fetchOffset": offset, "partitionMaxBytes": 100}]}]}  # fmt: skip


def fetched(records: bytes) -> dict[str, Any]:
    return {"responses": [{"topic": "t", "partitions": [
        {"partitionIndex": 0, "errorCode": 0, "highWatermark": 1, "records": records}]}]}  # fmt: skip


def made(*exchanges: Exchange) -> Cassette:
    """Return a cassette of these exchanges, each on a connection of its own."""
    frames, codec = [], shipped_codec()
    for number, (api, version, request, response) in enumerate(exchanges, 1):
        sent = codec.encode_request(api, version, request, number, "recorded")
        frames.append(Frame(0, number, "b:1", "client", api, version, number, len(sent), data=sent))
        if response is not None:
            data = codec.encode_response(api, version, response, number)
            frames.append(Frame(0, number, "b:1", "broker", api, version, number, len(data), data=data))
    script = Script("a/b", "title")
    head = CassetteHead(
        FORMAT,
        "0",
        "4.4.0",
        NOW_MS,
        script,
        1,
        digest(workload_of(script, 1)),
        9.0,
        "t",
        "c",
        "agrees",
        len(frames),
        [],
    )
    return Cassette(head, frames)


def ask(cassette: Cassette, *requests: tuple[str, int, dict[str, Any]]) -> tuple[list[bytes], str]:
    """Send requests one after the other; return the answers, and what was off script."""

    async def run() -> tuple[list[bytes], str]:
        player, answers = Player(cassette), []
        reader, writer = await asyncio.open_connection(*await player.listen(lambda _: None))
        for number, (api, version, fields) in enumerate(requests, 71):
            data = shipped_codec().encode_request(api, version, fields, number, "replaying")
            writer.write(len(data).to_bytes(4) + data)
            if not (size := await reader.read(4)):
                break
            answers.append(await reader.readexactly(int.from_bytes(size)))
        writer.close()
        await player.close()
        try:
            player.check()
        except OffScript as error:
            return answers, str(error)
        return answers, ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "_PATIENCE_S", 0.05)
        patch.setattr(replay.time, "time", lambda: NOW_MS / 1000)
        return asyncio.run(run())


ONE, TWO = ("Produce", 7, batch(b"1"), stored(0)), ("Produce", 7, batch(b"2"), stored(1))
OTHER = ("Produce", 7, batch(b"3", partition=1), stored(0, 1))


def sent(*exchanges: Exchange) -> Sequence[tuple[str, int, dict[str, Any]]]:
    return [each[:3] for each in exchanges]


def test_replay_answers_with_recorded_responses_and_the_correlation_id_of_the_request() -> None:
    answers, why = ask(made(ONE, TWO, OTHER), *sent(OTHER, ONE, TWO))
    codec = shipped_codec()
    assert why == ""
    for number, answer, (api, version, _, response) in zip((71, 72, 73), answers, (OTHER, ONE, TWO), strict=True):
        assert response is not None
        assert answer == codec.encode_response(api, version, response, number)


@pytest.mark.parametrize(
    ("requests", "why"),
    [
        ([TWO, ONE], "off script: Produce v7 was recorded after requests that did not come"),
        ([ONE, ONE], "off script: Produce v7 topicData[0].partitionData[0].records[0].records[0].value: b'2' was"),
        ([ONE], "off script: Produce v7, request 2 of the recording, was not sent"),
        ([ONE, TWO, TWO], "off script: Produce v7 was recorded 2 times, and is sent once more"),
        ([("Produce", 8, batch(b"1"), None)], "off script: Produce v8 was not recorded"),
        ([("ListGroups", 4, {}, None)], "off script: ListGroups v4 was not recorded"),
        (
            [("Produce", 7, batch(b"1", NOW_MS * 1000), None)],
            "off script: Produce v7 topicData[0].partitionData[0].records[0].maxTimestamp: 'now' was recorded, and 1",
        ),
    ],
)  # fmt: skip
def test_replay_reports_reordered_changed_missing_extra_or_unrecorded_requests_as_off_script(
    requests: list[Exchange], why: str
) -> None:
    assert ask(made(ONE, TWO), *sent(*requests))[1].startswith(why)


def test_replay_accepts_a_record_timestamp_one_minute_after_the_recorded_time() -> None:
    assert ask(made(ONE), ("Produce", 7, batch(b"1", NOW_MS + 60_000)))[1] == ""


def test_replayed_produce_batch_with_wrong_checksum_is_off_script_and_gets_no_response() -> None:
    wrong = batch(b"1")
    (partition,) = wrong["topicData"][0]["partitionData"]
    partition["records"] = partition["records"][:17] + b"\0\0\0\0" + partition["records"][21:]
    answers, why = ask(made(ONE), ("Produce", 7, wrong))
    assert answers == []
    assert why.startswith("off script: Produce v7 topicData[0].partitionData[0].records: ")


def test_replayed_fetch_returns_records_only_after_the_produce_request_recorded_before() -> None:
    empty, full = ("Fetch", 11, fetch(), fetched(b"")), ("Fetch", 11, fetch(), fetched(b"record"))
    cassette = made(empty, ONE, full)
    answers, why = ask(cassette, *sent(empty, empty, ONE, full, full))
    assert why == ""
    assert [b"record" in answer for answer in answers] == [False, False, False, True, True]
    answers, why = ask(made(ONE, full), *sent(full, ONE))
    assert answers == []
    assert why.startswith("off script: Fetch v11 was recorded after requests that did not come")


def test_incremental_fetch_in_replay_is_compared_by_the_fetch_offsets_of_the_whole_session() -> None:
    opened = ("Fetch", 11, {**fetch(), "sessionEpoch": 0}, {**fetched(b"1"), "sessionId": 7})
    moved = ("Fetch", 11, {**fetch(5), "sessionId": 7, "sessionEpoch": 1}, fetched(b"2"))
    idle = {**fetch(), "sessionId": 7, "topics": []}
    cassette = made(opened, moved, ("Fetch", 11, {**idle, "sessionEpoch": 2}, {"responses": []}))
    again = ("Fetch", 11, {**idle, "sessionEpoch": 3})
    answers, why = ask(cassette, *sent(opened, moved), ("Fetch", 11, {**idle, "sessionEpoch": 2}), again)
    assert (len(answers), why) == (4, "")
    answers, why = ask(cassette, *sent(opened), ("Fetch", 11, {**idle, "sessionEpoch": 1}))
    assert why.startswith("off script: Fetch v11 topics[0].fetchOffset: 5 was recorded, and 0 is sent")


def test_replayed_request_without_recorded_response_is_off_script() -> None:
    why = "off script: Produce v7 was not answered in the recording, and the client waits"
    assert ask(made(("Produce", 7, batch(b"1"), None)), ("Produce", 7, batch(b"1"))) == ([], why)


def test_replayed_offset_fetch_returns_the_new_offset_only_after_the_offset_commit() -> None:
    asked = {"groupId": "g", "topics": [{"name": "t", "partitionIndexes": [0]}]}

    def committed(offset: int) -> Exchange:
        partition = {"partitionIndex": 0, "committedOffset": offset, "metadata": "", "errorCode": 0}
        return "OffsetFetch", 5, asked, {"topics": [{"name": "t", "partitions": [partition]}]}

    commit: Exchange = (
        "OffsetCommit", 7,
        {"groupId": "g", "topics": [{"name": "t", "partitions": [{"partitionIndex": 0, "committedOffset": 4}]}]},
        {"topics": []},
    )  # fmt: skip
    before, after = committed(-1), committed(4)
    answers, why = ask(made(before, commit, after), *sent(before, before, commit, after))
    assert why == ""
    assert answers[0][4:] == answers[1][4:] != answers[3][4:]
