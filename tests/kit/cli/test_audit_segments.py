"""``audit --segments``: from the command line to every report, in this process."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from log_partitions import Log, data

from kafka_conformance.audit.engines import choice
from kafka_conformance.audit.engines.choice import Engine, local_source
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.segments.folders import find_topic
from kafka_conformance.audit.sources import SegmentFolders
from kafka_conformance.cli.audit_source import SourceOptions
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_reference import partition_for_key
from kafka_reference.record_batch import NewBatch, NewRecord

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "audit.md"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A topic of three partitions by a producer of Java's, one sequence of which is missing, beside the broker's own."""
    root = tmp_path / "data"
    for number in range(3):
        log = Log(root / f"orders-{number}")
        keys = [key for key in (b"customer-%d" % at for at in range(300)) if partition_for_key(key, 3) == number]
        for at, first in ((0, 0), (50, 51 if number == 1 else 50)):
            records = [NewRecord(1_700_000_000_000 + at + n, key, b"v") for n, key in enumerate(keys[at : at + 50])]
            log.append(NewBatch(records=records, producer_id=4_000, producer_epoch=2, base_sequence=first))
        log.write()
    offsets = Log(root / "__consumer_offsets-0")
    offsets.append(data(3))
    offsets.write()
    return str(root)


def ran(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words], standalone_mode=False)


def said(*words: str) -> str:
    error = ran(*words).exception
    assert isinstance(error, KitError), error
    return str(error)


def test_segment_audit_reports_sequence_gap_and_producer_rule_and_report_only_refuses_source_options(
    folder: str, tmp_path: Path
) -> None:
    words = ("--segments", folder, "--folder", str(tmp_path / "run"))
    result = ran(*words, "--html", str(tmp_path / "page.html"))
    assert result.return_value == 0, result.exception
    text = " ".join(result.stdout.split())
    assert f"orders at {folder}" in text
    assert "By producer id, of" in text
    assert "keyed records: murmur2 placed" in text
    assert "3 segments: sequences and epochs of 6 batches were checked: 1 problem." in text
    assert "sequence gap: orders-1/00000000000000000000.log, byte" in text
    assert "sequence 51 of producer id 4000, epoch 2, where 50 should follow" in text
    assert "Producer ids: one writer each" in text
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Producers, by segment files" in page
    assert "By producer id, of" in page
    assert "where 50 should follow" in page
    written = msgspec.json.decode((tmp_path / "run" / "audit.json").read_bytes(), type=Audit)
    assert written.segments is not None
    (producer,) = written.segments.producers
    assert (producer.producer_id, producer.first_epoch, producer.partitions) == (4_000, 2, 3)
    assert (producer.verdict, producer.rules[0], producer.contradictions) == ("rule", "murmur2", 0)
    assert any("the partition count 3 is that of the folders here" in note for note in written.notes)
    again = ran("--report-only", "--folder", str(tmp_path / "run"), "--json")
    assert msgspec.json.decode(again.stdout, type=Audit).segments == written.segments
    for more in (("--segments", folder), ("--topic", "orders"), ("--segments", "/missing")):
        line = f"{more[0]} has no effect with --report-only: leave it out"
        assert said("--report-only", "--folder", str(tmp_path / "run"), *more) == line


def test_audit_commands_with_segments_on_the_documentation_page_exit_0(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = re.findall(
        r"^\$ kafka-conformance audit (.*--segments.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(commands) == 2
    for number, command in enumerate(commands):
        (tmp_path / f"{number}").mkdir()
        monkeypatch.chdir(tmp_path / f"{number}")
        here = re.sub(r"/var/lib/kafka/data|/backup", folder, command).replace("--partitions 12", "--partitions 3")
        assert ran(*here.split()).return_value == 0


def test_segment_audit_run_again_with_the_folder_of_a_finished_run_reports_equal_results(
    folder: str, tmp_path: Path
) -> None:
    words = ("--segments", folder, "--topic", "orders", "--folder", str(tmp_path / "run"), "--json")
    first, second = ran(*words), ran(*words)
    found: list[dict[str, Any]] = [msgspec.json.decode(each.stdout) for each in (first, second)]
    assert [each.pop("took_s") > 0 for each in found] == [True, True]
    assert found[0] == found[1]


def test_audit_of_segment_files_from_an_offset_counts_only_later_records(folder: str, tmp_path: Path) -> None:
    result = ran("--segments", f"{folder}/orders-1", "--partitions", "3", "--from", "offset:50", "--json",
                 "--folder", str(tmp_path / "run"))  # fmt: skip
    found = msgspec.json.decode(result.stdout, type=Audit)
    assert found.records == found.by_partition[1].records > 20
    assert found.segments is not None
    assert found.segments.partitions_known
    assert found.segments.producers[0].records == found.records


def test_audit_of_segment_files_uses_spark_above_size_limits_unless_local_engine_is_named(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = SegmentFolders(find_topic((folder,), "orders"))
    assert local_source(address, Engine()) is not None
    for limit in ("LIMIT_RECORDS", "LIMIT_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(choice, limit, 10)
            assert local_source(address, Engine()) is None
            assert local_source(address, Engine("local")) is not None


def test_segment_audit_error_names_bad_folder_absent_or_repeated_topic_or_missing_partition_count(
    folder: str, tmp_path: Path
) -> None:
    assert "--segments is empty" in said("--segments", "", "--topic", "orders")
    for engine in ("local", "spark"):  # which does not start
        words = ("--segments", f"{folder}/orders-1", "--engine", engine)
        assert "give the topic's partition count with --partitions" in said(*words)
    assert "name it once" in said("orders", "--topic", "orders", "--segments", folder)
    assert "no partition of topic other is here" in said("other", "--segments", folder)
    (tmp_path / "nothing").mkdir()
    assert "is not a log directory of Kafka" in said("--segments", str(tmp_path / "nothing"))
    assert "cannot be read" in said("--segments", str(tmp_path / "missing"))


def test_audit_of_segment_files_with_a_corrupt_batch_exits_with_2(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    log.append(data(3))
    log.write()
    path = tmp_path / "orders-0" / f"{0:020}.log"
    content = bytearray(path.read_bytes())
    content[70] ^= 1
    path.write_bytes(content)
    result = ran("--segments", str(tmp_path / "orders-0"), "--partitions", "3", "--folder", str(tmp_path / "run"))
    assert result.return_value == 2
    assert "1 place cannot be read" in " ".join(result.stdout.split())


def test_audit_of_segment_files_without_a_partition_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="there is no partition's folder here"):
        SourceOptions(segments=(str(tmp_path),)).addresses([])
