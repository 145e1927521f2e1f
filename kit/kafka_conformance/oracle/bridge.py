"""Compile the Java half of the oracle inside Spark's JVM, at first use, once per release and source.

The compiler is Eclipse's, a single jar that needs no JDK. The classes are cached in the store as one jar, whose name has two
hashes. One is of all that decides what the compiler makes: sources, options, the compiler, the jars and the class path
that they are compiled against, Java's version; only a change to one of these compiles again. The other is of the jar
itself, and is computed every time that the jar is used: a damaged one is compiled again.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from kafka_conformance.core.errors import KitError, OracleFault
from kafka_jars.store import Stored, arriving, sha256_of

__all__ = ["Compiler", "another", "instance", "with_causes"]

_OPTIONS = ("-17", "-g", "-nowarn", "-Xemacs", "-encoding", "UTF-8", "-proc:none")
_SHOWN = 3
_MOST_CAUSES = 8
# How Eclipse's compiler prints an error with -Xemacs; the line of source follows.
_ERROR = re.compile(r"^(.+?):(\d+): error: (.+)$", re.MULTILINE)
_CLASS_FILE = b"\xca\xfe\xba\xbe"
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the same classes give the same jar


class _Calls(Protocol):
    """The methods of a JVM that the compiler uses."""

    @property
    def view(self) -> Any: ...

    def array(self, kind: Any, length: int) -> Any: ...

    def call(self, work: Callable[[], Any]) -> Any: ...


class Compiler:
    """Eclipse's compiler, loaded from ``jars`` (the first is its own); caches the classes in ``folder``."""

    def __init__(self, jvm: _Calls, jars: Sequence[Stored], folder: Path) -> None:
        self._jvm, self._jars, self._folder = jvm, jars, folder / "classes"

    def jar(
        self, sources: Sequence[Path], target: str, against: Sequence[Stored], class_path: Iterable[str] = ()
    ) -> Path:
        """Return the jar of the classes compiled from ``sources``; compile them unless a whole jar of them is cached.

        ``target`` names in errors what they are compiled against: the jars ``against``, and ``class_path``, whose
        elements may be lists joined as Java joins them.

        Raises OracleFault with the compiler's errors, each with its file and line; KitError if the folder cannot be written.
        """
        paths = [path for joined in class_path for path in joined.split(os.pathsep)]
        key = self._key(sources, against, paths)
        try:
            if cached := self._cached(key):
                return cached
            self._folder.mkdir(parents=True, exist_ok=True)
            with arriving(self._folder) as scratch:
                (made := scratch / "classes").mkdir()
                self._compile(sources, target, os.pathsep.join([*(str(each.path) for each in against), *paths]), made)
                return self._keep(key, _jar_of(made), scratch)
        except OSError as error:
            raise KitError(
                f"compiled classes cannot be kept in {self._folder}: {error.strerror or error}:"
                " set KAFKA_CONFORMANCE_CACHE to a folder that can be written and has room"
            ) from error

    def _key(self, sources: Sequence[Path], against: Sequence[Stored], class_path: Sequence[str]) -> str:
        java = self._jvm.call(lambda: self._jvm.view.java.lang.System.getProperty("java.vm.version"))
        digest = hashlib.sha256("\0".join([*_OPTIONS, str(java), ""]).encode())
        for stored in (*self._jars, *against):
            digest.update(stored.sha256.encode())
        for element in class_path:
            for path in _class_path_files(Path(element)):
                digest.update(f"{path.name} {_state(path)}\0".encode(errors="surrogateescape"))
        for source in sorted(sources):
            try:
                digest.update(f"{source.parent.name}/{source.name}\0".encode() + source.read_bytes() + b"\0")
            except OSError as error:
                raise KitError(f"{source} cannot be read: {error.strerror}: install kafka-conformance again") from error
        return digest.hexdigest()[:32]

    def _cached(self, key: str) -> Path | None:
        """Return the jar of this key; delete those that are not what their names say."""
        for path in sorted(self._folder.glob(f"kafka-conformance-{key}.*.jar")):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
                continue
            with suppress(OSError):
                if path.name == _jar_name(key, sha256_of(path)):
                    return path
            path.unlink(missing_ok=True)
        return None

    def _keep(self, key: str, jar: bytes, scratch: Path) -> Path:
        arrived, kept = scratch / "classes.jar", self._folder / _jar_name(key, hashlib.sha256(jar).hexdigest())
        with arrived.open("wb") as file:
            file.write(jar)
            file.flush()
            os.fsync(file.fileno())
        arrived.replace(kept)
        return kept

    def _compile(self, sources: Sequence[Path], target: str, class_path: str, into: Path) -> None:
        from py4j.protocol import Py4JJavaError

        arguments = [*_OPTIONS, "-cp", class_path, "-d", str(into), *map(str, sources)]
        try:
            succeeded, log = self._jvm.call(lambda: self._run(arguments))
        except Py4JJavaError as error:
            raise OracleFault(
                f"the compiler of the oracle's Java failed: {with_causes(error.java_exception)}"
            ) from error
        if not succeeded:
            raise OracleFault(_failure(target, log))
        # A class that cannot be written, as on a full disk, is a line in the log of a compilation that "succeeded".
        if log.strip():
            first, *more = log.strip().splitlines()
            raise OSError(
                f"the compiler of {target} reports: {first}{f' (and {len(more)} more lines)' if more else ''}"
            )
        written = {path: path.read_bytes() for path in into.rglob("*.class")}
        missing = {source.stem for source in sources} - {path.stem for path in written}
        damaged = {path.stem for path, data in written.items() if not data.startswith(_CLASS_FILE)}
        if missing or damaged:
            raise OSError(f"the compiler of {target} did not write {', '.join(sorted(missing | damaged))}")

    def _run(self, arguments: list[str]) -> tuple[bool, str]:
        """Call ``BatchCompiler.compile`` in a separate class loader; return whether it succeeded, and its log."""
        java = self._jvm.view.java
        urls = self._jvm.array(java.net.URL, len(self._jars))
        for index, stored in enumerate(self._jars):
            urls[index] = java.io.File(str(stored.path)).toURI().toURL()
        loader = java.net.URLClassLoader(urls, java.lang.ClassLoader.getPlatformClassLoader())
        compiler = loader.loadClass("org.eclipse.jdt.core.compiler.batch.BatchCompiler")
        method = next(
            m for m in compiler.getMethods() if m.getName() == "compile" and "String[]" in m.toGenericString()
        )
        log = java.io.StringWriter()
        printer = java.io.PrintWriter(log)
        strings = self._jvm.array(java.lang.String, len(arguments))
        for index, argument in enumerate(arguments):
            strings[index] = argument
        parameters = self._jvm.array(java.lang.Object, 4)
        parameters[0], parameters[1], parameters[2], parameters[3] = strings, printer, printer, None
        succeeded = bool(method.invoke(None, parameters))
        printer.flush()
        return succeeded, str(log.toString())


def _class_path_files(element: Path) -> Iterator[Path]:
    """Yield what the compiler may read of an element of a class path: a jar, the jars of ``*``, the classes in a folder."""
    if element.name == "*":
        yield from sorted(element.parent.glob("*.jar"))
    elif element.is_dir():
        yield from sorted(element.rglob("*.class"))
    else:
        yield element


def _state(path: Path) -> str:
    """Return a jar's size and time: Spark has 400 MB of them, too much to read for each compilation."""
    try:
        status = path.stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"


def _jar_of(classes: Path) -> bytes:
    """Return a jar of the classes in a folder; the same classes give the same bytes."""
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(classes.rglob("*.class")):
            made.writestr(zipfile.ZipInfo(file.relative_to(classes).as_posix(), _ZIP_DATE), file.read_bytes())
    return jar.getvalue()


def _jar_name(key: str, sha256: str) -> str:
    return f"kafka-conformance-{key}.{sha256[:32]}.jar"


def _failure(target: str, log: str) -> str:
    """Return one line about a failed compilation: the first errors with file and line, and the number of further ones."""
    errors = [f"{file}:{line}: {message}" for file, line, message in _ERROR.findall(log)]
    more = f" (and {len(errors) - _SHOWN} more errors)" if len(errors) > _SHOWN else ""
    shown = "; ".join(errors[:_SHOWN]) or " ".join(log.split()) or "the compiler printed no error"
    return (
        f"cannot compile the oracle's Java for {target}: {shown}{more}:"
        " correct these lines, or name what this release lacks by reflection"
    )


def instance(jvm: _Calls, class_name: str, class_path: Sequence[Path]) -> Any:
    """Return a new object of a class of ours, loaded from ``class_path`` behind Spark's classes."""

    def create() -> Any:
        java = jvm.view.java
        urls = jvm.array(java.net.URL, len(class_path))
        for index, path in enumerate(class_path):
            urls[index] = java.io.File(str(path)).toURI().toURL()
        loader = java.net.URLClassLoader(urls, java.lang.ClassLoader.getSystemClassLoader())
        constructor = loader.loadClass(class_name).getDeclaredConstructors()[0]
        return constructor.newInstance(jvm.array(java.lang.Object, 0))

    return jvm.call(create)


def another(jvm: _Calls, one: Any) -> Any:
    """Return a new object of the class of ``one``, itself: py4j cannot call two classes of one name."""

    def create() -> Any:
        constructor = one.getClass().getDeclaredConstructors()[0]
        return constructor.newInstance(jvm.array(jvm.view.java.lang.Object, 0))

    return jvm.call(create)


def with_causes(exception: Any) -> str:
    """Return a Java exception as text, with its causes: what reflection throws names only the call that failed."""
    texts: list[str] = []
    while exception is not None and len(texts) < _MOST_CAUSES:
        texts.append(str(exception.toString()))
        exception = exception.getCause()
    return "; caused by ".join(texts)
