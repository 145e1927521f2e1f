"""Workflow commands, read by a small parser made from the rules GitHub documents; and the summary of a job."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import streams

from kafka_conformance.core.events import Began, Differed, Ended, Event, RuleBegan
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.gate.reports.github import command, fence, in_actions, summary, write


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    data: str


def unescaped(text: str, *also: tuple[str, str]) -> str:
    for written, meant in (*also, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def read(line: str) -> Command | None:
    """``::name key=value,key=value::data``, as the runner reads a line of output; None if it is not a command."""
    line = line.lstrip()
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    head, _, data = line[2:].partition("::")
    name, _, given = head.partition(" ")
    pairs = (one.partition("=") for one in given.split(",") if one.strip())
    colon_and_comma = (("%3A", ":"), ("%2C", ","))
    return Command(name, {key.strip(): unescaped(value, *colon_and_comma) for key, _, value in pairs}, unescaped(data))


def commands(text: str) -> list[Command]:
    """Every line has to be a command; lines end wherever Python thinks that one might."""
    found = [read(line) for line in text.splitlines()]
    assert None not in found
    return [one for one in found if one is not None]


def test_github_annotations_list_every_finding_with_title() -> None:
    found = commands(write(streams.everything()))
    assert [one.properties["title"] for one in found] == [
        "kafka-conformance",
        "murmur2 in 3.2.3 and 4.4.0: another hash",
        "round-robin-partitioner in 3.2.3 and 4.4.0: another partition",
        "sequence-increment in 3.2.3 and 4.4.0: failed",
        "delivery in 3.2.3 and 4.4.0: noise",
        "known failures",
    ]
    assert {one.name for one in found} == {"error"}
    assert found[0].data.startswith(
        "differs: franz-go 1.22.2, Kafka 3.2.3 and 4.4.0: 832 answers differ. 3,100 questions"
    )
    assert found[1].data.splitlines() == [
        "824 questions",
        'question: {"key": "666f6f"}',
        'expected: {"hash": 597841616}',
        'actual: {"hash": -1}',
        (
            "412 of 412 wrong answers equal `sign-abs`: the sign is dropped by abs; so do 588 of 588 right ones "
            f"(see {streams.THREAD})"
        ),
        f"Java: {streams.JAVA}, {streams.LINK}",
        "replay: kafka-conformance replay .kafka-conformance/failures/90043993ceb72c63.json",
    ]
    assert 'step 1: {"op": "new_batch", "previous": 2, "topic": "t"}\nexpected: {"partition": 1}' in found[2].data


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_injects_no_github_workflow_command_or_property(name: str) -> None:
    text = streams.HOSTILE[name]
    found = commands(write(streams.hostile(text)))
    assert [(one.name, list(one.properties)) for one in found] == [("error", ["title"])] * len(found)
    assert len(found) == len(commands(write(streams.hostile("x"))))
    # What was said is all there, as text: the data of the error is the target's words and ours.
    assert found[3].data.splitlines()[0][:200] == harmless(text)[:200]


@pytest.mark.parametrize(
    "text", ["%", "%25", "%0A", "a\nb", "a:b,c=d::e", "::error::x", "%3A%2C", "\r\n", " lead", "100% of 3:1,5"]
)
def test_escaped_github_workflow_command_parses_back_to_the_sanitized_text(text: str) -> None:
    (one,) = commands(command("error", text, text))
    assert one == Command("error", {"title": harmless(text)}, harmless(text, keep="\n"))


def test_conforming_gate_writes_a_single_github_notice() -> None:
    (one,) = commands(write(streams.conforming()))
    assert (one.name, one.properties) == ("notice", {"title": "kafka-conformance"})


@pytest.mark.parametrize("name", streams.ALL)
def test_github_annotations_are_errors_unless_gate_exits_with_0(name: str) -> None:
    events = streams.ALL[name]
    green = bool(events) and isinstance(events[-1], Ended) and events[-1].exit_code == 0
    assert ({one.name for one in commands(write(events))} == {"notice"}) == green


def many(count: int) -> list[Event]:
    found: list[Any] = [streams.differed(kind=f"kind {number}") for number in range(count)]
    return [streams.began(), *found, streams.ended_rule("murmur2", "4.4.0", "differs", differed=count),
            Ended(1, "it differs", count, 0, count, 0, 0, 0, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("count", "lines"), [(8, 9), (9, 10), (10, 10), (500, 10)])
def test_github_annotations_stop_at_ten_and_state_the_number_of_omitted_findings(count: int, lines: int) -> None:
    found = commands(write(many(count)))
    assert len(found) == lines
    shown = sum(": kind " in one.properties["title"] for one in found)
    assert shown == count or found[-1].data == f"{count - shown:,} more: see the summary of this job"


def test_github_job_summary_of_huge_findings_stays_below_1_mib_and_counts_omitted_findings() -> None:
    text = "|`<" * 30_000
    found: list[Any] = [
        streams.differed(kind=str(number), question={"key": text}, actual={"hash": text}, java=text)
        for number in range(500)
    ]
    events = [streams.began(), *found, Ended(1, text, 500, 0, 500, 0, 0, 0, 1.0)]
    assert len(summary(events).encode()) < 1_048_576
    assert "And 450 more." in summary(many(500))


def test_github_job_summary_contains_verdict_and_rule_table() -> None:
    text = summary(streams.everything())
    assert text.startswith("# Differs: `franz-go 1.22.2`")
    assert "| murmur2 | 3.2.3 and 4.4.0 | differs |" in text


def test_github_job_summary_with_huge_table_stays_below_1_mib_and_keeps_the_verdict() -> None:
    rows: list[Any] = [RuleBegan("x" * 3000 + str(number), "4.4.0", "exact", 1) for number in range(500)]
    text = summary([streams.began(), *rows, Ended(2, "too much", 0, 0, 0, 0, 0, 0, 1.0)])
    assert len(text.encode()) < 1_048_576
    assert "too much" in text


def test_github_fence_stops_and_resumes_commands_with_a_fresh_random_token() -> None:
    before, after = fence()
    stop, resume = read(before.rstrip("\n")), read(after.rstrip("\n"))
    assert stop is not None
    assert resume is not None
    assert stop.name == "stop-commands"
    assert resume.name == stop.data
    assert len(stop.data) == 32
    assert fence() != (before, after)


@pytest.mark.parametrize(
    ("environ", "it_is"), [({"GITHUB_ACTIONS": "true"}, True), ({"GITHUB_ACTIONS": "false"}, False), ({}, False)]
)
def test_github_actions_is_detected_only_if_the_environment_variable_is_true(
    environ: dict[str, str], it_is: bool
) -> None:
    assert in_actions(environ) is it_is


def test_github_command_parser_of_the_tests_detects_injected_commands() -> None:
    assert isinstance(streams.began(), Began)
    assert isinstance(streams.differed(), Differed)
    raw = "::error title=x::fine\n::set-output name=owned::yes"
    assert [one.name for one in commands(raw)] == ["error", "set-output"]
    assert read("::error title=a,owned=b::c") == Command("error", {"title": "a", "owned": "b"}, "c")
    assert read("nothing") is None
