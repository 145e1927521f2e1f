"""Files with questions: frozen cases, saved failures, what ``explain`` reads, and history scripts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from json_mutations import hostile_json, mutated_json, mutated_lines

from kafka_conformance.cases import store
from kafka_conformance.cases.failures import Failure, Side, read_failure
from kafka_conformance.cli.commands import explain
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import to_json
from kafka_conformance.replication import script_json
from kafka_conformance.replication.examples import EXAMPLES
from kafka_conformance.rules import RULES

RULE = RULES["producer-partition"]


def frozen_lines(slug: str, count: int) -> list[bytes]:
    """The first line of a file of cases, for so few cases, and these."""
    with (store.folder_of_cases() / f"{slug}.ndjson").open("rb") as file:
        head, *cases = (line.strip() for line in islice(file, count + 1))
    first, text = msgspec.json.decode(head), b"".join(cases).decode()
    jars = {version: sha256 for version, sha256 in first["jars"].items() if version in text}
    return [msgspec.json.encode({**first, "jars": jars, "cases": count}), *cases]


FROZEN = frozen_lines("producer-partition", 4)
QUESTION = msgspec.Raw(msgspec.json.encode(msgspec.json.decode(FROZEN[1])["question"]))
ANSWERED, LOST = Side("java", "4.4.0", {"partition": 1}), Side("target", "4.4.0", error="noise", what="it wrote noise")
FAILURES = [
    to_json(Failure("0123456789abcdef", RULE.slug, QUESTION, ANSWERED, actual, {"seed": 1, "kit": "0.1.0"}))
    for actual in (Side("reference", "4.4.0", {"partition": 2}), LOST)
]
DOCUMENTS = [
    msgspec.json.encode({"rule": RULE.slug, "question": QUESTION}),
    msgspec.json.encode(
        {"rule": RULE.slug, "question": QUESTION, "releases": [["4.4.0", "as an example"]], "description": "x"}
    ),
    *FAILURES,
]
SCRIPTS = [script_json.write_script(example.script).encode() for example in EXAMPLES[:4]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


PINNED = {run for line in FROZEN[1:] for run in msgspec.json.decode(line)["releases"]}


def frozen_door(file: Path) -> Door:
    def read(data: bytes) -> None:
        file.write_bytes(data)
        found = store.read(file)
        found.at("4.4.0")
        for case in found.cases:
            try:
                case.typed_question(RULE)
            except UNREADABLE:
                continue
        store.write(file, found.provenance, found.cases)
        assert store.read(file) == found

    return Door(read, (BadInput,))


def failure_door(file: Path) -> Door:
    def read(data: bytes) -> None:
        file.write_bytes(data)
        found = read_failure(str(file))
        found.typed_question()

    return Door(read, (BadInput,))


def explained_door(file: Path) -> Door:
    def read(data: bytes) -> None:
        file.write_bytes(data)
        for document, where in explain._documents(str(file)):
            list(explain._typed(document, where, ""))

    return Door(read, (BadInput,))


def reads_script(data: bytes) -> None:
    found = script_json.read_script(data)
    assert script_json.read_script(script_json.write_script(found)) == found


SCRIPT = Door(reads_script, (BadInput,))


def test_fuzzed_frozen_cases_round_trip_or_raise_bad_input_only(plan: FuzzPlan, file: Path) -> None:
    explore(
        plan,
        frozen_door(file),
        st.one_of(mutated_lines(FROZEN), arbitrary_or_mutated([b"\n".join(FROZEN)])),
        60,
        [line + b"\n" + rest for line in hostile_json(FROZEN[:2]) for rest in (FROZEN[1], b"")],
    )


def test_fuzzed_failure_files_for_replay_command_raise_documented_errors_only(plan: FuzzPlan, file: Path) -> None:
    explore(
        plan,
        failure_door(file),
        st.one_of(mutated_json(FAILURES), arbitrary_or_mutated(FAILURES)),
        60,
        hostile_json(FAILURES),
    )


def test_fuzzed_question_files_of_explain_command_raise_documented_errors_only(plan: FuzzPlan, file: Path) -> None:
    documents = st.one_of(mutated_json(DOCUMENTS), mutated_lines(DOCUMENTS), arbitrary_or_mutated(DOCUMENTS))
    explore(plan, explained_door(file), documents, 60, hostile_json(DOCUMENTS))


def test_fuzzed_cluster_history_scripts_round_trip_or_raise_bad_input_only(plan: FuzzPlan) -> None:
    explore(
        plan, SCRIPT, st.one_of(mutated_json(SCRIPTS), arbitrary_or_mutated(SCRIPTS)), 60, hostile_json(SCRIPTS[:1])
    )


@pytest.mark.parametrize("which", ["cases", "failures", "explained", "scripts"])
def test_fuzzer_finds_bugs_planted_in_readers_of_cases_failures_and_scripts(
    monkeypatch: pytest.MonkeyPatch, file: Path, which: str
) -> None:
    def other(one: Any, *_: Any) -> bool:
        return bool(one.rule != RULE.slug)

    def changed(one: Failure) -> bool:
        return to_json(one) not in FAILURES

    where, name, when, door, inputs = {
        "cases": (store, "_run", lambda run, _: run not in PINNED, frozen_door(file), mutated_lines(FROZEN)),
        "failures": (Failure, "typed_question", changed, failure_door(file), mutated_json(FAILURES)),
        "explained": (explain, "_typed", other, explained_door(file), mutated_json(DOCUMENTS)),
        "scripts": (script_json, "_check_minimum", lambda number, _: number > 3, SCRIPT, mutated_json(SCRIPTS)),
    }[which]  # fmt: skip
    plant(monkeypatch, where, name, when)
    with pytest.raises(BrokenPromise, match="planted"):
        explore(
            FuzzPlan(shrink=False), door, inputs, 1_000, hostile_json(DOCUMENTS if which == "explained" else FAILURES)
        )
