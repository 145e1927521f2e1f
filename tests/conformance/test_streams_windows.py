"""Kafka Streams' own classes place windowed keys as the audit's views and the reference do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.key_views import find_view
from kafka_conformance.oracle.bridge import Compiler, instance
from kafka_conformance.oracle.oracle import Oracle
from kafka_jars.pins import Jar, load
from kafka_jars.store import default_store
from kafka_reference import partition_for_key

STREAMS = {
    "0.10.2.2": "07eea27612cd65d931fb284184bcf662cbb3d6ed576a71b804f16f192bf90c1d",
    "1.0.2": "e96eb7c0a9fce1e73b14537d9fca2045583fb98a35f250aeefa0fe999fdd482b",
    "1.1.1": "73463c64b8b672fd7e8959e69bca9a993520ec193d9d5f6529a2e802d6bf3b24",
    "2.0.1": "4110753fccb728ba484d7a67d1d180cf28e452d034ff019ecefa95a6070181d2",
    "2.8.2": "ca8c6331e4e6861c87cf72ada1f18a238699574adb35710bc61025edfacd91d7",
    "3.3.2": "5256195b2016db3f1944b2a2f2f8ef100eb6abb5920826ca837f6da25610cde6",
    "3.9.1": "295dd382b461984577d585955a05cb808893700b00af275eda457782ae434d9c",
    "4.1.1": "e554318dbc2b07461f714be32bb324744ba993eb7a49f938792beff577d7044b",
    "4.4.0": "6e06548a119adf213121ad2e4fefff6ab4263875b4f761425ace8ea4f5ba04a6",
}
"""The SHA-256 of kafka-streams by release: each has different packages and methods."""

EARLY = frozenset({"0.10.2.2", "1.0.2", "1.1.1"})
"""Releases without SessionWindowedSerializer and WindowKeySchema.toStoreKeyBinary, both since 2.0.0."""

Ask = Callable[[str, int, int, int], list[list[str]]]


@pytest.fixture(scope="module")
def host(oracle: Oracle) -> Any:
    """One object for all releases: py4j cannot call two classes of one name."""
    spark = str(oracle.jvm.call(lambda: oracle.jvm.view.java.lang.System.getProperty("java.class.path")))
    compiler = Compiler(oracle.jvm, oracle.resolve(load().compiler), default_store().folder)
    source = Path(__file__).with_name("StreamsWindows.java")
    return instance(oracle.jvm, "StreamsWindows", [compiler.jar([source], "Kafka Streams", [], [spark])])


@pytest.fixture(params=STREAMS)
def asked(request: pytest.FixtureRequest, oracle: Oracle, host: Any) -> Ask:
    """Return what asks this release: of each key, what StreamsWindows says, where the release has the class."""
    release = request.param
    stored = oracle.resolve([Jar(f"org.apache.kafka:kafka-streams:{release}", STREAMS[release]), *load().jars(release)])
    oracle.jvm.call(lambda: host.open("\n".join(str(each.path) for each in stored)))

    def ask(keys: str, start: int, end: int, count: int) -> list[list[str]]:
        lines = [line.split() for line in str(oracle.jvm.call(lambda: host.ask(keys, start, end, count))).splitlines()]
        assert all((line[2] == "-", line[4] == "-") == (release in EARLY,) * 2 for line in lines)
        return lines

    return ask


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=20),
    start=st.integers(0, 2**42 - 2),
    length=st.integers(1, 2**20),
    count=st.integers(1, 2**31 - 1),
)
def test_kafka_streams_places_windowed_keys_by_the_key_without_the_window(
    asked: Ask, keys: list[bytes], start: int, length: int, count: int
) -> None:
    end = min(start + length, 2**42 - 1)
    lines = asked("\n".join(key.hex() for key in keys), start, end, count)
    for key, (in_time, time_at, in_session, session_at, in_store) in zip(keys, lines, strict=True):
        placed = str(partition_for_key(key, count))
        assert (_part("window", in_time), time_at) == (key, placed)
        assert in_session == "-" or (_part("session-window", in_session), session_at) == (key, placed)
        assert in_store == "-" or _part("window-store", in_store) == key


def _part(view: str, key: str) -> bytes | None:
    return find_view(view).part(bytes.fromhex(key))
