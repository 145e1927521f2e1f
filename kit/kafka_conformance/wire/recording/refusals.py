"""Responses that refuse a request with an error, as a script asks for: all that they say is the error.

No broker sends a Metadata response without brokers, so the broker's own response is passed on, with the error in its topics
and partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.codec.messages import Codec, Fields

__all__ = ["CHANGED", "can_refuse", "changed", "refusal"]

CHANGED: Final = frozenset({"Metadata"})
"""APIs whose requests are passed on, and whose responses are changed to have an error."""


def can_refuse(api: str, codec: Codec) -> bool:
    """Return whether a response of this API has an error for the request as a whole, or for each of its partitions."""
    return (
        api in CHANGED
        or api in _NESTED
        or any(field["name"] == "ErrorCode" for field in codec.message(f"{api}Response").schema["fields"])
    )


def refusal(api: str, version: int, request: bytes, error: int, codec: Codec) -> tuple[int, bytes]:
    """Return the correlation id of a request and a response to it with this error. Raises BadInput, MalformedMessage."""
    correlation, asked = int.from_bytes(request[4:8], signed=True), codec.decode_request(api, version, request)
    fields = _NESTED[api](asked, error) if api in _NESTED else {"errorCode": error}
    if api == "FindCoordinator" and "coordinatorKeys" not in asked:
        fields = {"errorCode": error, "nodeId": -1, "host": "", "port": -1}
    if api == "InitProducerId":
        fields |= {"producerId": -1, "producerEpoch": -1}
    if not fields:
        raise BadInput(f"{api} version {version} has nothing to refuse")
    return correlation, codec.encode_response(api, version, fields, correlation)


def changed(api: str, version: int, response: bytes, error: int, codec: Codec) -> bytes:
    """Return a broker's response in which all topics have this error. Raises BadInput, MalformedMessage."""
    correlation, fields = codec.decode_response(api, version, response, exact=False)
    for topic in fields["topics"]:
        topic["errorCode"] = error
        for partition in topic["partitions"]:
            partition |= {"errorCode": error, "leaderId": -1}
    return codec.encode_response(api, version, fields, correlation)


def _named(topic: Mapping[str, Any]) -> Fields:
    return {name: topic[name] for name in ("name", "topic", "topicId") if name in topic}


def _produce(asked: Fields, error: int) -> Fields:
    return {"responses": [
        {**_named(topic), "partitionResponses": [
            {"index": each["index"], "errorCode": error, "baseOffset": -1} for each in topic["partitionData"]]}
        for topic in asked["topicData"]]}  # fmt: skip


def _fetch(asked: Fields, error: int) -> Fields:
    return {"responses": [
        {**_named(topic), "partitions": [
            {"partitionIndex": each["partition"], "errorCode": error, "highWatermark": -1, "records": b""}
            for each in topic["partitions"]]}
        for topic in asked["topics"]]}  # fmt: skip


def _partitions(asked: Fields, error: int) -> Fields:
    return {"topics": [
        {**_named(topic), "partitions": [
            {"partitionIndex": each["partitionIndex"], "errorCode": error} for each in topic["partitions"]]}
        for topic in asked["topics"]]}  # fmt: skip


def _coordinators(asked: Fields, error: int) -> Fields:
    return {"coordinators": [
        {"key": key, "nodeId": -1, "host": "", "port": -1, "errorCode": error, "errorMessage": None}
        for key in asked.get("coordinatorKeys", ())]}  # fmt: skip


_NESTED: Final[Mapping[str, Callable[[Fields, int], Fields]]] = {
    "Fetch": _fetch,
    "FindCoordinator": _coordinators,
    "ListOffsets": _partitions,
    "OffsetCommit": _partitions,
    "Produce": _produce,
}
