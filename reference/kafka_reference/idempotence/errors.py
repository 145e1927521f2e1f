"""The errors that answer a produce request: the exception and the kind of each.

========== ===========================================================================================================
retriable  the exception is a ``RetriableException``: the batch may be sent again
refused    the batch will not be accepted, however often it is sent
fatal      refused, and an idempotent producer stops: all its batches fail with the same exception
========== ===========================================================================================================

Errors about sequences are decided by more than their kind: see ``batch_actions``. :class:`ErrorsBehaviour` has what changed
by release. An error that a release does not have raises :class:`NotInThisRelease`.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/common/protocol/Errors.java``,
``TransactionManager.java#maybeTransitionToErrorState``, every release.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kafka_reference.errors import NotInThisRelease
from kafka_reference.idempotence.behaviour import ErrorsBehaviour
from kafka_reference.releases import Release

__all__ = ["FATAL", "OUT_OF_ORDER", "ErrorKind", "ProduceError", "has_error", "produce_error", "produce_errors"]

OUT_OF_ORDER = frozenset({"OutOfOrderSequenceException", "UnknownProducerIdException"})
"""``OutOfOrderSequenceException`` and its subclasses."""

FATAL = frozenset(
    {
        "ClusterAuthorizationException", "ProducerFencedException", "TransactionalIdAuthorizationException",
        "UnsupportedVersionException",
    }
)  # fmt: skip
"""The exceptions that stop an idempotent producer, wherever they come from."""


class ErrorKind(enum.Enum):
    """What an error means for the batch."""

    NONE = "none"
    RETRIABLE = "retriable"
    REFUSED = "refused"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class ProduceError:
    """An error of a release; ``exception`` is Java's simple class name, empty for NONE."""

    name: str
    exception: str
    kind: ErrorKind


def has_error(version: str | Release, name: str) -> bool:  # unreached: rules catch NotInThisRelease
    """Return whether the release has an error of this name."""
    return name in produce_errors(version)


def produce_error(version: str | Release, name: str) -> ProduceError:
    """Return the error of this name. Raises NotInThisRelease."""
    error = produce_errors(version).get(name)
    if error is None:
        raise NotInThisRelease(f"unknown error {name!r}: no produce request is answered by it in Kafka {version}")
    return error


def produce_errors(version: str | Release) -> Mapping[str, ProduceError]:
    """Return the errors of the release, by name."""
    return _errors_of(ErrorsBehaviour.of(version))


@lru_cache(maxsize=64)
def _errors_of(behaviour: ErrorsBehaviour) -> Mapping[str, ProduceError]:
    errors = {"NONE": ProduceError("NONE", "", ErrorKind.NONE)}
    for kind, exceptions in (
        (ErrorKind.RETRIABLE, _retriable(behaviour)),
        (ErrorKind.REFUSED, _refused(behaviour)),
        (ErrorKind.FATAL, _fatal(behaviour)),
    ):
        errors |= {name: ProduceError(name, exception, kind) for name, exception in exceptions}
    return errors


def _retriable(behaviour: ErrorsBehaviour) -> Iterator[tuple[str, str]]:
    yield "CORRUPT_MESSAGE", "CorruptRecordException"
    yield "UNKNOWN_TOPIC_OR_PARTITION", "UnknownTopicOrPartitionException"
    yield "LEADER_NOT_AVAILABLE", "LeaderNotAvailableException"
    yield "NOT_LEADER_OR_FOLLOWER", behaviour.not_leader_exception
    yield "REQUEST_TIMED_OUT", "TimeoutException"
    yield "NETWORK_EXCEPTION", "NetworkException"
    yield "NOT_ENOUGH_REPLICAS", "NotEnoughReplicasException"
    yield "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NotEnoughReplicasAfterAppendException"
    if behaviour.has_storage_error:
        yield "KAFKA_STORAGE_ERROR", "KafkaStorageException"
    if behaviour.has_idempotence_errors:
        yield "COORDINATOR_LOAD_IN_PROGRESS", "CoordinatorLoadInProgressException"
    if behaviour.duplicate_sequence_is_retriable:
        yield "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceNumberException"


def _refused(behaviour: ErrorsBehaviour) -> Iterator[tuple[str, str]]:
    yield "MESSAGE_TOO_LARGE", "RecordTooLargeException"
    yield "RECORD_LIST_TOO_LARGE", "RecordBatchTooLargeException"
    yield "INVALID_TOPIC_EXCEPTION", "InvalidTopicException"
    yield "INVALID_REQUIRED_ACKS", "InvalidRequiredAcksException"
    yield "INVALID_TIMESTAMP", "InvalidTimestampException"
    yield "TOPIC_AUTHORIZATION_FAILED", "TopicAuthorizationException"
    if behaviour.has_idempotence_errors:
        yield "OUT_OF_ORDER_SEQUENCE_NUMBER", "OutOfOrderSequenceException"
        if not behaviour.duplicate_sequence_is_retriable:
            yield "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceException"
    if behaviour.has_unknown_producer_id:
        yield "UNKNOWN_PRODUCER_ID", "UnknownProducerIdException"
    if behaviour.has_invalid_record:
        yield "INVALID_RECORD", "InvalidRecordException"
    if behaviour.distinguishes_fenced:
        yield "INVALID_PRODUCER_EPOCH", "InvalidProducerEpochException"


def _fatal(behaviour: ErrorsBehaviour) -> Iterator[tuple[str, str]]:
    yield "CLUSTER_AUTHORIZATION_FAILED", "ClusterAuthorizationException"
    yield "UNSUPPORTED_VERSION", "UnsupportedVersionException"
    if behaviour.has_idempotence_errors:
        yield "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "TransactionalIdAuthorizationException"
        if not behaviour.distinguishes_fenced:
            yield "INVALID_PRODUCER_EPOCH", "ProducerFencedException"
    if behaviour.distinguishes_fenced:
        yield "PRODUCER_FENCED", "ProducerFencedException"
