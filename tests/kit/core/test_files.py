"""Files that a user names: what may be wrong with each, and files written whole or not at all."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from permissions import run_obeying

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import (
    check_writable,
    entries,
    exists,
    is_file,
    is_folder,
    open_regular,
    read_bytes,
    read_text,
    write_whole,
)


def _fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(path))  # the name of a socket has at most 107 bytes
    return path


def _link(path: Path, target: str) -> Path:
    path.symlink_to(target)
    return path


_UNREADABLE: list[tuple[str, Callable[[Path], Path], str]] = [
    ("missing", lambda here: here / "missing", "No such file or directory"),
    ("below a file", lambda _: Path(__file__) / "x", "Not a directory"),
    ("folder", lambda here: here, "it is a folder, not a file"),
    ("FIFO", lambda here: _fifo(here / "fifo"), "it is a FIFO, not a file"),
    ("link to a FIFO", lambda here: _link(here / "to", str(_fifo(here / "fifo"))), "it is a FIFO, not a file"),
    ("socket", lambda here: _socket(here / "socket"), "it is a socket, not a file"),
    ("device", lambda _: Path("/dev/urandom"), "it is a device, not a file"),
    ("link to a device", lambda here: _link(here / "endless", "/dev/zero"), "it is a device, not a file"),
    ("link to nothing", lambda here: _link(here / "lost", "gone"), "it is a link to gone, which does not exist"),
    ("link to itself", lambda here: _link(here / "loop", "loop"), "Too many levels of symbolic links"),
    ("long name", lambda here: here / ("n" * 256), "File name too long"),
    ("name with a NUL", lambda here: here / "a\0b", "no file can have this name"),
    ("name that cannot be encoded", lambda here: here / "\ud83d", "no file can have this name"),
]


@pytest.mark.parametrize(("make", "why"), [each[1:] for each in _UNREADABLE], ids=[each[0] for each in _UNREADABLE])
def test_read_of_missing_path_folder_fifo_socket_or_device_raises_bad_input_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    for read in (read_bytes, read_text, open_regular):
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value) == f"{path} cannot be read: {why}"


def test_file_longer_than_limit_is_refused_by_bytes_read_not_stat_size(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(BadInput, match=r"sparse cannot be read: it has more than 3,000,000 bytes"):
        read_bytes(path, 3_000_000)
    assert read_bytes(Path("/proc/self/stat"), 4096)  # its size is 0


def test_file_of_exactly_the_size_limit_is_read_completely(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"seven b")
    assert read_bytes(path, 7) == b"seven b"
    with pytest.raises(BadInput, match="more than 6 bytes"):
        read_bytes(path, 6)


def test_latin_1_text_read_as_utf_8_raises_bad_input_with_invalid_byte_position(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes("größe\r\nx".encode("latin-1"))
    with pytest.raises(BadInput, match=r"latin cannot be read: byte 2 is not UTF-8 text"):
        read_text(path)
    assert read_text(path, encoding="latin-1") == "größe\nx"


def test_exists_is_file_and_is_folder_distinguish_folder_file_fifo_and_missing_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _fifo(tmp_path / "fifo")
    seen = [
        (exists(path), is_file(path), is_folder(path))
        for path in (tmp_path, tmp_path / "file", tmp_path / "fifo", tmp_path / "none", tmp_path / "file" / "x")
    ]
    assert seen == [
        (True, False, True),
        (True, True, False),
        (True, False, False),
        (False, False, False),
        (False, False, False),
    ]
    assert [path.name for path in entries(tmp_path)] == ["fifo", "file"]


@pytest.mark.parametrize("look", [exists, is_file, is_folder, entries])
def test_path_lookup_with_too_long_name_raises_one_line_error(tmp_path: Path, look: Callable[[Path], object]) -> None:
    with pytest.raises(BadInput, match="cannot be read: File name too long"):
        look(tmp_path / ("n" * 300))


_DOORS = """
import sys
from pathlib import Path
from kafka_conformance.core import files
from kafka_conformance.core.errors import KitError
for name in ("read_bytes", "read_text", "open_regular", "exists", "is_file", "is_folder", "entries", "check_writable"):
    try:
        getattr(files, name)(Path(sys.argv[1]))
    except KitError as error:
        print(name, error)
try:
    files.write_whole(Path(sys.argv[1]), b"")
except KitError as error:
    print("write_whole", error)
"""


def test_reads_and_writes_in_a_folder_without_permission_raise_permission_denied_errors(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    done = run_obeying([sys.executable, "-c", _DOORS, str(closed / "x")])
    reasons = [line.partition(" ")[2] for line in done.stdout.splitlines()]
    read, written = reasons[:7], reasons[7:]
    assert read == [f"{closed / 'x'} cannot be read: Permission denied"] * 7, done.stderr
    assert written == [f"{closed / 'x'} cannot be written: Permission denied"] * 2


def test_relative_path_in_deleted_working_directory_raises_no_such_file_error(tmp_path: Path) -> None:
    script = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone');" + _DOORS
    done = subprocess.run(
        [sys.executable, "-c", script, "x"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert "read_bytes x cannot be read: No such file or directory" in done.stdout
    assert "write_whole x cannot be written: No such file or directory" in done.stdout
    assert "check_writable x cannot be written: No such file or directory" in done.stdout
    assert not done.stderr


def test_write_without_disk_space_leaves_the_previous_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page"
    write_whole(path, b"first")

    def full(number: int, mode: str) -> None:
        os.write(number, b"se")
        os.close(number)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(KitError, match=r"page cannot be written: No space left on device"):
        write_whole(path, b"second")
    assert path.read_text() == "first"
    assert [one.name for one in tmp_path.iterdir()] == ["page"]


def test_symlink_at_the_temporary_file_name_is_never_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for number in (os.getpid(), os.getppid()):
        _link(tmp_path / f".{number}.part", "victim")
    write_whole(tmp_path / "page", b"first")
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")  # even by a stranger who has guessed the name
    _link(tmp_path / ".guessed.part", "victim")
    with pytest.raises(KitError):
        write_whole(tmp_path / "page", b"second")
    assert victim.read_text() == "mine"
    assert (tmp_path / "page").read_text() == "first"


def test_reader_during_concurrent_writes_never_reads_a_partial_file(tmp_path: Path) -> None:
    path, sizes = tmp_path / "page", (1 << 16, 1 << 17)
    write_whole(path, b"0" * sizes[0])

    def write(size: int) -> None:
        for _ in range(40):
            write_whole(path, b"0" * size)

    threads = [threading.Thread(target=write, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    seen = {len(read_bytes(path)) for _ in range(200)}
    for thread in threads:
        thread.join()
    assert seen <= set(sizes)
    assert [one.name for one in tmp_path.iterdir()] == ["page"]


def test_written_file_has_permissions_of_the_umask(tmp_path: Path) -> None:
    script = (
        "import os; from pathlib import Path; from kafka_conformance.core.files import write_whole;"
        "os.umask(0o027); write_whole(Path('page'), b'')"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o640


def test_write_follows_symlink_and_raises_kit_error_for_fifo_without_reader(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    write_whole(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()
    with pytest.raises(KitError, match="fifo cannot be written: no process reads this FIFO"):
        write_whole(_fifo(tmp_path / "fifo"), b"lost")


def test_write_to_dev_stdout_keeps_output_printed_before_and_after(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from kafka_conformance.core.files import write_whole;"
        "print('before'); write_whole(Path('/dev/stdout'), b'page\\n'); print('after')"
    )
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "before\npage\nafter\n"


def test_writability_check_of_an_unwritable_path_raises_kit_error_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, why in (
        (tmp_path, "is a folder: name a file in it"),
        (tmp_path / "file" / "x", "what should be its folder is a file"),
        (tmp_path / ("n" * 300), "File name too long"),
        (tmp_path / "new" / ("n" * 300), "File name too long"),
        (_link(tmp_path / "loop", "loop"), "Too many levels of symbolic links"),
    ):
        with pytest.raises(KitError, match=why):
            check_writable(path)
    for path in (tmp_path / "file", tmp_path / "new" / "deep" / "page", Path("/dev/full")):
        check_writable(path)
