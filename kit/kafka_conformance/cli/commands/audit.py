"""Find which rule placed each record of a topic, and what that breaks for joins; or repair the topic.

Exit code 0: every key is where it is expected; 1: some are not; 2: it could not be judged, or has too few
distinct keys to tell which rule placed them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.cli.audit_source import Given, open_session, source_of
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.reports.terminal import console

if TYPE_CHECKING:
    from kafka_conformance.spark.audit.result import Audit
    from kafka_conformance.spark.session import Spark

__all__ = ["run"]


@click.argument("sources", metavar="TOPIC | FILES", nargs=-1, required=True)
@click.option("--bootstrap-server", "bootstrap", default="", metavar="HOST:PORT", help="Broker of the topic.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE",
              help="Option of Spark's Kafka connector, e.g. kafka.security.protocol=SSL; repeatable.")  # fmt: skip
@click.option("--format", "form", default="", type=click.Choice(["", "parquet", "json"]), metavar="parquet|json",
              help="Read files in place of a topic, with columns partition, offset, key, perhaps timestamp.")  # fmt: skip
@click.option("--partitions", default=None, type=click.IntRange(1, 1_000_000), metavar="N",
              help="With --format: partition count of the topic that the files were read from.")  # fmt: skip
@click.option(
    "--key-column", default="key", show_default=True, metavar="NAME", help="With --format: column of the key."
)
@click.option("--key-encoding", default="utf8", type=click.Choice(["utf8", "hex", "base64"]), show_default=True,
              metavar="utf8|hex|base64", help="With --format: encoding of keys that are text.")  # fmt: skip
@click.option("--expect", default="murmur2", show_default=True, metavar="RULE",
              help="The rule by which keys should be placed; murmur2 is Java's.")  # fmt: skip
@click.option("--join", is_flag=True, help="Find keys that a co-partitioned join of two topics would miss.")
@click.option("--repair-to", default="", metavar="TOPIC",
              help="Write the records to this new topic, placed as Java places them; needs --execute.")  # fmt: skip
@click.option("--execute", is_flag=True, help="With --repair-to: write the new topic (default: dry run).")
@click.option("--really", "deprecated_execute", is_flag=True, hidden=True, help="Deprecated: use --execute.")
@click.option("--target-partitions", default=None, type=click.IntRange(1, 100_000), metavar="N",
              help="With --repair-to: partition count of the new topic (default: as the old one).")  # fmt: skip
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the results, where the same command resumes (default: a new one in "
              ".kafka-conformance/audits).")  # fmt: skip
@click.option("--chunk", default=25_000_000, type=click.IntRange(1_000, 1_000_000_000), show_default=True, metavar="N",
              help="Records after which progress is saved; an interrupted run resumes there.")  # fmt: skip
@click.option("--all-records", is_flag=True, help="Keep a row for every record (default: only for misplaced records).")
@click.option("--html", default=None, type=options.FILE, metavar="FILE", help="Also write one HTML page, with plots.")
@options.as_json
@options.master
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE",
              help="Spark setting, e.g. spark.driver.memory=8g; repeatable.")  # fmt: skip
def run(*, sources: Sequence[str], join: bool, repair_to: str, execute: bool, deprecated_execute: bool,
        target_partitions: int | None, expect: str, chunk: int, all_records: bool, as_json: bool, html: Path | None,
        **given: Any) -> int:  # fmt: skip
    """Audit a topic, join two (``--join``), or repair one (``--repair-to``). Raises BadInput, KitError."""
    execute = execute or deprecated_execute
    about = Given(**given)
    if join and repair_to:
        raise BadInput("--join and --repair-to exclude each other: use one at a time")
    if len(sources) != (2 if join else 1):
        raise BadInput("--join A B takes two topics" if join else f"one topic is audited at a time, not {len(sources)}")
    if (execute or target_partitions) and not repair_to:
        raise BadInput("--execute and --target-partitions belong to --repair-to TOPIC")
    _check_placement(expect)
    about.check(sources)
    if join:
        from kafka_conformance.cli.audit_join import run as joined

        return joined(sources=(sources[0], sources[1]), given=about, expect=expect, as_json=as_json)
    if repair_to:
        from kafka_conformance.cli.audit_repair import run as repaired

        return repaired(
            source=sources[0],
            target=repair_to,
            given=about,
            execute=execute,
            partitions=target_partitions,
            as_json=as_json,
        )
    return _run_audit(
        source=sources[0], given=about, expect=expect, chunk=chunk, all_records=all_records, as_json=as_json, html=html
    )


def _run_audit(
    *, source: str, given: Given, expect: str, chunk: int, all_records: bool, as_json: bool, html: Path | None
) -> int:
    """Audit one source, report, and return the exit code."""
    folder = given.folder_for(source)
    with steps("starting Spark", 1) as progress, open_session(given) as spark:
        found = _audit(spark, source, given, expect, chunk, all_records, folder, progress)
    return _report(found, as_json, html, folder)


def _audit(
    spark: Spark, source: str, given: Given, expect: str, chunk: int, all_records: bool, folder: str, progress: Steps
) -> Audit:
    from kafka_conformance.spark.audit.run import AuditRequest, audit, planned

    progress.doing(f"looking at {source}")
    asked = AuditRequest(source, given.bootstrap, expect, chunk, all_records)
    before = planned(spark, folder)
    spans = None if before is None else before.spans
    return audit(spark, source_of(spark, source, given, spans), asked, folder, progress)


def _check_placement(slug: str) -> None:
    """Raise BadInput for an unknown rule, before Spark is started."""
    from kafka_conformance.spark.audit.attribution.placements import number

    number(slug)


def _report(found: Audit, as_json: bool, html: Path | None, folder: str) -> int:
    from kafka_conformance.spark.audit.reports import page as audit_page
    from kafka_conformance.spark.audit.reports import terminal as audit_terminal

    if "://" not in folder:  # else it is a file system of the cluster, where --json is the way
        write_whole(Path(folder) / "audit.json", msgspec.json.format(msgspec.json.encode(found), indent=2))
    if html is not None:
        write_whole(html, audit_page.write(found).encode())
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        audit_terminal.show(console(), found)
    if not found.records or found.doubt:
        return 2
    return 1 if found.offending else 0
