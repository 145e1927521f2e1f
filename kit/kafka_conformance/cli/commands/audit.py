"""Find which rule placed each record of a topic, and what that breaks for joins.

Exit code 0: every key is where it is expected; 1: some are not, or lie in several partitions in different
frames (--key-format); 2: it could not be judged, or has too few distinct keys to tell which rule placed them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.cli.audit_scope import EngineOptions, Scope, audit_scope, engine_options
from kafka_conformance.cli.audit_source import SourceOptions, audit_source, check
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import working_folder, write_report
from kafka_conformance.core.streams import say_json
from kafka_conformance.reports.terminal import console

if TYPE_CHECKING:
    from kafka_conformance.audit.result import Audit

__all__ = ["run"]

FOLDER = Path(".kafka-conformance") / "audits"


@click.argument("sources", metavar="TOPIC | FILES", nargs=-1)
@audit_source
@audit_scope
@click.option("--report-only", is_flag=True,
              help="Report the finished audit in --folder again, without its broker or files.")  # fmt: skip
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the results, where the same command resumes (default: a new one in "
              ".kafka-conformance/audits).")  # fmt: skip
@click.option("--chunk", default=25_000_000, type=click.IntRange(1_000, 1_000_000_000), show_default=True, metavar="N",
              help="Records after which progress is saved; an interrupted run resumes there.")  # fmt: skip
@click.option("--all-records", is_flag=True, help="Keep a row for every record (default: only for misplaced records).")
@click.option("--html", default=None, type=options.REPORT, metavar="FILE", help="Also write one HTML page, with plots.")
@options.as_json
@engine_options
def run(*, sources: Sequence[str], source: SourceOptions, scope: Scope, report_only: bool, folder: str, chunk: int,
        all_records: bool, html: Path | None, as_json: bool, engine: EngineOptions) -> int:  # fmt: skip
    """Audit a topic, or report a finished audit. Raises BadInput, KitError."""
    if report_only:
        if sources or not folder:
            raise BadInput(
                "--report-only reports what is in --folder FOLDER: name the folder of a finished audit, and no topic"
            )
        return _report(_finished(folder, scope, engine), as_json, html, folder)
    (address,) = source.addresses(sources)
    # Only now: a wrong argument is refused before an extra is missed.
    from kafka_conformance.audit.engines.run import AuditJob, run_audit
    from kafka_conformance.audit.plan import AuditRequest

    selection, chosen = scope.selection(), engine.chosen()
    scope.check(source.partitions)
    check([address], chosen.master)
    request = AuditRequest(address.name, address.where, scope.expect, chunk, all_records, scope.key_format,
                           address.isolation, selection, scope.key_view)  # fmt: skip
    written = folder or _new_folder(address.name)
    with interrupts.explained(_how_to_resume(folder, written)):
        found = run_audit(AuditJob(address, request, chosen, written))
    return _report(found, as_json, html, written)


def _finished(folder: str, scope: Scope, engine: EngineOptions) -> Audit:
    """Return the result of the audit in the folder. Raises BadInput, KitError."""
    from kafka_conformance.audit.attribution.candidates import load_candidates, register
    from kafka_conformance.audit.engines.choice import open_session
    from kafka_conformance.audit.engines.finished_run import finished_audit, finished_on_spark

    register(load_candidates(scope.candidate))
    if "://" not in folder:
        return finished_audit(folder)
    with open_session(engine.chosen()) as spark:
        return finished_on_spark(spark, folder)


def _new_folder(name: str) -> str:
    """Return a folder for the run that is named after the source and the time."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "export"
    return str(working_folder() / FOLDER / f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}")


def _how_to_resume(given: str, folder: str) -> str:
    """Return the advice for a run in ``folder`` that was interrupted; ``given`` is that of the command line."""
    return f"run the same command again{'' if given else f' with --folder {shlex.quote(folder)}'} to resume"


def _report(found: Audit, as_json: bool, html: Path | None, folder: str) -> int:
    if "://" not in folder:  # else it is a file system of the cluster, where --json is the way
        write_report(Path(folder) / "audit.json", msgspec.json.format(msgspec.json.encode(found), indent=2))
    if as_json:
        say_json(found)
    else:
        from kafka_conformance.audit.reports import terminal as audit_terminal

        audit_terminal.show(console(), found)
    if html is not None:
        from kafka_conformance.audit.reports import page as audit_page

        write_report(html, audit_page.write(found))
    if not found.records or found.doubt:
        return 2
    return 0 if found.conforms else 1
