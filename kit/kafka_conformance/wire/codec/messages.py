"""Messages as dictionaries, and their bytes in any version.

The engine is kafka-python's (extra ``wire``): its ``StructField`` encodes and decodes by a schema. What it does not do is
done here: Kafka's names and default values; nulls, fields and numbers that a version does not have are refused; an answer
that is too short or too long is refused as well.

A dictionary has Kafka's own names, as Kafka's JSON converters write them. A ``uuid`` is a text in Kafka's form, ``bytes``
and ``records`` are bytes::

    >>> from kafka_conformance.wire.codec.messages import shipped_codec
    >>> shipped_codec().message("FindCoordinatorRequest").encode({"key": "g"}, 2).hex()
    '00016700'
"""

from __future__ import annotations

import base64
import binascii
import importlib
import io
import struct
import uuid
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

from kafka_conformance.core.errors import BadInput, MalformedMessage
from kafka_conformance.wire.codec.schemas import Schema, read_jar, read_shipped

__all__ = ["ZERO_UUID", "Codec", "Fields", "Message", "error_codes", "error_name", "jar_codec", "shipped_codec"]

Fields: TypeAlias = dict[str, Any]

ZERO_UUID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""Kafka's form of the UUID that stands for none."""

_ABSENT: Schema = {"name": "Absent", "type": "int8", "versions": "none"}
_BYTES = frozenset({"bytes", "records"})
_UNDECODABLE = (struct.error, ValueError, AssertionError, IndexError, EOFError, OverflowError, MemoryError)
_UNENCODABLE = (struct.error, ValueError, TypeError, AttributeError, OverflowError)
_ERRORS = {
    -1: "UNKNOWN_SERVER_ERROR", 6: "NOT_LEADER_OR_FOLLOWER", 10: "MESSAGE_TOO_LARGE", 17: "INVALID_TOPIC_EXCEPTION",
    39: "INVALID_REPLICA_ASSIGNMENT", 128: "INVALID_REGULAR_EXPRESSION", 129: "REBOOTSTRAP_REQUIRED",
    130: "STREAMS_INVALID_TOPOLOGY", 131: "STREAMS_INVALID_TOPOLOGY_EPOCH", 132: "STREAMS_TOPOLOGY_FENCED",
    133: "SHARE_SESSION_LIMIT_REACHED", 134: "GROUP_DELETION_FAILED", 135: "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
    136: "CONTROLLER_ID_NOT_REGISTERED",
}  # fmt: skip
"""Names of Kafka's errors that kafka-python does not have, or has under another name."""
_API_VERSIONS, _CONTROLLED_SHUTDOWN = 18, 7


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a schema, with the engine's object for it."""

    name: str
    schema: Schema
    engine: Any
    inner: tuple[_Field, ...]

    @property
    def type(self) -> str:
        """The type of the field, or of the elements of an array."""
        return str(self.schema["type"]).removeprefix("[]")

    @property
    def is_array(self) -> bool:
        """Whether the field is an array."""
        return str(self.schema["type"]).startswith("[]")

    def default(self, version: int) -> Any:
        """Return Kafka's default value."""
        given = self.schema.get("default", "")
        if given == "null" or (self.type == "records" and not self.is_array):
            return None
        if self.is_array:
            return []
        if self.inner:
            return {each.name: each.default(version) for each in self.inner if each.engine.for_version_q(version)}
        if self.type in _BYTES:
            return b""
        return ZERO_UUID if self.type == "uuid" else given if self.type == "string" else self.engine.default


@dataclass(frozen=True)
class Message:
    """A message: its schema, and its bytes in each version."""

    schema: Schema

    @property
    def name(self) -> str:
        """Kafka's name of the message."""
        return str(self.schema["name"])

    @property
    def versions(self) -> range:
        """The valid versions; none for a message that was removed."""
        text = str(self.schema["validVersions"])
        first, _, last = text.partition("-")
        return range(0) if text == "none" else range(int(first), int(last or first) + 1)

    def is_flexible(self, version: int) -> bool:
        """Return whether this version has compact lengths and tagged fields (KIP-482)."""
        text = str(self.schema["flexibleVersions"])
        return text != "none" and version >= int(text.rstrip("+").partition("-")[0])

    def encode(self, fields: Mapping[str, Any], version: int) -> bytes:
        """Return the bytes of a message; what ``fields`` does not name has its default value. Raises BadInput."""
        self._check(version)
        made = _complete(self._fields, fields, version, self.name)
        flexible = self.is_flexible(version)
        try:
            data: bytes = self._engine.encode(made, version=version, compact=self._compact(version), tagged=flexible)
        except _UNENCODABLE as error:
            raise BadInput(f"{self.name} version {version} cannot be encoded: {error}") from error
        return data

    def decode(self, data: bytes, version: int) -> Fields:
        """Return the fields of a message. Raises MalformedMessage for bytes that are not exactly one."""
        fields, rest = self.decode_first(data, version)
        if rest:
            raise MalformedMessage(f"{self.name} version {version} is followed by {len(rest):,} more bytes")
        return fields

    def decode_first(self, data: bytes, version: int) -> tuple[Fields, bytes]:
        """Return the fields of the message at the start of ``data``, and the bytes behind it. Raises MalformedMessage."""
        self._check(version)
        fields = self._fields  # first: this gives the engine Kafka's names
        flexible, stream = self.is_flexible(version), _Stream(data)
        try:
            found = self._engine.decode(stream, version=version, compact=self._compact(version), tagged=flexible)
            return _normalised(fields, found, version), stream.read(stream.left)
        except _UNDECODABLE as error:
            raise MalformedMessage(f"{self.name} version {version} cannot be decoded: {error!r}") from error

    def _compact(self, version: int) -> bool:
        """Return whether lengths are compact: a client id never is, also in a flexible header."""
        return self.is_flexible(version) and self.schema["type"] != "header"

    def _check(self, version: int) -> None:
        if version not in self.versions:
            text = self.schema["validVersions"]
            raise BadInput(f"{self.name} has no version {version}: expected {text}")

    @cached_property
    def _engine(self) -> Any:
        return _struct_field()(self._engine_schema)

    @cached_property
    def _engine_schema(self) -> Schema:
        # The engine wants a field: one that is in no version stands for none.
        return self.schema if self.schema["fields"] else {**self.schema, "fields": [_ABSENT]}

    @cached_property
    def _fields(self) -> tuple[_Field, ...]:
        return tuple(_fields(self._engine_schema, self._engine))


@dataclass(frozen=True)
class Codec:
    """The messages of a release, by name."""

    schemas: Mapping[str, Schema]

    def message(self, name: str) -> Message:
        """Return a message. Raises BadInput for a name that the release does not have, or a type that is not supported."""
        if (found := self._messages.get(name)) is None:
            if (schema := self.schemas.get(name)) is None:
                raise BadInput(f"there is no message {name!r} in this release: expected one like FetchRequest")
            found = self._messages[name] = Message(schema)
        return found

    def api_key(self, api: str) -> int:
        """Return the number of an API, such as ``Fetch``. Raises BadInput."""
        return int(self.message(f"{api}Request").schema["apiKey"])

    def encode_request(self, api: str, version: int, fields: Mapping[str, Any], correlation: int, client: str) -> bytes:
        """Return a request with its header, without the size in front. Raises BadInput."""
        body = self.message(f"{api}Request").encode(fields, version)
        head: Fields = {"requestApiKey": self.api_key(api), "requestApiVersion": version, "correlationId": correlation}
        of_header = self._request_header(api, version)
        named = {"clientId": client} if of_header else {}
        return self.message("RequestHeader").encode({**head, **named}, of_header) + body

    def decode_request(self, api: str, version: int, data: bytes) -> Fields:
        """Return the fields of a request, which has its header and no size in front. Raises MalformedMessage, BadInput."""
        _, body = self.message("RequestHeader").decode_first(data, self._request_header(api, version))
        return self.message(f"{api}Request").decode(body, version)

    def encode_response(self, api: str, version: int, fields: Mapping[str, Any], correlation: int) -> bytes:
        """Return a response with its header, without the size in front. Raises BadInput."""
        head = self.message("ResponseHeader").encode(
            {"correlationId": correlation}, self._response_header(api, version)
        )
        return head + self.message(f"{api}Response").encode(fields, version)

    def decode_response(self, api: str, version: int, data: bytes, *, exact: bool = True) -> tuple[int, Fields]:
        """Return the correlation id and the fields of a response, without its size. Raises MalformedMessage, BadInput.

        With ``exact`` false, bytes behind the message are ignored, as Java's clients do.
        """
        response = self.message(f"{api}Response")
        head, body = self.message("ResponseHeader").decode_first(data, self._response_header(api, version))
        fields = response.decode(body, version) if exact else response.decode_first(body, version)[0]
        return head["correlationId"], fields

    def _request_header(self, api: str, version: int) -> int:
        """Return the version of a request's header: 0 has no client id."""
        first = 0 in self.message("RequestHeader").versions
        if first and (self.api_key(api), version) == (_CONTROLLED_SHUTDOWN, 0):
            return 0
        return 2 if self.message(f"{api}Request").is_flexible(version) else 1

    def _response_header(self, api: str, version: int) -> int:
        """Return the version of a response's header."""
        # That of ApiVersions is never flexible: its reader does not know yet what the broker understands.
        return int(self.message(f"{api}Response").is_flexible(version) and self.api_key(api) != _API_VERSIONS)

    @cached_property
    def apis(self) -> Mapping[int, str]:
        """The names of the APIs by their numbers."""
        return {
            schema["apiKey"]: name.removesuffix("Request")
            for name, schema in self.schemas.items()
            if schema["type"] == "request"
        }

    @cached_property
    def _messages(self) -> dict[str, Message]:
        return {}


def jar_codec(path: Path) -> Codec:
    """Return the codec of the release whose ``kafka-clients`` jar this is. Raises BadInput."""
    return Codec(read_jar(path))


@cache
def shipped_codec() -> Codec:
    """Return the codec that ships with the package."""
    return Codec(read_shipped()[2])


def error_codes(answer: Any) -> Iterator[int]:
    """Yield the error codes in an answer, at any depth, but 0."""
    if isinstance(answer, dict):
        for name, each in answer.items():
            if isinstance(each, int) and name.lower().endswith("errorcode") and each:
                yield each
            else:
                yield from error_codes(each)
    elif isinstance(answer, list):
        for each in answer:
            yield from error_codes(each)


def error_name(code: int) -> str:
    """Return Kafka's name of an error code, ``NONE`` for 0."""
    errors = _kafka_python("kafka.errors")
    name: str = "NONE" if code == 0 else _ERRORS.get(code) or errors.for_code(code).message
    return name


@cache
def _struct_field() -> Any:
    return _kafka_python("kafka.protocol.schemas").StructField


def _kafka_python(module: str) -> Any:
    """Return a module of kafka-python, which reads its own schemas in a deprecated way when it is first imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(module)


class _Stream(io.BytesIO):
    """Bytes to read, of which none may be missing: the engine would take fewer for all of them."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._size = len(data)

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return self._size - self.tell()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return exactly ``size`` bytes. Raises EOFError."""
        if size is None or not 0 <= size <= self.left:
            raise EOFError(f"{size} bytes are needed and {self.left} are left")
        return super().read(size)


def _fields(schema: Schema, engine: Any) -> Iterator[_Field]:
    """Yield the fields of a struct, and give the engine Kafka's names for them."""
    for each, field in zip(schema["fields"], engine.fields.values(), strict=True):
        field.name = each["name"][0].lower() + each["name"][1:]
        inner = tuple(_fields(each, field)) if "fields" in each else ()
        yield _Field(field.name, each, field, inner)


def _complete(fields: tuple[_Field, ...], given: Mapping[str, Any], version: int, path: str) -> Fields:
    """Return what the engine encodes: every field of this version, and the tagged fields that are not at their default."""
    if not isinstance(given, Mapping):
        raise BadInput(f"{path} is {given!r}: expected an object with its fields")
    known = {field.name: field for field in fields if field.engine.for_version_q(version)}
    if unknown := [name for name in given if name not in known]:
        raise BadInput(
            f"{path} has no field {unknown[0]!r} in version {version}: expected {', '.join(known) or 'none'}"
        )
    made: Fields = {}
    # Tags are written in the order of their numbers.
    for name, field in sorted(known.items(), key=lambda item: item[1].schema.get("tag", -1)):
        value = given.get(name, field.default(version))
        if field.engine.tagged_field_q(version) and value == field.default(version):
            continue
        made[name] = _encodable(field, value, version, f"{path}.{name}")
    return made


def _encodable(field: _Field, value: Any, version: int, path: str) -> Any:
    if value is None:
        if not field.engine.nullable_for_version_q(version) and field.type != "records":
            raise BadInput(f"{path} is null, which version {version} does not allow")
        return None
    if not field.is_array:
        return _encodable_one(field, value, version, path)
    if not isinstance(value, list | tuple):
        raise BadInput(f"{path} is {value!r}: expected a list")
    return [_encodable_one(field, each, version, f"{path}[{at}]") for at, each in enumerate(value)]


def _encodable_one(field: _Field, value: Any, version: int, path: str) -> Any:
    if field.inner:
        return _complete(field.inner, value, version, path)
    expected: type | tuple[type, ...]
    match field.type:
        case "string" | "uuid":
            expected = str
        case "bytes" | "records":
            expected = bytes | bytearray | memoryview  # type: ignore[assignment]
        case "bool":
            expected = bool
        case "float64":
            expected = (int, float)
        case _:
            expected = int
    if not isinstance(value, expected) or (isinstance(value, bool) and field.type != "bool"):
        raise BadInput(f"{path} is {value!r}: expected {field.type}")
    return _to_uuid(str(value), path) if field.type == "uuid" else value


def _to_uuid(text: str, path: str) -> uuid.UUID:
    """Return the UUID of Kafka's text, such as ``AAAAAAAAAAAAAAAAAAAAAA``. Raises BadInput."""
    try:
        return uuid.UUID(bytes=base64.b64decode(text + "==", altchars=b"-_", validate=True))
    except (ValueError, binascii.Error) as error:
        raise BadInput(f"{path} is {text!r}: expected a UUID in Kafka's form, 22 characters") from error


def _normalised(fields: tuple[_Field, ...], found: Fields, version: int) -> Fields:
    """Return what the engine decoded in Kafka's order, with the default values of tagged fields that are not there."""
    made: Fields = {}
    for field in fields:
        if field.engine.for_version_q(version):
            there = field.name in found
            made[field.name] = _decoded(field, found[field.name], version) if there else field.default(version)
    unknown = {name: value for name, value in found.items() if name.startswith("_")}
    return {**made, **unknown}


def _decoded(field: _Field, value: Any, version: int) -> Any:
    if isinstance(value, list):
        return [_decoded_one(field, each, version) for each in value]
    return None if value is None and field.type != "uuid" else _decoded_one(field, value, version)


def _decoded_one(field: _Field, value: Any, version: int) -> Any:
    if field.inner:
        return _normalised(field.inner, value, version)
    if field.type == "uuid":
        return base64.urlsafe_b64encode(uuid.UUID(int=0).bytes if value is None else value.bytes).decode().rstrip("=")
    return value
