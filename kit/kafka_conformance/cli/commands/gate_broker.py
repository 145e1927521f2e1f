"""Judge a broker against Kafka's own brokers, over the wire; needs no Java.

HOST:PORT is the address of a cluster with one broker. The gate sends requests that were also sent to Kafka's brokers of
several releases, and compares the answers. It writes to its own topics alone, and deletes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.cli.commands.gate import event_stream, known_entries, report
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import write_report
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say_error
from kafka_conformance.gate.broker import BrokerPlan, gate_broker
from kafka_conformance.gate.selection import Selection, select
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.broker_gate.case import BrokerCase, frozen
from kafka_conformance.wire.broker_gate.runner import PREFIX, BrokerTarget
from kafka_conformance.wire.broker_gate.transcript import transcript
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.codec.messages import shipped_codec

__all__ = ["run"]


@click.argument("address", metavar="HOST:PORT")
@click.option("--as", "release", default=None, metavar="RELEASE",
              help="The Kafka release to compare with (default: the newest that was recorded).")  # fmt: skip
@click.option("--run", "patterns", multiple=True, metavar="PATTERN",
              help="Run only these cases: an id, or * for any text, as in 'transactions/*'; repeatable.")  # fmt: skip
@click.option("--skip", multiple=True, metavar="PATTERN", help="Leave these cases out; repeatable.")
@options.seed_up_to(None, "the order of the cases")
@click.option("--timeout", default=10.0, type=click.FloatRange(0.1, 3600), show_default=True, metavar="SECONDS",
              help="Longest time for all requests of a case.")  # fmt: skip
@click.option("--i-own-this-cluster", "owned", is_flag=True, help="Run although the cluster has topics of others.")
@click.option("--known-failures", "known", default=None, type=options.FILE, metavar="FILE",
              help="TOML file of the failures that are known.")  # fmt: skip
@click.option("--write-known-failures", "write_known", is_flag=True, help="Write or update the file of known failures.")
@click.option("--transcript", "transcript_file", default=None, type=options.REPORT, metavar="FILE",
              help="Write the cases that differ as Markdown: requests, Kafka's answers, the broker's.")  # fmt: skip
@click.option("--events", default=None, type=options.REPORT, metavar="FILE", help="Write all events as JSON lines.")
@options.reports
@click.option("--github/--no-github", default=None,
              help="Print GitHub annotations and write a job summary (default: only in GitHub Actions).")  # fmt: skip
def run(*, address: str, release: str | None, patterns: Sequence[str], skip: Sequence[str], seed: int, timeout: float,
        owned: bool, known: Path | None, write_known: bool, transcript_file: Path | None, events: Path | None,
        junit: Path | None, markdown: Path | None, html: Path | None, badge: Path | None,
        github: bool | None) -> int:  # fmt: skip
    """Gate one broker; return the exit code."""
    host, port = parse_address(address)
    chosen = _chosen_release(release)
    cases = select("case", frozen().cases, patterns, skip)
    entries = known_entries(known, write=write_known)
    shipped_codec().message("ApiVersionsRequest").encode({}, 0)  # a missing extra is reported before anything is sent
    prefix = f"{PREFIX}{secrets.token_hex(4)}"
    target = BrokerTarget(host, port, timeout, prefix)
    try:
        _check_cluster(target, address, owned=owned)
        _announce(target, address, chosen, cases, prefix)
        plan = BrokerPlan(cases, chosen, seed, address, str(Selection(tuple(patterns), tuple(skip))))
        with event_stream(events) as emit, steps(f"the gate of {address}", len(cases)) as progress:
            gated, outcomes = gate_broker(target, plan, entries, emit, progress)
    finally:
        target.close()
    if transcript_file is not None:
        write_report(
            transcript_file, transcript([each for each in outcomes if each.is_failure], chosen, f"broker {address}")
        )
    write_to = known if write_known else None
    return report(gated, entries, write_to, github, junit=junit, markdown=markdown, html=html, badge=badge)


def _chosen_release(release: str | None) -> str:
    recorded = list(frozen().provenance.jars)
    if release is not None and release not in recorded:
        raise BadInput(f"unknown release {release!r}: answers are recorded for {', '.join(recorded)}")
    return release or recorded[-1]


def _check_cluster(target: BrokerTarget, address: str, *, owned: bool) -> None:
    """Raise KitError for a cluster of several brokers, or one that others use."""
    if (count := target.broker_count()) > 1:
        raise KitError(
            f"the cluster of {address} has {count} brokers: the gate asks one, which has to lead all partitions"
        )
    others = [name for name in target.topic_names() if not name.startswith(PREFIX)]
    if others and not owned:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        raise KitError(
            f"{address} has {plural(len(others), 'topic')} that no gate has made ({shown}): the gate leaves them alone,"
            " but loads the broker; give --i-own-this-cluster to run"
        )


def _announce(target: BrokerTarget, address: str, release: str, cases: Sequence[BrokerCase], prefix: str) -> None:
    count = plural(sum(len(case.topics) for case in cases if target.applies(case, release)), "topic")
    made = f"creates {count}" if target.makes_topics else f"lets the broker create {count}"
    end = "deletes these at the end" if target.deletes_topics else "leaves these: the broker has no DeleteTopics"
    say_error(
        f"gate broker {address}: sends {plural(len(cases), 'case')} recorded from Kafka {release}, {made} {prefix}-*,"
        f" writes to no other topic, and {end}; groups and transactional ids are named {prefix}-*"
    )
