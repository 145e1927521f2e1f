"""One connection, from hello to end: what it keeps of a batch that breaks, and whom it names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_conformance.answerers.driver.connection import Asked, Command, Connection, Limits
from kafka_conformance.answerers.driver.lines import DriverHello
from kafka_conformance.answerers.driver.protocol_errors import Broke, lost
from kafka_conformance.core.protocol import Answered, Outcome
from kafka_conformance.rules.murmur2.question import Murmur2Question

HOSTILE = Path(__file__).parent / "hostile"
QUICK = Limits(hello_s=20, batch_s=20, ending_s=0.2)
BATCH = [Asked(f"q{n}", "murmur2", "4.4.0", Murmur2Question(key)) for n, key in enumerate(("00", "bad1", "22"))]
ANSWERED: dict[str, Outcome] = {"q0": Answered({"hash": 2})}


@contextmanager
def connected(name: str, limits: Limits = QUICK) -> Iterator[Connection]:
    connection = Connection(Command((sys.executable, str(HOSTILE / f"{name}.py")), show=lambda _: None), limits)
    try:
        assert isinstance(connection.open(), DriverHello)
        yield connection
    finally:
        connection.close(at_once=True)


def test_driver_connection_answers_two_batches_and_can_be_closed_twice() -> None:
    outcomes: dict[str, Outcome] = {}
    with connected("well_behaved") as connection:
        assert connection.put(BATCH[:1], outcomes) is None
        assert outcomes == ANSWERED
        assert connection.put(BATCH[1:], outcomes) is None
        assert list(outcomes) == ["q0", "q1", "q2"]
        assert connection.finish() is None
        connection.close()
        connection.close()


@pytest.mark.parametrize(
    ("name", "error", "culprit"),
    [("no_outcome", "shape", "q1"), ("prints_noise", "noise", None), ("answers_another_id", "stranger", None)],
)
def test_protocol_error_keeps_earlier_answers_and_names_a_question_only_by_an_asked_id(
    name: str, error: str, culprit: str | None
) -> None:
    outcomes: dict[str, Outcome] = {}
    with connected(name) as connection:
        broke = connection.put(BATCH, outcomes)
    assert broke is not None
    assert (broke.lost.error, broke.culprit) == (error, culprit)
    assert outcomes == ANSWERED


def test_duplicate_driver_answer_read_in_the_next_batch_is_reported_with_the_question_id() -> None:
    outcomes: dict[str, Outcome] = {}
    with connected("answers_twice") as connection:
        assert connection.put(BATCH[:2], outcomes) is None
        broke = connection.put(BATCH[2:], outcomes)
    assert broke == Broke(lost("twice", "the driver answered a question twice, the one with the id q1"), "q1")


def test_batch_timeout_reports_the_number_of_unanswered_questions() -> None:
    outcomes: dict[str, Outcome] = {}
    with connected("never_reads", Limits(hello_s=20, batch_s=0.2, ending_s=0.1)) as connection:
        broke = connection.put(BATCH, outcomes)
    said = "the driver did not answer 3 of 3 questions of murmur2 within 0.2 s"
    assert (broke, outcomes) == (Broke(lost("hangs", said)), {})


def test_finishing_an_unopened_driver_connection_raises_runtime_error() -> None:
    connection = Connection(Command(("x",)), QUICK)
    connection.close()
    with pytest.raises(RuntimeError, match="this connection is not open"):
        connection.finish()


def test_driver_command_is_printed_quoted_sanitized_and_shortened() -> None:
    assert str(Command(("go", "run", "my driver", "\x1b[2J"))) == r"go run 'my driver' '\x1b[2J'"
    assert len(str(Command(("x" * 9999,)))) == 501
