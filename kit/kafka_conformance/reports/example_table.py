"""An example in Markdown: the fields of a question as a list, and the answers of releases side by side, step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.timeline import NOTHING
from kafka_conformance.rules.common.step_text import answer_in_words, fields_in_words, plain_step_in_words

__all__ = ["code", "example_table"]

_LONGEST = 240
_BEFORE = 5
"""Steps before the first difference that are shown of a long script."""
_ALIKE = "(the same)"
_JSON_COMMA = re.compile(r""",(?=["\[{0-9-])""")
_SPECIAL = re.compile(r"[&<>|`*_\[\]\\~]")


def example_table(question: Question, answers: Sequence[tuple[str, Answer]], *, to_first: bool = False) -> str:
    """Return the question and the answers, each with the releases that give it, as Markdown.

    Steps after the last one that differs are left out; with ``to_first``, those after the first one, and of a long script
    those long before it. Answers without steps that do not fit in a cell are shown part by part, those that differ.
    """
    fields = [f"- {name}: {code('; '.join(text.splitlines()))}" for name, text in fields_in_words(question)]
    given = [answer for _, answer in answers]
    if not all(isinstance(answer.get("steps"), list) for answer in given):
        if _are_long(given):
            return _joined(fields, [_head("part of the answer", answers), *_part_rows(given)])
        steps = [f"{number}. {code(plain_step_in_words(step))}" for number, step in enumerate(_steps(question), 1)]
        lines = [f"| {releases} | {code(answer_in_words(answer))} |" for releases, answer in answers]
        return _joined(fields, steps, ["| releases | answer |", "|---|---|", *lines])
    rows = list(_rows(question, given))
    differing = [number for number, (_, _, differs) in enumerate(rows) if differs] or [len(rows) - 1]
    last = differing[0] if to_first else differing[-1]
    left = len(rows) - last - 1
    after = f"The answers to the {'last step' if left == 1 else f'last {left} steps'} match."
    more = ["Later steps are left out."] if left and to_first else [after] if left else []
    first = last - _BEFORE if to_first and last > 2 * _BEFORE else 0
    same = [f"The answers to steps 1 to {first} match."] if first else []
    return _joined(fields, same, [_head("step", answers), *(_row(*row) for row in rows[first : last + 1])], more)


def code(text: str) -> str:
    """Return text as Markdown code, also for a table; long text is cut, and JSON may break at commas."""
    text = _JSON_COMMA.sub(", ", text) if "[" in text or "{" in text else text
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    text = " ".join(text.split()) or " "
    if "|" not in text and "`" not in text:
        return f"`{text}`"
    return f"<code>{_SPECIAL.sub(lambda found: f'&#{ord(found[0])};', text)}</code>"


def _head(first: str, answers: Sequence[tuple[str, Answer]]) -> str:
    return f"| {first} | " + " | ".join(releases for releases, _ in answers) + " |\n|---|" + "---|" * len(answers)


def _are_long(answers: Sequence[Answer]) -> bool:
    """Return whether answers are lists of objects that do not fit in a cell, such as the batches of ``record-batch``."""
    return any(
        len(to_json(answer)) > _LONGEST
        and any(isinstance(value, list) and any(isinstance(one, dict) for one in value) for value in answer.values())
        for answer in answers
    )


def _part_rows(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a row for each part of the answers that differs; for each part of a single answer."""
    parts = [dict(_parts("", answer)) for answer in answers]
    for name in dict.fromkeys(name for part in parts for name in part):
        given = [part.get(name, {}) for part in parts]
        differs = len({to_json(each) for each in given}) > 1
        if differs or len(answers) == 1:
            yield _row(name, [_part_text(each, given) for each in given], differs)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the objects and lists in an answer by their place, each without those inside it."""
    if isinstance(value, list) and _has_parts(value):
        for number, one in enumerate(value):
            yield from _parts(f"{name} {number}", one)
        return
    if not isinstance(value, dict):
        yield name, value
        return
    inner = {key: one for key, one in value.items() if _has_parts(one)}
    if plain := {key: one for key, one in value.items() if key not in inner}:
        yield name or "in all", plain
    for key, one in inner.items():
        yield from _parts(f"{name} {key}".strip(), one)


def _has_parts(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict | list) for one in value)
    return isinstance(value, dict) and bool(value)


def _part_text(part: Any, given: Sequence[Any]) -> str:
    """Return a part as text; of long objects the fields that differ from those of ``given``."""
    if not isinstance(part, dict):
        return code(answer_in_words(part))
    alike = len(given) > 1 and all(isinstance(each, dict) for each in given)
    shown = {name: value for name, value in part.items() if not alike or _is_shown(name, given)}
    return code(", ".join(f"{name} {text}" for name, text in fields_in_words(shown)) or NOTHING)


def _steps(question: Question) -> Sequence[Any]:
    return getattr(question, "steps", ())


def _rows(question: Question, answers: Sequence[Answer]) -> Iterator[tuple[str, list[str], bool]]:
    """Yield each step with the answers to it, then each other field of the answers, and whether they differ."""
    for number, step in enumerate(_steps(question)):
        given = [answer["steps"][number] if number < len(answer["steps"]) else None for answer in answers]
        yield f"{number + 1}. {code(plain_step_in_words(step))}", *_cells(given)
    for name in dict.fromkeys(name for answer in answers for name in answer if name != "steps"):
        texts, differs = _cells([answer.get(name) for answer in answers])
        if differs:
            yield f"in all: {name}", texts, differs


def _cells(given: Sequence[Any]) -> tuple[list[str], bool]:
    differs = len({to_json(each) for each in given}) > 1
    if not differs or not all(isinstance(each, dict) for each in given):
        return [code(answer_in_words(msgspec.to_builtins(each))) for each in given], differs
    shown = [name for name in dict.fromkeys(name for each in given for name in each) if _is_shown(name, given)]
    return [code(answer_in_words({name: each[name] for name in shown if name in each})) for each in given], True


def _is_shown(name: str, given: Sequence[dict[str, Any]]) -> bool:
    """Return whether a field belongs in a cell: all of short answers, the differing ones of long ones."""
    short = all(len(to_json(each)) <= _LONGEST // 2 for each in given)
    return short or len({to_json(each.get(name)) for each in given}) > 1


def _row(step: str, texts: Sequence[str], differs: bool) -> str:
    if not differs and len(texts) > 1:
        texts = [texts[0], *[_ALIKE] * (len(texts) - 1)]
    bold = [f"**{text}**" for text in texts] if differs and len(texts) > 1 else texts
    return f"| {step} | {' | '.join(bold)} |"


def _joined(*parts: Sequence[str]) -> str:
    return "\n\n".join("\n".join(part) for part in parts if part)
