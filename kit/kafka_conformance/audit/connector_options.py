"""Check the options of Spark's Kafka connector that a user gives, before Spark starts.

The connector ignores an option that it does not have: ``security.protocol`` without ``kafka.`` means plaintext. It refuses
some settings of Kafka's clients, but only when it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_conformance.audit.isolation import OPTION
from kafka_conformance.core.errors import BadInput

__all__ = ["check_options", "from_properties"]

_OWN = {
    "fetchoffset.numretries", "fetchoffset.retryintervalms", "groupidprefix",
    "kafkaconsumer.polltimeoutms", "maxrecordsperpartition", "minpartitions",
}  # fmt: skip
_SET_HERE = {
    "assign", "endingoffsets", "endingoffsetsbytimestamp", "endingtimestamp", "failondataloss", "includeheaders",
    "startingoffsets", "startingoffsetsbytimestamp", "startingtimestamp", "subscribe", "subscribepattern",
}  # fmt: skip
_REFUSED = {
    "kafka.auto.offset.reset", "kafka.enable.auto.commit", "kafka.interceptor.classes", "kafka.key.deserializer",
    "kafka.key.serializer", "kafka.value.deserializer", "kafka.value.serializer",
}  # fmt: skip
# What a file of settings may have for other programs: the command decides these itself.
_LEFT_OUT = {
    *(name.removeprefix("kafka.") for name in _REFUSED), "acks", "bootstrap.servers", "compression.type",
    "delivery.timeout.ms", "enable.idempotence", "group.id", "group.instance.id", "isolation.level",
    "max.in.flight.requests.per.connection", "partitioner.class", "retries", "transactional.id",
}  # fmt: skip


def from_properties(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a client's settings as the connector's options, without those that an audit or a repair decides itself."""
    return {f"kafka.{name}": value for name, value in settings.items() if name not in _LEFT_OUT}


def check_options(names: Iterable[str]) -> None:
    """Check the names of options, in which case does not matter. Raises BadInput."""
    for name in names:
        lower = name.lower()
        if lower == OPTION:
            raise BadInput(f"--option {name}: use --isolation read_committed or read_uncommitted")
        if lower in _SET_HERE:
            raise BadInput(f"--option {name}: the command sets it itself; leave it out")
        if lower in _REFUSED:
            raise BadInput(f"--option {name}: Spark's Kafka connector does not accept it; leave it out")
        if not lower.startswith("kafka.") and lower not in _OWN:
            raise BadInput(
                f"--option {name}: Spark's Kafka connector would ignore it; settings of Kafka's clients begin with kafka.:"
                f" write kafka.{name}"
            )
