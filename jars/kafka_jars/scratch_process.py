"""A separate program that deletes the scratch folders of a process when that process has ended, however it ended.

:mod:`.scratch` starts it, at the first folder, and writes to it through a pipe: ``+PATH`` before a folder is made and
``-PATH`` when it is deleted, each followed by a zero byte. The pipe closes when the process ends, also by ``kill -9``; if a
forked child still holds it, this program notices within half a second that its parent has changed. A JVM of the process may
need some seconds to end, and write meanwhile; so the folders are deleted until they stay away.

It uses the standard library only and is run by its path with ``-I -S``, so that it starts in 30 ms.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator

PARENT_LOOK_S = 0.5
_AGAIN_S = 0.2
_STAYS_AWAY_S = 3.0
_END_LIMIT_S = 60.0


def owned_folders(messages: bytes) -> set[bytes]:
    """Return the folders that are named and not deleted."""
    owned: set[bytes] = set()
    for message in messages.split(b"\0")[:-1]:
        (owned.add if message[:1] == b"+" else owned.discard)(message[1:])
    return owned


def received(parent: int) -> Iterator[bytes]:
    """Yield what the parent writes, until it has ended."""
    while os.getppid() == parent:
        if select.select([0], [], [], PARENT_LOOK_S)[0]:
            if not (read := os.read(0, 65536)):
                return
            yield read
    os.set_blocking(0, False)
    try:
        while read := os.read(0, 65536):
            yield read
    except BlockingIOError:
        return


def delete(folders: set[bytes]) -> None:
    """Delete the folders until they stay away."""
    limit, absent_since = time.monotonic() + _END_LIMIT_S, time.monotonic()
    while folders and time.monotonic() < min(limit, absent_since + _STAYS_AWAY_S):
        for folder in filter(os.path.lexists, folders):
            shutil.rmtree(folder, ignore_errors=True)
            absent_since = time.monotonic()
        time.sleep(_AGAIN_S)


def main(parent: int) -> None:
    """Own the folders of the process ``parent``."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with its parent
    os.chdir("/")
    messages = b""
    for read in received(parent):
        *whole, rest = (messages + read).rpartition(b"\0")
        owned = owned_folders(b"".join(whole))
        messages = b"".join(b"+%b\0" % folder for folder in owned) + rest
    delete(owned_folders(messages))


if __name__ == "__main__":
    main(int(sys.argv[1]))
