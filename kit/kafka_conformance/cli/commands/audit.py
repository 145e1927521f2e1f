"""``audit``: which rule put each record of a topic where it is. Exit code 0: all where expected; 1: not; 2: unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.reports.terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafka_conformance.spark.audit.result import Audit
    from kafka_conformance.spark.audit.sources import Source
    from kafka_conformance.spark.session import Spark

__all__ = ["Given", "entered", "opened", "run", "source_of"]

FOLDER = Path(".kafka-conformance") / "audits"


class Given(msgspec.Struct, frozen=True):
    """What the command line says of a source and of Spark, shared by all that ``audit`` can do."""

    bootstrap: str = ""
    options: tuple[str, ...] = ()
    form: str = ""
    partitions: int | None = None
    key_column: str = "key"
    key_encoding: str = "utf8"
    master: str = ""
    settings: tuple[str, ...] = ()
    folder: str = ""

    def kafka(self) -> dict[str, str]:
        """The connector's options. Raises BadInput."""
        from kafka_conformance.spark.audit.topics import kafka_options

        return kafka_options(self.bootstrap, _pairs("--option", self.options))

    def folder_for(self, name: str) -> str:
        """The run's folder: the one that was named, or a new one."""
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "export"
        return self.folder or str((FOLDER / f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}").absolute())


def entered(*, sources: Sequence[str], join: bool, repair_to: str, really: bool, target_partitions: int | None, expect: str,
            chunk: int, all_records: bool, as_json: bool, html: Path | None, **given: Any) -> int:  # fmt: skip
    """Which of the three is meant: an audit, ``--join``, ``--repair-to``. Raises BadInput."""
    about = Given(**given)
    if join and repair_to:
        raise BadInput("--join and --repair-to are two things: one at a time")
    if len(sources) != (2 if join else 1):
        raise BadInput("--join A B takes two topics" if join else f"one topic is audited at a time, not {len(sources)}")
    if (really or target_partitions) and not repair_to:
        raise BadInput("--really and --target-partitions belong to --repair-to TOPIC")
    about.kafka()
    _check_placement(expect)
    if join:
        from kafka_conformance.cli.commands.audit_join import run as joined

        return joined(sources=(sources[0], sources[1]), given=about, expect=expect, as_json=as_json)
    if repair_to:
        from kafka_conformance.cli.commands.audit_repair import run as repaired

        return repaired(
            source=sources[0],
            target=repair_to,
            given=about,
            really=really,
            partitions=target_partitions,
            as_json=as_json,
        )
    return run(
        source=sources[0], given=about, expect=expect, chunk=chunk, all_records=all_records, as_json=as_json, html=html
    )


def run(
    *, source: str, given: Given, expect: str, chunk: int, all_records: bool, as_json: bool, html: Path | None
) -> int:
    """Audit, print, write; the exit code."""
    folder = given.folder_for(source)
    with steps("starting Spark", 1) as progress, opened(given) as spark:
        found = _audit(spark, source, given, expect, chunk, all_records, folder, progress)
    return _told(found, as_json, html, folder)


def _audit(
    spark: Spark, source: str, given: Given, expect: str, chunk: int, all_records: bool, folder: str, progress: Steps
) -> Audit:
    from kafka_conformance.spark.audit.run import Asked, audit, planned

    progress.doing(f"looking at {source}")
    asked = Asked(source, given.bootstrap, expect, chunk, all_records)
    before = planned(spark, folder)
    spans = None if before is None else before.spans
    return audit(spark, source_of(spark, source, given, spans), asked, folder, progress)


def _check_placement(slug: str) -> None:
    """Raises BadInput for one that is not known, before Spark is started for it."""
    from kafka_conformance.spark.audit.attribution.placements import of

    of(slug)


def _told(found: Audit, as_json: bool, html: Path | None, folder: str) -> int:
    from kafka_conformance.spark.audit.reports import page as audit_page
    from kafka_conformance.spark.audit.reports import terminal as audit_terminal

    if "://" not in folder:  # else it is on a file system of the cluster's, and whoever wants it there has --json
        write_whole(Path(folder) / "audit.json", msgspec.json.format(msgspec.json.encode(found), indent=2))
    if html is not None:
        write_whole(html, audit_page.write(found).encode())
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        audit_terminal.show(console(), found)
    if not found.records:
        return 2
    return 1 if found.offending else 0


@contextmanager
def opened(given: Given) -> Iterator[Spark]:
    """Spark, with the connector if a broker is named. Raises KitError."""
    from kafka_conformance.spark.session import open_spark

    if not given.bootstrap and not given.form:
        raise BadInput(
            "--bootstrap-server HOST:PORT names a topic's broker; --format parquet or json, an export's files"
        )
    if given.form and given.partitions is None:
        raise BadInput("--partitions N: how many partitions the topic of this export has; its files do not tell")
    with open_spark(
        given.master, connector=bool(given.bootstrap), settings=_pairs("--setting", given.settings)
    ) as spark:
        spark.check_executors()
        yield spark


def source_of(spark: Spark, name: str, given: Given, planned: Mapping[int, Any] | None = None) -> Source:
    """A topic or an export. Raises BadInput, SparkFault."""
    from kafka_conformance.spark.audit.sources import Export, Topic

    if given.form:
        return Export(spark, name, given.form, given.partitions or 0, key=given.key_column, encoding=given.key_encoding)
    return Topic.find(spark, name, given.kafka(), planned)


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """``name=value`` each. Raises BadInput."""
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"{option} {each}: NAME=VALUE is wanted")
        pairs[name.strip()] = value
    return pairs
