"""``log inspect`` beside Kafka's own ``kafka-dump-log``, on the same files, as processes of their own; and its memory.

``kafka-dump-log`` without options prints the header of every batch and whether its checksum is right; with
``--deep-iteration`` it decodes records too, as ``log inspect --records`` does. Both write to a file that is thrown away.
"""

from __future__ import annotations

import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_jars.brokers import load_brokers
from kafka_jars.store import default_store
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch

RELEASE = "3.9.2"
"""The newest pinned release whose broker has the tool; later ones have it in a jar of tools."""
MIB = 2**20


def write_partition(folder: Path, size: int, records: int, value: int, codec: Codec = Codec.NONE) -> None:
    """One segment of equal batches, up to ``size`` bytes: a base offset is not covered by the checksum."""
    folder.mkdir(parents=True)
    now = 1_700_000_000_000
    made = [NewRecord(now + number, b"key %d" % number, bytes([number % 251]) * value) for number in range(records)]
    batch = bytearray(encode_batch(replace(NewBatch(records=made, codec=codec), partition_leader_epoch=0)))
    index, since = bytearray(), 0
    with (folder / f"{0:020}.log").open("wb") as file:
        for number in range(size // len(batch)):
            struct.pack_into(">q", batch, 0, number * records)
            if since > 4_096:
                index += struct.pack(">ii", number * records + records - 1, number * len(batch))
                since = 0
            file.write(batch)
            since += len(batch)
    (folder / f"{0:020}.index").write_bytes(index)
    (folder / f"{0:020}.timeindex").write_bytes(struct.pack(">qi", now + records - 1, records - 1))
    (folder / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n", encoding="utf-8")


def inspections(mib: int, rounds: int) -> None:
    """All contests, on files of ``mib`` MiB (records: an eighth of that), and the memory for the largest."""
    pins = load_brokers()
    class_path = os.pathsep.join(str(stored.path) for stored in fetched(pins.jars(RELEASE), default_store()))
    java = [str(find_java().program), "-cp", class_path, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    table = Table("file", "MiB", "kafka-dump-log", "log inspect", "speed ratio", "CPU ratio", box=None,
                  title_justify="left", title=f"log inspect beside kafka-dump-log {RELEASE}; aim: at least 0.5")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-") as room:
        for name, share, deep, how in (
            ("batches of 15 records of 1 kB", 1, False, (15, 1_000)),
            ("batches of one record of 100 B", 4, False, (1, 100)),
            ("records of 100 B, decoded", 8, True, (100, 100)),
            ("records of 200 B, lz4, decoded", 8, True, (100, 200, Codec.LZ4)),
        ):
            folder = Path(room) / name.replace(" ", "-").replace(",", "") / "bench-0"  # the tool splits names at commas
            size = mib * MIB // share
            write_partition(folder, size, *how)
            log = str(folder / f"{0:020}.log")
            dump = [*java, "kafka.tools.DumpLogSegments", "--files", log, *(["--deep-iteration"] if deep else [])]
            ours = [sys.executable, "-m", "kafka_conformance", "log", "inspect", str(folder)]
            timed = {"dump": _Timed(dump), "ours": _Timed([*ours, *(["--records"] if deep else [])])}
            seconds = in_turns(timed, rounds)
            table.add_row(name, f"{size // MIB:,}", f"{seconds['dump']:.1f} s", f"{seconds['ours']:.1f} s",
                          f"{seconds['dump'] / seconds['ours']:.2f}",
                          f"{timed['dump'].cpu_s() / timed['ours'].cpu_s():.2f}")  # fmt: skip
    Console(width=110).print(table)
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-") as room:
        folder = Path(room) / "bench-0"
        write_partition(folder, 1024 * MIB, 15, 1_000)
        print(f"memory for 1 GiB: {_memory_mib(folder):.0f} MiB; aim: below 60 MB")


class _Timed:
    """Runs a command; a call returns the seconds it took, :meth:`cpu_s` the median of the CPU seconds of all threads."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._cpu_s: list[float] = []

    def __call__(self) -> float:
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        with tempfile.TemporaryFile() as out:
            subprocess.run(self._command, stdout=out, stderr=subprocess.DEVNULL, check=True)
        elapsed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        self._cpu_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return elapsed

    def cpu_s(self) -> float:
        return statistics.median(self._cpu_s)


def _memory_mib(folder: Path) -> float:
    """The largest resident size of the process. ``ru_maxrss`` would count this process too, as it was at the fork."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from kafka_conformance.cli.main import app\n"
        f"app.main(['log', 'inspect', {str(folder)!r}, '--json'], standalone_mode=False)\n"
        "lines = Path('/proc/self/status').read_text().splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(ran.stderr.split()[-1]) / 1024
