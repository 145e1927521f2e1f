"""Judge what programs sent in a recording of `kafka-conformance record`, and print it.

Judged is what every client has to keep, whatever its settings: checksums, versions that the broker offers, sequences of
idempotent producers and the bytes of what they repeat, requests in flight, commits, heartbeats. Exit code 1: a client did
something that no correct one does. The partition of each key is printed too, but does not affect the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_report
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.event_text import words_of
from kafka_conformance.wire.recording.exchanges import Event, decoded
from kafka_conformance.wire.recording.judge import KINDS, Judge
from kafka_conformance.wire.recording.trace import Head, read_trace
from kafka_conformance.wire.recording.trace_page import TraceTimeline

__all__ = ["run"]

_MOST = 20


@click.argument("path", type=options.FILE, metavar="FILE")
@click.option("--frames", is_flag=True, help="Print a line for each request, response and closed connection.")
@click.option("--html", default=None, type=options.REPORT, metavar="FILE",
              help="Also write one HTML page, with a timeline of the connections.")  # fmt: skip
@click.option("--api", "apis", multiple=True, metavar="API",
              help="With --frames or --html: only this API; repeatable.")  # fmt: skip
@click.option("--connection", default=None, type=click.IntRange(1), metavar="N",
              help="With --frames or --html: only this connection.")  # fmt: skip
@options.as_json
def run(*, path: Path, frames: bool, html: Path | None, apis: tuple[str, ...], connection: int | None, as_json: bool
        ) -> int:  # fmt: skip
    """Print the verdict; return 0 or 1, or 2 if not all can be judged, or nothing. Raises BadInput."""
    codec = shipped_codec()
    if (apis or connection) and not frames and html is None:
        raise BadInput("--api and --connection choose what --frames prints and --html draws: give one of them too")
    if unknown := [api for api in apis if api not in codec.apis.values()]:
        raise BadInput(
            f"--api {unknown[0]}: there is no such API: {did_you_mean(unknown[0], list(codec.apis.values()))}"
        )
    head, lines = read_trace(path)
    judge, timeline = Judge(), TraceTimeline()
    with steps("judging", 1):
        for event in decoded(lines, codec):
            before = len(judge.findings)
            judge.take([event])
            if not _is_chosen(event, apis, connection):
                continue
            if frames and not as_json:
                say(words_of(event, judge.names))
            if html is not None:
                timeline.add(event, judge.names, judge.findings[before:])
    if as_json:
        say_json(_document(head, judge))
    else:
        for line in chain(_findings(judge), _placed(judge), [_verdict(judge)]):
            say(line)
    code = 1 if judge.findings else 2 if not judge.totals.is_judged or judge.totals.undecoded else 0
    if html is not None:
        write_report(html, timeline.page(head, _verdict(judge), code, judge.findings))
    return code


def _is_chosen(event: Event, apis: tuple[str, ...], connection: int | None) -> bool:
    line = getattr(event, "frame", None) or getattr(event, "change", None)
    return (not apis or getattr(line, "api", None) in apis) and connection in {None, getattr(line, "connection", None)}


def _findings(judge: Judge) -> Iterator[str]:
    for kind, meaning in KINDS.items():
        found = [one for one in judge.findings if one.kind == kind]
        if found:
            yield f"{kind}: {plural(len(found), 'time')}. {meaning}"
        for one in found[:_MOST]:
            client = f", client {one.client}" if one.client else ""
            yield f"  {one.at_ms / 1_000:.3f} s, connection {one.connection}{client}: {one.what}"
        if len(found) > _MOST:
            yield f"  and {len(found) - _MOST:,} more: --json lists all"


def _placed(judge: Judge) -> Iterator[str]:
    for topic, one in sorted(judge.placed.items()):
        if one.keyed:
            yield (
                f"{topic}: {one.as_java:,} of {one.keyed:,} records with a key are where Java's default partitioner puts "
                f"them, of {plural(one.partitions, 'partition')}"
            )


def _verdict(judge: Judge) -> str:
    total = judge.totals
    batches = f"{total.batches:,} batches ({total.repeated:,} repeated, {total.refused:,} refused)"
    parts = [
        plural(total.requests, "request"), plural(total.responses, "response"),
        f"{plural(total.records, 'record')} in {batches}",
        plural(total.commits, "committed offset"), plural(total.heartbeats, "heartbeat"),
    ]  # fmt: skip
    if total.unanswered:
        parts.append(f"{total.unanswered:,} without an answer")
    if total.undecoded:
        parts.append(f"not judged: {plural(total.undecoded, 'message')} that cannot be decoded (--frames shows why)")
    if judge.findings:
        word = f"DIFFERS: {plural(len(judge.findings), 'finding')}"
    elif not total.requests and not total.responses:
        word = "nothing to judge: the recording has no frame; the program has to use the address that record prints"
    elif not total.is_judged:
        word = "nothing to judge: no batch, committed offset or heartbeat"
    else:
        word = "not judged in part, no mistake in the rest" if total.undecoded else "no mistake seen"
    return f"{word}; {'; '.join(parts)}"


def _document(head: Head, judge: Judge) -> dict[str, object]:
    return {
        "verdict": "differs" if judge.findings else "not judged" if not judge.totals.is_judged else "no mistake seen",
        "to": head.to, "started": head.started, "findings": judge.findings, "totals": judge.totals,
        "placed": {topic: one for topic, one in judge.placed.items() if one.keyed},
    }  # fmt: skip
