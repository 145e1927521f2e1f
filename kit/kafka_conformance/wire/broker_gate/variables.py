"""What is filled into requests and taken out of answers, so that the answers of two brokers can be compared.

As little as possible is taken out: times of the broker, its name and address, texts of errors, what a failed request returns
beside its error. Names and ids that differ from run to run are given the names of the case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.broker_gate.batches import decode_fields, encode_fields

__all__ = ["DROPPED", "Variables", "value_at"]

DROPPED: Final = frozenset({
    "acquisitionLockTimeoutMs", "apiKeys", "batchIndexErrorMessage", "brokers", "clusterAuthorizedOperations", "clusterId",
    "controllerId", "currentLeader", "eligibleLeaderReplicas", "errorMessage", "finalizedFeatures",
    "finalizedFeaturesEpoch", "heartbeatIntervalMs", "host", "isrNodes", "lastKnownElr", "leaderEpoch", "leaderId",
    "nodeEndpoints", "nodeId", "offlineReplicas", "port", "rack", "replicaNodes", "supportedFeatures", "throttleTimeMs",
    "topicAuthorizedOperations",
})  # fmt: skip
"""Fields that say where and when a broker runs and which APIs it has, or that are texts for people."""

_DROPPED_WITH_ERROR = frozenset(
    {"baseOffset", "logStartOffset", "highWatermark", "lastStableOffset", "logAppendTimeMs"}
)
_KEYS = ("name", "topic", "topicName", "partitionIndex", "partition", "index", "topicId")
_TIME = re.compile(r"\$t\+(\d+)")
_OWN_TIMES_MS, _LATER_MS = 100_000, 172_800_000
_BATCHES = "$batches"


class Variables:
    """The values of one case in one run.

    ``token`` begins every name that the case uses at the broker; ``now_ms`` is the time that ``$t+0`` stands for.
    """

    def __init__(self, token: str, now_ms: int) -> None:
        self._token, self._now_ms = token, now_ms
        self._bound: dict[str, Any] = {}

    def topic(self, name: str) -> str:
        """Return the name of a topic of the case."""
        return f"{self._token}-{name}" if name else self._token

    def bind(self, name: str, value: Any) -> None:
        """Let ``$name`` stand for this value from now on."""
        self._bound[name] = value

    def filled(self, value: Any) -> Any:
        """Return a request with values in place of variables, and bytes in place of batches. Raises BadInput."""
        if isinstance(value, str) and value.startswith("$"):
            return self._value(value)
        if isinstance(value, Mapping):
            if _BATCHES in value:
                return b"".join(encode_fields(self.filled(each)) for each in value[_BATCHES])
            if "$bytes" in value:
                return _hexadecimal(value["$bytes"])
            return {name: self.filled(each) for name, each in value.items()}
        return [self.filled(each) for each in value] if isinstance(value, list) else value

    def normalised(self, value: Any, name: str = "") -> Any:
        """Return an answer as it is compared and kept."""
        if isinstance(value, Mapping):
            failed = bool(value.get("errorCode"))
            out = DROPPED | _DROPPED_WITH_ERROR if failed else DROPPED
            return {key: self.normalised(each, key) for key, each in value.items() if key not in out}
        if isinstance(value, list):
            return _ordered([self.normalised(each, name) for each in value])
        if isinstance(value, bytes):
            return self.normalised(decode_fields(value, self._time)) if name == "records" else value.hex()
        if isinstance(value, str):
            return self._named(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, name)
        return value

    def _value(self, text: str) -> Any:
        name, _, rest = text[1:].partition(".")
        if name == "topic":
            return self.topic(rest)
        if name == "name":
            return f"{self._token}-{rest}"
        if match := _TIME.fullmatch(text):
            return self._now_ms + int(match[1])
        if text[1:] not in self._bound:
            raise BadInput(f"{text} has no value: no answer before has given one")
        return self._bound[text[1:]]

    def _named(self, text: str) -> str:
        for name, value in self._bound.items():
            if value == text:
                return f"${name}"
        return text.replace(self._token, "$topic")

    def _number(self, value: int, name: str) -> Any:
        if name.lower().endswith("producerid"):
            return next((f"${each}" for each, bound in self._bound.items() if bound == value), value)
        return self._time(value) if name.lower().endswith(("timestamp", "timems", "timestampms")) else value

    def _time(self, value: int) -> Any:
        since = value - self._now_ms
        if 0 <= since < _OWN_TIMES_MS:
            return f"$t+{since}"
        return "$time" if 0 <= since < _LATER_MS else value


def _hexadecimal(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not hexadecimal: {error}") from error


def _ordered(values: list[Any]) -> list[Any]:
    """Return topics by name and partitions by number: Kafka's own order is that of its hash maps."""
    key = next((key for key in _KEYS if all(isinstance(each, Mapping) and key in each for each in values)), None)
    return values if key is None else sorted(values, key=lambda each: each[key])


def value_at(answer: Any, path: str) -> Any:
    """Return the value at a path such as ``topics.0.name``; None if there is none."""
    for part in path.split("."):
        if isinstance(answer, list) and part.isdigit() and int(part) < len(answer):
            answer = answer[int(part)]
        elif isinstance(answer, Mapping) and part in answer:
            answer = answer[part]
        else:
            return None
    return answer
