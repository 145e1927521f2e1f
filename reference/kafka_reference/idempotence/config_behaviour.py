"""What each release's ``ProducerConfig`` and ``KafkaProducer`` make of the producer settings, as one record."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

__all__ = [
    "ACKS",
    "IDEMPOTENCE",
    "IN_FLIGHT",
    "RETRIES",
    "TRANSACTIONAL_ID",
    "TRANSACTION_TIMEOUT",
    "TWO_PHASE_COMMIT",
    "ProducerConfigBehaviour",
]  # fmt: skip

RETRIES, ACKS, IN_FLIGHT = "retries", "acks", "max.in.flight.requests.per.connection"
IDEMPOTENCE, TRANSACTIONAL_ID = "enable.idempotence", "transactional.id"
TWO_PHASE_COMMIT, TRANSACTION_TIMEOUT = "transaction.two.phase.commit.enable", "transaction.timeout.ms"


@behaviour("ProducerConfig")
class ProducerConfigBehaviour(Behaviour):
    """What changed in how a producer is configured."""

    parses_in_hash_order: bool = holds(
        since("0.10.0.0", until="0.10.2.x"),
        "Settings are parsed in the order of a hash map of their names (acks, retries, max.in.flight.…), which decides "
        "which of two invalid values is reported; since 0.11.0.0 in the order of their definitions.",
    )
    defines_idempotence: bool = holds(
        since("0.11.0.0"), "enable.idempotence, transactional.id and transaction.timeout.ms are defined.", "KIP-98"
    )
    defines_two_phase_commit: bool = holds(since("4.1.0"), "transaction.two.phase.commit.enable is defined.", "KIP-939")
    default_retries: int = varies(
        "The default of retries.",
        (since("0.10.0.0", until="2.0.x"), 0),
        (since("2.1.0"), 2**31 - 1),
        ticket="KIP-91, KAFKA-5886",
    )
    default_acks: str = varies(
        "The default of acks.",
        (since("0.10.0.0", until="2.8.x"), "1"),
        (since("3.0.0"), "all"),
        ticket="KIP-679, KAFKA-10619",
    )
    default_idempotence: bool = holds(
        since("3.0.0"),
        "The default of enable.idempotence is true; 3.0.0 and 3.1.0 ignore it (see idempotence_on_request).",
        "KIP-679, KAFKA-10619",
    )
    idempotence_on_request: bool = holds(
        since("0.11.0.0", until="3.0.0") | since("3.1.0", until="3.1.0"),
        "The default of enable.idempotence is ignored: a producer is idempotent only if that or transactional.id is set, "
        "and a conflict is always an error. Otherwise the default counts, and a conflict disables idempotence if "
        "enable.idempotence is unset.",
        "KAFKA-13598, KAFKA-13673",
    )
    check_order: tuple[str, ...] = varies(
        "The order of the checks for conflicts, which decides which of two is reported. transaction.timeout.ms is read "
        "there, and after all checks since 3.0.1: a null throws a NullPointerException.",
        (since("0.11.0.0", until="2.0.x"), (TRANSACTION_TIMEOUT, RETRIES, IN_FLIGHT, ACKS)),
        (since("2.1.0", until="2.4.x"), (TRANSACTION_TIMEOUT, IN_FLIGHT, RETRIES, ACKS)),
        (
            since("2.5.0", until="3.0.0") | since("3.1.0", until="3.1.0"),
            (RETRIES, ACKS, TRANSACTION_TIMEOUT, IN_FLIGHT),
        ),
        (since("3.0.1"), (RETRIES, ACKS, IN_FLIGHT)),
        otherwise=(),
    )
    one_request_in_flight: bool = holds(
        since("0.11.0.0", until="0.11.0.x"),
        "An idempotent producer has one request in flight, and more than one is a conflict; since 1.0.0 more than five.",
        "KAFKA-5494",
    )
    in_flight_conflict_always_fails: bool = holds(
        since("4.0.0"), "More than five requests in flight are an error even if enable.idempotence is unset."
    )
    in_flight_error_has_value: bool = holds(
        since("4.0.0"), "The error for more than five requests in flight contains the value."
    )
    two_phase_commit_excludes_timeout: bool = holds(
        since("4.1.0"), "Two-phase commit with transaction.timeout.ms is an error.", "KIP-939"
    )
