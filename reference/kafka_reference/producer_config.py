"""The settings of a producer that its accumulator and its sender act by: Kafka's names, types and defaults, by release.

Settings of idempotence are those of :mod:`kafka_reference.idempotence.config`. A setting that a release does not define is
ignored there, as Kafka ignores it with a warning.

Java source mirrored: the definitions of ``ProducerConfig``, every release.
"""

# unreached file: questions have parsed settings; tests compare defaults and coercion with values of the real class

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.config_def import (
    Definition,
    Value,
    anything,
    at_least,
    boolean,
    integer,
    long,
    one_of,
    parse,
    string,
)
from kafka_reference.releases import Release, since

__all__ = ["ProducerDefaultsBehaviour", "parse_settings"]


@behaviour("ProducerConfig, settings of the accumulator")
class ProducerDefaultsBehaviour(Behaviour):
    """Which settings a release defines, and their defaults."""

    default_linger_ms: int = varies(
        "linger.ms of a producer that sets none.", (since("4.0.0"), 5), otherwise=0, ticket="KIP-1030"
    )
    linger_is_int: bool = holds(since("2.1.0", until="2.1.x"), "linger.ms is an INT, otherwise a LONG.", "KAFKA-5886")
    has_delivery_timeout: bool = holds(
        since("2.1.0"), "delivery.timeout.ms limits the time of a record, and must not be too short.", "KIP-91"
    )
    has_partitioner_settings: bool = holds(
        since("3.3.0"), "partitioner.adaptive.partitioning.enable and its like exist.", "KIP-794"
    )
    checks_compression: bool = holds(since("3.3.0"), "An unknown compression.type is refused.")
    has_largest_backoff: bool = holds(since("3.7.0"), "retry.backoff.max.ms exists.", "KIP-580")
    has_rack_awareness: bool = holds(since("4.4.0"), "partitioner.rack.aware and client.rack exist.", "KIP-1123")


@lru_cache(maxsize=64)
def _definitions(release: ProducerDefaultsBehaviour) -> Mapping[str, Definition]:
    codecs = one_of("none", "gzip", "snappy", "lz4", "zstd") if release.checks_compression else anything
    linger = integer if release.linger_is_int else long
    found = [
        Definition("buffer.memory", long, at_least(0), 33_554_432),
        Definition("compression.type", string, codecs, "none"),
        Definition("batch.size", integer, at_least(0), 16_384),
        Definition("linger.ms", linger, at_least(0), release.default_linger_ms),
        Definition("max.request.size", integer, at_least(0), 1_048_576),
        Definition("retry.backoff.ms", long, at_least(0), 100),
        Definition("request.timeout.ms", integer, at_least(0), 30_000),
    ]
    if release.has_delivery_timeout:
        found.append(Definition("delivery.timeout.ms", integer, at_least(0), 120_000))
    if release.has_partitioner_settings:
        found += [
            Definition("partitioner.adaptive.partitioning.enable", boolean, anything, True),
            Definition("partitioner.availability.timeout.ms", long, at_least(0), 0),
            Definition("partitioner.ignore.keys", boolean, anything, False),
        ]
    if release.has_largest_backoff:
        found.append(Definition("retry.backoff.max.ms", long, at_least(0), 1_000))
    if release.has_rack_awareness:
        found += [
            Definition("partitioner.rack.aware", boolean, anything, False),
            Definition("client.rack", string, anything, ""),
        ]
    return {one.name: one for one in found}


def parse_settings(config: Mapping[str, object], version: str | Release) -> dict[str, Value]:
    """Return the value of every setting that release ``version`` defines, by Kafka's name; unset ones have Kafka's default.

    Raises ConfigException, with Kafka's text, for an invalid value, and ValueError for a name with underscores.
    """
    definitions = _definitions(ProducerDefaultsBehaviour.of(version))
    for name in config:
        dotted = name.replace("_", ".")
        if name != dotted and dotted in definitions:
            raise ValueError(f"unknown setting {name!r}: Kafka's name is {dotted!r}")
    return parse(config, definitions.values())
