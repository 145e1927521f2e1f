"""The gate of clients: runs scripts, and reports in the events of a gate.

A script, ``lost/response-idempotent``, is a rule ``client/lost/response-idempotent`` in these events that is asked one
question. Each kind of finding is a difference; a script agrees, as harmless, where only an order differs that the client
does not promise. A script is unsupported if the adapter refuses it, and errored if it could not be judged.

The exit code: 1 if a script differs that is not known, or an entry of the known failures is wrong; else 2 if nothing was
judged or a script could not be; else 0.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import OffScript
from kafka_conformance.core.events import (
    Began,
    Differed,
    Ended,
    Event,
    Known,
    ProtocolError,
    RuleBegan,
    RuleEnded,
    Severity,
    Target,
    Verdict,
)
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.gate.known_failures import KnownFailures, Miss, invalid_entries
from kafka_conformance.gate.runner import GateResult
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.broker_gate import runner as broker_runner
from kafka_conformance.wire.client_gate import runner
from kafka_conformance.wire.client_gate.cassette import Cassette, cassette_path
from kafka_conformance.wire.client_gate.promises import PromiseDifference
from kafka_conformance.wire.client_gate.runner import Recording, ScriptOutcome, meaning, replay_script, run_script
from kafka_conformance.wire.client_gate.script import Script, shipped, steady
from kafka_conformance.wire.client_gate.shrinking import as_toml, shrunk
from kafka_conformance.wire.client_gate.workload import workload_of
from kafka_conformance.wire.recording.addresses import Address

__all__ = ["ClientPlan", "gate_client", "rule_of"]

_HIGH = frozenset({
    "commit-beyond", "delivered-hidden", "delivered-out-of-order", "lost", "no-end", "not-delivered", "sequence-reused",
    "stored-altered", "stored-elsewhere", "stored-out-of-order", "stored-twice",
})  # fmt: skip

_AT_ONCE = 3
"""Scripts that are replayed at the same time: during most of a replay, the client starts or waits."""

_AGREES = "Kafka's own client agrees"
_NOT_RUN = "Kafka's own client was not run on this script"
_HINT = "fix the adapter, or run with --traces FOLDER to see the requests"


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """What to run: the scripts, the adapter's command, the release of the broker, and the seed of keys and values.

    ``options`` are those that a command needs to run a script again; ``shrink`` is how often a script that differs is run
    again for each kind of finding, to find the smallest that has it.
    """

    scripts: Sequence[Script]
    command: Sequence[str]
    release: str
    seed: int
    limit_s: float
    traces: Path
    selection: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    shrink: int = 0
    cassettes: Mapping[str, Cassette | None] | None = None
    """What is replayed in place of a broker, by script."""
    record: Path | None = None
    """The folder that receives cassettes."""

    def folder(self, name: str) -> Path:
        """Return where the trace, the workload and the results of a run are."""
        return self.traces / name.replace("/", "-")

    def again(self, script: Script, file: Path | None = None) -> str:
        """Return the command that runs a script again, from ``file`` if it is there, without the name of the program."""
        options = dict(self.options)
        if file is not None:
            options.pop("--generate", None)
            options["--scripts"] = str(file)
        words = [word for option in options.items() for word in option]
        seed = [] if self.cassettes is not None else ["--seed", str(self.seed)]
        return shlex.join(["gate", "client", *words, "--run", script.id, *seed, "--", *self.command])


def gate_client(target: broker_runner.BrokerTarget | None, address: Address, plan: ClientPlan, known: KnownFailures,
                emit: Callable[[Event], None], progress: Steps) -> tuple[GateResult, list[ScriptOutcome]]:  # fmt: skip
    """Run all scripts, each in its own topic, and emit each event. There may be no target where there are cassettes.

    Returns the outcomes too, in the order of the scripts, without those of smaller scripts.

    Raises BrokerLost, KitError and BadInput if the topics cannot be made or deleted, the command cannot be started, or
    the broker is gone.
    """
    result, begun = GateResult(), time.monotonic()

    def record(event: Event) -> None:
        result.events.append(event)
        emit(event)

    client = Target(f"client {shlex.join(plan.command)}", "", "", f"gate client -- {shlex.join(plan.command)}")
    rules = tuple(map(rule_of, plan.scripts))
    record(Began(kit_version(), client, (plan.release,), rules, plan.seed, 0, (), plan.selection))
    ended, outcomes = [], []
    prepared = target.prepared([]) if target is not None else nullcontext()
    with prepared, _runs_of(target, address, plan, progress) as runs:
        for script, run in zip(plan.scripts, runs, strict=True):
            record(RuleBegan(rule_of(script), plan.release, "exact", 1))
            outcome, seconds = run.ahead.result() if run.ahead else run.timed(script)
            outcomes.append(outcome)
            ended.append(_judge(outcome, plan, run, seconds, known, record, result))
            progress.advance()
    known.partial, known.whole = known.partial or bool(plan.selection), True
    wrong = known.wrong()
    for stale in wrong:
        record(stale)
    record(_ended(ended, len(wrong), time.monotonic() - begun))
    return result, outcomes


@contextmanager
def _runs_of(
    target: broker_runner.BrokerTarget | None, address: Address, plan: ClientPlan, progress: Steps
) -> Iterator[list[_Runs]]:
    """Return what runs each script. Without a broker, some are replayed at the same time, ahead of their results."""
    stop = runner.Stop()
    runs = [_Runs(target, address, plan, progress, script.id, stop) for script in plan.scripts]
    if target is not None:
        yield runs
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for script, run in zip(plan.scripts, runs, strict=True):
            run.ahead = pool.submit(run.timed, script)
        try:
            yield runs
        except BaseException:
            interrupts.acknowledge()  # else it is raised again while the programs are ended
            pool.shutdown(wait=False, cancel_futures=True)
            stop.stop()
            raise


def rule_of(script: Script) -> str:
    """Return the name of a script in events: ``client/produce/plain``."""
    return f"client/{script.id}"


@dataclass
class _Runs:
    """Runs a script and smaller ones, each with a topic of its own, and the workload of the same draw."""

    target: broker_runner.BrokerTarget | None
    address: Address
    plan: ClientPlan
    progress: Steps
    name: str
    stop: runner.Stop
    count: int = 0
    ahead: Future[tuple[ScriptOutcome, float]] | None = None

    def timed(self, script: Script) -> tuple[ScriptOutcome, float]:
        """Run a script, and return its outcome and the seconds that it took."""
        before = time.monotonic()
        return self(script), time.monotonic() - before

    def __call__(self, script: Script) -> ScriptOutcome:
        """Run a script, from its cassette if that is asked for and it has one. Raises as :func:`run_script` does."""
        case_id = f"{self.name}-{self.count}" if self.count else self.name
        self.count += 1
        self.progress.doing(case_id)
        plan, recording = self.plan, None
        if plan.cassettes is not None:
            try:
                return self._replayed(steady(script), plan.cassettes.get(script.id))
            except OffScript as error:
                if self.target is None:
                    return ScriptOutcome(script, runner.ScriptVerdict.NOT_JUDGED, str(error))
        assert self.target is not None  # noqa: S101
        if plan.record is not None:
            script = steady(script)
            recording = (
                Recording(cassette_path(plan.record, script), plan.release, plan.seed) if self.count == 1 else None
            )
        workload = workload_of(script, self.plan.seed)
        workload = replace(workload, case=msgspec.structs.replace(workload.case, id=case_id))
        self.target.make([workload.case])
        folder = plan.folder(case_id)
        return run_script(script, workload, self.target, self.address, plan.command, folder, plan.limit_s, recording)

    def _replayed(self, script: Script, cassette: Cassette | None) -> ScriptOutcome:
        """Raise OffScript if the cassette does not fit what the client does."""
        if cassette is None:
            raise OffScript("there is no cassette: record one with --record-cassettes")
        workload, folder = workload_of(script, cassette.head.seed), self.plan.folder(self.name)
        return replay_script(script, workload, cassette, self.plan.command, folder, self.stop)

    def smallest(self, script: Script, kind: str) -> tuple[Script, int]:
        """Return the smallest script that has a finding of this kind, and how many runs that took."""
        return shrunk(script, kind, lambda smaller: {each.kind for each in self(smaller).findings}, self.plan.shrink)


def _judge(outcome: ScriptOutcome, plan: ClientPlan, run: _Runs, seconds: float, known: KnownFailures,
           record: Callable[[Event], None], result: GateResult) -> RuleEnded:  # fmt: skip
    script, rule = outcome.script, rule_of(outcome.script)
    known.asked(rule, plan.release, [script.id])
    kinds: dict[str, list[PromiseDifference]] = {}
    for found in outcome.findings:
        kinds.setdefault(found.kind, []).append(found)
    covered = 0
    for kind, alike in kinds.items():
        actual = {"found": [each.what for each in alike[:20]]}
        cover = known.covers(Miss(rule, plan.release, script.id, kind, actual, lambda _: False))
        covered += cover is not None
        smallest, by = script, plan.again(script)
        if cover is None and plan.shrink:
            smallest, runs = run.smallest(script, kind)
            actual = {**actual, "smallest": [f"of {plural(runs, 'more run')}"]}
            file = plan.traces / f"{script.id.replace('/', '-')}-{kind}.toml"
            write_whole(file, as_toml(smallest).encode())
            by = plan.again(script, file)
        event = _differed(script, smallest, plan, kind, len(alike), actual, cover, by)
        if cover is None:
            result.unknown.append((event, ""))
        record(event)
    agrees, is_known = outcome.verdict is runner.ScriptVerdict.AGREES, bool(kinds) and covered == len(kinds)
    refuses, failed = (
        outcome.verdict is runner.ScriptVerdict.NOT_APPLICABLE,
        outcome.verdict is runner.ScriptVerdict.NOT_JUDGED,
    )
    verdict: Verdict = "agrees" if agrees else "known" if is_known else "unsupported" if refuses else "differs"
    if failed:
        verdict = "errored"
        record(ProtocolError(rule, plan.release, "could not judge", outcome.why, _HINT, by=plan.again(script)))
    event_of_end = RuleEnded(
        rule, plan.release, "exact", verdict, int(not refuses), int(agrees), int(verdict == "differs"), int(is_known),
        int(failed), int(refuses), int(not refuses), 0, 0, round(seconds, 3),
        reasons={outcome.why: 1} if refuses else {},
        harmless={outcome.harmless: 1} if outcome.harmless else {},
    )  # fmt: skip
    record(event_of_end)
    return event_of_end


def _differed(script: Script, smallest: Script, plan: ClientPlan, kind: str, times: int, actual: dict[str, list[str]],
              cover: Known | None, by: str) -> Differed:  # fmt: skip
    severity: Severity = "critical" if kind == "key-elsewhere" else "high" if kind in _HIGH else "medium"
    return Differed(
        rule_of(script), plan.release, script.id, "frozen", kind, times, msgspec.to_builtins(smallest), {"found": []},
        actual, _AGREES if smallest in shipped() else _NOT_RUN, script.about, known=cover, severity=severity,
        effect=meaning(kind), by=by,
    )  # fmt: skip


def _ended(ended: Sequence[RuleEnded], stale: int, seconds: float) -> Ended:
    """Return the verdict."""
    asked, agreed = sum(each.asked for each in ended), sum(each.agreed for each in ended)
    differed, known = sum(each.differed for each in ended), sum(each.known for each in ended)
    refused, failed = sum(each.unsupported for each in ended), sum(each.failed for each in ended)
    if differed or stale:
        parts = [f"{differed:,} of {asked - failed:,} scripts differ"] if differed else []
        parts += [invalid_entries(stale)] if stale else []
        code, why = 1, ", and ".join(parts)
    elif asked == failed:
        code, why = 2, "nothing was judged"
    else:
        code, why = 2 if failed else 0, f"{agreed:,} of {asked - failed:,} scripts agree"
        why += f", {known:,} known failures" if known else ""
    why += f"; {refused:,} more do not apply" if refused else ""
    why += f"; {failed:,} could not be judged" if failed else ""
    return Ended(
        code, why, asked, agreed, differed, known, failed, refused, round(seconds, 3), agreed, len(ended), 0, asked
    )  # fmt: skip
