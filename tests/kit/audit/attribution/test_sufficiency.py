"""Few distinct keys tell nothing, however many records they have; enough keys tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import audit_truth
import audits
import numpy as np
import pyarrow as pa
import pytest
from audit_truth import Producer

from kafka_conformance.audit.attribution.attribution import EITHER_AT
from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.attribution.sufficiency import find_doubt
from kafka_conformance.audit.initial_sample import examine
from kafka_conformance.audit.reports.summary import headline
from kafka_conformance.audit.result import Doubt, Placed

JAVA, CRC = ("murmur2", 12), ("librdkafka-consistent", 12)


def topic(keys: Iterable[bytes], *producers: Producer, records: int = 1, partitions: int = 12) -> KeyColumn:
    """A topic to which each of these producers has written all keys, the given number of times."""
    written = [
        (key, audit_truth.place(rule, key, count)) for _ in range(records) for key in keys for rule, count in producers
    ]
    where = np.array([partition for _, partition in written], np.int32)
    return audit_truth.column([key for key, _ in written], where, partitions)


def keys_of(count: int, seed: int = 0) -> list[bytes]:
    return [b"customer-%d" % (seed * 1000 + number) for number in range(count)]


def doubt(keys: KeyColumn, rule: str = "murmur2") -> Doubt | None:
    return examine(keys, Placed(rule, keys.count))[1]


@pytest.mark.parametrize("producer", [JAVA, CRC, ("sarama-hash", 12)])
@pytest.mark.parametrize("records", [1, 200])
def test_five_distinct_keys_are_too_few_to_name_a_partitioner(producer: Producer, records: int) -> None:
    found, unsure = examine(topic(keys_of(5), producer, records=records), Placed("murmur2", 12))
    assert found == ()
    assert unsure is not None
    assert unsure.keys == 5
    assert producer[0] in unsure.fitting
    assert unsure.needed is not None
    assert unsure.needed > 5


@pytest.mark.parametrize(
    ("producer", "partitions"), [(JAVA, 12), (CRC, 12), (("murmur2", 3), 3), ((*CRC[:1], 100), 100)]
)
def test_number_of_keys_reported_as_needed_suffices_to_name_the_partitioner(
    producer: Producer, partitions: int
) -> None:
    for seed in range(5):
        unsure = doubt(topic(keys_of(2, seed), producer, partitions=partitions))
        assert unsure is not None
        assert unsure.needed is not None
        found, still = examine(
            topic(keys_of(unsure.needed, seed), producer, partitions=partitions), Placed("murmur2", partitions)
        )
        assert (still, [placed.rule for placed in found]) == (None, [producer[0]])


def test_partitioners_listed_by_an_inconclusive_audit_each_place_all_keys_as_observed() -> None:
    keys = keys_of(2)
    unsure = doubt(topic(keys, CRC))
    assert unsure is not None
    here = [audit_truth.place("librdkafka-consistent", key, 12) for key in keys]
    fitting = {each.slug for each in PLACEMENTS if [audit_truth.place(each.slug, key, 12) for key in keys] == here}
    assert fitting - set(unsure.fitting) == {
        "signed-tail",
        "characters-for-bytes",
        "length-in-characters",
    }  # as murmur2
    assert fitting >= set(unsure.fitting) >= {"murmur2", "librdkafka-consistent"}


def test_audit_of_a_single_partition_topic_is_inconclusive_for_any_number_of_keys() -> None:
    unsure = doubt(topic(keys_of(5000), ("murmur2", 1), partitions=1))
    assert unsure is not None
    assert (unsure.keys, unsure.needed) == (5000, None)


def test_two_partitioners_are_inconclusive_with_eight_keys_and_found_with_a_hundred() -> None:
    assert doubt(topic(keys_of(8), JAVA, CRC, records=100)) == Doubt(8, (), 23, pytest.approx(1e-9))
    found, unsure = examine(topic(keys_of(100), JAVA, CRC), Placed(*JAVA))
    assert unsure is None
    assert found == (Placed(*JAVA), Placed(*CRC))


def test_partitioners_equal_for_all_ascii_keys_do_not_make_an_audit_inconclusive() -> None:
    """For keys of ASCII Java's murmur2 is murmur2 with signed bytes; for 16 partitions it needs no sign either."""
    for partitions in (12, 16):
        assert doubt(topic(keys_of(60), ("murmur2", partitions), partitions=partitions)) is None
        assert doubt(topic(keys_of(60), ("kafka-node-keyed", partitions), partitions=partitions)) is None


def test_two_mappings_of_one_hash_to_partitions_that_both_fit_all_keys_are_inconclusive() -> None:
    keys = [
        key for key in keys_of(200) if audit_truth.place("sign-abs", key, 12) == audit_truth.place(*JAVA[:1], key, 12)
    ]
    unsure = doubt(topic(keys[:40], JAVA))
    assert unsure is not None
    assert unsure.fitting[0] == "murmur2"
    assert "sign-abs" in unsure.fitting
    assert unsure.needed is not None
    assert unsure.needed > 40 + 20  # half of the keys tell them apart


def test_first_byte_partitioner_is_inconclusive_if_all_keys_begin_with_one_byte() -> None:
    """All keys begin with one byte, and are in one partition: that is one fact, not two hundred."""
    unsure = doubt(topic(keys_of(200), ("first-byte-only", 12)))
    assert unsure is not None
    assert "first-byte-only" in unsure.fitting


def test_topic_without_keys_is_not_reported_as_inconclusive() -> None:
    nothing = audit_truth.column([], np.zeros(0, np.int32), 12)
    assert find_doubt(nothing, Placed(*JAVA), ()) is None


def test_block_of_an_inconclusive_topic_attributes_no_record_to_a_partitioner() -> None:
    keys = [key for key in keys_of(60) if audit_truth.place("librdkafka-consistent", key, 12) == 3][:2] * 50
    stray = next(key for key in keys_of(9000) if not audit_truth.column([key], 3, 12).masks.any())
    offsets = np.arange(101, dtype=np.int64)
    block = Block(3, offsets, offsets, pa.array([*keys, stray], pa.binary()))
    judged = judge(block, 12, Placed(*JAVA), doubtful=True)
    assert judged.summary.attributed == {"either": 100, "unexplained": 1}
    assert judged.summary.explains["librdkafka-consistent@12"] == 100
    assert (judged.present, judged.summary.runs) == ((), ())


@pytest.mark.parametrize("distinct", [2, 60, 800])
def test_record_fitting_java_and_librdkafka_stays_unattributed_amid_60_distinct_keys_not_amid_800(
    distinct: int,
) -> None:
    """librdkafka's keys all around say nothing of a key that Java puts here too, if these are two keys again and again."""
    mine = [key for key in keys_of(12_000) if audit_truth.column([key], 3, 12).by(Placed(*CRC)).all()]
    java = [audit_truth.place("murmur2", key, 12) == 3 for key in mine]
    certain = [key for key, also in zip(mine, java, strict=True) if not also][:distinct]
    both = next(key for key, also in zip(mine, java, strict=True) if also)
    around = certain * max(120 // distinct, 1)
    keys = [*around, both, *around]
    offsets = np.arange(len(keys), dtype=np.int64)
    judged = judge(
        Block(3, offsets, offsets, pa.array(keys, pa.binary())), 12, Placed(*JAVA), (Placed(*JAVA), Placed(*CRC))
    )
    assert judged.present == (Placed(*JAVA), Placed(*CRC))
    assert (judged.attributed[len(keys) // 2] == EITHER_AT) == (distinct < 800)
    assert (np.delete(judged.attributed, len(keys) // 2) == 1).all()


def test_audit_docs_quote_the_printed_inconclusive_headlines_and_key_counts() -> None:
    """Two orders and five customers, by Java's producer."""
    page = (Path(__file__).parents[4] / "kit" / "docs" / "audit.md").read_text()
    shown = re.findall(r"^Cannot tell: .*", page, re.MULTILINE)
    columns = (topic([b"order-0", b"order-1"], JAVA), topic(keys_of(5), JAVA))
    assert shown == [headline(audits.healthy(doubt=doubt(column))) for column in columns]
    numbers = re.search(
        r"fewer than (\d+) or (\d+) keys for 12 partitions.*fewer than (\d+) keys for 12", page, re.DOTALL
    )
    assert numbers
    unsure = [doubt(topic(keys_of(4), producer)) for producer in (JAVA, CRC)] + [doubt(topic(keys_of(8), JAVA, CRC))]
    assert [str(each.needed) for each in unsure if each] == list(numbers.groups())
