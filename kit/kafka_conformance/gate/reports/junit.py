"""A gate as JUnit XML: a suite for each rule in each release, a test case for its verdict and one for each finding.

What is known to differ, or is not supported, is skipped with its reason; a target that failed or broke the protocol is an
error. The first suite is the gate's own verdict, so that a file without failures and errors is a gate that ended with 0,
and an empty stream is red. All text is legal in XML 1.0, which has no way to write most control characters: they are
spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from kafka_conformance.core.events import Differed, Event, Known
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.gate.reports.outline import (
    CODES,
    Outline,
    RuleRow,
    as_json,
    compared,
    counted,
    diagnosed,
    impact,
    outline,
    replay_command,
    unanswered,
    verdict,
)
from kafka_conformance.gate.reports.remarks import remarks

__all__ = ["write"]

_LIMIT = 20_000
_Result: TypeAlias = Failure | Error | Skipped


def write(events: Iterable[Event]) -> str:
    """The document."""
    seen = outline(events)
    whole = JUnitXml(_legal(f"kafka-conformance gate {seen.target}"))
    whole.add_testsuite(_gate(seen))
    for row in seen.rows:
        whole.add_testsuite(_suite(row))
    if seen.stale:
        whole.add_testsuite(_stale(seen))
    whole.update_statistics()  # type: ignore[no-untyped-call]
    whole.time = seen.ended.seconds if seen.ended else 0
    text = whole.tostring().decode()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _gate(seen: Outline) -> TestSuite:
    suite = TestSuite("gate")
    for name, value in _properties(seen):
        suite.add_property(name, _legal(value))
    line, result = verdict(seen), None
    if seen.exit_code:
        kind = Failure if seen.exit_code == 1 else Error
        result = _result(kind, line, CODES.get(seen.exit_code, CODES[2]), line)
    # Its seconds are those of the suites: only these may hold them, or a sum would count them twice.
    suite.add_testcase(_case("gate", "verdict", 0, result))
    return suite


def _properties(seen: Outline) -> Iterator[tuple[str, str]]:
    if seen.began:
        target = seen.began.target
        yield from (
            ("target", target.name),
            ("version", target.version),
            ("language", target.language),
            ("command", target.command),
        )
        yield from (("kit", seen.began.kit), ("seed", str(seen.began.seed)), ("examples", str(seen.began.examples)))
        if seen.began.case_set:
            yield "cases", seen.began.case_set
        yield "releases", " ".join(seen.began.releases)
        if seen.unproven:
            yield "unproven", " ".join(seen.unproven)


def _suite(row: RuleRow) -> TestSuite:
    suite = TestSuite(_legal(f"{row.rule} {row.release}"))
    suite.add_property("grade", _legal(row.grade))
    if row.era:
        suite.add_property("era", " ".join(row.era))
    for remark in remarks([row]):
        suite.add_property("remark", _legal(remark.line))
    for diagnosis in row.ended.diagnoses if row.ended else ():
        suite.add_property("diagnosis", _legal(diagnosed(diagnosis)))
    suite.add_testcase(
        _case(row.rule, f"{row.rule} in {row.release}", row.ended.seconds if row.ended else 0, _whole(row))
    )
    for one in row.differed:
        suite.add_testcase(_case(row.rule, f"{one.kind} ({one.id})", 0, _finding(one)))
    for one in row.outside:
        result = _result(Skipped, f"out of domain: {one.out_of_domain}", "out of domain", _told(one))
        suite.add_testcase(_case(row.rule, f"out of domain: {one.kind} ({one.id})", 0, result))
    for number, error in enumerate(row.protocol_errors):
        message = f"{error.error}: {error.what}"
        asked = [_legal(f"{name}: {text}", 2 * _LIMIT) for name, text in unanswered(error)]
        text = "\n".join([message, f"times: {error.times:,}", *asked, f"hint: {error.hint}"])
        suite.add_testcase(_case(row.rule, f"{error.error} ({number})", 0, _result(Error, message, error.error, text)))
    return suite


def _whole(row: RuleRow) -> _Result | None:
    """What became of a rule in a release; None if it agrees."""
    summary = counted(row.ended) if row.ended else "it began and did not end: the event stream is incomplete"
    lines = (
        *(diagnosed(one) for one in (row.ended.diagnoses if row.ended else ())),
        *(one.line for one in remarks([row])),
    )
    text = "\n".join([summary, *map(_legal, lines)])
    match row.verdict:
        case "agrees":
            return None
        case "differs":
            return _result(Failure, summary, row.verdict, text)
        case "known" | "unsupported" | "not judged":
            return _result(Skipped, f"{row.verdict}: {summary}", row.verdict, text)
        case _:
            return _result(Error, f"{row.verdict}: {summary}", row.verdict, text)


def _finding(one: Differed) -> _Result:
    if one.known is not None:
        return _result(Skipped, _known(one.known), "known", _told(one))
    differing = next((part for part in compared(one) if not part.same), None)
    expected, actual = (differing.expected, differing.actual) if differing else (as_json(one.expected), "")
    sides = [clipped("nothing" if side is None else side, 400) for side in (expected, actual)]
    return _result(Failure, f"expected {sides[0]}, got {sides[1]}", one.kind, _told(one))


def _known(known: Known) -> str:
    extra = [known.issue, f"until {known.expires}" if known.expires else ""]
    return ", ".join([f"known: {known.reason}", *filter(None, extra)])


def _told(one: Differed) -> str:
    lines = [
        f"times: {one.times:,} ({one.source})",
        f"severity: {impact(one)}" if one.effect else "",
        f"for users: {one.effect}" if one.effect else "",
        f"question: {clipped(as_json(one.question), _LIMIT)}",
        f"expected: {clipped(as_json(one.expected), _LIMIT)}",
        f"actual: {clipped(as_json(one.actual), _LIMIT)}",
        f"diagnosis: {diagnosed(one.diagnosis)}" if one.diagnosis else "",
        f"Java: {one.java}",
        f"rule: {one.link}" if one.link else "",
        f"replay: {again}" if (again := replay_command(one)) else "",
    ]
    # Line by line, since a target's text may hold line feeds: it must not look like a line of ours.
    return "\n".join(_legal(line, 2 * _LIMIT) for line in lines if line)


def _stale(seen: Outline) -> TestSuite:
    suite = TestSuite("known failures")
    for one in seen.stale:
        result = _result(Failure, f"{one.why}: {one.entry}", "stale", f"{one.why}\nhint: {one.hint}")
        suite.add_testcase(_case("known-failures", one.entry, 0, result))
    return suite


def _case(rule: str, name: str, seconds: float, result: _Result | None) -> TestCase:
    case = TestCase(_legal(name), _legal(f"kafka_conformance.{rule}"), seconds)
    if result is not None:
        case.result = [result]
    return case


def _result(kind: type[_Result], message: str, type_: str, text: str) -> _Result:
    made = kind(_legal(message), _legal(type_, 200))
    made.text = harmless(clipped(text, 4 * _LIMIT), keep="\n")
    return made


def _legal(text: str, limit: int = 1000) -> str:
    return harmless(clipped(text, limit))
