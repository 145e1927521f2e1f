"""Questions that a target did not answer, because it failed, ended or broke the protocol: one event for each kind of error.

The smallest question of a kind is saved as a failure, so that ``replay`` shows the error and the next gate asks it again.
Messages that differ only in numbers, quoted text or hexadecimal digits are one kind. A question that the target did not
receive, because others had ended it too often, is counted and not saved: it may not be at fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_conformance.cases.failures import FailureFolder, save_unanswered
from kafka_conformance.core.events import ProtocolError
from kafka_conformance.core.pipeline import Judgement
from kafka_conformance.core.protocol import Answered, Crashed, Errored, Failed, Lost, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_reference.releases import Release

__all__ = ["MOST", "protocol_errors"]

MOST = 20
"""Kinds of error for one rule in one release; all further ones are one kind."""

_FAILED = "failed"
_FAILED_HINT = "answer the question, or say unsupported and why"
_DETAIL = re.compile(r"\"[^\"]*\"|'[^']*'|\b(?:0x)?[0-9a-f]*[0-9][0-9a-f]*\b", re.IGNORECASE)


def protocol_errors(
    rule: Rule, release: Release, errors: Sequence[Judgement], by: str, found: dict[str, Any], folder: FailureFolder
) -> Iterator[ProtocolError]:  # fmt: skip
    """Yield an event for each kind of these errors, with the smallest question at fault, which is saved.

    ``by`` is the target's name in the file, ``found`` describes the run.
    """
    for group in _kinds(errors):
        smallest = min(group, key=lambda each: len(to_json(each.question)))
        outcome = _outcome(smallest)
        error, hint = (outcome.error, outcome.hint) if isinstance(outcome, Lost) else (_FAILED, _FAILED_HINT)
        event = ProtocolError(rule.slug, str(release), error, outcome.what, hint, len(group))
        if isinstance(smallest.expected, Answered) and getattr(outcome, "asked", True):
            file = _save(rule, release, smallest, by, {**found, "of_this_kind": len(group)}, folder)
            event = msgspec.structs.replace(
                event,
                id=question_id(rule.slug, str(release), smallest.question),
                question=msgspec.to_builtins(smallest.question),
                expected=smallest.expected.answer,
                file=file,
                by=by if file else "",
            )
        yield event


def _save(
    rule: Rule, release: Release, error: Judgement, by: str, found: dict[str, Any], folder: FailureFolder
) -> str:  # fmt: skip
    assert isinstance(error.expected, Answered)  # noqa: S101  for the type checker
    expected, outcome, sides = error.expected.answer, _outcome(error), (("reference", release), (by, release))
    return folder.write(lambda path: save_unanswered(rule, error.question, expected, outcome, sides, found, path))


def _kinds(errors: Sequence[Judgement]) -> list[list[Judgement]]:
    kinds: dict[object, list[Judgement]] = {}
    for error in errors:
        outcome = _outcome(error)
        kind: object = (
            _DETAIL.sub("…", outcome.what),
            getattr(outcome, "error", _FAILED),
            getattr(outcome, "asked", True),
        )
        kinds.setdefault(kind if kind in kinds or len(kinds) < MOST else MOST, []).append(error)
    return list(kinds.values())


def _outcome(error: Judgement) -> Failed | Lost:
    match error.verdict:
        case Crashed(_, lost):
            return lost
        case Errored(_, what):
            return Failed(what)
    raise AssertionError(f"{error.verdict} is not an error")
