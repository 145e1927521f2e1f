"""Inspect a broker's log directory, or find an offset or a time. Nothing is written.

Exit code 0: sound, or found; 1: broken, or no such record; 2: it could not be judged.
"""

from __future__ import annotations

from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import is_file, write_report
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.streams import say_json
from kafka_conformance.log_inspect.directory import LogDirectory, open_directory, open_segment
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.find_time import find_time, parse_time
from kafka_conformance.log_inspect.inspection import inspect, total_bytes
from kafka_conformance.log_inspect.node_settings import NodeSettings, read_node_settings
from kafka_conformance.log_inspect.reports import page, text
from kafka_conformance.reports.terminal import console
from kafka_reference.releases import NEWEST, parse_release

__all__ = ["command", "find", "inspect_directory"]

_MIB = 2**20


class _Read:
    """Counts bytes in MiB of a progress bar."""

    def __init__(self, progress: Steps) -> None:
        self._progress, self._bytes, self._shown = progress, 0, 0

    def __call__(self, count: int) -> None:
        self._bytes += count
        now = self._bytes // _MIB
        self._progress.advance(now - self._shown)  # also of nothing: 100,000 small segments are a sign of life too
        self._shown = now


@click.argument("named", metavar="DATA...", nargs=-1, required=True, type=options.FILE)
@click.option(
    "--records", is_flag=True, help="Decode every record too: slower, finds invalid records under a valid CRC."
)
@click.option("--cleanup-policy", "policy", default=None, type=click.Choice(["delete", "compact"]),
              metavar="delete|compact", help="The topics' cleanup.policy: with delete, missing offsets are broken, with "
              "compact legal (default: unknown, they are suspicious).")  # fmt: skip
@click.option("--kafka", "release", default="newest", show_default=True, metavar="RELEASE",
              help="The release of the broker whose start is judged.")  # fmt: skip
@click.option("--segments", is_flag=True, help="Print a row for each segment too (default: for each partition).")
@click.option("--strict", is_flag=True, help="Exit with 1 for suspicious findings too.")
@click.option("--html", default=None, type=options.REPORT, metavar="FILE", help="Also write one HTML page.")
@options.as_json
def inspect_directory(
    *,
    named: tuple[Path, ...],
    records: bool,
    policy: str | None,
    release: str,
    segments: bool,
    strict: bool,
    html: Path | None,
    as_json: bool,
) -> int:
    """Check a log directory or one partition's folder: segments, batches, indexes, snapshots, checkpoints.

    Several DATA are the log directories of one node; DATA may be its server.properties, which names
    them, or one .log file, which is inspected with its indexes.

    The report ends with three answers: would a broker start on it, what would it change, which answers are wrong then.
    By default, the headers and checksums of all batches and all other files are checked; --records decodes records.
    """
    if segments and as_json:
        raise BadInput("--segments has no effect with --json: the document has every segment")
    try:
        asked = NEWEST if release == "newest" else parse_release(release)
    except ValueError as error:
        raise BadInput(f"--kafka: {error}") from error
    with steps(f"listing {harmless(str(named[0]))}", 1) as progress:
        settings, opened = _opened(named)
        progress.begin("inspecting", max(1, sum(map(total_bytes, opened)) // _MIB))
        found = inspect(
            *opened, records=records, policy=policy or "", release=asked, settings=settings, read=_Read(progress),
            partition_begins=lambda name: progress.doing(f"inspecting {name}, MiB"),
        )  # fmt: skip
    if as_json:
        say_json(found)
    else:
        text.show(console(), found, segments=segments)
    if html is not None:
        write_report(html, page.write(found))
    if found.verdict == "not judged":
        return 2
    return 1 if found.broken or (strict and found.suspicious) else 0


def _opened(named: tuple[Path, ...]) -> tuple[NodeSettings | None, list[LogDirectory]]:
    """Open what was named: log directories of one node, a partition's folder, or a node's ``server.properties``."""
    if named[0].suffix == ".log" and len(named) == 1 and is_file(named[0]):
        return None, [open_segment(named[0])]
    if is_file(named[0]):
        if len(named) > 1:
            raise BadInput(f"{named[0]} names the log directories of a node: name no other DATA")
        settings = read_node_settings(named[0])
        return settings, [open_directory(folder, of_node=True) for folder in settings.folders]
    opened = [open_directory(folder) for folder in named]
    for directory in opened:
        if len(opened) > 1 and not directory.whole:
            raise BadInput(f"{directory.root} is the folder of a partition: inspect it by itself; several DATA are log "
                           "directories of one node")  # fmt: skip
    if len({directory.root.resolve() for directory in opened}) < len(opened):
        raise BadInput(f"DATA names one directory twice: {', '.join(map(str, named))}")
    return None, opened


@click.argument("directory", metavar="DIR", type=options.FILE)
@click.argument("offset", metavar="[OFFSET]", required=False, type=click.IntRange(0, 2**63 - 1))
@click.option("--partition", default="", metavar="NAME", help="With a log directory: the partition, such as orders-0.")
@click.option("--time", default="", metavar="T", help="Find records by timestamp: ms since 1970, or a UTC year, month, "
              "day, hour, minute or second, such as 2023-11 or 2023-11-14T22:13.")  # fmt: skip
@click.option("--scan", is_flag=True, help="With --time: decode every record (default: skip batches by the time index "
              "and their headers).")  # fmt: skip
@options.as_json
def find(*, directory: Path, offset: int | None, partition: str, time: str, scan: bool, as_json: bool) -> int:
    """Find an offset as a broker does, and print the steps: segment, index entry, position, batches, record.

    With --time, find which partitions, segments and offsets hold the records of a time, also where timestamps are out of
    order.
    """
    if (offset is None) == (not time):
        raise BadInput("name an OFFSET, or a time with --time T, not both")
    if offset is None:
        return _find_time(directory, partition, parse_time(time), scan=scan, as_json=as_json)
    if scan:
        raise BadInput("--scan has no effect without --time")
    found = find_offset(one_partition(open_directory(directory), partition), offset)
    if as_json:
        say_json(found)
    else:
        text.show_search(console(), found)
    if not found.judged:
        return 2
    return 0 if found.record is not None and found.record.offset == offset else 1


def _find_time(folder: Path, partition: str, times: tuple[int, int], *, scan: bool, as_json: bool) -> int:
    directory = open_directory(folder)
    count = 1 if partition else len(directory.partitions)
    with steps(f"searching {harmless(str(folder))}", count) as progress:
        found = find_time(
            directory, times, name=partition, scan=scan, begins=lambda name: progress.doing(f"searching {name}"),
            ends=progress.advance,
        )  # fmt: skip
    if as_json:
        say_json(found)
    else:
        text.show_times(console(), found)
    if not found.judged:
        return 2
    return 0 if found.found else 1


command = click.Group(
    "log",
    help=__doc__,
    commands=[click.command("find")(find), click.command("inspect")(inspect_directory)],
)
