"""Kafka draws what the question says: both halves of the bridge invert the JDK's generator in the same way."""

from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.oracle.oracle import Oracle

EXTREMES = (0, 1, -1, 2**31 - 1, -(2**31), 123456789, -987654321)


@pytest.mark.parametrize("release", ["0.10.0.1", "2.3.1", "2.4.1", "3.2.3"])
def test_java_default_partitioner_uses_the_random_number_given_in_the_question(oracle: Oracle, release: str) -> None:
    """With n leaders and no key the answer is the draw, its sign bit cleared, modulo n: worked out here by hand."""
    cluster = {"nodes": [{"id": 0}], "partitions": [{"id": number, "leader": 0} for number in range(7)]}
    config = {"ignore_keys": False, "partitioner": None}
    lines = [
        {"id": str(draw), "rule": "producer-partition",
         "question": {"record": {"partition": None, "key": None}, "config": config, "cluster": cluster, "draws": [draw]}}
        for draw in EXTREMES
    ]  # fmt: skip
    answers = oracle.open(release).answer(b"\n".join(map(msgspec.json.encode, lines)))
    assert [line["answer"]["partition"] for line in answers] == [(draw % 2**31) % 7 for draw in EXTREMES]


def test_java_answer_to_question_without_needed_random_number_is_failed_with_hint_to_add_draws(oracle: Oracle) -> None:
    question = {
        "record": {"partition": None, "key": None},
        "config": {"ignore_keys": False, "partitioner": None},
        "cluster": {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 0}]},
    }
    line = msgspec.json.encode({"id": "0", "rule": "producer-partition", "question": question})
    (answer,) = oracle.open("2.8.2").answer(line)
    assert "add draws to it" in answer["failed"]
