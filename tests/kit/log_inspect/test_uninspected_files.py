"""What was not looked at is not sound: it is counted, the verdict names it, and nothing waits for a file that never ends."""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import replace
from pathlib import Path

import cramjam
import pytest
from crc32c import crc32c
from log_edits import bases, file, kinds, seen
from log_partitions import META, Log, data

from kafka_conformance.log_inspect.reports import page, text
from kafka_conformance.log_inspect.result import Inspection
from kafka_reference.record_batch import Codec, encode_batch

SUFFIXES = ("log", "index", "timeindex", "txnindex", "snapshot")


def put(path: Path, kind: str) -> None:
    """Replace a file by something that is not a file."""
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link to nothing":
        path.symlink_to(path.with_name("gone"))
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            here = Path.cwd()
            os.chdir(path.parent)  # a socket's path is short
            bound.bind(path.name)
            os.chdir(here)
    else:
        path.symlink_to(kind)


def batch_of(codec: Codec, payload: bytes) -> bytes:
    """Return a batch with one record that is this payload, with the right checksum."""
    whole = bytearray(encode_batch(replace(data(1), codec=Codec.NONE))[:61]) + payload
    whole[8:12] = struct.pack(">i", len(whole) - 12)
    whole[21:23] = struct.pack(">h", codec)
    whole[17:21] = struct.pack(">I", crc32c(bytes(whole[21:])))
    return bytes(whole)


def partition_of(folder: Path, batch: bytes) -> Path:
    log = Log(folder / "t-0")
    log.append(data(1))
    log.write()
    file(log, 0, "log").write_bytes(batch)
    for suffix in ("index", "timeindex"):
        file(log, 0, suffix).write_bytes(b"")
    return log.folder


def assert_not_judged(found: Inspection, **counts: int) -> None:
    wanted = {kind.replace("_", "-"): count for kind, count in counts.items()}
    assert (found.verdict, found.broken, found.left_out) == ("not judged", 0, wanted)
    line = text.verdict_line(found)
    assert line.startswith("NOT JUDGED")
    for kind, count in wanted.items():
        assert f"{count} {kind}" in line
        assert f"{count} {kind}" in page.write(found)
    assert "every record decoded" not in line


@pytest.mark.parametrize("kind", ["fifo", "link to nothing", "folder", "socket", "/dev/zero", "/dev/full", "/dev/null"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_segment_or_index_that_is_a_fifo_folder_or_device_is_not_judged(log: Log, suffix: str, kind: str) -> None:
    last = bases(log)[-1]
    put(file(log, last, suffix), kind)
    found = seen(log.folder, records=True)
    assert found.left_out == {"unreadable": 1}
    assert [row.file for row in found.findings if row.kind == "unreadable"] == [file(log, last, suffix).name]
    if kind != "link to nothing":
        assert found.verdict == "not judged"


@pytest.mark.parametrize("kind", ["fifo", "link to nothing", "folder", "/dev/zero"])
@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "partition.metadata", "recovery-point-offset-checkpoint"])
def test_non_regular_checkpoint_file_is_not_judged_but_a_recovery_point_folder_is_broken(
    log: Log, name: str, kind: str
) -> None:
    (log.folder.parent / "meta.properties").write_text(META)
    put((log.folder.parent if name.startswith("recovery") else log.folder) / name, kind)
    if kind == "folder" and name.startswith("recovery"):  # a broker takes it for a partition, and stops
        assert kinds(seen(log.folder.parent)) == {"folder-not-a-partition"}
        return
    found = seen(log.folder.parent, policy="delete")
    assert_not_judged(found, unreadable=1)
    assert found.start.starts == "cannot tell"


def test_segment_that_is_a_symlink_to_a_segment_is_inspected_as_sound(log: Log) -> None:
    path = file(log, bases(log)[1], "log")
    path.rename(log.folder.parent / "elsewhere")
    path.symlink_to(log.folder.parent / "elsewhere")
    found = seen(log.folder, records=True)
    assert (found.verdict, found.left_out) == ("sound", {})
    assert text.verdict_line(found).endswith("every record decoded")


@pytest.mark.parametrize("declared", [2**32 - 1, 3_000_000_000, 33 * 12 + 129 * 2**20])
def test_snappy_batch_declaring_impossible_decompressed_size_is_broken_when_records_are_read(
    tmp_path: Path, declared: int
) -> None:
    number, preamble = declared, bytearray()
    while number >= 0x80:
        preamble.append(number & 0x7F | 0x80)
        number >>= 7
    preamble.append(number)
    found = seen(
        partition_of(tmp_path, batch_of(Codec.SNAPPY, bytes(preamble) + b"\x00a\x05\x01\x05\x01")), records=True
    )
    assert kinds(found) == {"bad-records"}


def test_readable_batch_above_decompression_limit_is_unread_if_records_are_requested_and_else_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_conformance.log_inspect.checks.records.LARGEST_BYTES", 50_000)
    payload = bytes(cramjam.snappy.compress_raw(bytes(60_000)))
    assert len(payload) * 32 > 60_000  # a reader of snappy reads it
    folder = partition_of(tmp_path, batch_of(Codec.SNAPPY, payload))
    assert_not_judged(seen(folder, records=True), record_unread=1)
    assert seen(folder).verdict == "sound"  # nobody asked for records


def test_verdict_is_broken_when_a_segment_is_broken_and_an_index_unreadable(log: Log) -> None:
    put(file(log, bases(log)[-1], "timeindex"), "fifo")
    path = file(log, 0, "log")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = seen(log.folder)
    assert (found.verdict, found.left_out) == ("broken", {"unreadable": 1})
    assert "1 unreadable" in text.verdict_line(found)
