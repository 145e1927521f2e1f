"""The gates of the clients and their page, from synthetic streams of events."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import client_gates
import client_page
import msgspec
import pytest

from kafka_conformance.answerers.named_driver import NamedDriver, Setting
from kafka_conformance.core.events import Began, Differed, Ended, Event, Known, RuleBegan, RuleEnded, Target, to_line

RULE, AT = "partition-for-key", "4.4.0"
SETTINGS = {
    "default": Setting(("x",), without_key="in turn"),
    "java": Setting(("y",), chosen_by="Murmur2"),
    "same": Setting(("x",)),
    "other": Setting(("z",), chosen_by="Other"),
}
DRIVER = NamedDriver(("./driver",), client="a|client", version="1.0", settings=SETTINGS, sequences="no producer id")


def events_of(known: Known | None = None, *, rule: str = RULE, same: bool = False, ended: bool = True) -> list[Event]:
    count = {"known": int(not same and known is not None), "differed": int(not same and known is None)}
    asked = (2_003, 2_003 if same else 2_002)
    question = {"key": "80"}
    differed = Differed(
        *(rule, AT, "id", "frozen", "another `partition`", 1, question, {"partition": 1}, {"partition": 2}, "J", ""),
        known=known,
    )
    verdict = "agrees" if same else "known" if known else "differs"
    events: list[Event] = [
        Began("1", Target("c", "2.0|`", "go", "./driver"), (AT,), (rule,), 0, 1),
        RuleBegan(rule, AT, "exact", 3),
        *([] if same else [differed]),
        RuleEnded(
            *(rule, AT, "exact", verdict, *asked),
            **count,
            failed=0,
            unsupported=4,
            frozen=3,
            fresh=0,
            earlier=0,
            seconds=1,
        ),
        Ended(count["differed"], "", *asked, **count, failed=0, unsupported=4, seconds=1),
    ]
    return events if ended else events[:-1]


def gated(
    folder: Path, events: Sequence[Event], settings: tuple[str, ...] = ("default",), code: int = 0
) -> client_gates.Gated:
    path = folder / "events.ndjson"
    path.write_bytes(b"\n".join(map(to_line, events)))
    return client_gates.Gated("c", settings, DRIVER, code, client_gates.read(path), "the build failed")


def test_the_first_table_answers_for_a_client_in_one_row(tmp_path: Path) -> None:
    settings = [
        gated(tmp_path, events_of(), ("default", "same"), 1),
        gated(tmp_path, events_of(same=True), ("java",)),
    ]
    answers, _, details = client_page.page(settings).partition("## Every setting and rule")
    rows = [line for line in answers.splitlines() if line.startswith("|")]
    assert rows[2:] == [
        "| a&#124;client | 2.0&#124;&#96; | no: 1 of 2,003 | `Murmur2` | yes | in turn | no producer id |"
    ]
    assert "| a&#124;client | 2.0&#124;&#96; | default, same | 2,002 of 2,003; 1 differed; 4 unsupported |" in details
    assert "| a&#124;client | 2.0&#124;&#96; | java | 2,003 of 2,003; 4 unsupported |" in details
    assert "**" not in answers + details


def test_a_setting_that_agrees_comes_before_one_named_java(tmp_path: Path) -> None:
    differing = [gated(tmp_path, events_of(), (setting,), 1) for setting in ("default", "java")]
    assert "| `Murmur2` | no: 1 of 2,003 | in turn |" in client_page.page(differing)
    agreeing = gated(tmp_path, events_of(same=True), ("other",))
    assert "| `Other` | yes | in turn |" in client_page.page([*differing, agreeing])


def test_a_default_as_java_needs_no_setting(tmp_path: Path) -> None:
    text = client_page.page([gated(tmp_path, events_of(same=True))])
    assert "| yes | not needed |  | in turn | no producer id |" in text


def test_a_client_without_a_setting_for_it(tmp_path: Path) -> None:
    text = client_page.page([gated(tmp_path, events_of(), code=1)])
    assert "| no: 1 of 2,003 | none |  | in turn | no producer id |" in text


def test_what_was_judged_of_records_without_a_key_and_of_sequences(tmp_path: Path) -> None:
    round_robin = client_page.page([gated(tmp_path, events_of(rule="round-robin-partitioner"))])
    assert "| not asked | none |  | in turn; round-robin-partitioner: no: 1 of 2,003 | no producer id |" in round_robin
    sequences = client_page.page([gated(tmp_path, events_of(rule="sequence-increment", same=True))])
    assert "| not asked | none |  | in turn | yes |" in sequences


def test_a_deviation_that_is_known(tmp_path: Path) -> None:
    known = Known("it is CRC32", "ci/findings/one.md", "2027-06-30")
    text = client_page.page([gated(tmp_path, events_of(known), ("java",))])
    assert "## a&#124;client 2.0&#124;&#96;, java" in text
    assert "| 2,002 of 2,003; 1 known; 4 unsupported |" in text
    assert "Known until 2027-06-30: it is CRC32 ([" in text
    assert "](../../ci/findings/one.md))" in text
    assert '\nquestion  {"key": "80"}\nJava      {"partition": 1}\nclient    {"partition": 2}\n' in text


def test_a_deviation_says_how_bad_it_is_and_what_it_means_for_users(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, severity="critical", keys=2, effect="Joins break.")
        if isinstance(event, Differed)
        else event
        for event in events_of()
    ]
    text = client_page.page([gated(tmp_path, events, code=1)])
    assert "\n\nCritical, 2 keys. partition-for-key: `` another" in text
    assert (
        "\n\nWhat this means for users: Joins break.\n\nDiagnosis: no known mistake explains this.\n\n```text\n" in text
    )


def test_a_rule_of_which_too_little_was_answered_is_not_judged(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, verdict="not judged") if isinstance(event, RuleEnded) else event
        for event in events_of(same=True)
    ]
    text = client_page.page([gated(tmp_path, events, code=2)])
    assert "| not judged | none |" in text
    assert "| 2,003 of 2,003; 4 unsupported; not judged |" in text


@pytest.mark.parametrize(
    ("verdict", "code", "failure"), [("not judged", 2, 0), ("crashed", 2, 2), ("differs", 1, 1), ("agrees", 0, 0)]
)
def test_only_what_is_not_judged_is_no_failure(tmp_path: Path, verdict: str, code: int, failure: int) -> None:
    events = [
        msgspec.structs.replace(event, verdict=verdict) if isinstance(event, RuleEnded) else event
        for event in events_of(same=True)
    ]
    assert gated(tmp_path, events, code=code).failure == failure
    assert gated(tmp_path, [], code=2).failure == 2


def test_a_deviation_that_is_not_known(tmp_path: Path) -> None:
    assert "Known until" not in client_page.page([gated(tmp_path, events_of(), code=1)])


@pytest.mark.parametrize("events", [events_of(ended=False), []])
def test_an_interrupted_gate_has_no_verdict(tmp_path: Path, events: list[Event]) -> None:
    text = client_page.page([gated(tmp_path, events, code=2)])
    assert "The gate ended with exit code 2 before it finished: `the build failed`" in text
    assert "| could not be judged |" in text
    assert "2,002 of 2,003" not in text


def test_settings_with_the_same_arguments_are_one() -> None:
    assert client_gates.settings(DRIVER) == [("default", "same"), ("java",), ("other",)]


def test_the_committed_page_begins_with_a_row_for_each_client() -> None:
    text = (client_gates.ROOT / "kit" / "docs" / "clients.md").read_text()
    answers = text.partition("## Every setting and rule")[0]
    assert len([line for line in answers.splitlines() if line.startswith("| ")]) == 1 + len(client_gates.names())
    assert "could not be judged" not in text


def test_the_command() -> None:
    words = client_gates.command("some-client", "java", Path("e"), ["--kafka", "all"])
    assert words[1:5] == ["-m", "kafka_conformance", "gate", "some-client:java"]
    assert words[5:7] == ["--events", "e"]
    assert words[8].endswith("/.kafka-conformance/clients/some-client-java")
    assert words[-2:] == ["--kafka", "all"]
    known = client_gates.command("kafkajs", "java", Path("e"), [])
    assert known[5] == "--known-failures"
    assert known[6].endswith("/ci/known-failures/kafkajs-java.toml")


def test_a_client_that_cannot_be_installed_is_reported_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(words: list[str], *, cwd: Path, **_: object) -> subprocess.CompletedProcess[str]:
        assert cwd == tmp_path / "clients"
        assert (cwd / "ci" / "drivers" / "go-protocol" / "protocol.go").is_file()
        if words[4].startswith("sarama"):
            return subprocess.CompletedProcess(words, 2, "", "noise\nthe driver cannot be built\n\n")
        Path(words[words.index("--events") + 1]).write_bytes(b"\n".join(map(to_line, events_of(same=True))))
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(client_gates.subprocess, "run", run)
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path))
    found = client_gates.gate_all(["sarama:java", "aiokafka"], [])
    assert [(one.name, one.settings, one.finished, one.why) for one in found] == [
        ("sarama", ("java",), False, "the driver cannot be built"),
        ("aiokafka", ("default", "java"), True, ""),
    ]
    text = client_page.page(found)
    assert "| sarama | 1.61.1 | could not be judged |" in text
    assert "| aiokafka | 2.0&#124;&#96; | yes | not needed |" in text
