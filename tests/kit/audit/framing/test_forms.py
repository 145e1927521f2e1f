"""Keys that differ in their frame only, and lie in several partitions."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.framing import forms
from kafka_conformance.audit.framing.forms import found_in, framing_of, pack_forms
from kafka_conformance.audit.result import FormPlace, Framing, LogicalKey, Place

Record = tuple[int, int, int, bytes | None]


def framed(number: int, key: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + key


def block(records: list[Record]) -> Block:
    partition, offsets, times, keys = zip(*records, strict=True)
    return Block(
        partition[0], np.array(offsets, np.int64), np.array(times, np.int64), pa.array(keys, pa.binary())
    )  # fmt: skip


def framing(records: list[Record], form: str = "confluent", *, buckets: int = 1, size: int = 100) -> Framing:
    """The framing of a topic whose records are in blocks of the given size."""
    pieces: dict[int, list[bytes]] = defaultdict(list)
    for partition in sorted({record[0] for record in records}):
        of_partition = sorted(record for record in records if record[0] == partition)
        for at in range(0, len(of_partition), size):
            for bucket, packed in pack_forms(block(of_partition[at : at + size]), form, 12, buckets):
                pieces[bucket].append(packed)
    return framing_of(map(found_in, pieces.values()), form)


def test_logical_key_with_two_schema_ids_in_two_partitions_is_counted_as_split() -> None:
    found = framing([
        (2, 10, 5, framed(7, b"user")), (2, 11, 6, framed(7, b"user")), (5, 3, 9, framed(9, b"user")),
        (1, 0, 1, framed(7, b"other")), (1, 1, 2, framed(9, b"other")), (1, 2, 3, b"plain"), (1, 3, 4, None),
    ])  # fmt: skip
    assert found == Framing(
        format="confluent", framed=5, unframed=1, forms={"schema id 7": 3, "schema id 9": 2}, keys=3, several=2, split=1,
        records=3, since=Place(9, 5, 3),
        earliest=(LogicalKey(b"user".hex(), 3, (
            FormPlace("schema id 7", Place(5, 2, 10), 2), FormPlace("schema id 9", Place(9, 5, 3), 1),
        )),),
    )  # fmt: skip


def test_key_with_one_schema_id_in_two_partitions_is_not_counted_as_split_by_schema_id() -> None:
    found = framing([(2, 10, 5, framed(7, b"user")), (5, 3, 9, framed(7, b"user"))])
    assert (found.keys, found.several, found.split, found.earliest) == (1, 0, 0, ())


def test_json_key_with_two_serializations_in_two_partitions_is_counted_as_split() -> None:
    found = framing([(0, 0, 1, b'{"a":1,"b":2}'), (1, 0, 2, b'{"b": 2, "a": 1}'), (1, 1, 3, b"a")], "json")
    assert (found.framed, found.unframed, found.forms, found.split) == (2, 1, {}, 1)
    assert [one.form for one in found.earliest[0].places] == ['{"a":1,"b":2}', '{"b": 2, "a": 1}']
    assert bytes.fromhex(found.earliest[0].key) == b'{"a":1,"b":2}'


@pytest.mark.parametrize(("buckets", "size"), [(1, 1000), (1, 7), (5, 40)])
def test_logical_keys_split_by_schema_id_in_a_random_topic_equal_a_plain_python_count(
    buckets: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "EARLIEST", 4)
    draws = random.Random(buckets)
    records: list[Record] = []
    for at in range(400):
        number, name = draws.choice([0, 7, 7, 9]), b"user-%d" % draws.randrange(60)
        partition = draws.choice([hash_of(number, name), hash_of(number, name), draws.randrange(4)])
        records.append((partition, at, 1000 + at // 3, framed(number, name) if number else name))
    found = framing(records, buckets=buckets, size=size)
    by_name: dict[bytes, list[Record]] = defaultdict(list)
    for record in records:
        assert record[3] is not None
        by_name[record[3][-len(record[3].split(b"user-")[1]) - 5 :]].append(record)
    several = {name: rows for name, rows in by_name.items() if len({row[3] for row in rows}) > 1}
    split = {name: rows for name, rows in several.items() if len({row[0] for row in rows}) > 1}
    assert (found.keys, found.several, found.split) == (len(by_name), len(several), len(split))
    assert found.records == sum(map(len, split.values()))
    assert found.framed == sum(record[3][:1] == b"\0" for record in records if record[3])
    since = {}
    for name, rows in split.items():
        places = sorted(Place(ms, partition, offset) for partition, offset, ms, _ in rows)
        since[name] = min(place for place in places if place.partition != places[0].partition)
    earliest = sorted(split, key=lambda name: since[name])[:4]
    assert [bytes.fromhex(one.key) for one in found.earliest] == earliest
    assert found.since == since[earliest[0]]
    assert [one.records for one in found.earliest] == [len(split[name]) for name in earliest]


def hash_of(number: int, name: bytes) -> int:
    return (number * 31 + sum(name)) % 4
