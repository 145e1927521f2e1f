"""Run one script: its topic, the proxy, the client's adapter, and the judges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

import msgspec

from kafka_conformance.core.errors import BadInput, BrokerLost, KitError, OffScript
from kafka_conformance.core.files import read_bytes, write_whole
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.broker_gate.runner import BrokerTarget, CaseVerdict
from kafka_conformance.wire.client_gate import promises
from kafka_conformance.wire.client_gate.cassette import (
    FORMAT,
    Cassette,
    CassetteHead,
    digest,
    write_cassette,
)
from kafka_conformance.wire.client_gate.log import LogRecord, committed_offsets, read_log
from kafka_conformance.wire.client_gate.promises import PromiseDifference, ResultLine, Results
from kafka_conformance.wire.client_gate.replay import Player
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.client_gate.workload import Workload
from kafka_conformance.wire.codec.messages import error_codes, shipped_codec
from kafka_conformance.wire.recording.addresses import Address
from kafka_conformance.wire.recording.exchanges import decoded
from kafka_conformance.wire.recording.judge import KINDS as WIRE_KINDS
from kafka_conformance.wire.recording.judge import Judge
from kafka_conformance.wire.recording.proxy import Proxy
from kafka_conformance.wire.recording.session import Tail, record_until
from kafka_conformance.wire.recording.trace import Frame, create_trace, read_trace

__all__ = ["REFUSED", "Recording", "ScriptOutcome", "ScriptVerdict", "Stop", "meaning", "replay_script", "run_script"]

REFUSED: Final = 77
"""The exit code of an adapter whose client does not have what a script asks for."""

Stored: TypeAlias = tuple[list[LogRecord], dict[int, int]]
"""The records of a topic, and what a group has committed, by partition."""

_READ_S = 30.0
_LONGEST_RESULTS = 64 * 2**20


class ScriptVerdict(Enum):
    """What became of a script."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_APPLICABLE = "not applicable"
    NOT_JUDGED = "could not judge"


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """The verdict on a script, why it was not judged, what is wrong, what passed the proxy, and what differs harmlessly."""

    script: Script
    verdict: ScriptVerdict
    why: str = ""
    findings: tuple[PromiseDifference, ...] = ()
    requests: int = 0
    harmless: str = ""


def meaning(kind: str) -> str:
    """Return what a kind of finding means."""
    return {**promises.KINDS, **WIRE_KINDS}[kind]


class Stop:
    """Ends scripts that run in other threads, such as after Ctrl-C."""

    def __init__(self) -> None:
        self._lock, self._stopped = Lock(), False
        self._recording: list[tuple[Proxy, asyncio.AbstractEventLoop]] = []

    @contextmanager
    def watching(self, proxy: Proxy) -> Iterator[None]:
        """Let :meth:`stop` end what this thread records in this block, with a KitError."""
        one = proxy, asyncio.get_running_loop()
        with self._lock:
            self._recording.append(one)
            if self._stopped:
                proxy.fail(KitError("interrupted"))
        try:
            yield
        finally:
            with self._lock:
                self._recording = [other for other in self._recording if other is not one]

    def stop(self) -> None:
        """End all recordings, also those that begin later."""
        with self._lock:
            self._stopped = True
            for proxy, loop in self._recording:
                loop.call_soon_threadsafe(proxy.fail, KitError("interrupted"))


@dataclass(frozen=True, slots=True)
class Recording:
    """Where a cassette is written, and what its head says of the gate."""

    path: Path
    broker: str
    seed: int


def run_script(
    script: Script, workload: Workload, target: BrokerTarget, address: Address, command: Sequence[str], folder: Path,
    limit_s: float, recording: Recording | None = None,
) -> ScriptOutcome:  # fmt: skip
    """Run a script whose topic is there; ``folder`` receives its files, and a cassette is written if it is judged.

    Raises BadInput if the command cannot be started, BrokerLost if the broker is gone, and KitError.
    """
    topic = target.token(workload.case)
    script = msgspec.structs.replace(script, partitions=target.partition_count(workload.case))
    wrote = target.run(workload.case)
    if wrote.verdict is CaseVerdict.NOT_APPLICABLE:
        return ScriptOutcome(script, ScriptVerdict.NOT_APPLICABLE, wrote.why)
    if (codes := set(error_codes(wrote.raw))) or wrote.why:
        why = wrote.why or f"error {min(codes)}"
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, f"the records of the script cannot be written: {why}")
    run, started_ms = _Run(script, workload, topic, command, folder, limit_s), int(time.time() * 1_000)
    frames: list[Frame] | None = [] if recording else None
    stored = cache(lambda: _stored(address, topic, script))
    outcome = run.outcome(address, stored, frames)
    if recording is None or frames is None or outcome.verdict is ScriptVerdict.NOT_JUDGED or not run.ended:
        return outcome
    log, committed = (None, {}) if run.refused else stored()
    client = next((one.client for one in frames if one.client), "")
    write_cassette(recording.path, CassetteHead(
        FORMAT, kit_version(), recording.broker, started_ms, script, recording.seed, digest(workload), limit_s, topic,
        client, outcome.verdict.value, len(frames), log, committed,
    ), frames)  # fmt: skip
    return outcome


def replay_script(
    script: Script,
    workload: Workload,
    cassette: Cassette,
    command: Sequence[str],
    folder: Path,
    stop: Stop | None = None,
) -> ScriptOutcome:
    """Run a script with a cassette in place of a broker.

    If the client goes off script, only what it sent is judged. Raises OffScript if nothing is wrong with that, or if the
    cassette is void; KitError after ``stop``.
    """
    cassette.check(script, workload)
    head, player = cassette.head, Player(cassette)

    def stored() -> Stored:
        player.check()
        if head.log is None:
            raise OffScript(f"off script: the recording ended as {head.verdict!r}")
        return head.log, head.committed

    run = _Run(script, workload, head.topic, command, folder, head.limit_s, stop or Stop())
    return run.outcome(("cassette", 0), stored, None, player)


@dataclass
class _Run:
    """A client that runs behind a proxy; whether it ``ended`` by itself, and ``refused`` the script."""

    script: Script
    workload: Workload
    topic: str
    command: Sequence[str]
    folder: Path
    limit_s: float
    stop: Stop = field(default_factory=Stop)
    ended: bool = False
    refused: bool = False

    def outcome(
        self, address: Address, stored: Callable[[], Stored], frames: list[Frame] | None, player: Player | None = None
    ) -> ScriptOutcome:
        """Run the client and judge it. Raises OffScript if ``player`` or ``stored`` do."""
        script, folder, tail = self.script, self.folder, Tail()
        lines = b"".join(msgspec.json.encode(line) + b"\n" for line in self.workload.lines)
        write_whole(folder / "workload.ndjson", lines)
        write_whole(folder / "results.ndjson", b"")
        environment = {
            **script.settings.environment(), "TOPIC": self.topic, "GROUP": f"{self.topic}-g", "CLIENT_ID": script.id,
            "WORKLOAD": str(folder / "workload.ndjson"), "RESULTS": str(folder / "results.ndjson"),
            "TIMEOUT_MS": str(int(self.limit_s * 500)),  # half of the limit: the client gives up before it is ended
        }  # fmt: skip
        with create_trace(folder / "trace", f"{address[0]}:{address[1]}") as file:
            proxy = Proxy(address, file, None, script.faults, script.limits, passed=frames)
            proxy.stops = frames is not None or player is not None
            code = asyncio.run(_run(proxy, self.command, environment, self.limit_s, tail, player, self.stop))
        self.ended, self.refused = code is not None, code == REFUSED
        if player is not None and player.failure is not None:
            judge = _judge_of(folder)
            findings = tuple(PromiseDifference(one.kind, one.what) for one in judge.findings)
            if not findings:
                raise player.failure
            return ScriptOutcome(script, ScriptVerdict.DIFFERS, "", findings, judge.totals.requests)
        return _judged(script, self.workload, proxy, code, tail.text, folder, stored)


async def _run(
    proxy: Proxy,
    command: Sequence[str],
    environment: Mapping[str, str],
    limit_s: float,
    tail: Tail,
    player: Player | None,
    stop: Stop,
) -> int | None:
    """Return the exit code, None if the client was ended."""
    bootstrap = f"127.0.0.1:{await proxy.listen(0)}"
    try:
        if player is not None:
            proxy.stand_in = await player.listen(proxy.fail)
        with stop.watching(proxy):
            return await record_until(proxy, command, {**environment, "BOOTSTRAP": bootstrap}, limit_s, tail)
    except (TimeoutError, OffScript):
        return None
    finally:
        if player is not None:
            await player.close()


def _stored(address: Address, topic: str, script: Script) -> Stored:
    log = read_log(address, topic, script.partitions, _READ_S)
    if script.is_producer:
        return log, {}
    return log, committed_offsets(address, f"{topic}-g", topic, script.partitions, _READ_S)


def _judge_of(folder: Path) -> Judge:
    judge = Judge()
    judge.take(decoded(read_trace(folder / "trace")[1], shipped_codec()))
    return judge


def _judged(
    script: Script, workload: Workload, proxy: Proxy, code: int | None, output: str, folder: Path,
    stored: Callable[[], Stored],
) -> ScriptOutcome:  # fmt: skip
    last = output.splitlines()[-1] if output else "it printed nothing"
    if code == REFUSED:
        return ScriptOutcome(script, ScriptVerdict.NOT_APPLICABLE, last)
    if not proxy.frames:
        why = "the client sent nothing: it has to connect to the address in BOOTSTRAP"
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, f"{why}; {last}" if output else why)
    if code:
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, f"the adapter ended with exit code {code}: {last}")
    try:
        results = Results(_read_results(folder / "results.ndjson"))
    except BadInput as error:
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, str(error))
    if wrong := _contradiction(workload, results):
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, wrong)
    return _compared(script, workload, proxy, _judge_of(folder), results, stored, ended=code is not None)


def _compared(
    script: Script, workload: Workload, proxy: Proxy, judge: Judge, results: Results, stored: Callable[[], Stored], *,
    ended: bool,
) -> ScriptOutcome:  # fmt: skip
    """Compare the results with what passed and what is stored. Raises BrokerLost, OffScript."""
    findings = [PromiseDifference(one.kind, one.what) for one in judge.findings]
    if not ended:
        reported = sum(one.record >= 0 or one.partition >= 0 for one in results.lines)
        of = len(workload.records) if script.is_producer else script.consume[-1]
        findings.append(PromiseDifference("no-end", f"{reported:,} of {plural(of, 'record')} have a line in RESULTS"))
    try:
        log, committed = stored()
    except BrokerLost:
        raise
    except KitError as error:  # what cannot be read may be what the client sent
        if isinstance(error, OffScript) and not findings:
            raise
        verdict, why = (ScriptVerdict.DIFFERS, "") if findings else (ScriptVerdict.NOT_JUDGED, str(error))
        return ScriptOutcome(script, verdict, why, tuple(findings), judge.totals.requests)
    if script.is_producer:
        findings += promises.judge_producer(script, workload.records, results, log, judge.indivisible)
    else:
        findings += promises.judge_consumer(script, workload.records, results, log, committed, ended=ended)
    harmless = next(
        (f"{one.kind}, an order that the client does not promise: {one.what}" for one in findings if one.harmless), ""
    )
    if found := tuple(one for one in findings if not one.harmless):
        return ScriptOutcome(script, ScriptVerdict.DIFFERS, "", found, judge.totals.requests)
    if results.failed and judge.indivisible:
        why = "the batch that was refused as too large has one record: Java's client does not deliver that either"
        return ScriptOutcome(script, ScriptVerdict.NOT_APPLICABLE, why)
    if why := _unjudged(script, workload, results, proxy, judge):
        return ScriptOutcome(script, ScriptVerdict.NOT_JUDGED, why)
    return ScriptOutcome(script, ScriptVerdict.AGREES, requests=judge.totals.requests, harmless=harmless)


def _contradiction(workload: Workload, results: Results) -> str:
    """Return what in the results is a mistake of the adapter, whatever the client did."""
    known = {record.number for record in workload.records}
    for line in results.lines:
        if line.record >= 0 and line.record not in known:
            return f"RESULTS has a line for record {line.record}, which WORKLOAD does not have"
    if both := sorted({*results.acknowledged} & {*results.failed}):
        return f"RESULTS has record {both[0]} as acknowledged and as failed"
    return ""


def _unjudged(script: Script, workload: Workload, results: Results, proxy: Proxy, judge: Judge) -> str:
    """Return why a script without a finding has not judged the client."""
    if unused := proxy.unused():
        return "; ".join(unused)
    if judge.totals.undecoded:
        return f"{plural(judge.totals.undecoded, 'message')} cannot be decoded: --traces FOLDER keeps them"
    if script.is_producer:
        for record in workload.records:
            if record.number not in results.acknowledged and record.number not in results.failed:
                return f"RESULTS has no line for record {record.number}"
    return ""


def _read_results(path: Path) -> list[ResultLine]:
    """Return what the adapter has written. Raises BadInput."""
    found = []
    decoder = msgspec.json.Decoder(ResultLine)
    for number, line in enumerate(read_bytes(path, _LONGEST_RESULTS).splitlines(), 1):
        try:
            if line.strip():
                found.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise BadInput(f"RESULTS line {number} is not a valid result: {error}") from error
    return found
