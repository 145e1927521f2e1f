"""The tables of one audit agree with each other and with the truth, over random topics."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import audit_truth
import pytest
from random_topics import random_topic
from topic_files import audited

from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.engines.local import run
from kafka_conformance.audit.reports import summary
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Audit


def check_sums(audit: Audit) -> None:
    """Add up every table of a report."""
    lines = audit.by_partition
    assert audit.records == sum(line.records for line in lines) == audit.keyed + audit.keyless.records
    assert audit.keyed == sum(line.keyed for line in lines)
    assert audit.offending == sum(line.offending for line in lines)
    assert audit.keyless.records == sum(line.keyless for line in lines) == sum(audit.keyless.patterns.values())
    by_partition: Counter[str] = Counter()
    for line in lines:
        assert line.records == line.keyed + line.keyless
        assert line.keyed == sum(line.attributed.values())
        by_partition.update(line.attributed)
    assert audit.explained == audit.keyed - by_partition[UNEXPLAINED]
    attributed = Counter({str(share.placed): share.attributed for share in audit.shares})
    assert +attributed == Counter({name: by_partition[name] for name in by_partition.keys() - {EITHER, UNEXPLAINED}})
    for share in audit.shares:
        assert share.attributed <= share.explains <= audit.keyed
        assert share.alone <= share.explains
        assert bool(share.first) == bool(share.attributed)
    (expected,) = (share for share in audit.shares if share.expected)
    assert expected.explains == audit.keyed - audit.offending
    over_time: Counter[str] = Counter()
    for slot in audit.over_time:
        assert slot.records == slot.keyless + sum(slot.attributed.values())
        over_time.update(slot.attributed)
    assert over_time == +by_partition
    assert sum(slot.records for slot in audit.over_time) == audit.records
    runs = sum(run.records for run in audit.runs)
    assert runs <= audit.keyed if audit.doubt or len(audit.runs) < audit.runs_in_all else runs == audit.keyed
    assert audit.splits.keys <= audit.splits.of_keys
    estimates = [share.estimated for share in audit.shares if share.estimated] + [audit.foreign] * bool(audit.foreign)
    assert not estimates or sum(one.share for one in estimates if one) == pytest.approx(1, abs=1e-3)
    assert all(one.low <= one.share <= one.high for one in estimates if one)


RULES = tuple(placement.slug for placement in PLACEMENTS)
NUMBERS = [*range(8), *(pytest.param(number, marks=pytest.mark.exhaustive) for number in range(8, 100))]


@pytest.mark.parametrize("number", NUMBERS)
def test_audit_tables_of_a_generated_topic_add_up_and_share_intervals_contain_true_shares(
    number: int, tmp_path: Path
) -> None:
    draws = random.Random(f"agreement/{number}")
    topic = random_topic(draws, unknown_beside=True)
    keys = [None if draws.random() < 0.05 else topic.keys[key] for key in topic.key.tolist()]
    records = list(zip(topic.where.tolist(), keys, strict=True))
    audit = audited(tmp_path, records, topic.partitions, gaps=draws.choice([0, 9]))
    check_sums(audit)
    for share in audit.shares:
        written = [writer == (share.placed.rule, share.placed.partitions) for writer in topic.writers]
        if share.estimated and any(written):
            mine = sum(written[at] for at, key in zip(topic.writer.tolist(), keys, strict=True) if key is not None)
            assert share.estimated.low <= mine / audit.keyed <= share.estimated.high, topic.description


def test_audit_attributes_records_of_a_rare_producer_that_sample_and_single_blocks_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample and each block have too few of its records."""
    monkeypatch.setattr(run, "SAMPLE_RECORDS", 400)
    records: list[tuple[int, bytes | None]] = [
        (audit_truth.place("librdkafka-consistent" if number % 100 == 7 else "murmur2", key, 12), key)
        for number, key in enumerate(b"order-%d" % number for number in range(4000))
    ]
    audit = audited(tmp_path, records, 12)
    check_sums(audit)
    (small,) = (share for share in audit.shares if share.placed.rule == "librdkafka-consistent")
    assert 30 <= small.attributed <= 40
    assert small.estimated
    assert small.estimated.low <= 0.01 <= small.estimated.high


@pytest.mark.parametrize(("key", "partitions"), [(b"order-%d", 12), (b"order-%d", 16), ("Zoë-%d".encode(), 12)])
def test_audit_lists_partitioners_that_place_every_key_of_the_topic_identically(
    key: bytes, partitions: int, tmp_path: Path
) -> None:
    keys = [key % number for number in range(300)]
    where = {rule: [audit_truth.place(rule, each, partitions) for each in keys] for rule in RULES}
    audit = audited(tmp_path, list(zip(where["murmur2"], keys, strict=True)), partitions)
    (share,) = (share for share in audit.shares if share.attributed)
    where |= {rule: [audit_truth.place(rule, each, partitions) for each in keys] for rule in RELATIVES}
    same = {rule for rule in where if where[rule] == where["murmur2"]} - {"murmur2"}
    assert set(share.alike) == same
    named = f"No key of the topic tells murmur2 from {', '.join(share.alike)}."
    assert summary.alike(audit) == [named] * bool(same)
