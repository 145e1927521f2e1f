"""Files of cassettes: a file that is cut off, damaged, too large or another one is refused in one line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("kafka")

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.client_gate import cassette
from kafka_conformance.wire.client_gate.cassette import cassette_path, read_cassette, write_cassette
from kafka_conformance.wire.client_gate.script import Script

FILE = Path(__file__).parent / "cassettes/produce/plain.ndjson.gz"


def lines(change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """Return the cassette with other lines."""
    return gzip.compress(b"\n".join(change(gzip.decompress(FILE.read_bytes()).splitlines())))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (FILE.read_bytes()[:-9], "is not a whole cassette: it was cut off, or something follows it"),
        (FILE.read_bytes() + b"more", "is not a whole cassette: it was cut off, or something follows it"),
        (FILE.read_bytes()[:900] + b"\0" + FILE.read_bytes()[901:], "is not a cassette: "),
        (b"", "is not a whole cassette"),
        (b"{}\n", "is not a cassette: "),
        (lines(lambda all_: all_[:-1]), "is not a whole cassette: 19 of 20 frames are there"),
        (lines(lambda all_: [*all_, b"{}"]), "is not a cassette: "),
        (gzip.compress(b"[" * 100_000), "is not a cassette: "),
        (lines(lambda all_: [all_[0].replace(b'"format":1', b'"format":2')]), "has format 2 and not 1: record"),
        (lines(lambda all_: [all_[0].replace(b'"seed":', b'"seeds":')]), "is not a cassette: "),
    ],
)
def test_truncated_damaged_or_wrong_format_cassette_file_raises_bad_input(
    tmp_path: Path, data: bytes, why: str
) -> None:
    path = tmp_path / "one.gz"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=why):
        read_cassette(path)


def test_cassette_that_unpacks_to_more_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cassette, "_LARGEST_UNPACKED", 10_000)
    path = tmp_path / "one.gz"
    path.write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(BadInput, match="it has more than 10,000 bytes"):
        read_cassette(path)


def test_cassette_written_to_file_is_read_back_equal_and_absent_file_reads_as_none(tmp_path: Path) -> None:
    found = read_cassette(FILE)
    assert found is not None
    write_cassette(tmp_path / "a/b.gz", found.head, found.frames)
    assert read_cassette(tmp_path / "a/b.gz") == found
    assert read_cassette(tmp_path / "absent.gz") is None


@pytest.mark.parametrize("name", ["../x", "a//b", "/etc/x", "", "a/."])
def test_cassette_path_of_script_id_with_empty_dot_or_absolute_parts_raises_bad_input(name: str) -> None:
    with pytest.raises(BadInput, match="its id is not a path"):
        cassette_path(Path("f"), Script(name, "title"))
