"""What Java changed, as files and as pages: a page for each release, made of a file with its changes.

Beside an index page ``changes.md`` stands a folder ``changes``. ``3.3.1.ndjson`` has an example of each change that 3.3.1
made, a line each, as ``explain`` reads them; ``3.3.1.md`` shows them. ``rules.ndjson`` has a line for each rule and each
pair of releases between which it changed, begins or ends. Only the two are data; the pages follow from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import entries, read_bytes, write_whole
from kafka_conformance.core.protocol import to_json
from kafka_conformance.reports.behaviour import behaviour_lines
from kafka_conformance.reports.example_table import example_table
from kafka_conformance.rules import RULES
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

__all__ = [
    "ChangeExample",
    "Changes",
    "ExplainingFields",
    "RuleChange",
    "SameAnswer",
    "index_table",
    "linked_tickets",
    "read_changes",
    "release_page",
    "write_changes",
]

_T = TypeVar("_T")


class SameAnswer(msgspec.Struct, frozen=True):
    """One release and its answer."""

    kafka: tuple[str]
    answer: dict[str, Any]


class ExplainingFields(msgspec.Struct, frozen=True):
    """The fields of behaviour records that explain a change, as ``Record.field``."""

    fields: tuple[str, ...] = ()


class ChangeExample(msgspec.Struct, frozen=True):
    """The smallest question that shows a kind of change (``description``), and the answers before and after the change."""

    rule: str
    description: str
    question: dict[str, Any]
    answers: tuple[SameAnswer, SameAnswer]
    found: ExplainingFields = ExplainingFields()

    @property
    def releases(self) -> tuple[str, str]:
        """The release before the change, and the one with it."""
        return self.answers[0].kafka[0], self.answers[1].kafka[0]


class RuleChange(msgspec.Struct, frozen=True):
    """A rule that changed between two releases, with the number of kinds; or that begins or ends."""

    rule: str
    before: str
    after: str
    what: str
    kinds: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """Every change that is on record."""

    rules: tuple[RuleChange, ...]
    examples: tuple[ChangeExample, ...]

    def merged(self, new: Changes, asked: Sequence[str]) -> Changes:
        """Return these changes with those of the rules ``asked`` replaced."""
        kept = Changes(
            tuple(each for each in self.rules if each.rule not in asked),
            tuple(each for each in self.examples if each.rule not in asked),
        )
        return Changes(kept.rules + new.rules, kept.examples + new.examples)


def read_changes(folder: Path) -> Changes:
    """Return the changes in a folder. Raises BadInput."""
    try:
        rules = _lines(folder / "rules.ndjson", RuleChange)
        files = sorted({change.after for change in rules if change.what == "changes"}, key=parse_release)
        examples = [each for name in files for each in _lines(folder / f"{name}.ndjson", ChangeExample)]
    except (BadInput, *UNREADABLE) as error:
        raise BadInput(
            f"{folder} has no changes that can be read: {error}; write them with diff all --table"
        ) from error
    return Changes(tuple(rules), tuple(examples))


def write_changes(folder: Path, changes: Changes) -> None:
    """Write the files and the pages of a folder; remove those of releases without a change. Raises KitError."""
    rules = sorted(changes.rules, key=lambda each: (parse_release(each.after), _place(each)))
    write_whole(folder / "rules.ndjson", _encoded(rules))
    wanted = {"rules.ndjson"}
    for release, here in groupby(rules, lambda each: each.after):
        examples = [each for each in changes.examples if each.releases[1] == release]
        examples.sort(key=_place)  # stable: kinds stay in their order
        # In the form in which they are read again: Java's answers list their fields in another order than the file.
        examples = list(msgspec.json.Decoder(ChangeExample).decode_lines(_encoded(examples)))
        write_whole(folder / f"{release}.md", release_page(folder.name, list(here), examples).encode())
        wanted.add(f"{release}.md")
        if examples:
            write_whole(folder / f"{release}.ndjson", _encoded(examples))
            wanted.add(f"{release}.ndjson")
    for path in entries(folder):
        if path.name not in wanted:
            path.unlink()


def index_table(folder: str, changes: Changes) -> str:
    """Return the table of releases, the newest first, each with the rules that it changed."""
    lines = ["| release | compared with | rules that changed |", "|---|---|---|"]
    for after in sorted({each.after for each in changes.rules}, key=parse_release, reverse=True):
        here = sorted((each for each in changes.rules if each.after == after), key=_place)
        words = [f"`{each.rule}`" + ("" if each.what == "changes" else f" ({each.what})") for each in here]
        lines.append(f"| [{after}]({folder}/{after}.md) | {here[0].before} | {', '.join(words)} |")
    return "\n".join(lines) + "\n"


def release_page(folder: str, rules: Sequence[RuleChange], examples: Sequence[ChangeExample]) -> str:
    """Return the page of a release: what changed and why, then examples, rule by rule."""
    before, after = rules[0].before, rules[0].after
    about = f"What Kafka's own classes answer differently in {after} than in {before}."
    parts = [f"# {after}", f"{about} [All releases](../{folder}.md), [what each rule does](../behaviour.md)."]
    reasons = list(dict.fromkeys(reason for each in examples for reason in _reasons(each)))
    if reasons:
        parts.append("\n".join(f"- {reason}" for reason in reasons))
    if examples:
        unproven = "" if {before, after} <= set(load().releases) else " --allow-unproven"
        command = f"`kafka-conformance explain{unproven} kit/docs/{folder}/{after}.ndjson`"
        parts.append(f"Each change with the smallest question that shows it. Step by step: {command}")
    for change in rules:
        shown = [each for each in examples if each.rule == change.rule]
        parts += [f"## {change.rule}", *_existence(change)]
        for each in shown:
            parts += _change(each, why=len(reasons) > 1)
        if more := max(0, change.kinds - len(shown)):
            parts.append(f"And {more} more {'kind' if more == 1 else 'kinds'} of change, with larger examples.")
    return "\n\n".join(parts) + "\n"


def _place(change: RuleChange | ChangeExample) -> int:
    """Return the place of a rule among all, in their usual order."""
    return list(RULES).index(change.rule)


def _existence(change: RuleChange) -> Iterator[str]:
    rule = f"[The rule](../rules/{change.rule}.md)"
    if change.what == "begins":
        yield f"{rule} begins in {change.after}."
    elif change.what == "ends":
        yield f"{rule} ends with {change.before}."


def _change(example: ChangeExample, *, why: bool) -> Iterator[str]:
    yield f"### {_plain(example.description)}"
    if why and (reasons := _reasons(example)):
        yield "\n".join(reasons)
    question = msgspec.convert(example.question, type=RULES[example.rule].question)
    yield example_table(question, [(each.kafka[0], each.answer) for each in example.answers], to_first=True)


def _reasons(example: ChangeExample) -> list[str]:
    """Return the effects of the fields that explain a change, with their releases and tickets."""
    lines = behaviour_lines(RULES[example.rule], tuple(map(parse_release, example.releases)))
    by_name = {
        str(line): f"{line.effect} ({'; '.join(filter(None, (line.releases, linked_tickets(line.ticket))))})"
        for line in lines
    }
    return [by_name[name] for name in example.found.fields if name in by_name]


def linked_tickets(tickets: str) -> str:
    """Return text in which KAFKA-1234 and KIP-123 are links, as Markdown."""
    tickets = re.sub(r"KAFKA-\d+", r"[\g<0>](https://issues.apache.org/jira/browse/\g<0>)", tickets)
    return re.sub(r"KIP-\d+", r"[\g<0>](https://cwiki.apache.org/confluence/display/KAFKA/\g<0>)", tickets)


def _plain(description: str) -> str:
    return description.replace("→", "to")


def _lines(path: Path, kind: type[_T]) -> list[_T]:
    return msgspec.json.Decoder(kind).decode_lines(read_bytes(path))


def _encoded(lines: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(to_json(line) + b"\n" for line in lines)
