"""Logical keys that a join misses because the topics frame them differently, held against counting pairs."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pyarrow as pa

from kafka_conformance.audit.engines.spark.logical_keys import missed_by_frames
from kafka_conformance.audit.join_result import MissedLogicalKey
from kafka_conformance.audit.result import FormPlace, Place

PLACES = pa.list_(pa.struct([
    ("partition", pa.int32()), ("n", pa.int64()), ("time_ms", pa.int64()), ("offset", pa.int64()),
]))  # fmt: skip
FORMS = pa.list_(pa.struct([("form", pa.string()), ("framed", pa.bool_()), ("a", PLACES), ("b", PLACES)]))


def judged(forms: list[dict[str, Any]]) -> dict[str, Any]:
    batch = pa.RecordBatch.from_arrays(
        [pa.array([b"k"], pa.binary()), pa.array([forms], FORMS)], names=["logical", "forms"]
    )
    (row,) = next(missed_by_frames([batch])).to_pylist()
    return row


def place(partition: int, n: int) -> dict[str, int]:
    return {"partition": partition, "n": n, "time_ms": partition, "offset": 0}


def test_join_misses_key_in_different_partitions_if_only_one_topic_has_a_schema_id() -> None:
    row = judged([
        {"form": "schema id 7", "framed": True, "a": [place(2, 3)], "b": []},
        {"form": "no frame", "framed": False, "a": [], "b": [place(5, 4)]},
    ])  # fmt: skip
    assert (row["framed"], row["unframed"], row["pairs"], row["pairs_missed"], row["never"]) == (1, 1, 12, 12, True)
    assert msgspec.json.decode(row["found"], type=MissedLogicalKey) == MissedLogicalKey(
        b"k".hex(), True, 12,
        (FormPlace("schema id 7", Place(2, 2, 0), 3),), (FormPlace("no frame", Place(5, 5, 0), 4),),
    )  # fmt: skip


def test_key_with_one_schema_id_in_both_topics_is_not_missed_because_of_schema_ids() -> None:
    row = judged([{"form": "schema id 7", "framed": True, "a": [place(2, 3)], "b": [place(5, 4)]}])
    assert (row["pairs"], row["pairs_missed"], row["found"]) == (0, 0, None)


def test_pair_counts_of_logical_keys_with_different_schema_ids_equal_counting_every_pair() -> None:
    draws = random.Random(2)
    for _ in range(50):
        forms = [
            {"form": f"schema id {at}", "framed": True,
             **{side: [place(number, draws.randrange(1, 4)) for number in draws.sample(range(4), draws.randrange(3))]
                for side in "ab"}}
            for at in range(draws.randrange(1, 4))
        ]  # fmt: skip
        a, b = (
            [(form["form"], one["partition"]) for form in forms for one in form[side] for _ in range(one["n"])]
            for side in "ab"
        )
        pairs = [(one, other) for one in a for other in b if one[0] != other[0]]
        row = judged(forms)
        assert row["pairs"] == len(pairs)
        assert row["pairs_missed"] == sum(one[1] != other[1] for one, other in pairs)
        assert row["never"] == (not any(one[1] == other[1] for one in a for other in b))
