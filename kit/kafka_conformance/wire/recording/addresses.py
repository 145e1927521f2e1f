"""The addresses of brokers in responses, which a proxy replaces by its own, and the versions that it lets a broker offer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from kafka_conformance.core.errors import MalformedMessage
from kafka_conformance.wire.codec.messages import Codec, Fields

__all__ = ["REWRITTEN", "Address", "decode_lenient", "rewritten"]

Address: TypeAlias = tuple[str, int]

REWRITTEN: Final = frozenset({
    "ApiVersions", "DescribeCluster", "Fetch", "FindCoordinator", "Metadata", "Produce", "ShareAcknowledge", "ShareFetch",
})  # fmt: skip
"""APIs whose responses name brokers or versions."""

_UNSUPPORTED_VERSION: Final = 35


def decode_lenient(codec: Codec, api: str, version: int, data: bytes) -> tuple[int, int, Fields]:
    """Return the version, the correlation id and the fields of a response, as Java's clients read it.

    Bytes behind it are ignored. A broker that does not have the version of an ApiVersions request answers in version 0.
    Raises MalformedMessage, BadInput.
    """
    found, fault = None, None
    # A broker that answers in version 0 says so by its error alone, which is at the same place in all versions.
    for each in (version, 0) if api == "ApiVersions" else (version,):
        try:
            correlation, fields = codec.decode_response(api, each, data, exact=False)
        except MalformedMessage as error:
            fault = fault or error
        else:
            found = each, correlation, fields
            if fields.get("errorCode") != _UNSUPPORTED_VERSION:
                break
    if found is None:
        raise fault or MalformedMessage(f"{api}Response")
    return found


async def rewritten(
    api: str,
    version: int,
    data: bytes,
    codec: Codec,
    own: Callable[[Address], Awaitable[Address]],
    most: Mapping[str, int],
    narrowed: set[str],
) -> bytes:
    """Return a response with the addresses that ``own`` gives, and without versions above ``most``.

    The APIs that have fewer versions by that are added to ``narrowed``.
    A response that names no broker stays as it is, byte for byte. Raises MalformedMessage, BadInput.
    """
    version, correlation, fields = decode_lenient(codec, api, version, data)
    changed = _narrowed(fields, codec, most, narrowed) if api == "ApiVersions" else False
    for node in _nodes(api, fields):
        address = (node["host"], node["port"])
        if address[1] > 0:  # a coordinator that was not found has port -1
            node["host"], node["port"] = await own(address)
            changed = True
    return codec.encode_response(api, version, fields, correlation) if changed else data


def _nodes(api: str, fields: Fields) -> Iterator[dict[str, Any]]:
    if api in {"Metadata", "DescribeCluster"}:
        yield from fields["brokers"]
    elif api == "FindCoordinator":
        yield from fields.get("coordinators", ())
        if "host" in fields:
            yield fields
    else:
        yield from fields.get("nodeEndpoints", ())


def _narrowed(fields: Fields, codec: Codec, most: Mapping[str, int], narrowed: set[str]) -> bool:
    limits = {codec.api_key(api): version for api, version in most.items()}
    found = [each for each in fields["apiKeys"] if each["maxVersion"] > limits.get(each["apiKey"], each["maxVersion"])]
    for each in found:
        each["maxVersion"] = max(each["minVersion"], limits[each["apiKey"]])
        narrowed.add(codec.apis[each["apiKey"]])
    return bool(found)
