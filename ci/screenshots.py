"""Photograph the pages that the kit writes, for the README and the site: a gate's report and an audit's.

::

    python ci/screenshots.py          # writes kit/docs/pictures/gate.png and audit.png; a minute

Needs Chromium, and the extras ``jvm`` and ``test``. The gate asks confluent-kafka's default partitioner. The audit reads an
export of a topic that two services wrote: Java's producer, and since the third day one with librdkafka's default.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from kafka_reference import bulk

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "kit" / "docs" / "pictures"
DRIVER = ROOT / "ci" / "drivers" / "confluent-kafka"
PARTITIONS, RECORDS, DAY_MS = 12, 600_000, 86_400_000
BEGIN_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
KIT = (sys.executable, "-m", "kafka_conformance")
WIDTH, COLOURS = 1100, 96


def main() -> None:
    """Write both pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as name:
        folder = Path(name)
        photograph(gate_page(folder), PICTURES / "gate.png", height=1032)
        photograph(audit_page(folder), PICTURES / "audit.png", height=1160)


def gate_page(folder: Path) -> Path:
    """Gate librdkafka's default partitioner; return the HTML report."""
    page, failures = folder / "gate.html", str(folder / "failures")
    run("gate", "--rules", "partition-for-key,producer-partition", "--seed", "1", "--no-github", "--failures", failures,
        "--html", str(page), "--", "python", "driver.py", "consistent_random", folder=DRIVER)  # fmt: skip
    return page


def audit_page(folder: Path) -> Path:
    """Audit an export of a topic with two writers; return the HTML report."""
    write_topic(folder / "orders.parquet")
    run("audit", "orders.parquet", "--format", "parquet", "--partitions", str(PARTITIONS), "--chunk", "100000",
        "--folder", "orders-audit", "--html", "audit.html", folder=folder)  # fmt: skip
    return folder / "audit.html"


def write_topic(path: Path) -> None:
    """Write six days of records: by Java's producer, and from the third day on one in three by librdkafka's default."""
    draws = random.Random(1)  # noqa: S311  the same topic every time
    keys = [b"customer-%06d" % draws.randrange(40_000) for _ in range(RECORDS)]
    placed = bulk.partition_for_key(pa.array(keys), PARTITIONS).to_pylist()
    days = [6 * number / RECORDS for number in range(RECORDS)]
    chosen = [
        java if day < 2 or draws.random() < 2 / 3 else zlib.crc32(key) % PARTITIONS
        for key, java, day in zip(keys, placed, days, strict=True)
    ]
    offsets = [itertools.count() for _ in range(PARTITIONS)]
    table = pa.table(
        {
            "partition": pa.array(chosen, pa.int32()),
            "offset": pa.array([next(offsets[partition]) for partition in chosen], pa.int64()),
            "timestamp": pa.array([BEGIN_MS + int(day * DAY_MS) for day in days], pa.timestamp("ms", tz="UTC")),
            "key": pa.array(keys),
        }
    )
    pq.write_table(table, path)


def run(*words: str, folder: Path) -> None:
    """Run a command of the kit, which finds differences. Raises RuntimeError if it did not judge."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run([*KIT, *words], cwd=folder, env=os.environ | {"PATH": path}, check=False)
    if ran.returncode != 1:
        raise RuntimeError(f"kafka-conformance {words[0]} exited with {ran.returncode}, not with 1")


def photograph(page: Path, picture: Path, *, height: int, dark: bool = False, width: int = WIDTH) -> None:
    """Take a picture of a page's first ``height`` pixels, as a PNG of few colours. Raises RuntimeError without Chromium."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise RuntimeError("there is no chromium in PATH: install it")
    flags = ["--headless", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
    # Without it a picture taken on a busy machine has white rectangles, where a part of the page was not painted yet.
    flags += ["--run-all-compositor-stages-before-draw", "--virtual-time-budget=10000"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []
    flags += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []
    with tempfile.TemporaryDirectory(prefix="profile-") as profile:
        subprocess.run(
            [chromium, *flags, f"--user-data-dir={profile}", f"--window-size={width},{height}",
             f"--screenshot={picture}", page.as_uri()],
            check=True, timeout=120, capture_output=True,
        )  # fmt: skip
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    click.command(help=__doc__)(main)()
