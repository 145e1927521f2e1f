"""Mistakes planted into a client: one request is changed before the proxy receives it, and the gate has to find each.

The proxy's own reader is replaced, so that it records and passes on what a client with this mistake would have sent.
"""

from __future__ import annotations

import asyncio
import random
import struct
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c

from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.wire.broker_gate.runner import BrokerTarget
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.client_gate.runner import ScriptVerdict, run_script
from kafka_conformance.wire.client_gate.script import Script, shipped
from kafka_conformance.wire.client_gate.workload import workload_of
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording import proxy

ADAPTER = Path(__file__).parents[2] / "ci/adapters/confluent_kafka_adapter.py"
PLANTED, SEED, LIMIT_S = 40, 20261129, 12.0
SCRIPTS = {script.id: script for script in shipped()}

Change = Callable[[dict[str, Any]], None]


def batches(fields: dict[str, Any], change: Callable[[bytearray], None]) -> None:
    """Change the batches of a Produce request, and give them the right checksum again."""
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            data = bytearray(partition["records"])
            change(data)
            struct.pack_into(">I", data, 17, crc32c(bytes(data[21:])))
            partition["records"] = bytes(data)


def add(position: int, form: str, by: int) -> Change:
    def change(data: bytearray) -> None:
        (value,) = struct.unpack_from(form, data, position)
        struct.pack_into(form, data, position, value + by)

    return lambda fields: batches(fields, change)


def other_partition(fields: dict[str, Any]) -> None:
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            partition["index"] = (partition["index"] + 1) % 7


def broken_checksum(fields: dict[str, Any]) -> None:
    for topic in fields["topicData"]:
        for partition in topic["partitionData"]:
            partition["records"] = partition["records"][:17] + b"\0\0\0\0" + partition["records"][21:]


def other_value(fields: dict[str, Any]) -> None:
    def change(data: bytearray) -> None:
        data[-2] ^= 1  # the last character of the last value: a record ends with its count of headers

    batches(fields, change)


def ahead(fields: dict[str, Any]) -> None:
    for topic in fields["topics"]:
        for partition in topic["partitions"]:
            partition["committedOffset"] += 1


def skipped(fields: dict[str, Any]) -> None:
    for topic in fields["topics"]:
        for partition in topic["partitions"]:
            partition["fetchOffset"] += 5  # a batch: a client leaves out what is before the offset it wants


MISTAKES: dict[str, tuple[str, str, Change]] = {
    "sequence one too high": ("produce/idempotent", "Produce", add(53, ">i", 1)),
    "sequence one too low": ("produce/idempotent", "Produce", add(53, ">i", -1)),
    "epoch one too high": ("produce/idempotent", "Produce", add(51, ">h", 1)),
    "another producer id": ("produce/idempotent", "Produce", add(43, ">q", 9)),
    "another partition": ("produce/keyed", "Produce", other_partition),
    "a checksum that is wrong": ("produce/plain", "Produce", broken_checksum),
    "another value": ("produce/plain", "Produce", other_value),
    "a commit that is ahead": ("consume/resumed", "OffsetCommit", ahead),
    "a fetch that skips a batch": ("consume/all", "Fetch", skipped),
}


class Planter:
    """Changes the n-th request of an API that can be changed."""

    def __init__(self, api: str, number: int, change: Change) -> None:
        self._api, self._left, self._change = api, number, change
        self.planted = False
        self._clients: weakref.WeakSet[asyncio.StreamReader] = weakref.WeakSet()

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        run, frame = proxy._Connection.run, proxy._frame

        async def noted(connection: proxy._Connection) -> None:
            self._clients.add(connection.reader)
            await run(connection)

        async def read(reader: asyncio.StreamReader) -> bytes | str:
            data = await frame(reader)
            return self._changed(data) if reader in self._clients and isinstance(data, bytes) else data

        patch.setattr(proxy._Connection, "run", noted)
        patch.setattr(proxy, "_frame", read)

    def _changed(self, data: bytes) -> bytes:
        codec = shipped_codec()
        key, version, correlation = struct.unpack_from(">hhi", data)
        if codec.apis[key] != self._api or self.planted:
            return data
        fields = codec.decode_request(self._api, version, data)
        if not fields.get("topics", True):
            return data  # a fetch of a session, which names no partition
        self._left -= 1
        if self._left > 0:
            return data
        self._change(fields)
        self.planted = True
        length = int.from_bytes(data[8:10])
        return codec.encode_request(self._api, version, fields, correlation, data[10 : 10 + length].decode())


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_broker("4.4.0", engine="jars") as started:
        yield started.bootstrap


def judged(address: str, folder: Path, script: Script, planter: Planter) -> tuple[ScriptVerdict, list[str]]:
    workload, target = workload_of(script, SEED), BrokerTarget(*parse_address(address), 30.0, f"gate-{folder.name}")
    try:
        with target.prepared([workload.case]), pytest.MonkeyPatch.context() as patch:
            planter.plant(patch)
            command = [sys.executable, str(ADAPTER)]
            outcome = run_script(script, workload, target, parse_address(address), command, folder, LIMIT_S)
    finally:
        target.close()
    return outcome.verdict, [one.kind for one in outcome.findings]


def test_planted_mistakes_of_a_client_are_found(address: str, tmp_path: Path) -> None:
    draw, survived, count = random.Random(SEED), [], 0
    for number in range(PLANTED):
        name = list(MISTAKES)[number % len(MISTAKES)]
        script, api, change = MISTAKES[name]
        nth = 1 if api == "OffsetCommit" else draw.randint(1, 6 if api == "Produce" else 2)
        (folder := tmp_path / str(number)).mkdir()
        planter = Planter(api, nth, change)
        verdict, kinds = judged(address, folder, SCRIPTS[script], planter)
        count += planter.planted
        if planter.planted and verdict is not ScriptVerdict.DIFFERS:
            survived.append(f"{name} in {api} {nth}: {verdict.value}")
        print(f"{name} in {api} {nth}: {verdict.value} {kinds}")  # shown if the test fails
    assert count >= PLANTED * 0.9
    assert survived == [], f"seed {SEED}"
