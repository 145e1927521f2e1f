"""Files written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.files import write_whole


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page"
    write_whole(path, b"first")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(KitError, match=r"page cannot be written: No space left on device"):
        write_whole(path, b"second")
    assert path.read_text() == "first"
    assert [one.name for one in tmp_path.iterdir()] == ["page"]


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    write_whole(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()
