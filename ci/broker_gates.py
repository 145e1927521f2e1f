"""Gate every broker in ``ci/brokers``; record the results, and write them into kit/docs/gate-broker.md and the matrix.

::

    python ci/broker_gates.py                  # all
    python ci/broker_gates.py kfake seaweedfs  # these; results of the others stay
    python ci/broker_gates.py --table          # writes the table from the record; gates nothing

A folder has a ``broker.toml``: what is gated, the release it is compared with, how it is built and started. The program
prints the address it listens on, and runs until SIGTERM. A broker that listens on other addresses than 127.0.0.1 runs in a
network namespace. A broker that cannot be built or started is reported, its results stay, and the exit code is 2.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import matrix
import msgspec

from kafka_conformance.core.events import Severity, from_lines
from kafka_conformance.gate.reports.outline import Outline, outline
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.page_block import write_block
from kafka_jars.store import default_store

__all__ = [
    "FOLDER",
    "RECORD",
    "TABLE",
    "Broker",
    "Kind",
    "Result",
    "main",
    "names",
    "read_broker",
    "read_results",
    "table",
]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "ci" / "brokers"
RECORD = ROOT / "ci" / "broker-results.ndjson"
PAGE = ROOT / "kit" / "docs" / "gate-broker.md"
TABLE = "python ci/broker_gates.py --table"
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
_BUILD_S, _START_S, _GATE_S, _END_S = 600, 180, 600, 30
_WORST = 8
_COLUMNS = ("agree", "differ", "harmless", "not applicable", "not run")


class Broker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A target: what it is, the release that it is compared with, and the commands; ``{built}`` is a folder for builds."""

    name: str
    package: str
    release: str
    start: list[str]
    build: list[list[str]] = []
    skip: list[str] = []
    namespace: bool = False


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Differences of one kind: how many cases, one of them, and in which versions of the request."""

    severity: Severity
    kind: str
    times: int
    example: str
    versions: str = ""


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of a gate, in the order of the table's columns, and its kinds of differences, the worst first."""

    folder: str
    name: str
    package: str
    release: str
    counts: list[int]
    kinds: list[Kind]


@click.command(help=__doc__)
@click.argument("brokers", nargs=-1)
@click.option("--table", "table_alone", is_flag=True, help="Write the table from the record; gate nothing.")
@click.option("--one", "events", type=click.Path(path_type=Path), hidden=True)
def main(brokers: Sequence[str], table_alone: bool, events: Path | None) -> None:
    """Gate these brokers, or all. Exit code 2 if one could not be gated."""
    if unknown := [name for name in brokers if name not in names()]:
        raise click.UsageError(f"unknown broker {unknown[0]!r}: expected one of {', '.join(names())}")
    if table_alone and brokers:
        raise click.UsageError("--table gates nothing: name no broker with it")
    if events is not None:
        _gate_one(brokers[0], events)
        return
    failed = False
    if not table_alone:
        found = {each.folder: each for each in read_results()}
        for name in brokers or names():
            try:
                found[name] = gated(name)
            except (subprocess.SubprocessError, OSError, TimeoutError, ValueError) as error:
                click.echo(f"{name} could not be gated: {error}", err=True)
                failed = True
        RECORD.write_bytes(msgspec.json.Encoder().encode_lines(found[name] for name in names() if name in found))
        matrix.write_pages()
    write_block(PAGE, TABLE, table(read_results()))
    if failed:
        sys.exit(2)


def names() -> list[str]:
    """Return the folders of all brokers, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/broker.toml"))


def read_broker(name: str) -> Broker:
    """Return the description of a broker, with the paths filled in. Raises msgspec.ValidationError."""
    built = Path(default_store().folder, "brokers", name)
    text = (FOLDER / name / "broker.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text.replace("{python}", sys.executable).replace("{built}", str(built)), type=Broker)


def read_results() -> list[Result]:
    """Return the recorded results."""
    return msgspec.json.Decoder(Result).decode_lines(RECORD.read_bytes()) if RECORD.exists() else []


def gated(name: str) -> Result:
    """Build, start and gate a broker. Raises OSError, SubprocessError, TimeoutError, and ValueError without a verdict."""
    broker = read_broker(name)
    Path(default_store().folder, "brokers", name).mkdir(parents=True, exist_ok=True)
    for command in broker.build:
        subprocess.run(command, cwd=FOLDER / name, check=True, timeout=_BUILD_S)
    wrap = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "-"] if broker.namespace else []
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.ndjson"
        subprocess.run(
            [*wrap, sys.executable, __file__, name, "--one", str(events)],
            check=True,
            timeout=_START_S + _GATE_S + 2 * _END_S,  # the limits within, so that the broker is ended too
        )
        result = result_of(name, broker, outline(from_lines(events.read_bytes().splitlines())))
        matrix.record_broker(broker.name, broker.package.rpartition(", ")[2], events)
        return result


def result_of(name: str, broker: Broker, seen: Outline) -> Result:
    """Return what is recorded of a gate. Raises ValueError if it did not end."""
    if seen.ended is None or not seen.ended.asked:
        raise ValueError(seen.ended.why if seen.ended else "the gate did not end")
    harmless = sum(sum(row.ended.harmless.values()) for row in seen.rows if row.ended)
    ended = seen.ended
    counts = [ended.agreed - harmless, ended.differed, harmless, ended.unsupported, ended.not_run]
    kinds: dict[str, Kind] = {}
    for one in (each for row in seen.rows for each in row.differed):
        old = kinds.get(one.kind, Kind(one.severity, one.kind, 0, one.id))
        kinds[one.kind] = Kind(
            min(old.severity, one.severity, key=RANKS.__getitem__), one.kind, old.times + one.times, old.example,
            old.versions or one.versions,
        )  # fmt: skip
    order = sorted(kinds.values(), key=lambda each: (RANKS[each.severity], -each.times, each.kind))
    return Result(name, broker.name, broker.package, broker.release, counts, order)


def table(results: Sequence[Result]) -> str:
    """Return the counts of all brokers, and the worst kinds of each that differs."""
    lines = [
        f"| broker | package | compared with | {' | '.join(_COLUMNS)} |",
        "|---|---|---|" + "---:|" * len(_COLUMNS),
    ]
    lines += [
        f"| {each.name} | {each.package} | {each.release} | {' | '.join(f'{count:,}' for count in each.counts)} |"
        for each in results
    ]
    for each in results:
        if each.kinds:
            lines += ["", f"The worst of {len(each.kinds)} kinds of {each.name}:", ""]
            lines += ["| severity | difference | cases | example | versions |", "|---|---|---:|---|---|"]
            lines += [
                f"| {kind.severity} | {kind.kind} | {kind.times:,} | `{kind.example}` | {kind.versions} |"
                for kind in each.kinds[:_WORST]
            ]
    return "\n".join(lines) + "\n"


def _gate_one(name: str, events: Path) -> None:
    """Gate a broker that is built, and write its events."""
    broker = read_broker(name)
    with started(broker.start, FOLDER / name) as address:
        skip = [word for each in broker.skip for word in ("--skip", each)]
        command = ["gate", "broker", address, "--as", broker.release, "--seed", "1", "--events", str(events), *skip]
        subprocess.run([sys.executable, "-m", "kafka_conformance", *command], check=False, timeout=_GATE_S)


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[str]:
    """Run a broker for as long as the block lasts, and yield its address. Raises TimeoutError without one in time."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        ending = threading.Timer(_START_S, process.kill)
        ending.start()
        try:
            assert process.stdout is not None  # noqa: S101  for the type checker
            address = next((found[0] for line in process.stdout if (found := _ADDRESS.search(line))), None)
            ending.cancel()
            if address is None:
                raise TimeoutError(f"{' '.join(command)} printed no address in {_START_S} s, or ended")
            yield address
        finally:
            ending.cancel()
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


if __name__ == "__main__":
    main()
