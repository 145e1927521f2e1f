"""The jar cache: every jar is looked at, every time; nothing half-fetched or wrong ever stays."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_jars.errors import JarChanged, JarUnavailable
from kafka_jars.pins import Jar
from kafka_jars.store import Store, default_store

CONTENT = b"PK\x03\x04 a jar"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PINNED, UNPINNED = Jar("org.example:it:1.0", SHA256), Jar("org.example:it:1.0")


def fetch_of(content: bytes):
    """Brings ``content``, and notes what was asked for."""

    def fetch(coordinates: str, into: Path) -> Path:
        fetch.asked.append(coordinates)
        arrived = into / "deep" / "whatever.jar"
        arrived.parent.mkdir()
        arrived.write_bytes(content)
        return arrived

    fetch.asked = []
    return fetch


def never(coordinates: str, _: Path) -> Path:
    raise AssertionError(f"{coordinates} was in the store")


def files(store: Store) -> list[str]:
    return sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def test_jar_in_store_is_not_fetched_a_second_time(store: Store) -> None:
    fetch = fetch_of(CONTENT)
    assert store.missing([PINNED]) == [PINNED]
    stored = store.get(PINNED, fetch)
    assert (stored.path.read_bytes(), stored.sha256, stored.pinned) == (CONTENT, SHA256, True)
    assert stored.path == store.path(PINNED) == store.folder / "jars" / "org.example_it_1.0.jar"
    assert store.missing([PINNED]) == []
    assert store.get(PINNED, never) == stored
    assert fetch.asked == ["org.example:it:1.0"]
    assert files(store) == ["jars/org.example_it_1.0.jar"]


def test_unpinned_jar_reports_sha256_without_verification(store: Store) -> None:
    stored = store.get(UNPINNED, fetch_of(b"anything"))
    assert (stored.pinned, stored.sha256) == (False, hashlib.sha256(b"anything").hexdigest())


def test_stored_jar_with_one_changed_byte_raises_jar_changed(store: Store) -> None:
    path = store.get(PINNED, fetch_of(CONTENT)).path
    path.write_bytes(CONTENT[:-1] + b"R")
    changed = hashlib.sha256(CONTENT[:-1] + b"R").hexdigest()
    with pytest.raises(JarChanged) as raised:
        store.get(PINNED, never)
    assert all(part in str(raised.value) for part in (str(path), SHA256, changed))
    assert path.is_file(), "whoever changed it may want to look at it"


def test_fetched_jar_with_wrong_sha256_is_not_stored(store: Store) -> None:
    with pytest.raises(JarChanged, match=f"expected sha256 {SHA256}"):
        store.get(PINNED, fetch_of(b"another"))
    assert files(store) == []
    assert store.get(PINNED, fetch_of(CONTENT)).sha256 == SHA256


def test_failed_fetch_leaves_no_partial_file_in_the_store(store: Store) -> None:
    def fetch(_: str, into: Path) -> Path:
        (into / "half").write_bytes(CONTENT[:3])
        raise JarUnavailable("no network")

    with pytest.raises(JarUnavailable, match="no network"):
        store.get(PINNED, fetch)
    assert files(store) == []
    assert [path.name for path in store.folder.iterdir()] == ["jars"]


@pytest.mark.parametrize("below", ["", "deeper"])
def test_unwritable_jar_cache_raises_one_line_error_naming_the_variable(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    folder = tmp_path / "file" / below
    with pytest.raises(JarUnavailable) as raised:
        Store(folder).get(PINNED, never)
    line = str(raised.value)
    assert line.startswith(f"the jar cache {folder} cannot be written (")
    assert line.endswith("): set KAFKA_CONFORMANCE_CACHE to a folder that can")


def test_store_folder_is_cache_variable_or_user_cache_if_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", "here")
    assert default_store().folder == tmp_path / "here"
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("KAFKA_CONFORMANCE_CACHE")
        else:
            monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", unset)
        assert default_store().folder.name == "kafka-conformance"
        assert tmp_path not in default_store().folder.parents


@pytest.mark.parametrize(("make", "why"), [
    (Path.mkdir, "Is a directory"),
    (lambda path: path.symlink_to("nowhere"), "No such file or directory"),
    (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    (os.mkfifo, "it is a FIFO or a device, not a file"),
    (lambda path: path.symlink_to("/dev/zero"), "it is a FIFO or a device, not a file"),
])  # fmt: skip
def test_directory_fifo_or_broken_symlink_in_place_of_a_jar_raises_one_line_jar_unavailable(
    store: Store, make: Callable[[Path], None], why: str
) -> None:
    path = store.path(PINNED)
    path.parent.mkdir(parents=True)
    make(path)
    assert store.missing([PINNED]) == []
    with pytest.raises(JarUnavailable) as raised:
        store.get(PINNED, never)
    assert str(raised.value) == f"the jar {path} cannot be read ({why}): delete it to fetch it again"


def test_connection_error_during_jar_fetch_is_raised_unchanged_and_leaves_no_file(store: Store) -> None:
    def refused(*_: object) -> Path:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(ConnectionRefusedError):  # of a JVM that has ended: its caller says so
        store.get(PINNED, refused)
    assert files(store) == []
