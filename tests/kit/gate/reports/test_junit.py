"""The JUnit file, read by junitparser and by ElementTree, and held to the structure that Surefire's and Jenkins' have."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

import pytest
import streams
from junitparser import Error, Failure, JUnitXml, Skipped

from kafka_conformance.core.events import Ended, Event
from kafka_conformance.gate.reports.junit import write

# Element: its required attributes, others it may have, and its children in their order.
FORM: dict[str, tuple[set[str], set[str], list[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors"}, {"time", "skipped"}, ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"time"}, ["properties", "testcase"]),
    "properties": (set(), set(), ["property"]),
    "property": ({"name", "value"}, set(), []),
    "testcase": ({"name", "classname"}, {"time"}, ["skipped", "error", "failure"]),
    "failure": ({"message", "type"}, set(), []),
    "error": ({"message", "type"}, set(), []),
    "skipped": ({"message", "type"}, set(), []),
}
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check(element: Element) -> None:
    required, optional, children = FORM[element.tag]
    assert required <= set(element.attrib) <= required | optional
    places = [children.index(child.tag) for child in element]
    assert places == sorted(places)
    if element.tag == "testcase":
        assert len(element) <= 1
    if element.tag in ("testsuite", "testsuites"):
        cases = list(element.iter("testcase"))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == sum(case.find(tag) is not None for case in cases)
        assert int(element.attrib["tests"]) == len(cases)
    for child in element:
        check(child)


@pytest.mark.parametrize("name", streams.ALL)
def test_junit_report_is_legal_xml_with_valid_elements_and_counts_even_for_hostile_text(name: str) -> None:
    text = write(streams.ALL[name])
    assert not ILLEGAL.search(text)
    root = fromstring(text.encode())  # noqa: S314
    check(root)
    for element in root.iter():
        assert not any(ILLEGAL.search(said) for said in (element.text or "", *element.attrib.values()))
    assert sum(float(suite.attrib["time"]) for suite in root) >= 0


@pytest.mark.parametrize("name", streams.ALL)
def test_junit_report_is_green_for_exit_code_0_with_failures_for_1_and_errors_for_2(name: str) -> None:
    events = streams.ALL[name]
    code = events[-1].exit_code if events and isinstance(events[-1], Ended) else 2
    whole = JUnitXml.fromstring(write(events).encode())
    assert (code == 0) == (whole.failures == 0 and whole.errors == 0)
    if code == 1:
        assert whole.failures
    if code == 2:
        assert whole.errors


def cases(events: list[Event]) -> dict[tuple[str, str], list[object]]:
    read = JUnitXml.fromstring(write(events).encode())
    return {(suite.name, case.name): case.result for suite in read for case in suite}


def test_junit_maps_verdicts_to_failure_skipped_or_error() -> None:
    found = cases(streams.everything())
    kinds = {key: type(result[0]) if result else None for key, result in found.items()}
    assert {rule: kinds[f"{rule} 4.4.0", f"{rule} in 4.4.0"] for rule in (
        "murmur2", "partition-for-key", "builtin-partitioner", "record-sizes", "sequence-increment", "delivery",
    )} == {
        "murmur2": Failure, "partition-for-key": None, "builtin-partitioner": Skipped, "record-sizes": Skipped,
        "sequence-increment": Error, "delivery": Error,
    }  # fmt: skip
    assert kinds["murmur2 4.4.0", "another hash (90043993ceb72c63)"] is Failure
    assert kinds["record-sizes 4.4.0", "another size (90043993ceb72c63)"] is Skipped
    assert kinds["delivery 4.4.0", "noise (0)"] is Error
    assert kinds["known failures", "murmur2 0123456789abcdef"] is Failure
    assert kinds["gate", "verdict"] is Failure


def test_junit_failure_contains_question_answers_and_diagnosis() -> None:
    (failure,) = cases(streams.everything())["murmur2 4.4.0", "another hash (90043993ceb72c63)"]
    assert isinstance(failure, Failure)
    assert failure.message == "expected 597841616, got -1"
    assert failure.text is not None
    assert failure.text.splitlines() == [
        "times: 412 (frozen)",
        'question: {"key": "666f6f"}',
        'expected: {"hash": 597841616}',
        'actual: {"hash": -1}',
        (
            "diagnosis: 412 of 412 wrong answers equal `sign-abs`: the sign is dropped by abs; so do 588 of 588 right ones "
            f"(see {streams.THREAD})"
        ),
        f"Java: {streams.JAVA}",
        f"rule: {streams.LINK}",
        "replay: kafka-conformance replay .kafka-conformance/failures/90043993ceb72c63.json",
    ]


def test_junit_skip_of_known_failure_gives_the_reason() -> None:
    (skipped,) = cases(streams.everything())["record-sizes 4.4.0", "another size (90043993ceb72c63)"]
    assert isinstance(skipped, Skipped)
    assert skipped.message == "known: they round down, https://github.com/twmb/franz-go/issues/1, until 2027-01-01"


def test_junit_reports_unfinished_rule_as_error() -> None:
    found = cases(streams.conforming()[:2])
    (error,) = found["murmur2 3.2.3", "murmur2 in 3.2.3"]
    assert isinstance(error, Error)
    assert "did not end" in (error.message or "")


def test_junit_report_escapes_newlines_in_client_text() -> None:
    text = write(streams.hostile("fine\nhint: owned\nreplay: owned"))
    assert "fine\\nhint: owned" in text


def test_junit_report_truncates_long_client_text() -> None:
    assert len(write(streams.hostile("x" * 100_000))) < 600_000
