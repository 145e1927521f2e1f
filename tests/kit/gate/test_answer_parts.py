"""Answers part by part: optional parts that are left out, fields too many or missing, what is harmless, halves."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Differed, Event, RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answer, Answered
from kafka_conformance.gate import findings
from kafka_conformance.gate.answer_parts import read
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.reports import markdown
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.gate.reports.remarks import remarks
from kafka_conformance.gate.runner import GatePlan, GateResult, gate
from kafka_conformance.rules import RULES
from kafka_conformance.rules.answer_types import answer_type, entry_types, step_types, struct_of
from kafka_conformance.rules.mutants import mutant_named
from kafka_reference.releases import NEWEST

Change = Callable[[dict[str, Any], Answer], Answer | None]
HEADER_READS = ("valid_bytes", "header", "iterated", "skipped", "size", "base_offset")
MISTAKE = "duplicates-fail"


@pytest.fixture(autouse=True)
def _no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller examples take time, and are not what these tests are about."""
    monkeypatch.setattr(findings, "_SHRINK_S", 0.0)


def _right(rule: str, question: dict[str, Any], ask: Any = None) -> Answer:
    asked = msgspec.json.decode(json.dumps(question), type=RULES[rule].question)
    outcome = outcome_of(ask or RULES[rule].ask, asked, NEWEST)
    assert isinstance(outcome, Answered)
    return msgspec.json.decode(msgspec.json.encode(outcome.answer))  # type: ignore[no-any-return]


def _gate(folder: Path, slug: str, change: Change, mutant: str = "", examples: int = 30) -> GateResult:
    """Gate a client whose answers are Kafka's, or a mutant's, ``change``d."""
    ask = mutant_named(mutant).ask if mutant else None

    def client(rule: str, _: str, question: dict[str, Any]) -> Answer | None:
        return change(question, _right(rule, question, ask))

    with CallableAnswerer(client, "python:mine") as target:
        plan = GatePlan([(RULES[slug], NEWEST)], examples, 1, folder, named=True)
        return gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1))


def _ended(result: GateResult) -> RuleEnded:
    return next(event for event in result.events if isinstance(event, RuleEnded))


def _found(events: list[Event]) -> list[Differed]:
    return [event for event in events if isinstance(event, Differed)]


def _remarks(result: GateResult) -> str:
    return "\n".join(one.line for one in remarks(outline(result.events).rows))


def _blind(question: dict[str, Any], answer: Answer) -> Answer:
    """Answer every ``look`` by "unsupported"."""
    steps = zip(question["steps"], answer.get("steps", ()), strict=False)
    return {**answer, "steps": [{"unsupported": "no state"} if asked["op"] == "look" else one for asked, one in steps]}


@pytest.mark.parametrize("slug", ["record-accumulator", "producer-sequences", "broker-producer-state", "log-segment"])
def test_client_that_cannot_expose_internal_state_conforms_with_look_steps_listed_as_not_judged(
    tmp_path: Path, slug: str
) -> None:
    result = _gate(tmp_path, slug, lambda question, answer: _blind(question, answer) if "steps" in answer else answer)
    ended = _ended(result)
    assert (ended.verdict, result.ended.exit_code, ended.unsupported) == ("agrees", 0, 0)
    assert [(one.kind, one.answered) for one in ended.left_out] == [("steps.look", 0)]
    assert ended.left_out[0].asked > 20
    assert "left out of the answers and not judged: steps.look" in _remarks(result)


def test_diagnosis_names_the_bug_of_a_client_that_cannot_expose_internal_state(tmp_path: Path) -> None:
    result = _gate(tmp_path, "producer-sequences", _blind, MISTAKE)
    named = {one.diagnosis.mutant for one in _found(result.events) if one.diagnosis}
    assert MISTAKE in named


def test_unsupported_required_step_makes_whole_answer_unsupported_and_gate_exit_2(tmp_path: Path) -> None:
    def without_expiry(question: dict[str, Any], answer: Answer) -> Answer:
        steps = zip(question["steps"], answer.get("steps", ()), strict=False)
        return {"steps": [{"unsupported": "no clock"} if asked["op"] == "run" else one for asked, one in steps]}

    result = _gate(tmp_path, "producer-sequences", without_expiry)
    assert _ended(result).reasons == {"step run: no clock": _ended(result).unsupported}
    assert (_ended(result).verdict, result.ended.exit_code) == ("not judged", 2)


def test_extra_answer_field_is_a_low_severity_difference_and_hides_no_wrong_partition(tmp_path: Path) -> None:
    ticks = itertools.count()

    def timed(_: dict[str, Any], answer: Answer) -> Answer:
        return {**answer, "took_us": next(ticks)}

    result = _gate(tmp_path, "partition-for-key", timed)
    (only,) = _found(result.events)
    assert (only.kind, only.severity, only.diagnosis) == ("one field too many: took_us", "low", None)
    assert "took_us" in only.effect
    assert result.ended.exit_code == 1
    result = _gate(tmp_path / "2", "partition-for-key", timed, "librdkafka-consistent")
    worst = _found(result.events)[0]
    assert (worst.severity, worst.kind) == ("critical", "another partition")
    assert worst.diagnosis is not None
    assert "took_us" not in worst.actual
    assert _ended(result).fields["too many: took_us"] == _ended(result).asked
    assert "took_us" in _remarks(result)
    assert "took_us" in markdown.write(result.events)


def test_extra_field_in_every_step_is_reported_as_one_kind_of_difference(tmp_path: Path) -> None:
    def labelled(_: dict[str, Any], answer: Answer) -> Answer:
        return {"steps": [{**one, "note": "ok"} for one in answer["steps"]]} if "steps" in answer else answer

    kinds = {one.kind for one in _found(_gate(tmp_path, "broker-producer-state", labelled).events)}
    assert kinds == {"one field too many: note"}


def test_missing_required_field_is_reported_and_field_of_another_outcome_is_not_called_missing(tmp_path: Path) -> None:
    def without_flag(_: dict[str, Any], answer: Answer) -> Answer:
        return {"steps": [{k: v for k, v in one.items() if k != "new_batch"} for one in answer.get("steps", ())]}

    result = _gate(tmp_path, "record-accumulator", lambda q, a: without_flag(q, a) if "steps" in a else a)
    assert {one.kind for one in _found(result.events)} == {"lacks the field new_batch"}
    asked = RULES["broker-producer-state"].question
    question = msgspec.convert(
        {"config": {"producer_id_expiration_ms": 1},
         "steps": [{"op": "append", "producer_id": 5, "epoch": 0, "first_sequence": 0, "records": 1}]}, type=asked,
    )  # fmt: skip
    expected, actual = {"steps": [{"appended": 0}]}, {"steps": [{"duplicate": 0}]}
    reading = read(RULES["broker-producer-state"], question, expected, actual)
    assert not reading.agrees
    assert not reading.missing


def _records_only(question: dict[str, Any], answer: Answer) -> Answer | None:
    if "decode" not in question:
        return None
    record = ("raises", "offset", "timestamp", "key", "value", "headers")
    batches = [
        {"magic": one["magic"], "valid": one["valid"],
         "records": [each and {name: each[name] for name in record if name in each} for each in one["records"]]}
        for one in answer["batches"]
    ]  # fmt: skip
    return {"batches": batches, **({"raises": answer["raises"]} if "raises" in answer else {})}


def test_record_batch_decoder_without_header_fields_conforms_for_decoding_only(tmp_path: Path) -> None:
    result = _gate(tmp_path, "record-batch", _records_only)
    ended = _ended(result)
    assert (ended.verdict, result.ended.exit_code) == ("agrees", 0), result.ended.why
    assert ended.halves == {"decodes": "conforms", "encodes": "not asked"}
    assert {one.kind.rpartition(".")[2] for one in ended.left_out} >= set(HEADER_READS)
    assert (result.ended.conform, result.ended.in_part) == (0, 1)
    assert "decodes: conforms; encodes: not asked" in _remarks(result)
    assert f"0 of 1 rule asked conform, 1 in part (the kit has {len(RULES)})" in result.ended.why


def test_record_batch_decoder_with_wrong_timestamps_differs_with_high_severity(tmp_path: Path) -> None:
    def off_by_one(question: dict[str, Any], answer: Answer) -> Answer | None:
        read_ = _records_only(question, answer)
        for batch in (read_ or {}).get("batches", ()):
            for record in batch["records"]:
                if record and isinstance(record.get("timestamp"), int) and record["timestamp"] > 3:
                    record["timestamp"] -= 1
        return read_

    result = _gate(tmp_path, "record-batch", off_by_one)
    assert _ended(result).halves == {"decodes": "differs", "encodes": "not asked"}
    severities = {one.severity for one in _found(result.events)}
    assert "high" in severities
    assert severities <= {"high", "low"}  # low: of a damaged batch


def _epoch(hexed: str, epoch: int) -> str:
    return hexed[:24] + struct.pack(">i", epoch).hex() + hexed[32:] if hexed[32:34] == "02" else hexed


def _encoder(question: dict[str, Any], answer: Answer, epoch: int = 0) -> Answer | None:
    """Encode as clients do: uncompressed batches of producers, with a leader epoch of their own."""
    asked = question.get("encode")
    broker = ("base_offset", "leader_epoch", "control", "delete_horizon", "transactional", "timestamp_type")
    if asked is None or asked.get("magic", 2) != 2 or any(field in asked for field in broker) or "bytes" not in answer:
        return None
    if any("offset" in record for record in asked["records"]):
        return None
    return {"bytes": _epoch(answer["bytes"], epoch)}


@pytest.mark.parametrize("epoch", [0, 77])
def test_any_leader_epoch_in_producer_encoded_batch_is_harmless(tmp_path: Path, epoch: int) -> None:
    result = _gate(tmp_path, "record-batch", lambda question, answer: _encoder(question, answer, epoch))
    ended = _ended(result)
    assert (ended.verdict, result.ended.exit_code) == ("agrees", 0), result.ended.why
    assert ended.halves == {"decodes": "not asked", "encodes": "conforms"}
    ((note, count),) = ended.harmless.items()
    assert "the broker overwrites it" in note
    assert count == ended.agreed >= 20
    assert "differs, harmless" in _remarks(result)


def test_harmless_leader_epoch_difference_does_not_hide_wrong_record_bytes(tmp_path: Path) -> None:
    def wrong(question: dict[str, Any], answer: Answer) -> Answer | None:
        encoded = _encoder(question, answer)
        if encoded is not None and len(question["encode"]["records"]) > 1:
            encoded["bytes"] = encoded["bytes"][:-2] + "7f"
        return encoded

    result = _gate(tmp_path, "record-batch", wrong)
    assert _ended(result).halves["encodes"] == "differs"
    for one in _found(result.events):
        assert one.severity == "high"
        assert one.actual["bytes"][24:32] == one.expected["bytes"][24:32]
        assert len(one.question["encode"]["records"]) > 1


def test_other_leader_epoch_is_accepted_only_if_the_question_specifies_none() -> None:
    rule = RULES["record-batch"]
    for asked, agrees in (
        ({"records": [{"value": "07"}]}, True),
        ({"records": [{"value": "07"}], "leader_epoch": 9}, False),
    ):
        expected = _right("record-batch", {"encode": asked})
        question = msgspec.convert({"encode": asked}, type=rule.question)
        actual = {"bytes": _epoch(expected["bytes"], 3)}
        assert read(rule, question, expected, actual).agrees == agrees


def test_compressed_batch_bytes_are_decoded_before_comparison(tmp_path: Path) -> None:
    from kafka_conformance.rules.record_batch.adapter import new_batch
    from kafka_reference.record_batch import encode_batch

    def compressor(question: dict[str, Any], answer: Answer) -> Answer | None:
        asked: Any = msgspec.json.decode(json.dumps(question), type=RULES["record-batch"].question)
        if asked.compress is None or asked.compress.magic != 2 or "raises" in answer:
            return _encoder(question, answer)
        made = encode_batch(new_batch(asked.compress, NEWEST), NEWEST).hex()
        return {"bytes": made if "leader_epoch" in question["compress"] else _epoch(made, 0)}

    result = _gate(tmp_path, "record-batch", compressor)
    assert (_ended(result).halves["encodes"], _found(result.events)) == ("conforms", [])
    assert _ended(result).agreed > 30
    question = {"compress": {"records": [{"value": "07" * 50}], "compression": "gzip"}}
    asked = msgspec.convert(question, type=RULES["record-batch"].question)
    expected = _right("record-batch", question)
    assert not read(RULES["record-batch"], asked, expected, {"bytes": "00ff"}).agrees
    assert not read(RULES["record-batch"], asked, expected, {"bytes": "zz"}).agrees


def test_exception_names_other_than_javas_are_harmless_in_record_batch_decoder(tmp_path: Path) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: "CorruptRecordError" if name == "raises" else renamed(one) for name, one in value.items()}
        return [renamed(one) for one in value] if isinstance(value, list) else value

    result = _gate(tmp_path, "record-batch", lambda question, answer: renamed(answer) if "decode" in question else None)
    assert (_ended(result).verdict, _found(result.events)) == ("agrees", [])
    assert any("other names than Java's" in note for note in _ended(result).harmless)


def test_difference_only_in_optional_batch_field_has_medium_severity(tmp_path: Path) -> None:
    def other_sizes(question: dict[str, Any], answer: Answer) -> Answer | None:
        for batch in answer.get("batches", ()):
            batch["iterated"] = {"records": 99}
        return answer if "decode" in question else None

    found = _found(_gate(tmp_path, "record-batch", other_sizes).events)
    assert {one.severity for one in found} == {"medium"}
    assert all("batches.iterated" in one.effect for one in found)


def test_occasionally_omitted_optional_field_is_reported_with_answered_count(tmp_path: Path) -> None:
    def at_times(question: dict[str, Any], answer: Answer) -> Answer | None:
        if "decode" in question and len(question["decode"]) % 3 == 0:
            answer.pop("valid_bytes")
        return answer

    (part,) = _ended(_gate(tmp_path, "record-batch", at_times)).left_out
    assert part.kind == "valid_bytes"
    assert 0 < part.answered < part.asked


@pytest.mark.parametrize("slug", [slug for slug, rule in RULES.items() if rule.optional_parts])
def test_optional_parts_of_every_rule_name_existing_answer_fields(slug: str) -> None:
    rule = RULES[slug]
    ops = {str(step.__struct_config__.tag): step for step in (step_types(rule) or {})}
    fields = set(answer_type(rule).__struct_fields__)
    for path in rule.optional_parts:
        first, *rest = path.split(".")
        assert first in fields, path
        if first == "steps":
            answer = struct_of((step_types(rule) or {})[ops[rest[0]]])
            assert set(rest[1:]) <= set(answer.__struct_fields__), path
        elif rest:
            assert rest[0] in entry_types(rule)[first].__struct_fields__, path
