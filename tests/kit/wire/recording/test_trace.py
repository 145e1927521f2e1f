"""Trace files: whole, cut off, and what is none."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from traces import Conversation, batch

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.recording.trace import Frame, encoded_line, read_trace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    talk = Conversation()
    talk.produced(talk.produce(batch(0)))
    talk.close()
    return talk.write(tmp_path / "a.trace")


def test_truncated_trace_is_read_up_to_last_complete_line(path: Path) -> None:
    data = path.read_bytes()
    head, lines = read_trace(path)
    assert (head.to, len(list(lines))) == ("127.0.0.1:9092", 3)
    ends = [place + 1 for place, one in enumerate(data) if one == ord("\n")]
    for size in range(ends[0], len(data)):
        path.write_bytes(data[:size])
        assert len(list(read_trace(path)[1])) == sum(end <= size for end in ends) - 1


@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097, 1_000_000])
def test_small_and_large_frame_lines_are_equal_to_the_lines_of_msgspec(size: int) -> None:
    data = random.Random(size).randbytes(size)
    frame = Frame(1.5, 1, "127.0.0.1:9092", "client", "Produce", 9, 7, size, '","data":"","x\\":"', data, "close")
    assert encoded_line(frame) == msgspec.json.encode(frame) + b"\n"


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x00\xff", b'{"line":"connection"}\n', b"[1]\n"])
def test_file_that_is_not_a_trace_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(BadInput, match="is no"):
        list(read_trace(path)[1])


def test_damaged_trace_line_is_refused_with_line_number(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + lines[2].replace(b'"size"', b'"sice"'))
    with pytest.raises(BadInput, match="line 3 is not a line of a trace"):
        list(read_trace(path)[1])


def test_trace_with_second_header_or_unknown_format_is_refused(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data + data)
    with pytest.raises(BadInput, match="second head"):
        list(read_trace(path)[1])
    path.write_bytes(data.replace(b'"format":1', b'"format":2'))
    with pytest.raises(BadInput, match="has format 2 and not 1"):
        read_trace(path)
