"""A failed question on disk: the question, both outcomes, and the run that found it, so that anyone can replay it.

A question fails by a different answer, or by none: then the file names the error and what happened. A file is written before
anything is printed, under the question's id, in ``.kafka-conformance/failures`` of the working folder. The first
difference found is saved at once; the shrunk one takes its place.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.decoding import UNREADABLE, decode_question
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Failed, Lost, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["FOLDER", "Failure", "FailureFolder", "Side", "read_failure", "save_failure", "save_unanswered"]

FOLDER = Path(".kafka-conformance") / "failures"

Sides = tuple[tuple[str, Release], tuple[str, Release]]
"""Name and release of the expected and of the actual answerer."""


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One outcome: the name of the answerer (``answerers.names``), the release it was asked about, and the answer.

    Without an answer, ``error`` is ``failed`` or the name of the protocol error, and ``what`` is what happened.
    """

    by: str
    release: str
    answer: Answer | msgspec.UnsetType = msgspec.UNSET
    error: str = ""
    what: str = ""

    def __post_init__(self) -> None:
        if (self.answer is msgspec.UNSET) == (not self.error):
            raise ValueError("a side needs either an answer or an error")


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file: the question as JSON, both outcomes, and the run that found them."""

    id: str
    rule: str
    question: msgspec.Raw
    expected: Side
    actual: Side
    found: dict[str, Any]

    def typed_question(self) -> Question:
        """The question, as its rule takes it. Raises BadInput."""
        if self.rule not in RULES:
            raise BadInput(f"unknown rule {self.rule!r}: expected one of {', '.join(RULES)}")
        try:
            return decode_question(self.question, RULES[self.rule].question)
        except UNREADABLE as error:
            raise BadInput(f"the question is not one of rule {self.rule}: {error}") from error


def save_failure(
    rule: Rule, difference: Difference, sides: Sides, found: dict[str, Any], folder: Path = FOLDER
) -> Path:  # fmt: skip
    """Write a difference and return its path; ``found`` describes the run.

    Raises KitError, with the failure, if it cannot be written.
    """
    (expected, expected_release), (actual, actual_release) = sides
    return _save(
        rule, difference.question, Side(expected, str(expected_release), difference.expected),
        Side(actual, str(actual_release), difference.actual), found, folder,
    )  # fmt: skip


def save_unanswered(
    rule: Rule, question: Question, expected: Answer, outcome: Failed | Lost, sides: Sides, found: dict[str, Any],
    folder: Path = FOLDER,
) -> Path:  # fmt: skip
    """Write a question that the actual answerer did not answer, with its right answer, and return the path.

    Raises KitError, with the failure, if it cannot be written.
    """
    (by, release), (actual, actual_release) = sides
    error = outcome.error if isinstance(outcome, Lost) else "failed"
    side = Side(actual, str(actual_release), msgspec.UNSET, error, outcome.what)
    return _save(rule, question, Side(by, str(release), expected), side, found, folder)


class FailureFolder:
    """A folder for failures of one run. One that cannot be written costs a warning, never the verdict."""

    def __init__(self, path: Path = FOLDER) -> None:
        self.path = path
        self.warning = ""

    def write(self, save: Callable[[Path], Path]) -> str:
        """Return the path that ``save`` wrote in this folder, or an empty text, with a warning, if it could not."""
        try:
            return str(save(self.path))
        except KitError as error:
            self.warning = self.warning or f"failed questions are not saved: {error}"
            return ""


def _save(rule: Rule, question: Question, expected: Side, actual: Side, found: dict[str, Any], folder: Path) -> Path:
    failure = Failure(
        id=question_id(rule.slug, actual.release, question),
        rule=rule.slug,
        question=msgspec.Raw(msgspec.json.encode(question)),
        expected=expected,
        actual=actual,
        found=found,
    )
    path = folder / f"{failure.id}.json"
    try:
        write_whole(path, msgspec.json.format(to_json(failure), indent=2) + b"\n")
    except KitError as error:
        what = "a question was not answered" if actual.error else "a difference was found"
        raise KitError(f"{what} and {error}: {to_json(failure).decode()}") from error
    return path


def read_failure(named: str, folder: Path = FOLDER) -> Failure:
    """Read the failure in the file, or of the id, ``named``. Raises BadInput."""
    path = Path(named)
    if not exists(path):
        path = folder / f"{named}.json"
        if not exists(path):
            raise BadInput(f"no failure {named!r}: expected a file, or the id of one in {folder}")
    try:
        return msgspec.json.decode(read_bytes(path), type=Failure)
    except UNREADABLE as error:
        raise BadInput(f"{path} is not a failure file: {error}") from error
