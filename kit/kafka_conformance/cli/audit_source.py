"""What ``audit``, ``join`` and ``repair`` read: their options for it, and the addresses of sources that these become."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import click
import msgspec

from kafka_conformance.audit.connector_options import check_options, from_properties
from kafka_conformance.audit.isolation import LEVELS, OPTION, READ_COMMITTED
from kafka_conformance.audit.segments.folders import find_topic
from kafka_conformance.audit.sources import ExportFiles, SegmentFolders, SourceAddress, TopicAddress
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.client_settings import java_settings
from kafka_conformance.brokers.preflight import check_topics
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import data_files, exists, is_folder
from kafka_conformance.core.java_properties import read_properties

__all__ = ["SourceOptions", "audit_source", "check", "join_source", "pairs", "repair_source"]

_NAME, _HARMLESS = re.compile(r"[\w.-]+"), re.compile(r"=?[\w.-]{0,16}")
_SEEN = 1_000  # files of a folder, of which the endings tell the format
_FORMS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".avro": "avro"}


class SourceOptions(msgspec.Struct, frozen=True):
    """The options that name what is read, as on the command line; a command that lacks one has its default."""

    bootstrap: str = ""
    command_config: str = ""
    options: tuple[str, ...] = ()
    isolation: str = READ_COMMITTED
    segments: tuple[str, ...] = ()
    topic: str = ""
    form: str = ""
    partitions: int | None = None
    key_column: str = "key"
    key_encoding: str = "utf8"

    def addresses(self, names: Sequence[str], count: int = 1) -> Sequence[SourceAddress]:
        """Return the addresses of ``count`` sources with these names. Raises BadInput."""
        if self.segments:
            return [self._folders(names)]
        if len(names) != count:
            wanted = "one topic" if count == 1 else "two topics"
            raise BadInput(f"expected the name of {wanted}, or of files with --format, not {len(names)} names")
        if form := self.form or ("" if self.bootstrap or self.command_config else _form_of(names)):
            return [self._files(name, form) for name in names]
        folders = "; --segments DIR, a broker's data directory" if count == 1 else ""
        return self.topics(
            names, f"; --format parquet, json, csv, avro or console-consumer, an export's files{folders}"
        )

    def topics(self, names: Sequence[str], others: str = "") -> Sequence[TopicAddress]:
        """Return the addresses of topics at a broker. Raises BadInput; ``others`` are the ways to do without a broker."""
        settings = read_properties("--command-config", self.command_config) if self.command_config else {}
        bootstrap = self.bootstrap or settings.get("bootstrap.servers", "")
        if not bootstrap:
            raise BadInput(f"--bootstrap-server HOST:PORT names a topic's broker{others}")
        given = pairs("--option", self.options)
        check_options(given)
        kafka = kafka_options(bootstrap, {OPTION: self.isolation, **from_properties(settings), **given})
        connector = tuple(sorted(name for name in given if not name.startswith("kafka.")))
        return [TopicAddress(_named(name), kafka, connector) for name in names]

    def _folders(self, names: Sequence[str]) -> SegmentFolders:
        if len(names) + bool(self.topic) > 1:
            raise BadInput("--segments DIR takes one topic: name it once")
        if "" in self.segments:
            raise BadInput("--segments is empty: name a folder")
        found = find_topic(tuple(dict.fromkeys(self.segments)), self.topic or "".join(names))
        found.count(self.partitions)
        return SegmentFolders(found, self.partitions, self.isolation)

    def _files(self, name: str, form: str) -> ExportFiles:
        if self.partitions is None:
            raise BadInput(
                "--partitions N is required for files: they do not contain the partition count of their topic"
            )
        return ExportFiles(_named(name), form, self.partitions, self.key_column, self.key_encoding)


def check(addresses: Sequence[SourceAddress], master: str = "") -> None:
    """Check, before an engine starts, that files exist, or that a broker lets the topics be read. Raises BadInput.

    ``master`` is Spark's, which may see other files than this machine.
    """
    for address in addresses:
        if isinstance(address, ExportFiles) and (not master or master.startswith("local")):
            _check_files(address.name)
    topics = [address for address in addresses if isinstance(address, TopicAddress)]
    if topics:
        check_topics(java_settings(topics[0].kafka), [topic.name for topic in topics])


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """Parse ``name=value`` pairs. Raises BadInput."""
    found = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            shown = each if _HARMLESS.fullmatch(each) else "…"  # it may hold a secret
            raise BadInput(f"{option} {shown}: NAME=VALUE expected")
        found[name.strip()] = value
    return found


def _named(name: str) -> str:
    if not name:
        raise BadInput("a name is empty: name a topic, or files")
    return name


def _form_of(names: Sequence[str]) -> str:
    """Return the format of files that the endings of their names tell; empty if they tell none, or several."""
    files = (one for name in names for one in _files_in(name))
    forms = {_FORMS.get("".join(Path(name).suffixes[-1:]).lower(), "") for name in map(_unpacked, files)}
    return forms.pop() if len(forms) == 1 else ""


def _files_in(name: str) -> list[str]:
    """Return some of the files of a folder, without those of the tool that wrote it; any other name as it is."""
    folder = Path(name.removeprefix("file://"))
    if not is_folder(folder):
        return [name]
    return [str(one) for one in islice(data_files(folder), _SEEN)]


def _unpacked(name: str) -> str:
    """Return the name of a file without the ending of its compression."""
    return name.removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")


def _check_files(name: str) -> None:
    """Raise BadInput if no local file matches; other file systems are Spark's to check."""
    scheme, separator, rest = name.partition("://")
    if separator and scheme != "file":
        return
    path = rest if separator else name
    if not exists(Path(path)) and not glob.glob(re.sub(r"\{[^}]*\}", "*", path)):  # noqa: PTH207  patterns may be absolute
        raise BadInput(f"no file matches {name!r}: name a file, a folder or a pattern")


_BROKER = (
    click.option("--bootstrap-server", "bootstrap", default="", metavar="HOST:PORT",
                 help="Broker of the topic (default: bootstrap.servers of --command-config)."),
    click.option("--command-config", default="", metavar="FILE",
                 help="File of client settings, as for Kafka's own tools: Java properties such as security.protocol and "
                      "sasl.jaas.config. Passwords belong here: other users of the machine can read a command line."),
    click.option("--option", "options", multiple=True, metavar="NAME=VALUE",
                 help="Option of Spark's Kafka connector, e.g. kafka.security.protocol=SSL; repeatable. It goes before the "
                      "same setting of --command-config, which is the place for passwords."),
)  # fmt: skip
_ISOLATION = click.option("--isolation", default=READ_COMMITTED, type=click.Choice(LEVELS), show_default=True,
                          metavar="read_committed|read_uncommitted",
                          help="Records of a topic to read: those of committed transactions and those without one, or also "
                               "those of aborted and open transactions.")  # fmt: skip
_SEGMENTS = (
    click.option("--segments", "segments", multiple=True, metavar="DIR",
                 help="Read segment files in place of a topic at a broker: a broker's data directory, or a partition's "
                      "folder such as orders-0; repeatable."),
    click.option("--topic", default="", metavar="NAME",
                 help="With --segments: the topic, if there are several."),
)  # fmt: skip


def _export(partitions: str) -> Sequence[Callable[[options.Command], options.Command]]:
    return (
        click.option("--format", "form", type=click.Choice(["parquet", "json", "csv", "avro", "console-consumer"]),
                     metavar="parquet|json|csv|avro|console-consumer",
                     callback=lambda _, __, form: form or "", help="Read files in place of a topic, with columns partition, "
                     "offset, key, perhaps timestamp (default: by the ending of FILES, if no broker is named)."),
        click.option("--partitions", default=None, type=click.IntRange(1, 1_000_000), metavar="N", help=partitions),
        click.option("--key-column", default="key", show_default=True, metavar="NAME",
                     help="With --format: column of the key."),
        click.option("--key-encoding", default="utf8", type=click.Choice(["utf8", "hex", "base64"]), show_default=True,
                     metavar="utf8|hex|base64", help="With --format: encoding of keys that are text."),
    )  # fmt: skip


audit_source = options.collected(
    "source", SourceOptions, *_BROKER, _ISOLATION, *_SEGMENTS,
    *_export("With --format: partition count of the topic that the files were read from. With --segments: that of the "
             "topic, if not all partitions are there."),
)  # fmt: skip
"""Add the options of an audit's source to a command, which receives them as ``source``."""

join_source = options.collected(
    "source", SourceOptions, *_BROKER, _ISOLATION,
    *_export("With --format: partition count of the topics that the files were read from; it is the same for both."),
)  # fmt: skip
"""Add the options of the two sources of a join."""

repair_source = options.collected("source", SourceOptions, *_BROKER)
"""Add the options of a broker whose topic is repaired: records of committed transactions only."""
