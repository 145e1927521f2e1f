"""Judge a client of any language on the wire, behind a proxy that loses and refuses its requests.

COMMAND starts an adapter: a small program that sends, or reads, what the file in WORKLOAD says, with the client under
test, and writes to RESULTS what became of each record. For each script a real broker, which the kit starts from jars,
gets a new topic; COMMAND runs once. Then everything that it sent, and what is stored, is judged.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import click

from kafka_conformance.brokers.broker import NEWEST, running_broker
from kafka_conformance.cli import options
from kafka_conformance.cli.commands.gate import event_stream, known_entries, report
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_text, write_report
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say, say_error
from kafka_conformance.gate.client import ClientPlan, gate_client
from kafka_conformance.gate.reports.client_transcript import (
    check_ending,
    script_transcript,
    short_lines,
    write_transcripts,
)
from kafka_conformance.gate.selection import Selection, select
from kafka_conformance.wire.broker_gate.runner import PREFIX, BrokerTarget
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.client_gate.cassette import Cassette, cassette_path, read_cassette
from kafka_conformance.wire.client_gate.runner import ScriptOutcome, ScriptVerdict
from kafka_conformance.wire.client_gate.script import Script, generated, read, shipped
from kafka_conformance.wire.client_gate.transcript import java_transcripts
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.addresses import Address
from kafka_conformance.wire.recording.session import check_command
from kafka_jars.scratch import ScratchFolder

__all__ = ["run", "selected_scripts"]

_ADMIN_S = 30.0
_REPEATED = {"--to": None, "--kafka": NEWEST, "--generate": 0, "--timeout": 60.0, "--scripts": None, "--cassettes": None,
             "--record-cassettes": None}  # fmt: skip
"""The options that the command to run a script again has, if they are not at their defaults."""


@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--kafka", default=NEWEST, show_default=True, metavar="RELEASE",
              help="Start a broker of this exact release from jars.")  # fmt: skip
@click.option("--to", "address", default=None, metavar="HOST:PORT",
              help="Use this broker in place of one of the kit's; its cluster has no other.")  # fmt: skip
@click.option("--run", "patterns", multiple=True, metavar="PATTERN",
              help="Run only these scripts: an id, or * for any text, as in 'lost/*'; repeatable.")  # fmt: skip
@click.option("--skip", multiple=True, metavar="PATTERN", help="Leave these scripts out; repeatable.")
@click.option("--generate", default=0, type=click.IntRange(0, 100_000), show_default=True, metavar="N",
              help="Add N scripts of producers that are drawn from the seed.")  # fmt: skip
@click.option("--list", "listed", is_flag=True, help="Print the scripts and run nothing.")
@options.seed_up_to(None, "keys, values and generated scripts")
@click.option("--timeout", default=60.0, type=click.FloatRange(1, 3600), show_default=True, metavar="SECONDS",
              help="End COMMAND after this time, in each script.")  # fmt: skip
@click.option("--traces", default=None, type=options.FILE, metavar="FOLDER",
              help="Keep the trace, the workload and the results of each script here.")  # fmt: skip
@click.option("--scripts", "file", default=None, type=options.FILE, metavar="FILE",
              help="Run the scripts of this TOML file, in place of those that ship.")  # fmt: skip
@click.option("--shrink", default=0, type=click.IntRange(0, 1_000), show_default=True, metavar="N",
              help="Run a script that differs up to N times more for each kind of finding, with fewer faults and records, "
                   "and report the smallest script that has it. Needs --traces, which receives that.")  # fmt: skip
@click.option("--record-cassettes", "record", default=None, type=options.FILE, metavar="FOLDER",
              help="Write what the broker answered in each script here, for --cassettes.")  # fmt: skip
@click.option("--cassettes", "replayed", default=None, type=options.FILE, metavar="FOLDER",
              help="Replay these recordings in place of a broker, without Java. A script in which COMMAND sends something "
                   "else is run on the broker of --to, or could not be judged.")  # fmt: skip
@click.option("--transcript", default=None, type=options.REPORT, metavar="FILE",
              help="Write what COMMAND sent and got in each script that differs, beside what Java's client sent and got in "
                   "the same script, as Markdown or HTML by the ending of the file.")  # fmt: skip
@click.option("--known-failures", "known", default=None, type=options.FILE, metavar="FILE",
              help="TOML file of the failures that are known.")  # fmt: skip
@click.option("--write-known-failures", "write_known", is_flag=True, help="Write or update the file of known failures.")
@click.option("--events", default=None, type=options.REPORT, metavar="FILE", help="Write all events as JSON lines.")
@options.reports
@click.option("--github/--no-github", default=None,
              help="Print GitHub annotations and write a job summary (default: only in GitHub Actions).")  # fmt: skip
def run(*, command: Sequence[str], kafka: str, address: str | None, patterns: Sequence[str], skip: Sequence[str],
        generate: int, listed: bool, seed: int, timeout: float, traces: Path | None, file: Path | None, shrink: int,
        record: Path | None, replayed: Path | None, transcript: Path | None, known: Path | None, write_known: bool,
        events: Path | None, junit: Path | None, markdown: Path | None, html: Path | None, badge: Path | None,
        github: bool | None) -> int:  # fmt: skip
    """Gate one client; return the exit code."""
    if transcript is not None:
        check_ending(transcript)
    drawn = generated(generate, seed)
    given = read(read_text(file)) if file is not None else shipped()
    if shrink and traces is None:
        raise BadInput("--shrink needs --traces FOLDER, which receives the smallest scripts")
    scripts = selected_scripts([*given, *drawn], patterns, skip, always=[script.id for script in drawn])
    if listed:
        for script in scripts:
            say(f"{script.id}: {script.title}")
        return 0
    if not command:
        raise BadInput("no COMMAND: name the program to judge after --, as in gate client -- python adapter.py")
    check_command(command)
    if address is not None and kafka != NEWEST:
        raise BadInput("--kafka starts a broker, and --to names one: give one of them")
    entries = known_entries(known, write=write_known)
    if address is not None and any(entry.release for entry in entries.entries):
        raise BadInput(f"{known} has entries for a release, and that of the broker of --to is not known")
    shipped_codec().message("ApiVersionsRequest").encode({}, 0)  # a missing extra is reported before a broker starts
    cassettes = None
    if replayed is not None:
        cassettes = {script.id: read_cassette(cassette_path(replayed, script)) for script in scripts}
    with ScratchFolder() as scratch, _target(kafka, address, cassettes) as (target, to, release):
        chosen = Selection(tuple(patterns), tuple(skip))
        again = {"--to": address, "--kafka": kafka, "--generate": generate, "--timeout": timeout, "--scripts": file,
                 "--cassettes": replayed, "--record-cassettes": record}  # fmt: skip
        changed = {name: str(value) for name, value in again.items() if value != _REPEATED[name]}
        plan = ClientPlan(scripts, command, release, seed, timeout, traces or scratch, str(chosen), changed, shrink,
                          cassettes, record)  # fmt: skip
        with event_stream(events) as emit, steps("the gate of a client", len(scripts)) as progress:
            gated, outcomes = gate_client(target, to, plan, entries, emit, progress)
        if transcript is not None:
            _write_transcript(transcript, plan, outcomes)
    write_to = known if write_known else None
    return report(gated, entries, write_to, github, junit=junit, markdown=markdown, html=html, badge=badge)


def _write_transcript(path: Path, plan: ClientPlan, outcomes: Sequence[ScriptOutcome]) -> None:
    """Write the scripts that differ beside Java's, and print the first difference of each."""
    java = java_transcripts()
    differing = [each for each in outcomes if each.verdict is ScriptVerdict.DIFFERS]
    found = [script_transcript(each, plan.folder(each.script.id), java) for each in differing]
    for line in short_lines(found, java.release):
        say(line)
    write_report(path, write_transcripts(path, found, java.release, f"client {shlex.join(plan.command)}"))


@contextmanager
def _target(
    kafka: str, address: str | None, cassettes: Mapping[str, Cassette | None] | None
) -> Iterator[tuple[BrokerTarget | None, Address, str]]:
    """Return the broker, if there is one, its address, and its release as far as it is known."""
    recorded = {one.head.broker for one in (cassettes or {}).values() if one is not None}
    if len(recorded) > 1:
        raise BadInput(f"the cassettes are of several brokers: {', '.join(sorted(recorded))}; name a folder for each")
    if cassettes is not None and address is None:
        yield None, ("", 0), next(iter(recorded), "no broker")
        return
    with _broker(kafka, address) as (bootstrap, release):
        host, port = parse_address(bootstrap)
        target = BrokerTarget(host, port, _ADMIN_S, f"{PREFIX}{secrets.token_hex(4)}")
        try:
            yield target, (host, port), release
        finally:
            target.close()


@contextmanager
def _broker(kafka: str, address: str | None) -> Iterator[tuple[str, str]]:
    """Return the address of the broker, and its release as far as it is known."""
    if address is not None:
        yield address, f"broker {address}"
        return
    say_error("starting a broker")
    with running_broker(kafka, engine="jars") as broker:
        yield broker.bootstrap, broker.release


def selected_scripts(
    scripts: Sequence[Script], patterns: Sequence[str], skip: Sequence[str], always: Sequence[str] = ()
) -> list[Script]:
    """Return the scripts that match one of ``patterns``, or any without them, and none of ``skip``. Raises BadInput.

    Those that are ``always`` run are added, unless a pattern selects among them.
    """
    if patterns and not any(fnmatchcase(name, pattern) for name in always for pattern in patterns):
        patterns = [*patterns, *always]
    return select("script", scripts, patterns, skip)
