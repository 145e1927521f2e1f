"""What an audit reads: the options that name a topic or files, and the Spark session to read them with."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.audit.connector_options import check_options
from kafka_conformance.audit.isolation import OPTION, READ_COMMITTED
from kafka_conformance.audit.selection import RecordSelection
from kafka_conformance.brokers.client_settings import java_settings
from kafka_conformance.brokers.preflight import check_topics
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import data_files, exists, is_folder, working_folder

if TYPE_CHECKING:
    from kafka_conformance.audit.engines.spark.sources import Source
    from kafka_conformance.core.progress import Steps
    from kafka_conformance.spark.session import Spark

__all__ = ["Given", "how_to_resume", "open_session", "source_of"]

_NAME, _HARMLESS = re.compile(r"[\w.-]+"), re.compile(r"=?[\w.-]{0,16}")
_SEEN = 1_000  # files of a folder, of which the endings tell the format
_FORMS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".avro": "avro"}
FOLDER = Path(".kafka-conformance") / "audits"


class Given(msgspec.Struct, frozen=True):
    """The options of ``audit`` that name a source, its folder and its Spark."""

    bootstrap: str = ""
    options: tuple[str, ...] = ()
    form: str = ""
    partitions: int | None = None
    key_column: str = "key"
    key_encoding: str = "utf8"
    master: str = ""
    settings: tuple[str, ...] = ()
    folder: str = ""
    engine: str = "auto"
    client: dict[str, str] = {}
    """The connector's options from a file; ``options`` go before them."""
    isolation: str = READ_COMMITTED
    selection: RecordSelection = RecordSelection()
    """The records to judge."""
    segments: tuple[str, ...] = ()
    """Folders with segment files, in place of a broker or an export."""

    def kafka_given(self) -> dict[str, str]:
        """Return the options of ``--option``. Raises BadInput."""
        return _pairs("--option", self.options)

    def kafka(self) -> dict[str, str]:
        """Return the options of Spark's Kafka connector. Raises BadInput."""
        from kafka_conformance.audit.topics import kafka_options

        options = self.kafka_given()
        check_options(options)
        return kafka_options(self.bootstrap, {OPTION: self.isolation, **self.client, **options})

    def with_format(self, names: Sequence[str]) -> Given:
        """Return the options with the format of the files that the endings of their names tell, if nothing else is named."""
        if self.form or self.bootstrap or self.segments:
            return self
        files = (one for name in names for one in _files_in(name))
        forms = {_FORMS.get("".join(Path(name).suffixes[-1:]).lower(), "") for name in map(_unpacked, files)}
        return msgspec.structs.replace(self, form=forms.pop()) if len(forms) == 1 else self

    def check(self, names: Sequence[str]) -> None:
        """Check, before Spark starts, that files exist, or that a broker lets the topics be read. Raises BadInput."""
        if not self.segments and not all(names):
            raise BadInput("a name is empty: name a topic, or files")
        if self.segments:
            if self.bootstrap or self.form or self.options or self.client:
                raise BadInput(
                    "--segments reads a broker's files: it excludes --bootstrap-server, --command-config, --option and"
                    " --format"
                )
            _pairs("--setting", self.settings)
            from kafka_conformance.audit.segments.folders import find_topic

            find_topic(self.segments, names[0]).count(self.partitions)
            return
        if not self.bootstrap and not self.form:
            raise BadInput(
                "--bootstrap-server HOST:PORT names a topic's broker; --format parquet, json, csv, avro or console-consumer,"
                " an export's files; --segments DIR, a broker's data directory"
            )
        kafka = self.kafka()
        _pairs("--setting", self.settings)
        if not self.form:
            check_topics(java_settings(kafka), names)
            return
        if self.partitions is None:
            raise BadInput(
                "--partitions N is required for files: they do not contain the partition count of their topic"
            )
        if not self.master or self.master.startswith("local"):
            for name in names:
                _check_files(name)

    def folder_for(self, name: str) -> str:
        """Return the folder of the run: as given, or a new one named after the source and the time."""
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "export"
        return self.folder or str(working_folder() / FOLDER / f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}")


def _files_in(name: str) -> list[str]:
    """Return some of the files of a folder, without those of the tool that wrote it; any other name as it is."""
    folder = Path(name.removeprefix("file://"))
    if not is_folder(folder):
        return [name]
    return [str(one) for one in islice(data_files(folder), _SEEN)]


def _unpacked(name: str) -> str:
    """Return the name of a file without the ending of its compression."""
    return name.removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")


def how_to_resume(given: Given, folder: str) -> str:
    """Return the advice for a run in ``folder`` that was interrupted."""
    return f"run the same command again{'' if given.folder else f' with --folder {shlex.quote(folder)}'} to resume"


@contextmanager
def open_session(given: Given) -> Iterator[Spark]:
    """Open Spark, with the Kafka connector if a broker is named. Raises BadInput, KitError."""
    from kafka_conformance.spark.session import open_spark

    with open_spark(
        given.master, connector=bool(given.bootstrap), settings=_pairs("--setting", given.settings)
    ) as spark:
        spark.check_executors()
        yield spark


def source_of(
    spark: Spark, name: str, given: Given, planned: Mapping[int, Any] | None = None, progress: Steps | None = None
) -> Source:
    """Return the topic, or the files, called ``name``; ``progress`` shows what takes long. Raises BadInput, SparkFault."""
    from kafka_conformance.audit.engines.spark.sources import Export, Topic

    if given.segments:
        return _segments(spark, name, given, planned, progress)
    if given.form:
        export = Export(
            spark, name, given.form, given.partitions or 0, key=given.key_column, encoding=given.key_encoding
        )
        if given.selection.bounded:
            export.narrow(given.selection.spans(export))
        return export
    topic = Topic.find(spark, name, given.kafka(), planned)
    if planned is None and given.selection.bounded:
        topic.narrow(given.selection.spans(topic))
    return topic


def _segments(
    spark: Spark, name: str, given: Given, planned: Mapping[int, Any] | None, progress: Steps | None
) -> Source:
    from kafka_conformance.audit.engines.spark.segments import OnSpark, Segments
    from kafka_conformance.audit.segments.folders import find_topic
    from kafka_conformance.audit.segments.topic import survey_topic

    files, committed = find_topic(given.segments, name), given.isolation == READ_COMMITTED
    topic = survey_topic(files, OnSpark(spark, progress), given.partitions, committed=committed)
    found = Segments(spark, topic, planned)
    if planned is None and given.selection.bounded:
        found.narrow(given.selection.spans(found))
    return found


def _check_files(name: str) -> None:
    """Raise BadInput if no local file matches; other file systems are Spark's to check."""
    scheme, separator, rest = name.partition("://")
    if separator and scheme != "file":
        return
    path = rest if separator else name
    if not exists(Path(path)) and not glob.glob(re.sub(r"\{[^}]*\}", "*", path)):  # noqa: PTH207  patterns may be absolute
        raise BadInput(f"no file matches {name!r}: name a file, a folder or a pattern")


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """Parse ``name=value`` pairs. Raises BadInput."""
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            shown = each if _HARMLESS.fullmatch(each) else "…"  # it may hold a secret
            raise BadInput(f"{option} {shown}: NAME=VALUE expected")
        pairs[name.strip()] = value
    return pairs
