"""A difference on disk: a question, both answers, and the run that found it, so that anyone can replay it.

A file is written before anything is printed, under the question's id, in ``.kafka-conformance/failures`` of the working
folder. The first difference found is saved at once; the shrunk one takes its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["FOLDER", "Failure", "Side", "read_failure", "save_failure"]

FOLDER = Path(".kafka-conformance") / "failures"


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer: the name of the answerer (``answerers.names``), the release it was asked about, and the answer."""

    by: str
    release: str
    answer: Answer


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file: the question as JSON, both answers, and the run that found them."""

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
            return msgspec.json.decode(self.question, type=RULES[self.rule].question)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise BadInput(f"the question is not one of rule {self.rule}: {error}") from error


def save_failure(rule: Rule, difference: Difference, sides: tuple[tuple[str, Release], tuple[str, Release]],
                 found: dict[str, Any], folder: Path = FOLDER) -> Path:  # fmt: skip
    """Write a failure and return its path.

    ``sides`` are the name and release of the expected and of the actual answerer, ``found`` describes the run. Raises
    KitError, with the failure, if it cannot be written.
    """
    (expected, expected_release), (actual, actual_release) = sides
    failure = Failure(
        id=question_id(rule.slug, str(actual_release), difference.question),
        rule=rule.slug,
        question=msgspec.Raw(msgspec.json.encode(difference.question)),
        expected=Side(expected, str(expected_release), difference.expected),
        actual=Side(actual, str(actual_release), difference.actual),
        found=found,
    )
    path = folder / f"{failure.id}.json"
    try:
        write_whole(path, msgspec.json.format(to_json(failure), indent=2) + b"\n")
    except KitError as error:
        raise KitError(f"a difference was found and {error}: {to_json(failure).decode()}") from error
    return path


def read_failure(named: str, folder: Path = FOLDER) -> Failure:
    """Read the failure in the file, or of the id, ``named``. Raises BadInput."""
    path = Path(named) if Path(named).is_file() else folder / f"{named}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Failure)
    except OSError as error:
        raise BadInput(f"no failure {named!r}: expected a file, or the id of one in {folder}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a failure file: {error}") from error
