"""Questions without an answer: one event for each kind of error, with the smallest question at fault, saved for replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.cases.failures import FailureFolder, read_failure
from kafka_conformance.core.events import ProtocolError
from kafka_conformance.core.pipeline import Judgement
from kafka_conformance.core.protocol import Answered, Crashed, Errored, Lost
from kafka_conformance.gate.protocol_errors import MOST, protocol_errors
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

NEWEST = parse_release("4.4.0")
RULE = RULES["murmur2"]
RIGHT = Answered({"hash": 1})
DIED = Lost("died", "the driver ended with exit code 1", "keep reading")


def _error(key: str, verdict: Crashed | Errored) -> Judgement:
    return Judgement("fresh", Murmur2Question(key), RIGHT, RIGHT, verdict)


def _events(errors: list[Judgement], folder: Path) -> list[ProtocolError]:
    return list(protocol_errors(RULE, NEWEST, errors, "target:-- mine", {"seed": 7}, FailureFolder(folder)))


def test_protocol_error_names_and_saves_the_smallest_question_at_fault(tmp_path: Path) -> None:
    keys = ["0011", "00", "001122"]
    (event,) = _events([_error(key, Crashed("mine", DIED)) for key in keys], tmp_path)
    assert (event.error, event.what, event.hint, event.times) == ("died", DIED.what, DIED.hint, 3)
    assert (event.question, event.expected) == ({"key": "00"}, {"hash": 1})
    failure = read_failure(event.file)
    assert [path.stem for path in tmp_path.iterdir()] == [event.id] == [failure.id]
    assert (failure.typed_question(), failure.expected.answer) == (Murmur2Question("00"), {"hash": 1})
    assert (failure.actual.by, failure.actual.error, failure.actual.what) == ("target:-- mine", "died", DIED.what)
    assert failure.found == {"seed": 7, "of_this_kind": 3}


def test_distinct_error_messages_give_separate_events_with_smallest_questions(tmp_path: Path) -> None:
    said = {"00": "ValueError: no", "0011": "IndexError: no", "22": "IndexError: no"}
    events = _events([_error(key, Errored("mine", what)) for key, what in said.items()], tmp_path)
    assert [(event.error, event.what, event.times) for event in events] == [
        ("failed", "ValueError: no", 1),
        ("failed", "IndexError: no", 2),
    ]
    assert [event.question for event in events] == [{"key": "00"}, {"key": "22"}]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("what", ["no key {!r}", 'no "{}"', "at 0x{}", "number {} of 9"])
def test_error_messages_differing_only_in_keys_or_numbers_give_one_event(tmp_path: Path, what: str) -> None:
    errors = [_error(key, Errored("mine", what.format(key))) for key in ("00", "0a1b", "42")]
    (event,) = _events(errors, tmp_path)
    assert event.times == 3


def test_number_of_protocol_error_events_is_bounded_and_every_error_counted(tmp_path: Path) -> None:
    words = [chr(ord("a") + n // 26) + chr(ord("g") + n % 20) + "xyz" for n in range(3 * MOST)]
    errors = [_error("00", Errored("mine", word)) for word in dict.fromkeys(words)]
    events = _events(errors, tmp_path)
    assert len(events) == MOST + 1
    assert sum(event.times for event in events) == len(errors)


def test_question_not_asked_after_a_driver_crash_is_counted_but_not_saved_as_the_cause(tmp_path: Path) -> None:
    skipped = Lost("died", DIED.what, DIED.hint, asked=False)
    events = _events([_error("00", Crashed("mine", skipped)), _error("0011", Crashed("mine", DIED))], tmp_path)
    assert [(event.times, event.question) for event in events] == [(1, None), (1, {"key": "0011"})]
    assert [path.stem for path in tmp_path.iterdir()] == [events[1].id]


def test_unwritable_failures_folder_adds_a_warning_and_keeps_the_event(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    folder = FailureFolder(tmp_path / "taken")
    (event,) = protocol_errors(RULE, NEWEST, [_error("00", Crashed("mine", DIED))], "target:x", {}, folder)
    assert (event.question, event.file) == ({"key": "00"}, "")
    assert "taken" in folder.warning
    assert "\n" not in folder.warning
