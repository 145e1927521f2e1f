"""Messages of every release whose jar is in the cache, without Java."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path

import pytest
from message_values import KINDS, requests_and_responses, values

from kafka_conformance.core.errors import BadInput, MalformedMessage
from kafka_conformance.wire.codec.messages import Codec, error_name, jar_codec, shipped_codec
from kafka_conformance.wire.codec.schemas import FIRST_WITH_SCHEMAS, read_jar, read_shipped, schema_release
from kafka_jars.pins import load
from kafka_jars.store import default_store
from kafka_reference.releases import parse_release

LAST_ERROR = 136
RELEASES = [each for each in load().releases if parse_release(each) >= FIRST_WITH_SCHEMAS]


def jar(release: str) -> Path:
    return default_store().path(load().clients(release)[0])


def test_every_error_code_has_a_unique_name_that_the_kafka_errors_class_contains() -> None:
    path = jar(RELEASES[-1])
    if not path.exists():
        pytest.skip(f"the jar of {RELEASES[-1]} is not in the cache")
    with zipfile.ZipFile(path) as file:
        compiled = file.read("org/apache/kafka/common/protocol/Errors.class")
    names = [error_name(code) for code in range(-1, LAST_ERROR + 1)]
    assert len(set(names)) == len(names)
    assert [name for name in names if b"\x01" + struct.pack(">H", len(name)) + name.encode() not in compiled] == []


@pytest.mark.parametrize("release", RELEASES)
def test_every_message_in_kafka_jar_round_trips_in_every_version(release: str) -> None:
    path = jar(release)
    if not path.exists():
        pytest.skip(f"the jar of {release} is not in the cache")
    messages = requests_and_responses(jar_codec(path))
    assert len(messages) > 90
    for message in messages:
        for version in message.versions:
            for kind in ("default", "filled"):
                data = message.encode(values(message, version, kind), version)
                found = message.decode(data, version)
                assert message.encode(found, version) == data, (message.name, version, kind)


def test_shipped_messages_round_trip_with_every_sort_of_field_values() -> None:
    count = 0
    for message in requests_and_responses(shipped_codec()):
        for version in message.versions:
            for kind in KINDS:
                given = values(message, version, kind)
                found = message.decode(message.encode(given, version), version)
                assert given.items() <= found.items() or kind == "default", (message.name, version, kind)
                count += 1
    assert count > 2400


def test_every_shipped_message_schema_equals_the_schema_in_the_pinned_jar() -> None:
    release, sha256, schemas = read_shipped()
    pinned = load().clients(release)[0]
    assert sha256 == pinned.sha256
    path = default_store().path(pinned)
    if not path.exists():
        pytest.skip(f"the jar of {release} is not in the cache")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    assert schemas.items() <= read_jar(path).items()


def test_releases_before_2_4_use_message_schemas_of_2_4_0() -> None:
    assert str(schema_release(parse_release("0.11.0.3"))) == "2.4.0"
    assert str(schema_release(parse_release("2.3.1"))) == "2.4.0"
    assert str(schema_release(parse_release("3.9.2"))) == "3.9.2"


def test_flexible_request_header_encodes_client_id_as_non_compact_string() -> None:
    sent = shipped_codec().encode_request("ApiVersions", 3, {"clientSoftwareName": "x"}, 7, "me")
    assert sent.hex() == "00120003000000070002" + b"me".hex() + "0002" + b"x".hex() + "0100"


def test_api_versions_response_header_is_never_flexible() -> None:
    body = shipped_codec().message("ApiVersionsResponse").encode({"errorCode": 35}, 3)
    correlation, fields = shipped_codec().decode_response("ApiVersions", 3, b"\x00\x00\x00\x09" + body)
    assert (correlation, fields["errorCode"]) == (9, 35)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"key": None}, "key is null"),
        ({"kay": "g"}, "has no field 'kay'"),
        ({"key": 5}, "expected string"),
        ({"keyType": True, "key": "g"}, "expected int8"),
        ({"keyType": 200, "key": "g"}, "cannot be encoded"),
    ],
)
def test_encoding_a_request_refuses_a_wrong_field_and_names_the_field(fields: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        shipped_codec().message("FindCoordinatorRequest").encode(fields, 2)


def test_message_field_absent_from_requested_version_is_refused_with_version() -> None:
    with pytest.raises(BadInput, match="no field 'coordinatorKeys' in version 2"):
        shipped_codec().message("FindCoordinatorRequest").encode({"coordinatorKeys": ["g"]}, 2)


def test_produce_request_version_outside_valid_range_is_refused() -> None:
    with pytest.raises(BadInput, match="no version 2: expected 3-13"):
        shipped_codec().message("ProduceRequest").encode({}, 2)


def test_fetch_response_truncated_at_any_byte_or_with_extra_byte_is_malformed() -> None:
    message = shipped_codec().message("FetchResponse")
    data = message.encode(values(message, 17, "filled"), 17)
    for length in range(len(data)):
        with pytest.raises(MalformedMessage):
            message.decode(data[:length], 17)
    with pytest.raises(MalformedMessage, match="1 more bytes"):
        message.decode(data + b"\x00", 17)


def test_response_array_with_declared_length_of_billions_is_malformed() -> None:
    with pytest.raises(MalformedMessage):
        shipped_codec().message("MetadataResponse").decode(b"\x00\x00\x00\x00" + b"\x7f\xff\xff\xff", 1)


@pytest.mark.parametrize("content", ["{", '{"name": "A"}', "[]", '{"name": "A", "type": "request", "fields": 5}'])
def test_invalid_message_schema_in_jar_is_refused(content: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as made:
        made.writestr("common/message/A.json", content)
    with pytest.raises(BadInput, match="cannot be read as a jar"):
        jar_codec(tmp_path / "a.jar")


def test_file_that_is_not_a_jar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"PK")
    with pytest.raises(BadInput, match="cannot be read as a jar"):
        jar_codec(tmp_path / "a.jar")


def test_new_codec_decodes_a_response_before_encoding_any_request() -> None:
    codec = Codec(shipped_codec().schemas)  # nothing has been encoded by it
    assert codec.decode_response("ApiVersions", 0, bytes.fromhex("00000007002300000000")) == (
        7,
        {"errorCode": 35, "apiKeys": []},
    )
