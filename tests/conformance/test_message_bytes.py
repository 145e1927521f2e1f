"""The bytes of every message and version, read and written again by each release's own classes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest
from message_values import KINDS, java_values, requests_and_responses, values

from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.wire.codec.messages import jar_codec
from kafka_conformance.wire.codec.schemas import FIRST_WITH_SCHEMAS, schema_release
from kafka_jars.pins import load
from kafka_jars.store import default_store
from kafka_reference.releases import parse_release, since

SOURCE = Path(__file__).with_name("MessageBytes.java")
RELEASES = list(load().releases)
SOME = ["0.10.0.1", "0.11.0.3", "1.1.1", "2.3.1", "2.4.1", "2.8.2", "3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.4.0"]
EACH_S = 20
_TOGETHER = 4
# What Java does not do with the bytes, in which releases: message, first version, values, and its words.
EXPECTED = [
    (since("0.10.0.0", until="2.3.x"), "ProduceRequest", 0, "null", "record_set|NullPointerException"),
    (since("0.10.0.0", until="2.3.x"), "FetchResponse", 0, "null", "record_set|NullPointerException"),
    (since("0.10.0.0", until="0.10.2.x"), "CreateTopicsRequest", 0, "null", "config_value"),
    # A client id of null is read as an empty one.
    (since("0.10.0.0", until="2.3.x"), "RequestHeader", 1, "null", r'^0 fffdfffdfffeee900000 .-3,-3,-70000,"s".$'),
    # A tagged text of more than 127 bytes: its size is computed too small, so it can be read and not written.
    (
        since("2.7.0", until="2.7.1") | since("2.8.0", until="2.8.0"),
        "FetchRequest",
        12,
        "limit",
        "BufferOverflowException",
    ),
    (since("2.8.0", until="2.8.0"), "FetchSnapshotRequest", 0, "limit", "BufferOverflowException"),
]


@cache
def jars(release: str) -> list[Path]:
    return [stored.path for stored in fetched(load().jars(release), default_store())]


@lru_cache(maxsize=_TOGETHER)
def questions(release: str) -> list[tuple[str, int, str, int, bytes, Any]]:
    """Return message, version, kind, number of the API, bytes and values, by the schemas of a release."""
    codec = jar_codec(jars(release)[0])
    return [
        (message.name, version, kind, message.schema.get("apiKey", -1), data, java_values(message, version, found))
        for message in requests_and_responses(codec)
        for version in message.versions
        for kind in KINDS
        for data in [message.encode(values(message, version, kind), version)]
        for found in [message.decode(data, version)]
    ]


def answers(releases: Sequence[str]) -> dict[str, list[str]]:
    """Return what the classes of each release answer, all in one JVM."""
    lines = []
    for release in releases:
        lines.append(f"release {os.pathsep.join(map(str, jars(release)))}")
        asked = questions(str(schema_release(parse_release(release))))
        lines += [f"{name} {version} {key} {data.hex()}" for name, version, _, key, data, _ in asked]
    done = subprocess.run(
        [find_java().program, "-Xmx600m", SOURCE], input="\n".join(lines) + "\n", capture_output=True, text=True,
        timeout=60 + EACH_S * len(releases), check=False,
    )  # fmt: skip
    if "jdk.compiler" in done.stderr:
        pytest.skip("this Java has no compiler: a JDK is needed")
    assert done.returncode == 0, done.stderr
    found, rest = {}, done.stdout.splitlines()
    for release in releases:
        count = len(questions(str(schema_release(parse_release(release)))))
        found[release], rest = rest[:count], rest[count:]
    assert not rest
    return found


def compared(release: str, lines: Sequence[str]) -> tuple[int, list[Any]]:
    """Return how many messages the release has, and which it reads or writes otherwise."""
    count, wrong = 0, []
    for (name, version, kind, _, data, expected), line in zip(
        questions(str(schema_release(parse_release(release)))), lines, strict=True
    ):
        if line == "absent":
            continue
        count += 1
        expected_words = expectation(release, name, version, kind)
        rest, written, text = [*line.split(" ", 2), "", ""][:3]
        as_sent = "-" if (name, release[:4]) == ("FetchResponse", "2.7.") else data.hex()
        found = json.loads(text) if (rest, written) == ("0", as_sent) else None
        if not (re.search(expected_words, line) if expected_words else found is not None and agrees(found, expected)):
            wrong.append((release, name, version, kind, line[:300], data.hex()[:100], expected))
    return count, wrong


def expectation(release: str, name: str, version: int, kind: str) -> str:
    """Return what Java answers in place of the bytes and values, as a pattern, if it does."""
    asked = parse_release(release)
    for spans, message, first, values_kind, words in EXPECTED:
        if (message, values_kind) == (name, kind) and version >= first and asked in spans:
            return words
    return ""


def agrees(java: Any, ours: Any) -> bool:
    """Return whether Java has the values of ours: by name where it has names, else in order, whatever structs are called."""
    if isinstance(java, list) and isinstance(ours, dict):
        return list(leaves(java)) == list(leaves(ours))
    match java, ours:
        case dict(), dict():
            return all(name in java and agrees(java[name], value) for name, value in ours.items())
        case list(), list():
            return len(java) == len(ours) and all(map(agrees, java, ours))
        case _:
            return type(java) is type(ours) and bool(java == ours)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the values in a struct, of inner ones as well."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    else:
        yield int(value) if isinstance(value, bool) else value  # 0.10 writes bool as int8


def judge(releases: Sequence[str]) -> None:
    """Ask a few releases in one JVM: the answers of all would fill the memory."""
    for first in range(0, len(releases), _TOGETHER):
        for release, lines in answers(releases[first : first + _TOGETHER]).items():
            count, wrong = compared(release, lines)
            assert wrong == [], (release, len(wrong), wrong[:20])
            generated = parse_release(release) >= FIRST_WITH_SCHEMAS
            assert count == len(lines) > 1800 if generated else count > 290, (release, count)


def test_java_of_eleven_releases_reads_and_writes_protocol_messages_like_the_codec() -> None:
    judge(SOME)


@pytest.mark.exhaustive
@pytest.mark.timeout(1_800)
def test_java_of_every_release_reads_and_writes_protocol_messages_like_the_codec() -> None:
    judge(RELEASES)
