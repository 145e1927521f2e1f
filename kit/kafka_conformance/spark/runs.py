"""A run in a folder: chunk by chunk, resumed at the first that is not finished.

The folder is Hadoop's, so it may be on the machine, in HDFS or in a store of objects:

==============================  =======================================================================================
``plan.json``                   everything that determines the result; a run resumes only with the same plan
``chunks/chunk-000012/``        the Parquet of one chunk; it is complete once Spark has put ``_SUCCESS`` into it
``running.json``                the process that works on it: two would overwrite each other
==============================  =======================================================================================

A chunk is written whole or again from its beginning, and depends on the plan and its number only. So a run that was
interrupted at any point and resumed gives the result of an undisturbed run.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.spark.session import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Files", "Run", "claimed", "is_own", "names_in", "plan_of", "read_plan", "remove_folder", "size_of"]

_CHUNK = re.compile(r"chunk-(\d{6})")
_PLAN, _RUNNING = "plan.json", "running.json"


class Run:
    """A run of this process, in ``folder``. Made by :meth:`open`."""

    def __init__(self, spark: Spark, folder: str, resumed: bool) -> None:
        self.spark, self.folder, self.resumed = spark, folder.rstrip("/"), resumed

    @staticmethod
    @contextmanager
    def open(spark: Spark, folder: str, plan: Mapping[str, Any]) -> Iterator[Run]:
        """Create or resume the run. Raises BadInput if the folder holds another run, or another process works on it."""
        with claimed(_Files(spark, folder.rstrip("/")), folder, plan) as resumed:
            yield Run(spark, folder, resumed)

    @staticmethod
    def plan(spark: Spark, folder: str) -> Any:
        """The plan of the run in this folder, if there is one. Raises BadInput where it cannot be read."""
        return read_plan(_Files(spark, folder.rstrip("/")), folder)

    def finished(self) -> set[int]:
        """The finished chunks."""
        return {int(found[1]) for name in _Files(self.spark, f"{self.folder}/chunks").names()
                if (found := _CHUNK.fullmatch(name)) and self._done(int(found[1]))}  # fmt: skip

    @property
    def files(self) -> Files:
        """The files of the folder."""
        return _Files(self.spark, self.folder)

    def _done(self, number: int) -> bool:
        return _Files(self.spark, self.path(number)).exists("_SUCCESS")

    def path(self, number: int) -> str:
        """The folder of a chunk."""
        return f"{self.folder}/chunks/chunk-{number:06d}"

    def located(self, number: int) -> str:
        """The folder of a chunk with its file system, the same for every executor."""
        return _Files(self.spark, self.path(number)).located()

    def do(
        self, number: int, frame: Callable[[], DataFrame], *, by: tuple[str, ...] = (), settings: Mapping[str, str] = {}
    ) -> None:
        """Write a chunk, in folders for each value of the columns ``by``, with the ``settings`` of Spark's writer.

        What is in its folder is deleted first; what ``frame`` itself puts there stays. Raises SparkFault.
        """
        path = self.path(number)
        write = lambda: frame().write.mode("overwrite").options(**settings).partitionBy(*by).parquet(path)  # noqa: E731
        self.spark.call(write, f"chunk {number} of the run in {self.folder}")

    def read(self, chunks: int, schema: str, part: str = "") -> DataFrame:
        """The Parquet of the first ``chunks`` chunks, all of them finished, with this schema.

        ``part`` is one of the folders that a chunk was written in (``kind=block``); not every chunk has each.
        """
        missing = sorted(set(range(chunks)) - self.finished())
        if missing:
            raise KitError(f"{self.folder}: chunk {missing[0]} is not finished: run the same command again")
        return self._read(range(chunks), schema, part)

    def chunk(self, number: int, schema: str) -> DataFrame:
        """The Parquet of one chunk, which is finished."""
        return self._read([number], schema, "")

    def _read(self, chunks: Iterable[int], schema: str, part: str) -> DataFrame:
        folders = [self.path(number) for number in chunks]
        if part:
            folders = [f"{folder}/{part}" for folder in folders if _Files(self.spark, folder).exists(part)]
        if not folders:
            return self.spark.session.createDataFrame([], schema)
        reader = self.spark.session.read.schema(schema)
        return self.spark.call(lambda: reader.parquet(*folders))


def plan_of(spark: Spark, folder: str) -> dict[str, Any]:
    """Return the plan of a run of any kind. Raises BadInput if there is none."""
    plan = Run.plan(spark, folder)
    if not isinstance(plan, dict):
        raise BadInput(f"{folder} holds no run")
    return plan


@contextmanager
def claimed(files: Files, folder: str, plan: Mapping[str, Any]) -> Iterator[bool]:
    """Claim the run in this folder for the block; yield whether it had begun before.

    Raises BadInput if the folder holds another run, or another process works on it.
    """
    written = msgspec.json.encode(plan, order="sorted")
    before = files.read(_PLAN)
    if before is None and files.anything():
        raise BadInput(f"{folder} is not empty and holds no run: give another folder")
    if before is not None and before != written:
        raise BadInput(
            f"{folder} holds another run ({_differs(before, written)}): give another folder, or the same plan"
        )
    mine = msgspec.json.encode({"host": socket.gethostname(), "pid": os.getpid(), "token": secrets.token_hex(8)})
    _claim(files, mine, folder)
    try:
        if before is None:
            files.write(_PLAN, written)
        yield before is not None
    finally:
        if files.alive():
            files.delete(_RUNNING)


def read_plan(files: Files, folder: str) -> Any:
    """Return the plan of the run in this folder, None if there is none. Raises BadInput if it cannot be read."""
    written = files.read(_PLAN)
    try:
        return None if written is None else msgspec.json.decode(written)
    except UNREADABLE as error:
        raise BadInput(f"{folder}/{_PLAN} cannot be read: give another folder") from error


class Files(Protocol):
    """The files of a folder, by their names."""

    def alive(self) -> bool:
        """Whether the file system still responds."""
        ...

    def anything(self) -> bool:
        """Whether there is a file other than hidden ones and the claim."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, None if there is no such file."""
        ...

    def write(self, name: str, data: bytes, *, exclusive: bool = False) -> None:
        """Write a file, whole or not at all; with ``exclusive``, fail if it exists."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file."""
        ...


def is_own(name: str) -> bool:
    """Whether a file is not of a run's user: hidden, or the claim."""
    return name.startswith(".") or name == _RUNNING


def names_in(spark: Spark, folder: str) -> list[str]:
    """Return the names of the files and folders in a folder; none if it does not exist."""
    return _Files(spark, folder).names()


def size_of(spark: Spark, folder: str) -> int:
    """Return the bytes of all files in a folder, on any file system; 0 if it does not exist."""
    return _Files(spark, folder).size()


def remove_folder(spark: Spark, folder: str) -> None:
    """Delete a folder and all that is in it, if it exists."""
    _Files(spark, folder).remove()


class _Files:
    """A folder on any file system that Hadoop supports."""

    def __init__(self, spark: Spark, folder: str) -> None:
        self._spark, self._folder = spark, folder
        self._hadoop = spark.jvm.org.apache.hadoop.fs
        settings = spark.session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
        self._fs = self._call(lambda: self._hadoop.Path(folder or ".").getFileSystem(settings))

    def _call(self, work: Callable[[], Any]) -> Any:
        return self._spark.call(work, f"the folder {self._folder}")

    def _at(self, name: str) -> Any:
        return self._hadoop.Path(f"{self._folder}/{name}")

    def alive(self) -> bool:
        return self._spark.alive()

    def located(self) -> str:
        return str(self._call(lambda: self._fs.makeQualified(self._hadoop.Path(self._folder)).toString()))

    def exists(self, name: str) -> bool:
        return bool(self._call(lambda: self._fs.exists(self._at(name))))

    def names(self) -> list[str]:
        folder = self._hadoop.Path(self._folder)
        if not self._call(lambda: self._fs.exists(folder)):
            return []
        return [str(each.getPath().getName()) for each in self._call(lambda: self._fs.listStatus(folder))]

    def size(self) -> int:
        folder = self._hadoop.Path(self._folder)
        exists = self._call(lambda: self._fs.exists(folder))
        return int(self._call(lambda: self._fs.getContentSummary(folder).getLength())) if exists else 0

    def remove(self) -> None:
        self._call(lambda: self._fs.delete(self._hadoop.Path(self._folder), True))

    def anything(self) -> bool:
        return any(not is_own(name) for name in self.names())

    def read(self, name: str) -> bytes | None:
        if not self.exists(name):
            return None

        def read() -> bytes:
            stream = self._fs.open(self._at(name))
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

        return bytes(self._call(read))

    def write(self, name: str, data: bytes, *, exclusive: bool = False) -> None:
        """Write a file, whole or not at all; with ``exclusive``, fail if it exists."""

        def write(at: Any, over: bool) -> None:
            stream = self._fs.create(at, over)
            try:
                stream.write(data)
            finally:
                stream.close()

        if exclusive:
            self._call(lambda: write(self._at(name), False))
            return
        scratch = self._at(f".{name}.part")
        self._call(lambda: write(scratch, True))
        self._call(lambda: self._fs.delete(self._at(name), False))
        if not self._call(lambda: self._fs.rename(scratch, self._at(name))):
            raise KitError(f"{self._folder}/{name} cannot be written")

    def delete(self, name: str) -> None:
        self._call(lambda: self._fs.delete(self._at(name), False))


def _claim(files: Files, mine: bytes, folder: str) -> None:
    """Claim the run. A claim by a process of this machine that has ended is dropped."""
    before = files.read(_RUNNING)
    if before is not None:
        try:
            other = msgspec.json.decode(before, type=dict[str, Any])
        except UNREADABLE:
            other = {}
        here = other.get("host") == socket.gethostname()
        if other and not (here and not _runs(int(other.get("pid", 0)))):
            owner = f"process {other.get('pid')} on {other.get('host')}"
            raise BadInput(f"{owner} works on {folder}: wait for it, or delete {folder}/{_RUNNING} if it has ended")
        files.delete(_RUNNING)
    files.write(_RUNNING, mine, exclusive=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _differs(before: bytes, now: bytes) -> str:
    """Return the first difference of two plans."""
    try:
        one, other = msgspec.json.decode(before, type=dict[str, Any]), msgspec.json.decode(now, type=dict[str, Any])
    except UNREADABLE:
        return "its plan cannot be read"
    for name in {**one, **other}:
        if one.get(name) != other.get(name):
            return f"{name} is {str(one.get(name))[:80]} there and {str(other.get(name))[:80]} here"
    return "its plan has another format"
