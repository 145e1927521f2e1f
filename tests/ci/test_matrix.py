"""The matrix: the states of its cells, its pages, and the answers to people's questions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import adapter_results
import client_page
import client_results
import matrix
import matrix_page
import matrix_results
import msgspec
import pytest
import question_page
import wire_page
from adapter_results import Cause, Client, Result
from click.testing import CliRunner
from client_results import Deviation, GateResult, RuleCount

from kafka_conformance.answerers.named_driver import NamedDriver, Setting
from kafka_conformance.cases.failures import read_failure
from kafka_conformance.core.events import Began, Ended, RuleBegan, RuleEnded, Target, to_line
from kafka_conformance.wire.client_gate.script import shipped

RULE, SEQUENCES = "partition-for-key", "sequence-increment"
QUESTION = {"key": "80", "partitions": 3}
DRIVER = NamedDriver(("./driver",), client="one", version="1.0", settings={"default": Setting()})
CRC = "5 of 5 wrong answers equal `crc`: CRC32 of the key; so do 400 of 400 right ones"


def deviation(rule: str = RULE, kind: str = "another partition", **changes: Any) -> Deviation:
    one = Deviation(rule, kind, "4.4.0", 5, QUESTION, {"partition": 1}, {"partition": 2}, impact="high, 2 keys")
    return msgspec.structs.replace(one, **changes)


def result(*counts: RuleCount, deviations: tuple[Deviation, ...] = (), **changes: Any) -> GateResult:
    return msgspec.structs.replace(GateResult("c", ("default",), "1.0", counts, deviations), **changes)


def cell_of(gate: GateResult, driver: NamedDriver = DRIVER, rule: str = RULE) -> matrix_results.Cell:
    other = result(RuleCount(SEQUENCES, 1, 1), RuleCount(RULE, 1, 1), version="0.1")
    cells = matrix_results.client_cells([gate, other], {"c": driver})
    return next(cell for cell in cells if cell.about == rule and cell.version == gate.version)


@pytest.mark.parametrize(
    ("gate", "state"),
    [
        (result(RuleCount(RULE, 5, 5)), "agrees"),
        (result(RuleCount(RULE, 5, 4, known=1), deviations=(deviation(),)), "differs"),
        (result(RuleCount(RULE, 5, 4, differed=1, judged=False), deviations=(deviation(),)), "differs"),
        (result(RuleCount(RULE, 5, 5, harmless=2)), "differs, harmless"),
        (result(RuleCount(RULE, 5, 4, failed=1)), "no answer"),
        (result(RuleCount(RULE, 5, 5, unsupported=9, judged=False)), "no answer"),
        (result(RuleCount(RULE, 0, 0, unsupported=9)), "no answer"),
        (result(), "not run"),
        (result(RuleCount(RULE, 5, 5), unfinished=(2, "no compiler")), "not run"),
    ],
)
def test_client_cell_is_agrees_differs_harmless_no_answer_or_not_run_by_recorded_counts(
    gate: GateResult, state: str
) -> None:
    assert cell_of(gate).state == state


def test_matrix_cell_of_sequence_rule_is_not_applicable_for_client_without_idempotent_producer() -> None:
    driver = msgspec.structs.replace(DRIVER, sequences=matrix_results.WITHOUT_PRODUCER_IDS)
    cell = cell_of(result(), driver, SEQUENCES)
    assert (cell.state, cell.why) == ("not applicable", "no idempotent producer")
    assert cell_of(result(), rule=SEQUENCES).state == "not run"


def test_clients_without_idempotent_producer_have_the_same_reason_text_in_the_matrix() -> None:
    said = {one.why for one in matrix_cells() if one.about == SEQUENCES and one.state == "not applicable"}
    assert said == {matrix_results.WITHOUT_PRODUCER_IDS}


@pytest.mark.parametrize(
    ("count", "kinds", "state"),
    [
        (RuleCount("broker/fetch", 3, 3), (), "agrees"),
        (RuleCount("broker/fetch", 3, 1, differed=2), ("Fetch: errorCode is 0, not 1", "Fetch: no answer"), "differs"),
        (RuleCount("broker/fetch", 3, 1, differed=2), ("Fetch: no answer",), "no answer"),
        (RuleCount("broker/fetch", 0, 0, unsupported=3), (), "not applicable"),
        (RuleCount("broker/fetch", 0, 0, unsupported=3, judged=False), (), "no answer"),
    ],
)
def test_broker_cell_agrees_differs_lacks_answer_or_is_not_applicable_by_counts_and_kinds(
    count: RuleCount, kinds: tuple[str, ...], state: str
) -> None:
    found = tuple(deviation("broker/fetch", kind, impact="") for kind in kinds)
    (cell,) = matrix_results.broker_cells([result(count, deviations=found, name="b", settings=("4.4.0",))])
    assert (cell.state, cell.about, cell.release) == (state, "fetch", "4.4.0")


def test_differing_matrix_cell_shows_worst_severity_and_links_to_the_section_of_the_rule() -> None:
    found = (deviation(impact="low"), deviation(impact="critical, 9 keys"), deviation(SEQUENCES, impact="high"))
    cell = cell_of(result(RuleCount(RULE, 5, 4, known=1), deviations=found))
    assert matrix_page.linked_state(cell) == "[✗ differs: critical](clients/one.md#differences-in-partition-for-key)"


def matrix_cells() -> list[matrix_results.Cell]:
    return list(matrix_results.read_matrix((matrix.DOCS / "matrix" / "results.json").read_bytes()).cells)


def test_committed_matrix_pages_equal_pages_made_from_records() -> None:
    made = matrix.made_pages()
    assert not matrix.gone_pages(made, matrix.DOCS)
    for path, text in made.items():
        assert (matrix.DOCS / path).read_text(encoding="utf-8") == text, f"{path}: run python ci/matrix.py"
    assert len(made["matrix/results.json"]) < 500_000


def test_every_differing_cell_links_to_a_heading_that_exists() -> None:
    differing = [cell for cell in matrix_cells() if cell.state == "differs"]
    assert differing
    for cell in differing:
        page, _, wanted = cell.page.partition("#")
        headings = re.findall(r"^## (.*)$", (matrix.DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert wanted in [heading.lower().replace(" ", "-") for heading in headings], cell.page


def test_every_replay_command_on_client_pages_names_readable_case_and_target() -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted((matrix.DOCS / "clients").glob("*.md"))]
    named = [found for page in pages for found in re.findall(r"replay kit/docs/(\S+) --actual (\S+)`", page)]
    assert {path for path, _ in named} == {
        str(path.relative_to(matrix.DOCS)) for path in (matrix.DOCS / "clients").glob("*/*.json")
    }
    for path, target in named:
        failure = read_failure(str(matrix.DOCS / path))
        failure.typed_question()
        assert failure.actual.by == target


def adapter(name: str, **fields: Any) -> Client:
    return Client(name, ["run"], causes=[Cause(["lost/*"], ["lost"], "send() forgets")], **fields)


def adapter_result(client: str, version: str, **verdicts: str) -> Result:
    """Return what was recorded of a client: ``lost`` names the verdict on ``lost/one``."""
    found = {f"{group}/one": verdict for group, verdict in verdicts.items()}
    lost = [
        adapter_results.Deviation(script, "lost", "high", "record 3", "It is gone.")
        for script in found
        if found[script] == "differs"
    ]
    reasons = {script: "no lz4" for script, verdict in found.items() if verdict in ("unsupported", "errored")}
    return Result(client, version, "4.4.0", found, reasons, lost)


def on_wire() -> list[wire_page.WireClient]:
    clients = {"c": adapter("c", driver="c"), "old": adapter("old", title="one", version="0.9")}
    results = [
        adapter_result("old", "0.9", lost="differs", refused="errored"),
        adapter_result("c", "1.0", lost="agrees", refused="unsupported"),
    ]
    return wire_page.wire_clients(results, clients, [result(version="1.0 (as two)")], {"c": DRIVER})


def test_wire_results_have_driver_name_and_version_or_adapter_title_if_without_driver() -> None:
    cells = wire_page.wire_cells(on_wire())
    assert [(cell.name, cell.version, cell.about, cell.state, cell.severity) for cell in cells] == [
        ("one", "1.0 (as two)", "client/lost/one", "agrees", ""),
        ("one", "1.0 (as two)", "client/refused/one", "not applicable", ""),
        ("one", "0.9", "client/lost/one", "differs", "high"),
        ("one", "0.9", "client/refused/one", "no answer", ""),
    ]
    assert [cell.why for cell in cells] == ["", "no lz4", "lost: send() forgets", "no lz4"]


def test_matrix_cell_of_a_script_group_has_worst_state_and_severity_of_the_scripts() -> None:
    cells = wire_page.wire_cells(on_wire())
    other = [msgspec.structs.replace(cell, about=f"{cell.about}-more", severity="", state="agrees") for cell in cells]
    worse = [msgspec.structs.replace(cells[2], about="client/lost/worse", severity="critical")]
    found = wire_page.group_cells([*other, *cells, *worse])
    assert [(cell.version, cell.about, cell.state, cell.severity) for cell in found] == [
        ("1.0 (as two)", "lost", "agrees", ""),
        ("1.0 (as two)", "refused", "agrees", ""),
        ("0.9", "lost", "differs", "critical"),
        ("0.9", "refused", "no answer", ""),
    ]


def test_client_page_shows_cause_example_and_rerun_command_of_each_difference_on_the_wire() -> None:
    pages = wire_page.with_scripts({"clients/one.md": "# one\n"}, on_wire())
    text = pages["clients/one.md"]
    assert text.startswith("# one\n\n## On the wire\n")
    assert "| scripts | 1.0 (as two) | 0.9 |" in text
    assert "| `lost/one` | ✓ agrees | ✗ differs |" in text
    assert "- 1.0 (as two), not applicable: no lz4 (`refused/one`)" in text
    assert "- Seen in: 0.9 (`lost/one`).\n- Cause: send() forgets.\n- For example: record 3\n" in text
    assert "- Ask again, from a checkout: `python ci/adapter_gates.py --run lost/one old`" in text
    alone = wire_page.with_scripts({}, on_wire())["clients/one.md"]
    assert alone.startswith(f"{client_page.WRITTEN}\n# one\n\n## On the wire\n")


def test_every_adapter_gate_command_on_client_pages_names_existing_script_and_client() -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted((matrix.DOCS / "clients").glob("*.md"))]
    named = [found for page in pages for found in re.findall(r"ci/adapter_gates.py --run (\S+) ([^`\s]+)`", page)]
    assert len(named) >= 20
    assert {client for _, client in named} <= {client.name for client in adapter_results.read_clients()}
    assert {script for script, _ in named} <= {script.id for script in shipped()}


def test_question_page_shows_reaction_of_java_and_librdkafka_to_error_45() -> None:
    text = (matrix.DOCS / "questions.md").read_text(encoding="utf-8")
    assert "| [Java](clients/java.md) | 4.4.0 | ✓ agrees | ✓ agrees |" in text
    assert re.search(
        r"^\| \[librdkafka\].*✗ differs: medium.*45 for the first batch in flight is a fatal error", text, re.MULTILINE
    )


def test_matrix_records_at_least_15_clients_30_versions_and_5_brokers() -> None:
    cells = matrix_cells()
    clients = {(cell.name, cell.version) for cell in cells if cell.subject == "client"}
    assert len({name for name, _ in clients}) >= 15
    assert len(clients) >= 30
    assert len({(cell.name, cell.version) for cell in cells if cell.subject == "broker"}) >= 5


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ((True, True, True), "all 3 gated, 1.0 to 3.0"),
        ((False, True, True), "2.0 to 3.0; not in 1.0"),
        ((True, False, False), "1.0; gone in 2.0"),
        ((False, True, False), "2.0; not in 1.0; gone in 3.0"),
        ((True, False, True), "in 1.0, 3.0"),
    ],
)
def test_history_of_a_difference_names_the_versions_with_and_without_the_difference(
    seen: tuple[bool, ...], words: str
) -> None:
    gates = [
        result(RuleCount(RULE, 5, 4), deviations=(deviation(),) * here, version=f"{number}.0")
        for number, here in enumerate(seen, 1)
    ]
    having = [gate for gate in gates if gate.deviations]
    assert client_page.history(RULE, "another partition", having, gates[::-1]) == words


def test_history_of_a_difference_is_split_by_setting_where_settings_differ() -> None:
    old = result(RuleCount(RULE, 5, 4), deviations=(deviation(),), version="1.0")
    new = result(RuleCount(RULE, 5, 5), version="2.0")
    legacy = result(RuleCount(RULE, 5, 4), deviations=(deviation(),), version="2.0", settings=("legacy",))
    said = client_page.history(RULE, "another partition", [legacy, old], [new, legacy, old])
    assert said == "legacy: 2.0, the only one gated in this setting; default: 1.0; gone in 2.0"


@pytest.mark.parametrize(
    ("count", "deviations", "by", "name"),
    [
        (RuleCount(RULE, 5, 5), (), "hash", question_page.JAVA),
        (RuleCount(RULE, 5, 5, judged=False), (), "unknown", "too few answers"),
        (RuleCount(RULE, 5, 4), (deviation(diagnosis=CRC),), "hash", "CRC32 of the key"),
        (RuleCount(RULE, 5, 4), (deviation(),), "unknown", "no known hash explains it"),
        (
            RuleCount(RULE, 5, 4),
            (deviation(diagnosis=CRC), deviation(kind="x")),
            "unknown",
            "no known hash explains it",
        ),
    ],
)
def test_question_page_names_the_hash_of_a_client_by_gate_verdict_and_diagnosis(
    count: RuleCount, deviations: tuple[Deviation, ...], by: str, name: str
) -> None:
    placement = question_page.placement_of(result(count, deviations=deviations))
    assert placement is not None
    assert (placement.by, placement.name) == (by, name)


def test_client_with_random_partitions_for_few_keys_keeps_the_diagnosed_hash_and_for_most_has_none() -> None:
    drawn = deviation(kind="not deterministic", times=2, diagnosis=CRC.replace("crc", "not-deterministic"))
    some = question_page.placement_of(result(RuleCount(RULE, 9, 2), deviations=(deviation(diagnosis=CRC), drawn)))
    assert some == question_page.Placement("CRC32 of the key", "hash", draws_empty_keys=True)
    mostly = msgspec.structs.replace(drawn, times=9)
    every = question_page.placement_of(result(RuleCount(RULE, 9, 2), deviations=(deviation(diagnosis=CRC), mostly)))
    assert every is not None
    assert every.by == "no key"


def test_question_page_table_shows_which_client_pairs_put_a_key_in_the_same_partition() -> None:
    text = (matrix.DOCS / "questions.md").read_text(encoding="utf-8")
    heads = next(line for line in text.splitlines() if line.startswith("| | "))
    names = [name.strip().strip("`") for name in heads.split("|")[2:-1]]
    rows = {
        re.sub(r"\[`?([^`\]]*)`?\].*", r"\1", cells[0]): dict(zip(names, cells[1:], strict=True))
        for line in text.splitlines()
        if re.match(r"\| \[[^|]*\| *(=|≠|\?|) \|", line) and (cells := [each.strip() for each in line.split("|")[1:-1]])
    }
    assert rows["franz-go"]["kafkajs"] == "="
    assert [rows["Java"][name] for name in ("Java", "kafkajs", "librdkafka")] == ["", "=", "≠"]
    assert "segmentio/kafka-go 0.4.38, 0.4.51 with `Murmur2Balancer{}`" in text
    assert rows["librdkafka"]["kafkajs"] == "≠"
    assert rows["librdkafka"]["confluent-kafka-go"] == "="
    assert all(rows[one][other] == rows[other][one] for one in rows for other in rows)


def test_question_page_begins_with_a_linked_answer_to_each_question() -> None:
    text = (matrix.DOCS / "questions.md").read_text(encoding="utf-8")
    answers = dict(
        re.findall(r"^- \[([^]]+)\]\(#[\w-]+\) ?(.*(?:\n    - .*)*)$", text.partition("\n## ")[0], re.MULTILINE)
    )
    assert list(answers) == re.findall(r"^## (.*)$", text, re.MULTILINE)
    pairs = answers["Do two clients put a key in the same partition?"]
    assert "\n    - **Java's hash, murmur2**: Java, aiokafka, franz-go, kafka-python" in pairs
    assert "\n    - **CRC32, unsigned**: confluent-kafka-go, librdkafka\n" in pairs
    reactions = answers["What does a client do on error 45?"]
    assert re.search(
        r"\n    - \*\*librdkafka\*\*: 45 for the first batch in flight is a fatal error: .* \(2.16.0 ", reactions
    )
    assert re.search(r"\n    - as Java, .*: .*franz-go 1.22.2, Java 4.4.0\n", f"{reactions}\n")
    brokers = answers["May I put a client in front of this broker?"]
    assert brokers.startswith("\n    - **Apache Kafka 4.4.0, Apache Kafka 3.9.2**: yes, as tested on a single broker")
    assert re.search(r"\*\*librdkafka's mock .*\*\*: no: high or critical differences for every use\n", brokers)
    assert re.search(
        r"\*\*SeaweedFS \S+\*\*: no: .*; producer, idempotent producer, consumer: not applicable, ", brokers
    )
    assert "confluent-kafka-go, krafka, librdkafka are sticky" in answers["Which client follows KIP-794?"]


def test_question_page_sorts_the_uses_of_each_broker_by_the_worst_difference() -> None:
    page = (Path(__file__).parents[2] / "kit" / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| ([^|\[]+?) \| (.* \| .* \| .* \| .*) \|$", page.partition("## May I put")[2], re.MULTILINE)
    )
    assert rows["Apache Kafka 4.4.0"].startswith(
        "producer, idempotent producer, transactions, consumer, consumer group, admin | –"
    )
    assert rows["kfake 2026-09-18"].split(" | ")[2].startswith("producer, idempotent producer, transactions, consumer")
    assert "kafka-python 3.0.12, 2.3.2, 2.0.2" in page


def test_question_page_shows_outcome_before_source_location_and_repeated_causes_once() -> None:
    why = "failed: `sender.py`, `handle`: the batch fails; sequence-gap: `a.js`: the next one is refused"
    assert (
        question_page._outcome_first(why) == "the batch fails (`sender.py`, `handle`); the next one is refused (`a.js`)"
    )
    assert question_page._outcome_first(f"{why}; {why}") == question_page._outcome_first(why), (
        "a repeated cause stands there once"
    )
    assert question_page._outcome_first("has no setting: acks") == "has no setting: acks"


def test_broker_uses_on_question_page_cover_every_recorded_group_of_broker_cases() -> None:
    groups = {cell.about for cell in matrix_cells() if cell.subject == "broker"}
    assert groups == {group for groups in question_page.NEEDS.values() for group in groups}


def test_matrix_results_of_unknown_format_raise_value_error_with_both_format_numbers() -> None:
    with pytest.raises(ValueError, match="format 2 of the results is unknown: this program reads format 1"):
        matrix_results.read_matrix(b'{"format": 2, "cells": []}')


def broker_events(folder: Path) -> Path:
    ended = RuleEnded("broker/fetch", "4.4.0", "exact", "agrees", 3, 3, 0, 0, 0, 0, 3, 0, 0, 1.0)
    events = [
        Began("1", Target("broker h:1", "", "", "gate"), ("4.4.0",), ("broker/fetch",), 0, 0),
        RuleBegan("broker/fetch", "4.4.0", "exact", 3),
        ended,
        Ended(0, "", 3, 3, 0, 0, 0, 0, 1.0),
    ]
    path = folder / "events.ndjson"
    path.write_bytes(b"\n".join(map(to_line, events)))
    return path


def test_recorded_broker_replaces_earlier_result_of_same_name_and_version(tmp_path: Path) -> None:
    record, events = tmp_path / "record.ndjson", broker_events(tmp_path)
    for name, version in (("b", "2"), ("b", "1"), ("b", "2")):
        matrix.record_broker(name, version, events, record)
    found = client_results.read_results(record)
    assert [(one.name, one.version, one.settings) for one in found] == [("b", "1", ("4.4.0",)), ("b", "2", ("4.4.0",))]
    assert found[0].rules == (RuleCount("broker/fetch", 3, 3, release="4.4.0"),)


def test_recording_a_broker_events_file_without_events_exits_1_and_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.ndjson"
    path.write_bytes(b"")
    ran = CliRunner().invoke(matrix.main, ["--broker", "b", "1", str(path)])
    assert ran.exit_code == 1
    assert f"{path} holds no event of a gate of brokers" in ran.output


def test_matrix_command_writes_pages_from_records_and_deletes_pages_of_removed_clients(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(matrix, "DOCS", tmp_path)
    (tmp_path / "clients" / "gone").mkdir(parents=True)
    gone = [tmp_path / "clients" / "gone.md", tmp_path / "clients" / "gone" / "0-1.json"]
    for path in gone:
        path.write_text("a client that has no driver any more")
    assert CliRunner().invoke(matrix.main, []).exit_code == 0
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert {"matrix.md", "questions.md", "clients.md", "matrix/results.json"} <= written
    assert not any(path.exists() for path in gone)
