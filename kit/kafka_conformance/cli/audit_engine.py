"""Which engine audits a source: this process for a small one, Spark for any.

Both give the same result and the same folder. This process needs neither Java nor Spark.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kafka_conformance.cli.audit_source import Given
from kafka_conformance.core.errors import BadInput, KitError, TooMuchText
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.core.submission import is_submitted

if TYPE_CHECKING:
    from kafka_conformance.audit.engines.local.run import LocalSource
    from kafka_conformance.core.progress import Steps

__all__ = ["LIMIT_RECORDS", "engine_option", "local_source", "local_sources"]

LIMIT_RECORDS = 3_000_000
"""The most records that this process audits without ``--engine local``: 20 s of work, as long as Spark takes to start."""

_WITHOUT_SPARK = frozenset({"csv", "avro", "console-consumer"})
"""Formats that only this process reads, whatever their size."""

LIMIT_BYTES = 4 * 2**30
"""The most bytes of segment files that this process audits without ``--engine local``."""

engine_option = click.option(
    "--engine", default="auto", type=click.Choice(["auto", "local", "spark"]), show_default=True,
    metavar="auto|local|spark",
    help=f"What audits: this process (local), without Java, or Spark. auto: local up to {LIMIT_RECORDS:,} records.",
)  # fmt: skip


def local_source(name: str, given: Given, progress: Steps | None = None) -> LocalSource | None:
    """Return the source if this process is to audit it, None if Spark is; ``progress`` shows what takes long.

    Raises BadInput, KitError; among them, with ``--engine local``, for a source that only Spark can read.
    """
    alone = given.form in _WITHOUT_SPARK
    if given.engine == "spark":
        if alone:
            raise BadInput(
                f"--engine spark does not read {given.form}: use --engine local, or write Parquet or JSON lines"
            )
        return None
    reason = _spark_alone(name, given)
    if not reason:
        source, reason = _open(name, given, progress)
        if source is not None:
            return source
    if alone:
        raise BadInput(
            f"{name} cannot be audited: {reason}, and Spark does not read {given.form}: write Parquet or JSON lines"
        )
    if given.engine == "local":
        raise BadInput(f"--engine local cannot audit {name}: {reason}; use --engine spark")
    return None


def local_sources(names: Sequence[str], given: Given) -> list[LocalSource]:
    """Return the sources if this process is to read all of them, else none. Raises what :func:`local_source` raises."""
    sources: list[LocalSource] = []
    for name in names:
        if (source := local_source(name, given)) is None:
            return []
        sources.append(source)
    return sources


def _spark_alone(name: str, given: Given) -> str:
    """Return why only Spark can audit this, by the options alone; empty if this process can."""
    if given.master or given.settings or is_submitted():
        return "--master, --setting and spark-submit belong to Spark"
    if "://" in given.folder:
        return f"--folder {given.folder} is on a file system of the cluster"
    if "://" in name and not name.startswith("file://"):
        return "its files are on a file system of the cluster"
    if own := sorted(option for option in given.kafka_given() if not option.startswith("kafka.")):
        return f"--option {own[0]} is an option of Spark's connector"
    wanted = ("numba", "pyarrow") if given.form or given.segments else ("numba", "pyarrow", "confluent_kafka")
    if given.form == "avro" and importlib.util.find_spec("fastavro") is None:
        return f"fastavro is missing ({how_to_install('avro')})"
    if missing := [module for module in wanted if importlib.util.find_spec(module) is None]:
        return f"{missing[0]} is missing ({how_to_install('audit')})"
    return ""


def _open(name: str, given: Given, progress: Steps | None) -> tuple[LocalSource | None, str]:
    """Return the source, or why it is not read in this process."""
    if given.segments:
        return _open_segments(name, given, progress)
    return _open_files(name, given) if given.form else _open_topic(name, given)


def _open_segments(name: str, given: Given, progress: Steps | None) -> tuple[LocalSource | None, str]:
    from kafka_conformance.audit.engines.local.run import planned_locally
    from kafka_conformance.audit.engines.local.segments import LocalSegments
    from kafka_conformance.audit.isolation import READ_COMMITTED
    from kafka_conformance.audit.segments.folders import find_topic
    from kafka_conformance.audit.segments.topic import OneByOne, survey_topic
    from kafka_conformance.audit.topics import offset_count

    files, large = find_topic(given.segments, name), given.engine == "auto"
    if large and (files.least_offsets > LIMIT_RECORDS or files.size > LIMIT_BYTES):
        return None, f"it has more than {LIMIT_RECORDS:,} records or {LIMIT_BYTES:,} bytes"
    plan = planned_locally(given.folder) if given.folder else None
    topic = survey_topic(files, OneByOne(progress), given.partitions, committed=given.isolation == READ_COMMITTED)
    found = LocalSegments(topic, None if plan is None else plan.spans)
    if plan is None and given.selection.bounded:
        found.narrow(given.selection.spans(found))
    if large and offset_count(found.spans) > LIMIT_RECORDS:
        return None, f"it has more than {LIMIT_RECORDS:,} records"
    return found, ""


def _open_topic(name: str, given: Given) -> tuple[LocalSource | None, str]:
    from kafka_conformance.audit.engines.local.run import planned_locally
    from kafka_conformance.audit.engines.local.topic import LocalTopic
    from kafka_conformance.audit.topics import offset_count
    from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings

    client = librdkafka_settings(java_settings(given.kafka()))
    if client.untranslated:
        return None, "; ".join(client.untranslated)
    plan = planned_locally(given.folder) if given.folder else None
    try:
        topic = LocalTopic.find(name, client, None if plan is None else plan.spans)
    except BadInput:
        raise
    except KitError as error:  # Java trusts other certificates, and waits longer
        if given.engine == "local":
            raise
        return None, str(error)
    if plan is None and given.selection.bounded:
        topic.narrow(given.selection.spans(topic))
    if given.engine == "auto" and offset_count(topic.spans) > LIMIT_RECORDS:
        return None, f"it has more than {LIMIT_RECORDS:,} records"
    return topic, ""


def _open_files(name: str, given: Given) -> tuple[LocalSource | None, str]:
    from kafka_conformance.audit.engines.local.export import LocalExport, files_of, record_count

    if given.form == "json" and any("=" in part for one in files_of(name) for part in Path(one).parent.parts):
        return None, "its folders hold columns (name=value)"
    if (
        given.engine == "auto"
        and given.form not in _WITHOUT_SPARK
        and record_count(name, given.form, LIMIT_RECORDS) > LIMIT_RECORDS
    ):
        return None, f"it has more than {LIMIT_RECORDS:,} records"
    try:
        export = LocalExport(name, given.form, given.partitions or 0, key=given.key_column, encoding=given.key_encoding)
    except TooMuchText as error:
        if given.engine == "local" or given.form in _WITHOUT_SPARK:
            raise
        return None, str(error)
    if given.selection.bounded:
        export.narrow(given.selection.spans(export))
    return export, ""
