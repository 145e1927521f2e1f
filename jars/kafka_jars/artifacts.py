"""Which artifacts a release is made of: its clients, and, asked for separately, what a broker adds.

The clients are one jar. What a broker keeps of its producers was written in Scala up to 3.4 and needs Scala's library,
and its logging; since 3.5 it is Java, in ``kafka-storage``. Its group coordinator has assignors since 3.6. These are the
fewest that the classes the oracle drives can be loaded from: not all that a broker runs on. ``{release}`` stands for the
release; the first jar is the one that answers for producers.

============  =================================================  =========================================
from          jars                                               why
============  =================================================  =========================================
0.11.0.0      kafka_2.12, scala-library 2.12, a stand-in for     the first release with producer ids
              log4j
1.1.0         the same, with scala-logging instead of log4j,     its logging goes by slf4j; the controller counts
              metrics-core                                       unclean elections
2.4.0         kafka_2.13, scala-library 2.13, scala-logging,     the first built for 2.13
              metrics-core
3.0.0         the same, kafka-metadata, kafka-server-common      the first release with PartitionChangeBuilder; its
                                                                 records have a version of kafka-server-common
3.3.0         the same, kafka-raft, kafka-storage               Partition's log and metadata
3.5.0         the same without kafka-raft, kafka-storage first,  the classes are Java, but for LogSegment; Partition
              scala-java8-compat                                 uses Java's Optional
3.6.0         the same, kafka-group-coordinator,                 the first release with server-side assignors; the
              commons-validator, pcollections                    logging of LogSegment, since 3.7.0 of the
                                                                 controller, checks addresses; images of metadata
3.7.0         the same, kafka-server                             Partition's requests to the controller
3.8.0         the same, kafka-group-coordinator-api              the assignors' interfaces moved there
4.0.0         the same without scala-java8-compat                the last controller on ZooKeeper is 3.9's; the
                                                                 uniform assignor, indexes and LogSegment use
                                                                 kafka-server-common and metrics-core
4.1.0         the same, kafka-server-common second,              UnifiedLog, in Java too, names its errors;
              kafka-transaction-coordinator, log4j-api           ReplicaManager has settings of transactions;
                                                                 Partition sets log levels
============  =================================================  =========================================
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLIENTS", "CODECS", "FIRST", "Broker", "broker_of", "clients_of"]

CLIENTS = "org.apache.kafka:kafka-clients"
CODECS = frozenset({"lz4", "lz4-java", "snappy-java", "zstd-jni"})
"""The artifacts that records are compressed with; their groups changed."""
FIRST = (0, 10, 0, 0)
"""The oldest release that is mirrored."""

_SCALA_212, _SCALA_213 = "org.scala-lang:scala-library:2.12.20", "org.scala-lang:scala-library:2.13.16"
_LOGGING_212, _LOGGING_213 = (
    "com.typesafe.scala-logging:scala-logging_2.12:3.9.5",
    "com.typesafe.scala-logging:scala-logging_2.13:3.9.5",
)
_JACKSON = "com.fasterxml.jackson.core"
_NEEDED = {
    "2.6.0": (f"{_JACKSON}:jackson-databind:2.10.2", f"{_JACKSON}:jackson-core:2.10.2"),
    "3.8.0": ("com.github.luben:zstd-jni:1.5.6-3",),
}
"""What the classes of a release's clients cannot be initialized without: 2.6.0's requests have methods that take Jackson's
JsonNode, and 3.8.0 loads zstd's classes with ProducerConfig."""
_STORAGE = "org.apache.kafka:kafka-storage:{release}"
_SERVER = "org.apache.kafka:kafka-server-common:{release}"
_METADATA = "org.apache.kafka:kafka-metadata:{release}"
_RAFT = "org.apache.kafka:kafka-raft:{release}"
_BROKER = "org.apache.kafka:kafka-server:{release}"
_TRANSACTIONS = "org.apache.kafka:kafka-transaction-coordinator:{release}"
_LOG4J = "org.apache.logging.log4j:log4j-api:2.25.5"
_JAVA8 = "org.scala-lang.modules:scala-java8-compat_2.13:1.0.2"
_COLLECTIONS = "org.pcollections:pcollections:4.0.1"
_CORE = ("org.apache.kafka:kafka_2.13:{release}", _SCALA_213, _LOGGING_213)
_VALIDATOR = "commons-validator:commons-validator:1.7"
_METRICS = "com.yammer.metrics:metrics-core:2.2.0"
_COORDINATOR, _COORDINATOR_API = (
    "org.apache.kafka:kafka-group-coordinator:{release}",
    "org.apache.kafka:kafka-group-coordinator-api:{release}",
)
_IN_SCALA, _IN_JAVA = "kafka.log.ProducerStateManager", "org.apache.kafka.storage.internals.log.ProducerStateManager"


@dataclass(frozen=True, slots=True)
class Broker:
    """The coordinates of a broker's part, and the class whose jar has to be the first of them."""

    witness: str
    coordinates: tuple[str, ...]


# Each from its release to the next row's.
_BROKERS: tuple[tuple[tuple[int, ...], Broker], ...] = (
    (
        (0, 11, 0, 0),
        Broker(_IN_SCALA, ("org.apache.kafka:kafka_2.12:{release}", _SCALA_212, "org.slf4j:log4j-over-slf4j:1.7.36")),
    ),
    ((1, 1, 0), Broker(_IN_SCALA, ("org.apache.kafka:kafka_2.12:{release}", _SCALA_212, _LOGGING_212, _METRICS))),
    ((2, 4, 0), Broker(_IN_SCALA, (*_CORE, _METRICS))),
    ((3, 0, 0), Broker(_IN_SCALA, (*_CORE, _METRICS, _METADATA, _SERVER))),
    ((3, 3, 0), Broker(_IN_SCALA, (*_CORE, _METRICS, _METADATA, _SERVER, _RAFT, _STORAGE))),
    ((3, 5, 0), Broker(_IN_JAVA, (_STORAGE, *_CORE, _METRICS, _METADATA, _SERVER, _JAVA8))),
    (
        (3, 6, 0),
        Broker(
            _IN_JAVA,
            (_STORAGE, _COORDINATOR, *_CORE, _METRICS, _METADATA, _SERVER, _VALIDATOR, _JAVA8, _COLLECTIONS),
        ),
    ),
    (
        (3, 7, 0),
        Broker(
            _IN_JAVA,
            (_STORAGE, _COORDINATOR, *_CORE, _METRICS, _METADATA, _SERVER, _VALIDATOR, _JAVA8, _COLLECTIONS, _BROKER),
        ),
    ),
    (
        (3, 8, 0),
        Broker(
            _IN_JAVA,
            (
                _STORAGE,
                _COORDINATOR,
                *_CORE,
                _METRICS,
                _METADATA,
                _SERVER,
                _VALIDATOR,
                _COORDINATOR_API,
                _JAVA8,
                _COLLECTIONS,
                _BROKER,
            ),
        ),
    ),
    (
        (4, 0, 0),
        Broker(
            _IN_JAVA,
            (
                _STORAGE,
                _COORDINATOR,
                _SERVER,
                _COORDINATOR_API,
                _METRICS,
                _METADATA,
                _VALIDATOR,
                *_CORE,
                _COLLECTIONS,
                _BROKER,
            ),
        ),
    ),
    (
        (4, 1, 0),
        Broker(
            _IN_JAVA,
            (
                _STORAGE,
                _SERVER,
                _COORDINATOR,
                _COORDINATOR_API,
                _METRICS,
                _METADATA,
                _VALIDATOR,
                *_CORE,
                _COLLECTIONS,
                _BROKER,
                _TRANSACTIONS,
                _LOG4J,
            ),
        ),
    ),
)


def clients_of(version: str, like: str = "") -> tuple[str, ...]:
    """The coordinates of a release's clients, their own jar first; ``like`` names a release with the same artifacts."""
    return (f"{CLIENTS}:{version}", *_NEEDED.get(like or version, ()))


def broker_of(version: str, like: str = "") -> Broker | None:
    """What the producers' part of a release's broker is made of; None before there were producer ids.

    ``like`` names a release with the same artifacts: the newest known one, for a release of which none are known.
    """
    numbers = tuple(map(int, (like or version).split(".")))
    found = [broker for first, broker in _BROKERS if first <= numbers]
    if not found:
        return None
    return Broker(found[-1].witness, tuple(each.format(release=version) for each in found[-1].coordinates))
