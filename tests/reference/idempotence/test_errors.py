from __future__ import annotations

import pytest

from kafka_reference.errors import NotInThisRelease
from kafka_reference.idempotence.errors import FATAL, OUT_OF_ORDER, ErrorKind, has_error, produce_error


@pytest.mark.parametrize(
    ("at", "name", "exception", "kind"),
    [
        ("0.11.0.3", "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceNumberException", ErrorKind.RETRIABLE),
        ("1.0.0", "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceException", ErrorKind.REFUSED),
        ("2.5.1", "NOT_LEADER_OR_FOLLOWER", "NotLeaderForPartitionException", ErrorKind.RETRIABLE),
        ("2.6.0", "NOT_LEADER_OR_FOLLOWER", "NotLeaderOrFollowerException", ErrorKind.RETRIABLE),
        ("2.6.3", "INVALID_PRODUCER_EPOCH", "ProducerFencedException", ErrorKind.FATAL),
        ("4.4.0", "INVALID_PRODUCER_EPOCH", "InvalidProducerEpochException", ErrorKind.REFUSED),
        ("4.4.0", "NONE", "", ErrorKind.NONE),
    ],
)
def test_produce_error_has_exception_and_retriable_or_fatal_kind_of_the_release(
    at: str, name: str, exception: str, kind: ErrorKind
) -> None:
    error = produce_error(at, name)
    assert (error.exception, error.kind) == (exception, kind)


@pytest.mark.parametrize(("at", "name"), [("0.11.0.3", "UNKNOWN_PRODUCER_ID"), ("4.4.0", "NO_SUCH_ERROR")])
def test_produce_error_missing_in_a_release_raises_not_in_this_release(at: str, name: str) -> None:
    assert not has_error(at, name)
    with pytest.raises(NotInThisRelease, match=name):
        produce_error(at, name)


def test_producer_fenced_is_fatal_and_unknown_producer_id_is_an_out_of_order_exception() -> None:
    assert "ProducerFencedException" in FATAL
    assert "InvalidProducerEpochException" not in FATAL
    assert {"OutOfOrderSequenceException", "UnknownProducerIdException"} == OUT_OF_ORDER
