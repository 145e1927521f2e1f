"""The options that say what is judged, on Spark: as in this process, and on a real topic that loses records meanwhile."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import topics
from topics import KafkaPython, Records

from kafka_conformance.audit.attribution.candidates import load_candidates, register
from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.local.folder import RunFolder
from kafka_conformance.audit.engines.local.run import audit_locally
from kafka_conformance.audit.engines.local.topic import LocalTopic
from kafka_conformance.audit.engines.spark.join import join_audit
from kafka_conformance.audit.engines.spark.run import audit, planned
from kafka_conformance.audit.engines.spark.sources import Export, Topic
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit, Deleted
from kafka_conformance.audit.selection import RecordSelection, parse_bound
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.broker import Broker
from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark

MODULE = "import helper_of_pipeline\n\n\ndef sha(key, n):\n    return helper_of_pipeline.number(key) % n\n"
HELPER = "import hashlib\n\n\ndef number(key):\n    return int.from_bytes(hashlib.sha256(key).digest()[:8], 'big')\n"
MINE = "pipeline_partitioner:sha"


def sha(key: bytes, count: int) -> int:
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") % count


@pytest.fixture
def candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A partitioner in the working directory, gone from it when Spark's workers need it."""
    files = {"pipeline_partitioner": MODULE, "helper_of_pipeline": HELPER}
    for name, source in files.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    register(load_candidates([MINE]))
    for name in files:
        (tmp_path / f"{name}.py").unlink()
    yield
    register(())
    for name in files:
        sys.modules.pop(name, None)


def found_in(audit: Audit) -> Audit:
    return msgspec.structs.replace(audit, took_s=0.0, offending_records="")


@pytest.mark.usefixtures("candidate")
def test_spark_and_local_audits_with_schema_framed_keys_custom_partitioner_and_sample_are_equal(
    spark: Spark, tmp_path: Path
) -> None:
    ends: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for time in range(12_000):
        key = b"\0" + (7 + time % 2).to_bytes(4, "big") + b"user-%d" % (time // 2 % 1500)
        partition = sha(key, 12)
        offset = ends.get(partition, 0)
        ends[partition] = offset + 1
        rows.append({"partition": partition, "offset": offset, "timestamp_ms": 1_000 + time, "key": key})
    path = str(tmp_path / "topic.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path)
    end = parse_bound("--to", "1970-01-01T00:00:11Z")
    for selection in (RecordSelection(), RecordSelection(end=end, share=0.5)):
        asked = AuditRequest(path, "", MINE, 6_000, key_format="confluent", selection=selection)
        sources = Export(spark, path, "parquet", 12), LocalExport(path, "parquet", 12)
        for source in sources:
            source.narrow(selection.spans(source))
        assert sources[0].spans == sources[1].spans
        folders = [str(tmp_path / f"{selection.share}-{name}") for name in ("spark", "local")]
        on_spark = audit(spark, sources[0], asked, folders[0], Steps("audit", 1))
        here = audit_locally(sources[1], asked, folders[1], Steps("audit", 1))
        assert found_in(on_spark) == found_in(here)
        assert {share.placed.rule for share in on_spark.shares if share.attributed} == {MINE}
        assert on_spark.framing is not None
        assert on_spark.framing.split > 300
        assert (on_spark.records < 7_000) == (selection.share < 1)


@pytest.mark.usefixtures("candidate")
def test_join_audit_by_custom_partitioner_blames_the_deviating_topic_and_can_sample_keys(
    spark: Spark, tmp_path: Path
) -> None:
    keys = [b"user-%d" % number for number in range(200)]
    sides = []
    for name, off in (("a", 0), ("b", 1)):
        rows = [
            {"partition": (sha(key, 4) + off * (at < 20)) % 4, "offset": at, "key": key} for at, key in enumerate(keys)
        ]
        pq.write_table(pa.Table.from_pylist([*rows, {"partition": 0, "offset": 900, "key": None}]), tmp_path / name)
        sides.append(Export(spark, str(tmp_path / name), "parquet", 4))
    found = join_audit(spark, *sides, kit="0", clock=lambda: 0.0, rule=MINE)
    assert (found.keys_missed, found.a.off_keys, found.b.to_blame, found.a.keyless) == (20, 0, 20, 1)
    some = join_audit(spark, *sides, kit="0", clock=lambda: 0.0, rule=MINE, share=0.5)
    assert 60 < some.keys_in_both < 140
    assert some.a.keyless == 0


Engine = Callable[[RecordSelection, str], Audit]


def engines(spark: Spark, broker: Broker, topic: str) -> dict[str, Engine]:
    """By name, what audits the topic within a selection in a folder, in chunks of 2,000 records."""

    def on_spark(selection: RecordSelection, folder: str) -> Audit:
        before = planned(spark, folder)
        source = Topic.find(spark, topic, kafka_options(broker.bootstrap, {}), before and before.spans)
        if before is None:
            source.narrow(selection.spans(source))
        return audit(spark, source, request(topic, selection), folder, Steps("audit", 1))

    def here(selection: RecordSelection, folder: str) -> Audit:
        source = LocalTopic.find(topic, ClientSettings({"bootstrap.servers": broker.bootstrap}))
        source.narrow(selection.spans(source))
        return audit_locally(source, request(topic, selection), folder, Steps("audit", 1))

    return {"spark": on_spark, "local": here}


def request(topic: str, selection: RecordSelection) -> AuditRequest:
    return AuditRequest(topic, "broker", chunk_records=2_000, selection=selection)


def written(broker: Broker, topic: str) -> dict[int, list[int]]:
    """Write 8,000 records, a second apart, to four partitions; return the timestamps of each."""
    topics.create_topic(broker.bootstrap, topic, 4)
    times = [1_700_000_000_000 + 1_000 * at for at in range(8_000)]
    keys: list[bytes | None] = [b"user-%d" % (at % 900) for at in range(8_000)]
    truth = KafkaPython().write(broker.bootstrap, topic, Records(keys, timestamps=times))
    found: dict[int, list[int]] = {}
    for time, partition in zip(times, truth.partitions.tolist(), strict=True):
        found.setdefault(partition, []).append(time)
    return found


def test_audit_with_from_and_to_times_or_from_offset_covers_only_records_in_range(
    spark: Spark, kafka_broker: Broker, tmp_path: Path
) -> None:
    times = written(kafka_broker, "window")
    begin, end = (parse_bound("--from", text) for text in ("2023-11-14T22:30:00Z", "2023-11-14T23:30:00Z"))
    assert begin is not None
    assert end is not None
    assert begin.time_ms is not None
    found = [engine(RecordSelection(begin, end), str(tmp_path / name))
             for name, engine in engines(spark, kafka_broker, "window").items()]  # fmt: skip
    assert found[0].records == 3_600
    assert found_in(found[0]) == found_in(found[1])
    for line in found[0].by_partition:
        assert line.first_offset == sum(time < begin.time_ms for time in times[line.partition])
    later = parse_bound("--from", "offset:2:500")
    (only, _) = (engine(RecordSelection(later), str(tmp_path / f"{name}-offset"))
                 for name, engine in engines(spark, kafka_broker, "window").items())  # fmt: skip
    assert only.records == 8_000 - 500


@pytest.mark.parametrize("name", ["spark", "local"])
def test_interrupted_audit_resumes_without_records_deleted_meanwhile_and_lists_deleted_offsets(
    spark: Spark, kafka_broker: Broker, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the third chunk the broker deletes a part of it, and all of it in another partition; then Ctrl-C."""
    topic = f"retention-{name}"
    written(kafka_broker, topic)
    engine, begun = engines(spark, kafka_broker, topic)[name], list[int]()
    ends = {0: 1_200, 1: 1_600}

    def shrink(number: int) -> None:
        begun.append(number)
        if begun == [0, 1, 2]:
            delete(kafka_broker, topic, ends)
        if len(begun) == 5:
            raise KeyboardInterrupt

    do, write_chunk = Run.do, RunFolder.write_chunk

    def on_spark(self: Run, number: int, *arguments: Any, **named: Any) -> None:
        shrink(number)
        do(self, number, *arguments, **named)

    def here(self: RunFolder, number: int, batches: Any) -> None:
        shrink(number)
        write_chunk(self, number, batches)

    monkeypatch.setattr(Run, "do", on_spark)
    monkeypatch.setattr(RunFolder, "write_chunk", here)
    with pytest.raises(KeyboardInterrupt):
        engine(RecordSelection(), str(tmp_path / "run"))
    assert begun == [0, 1, 2, 2, 3], "the third chunk is read again without what was deleted"
    if name == "local":
        monkeypatch.setattr(LocalTopic, "find", _planned(tmp_path / "run"))
    found = engine(RecordSelection(), str(tmp_path / "run"))
    assert found.deleted == (Deleted(0, 1_000, 1_200), Deleted(1, 1_000, 1_600))
    gone = sum(one.end - one.first for one in found.deleted)
    assert found.records == 8_000 - gone
    assert f"{gone:,} offsets were deleted after this run had begun" in found.notes[0]
    assert found.reading is not None
    assert found.reading.without_record == 0


def _planned(folder: Path) -> Callable[..., LocalTopic]:
    """``LocalTopic.find`` with the offsets of the plan, as the command calls it to resume."""
    from kafka_conformance.audit.engines.local.run import planned_locally

    find, plan = LocalTopic.find, planned_locally(str(folder))
    assert plan is not None
    return staticmethod(lambda topic, client: find(topic, client, plan.spans))  # type: ignore[return-value]


def delete(broker: Broker, topic: str, ends: Mapping[int, int]) -> None:
    """Delete the records below an offset of each partition."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    wanted = [TopicPartition(topic, partition, end) for partition, end in ends.items()]
    for future in admin.delete_records(wanted).values():
        future.result(30)
