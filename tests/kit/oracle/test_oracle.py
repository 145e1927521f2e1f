"""What the oracle makes of an exception in the JVM; the rest is asked of a real one, in tests/conformance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.oracle.bridge import with_causes
from kafka_conformance.oracle.oracle import OpenRelease


class Throwable:
    """A Java exception, as py4j shows it."""

    def __init__(self, text: str, cause: Throwable | None = None) -> None:
        self.text, self.cause = text, cause

    def toString(self) -> str:  # noqa: N802
        return self.text

    def getCause(self) -> Throwable | None:  # noqa: N802
        return self.cause


def test_java_exception_is_reported_with_causes() -> None:
    """A constructor called by reflection throws an exception that names nothing; its cause names the class."""
    cause = Throwable("java.lang.ClassNotFoundException: org.apache.kafka.common.Node")
    reflected = Throwable("java.lang.reflect.InvocationTargetException", cause)
    assert with_causes(reflected) == f"java.lang.reflect.InvocationTargetException; caused by {cause.text}"
    assert with_causes(cause) == cause.text


def test_cyclic_java_exception_causes_are_cut_after_7() -> None:
    ring = Throwable("a")
    ring.cause = Throwable("b", ring)
    assert with_causes(ring).count("; caused by ") == 7


class Host:
    """The JVM's side of a batch: writes an answer to each line, unless it is ``silent``."""

    def __init__(self, jar: Path) -> None:
        self.jar, self.silent, self.asked = jar, False, b""

    def answer(self, release: str, questions: str, answers: str) -> None:
        self.asked = Path(questions).read_bytes()
        if not self.silent:
            lines = [f'{{"release":"{release}","jar":"{self.jar}"}}', '{"id":"0","answer":{"text":"é\\n"}}']
            Path(answers).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "kafka.jar")


def opened(host: Host, folder: Path) -> OpenRelease:
    def ask_host(work: Callable[[Any], Any]) -> Any:
        return work(host)

    oracle: Any = SimpleNamespace(jvm=SimpleNamespace(folder=folder), _ask_host=ask_host)
    stored: Any = [SimpleNamespace(path=host.jar)]
    return OpenRelease(oracle, "4.4.0", stored)


def test_oracle_batch_is_exchanged_through_files_that_are_deleted_afterwards(host: Host, tmp_path: Path) -> None:
    assert opened(host, tmp_path).answer(b'{"id":"0"}') == [{"id": "0", "answer": {"text": "é\n"}}]
    assert host.asked == b'{"id":"0"}'
    assert not list(tmp_path.iterdir())


def test_oracle_batch_without_written_answers_raises_oracle_fault_and_reuses_no_earlier_answers(
    host: Host, tmp_path: Path
) -> None:
    release = opened(host, tmp_path)
    release.answer(b'{"id":"0"}')
    host.silent = True
    with pytest.raises(OracleFault, match=r"cannot be kept in .*: No such file or directory: make room there$"):
        release.answer(b'{"id":"0"}')
    (tmp_path / "answers").write_bytes(b"{}")
    with pytest.raises(OracleFault):
        release.answer(b'{"id":"0"}')


def test_oracle_batch_in_a_missing_folder_raises_one_line_oracle_fault(host: Host, tmp_path: Path) -> None:
    with pytest.raises(OracleFault, match=r"^questions and answers cannot be kept in .*: make room there$"):
        opened(host, tmp_path / "gone").answer(b"{}")


@pytest.mark.parametrize("error", [ConnectionResetError, TimeoutError])
def test_connection_error_during_an_oracle_batch_is_raised_unchanged(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def lose(*_: str) -> None:
        raise error("gone")

    monkeypatch.setattr(host, "answer", lose)
    with pytest.raises(error, match=r"^gone$"):
        opened(host, tmp_path).answer(b"{}")
