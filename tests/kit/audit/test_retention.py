"""Records that retention deletes while a run reads: which are said to be missing, and that nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_conformance.audit.result import Deleted
from kafka_conformance.audit.retention import Deletions, notes_of, read_remaining
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput, KitError

CHUNKS = [{0: Span(0, 10), 1: Span(5, 15)}, {0: Span(10, 20), 1: Span(15, 18)}]


class Folder:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def write(self, name: str, data: bytes) -> None:
        self.files[name] = data


class Log:
    """A topic that begins at other offsets each time it is read; reading fails where the span begins earlier."""

    def __init__(self, *begins: Mapping[int, int]) -> None:
        self.begins, self.now, self.reads = list(begins), begins[0], list[Mapping[int, Span]]()
        self.spans: Mapping[int, Span] = CHUNKS[0]

    def read(self, spans: Mapping[int, Span]) -> None:
        self.now = self.begins.pop(0) if self.begins else self.now
        if any(span.first < self.now.get(number, 0) for number, span in spans.items()):
            raise KitError("offset out of range")
        self.reads.append(spans)

    def earliest(self) -> Mapping[int, int]:
        return self.now

    def narrow(self, spans: Mapping[int, Span]) -> None:
        self.spans = spans


def test_chunk_without_deletions_is_read_once_unchanged() -> None:
    folder, log = Folder(), Log({0: 0, 1: 5})
    deletions = Deletions(folder, CHUNKS)
    for number in range(2):
        deletions.read_chunk(number, log.read, log.earliest)
    assert log.reads == CHUNKS
    assert deletions.deleted() == ()
    assert folder.files == {}
    assert list(notes_of(deletions.deleted())) == []


def test_offsets_deleted_by_retention_before_and_during_reading_are_recorded() -> None:
    folder, log = Folder(), Log({0: 3}, {0: 4, 1: 6}, {0: 4, 1: 6}, {0: 12, 1: 40})
    deletions = Deletions(folder, CHUNKS)
    deletions.read_chunk(0, log.read, log.earliest)
    assert log.reads == [{0: Span(4, 10), 1: Span(6, 15)}]
    deletions.read_chunk(1, log.read, log.earliest)
    assert log.reads[1:] == [{0: Span(12, 20)}], "all of the chunk's partition 1 is gone"
    found = (Deleted(0, 0, 4), Deleted(0, 10, 12), Deleted(1, 5, 6), Deleted(1, 15, 18))
    assert deletions.deleted() == found
    assert Deletions(folder, CHUNKS).deleted() == found, "of a resumed run"
    (note,) = notes_of(found)
    lost, _, ranges = note.partition(", and are not judged: ")
    assert lost == "10 offsets were deleted after this run had begun, before they were read"
    assert ranges == "0 to 3 of partition 0, 10 to 11 of partition 0, 5 to 5 of partition 1, 15 to 17 of partition 1"


def test_resumed_chunk_is_read_without_the_deleted_offsets() -> None:
    folder, log = Folder(), Log({0: 4})
    Deletions(folder, CHUNKS).read_chunk(0, log.read, log.earliest)
    log.reads.clear()
    Deletions(folder, CHUNKS).read_chunk(0, log.read, log.earliest)
    assert log.reads == [{0: Span(4, 10), 1: Span(5, 15)}]


def test_adjacent_ranges_of_deleted_offsets_are_merged() -> None:
    folder, log = Folder(), Log({0: 20, 1: 0})
    deletions = Deletions(folder, CHUNKS)
    for number in range(2):
        deletions.read_chunk(number, log.read, log.earliest)
    assert deletions.deleted() == (Deleted(0, 0, 20),)


def test_read_error_without_deleted_offsets_is_raised_unchanged() -> None:
    def fail(*_: Any) -> Any:
        raise KitError("the broker is gone")

    for earliest in (lambda: {0: 0, 1: 5}, dict, fail):
        with pytest.raises(KitError, match="the broker is gone"):
            Deletions(Folder(), CHUNKS).read_chunk(0, fail, earliest)


def test_sample_is_read_from_the_offsets_left_by_retention() -> None:
    log = Log({0: 3}, {0: 4})

    def read() -> str:
        log.read(log.spans)
        return "sample"

    assert read_remaining(log, read) == "sample"
    assert log.spans == {0: Span(4, 10), 1: Span(5, 15)}


@pytest.mark.parametrize("written", [b"[", b'{"0":{"0":1e400}}', b"[" * 100_000, b'"\xff"'])
def test_malformed_file_of_deleted_offsets_raises_an_error_that_names_the_file(written: bytes) -> None:
    class Files:
        def read(self, _: str) -> bytes:
            return written

    with pytest.raises(BadInput, match=r"deleted\.json of the run cannot be read"):
        Deletions(Files(), [])  # type: ignore[arg-type]
