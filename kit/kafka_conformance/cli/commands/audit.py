"""Find which rule placed each record of a topic, and what that breaks for joins; or repair the topic.

Exit code 0: every key is where it is expected; 1: some are not, or lie in several partitions in different
frames (--key-format); 2: it could not be judged, or has too few distinct keys to tell which rule placed them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.cli.audit_broker import BrokerOptions, broker_options
from kafka_conformance.cli.audit_engine import engine_option, local_source
from kafka_conformance.cli.audit_scope import Scope, scope_options
from kafka_conformance.cli.audit_segments import SegmentOptions, segment_options, with_segments
from kafka_conformance.cli.audit_source import Given, how_to_resume, open_session, source_of
from kafka_conformance.cli.repair_options import RepairOptions, repair_options
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_report
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.core.streams import say_json
from kafka_conformance.core.wall_time import elapsed_s
from kafka_conformance.reports.terminal import console
from kafka_reference.partitioning.places import CLIENTS

if TYPE_CHECKING:
    from kafka_conformance.audit.plan import AuditRequest
    from kafka_conformance.audit.result import Audit
    from kafka_conformance.spark.session import Spark

__all__ = ["run"]


def _rule(_: click.Context, __: click.Parameter, name: str) -> str:
    """Return the slug of a rule, for which a client may be named."""
    return CLIENTS.get(name, name)


@click.argument("sources", metavar="TOPIC | FILES", nargs=-1)
@broker_options
@segment_options
@click.option("--format", "form", type=click.Choice(["parquet", "json", "csv", "avro", "console-consumer"]),
              metavar="parquet|json|csv|avro|console-consumer",
              callback=lambda _, __, form: form or "", help="Read files in place of a topic, with columns partition, "
              "offset, key, perhaps timestamp (default: by the ending of FILES, if no broker is named).")  # fmt: skip
@click.option("--partitions", default=None, type=click.IntRange(1, 1_000_000), metavar="N",
              help="With --format: partition count of the topic that the files were read from. With --segments: that of "
              "the topic, if not all partitions are there.")  # fmt: skip
@click.option(
    "--key-column", default="key", show_default=True, metavar="NAME", help="With --format: column of the key."
)
@click.option("--key-encoding", default="utf8", type=click.Choice(["utf8", "hex", "base64"]), show_default=True,
              metavar="utf8|hex|base64", help="With --format: encoding of keys that are text.")  # fmt: skip
@click.option("--expect", default="murmur2", show_default=True, metavar="RULE", callback=_rule,
              help="The rule that should place keys, or a client with its default; murmur2 is Java's.")  # fmt: skip
@scope_options
@click.option("--join", is_flag=True, help="Find keys that a co-partitioned join of two topics would miss.")
@repair_options
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the results, where the same command resumes (default: a new one in "
              ".kafka-conformance/audits).")  # fmt: skip
@click.option("--chunk", default=25_000_000, type=click.IntRange(1_000, 1_000_000_000), show_default=True, metavar="N",
              help="Records after which progress is saved; an interrupted run resumes there.")  # fmt: skip
@click.option("--all-records", is_flag=True, help="Keep a row for every record (default: only for misplaced records).")
@click.option("--html", default=None, type=options.REPORT, metavar="FILE", help="Also write one HTML page, with plots.")
@options.as_json
@engine_option
@options.master
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE",
              help="Spark setting, e.g. spark.driver.memory=8g; repeatable.")  # fmt: skip
def run(*, sources: Sequence[str], join: bool, broker: BrokerOptions, segments: SegmentOptions,
        repair: RepairOptions, scope: Scope, expect: str, chunk: int,
        all_records: bool, as_json: bool, html: Path | None, **given: Any) -> int:  # fmt: skip
    """Audit a topic, join two (``--join``), or repair one (``--repair-to``). Raises BadInput, KitError."""
    about = Given(**given, **broker.given(), selection=scope.selection())
    if scope.report_only:
        from kafka_conformance.cli.audit_finished import finished

        named = (*sources, *segments.segments, *filter(None, [segments.topic]))
        return _report(finished(named, about, scope), as_json, html, about.folder)
    sources = segments.named(sources, about)
    about = msgspec.structs.replace(about, segments=tuple(dict.fromkeys(segments.segments)))
    if join and repair.repair_to:
        raise BadInput("--join and --repair-to exclude each other: use one at a time")
    if len(sources) != (2 if join else 1):
        one = "name a topic, or files with --format" if not sources else "one topic is audited at a time"
        raise BadInput("--join A B takes two topics" if join else f"{one}, not {len(sources)}")
    about = about.with_format(sources)
    segments.check(joins=join, repairs=bool(repair.repair_to))
    repair.check()
    scope.check(expect, about, repairs=bool(repair.repair_to), joins=join)
    about.check(sources)
    if join:
        from kafka_conformance.cli.audit_join import run as joined

        pair = sources[0], sources[1]
        return joined(sources=pair, given=about, expect=expect, key_format=scope.key_format, as_json=as_json)
    if repair.repair_to:
        if about.engine == "local":
            raise BadInput("--engine local has no --repair-to: a repair needs Spark")
        from kafka_conformance.cli.audit_repair import run as repaired

        return repaired(source=sources[0], given=about, options=repair, as_json=as_json)
    asked = _request(sources[0], about, scope, expect, chunk, all_records)
    return _run_audit(asked=asked, given=about, as_json=as_json, html=html)


def _run_audit(*, asked: AuditRequest, given: Given, as_json: bool, html: Path | None) -> int:
    """Audit one source, report, and return the exit code."""
    folder = given.folder_for(asked.name)
    with interrupts.explained(how_to_resume(given, folder)), steps(f"looking at {asked.name}", 1) as progress:
        if (local := local_source(asked.name, given, progress)) is not None:
            from kafka_conformance.audit.engines.local.run import audit_locally

            found = with_segments(audit_locally(local, asked, folder, progress), local, progress)
        else:
            progress.doing("starting Spark")
            with open_session(given) as spark:
                found = _audit(spark, asked, given, folder, progress)
    return _report(msgspec.structs.replace(found, took_s=elapsed_s()), as_json, html, folder)


def _request(source: str, given: Given, scope: Scope, expect: str, chunk: int, all_records: bool) -> AuditRequest:
    from kafka_conformance.audit.plan import AuditRequest

    isolation = "" if given.form else given.isolation
    where = ", ".join(given.segments) or given.bootstrap
    return AuditRequest(source, where, expect, chunk, all_records, scope.key_format, isolation,
                        given.selection, scope.key_view)  # fmt: skip


def _audit(spark: Spark, asked: AuditRequest, given: Given, folder: str, progress: Steps) -> Audit:
    from kafka_conformance.audit.engines.spark.run import audit, planned

    progress.doing(f"looking at {asked.name}")
    before = planned(spark, folder)
    spans = None if before is None else before.spans
    source = source_of(spark, asked.name, given, spans, progress)
    return with_segments(audit(spark, source, asked, folder, progress), source, progress, spark)


def _report(found: Audit, as_json: bool, html: Path | None, folder: str) -> int:
    from kafka_conformance.audit.reports import page as audit_page
    from kafka_conformance.audit.reports import terminal as audit_terminal

    if "://" not in folder:  # else it is a file system of the cluster, where --json is the way
        write_report(Path(folder) / "audit.json", msgspec.json.format(msgspec.json.encode(found), indent=2))
    if as_json:
        say_json(found)
    else:
        audit_terminal.show(console(), found)
    if html is not None:
        write_report(html, audit_page.write(found))
    if not found.records or found.doubt:
        return 2
    return 0 if found.conforms else 1
