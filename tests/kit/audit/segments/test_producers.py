"""What producer ids show: one id is one writer, whose records one rule places."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_partitions import START_MS, Log
from segment_topics import PARTITIONS, Topic, audited, batch, crc, evidence_of, keys, mixture, surveyed

from kafka_conformance.audit.engines.local.segments import LocalSegments
from kafka_conformance.audit.reports import producers as reports
from kafka_conformance.audit.segments.evidence import with_evidence
from kafka_conformance.audit.segments.topic import OneByOne
from kafka_reference import partition_for_key
from kafka_reference.record_batch import NewBatch, NewRecord


def test_each_producer_id_is_attributed_to_one_partitioner(tmp_path: Path) -> None:
    found = evidence_of(surveyed(mixture(tmp_path / "data").write()), tmp_path / "a")
    by_id = {one.producer_id: one for one in found.producers}
    assert {number: one.rules for number, one in by_id.items()} == {
        1: ("murmur2",), 2: ("librdkafka-consistent",), 3: ("murmur2",), -1: ()}  # fmt: skip
    assert {one.verdict for one in found.producers} == {"rule", "several writers"}
    assert by_id[2].partitions == PARTITIONS
    assert by_id[2].keyed == by_id[2].records == 600
    assert by_id[1].records == by_id[1].keyed + 10
    assert not any(one.contradictions for one in found.producers)
    assert not found.problems
    assert found.checked_batches > 100
    shares = [(share.rules, share.anonymous, share.producers) for share in found.by_rule]
    assert shares == [(("murmur2",), False, 2), (("librdkafka-consistent",), False, 1), ((), True, 0)]
    assert sum(share.keyed for share in found.by_rule) == sum(one.keyed for one in found.producers)
    crc_share = found.by_rule[1].keyed
    assert f"librdkafka-consistent placed {crc_share:,} (1 id)" in reports.by_rule(found)
    assert reports.by_rule(found).endswith("200 have no producer id.")


def test_wrong_record_contradicts_the_producer_id_rule_and_few_or_no_keys_are_reported(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "data")
    topic.send(keys(0, 200), 7, partition_for_key)
    wrong = next(
        key for key in keys(1000, 99) if key and partition_for_key(key, PARTITIONS) not in (0, crc(key, PARTITIONS))
    )
    topic.append(0, batch([wrong], (7, 0, topic.sequences[0, 7, 0])))
    topic.append(1, batch([b"a"], (8, 0, 0)))
    topic.append(1, batch([None], (9, 0, 0)))
    found = {one.producer_id: one for one in evidence_of(surveyed(topic.write()), tmp_path / "a").producers}
    assert (found[7].verdict, found[7].rules, found[7].contradictions) == ("contradicted", ("murmur2",), 1)
    assert (found[8].verdict, found[9].verdict) == ("too few keys", "no keys")


def test_expecting_any_partition_still_attributes_producer_ids_to_real_partitioners(tmp_path: Path) -> None:
    source = LocalSegments(surveyed(mixture(tmp_path / "data").write()))
    found = with_evidence(audited(source, tmp_path / "a", expected="any-partition"), source, OneByOne()).segments
    assert found is not None
    named = {one.producer_id: one.rules[:1] for one in found.producers}
    assert named == {1: ("murmur2",), 2: ("librdkafka-consistent",), 3: ("murmur2",), -1: ()}


def test_producer_id_with_six_keys_has_too_few_keys_for_a_verdict(tmp_path: Path) -> None:
    """Of some twenty rules, one fits six keys in four partitions by chance in every 200th producer."""
    topic = Topic(tmp_path / "data")
    topic.send(keys(0, 300), 1, partition_for_key)
    topic.send(keys(0, 6), 2, partition_for_key)
    topic.send(keys(0, 16), 3, partition_for_key)
    found = {one.producer_id: one.verdict for one in evidence_of(surveyed(topic.write()), tmp_path / "a").producers}
    assert found == {1: "rule", 2: "too few keys", 3: "rule"}


@pytest.mark.parametrize("number", range(PARTITIONS))
def test_single_partition_folder_attributes_producer_ids_to_partitioners(number: int, tmp_path: Path) -> None:
    """That its folder alone is read does not make it the partition of every key."""
    topic = Topic(tmp_path / "data")
    for turn in range(4):
        topic.send(keys(turn * 300, 600), 1, partition_for_key)
        topic.send(keys(turn * 300, 600), 2, crc)
    source = LocalSegments(surveyed(f"{topic.write()}/orders-{number}", partitions=PARTITIONS))
    found = audited(source, tmp_path / "a")
    assert {share.placed.rule for share in found.shares} == {"murmur2", "librdkafka-consistent"}
    assert not found.doubt
    evidence = with_evidence(found, source, OneByOne()).segments
    assert evidence is not None
    assert {one.producer_id: one.rules for one in evidence.producers} == {
        1: ("murmur2",),
        2: ("librdkafka-consistent",),
    }


def test_segment_audit_reports_every_one_of_151_producer_ids(tmp_path: Path) -> None:
    """As many as batches: with and without keys, in several epochs, with and without timestamps."""
    log = Log(tmp_path / "orders-0")
    for number in range(300):
        log.append(batch([b"a", None, b"a", b"%d" % number], (number // 2, number % 2, 0)))
    log.append(NewBatch(records=[NewRecord(-1, b"k", b"v")], producer_id=999, producer_epoch=0, base_sequence=0))
    log.write()
    found = evidence_of(surveyed(str(tmp_path / "orders-0"), partitions=9), tmp_path / "a")
    assert (found.producers_in_all, len(found.producers)) == (151, 151)
    first, last = found.producers[0], found.producers[-1]
    assert (first.producer_id, first.first_epoch, first.last_epoch, first.records, first.keyed) == (0, 0, 1, 8, 6)
    assert (first.distinct, first.first_ms, first.last_ms) == (3, START_MS, START_MS + 3)
    assert (last.producer_id, last.first_ms, last.last_ms) == (999, None, None)


def test_producer_id_with_another_partitioner_in_a_later_epoch_is_reported_as_contradicted(tmp_path: Path) -> None:
    """The id stays, with a new epoch; how many records each rule explains is in ``explains``."""
    topic = Topic(tmp_path / "data")
    topic.send(keys(0, 200), 7, partition_for_key, epoch=0)
    topic.send(keys(0, 200), 7, crc, epoch=1)
    found = evidence_of(surveyed(topic.write()), tmp_path / "a")
    (one,) = found.producers
    assert (one.verdict, one.rules, one.first_epoch, one.last_epoch) == ("contradicted", (), 0, 1)
    assert one.explains["murmur2"] >= 200 <= one.explains["librdkafka-consistent"]
    assert reports.by_rule(found).endswith("400 are of 1 id without one rule for all.")
    assert not found.problems
