"""One folder of jars, each looked at before it is used.

``KAFKA_CONFORMANCE_CACHE`` names the folder, else it is the user's cache directory. A jar is a file named after its
coordinates. Its sha256 is computed every time it is handed out: a jar changed on disk is found by the run that would
have used it. A jar arrives under another name and is renamed when it is whole and right, so two runs side by side, or
one that was ended midway, leave nothing half-written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import platformdirs

from kafka_jars.errors import JarChanged, JarUnavailable
from kafka_jars.pins import Jar
from kafka_jars.scratch import ScratchFolder

__all__ = ["Fetch", "Store", "Stored", "arriving", "default_store", "sha256_of"]

# Brings the jar of these coordinates into this folder and says where it is.
Fetch: TypeAlias = Callable[[str, Path], Path]
_ARRIVING = "arriving-"
# An arrival takes minutes. One of another run is deleted with that run, unless the whole machine ended.
_FORGOTTEN_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Stored:
    """A jar in the store: the file, its sha256 as found, and whether that was held against a pin."""

    jar: Jar
    path: Path
    sha256: str

    @property
    def pinned(self) -> bool:
        """Whether the sha256 was one to be held to."""
        return self.jar.sha256 is not None


@dataclass(frozen=True, slots=True)
class Store:
    """The folder. ``jars/`` in it holds the jars; its other folders belong to whatever makes them."""

    folder: Path

    def path(self, jar: Jar) -> Path:
        """Where this jar is, or would be."""
        return self.folder / "jars" / jar.file_name

    def missing(self, jars: Iterable[Jar]) -> list[Jar]:
        """Those that are not there yet."""
        return [jar for jar in jars if not os.path.lexists(self.path(jar))]

    def get(self, jar: Jar, fetch: Fetch) -> Stored:
        """The jar, fetched if it is not there. Raises JarChanged for a wrong sha256, JarUnavailable from ``fetch``."""
        path = self.path(jar)
        if not os.path.lexists(path):
            self._bring(jar, fetch)
        return _checked(jar, path)

    def _bring(self, jar: Jar, fetch: Fetch) -> None:
        path = self.path(jar)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        with arriving(path.parent) as scratch:
            arrived = fetch(jar.coordinates, scratch)
            _checked(jar, arrived, f"what the repository gave for {jar.coordinates}")
            try:
                arrived.replace(path)
            except OSError as error:
                raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> JarUnavailable:
        return JarUnavailable(
            f"the jar cache {self.folder} cannot be written ({error.strerror}):"
            " set KAFKA_CONFORMANCE_CACHE to a folder that can"
        )


def arriving(folder: Path) -> ScratchFolder:
    """Return a new folder in ``folder`` for what is moved into it when it is whole; delete those that are forgotten there.

    Raises ScratchUnavailable.
    """
    for path in folder.glob(f"{_ARRIVING}*"):
        with suppress(OSError):  # another run has deleted it
            if time.time() - path.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(path)
    return ScratchFolder(_ARRIVING, folder)


def default_store() -> Store:
    """Return the store in the cache folder."""
    return Store(cache_folder())


def cache_folder() -> Path:
    """Return the folder named by ``KAFKA_CONFORMANCE_CACHE``, else the one in the user's cache directory."""
    named = os.environ.get("KAFKA_CONFORMANCE_CACHE")
    if not named:
        return platformdirs.user_cache_path("kafka-conformance", appauthor=False)
    try:
        return Path(named).absolute()
    except OSError:  # the working directory was deleted: the code that opens a file there reports it
        return Path(named)


def sha256_of(path: Path) -> str:
    """Return the sha256 of a regular file. Raises OSError, also for a FIFO or a device, which may have no end."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a FIFO or a device, not a file")
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(jar: Jar, path: Path, called: str = "") -> Stored:
    try:
        found = sha256_of(path)
    except OSError as error:
        raise JarUnavailable(
            f"the jar {path} cannot be read ({error.strerror}): delete it to fetch it again"
        ) from error
    if jar.sha256 is not None and found != jar.sha256:
        raise JarChanged(called or str(path), jar.sha256, found)
    return Stored(jar, path, found)
