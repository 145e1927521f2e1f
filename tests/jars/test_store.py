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


def test_a_jar_is_fetched_once(store: Store) -> None:
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


def test_one_byte_changed_on_disk_is_found_by_the_next_use(store: Store) -> None:
    path = store.get(PINNED, fetch_of(CONTENT)).path
    path.write_bytes(CONTENT[:-1] + b"R")
    changed = hashlib.sha256(CONTENT[:-1] + b"R").hexdigest()
    with pytest.raises(JarChanged) as raised:
        store.get(PINNED, never)
    assert all(part in str(raised.value) for part in (str(path), SHA256, changed))
    assert path.is_file(), "whoever changed it may want to look at it"


def test_a_wrong_jar_that_arrives_does_not_stay(store: Store) -> None:
    with pytest.raises(JarChanged, match=f"expected sha256 {SHA256}"):
        store.get(PINNED, fetch_of(b"another"))
    assert files(store) == []
    assert store.get(PINNED, fetch_of(CONTENT)).sha256 == SHA256


def test_a_fetch_that_fails_leaves_nothing(store: Store) -> None:
    def fetch(_: str, into: Path) -> Path:
        (into / "half").write_bytes(CONTENT[:3])
        raise JarUnavailable("no network")

    with pytest.raises(JarUnavailable, match="no network"):
        store.get(PINNED, fetch)
    assert files(store) == []
    assert [path.name for path in store.folder.iterdir()] == ["jars"]


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    folder = tmp_path / "file" / below
    with pytest.raises(JarUnavailable) as raised:
        Store(folder).get(PINNED, never)
    line = str(raised.value)
    assert line.startswith(f"the jar cache {folder} cannot be written (")
    assert line.endswith("): set KAFKA_CONFORMANCE_CACHE to a folder that can")


def test_the_folder_is_the_one_named_else_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
def test_what_is_no_file_in_place_of_a_jar_is_one_line(store: Store, make: Callable[[Path], None], why: str) -> None:
    path = store.path(PINNED)
    path.parent.mkdir(parents=True)
    make(path)
    assert store.missing([PINNED]) == []
    with pytest.raises(JarUnavailable) as raised:
        store.get(PINNED, never)
    assert str(raised.value) == f"the jar {path} cannot be read ({why}): delete it to fetch it again"


def test_an_error_of_fetching_is_not_one_of_the_cache(store: Store) -> None:
    def refused(*_: object) -> Path:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(ConnectionRefusedError):  # of a JVM that has ended: its caller says so
        store.get(PINNED, refused)
    assert files(store) == []
