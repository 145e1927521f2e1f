"""The schemas of a release's messages, as its ``kafka-clients`` jar ships them.

The jar holds one JSON file with comments for each message, ``common/message/FetchRequest.json``. Up to 2.1.x the schemas are
Java code, and 2.2.0 to 2.3.x ship files for messages that their code reads otherwise. So for all releases before 2.4.0 the
schemas of 2.4.0 apply, which still have all earlier versions.
The jar is read as a zip file: no JVM is needed.

What says nothing about bytes is left out: licences, comments, ``about``. The rest of the newest release ships with the
package (:data:`SHIPPED`), so that a broker can be asked without any jar.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_reference.releases import Release, parse_release

__all__ = ["FIRST_WITH_SCHEMAS", "SHIPPED", "Schema", "read_jar", "read_shipped", "schema_release", "to_lines"]

Schema: TypeAlias = dict[str, Any]

FIRST_WITH_SCHEMAS: Final = parse_release("2.4.0")
"""The first release whose schemas are used."""

SHIPPED: Final = "schemas.ndjson"
"""The schemas that ship with the package: a line with the release and its jar, then one for each message."""

_FOLDER = "common/message/"
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')
_KEPT = frozenset({
    "apiKey", "default", "fields", "flexibleVersions", "latestVersionUnstable", "name", "nullableVersions", "tag",
    "taggedVersions", "type", "validVersions", "versions",
})  # fmt: skip
_LARGEST_FILE = 2**20
_WRONG = (KeyError, TypeError, AttributeError, NotImplementedError, EOFError, zlib.error)


def schema_release(release: Release) -> Release:
    """Return the release whose schemas describe the messages of ``release``: itself, or 2.4.0 for an earlier one."""
    return max(release, FIRST_WITH_SCHEMAS)


def read_jar(path: Path) -> dict[str, Schema]:
    """Return the schemas in a ``kafka-clients`` jar, by name of message. Raises BadInput for a jar without any."""
    try:
        with zipfile.ZipFile(path) as jar:
            files = [each for each in jar.infolist() if re.fullmatch(rf"{_FOLDER}\w+\.json", each.filename)]
            if large := [each.filename for each in files if each.file_size > _LARGEST_FILE]:
                raise BadInput(f"{path} cannot be read: {large[0]} has more than {_LARGEST_FILE:,} bytes")
            found = [_schema(jar.read(each).decode()) for each in files]
    except (OSError, zipfile.BadZipFile, ValueError, *_WRONG) as error:
        raise BadInput(f"{path} cannot be read as a jar with schemas: {error}") from error
    if not found:
        raise BadInput(f"{path} has no schemas: the jars of kafka-clients have them since 2.2.0")
    return {schema["name"]: schema for schema in sorted(found, key=lambda schema: str(schema["name"]))}


def to_lines(release: str, sha256: str, schemas: Mapping[str, Schema]) -> bytes:
    """Return the content of :data:`SHIPPED`."""
    lines: Iterator[Any] = iter([{"release": release, "sha256": sha256}, *schemas.values()])
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


@cache
def read_shipped() -> tuple[str, str, dict[str, Schema]]:
    """Return the release whose schemas ship with the package, the sha256 of its jar, and the schemas."""
    head, *rest = (resources.files(__package__) / SHIPPED).read_bytes().splitlines()
    origin = msgspec.json.decode(head)
    schemas: list[Schema] = [msgspec.json.decode(line) for line in rest]
    return origin["release"], origin["sha256"], {schema["name"]: schema for schema in schemas}


def _schema(text: str) -> Schema:
    """Return a schema without comments, and with the fields of its common structs in place of their names."""
    # A text may contain "//", as in a link: the first alternative keeps texts as a whole.
    bare = _COMMENT.sub(lambda match: match[1] or "", text).strip()
    # What follows the object is ignored, as Jackson does: 2.8's DescribeProducersRequest has brackets too many.
    raw: Schema = json.JSONDecoder().raw_decode(bare)[0]
    common = {struct["name"]: struct for struct in raw.get("commonStructs", ())}
    raw.setdefault("flexibleVersions", "none")  # up to 2.8 a message without flexible versions may lack the key
    return _stripped(raw, common)


def _stripped(raw: Schema, common: Mapping[str, Schema]) -> Schema:
    kept = {key: value for key, value in raw.items() if key in _KEPT}
    if "tag" in kept:
        kept["tag"] = int(kept["tag"])  # 3.7 to 4.0: "0" in BrokerHeartbeatRequest
        kept.setdefault("versions", kept["taggedVersions"])  # 3.5: not given for ReplicaState in FetchRequest
    name = str(raw["type"]).removeprefix("[]")
    fields = raw.get("fields") or (common[name]["fields"] if name in common else None)
    if fields is not None:
        kept["fields"] = [_stripped(each, common) for each in fields]
    return kept
