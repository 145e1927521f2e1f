"""What a broker can answer to a produce request: each error, the exception it is told as, and what kind of error it is.

========== ===========================================================================================================
retriable  the exception is a RetriableException: it may be sent again
refused    it will not be taken, however often it is sent
fatal      refused, and an idempotent producer must not go on: everything it holds is failed with the same exception
========== ===========================================================================================================

Some errors came with a release, some changed their exception, one its kind: DUPLICATE_SEQUENCE_NUMBER was retriable in
0.11. Errors about sequences are judged by more than their kind: see ``answers``. An error that is not in this table, or
not in that release, is no answer that can be asked about: :class:`NotInThisRelease`.

Java source mirrored: ``Errors``, ``RetriableException``, ``TransactionManager.maybeTransitionToErrorState``, 0.10.0.1 to
4.4.0.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import Release, Spans, parse_release, since

__all__ = ["FATAL", "OUT_OF_ORDER", "ErrorKind", "ProduceError", "known", "produce_error"]


class ErrorKind(enum.Enum):
    """What kind of error it is."""

    NONE = "none"
    RETRIABLE = "retriable"
    REFUSED = "refused"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class ProduceError:
    """An error in a span of releases; ``exception`` is Java's simple class name."""

    name: str
    exception: str
    kind: ErrorKind
    releases: Spans


_ALWAYS, _011, _10, _26, _27 = (since(first) for first in ("0.10.0.0", "0.11.0.0", "1.0.0", "2.6.0", "2.7.0"))
_RETRIABLE, _REFUSED, _FATAL = ErrorKind.RETRIABLE, ErrorKind.REFUSED, ErrorKind.FATAL
_TABLE = (
    ProduceError("NONE", "", ErrorKind.NONE, _ALWAYS),
    ProduceError("CORRUPT_MESSAGE", "CorruptRecordException", _RETRIABLE, _ALWAYS),
    ProduceError("UNKNOWN_TOPIC_OR_PARTITION", "UnknownTopicOrPartitionException", _RETRIABLE, _ALWAYS),
    ProduceError("LEADER_NOT_AVAILABLE", "LeaderNotAvailableException", _RETRIABLE, _ALWAYS),
    ProduceError(
        "NOT_LEADER_OR_FOLLOWER", "NotLeaderForPartitionException", _RETRIABLE, since("0.10.0.0", until="2.5.99")
    ),
    ProduceError("NOT_LEADER_OR_FOLLOWER", "NotLeaderOrFollowerException", _RETRIABLE, _26),
    ProduceError("REQUEST_TIMED_OUT", "TimeoutException", _RETRIABLE, _ALWAYS),
    ProduceError("NETWORK_EXCEPTION", "NetworkException", _RETRIABLE, _ALWAYS),
    ProduceError("NOT_ENOUGH_REPLICAS", "NotEnoughReplicasException", _RETRIABLE, _ALWAYS),
    ProduceError("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NotEnoughReplicasAfterAppendException", _RETRIABLE, _ALWAYS),
    ProduceError("KAFKA_STORAGE_ERROR", "KafkaStorageException", _RETRIABLE, _10),
    ProduceError("COORDINATOR_LOAD_IN_PROGRESS", "CoordinatorLoadInProgressException", _RETRIABLE, _011),
    ProduceError("MESSAGE_TOO_LARGE", "RecordTooLargeException", _REFUSED, _ALWAYS),
    ProduceError("RECORD_LIST_TOO_LARGE", "RecordBatchTooLargeException", _REFUSED, _ALWAYS),
    ProduceError("INVALID_TOPIC_EXCEPTION", "InvalidTopicException", _REFUSED, _ALWAYS),
    ProduceError("INVALID_REQUIRED_ACKS", "InvalidRequiredAcksException", _REFUSED, _ALWAYS),
    ProduceError("INVALID_TIMESTAMP", "InvalidTimestampException", _REFUSED, _ALWAYS),
    ProduceError("TOPIC_AUTHORIZATION_FAILED", "TopicAuthorizationException", _REFUSED, _ALWAYS),
    ProduceError("CLUSTER_AUTHORIZATION_FAILED", "ClusterAuthorizationException", _FATAL, _ALWAYS),
    ProduceError("UNSUPPORTED_VERSION", "UnsupportedVersionException", _FATAL, _ALWAYS),
    ProduceError("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "TransactionalIdAuthorizationException", _FATAL, _011),
    ProduceError("INVALID_PRODUCER_EPOCH", "ProducerFencedException", _FATAL, since("0.11.0.0", until="2.6.99")),
    ProduceError("INVALID_PRODUCER_EPOCH", "InvalidProducerEpochException", _REFUSED, _27),
    ProduceError("PRODUCER_FENCED", "ProducerFencedException", _FATAL, _27),
    ProduceError("INVALID_RECORD", "InvalidRecordException", _REFUSED, since("2.4.0")),
    ProduceError("OUT_OF_ORDER_SEQUENCE_NUMBER", "OutOfOrderSequenceException", _REFUSED, _011),
    ProduceError("UNKNOWN_PRODUCER_ID", "UnknownProducerIdException", _REFUSED, _10),
    ProduceError(
        "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceNumberException", _RETRIABLE, since("0.11.0.0", until="0.11.99")
    ),
    ProduceError("DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceException", _REFUSED, _10),
)

# The exceptions that are fatal, wherever they come from; and OutOfOrderSequenceException with what extends it.
FATAL = frozenset(error.exception for error in _TABLE if error.kind is ErrorKind.FATAL)
OUT_OF_ORDER = frozenset({"OutOfOrderSequenceException", "UnknownProducerIdException"})


def known(at: Release | str, name: str) -> bool:
    """Whether this release has an error of this name."""
    return any(error.name == name and parse_release(at) in error.releases for error in _TABLE)


def produce_error(at: Release | str, name: str) -> ProduceError:
    """The error of this name. Raises NotInThisRelease."""
    for error in _TABLE:
        if error.name == name and parse_release(at) in error.releases:
            return error
    raise NotInThisRelease(f"Kafka {at} answers produce requests with no error {name}")
