"""Run Java's own producer and consumer of a release as the adapter: ``python ci/adapters/java/run.py 4.4.0``."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_jars.brokers import load_brokers
from kafka_jars.pins import load
from kafka_jars.store import default_store

SOURCE = Path(__file__).with_name("Adapter.java")


def main(release: str) -> None:
    """Compile the adapter once for each release, and become Java."""
    pins, brokers = load(), load_brokers()
    json = [jar for jar in brokers.jars(brokers.newest) if ":jackson-" in jar.coordinates]
    jars = [*pins.jars(release), *pins.codec_jars(release), *json]
    path = os.pathsep.join(str(each.path) for each in fetched(jars, default_store()))
    java = find_java().program
    key = hashlib.sha256(SOURCE.read_bytes() + path.encode()).hexdigest()[:16]
    classes = Path(tempfile.gettempdir()) / f"kafka-conformance-adapter-{os.getuid()}-{key}"
    if not (classes / "Adapter.class").exists():
        subprocess.run([java.with_name("javac"), "-nowarn", "-cp", path, "-d", classes, SOURCE], check=True)
    os.execv(java, [str(java), "-cp", f"{classes}{os.pathsep}{path}", "-XX:TieredStopAtLevel=1", "Adapter"])


if __name__ == "__main__":
    main(sys.argv[1])
