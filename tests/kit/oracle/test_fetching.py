"""Jars out of the store without a JVM, and into it with one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Self

import pytest

from kafka_conformance.oracle import fetching
from kafka_conformance.oracle.fetching import fetched, published_versions
from kafka_jars.errors import JarChanged
from kafka_jars.pins import Jar
from kafka_jars.store import Store

ONE, TWO = Jar("a:one:1", hashlib.sha256(b"a:one:1").hexdigest()), Jar("a:two:1")


class Jvm:
    """One that fetches nothing but names."""

    started = 0
    view = None

    def __enter__(self) -> Self:
        type(self).started += 1
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, work: Any) -> Any:
        return work()


class Ivy:
    def __init__(self, _: object) -> None:
        pass

    def fetch(self, coordinates: str, into: Path) -> Path:
        (into / "it").write_text(coordinates)
        return into / "it"

    def versions(self, module: str, _: Path) -> list[str]:
        assert module == "org.apache.kafka:kafka-clients"
        return ["4.4.0", "0.10.0.0", "0.9.0.1", "0.8.2-beta", "3.10.0", "3.9.2"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(fetching, "Jvm", Jvm)
    monkeypatch.setattr(fetching, "Ivy", Ivy)
    monkeypatch.setattr(Jvm, "started", 0)
    return Store(tmp_path)


def test_jars_already_in_the_store_are_returned_without_starting_a_jvm(store: Store) -> None:
    first = fetched([ONE, TWO], store)
    assert [each.path.read_text() for each in first] == ["a:one:1", "a:two:1"]
    assert [each.pinned for each in first] == [True, False]
    assert fetched([ONE, TWO], store) == first
    assert Jvm.started == 1


def test_fetching_jars_with_a_running_jvm_starts_no_second_jvm(store: Store) -> None:
    assert len(fetched([ONE], store, Jvm())) == 1  # type: ignore[arg-type]
    assert Jvm.started == 0


def test_stored_jar_with_changed_content_raises_jar_changed(store: Store) -> None:
    fetched([ONE], store)
    store.path(ONE).write_text("another")
    with pytest.raises(JarChanged):
        fetched([ONE], store)


@pytest.mark.usefixtures("store")
def test_published_versions_are_sorted_without_prereleases_or_versions_before_0_10() -> None:
    assert list(map(str, published_versions())) == ["0.10.0.0", "3.9.2", "3.10.0", "4.4.0"]
