"""A disagreement on disk: a question, what both said, and where it came from, to be replayed by anyone.

A file is written before anything is printed, under the question's own id, in ``.kafka-conformance/failures`` of the
folder the run was started in. What was found first is saved at once; when it has been shrunk, the smaller question takes
its place.
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

__all__ = ["FOLDER", "TARGET", "Failure", "Said", "read_failure", "save_failure"]

FOLDER = Path(".kafka-conformance") / "failures"
TARGET = "target:"
"""Before how a gate's target was named, in ``by``: a name as ``gate`` takes it, or ``-- `` and a command."""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who answered, about which release, and what."""

    by: str
    release: str
    answer: Answer


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: the question as JSON, both answers, and the run that found it."""

    id: str
    rule: str
    question: msgspec.Raw
    expected: Said
    actual: Said
    found: dict[str, Any]

    def typed_question(self) -> Question:
        """The question, as its rule takes it. Raises BadInput."""
        if self.rule not in RULES:
            raise BadInput(f"unknown rule {self.rule!r}: expected one of {', '.join(RULES)}")
        try:
            return msgspec.json.decode(self.question, type=RULES[self.rule].question)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise BadInput(f"the question is none of rule {self.rule}: {error}") from error


def save_failure(rule: Rule, difference: Difference, said: tuple[tuple[str, Release], tuple[str, Release]],
                 found: dict[str, Any], folder: Path = FOLDER) -> Path:  # fmt: skip
    """Write the file; its path. Raises KitError if it cannot be written: a finding is never lost quietly."""
    (left, left_release), (right, right_release) = said
    failure = Failure(
        id=question_id(rule.slug, str(right_release), difference.question),
        rule=rule.slug,
        question=msgspec.Raw(msgspec.json.encode(difference.question)),
        expected=Said(left, str(left_release), difference.expected),
        actual=Said(right, str(right_release), difference.actual),
        found=found,
    )
    path = folder / f"{failure.id}.json"
    try:
        write_whole(path, msgspec.json.format(to_json(failure), indent=2) + b"\n")
    except KitError as error:
        raise KitError(f"a disagreement was found and {error}: {to_json(failure).decode()}") from error
    return path


def read_failure(named: str, folder: Path = FOLDER) -> Failure:
    """The failure in the file, or of the id, ``named``. Raises BadInput."""
    path = Path(named) if Path(named).is_file() else folder / f"{named}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Failure)
    except OSError as error:
        raise BadInput(f"there is no failure file {named}, and none of that id in {folder}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a failure file: {error}") from error
