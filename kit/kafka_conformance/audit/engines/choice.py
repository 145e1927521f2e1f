"""Which engine reads a source: this process for a small one, Spark for any.

Both give the same result and the same folder. This process needs neither Java nor Spark.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import msgspec

from kafka_conformance.audit.isolation import READ_COMMITTED
from kafka_conformance.audit.selection import EVERYTHING, RecordSelection
from kafka_conformance.audit.sources import ExportFiles, SegmentFolders, SourceAddress, TopicAddress
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.errors import BadInput, KitError, TooMuchText
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.core.submission import is_submitted

if TYPE_CHECKING:
    from kafka_conformance.audit.engines.local.run import LocalSource
    from kafka_conformance.audit.engines.local.segments import LocalSegments
    from kafka_conformance.audit.engines.local.topic import LocalTopic
    from kafka_conformance.audit.engines.spark.segments import Segments
    from kafka_conformance.audit.engines.spark.sources import Export, Source, Topic
    from kafka_conformance.core.progress import Steps
    from kafka_conformance.spark.session import Spark

__all__ = ["LIMIT_RECORDS", "Engine", "local_source", "local_sources", "open_session", "spark_source"]

LIMIT_RECORDS = 3_000_000
"""The most records that this process audits without ``--engine local``: 20 s of work, as long as Spark takes to start."""

LIMIT_BYTES = 4 * 2**30
"""The most bytes of segment files that this process audits without ``--engine local``."""

_WITHOUT_SPARK = frozenset({"csv", "avro", "console-consumer"})
"""Formats that only this process reads, whatever their size."""


class Engine(msgspec.Struct, frozen=True):
    """What reads a source: this process, Spark with its ``master`` and ``settings``, or the one that suits the source."""

    kind: Literal["auto", "local", "spark"] = "auto"
    master: str = ""
    settings: dict[str, str] = {}


def local_source(
    address: SourceAddress,
    engine: Engine,
    selection: RecordSelection = EVERYTHING,
    folder: str = "",
    progress: Steps | None = None,
) -> LocalSource | None:
    """Return the source if this process is to read it, None if Spark is; ``progress`` shows what takes long.

    ``folder`` is that of a run, whose plan fixes the offsets if there is one. Raises BadInput, KitError; among them, if the
    engine is local, for a source that only Spark can read.
    """
    form = address.form if isinstance(address, ExportFiles) else ""
    alone = form in _WITHOUT_SPARK
    if engine.kind == "spark":
        if alone:
            raise BadInput(f"--engine spark does not read {form}: use --engine local, or write Parquet or JSON lines")
        return None
    reason = _spark_alone(address, engine, folder)
    if not reason:
        source, reason = _open(address, engine, selection, folder, progress)
        if source is not None:
            return source
    if alone:
        raise BadInput(
            f"{address.name} cannot be audited: {reason}, and Spark does not read {form}: write Parquet or JSON lines"
        )
    if engine.kind == "local":
        raise BadInput(f"--engine local cannot audit {address.name}: {reason}; use --engine spark")
    return None


def local_sources(addresses: Sequence[SourceAddress], engine: Engine, selection: RecordSelection) -> list[LocalSource]:
    """Return the sources if this process is to read all of them, else none. Raises what :func:`local_source` raises."""
    sources: list[LocalSource] = []
    for address in addresses:
        if (source := local_source(address, engine, selection)) is None:
            return []
        sources.append(source)
    return sources


@contextmanager
def open_session(engine: Engine, *addresses: SourceAddress) -> Iterator[Spark]:
    """Open Spark, with the Kafka connector for a topic at a broker. Raises BadInput, KitError."""
    from kafka_conformance.spark.session import open_spark

    connector = any(isinstance(address, TopicAddress) for address in addresses)
    with open_spark(engine.master, connector=connector, settings=engine.settings) as spark:
        spark.check_executors()
        yield spark


def spark_source(
    spark: Spark, address: SourceAddress, selection: RecordSelection, planned: Mapping[int, Span] | None = None,
    progress: Steps | None = None,
) -> Source:  # fmt: skip
    """Return the source as Spark reads it, with the offsets of a plan if there is one. Raises BadInput, SparkFault."""
    from kafka_conformance.audit.engines.spark.sources import Export, Topic

    source: Topic | Export | Segments
    if isinstance(address, SegmentFolders):
        source = _segments(spark, address, planned, progress)
    elif isinstance(address, ExportFiles):
        source = Export(spark, address.name, address.form, address.partitions, key=address.key_column,
                        encoding=address.encoding)  # fmt: skip
        planned = None
    else:
        source = Topic.find(spark, address.name, address.kafka, planned)
    if planned is None:
        selection.narrow(source)
    return source


def _segments(
    spark: Spark, address: SegmentFolders, planned: Mapping[int, Span] | None, progress: Steps | None
) -> Segments:
    from kafka_conformance.audit.engines.spark.segments import OnSpark, Segments
    from kafka_conformance.audit.segments.topic import survey_topic

    committed = address.isolation == READ_COMMITTED
    topic = survey_topic(address.files, OnSpark(spark, progress), address.partitions, committed=committed)
    return Segments(spark, topic, planned)


def _spark_alone(address: SourceAddress, engine: Engine, folder: str) -> str:
    """Return why only Spark can audit this, by its address alone; empty if this process can."""
    if engine.master or engine.settings or is_submitted():
        return "--master, --setting and spark-submit belong to Spark"
    if "://" in folder:
        return f"--folder {folder} is on a file system of the cluster"
    if "://" in address.name and not address.name.startswith("file://"):
        return "its files are on a file system of the cluster"
    wanted = ["numba", "pyarrow"]
    if isinstance(address, TopicAddress):
        if address.connector:
            return f"--option {address.connector[0]} is an option of Spark's connector"
        wanted.append("confluent_kafka")
    if isinstance(address, ExportFiles) and address.form == "avro" and importlib.util.find_spec("fastavro") is None:
        return f"fastavro is missing ({how_to_install('avro')})"
    if missing := [module for module in wanted if importlib.util.find_spec(module) is None]:
        return f"{missing[0]} is missing ({how_to_install('audit')})"
    return ""


def _open(
    address: SourceAddress, engine: Engine, selection: RecordSelection, folder: str, progress: Steps | None
) -> tuple[LocalSource | None, str]:
    """Return the source, or why it is not read in this process."""
    source: LocalSegments | LocalTopic | None
    limited = engine.kind == "auto"
    if isinstance(address, ExportFiles):
        return _open_files(address, selection, limited=limited)
    from kafka_conformance.audit.engines.local.run import planned_locally

    plan = planned_locally(folder) if folder else None
    spans = None if plan is None else plan.spans
    if isinstance(address, SegmentFolders):
        source, reason = _open_segments(address, spans, progress, limited=limited)
    else:
        source, reason = _open_topic(address, spans, limited=limited)
    if source is None:
        return None, reason
    if spans is None:
        selection.narrow(source)
    if limited and offset_count(source.spans) > LIMIT_RECORDS:
        return None, f"it has more than {LIMIT_RECORDS:,} records"
    return source, ""


def _open_segments(
    address: SegmentFolders, spans: Mapping[int, Span] | None, progress: Steps | None, *, limited: bool
) -> tuple[LocalSegments | None, str]:
    from kafka_conformance.audit.engines.local.segments import LocalSegments
    from kafka_conformance.audit.segments.topic import OneByOne, survey_topic

    files = address.files
    if limited and (files.least_offsets > LIMIT_RECORDS or files.size > LIMIT_BYTES):
        return None, f"it has more than {LIMIT_RECORDS:,} records or {LIMIT_BYTES:,} bytes"
    committed = address.isolation == READ_COMMITTED
    return LocalSegments(survey_topic(files, OneByOne(progress), address.partitions, committed=committed), spans), ""


def _open_topic(
    address: TopicAddress, spans: Mapping[int, Span] | None, *, limited: bool
) -> tuple[LocalTopic | None, str]:
    from kafka_conformance.audit.engines.local.topic import LocalTopic
    from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings

    client = librdkafka_settings(java_settings(address.kafka))
    if client.untranslated:
        return None, "; ".join(client.untranslated)
    try:
        return LocalTopic.find(address.name, client, spans), ""
    except BadInput:
        raise
    except KitError as error:  # Java trusts other certificates, and waits longer
        if not limited:
            raise
        return None, str(error)


def _open_files(address: ExportFiles, selection: RecordSelection, *, limited: bool) -> tuple[LocalSource | None, str]:
    from kafka_conformance.audit.engines.local.export import LocalExport, record_count

    name, form = address.name, address.form
    limited = limited and form not in _WITHOUT_SPARK
    if limited and record_count(name, form, LIMIT_RECORDS) > LIMIT_RECORDS:
        return None, f"it has more than {LIMIT_RECORDS:,} records"
    try:
        export = LocalExport(name, form, address.partitions, key=address.key_column, encoding=address.encoding)
    except TooMuchText as error:
        if not limited:
            raise
        return None, str(error)
    selection.narrow(export)
    return export, ""
