"""Compile the Java half of the oracle inside Spark's JVM, at first use, once per release and source.

The compiler is Eclipse's, a single jar that needs no JDK. The classes are cached in the store under a hash of the sources,
the compiler and the jars they are compiled against, so only a change to one of these compiles again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from kafka_conformance.core.errors import KitError, OracleFault
from kafka_jars.store import Stored

__all__ = ["Compiler", "another", "instance", "jar_of"]

_SHOWN = 3
# How Eclipse's compiler prints an error with -Xemacs; the line of source follows.
_ERROR = re.compile(r"^(.+?):(\d+): error: (.+)$", re.MULTILINE)


class _Calls(Protocol):
    """The methods of a JVM that the compiler uses."""

    @property
    def view(self) -> Any: ...

    def array(self, kind: Any, length: int) -> Any: ...

    def call(self, work: Callable[[], Any]) -> Any: ...


class Compiler:
    """Eclipse's compiler, loaded from ``jars`` (the first is its own); caches the classes in ``folder``."""

    def __init__(self, jvm: _Calls, jars: Sequence[Stored], folder: Path) -> None:
        self._jvm, self._jars, self._folder = jvm, jars, folder

    def classes(
        self, sources: Sequence[Path], target: str, against: Sequence[Stored], class_path: Iterable[str] = ()
    ) -> Path:
        """Return the folder of classes compiled from ``sources``; compile them unless they are cached.

        ``target`` names in errors what they are compiled against: the jars ``against``, which are part of the
        folder's name, and ``class_path``, which is not (Spark's own, which changes with Spark).

        Raises OracleFault with the compiler's errors, each with its file and line; KitError if the folder is read-only.
        """
        made = self._folder / "classes" / self._name(sources, against)
        if not made.is_dir():
            try:
                made.parent.mkdir(parents=True, exist_ok=True)
                scratch = Path(tempfile.mkdtemp(prefix="arriving-", dir=made.parent))
            except OSError as error:
                raise KitError(f"cannot write {made.parent}: {error.strerror}") from error
            try:
                path = os.pathsep.join([*(str(stored.path) for stored in against), *class_path])
                self._compile(sources, target, path, scratch)
                _move(scratch, made)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return made

    def _name(self, sources: Sequence[Path], against: Sequence[Stored]) -> str:
        digest = hashlib.sha256()
        for stored in (*self._jars, *against):
            digest.update(stored.sha256.encode())
        for source in sorted(sources):
            digest.update(f"{source.parent.name}/{source.name}\0".encode() + source.read_bytes() + b"\0")
        return digest.hexdigest()[:32]

    def _compile(self, sources: Sequence[Path], target: str, class_path: str, into: Path) -> None:
        arguments = ["-17", "-g", "-nowarn", "-Xemacs", "-encoding", "UTF-8", "-proc:none", "-cp", class_path]
        arguments += ["-d", str(into), *map(str, sources)]
        log = self._jvm.call(lambda: self._run(arguments))
        if log is not None:
            raise OracleFault(_failure(target, log))

    def _run(self, arguments: list[str]) -> str | None:
        """Call ``BatchCompiler.compile`` by reflection, in a class loader of its own; its log if it failed, else None."""
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
        return None if method.invoke(None, parameters) else str(log.toString())


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


def jar_of(classes: Path) -> Path:
    """Return the jar of a folder of classes; create it beside the folder at first use."""
    jar = classes.with_name(f"kafka-conformance-{classes.name}.jar")
    if not jar.is_file():
        scratch = jar.with_name(f"arriving-{os.getpid()}-{jar.name}")
        with zipfile.ZipFile(scratch, "w") as made:
            for file in sorted(classes.rglob("*.class")):
                made.write(file, file.relative_to(classes))
        scratch.replace(jar)
    return jar


def _move(scratch: Path, made: Path) -> None:
    try:
        scratch.rename(made)
    except OSError:
        if not made.is_dir():  # otherwise a concurrent run has compiled the same classes
            raise
