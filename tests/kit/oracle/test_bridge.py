"""Compiled classes are cached whole or not at all; a failed compilation is one line. Eclipse's compiler is a stand-in."""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_conformance.core.errors import KitError, OracleFault
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.java_sources import java_sources
from kafka_jars import ORACLE_SOURCES
from kafka_jars.pins import Jar
from kafka_jars.store import Stored

pytest.importorskip("py4j")

LOG = (
    "/src/murmur2/Murmur2Rule.java:15: error: Utils cannot be resolved\n"
    "\treturn Utils.murmur2(key);\n"
    "\t       ^^^^^\n"
    '/src/murmur2/Murmur2Rule.java:20: error: Syntax error, insert ";" to complete Statement\n'
    "\treturn 1\n"
    "\t       ^\n"
)
ERROR = "/src/rule/Rule.java:{line}: error: mistake {line}\n"
CLASS = b"\xca\xfe\xba\xbe and the rest"


class FakeJvm:
    """A JVM of this version."""

    def __init__(self, version: str = "21") -> None:
        system = SimpleNamespace(getProperty=lambda _: version)
        self.view: Any = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(System=system)))

    def array(self, kind: Any, length: int) -> Any:
        raise NotImplementedError

    def call(self, work: Callable[[], Any]) -> Any:
        return work()


class FakeCompiler(Compiler):
    """Writes ``content`` as the class of each source; counts its compilations."""

    def __init__(self, folder: Path, content: bytes | None = CLASS, version: str = "21") -> None:
        super().__init__(FakeJvm(version), [], folder)
        self.content, self.answer, self.compilations = content, (True, ""), 0

    def _run(self, arguments: list[str]) -> tuple[bool, str]:
        self.compilations += 1
        into = Path(arguments[arguments.index("-d") + 1])
        for source in (Path(each) for each in arguments if each.endswith(".java")):
            if self.content is not None:
                (into / "kafkaoracle").mkdir(exist_ok=True)
                (into / "kafkaoracle" / f"{source.stem}.class").write_bytes(self.content)
        return self.answer


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "Half.java"
    path.parent.mkdir()
    path.write_text("class Half {}", encoding="utf-8")
    return path


def cached(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "classes").iterdir())


def message(log: str, folder: Path) -> str:
    compiler = FakeCompiler(folder)
    compiler.answer = (False, log)
    with pytest.raises(OracleFault) as raised:
        compiler.jar([], "Kafka 4.4.0", [])
    return str(raised.value)


def test_compile_error_names_release_file_line_and_message(tmp_path: Path) -> None:
    assert message(LOG, tmp_path) == (
        "cannot compile the oracle's Java for Kafka 4.4.0: /src/murmur2/Murmur2Rule.java:15: Utils cannot be resolved;"
        ' /src/murmur2/Murmur2Rule.java:20: Syntax error, insert ";" to complete Statement:'
        " correct these lines, or name what this release lacks by reflection"
    )


def test_compile_error_shows_first_three_of_many_errors(tmp_path: Path) -> None:
    text = message("".join(ERROR.format(line=line) for line in range(1, 9)), tmp_path)
    assert "Rule.java:3: mistake 3 (and 5 more errors): correct" in text
    assert "mistake 4" not in text


@pytest.mark.parametrize(
    ("log", "shown"), [("out of\nmemory\n", "out of memory"), ("", "the compiler printed no error")]
)
def test_compile_error_with_unparsed_log_shows_whole_log_or_notes_that_none_was_printed(
    tmp_path: Path, log: str, shown: str
) -> None:
    assert f"for Kafka 4.4.0: {shown}: correct" in message(log, tmp_path)


def test_failed_compilation_leaves_no_cached_classes(tmp_path: Path) -> None:
    message(LOG, tmp_path)
    assert cached(tmp_path) == []


def test_cached_classes_are_not_compiled_again(tmp_path: Path, source: Path) -> None:
    compiler = FakeCompiler(tmp_path)
    jar = compiler.jar([source], "Spark", [])
    with zipfile.ZipFile(jar) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == {"kafkaoracle/Half.class": CLASS}
    assert (compiler.jar([source], "Spark", []), compiler.compilations, cached(tmp_path)) == (jar, 1, [jar.name])


def _empty(jar: Path) -> None:
    jar.write_bytes(b"")


def _truncate(jar: Path) -> None:
    jar.write_bytes(jar.read_bytes()[:-1])


def _change_a_bit(jar: Path) -> None:
    data = bytearray(jar.read_bytes())
    data[len(data) // 2] ^= 1
    jar.write_bytes(data)


def _make_a_folder(jar: Path) -> None:
    jar.unlink()
    (jar / "kafkaoracle").mkdir(parents=True)


def _make_a_fifo(jar: Path) -> None:
    jar.unlink()
    os.mkfifo(jar)


def _link_to_what_has_no_end(jar: Path) -> None:
    jar.unlink()
    jar.symlink_to("/dev/zero")


def _link_to_a_folder(jar: Path) -> None:
    jar.unlink()
    jar.symlink_to(".")


@pytest.mark.parametrize("damage", [_empty, _truncate, _change_a_bit, _make_a_folder, _make_a_fifo, _link_to_what_has_no_end,
                                    _link_to_a_folder, Path.unlink])  # fmt: skip
def test_damaged_or_replaced_jar_of_classes_is_compiled_again(
    tmp_path: Path, source: Path, damage: Callable[[Path], None]
) -> None:
    compiler = FakeCompiler(tmp_path)
    jar = compiler.jar([source], "Spark", [])
    whole = jar.read_bytes()
    damage(jar)
    assert compiler.jar([source], "Spark", []) == jar
    assert (jar.read_bytes(), compiler.compilations, cached(tmp_path)) == (whole, 2, [jar.name])


@pytest.mark.parametrize(
    ("content", "log", "why"),
    [
        (None, "", "did not write Half"),
        (b"", "", "did not write Half"),
        (b"\xca\xfe", "", "did not write Half"),
        (CLASS, "Half.class could not be written: No space left on device\n", "No space left on device"),
    ],
)
def test_compiler_success_with_missing_or_truncated_class_or_logged_write_error_is_an_error(
    tmp_path: Path, source: Path, content: bytes | None, log: str, why: str
) -> None:
    compiler = FakeCompiler(tmp_path, content)
    compiler.answer = (True, log)
    with pytest.raises(KitError, match=why) as raised:
        compiler.jar([source], "Spark", [])
    assert "KAFKA_CONFORMANCE_CACHE" in str(raised.value)
    assert cached(tmp_path) == []


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.mkdir"])
def test_full_disk_while_caching_leaves_no_classes_and_next_compile_succeeds(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    compiler = FakeCompiler(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(call, full)
        with pytest.raises(KitError, match="No space left on device: set KAFKA_CONFORMANCE_CACHE"):
            compiler.jar([source], "Spark", [])
    assert not (tmp_path / "classes").exists() or cached(tmp_path) == []
    assert compiler.jar([source], "Spark", []).is_file()


def _touch(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b".")


def test_cache_name_of_classes_depends_on_java_version_sources_jars_and_class_path(
    tmp_path: Path, source: Path
) -> None:
    folder, one, other = tmp_path / "classpath", tmp_path / "one.jar", tmp_path / "other.jar"
    folder.mkdir()
    for path in (one, other, folder / "in.jar"):
        path.touch()
    against = Stored(Jar("g:a:1"), one, "1" * 64)

    def name(
        jars: Sequence[Stored] = (), class_path: Sequence[str] = (str(one), f"{folder}/*"), version: str = "21"
    ) -> str:
        return FakeCompiler(tmp_path / "cache", version=version).jar([source], "Spark", jars, class_path).name[:50]

    seen = [name(), name(version="17"), name([against]), name(class_path=[str(one)])]
    seen += [name(class_path=[str(other), f"{folder}/*"]), name(class_path=[f"{folder}/*", str(one)])]
    assert name(class_path=[f"{one}:{folder}/*"]) == seen[0]
    for changed in (source, folder / "in.jar", one):
        _touch(changed)
        seen.append(name())
    assert len(set(seen)) == len(seen)


def test_java_sources_of_spark_sweep_put_and_audit_import_no_kafka_classes() -> None:
    """Spark's class path has them only when a topic is read or written."""
    for names in (["KeyBlock", "Answers"], ["PutFile"], ["AuditBlocks"]):
        sources = java_sources([f"kafkaoracle.spark.{name}" for name in names], ORACLE_SOURCES)
        assert {source.stem for source in sources} >= set(names)
        assert not [source.name for source in sources if "import org.apache.kafka." in source.read_text("utf-8")]
