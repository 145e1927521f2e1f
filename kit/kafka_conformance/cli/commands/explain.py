"""Show a question and its answer as a timeline: what happened at each step, and why.

FILE is a saved failure, the id of one, a finding (kit/docs/findings), or a file of questions in the protocol's form: JSON
documents with `rule`, `question` and, for another release than the newest, `kafka` or `release`. `-` is standard input.
A finding is shown once for each group of releases with the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.names import open_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.failures import FOLDER
from kafka_conformance.cli import options
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.decoding import UNREADABLE, decode_question
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_bytes
from kafka_conformance.core.protocol import Answer, Answered, Failed, Lost, Question, Unsupported, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.streams import read_input, say_json
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.gate.reports.release_ranges import since_until
from kafka_conformance.oracle.session import named_release, unproven_releases
from kafka_conformance.reports.terminal import console
from kafka_conformance.reports.timeline import Timeline, TimelineRow, print_timeline
from kafka_conformance.reports.timeline_figure import draw, ready
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.step_text import answer_in_words, fields_in_words, plain_steps
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["run"]


class _Side(msgspec.Struct, frozen=True):
    """One side of a saved failure."""

    release: str


class _SameAnswer(msgspec.Struct, frozen=True):
    """Releases whose answer to a finding's question is the same."""

    kafka: tuple[str, ...]


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the protocol, a frozen case, a saved failure or a finding: shared fields, then those of one kind."""

    rule: str
    question: msgspec.Raw
    kafka: str | None = None
    release: str | None = None
    id: str | None = None
    expected: _Side | None = None
    actual: msgspec.Raw = msgspec.Raw(b"null")
    answer: msgspec.Raw = msgspec.Raw(b"null")
    found: msgspec.Raw = msgspec.Raw(b"null")
    description: str = ""
    answers: tuple[_SameAnswer, ...] = ()

    def named_releases(self) -> list[tuple[str | None, str]]:
        """Return the releases to explain, each with a title; None stands for the newest release."""
        named = self.kafka or self.release or (self.expected.release if self.expected else None)
        if named or not self.answers:
            return [(named, self.description)]
        every = sorted((version for same in self.answers for version in same.kafka), key=parse_release)
        return [(same.kafka[-1], f"Kafka {since_until(same.kafka, every)}") for same in self.answers]


@dataclass(frozen=True, slots=True)
class _Asked:
    rule: Rule
    question: Question
    release: Release
    where: str
    description: str


@click.argument("file", metavar="FILE")
@click.option("--kafka", default="", metavar="RELEASE", help="An exact release or 'newest' (default: as in the file).")
@options.answerer_option("reference, java or mutant:NAME, whose answers are shown. The reasons are the reference's")
@options.allow_unproven
@click.option("--svg", default=None, type=options.REPORT, metavar="FILE", help="Also draw the timeline into this file.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON line for each question to standard output.")
def run(*, file: str, kafka: str, answerer_name: str, svg: Path | None, as_json: bool,
        allow_unproven: bool = False) -> int:  # fmt: skip
    """Explain every question in ``file``; 0, or BadInput or KitError."""
    asked = [each for document, where in _documents(file) for each in _typed(document, where, kafka)]
    unproven = unproven_releases([(each.rule.slug, each.release) for each in asked], allow=allow_unproven)
    if svg is not None:
        if len(asked) > 1:
            raise BadInput(f"{file} holds {len(asked)} questions, and a figure shows one: give --svg a file with one")
        ready(svg)
    with ExitStack() as stack:
        answerer = open_answerer(answerer_name, stack)
        _check_mutant(answerer_name, asked)
        out = console()
        for number, one in enumerate(asked):  # printed one by one: a file may have thousands
            timeline = _timeline(answerer, one, unproven)
            if svg is not None:
                draw(timeline, svg)
            if as_json:
                say_json(to_json(asdict(timeline)))
                continue
            if number:
                out.print()
            print_timeline(out, timeline)
    return 0


def _check_mutant(answerer_name: str, asked: Sequence[_Asked]) -> None:
    """Raise BadInput if ``answerer_name`` is a mutant of another rule than a question's."""
    mutated = {f"mutant:{mutant.slug}": mutant.rule for mutant in MUTANTS}.get(answerer_name)
    other = next((one for one in asked if mutated not in {None, one.rule.slug}), None)
    if other is not None:
        raise BadInput(
            f"{other.where}: {answerer_name} is a mutant of {mutated}, and this is a question of {other.rule.slug}"
        )


def _documents(file: str) -> Iterator[tuple[_Document, str]]:
    """Yield each document with its place. Raises BadInput."""
    name, content = _read(file)
    if not content.strip():
        raise BadInput(f"{name} is empty: it should hold a question, as JSON")
    try:
        whole = msgspec.json.decode(content)
    except UNREADABLE as error:
        lines = [(line, number) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0][0]):
            raise BadInput(f"{name} is not JSON: {error}") from error
        for line, number in lines:
            yield _document(line, f"{name}, line {number}"), f"{name}, line {number}"
        return
    if not isinstance(whole, dict):
        raise BadInput(f"{name} is not a question: expected a JSON object with rule and question")
    yield _document(content, name), name


def _read(file: str) -> tuple[str, bytes]:
    if file == "-":
        return "standard input", read_input()
    saved = FOLDER / f"{file}.json"
    path = Path(file)
    if not exists(path):
        if not exists(saved):
            raise BadInput(f"{file} cannot be read (No such file or directory), nor is there a failure of that id")
        path = saved
    return str(path), read_bytes(path)


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return False
    return True


def _document(content: bytes, where: str) -> _Document:
    try:
        return msgspec.json.decode(content, type=_Document)
    except UNREADABLE as error:
        raise BadInput(f"{where} is not a question: {error}") from error


def _typed(document: _Document, where: str, kafka: str) -> Iterator[_Asked]:
    if document.rule not in RULES:
        raise BadInput(f"{where}: unknown rule {document.rule!r}: {did_you_mean(document.rule, RULES)}")
    rule = RULES[document.rule]
    try:
        question = decode_question(document.question, rule.question)
    except UNREADABLE as error:
        raise BadInput(f"{where}: the question is not one of rule {rule.slug}: {error}") from error
    releases = [(kafka, document.description)] if kafka else document.named_releases()
    for named, title in releases:
        release = NEWEST if named in {None, "newest"} else named_release(str(named))
        yield _Asked(rule, question, release, where, title)


def _timeline(answerer: Answerer, asked: _Asked, unproven: Sequence[str]) -> Timeline:
    rule, question, release = asked.rule, asked.question, asked.release
    expected = _answer(ReferenceAnswerer(), asked)
    actual = (
        expected if isinstance(answerer, ReferenceAnswerer) and answerer.instead is None else _answer(answerer, asked)
    )
    rows = tuple(_rows(rule, question, release, expected, actual))
    differs = to_json(actual) != to_json(expected)
    return Timeline(
        rule=rule.slug,
        title=asked.description or rule.title,
        id=question_id(rule.slug, str(release), question),
        release=f"{release} (unproven)" if str(release) in unproven else str(release),
        answerer=answerer.name,
        asked=tuple(fields_in_words(question)),
        answered=() if rows else tuple(_fields(actual)),
        rows=rows,
        instead=tuple(_fields(expected)) if differs and (not rows or not hasattr(question, "steps")) else (),
    )


def _fields(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield the fields of an answer as text, and its steps numbered."""
    for number, step in enumerate(answer.get("steps", ())):
        yield f"step {number}", answer_in_words(step)
    yield from fields_in_words(answer)


def _answer(answerer: Answerer, asked: _Asked) -> Answer:
    (outcome,) = answerer.answer(asked.rule, asked.release, [asked.question])
    match outcome:
        case Answered(answer):
            return answer
        case Unsupported(why) | Failed(why) | Lost(what=why):
            raise BadInput(f"{asked.where}: {answerer.name} has no answer: {why}")


def _steps(rule: Rule, question: Any, answer: Answer) -> Any:
    """Return what the rows show of an answer: a list, or something else where there is nothing to show in rows."""
    if rule.parts is not None:
        return list(rule.parts(question, answer)) or None
    return answer.get("steps") if hasattr(question, "steps") else None


def _rows(rule: Rule, question: Any, release: Release, expected: Answer, actual: Answer) -> Iterator[TimelineRow]:
    """Yield the steps as answered; of a rule without steps the parts of its only answer, if it explains them.

    There are none if the rule threw before the first one.
    """
    if rule.explain is not None and rule.parts is None and not hasattr(question, "steps"):
        yield from map(TimelineRow, rule.explain(question, release, [actual]))
        return
    expected_steps, actual_steps = _steps(rule, question, expected), _steps(rule, question, actual)
    if not isinstance(expected_steps, list) or not isinstance(actual_steps, list):
        return
    rows = len(expected_steps) if rule.parts else len(question.steps)
    explain = rule.explain or plain_steps
    actual_steps = [*actual_steps, *["(no answer)"] * rows][:rows]
    ours = explain(question, release, expected_steps)
    theirs = (
        ours
        if actual_steps == expected_steps and to_json(actual_steps) == to_json(expected_steps)
        else explain(question, release, actual_steps)
    )
    if theirs is ours:
        yield from map(TimelineRow, ours)
        return
    for our, their, one, other in zip(ours, theirs, expected_steps, actual_steps, strict=True):
        if to_json(one) == to_json(other):
            yield TimelineRow(their)
        elif our.answer != their.answer:
            yield TimelineRow(their, our.answer)
        else:  # the words leave out what differs
            yield TimelineRow(replace(their, answer=to_json(other).decode()), to_json(one).decode())
