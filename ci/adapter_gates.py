"""Gate every client in ``ci/adapters/clients.toml`` on the wire; record the results, and write them as pages.

::

    python ci/adapter_gates.py                    # all; writes ci/adapter-results.ndjson and the pages of the matrix
    python ci/adapter_gates.py sarama kafkajs     # these; results of the others stay
    python ci/adapter_gates.py --run 'lost/*' kafkajs   # some scripts: prints what differs, and writes nothing

``ci/matrix.py`` writes the pages from the record, without a gate.

A client is installed in the cache, where ``ci/clients.py`` installs it for its driver. All clients of a release of Kafka
share a broker of that release. A deviation is *checked* if ``clients.toml`` says what causes it: where in the client's
source, or what Java does. A client that cannot be installed or gated is reported, its results stay, and the exit code is 2.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click
from adapter_results import (
    ADAPTERS,
    STATES,
    Client,
    Deviation,
    Result,
    cause_of,
    read_clients,
    read_results,
    write_results,
)
from client_gates import PARALLEL, ROOT, read, read_driver, stage
from matrix import write_pages

from kafka_conformance.answerers.named_driver import FOLDER as DRIVERS
from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.core.events import RuleEnded
from kafka_conformance.gate.reports.outline import Outline

__all__ = ["main", "result_of"]

SEED: Final = 20261129
_BUILD_S, _GATE_S = 1_800, 3_600


@click.command(help=__doc__)
@click.argument("clients", nargs=-1)
@click.option("--run", "patterns", multiple=True, metavar="PATTERN", help="Only these scripts; nothing is recorded.")
@click.option("--parallel", default=PARALLEL, type=click.IntRange(1), show_default=True, help="Gates at a time.")
@click.option("--built", is_flag=True, help="Do not install the clients: an earlier run has done it.")
@click.option("--traces", default=None, type=click.Path(path_type=Path), help="Keep traces in this folder, by client.")
def main(clients: Sequence[str], patterns: Sequence[str], parallel: int, built: bool, traces: Path | None) -> None:
    """Gate these clients, or all. Exit code 2 if one could not be gated."""
    there = {each.name: each for each in read_clients()}
    if unknown := [name for name in clients if name not in there]:
        raise click.UsageError(f"unknown client {unknown[0]!r}: expected one of {', '.join(there)}")
    failed, new = False, {}
    for name, result in _gate_all([there[name] for name in clients or there], patterns, parallel, traces, built=built):
        failed |= result is None
        if result is not None:
            new[name] = result
    if patterns:
        click.echo("\n".join(_differing(list(new.values()), there)))
    else:
        found = {each.client: each for each in read_results()} | new
        write_results([found[name] for name in there if name in found])
        write_pages()
    sys.exit(2 if failed else 0)


def _differing(results: Sequence[Result], clients: Mapping[str, Client]) -> Iterator[str]:
    """Yield a line for each script that does not agree."""
    for each in results:
        for one in each.deviations:
            cause = cause_of(clients[each.client], one) or "not checked"
            yield f"{each.client}: {one.script}: {one.kind}: {one.what}; cause: {cause}"
        for script, why in each.reasons.items():
            yield f"{each.client}: {script}: {STATES[each.verdicts[script]]}: {why}"


def _gate_all(
    clients: Sequence[Client], patterns: Sequence[str], parallel: int, traces: Path | None, *, built: bool
) -> Iterator[tuple[str, Result | None]]:
    """Install and gate these clients; yield each name, with None where a client could not be gated."""
    folder = stage()
    shutil.copytree(ROOT / ADAPTERS, folder / ADAPTERS, dirs_exist_ok=True)
    with ExitStack() as stack:
        brokers = {
            release: stack.enter_context(running_broker(release, engine="jars")).bootstrap
            for release in sorted({each.kafka for each in clients})
        }
        gates = ThreadPoolExecutor(parallel).map(
            lambda one: _tried(one, folder, brokers[one.kafka], patterns, traces, built=built), clients
        )
        for client, (result, why) in zip(clients, gates, strict=True):
            click.echo(f"{client.name}: {why or ', '.join(_counted(result))}", err=True)
            yield client.name, result


def _tried(
    client: Client, folder: Path, bootstrap: str, patterns: Sequence[str], traces: Path | None, *, built: bool
) -> tuple[Result | None, str]:
    try:
        return _gated(client, folder, bootstrap, patterns, traces, built=built), ""
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        return None, f"could not be gated: {error}"


def _gated(
    client: Client, folder: Path, bootstrap: str, patterns: Sequence[str], traces: Path | None, *, built: bool
) -> Result:
    """Install and gate a client. Raises OSError, SubprocessError, and ValueError without a verdict."""
    driver = read_driver(folder / DRIVERS / client.driver) if client.driver else None
    where = folder / DRIVERS / client.driver if driver else folder / ADAPTERS / client.name
    where.mkdir(parents=True, exist_ok=True)
    for command in [] if built else [*(driver.build if driver else ()), *client.build]:
        subprocess.run(_words(command, folder), cwd=where, check=True, timeout=_BUILD_S)
    selection = [word for pattern in patterns for word in ("--run", pattern)]
    kept = ["--traces", str(traces.resolve() / client.name)] if traces else []
    with tempfile.TemporaryDirectory() as scratch:
        events = Path(scratch) / "events.ndjson"
        subprocess.run(
            [sys.executable, "-m", "kafka_conformance", "gate", "client", "--to", bootstrap, "--seed", str(SEED), *selection,
             *kept, "--events", str(events), "--no-github", "--", *_words(client.command, folder)],
            cwd=where, check=False, timeout=_GATE_S, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return result_of(client, driver.version if driver else client.version, read(events))


def _words(command: Sequence[str], folder: Path) -> list[str]:
    return [word.replace("{adapters}", str(folder / ADAPTERS)).replace("{python}", sys.executable) for word in command]


def result_of(client: Client, version: str, seen: Outline) -> Result:
    """Return what is recorded of a gate. Raises ValueError if it did not end, or judged nothing."""
    if seen.ended is None or not seen.ended.asked:
        raise ValueError(seen.ended.why if seen.ended else "the gate did not end")
    ended = [row.ended for row in seen.rows if row.ended]
    reasons = {_script(each.rule): next(iter(each.reasons)) for each in ended if each.reasons}
    reasons |= {_script(each.rule): next(iter(each.harmless)) for each in ended if each.harmless}
    reasons |= {_script(each.rule): each.what for row in seen.rows for each in row.protocol_errors}
    found = [
        Deviation(one.id, one.kind, one.severity, _stable(one.actual["found"][0]), one.effect)
        for row in seen.rows for one in row.differed
    ]  # fmt: skip
    return Result(
        client.name, version, client.kafka, {_script(each.rule): _state(each) for each in ended}, reasons, found
    )


def _state(ended: RuleEnded) -> str:
    return "harmless" if ended.verdict == "agrees" and ended.harmless else ended.verdict


def _script(rule: str) -> str:
    return rule.removeprefix("client/")


def _stable(what: str) -> str:
    """Return a text without the name of the topic and the id of the producer, which are others in each run."""
    return re.sub(r"producer \d+", "producer N", re.sub(r"[\w-]*?kafka-conformance[\w.-]*?(-\d+\b)", r"topic\1", what))


def _counted(result: Result | None) -> Iterator[str]:
    for state, name in STATES.items():
        yield f"{sum(each == state for each in result.verdicts.values()) if result else 0} {name}"


if __name__ == "__main__":
    main()
