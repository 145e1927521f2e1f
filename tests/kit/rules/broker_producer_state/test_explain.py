from __future__ import annotations

import msgspec
import pytest
from questions import generated

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.broker_producer_state.explain import explain_broker
from kafka_conformance.rules.broker_producer_state.question import BrokerProducerStateQuestion
from kafka_conformance.rules.broker_producer_state.rule import RULE
from kafka_reference.releases import parse_release

STEPS = b"""[{"op": "append", "producer_id": 7, "epoch": 1, "first_sequence": 0, "records": 3},
    {"op": "append", "producer_id": 7, "epoch": 1, "first_sequence": 0, "records": 3},
    {"op": "append", "producer_id": 7, "epoch": 1, "first_sequence": 9, "records": 1},
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 3, "records": 1},
    {"op": "append", "producer_id": 7, "epoch": 2, "first_sequence": 0, "records": 1, "transactional": true},
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 3, "records": 1, "origin": "replication"},
    {"op": "verify", "producer_id": 7, "epoch": 2, "sequence": 4}, {"op": "snapshot"},
    {"op": "load", "bytes": "0001", "offset": 3}, {"op": "look"}]"""


def explained() -> list[Explained]:
    question = msgspec.json.decode(
        b'{"config": {"producer_id_expiration_ms": 9}, "steps": ' + STEPS + b"}", type=BrokerProducerStateQuestion
    )
    release = parse_release("4.4.0")
    return list(explain_broker(question, release, RULE.ask(question, release)["steps"]))


def test_append_explanation_compares_epoch_and_sequence_with_producer_entry() -> None:
    assert [step.reasons for step in explained()[:6]] == [
        ("epoch 1, no entry → unknown producer", "sequence 0 after none → next"),
        ("same epoch and sequences as the batch at offset 0 → duplicate",),
        ("epoch 1, current epoch 1 → current epoch", "sequence 9 after 2 → gap: 6 sequences missing"),
        ("epoch 0, current epoch 1 → older epoch",),
        ("epoch 2, current epoch 1 → newer epoch", "sequence 0 after none → next"),
        ("replicated: already checked by the leader",),
    ]


@pytest.mark.parametrize(
    ("appended", "first", "records", "reason"),
    [
        ([(0, 4), (4, 4)], 9, 2, "sequence 9 after 7 → gap: 1 sequence missing"),
        ([(0, 4), (4, 4)], 6, 5, "sequence 6 after 7 → overlap: 2 sequences of 5 appended before"),
        ([(0, 4), (4, 4)], 5, 3, "sequence 5 after 7 → behind: appended before, and no longer remembered as this batch"),
        ([(place, 1) for place in range(8)], 1, 1,
         "sequence 1 after 7 → behind: appended before, and no longer remembered as this batch"),
        ([(0, 2**31 - 2)], 1, 3, "sequence 1 after 2147483645 → gap: 3 sequences missing"),
        ([(0, 2**31 - 1), (2**31 - 1, 3)], 2**31 - 2, 2,
         "sequence 2147483646 after 1 → behind: appended before, and no longer remembered as this batch"),
        ([(0, 2**31 - 1), (2**31 - 1, 3)], 1, 4, "sequence 1 after 1 → overlap: 1 sequence of 4 appended before"),
    ],
)  # fmt: skip
def test_out_of_order_append_is_explained_as_gap_behind_or_overlap(
    appended: list[tuple[int, int]], first: int, records: int, reason: str
) -> None:
    steps = [
        {"op": "append", "producer_id": 5, "epoch": 0, "first_sequence": one, "records": count}
        for one, count in [*appended, (first, records)]
    ]
    question = msgspec.convert(
        {"config": {"producer_id_expiration_ms": 9}, "steps": steps}, BrokerProducerStateQuestion
    )
    release = parse_release("4.4.0")
    *_, last = explain_broker(question, release, RULE.ask(question, release)["steps"])
    assert last.mark == "append → raises OutOfOrderSequenceException"
    assert last.reasons[-1] == reason


def test_broker_history_explanation_shows_outcomes_batches_transactions_verifications_and_snapshots() -> None:
    first, again, gap, _, transaction, replicated, verified, file, corrupt, look = explained()
    assert (again.mark, gap.mark) == ("append → duplicate", "append → raises OutOfOrderSequenceException")
    assert [box.name for box in first.lanes[0].queue] == ["0–2"]
    assert dict(transaction.state)["map"] == "ends at 4, unstable from 3"
    assert "in a transaction since offset 3" in dict(transaction.state)["producer 7"]
    assert replicated.answer == "raises InvalidTxnStateException"
    assert dict(verified.state)["verifying 7"] == "lowest sequence 4"
    assert "bytes)" in file.answer
    assert corrupt.step.startswith("read a snapshot and keep it at offset 3")
    assert "1 producer," in look.answer


@pytest.mark.parametrize("version", ["0.11.0.3", "2.4.1", "4.4.0"])
def test_explanation_of_generated_broker_history_has_a_row_per_step(version: str) -> None:
    for question in generated(RULE.slug, 200)[:60]:
        answers = RULE.ask(question, parse_release(version))["steps"]
        assert len(list(explain_broker(question, parse_release(version), answers))) == len(question.steps)


def test_broker_producer_state_rule_explains_with_explain_broker() -> None:
    assert RULE.explain is explain_broker
