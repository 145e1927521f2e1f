"""The soak with a JVM: planted leaks turn it red; and what it has found: a closed release is unloaded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import soak
from processes import accept_interrupts, nothing_left
from soak_gauges import Gauges
from soak_growth import LEAST_ROUNDS, warm_up
from soak_rounds import Settings, play_round

from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

RELEASE = "4.4.0"


def keep_a_class_loader_and_a_thread(oracle: Oracle) -> None:
    """Plant two leaks: a thread that never ends, and py4j's hold on the class loader of a release."""
    java = oracle.jvm.view.java
    java.util.Timer(True)
    oracle.open(RELEASE)
    for thread in java.lang.Thread.getAllStackTraces().keySet():
        if thread.getName() == f"kafka-oracle-{RELEASE}":
            thread.getContextClassLoader()
    oracle.close_release(RELEASE)


def test_soak_detects_a_planted_thread_and_class_loader_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds, record = warm_up(1) + LEAST_ROUNDS, soak.Record()
    monkeypatch.setattr(soak, "wall_seconds", lambda: lambda: 60 * len(record.samples))
    monkeypatch.setattr(soak, "_JVM_OPTIONS", ("-XX:TieredStopAtLevel=1", "-Xmx256m", "-XX:SoftRefLRUPolicyMSPerMB=0"))
    monkeypatch.setattr(soak, "python_objects", Counter)
    monkeypatch.setattr("soak_gauges._PAUSE_S", 0.05)
    settings = Settings([RULES["murmur2"]], [parse_release(RELEASE)], 1, 1)
    soak.soak(settings, rounds, record, keep_a_class_loader_and_a_thread)
    growths = {growth.measure.name: growth for growth in record.judge()}
    growing = {name for name, growth in growths.items() if growth.grows}
    assert growing >= {"JVM threads", "JVM class loaders of releases", "JVM loaded classes", "py4j bindings"}
    assert growths["JVM threads"].slope == growths["JVM class loaders of releases"].slope == 1
    quiet = {"JVM descriptors", "JVM direct buffers", "JVM mapped buffers", "JVM shutdown hooks", "Python threads"}
    assert not growing & {*quiet, "Python descriptors", "child processes", "temporary files", "temporary bytes"}
    added = record.late - record.early
    assert added["java.util.TimerThread"] == rounds - 3


def test_soak_interrupted_after_few_rounds_exits_2_and_leaves_no_jvm_or_files(
    tmp_path: Path, jvm_of: Callable[[subprocess.Popen[str]], int]
) -> None:
    folder, samples = tmp_path / "temporary", tmp_path / "samples"
    folder.mkdir()
    words = ["--minutes", "5", "--seed", "7", "--rules", "murmur2", "--kafka", "newest", "--samples", str(samples)]
    with subprocess.Popen(
        [sys.executable, soak.__file__, *words], env=os.environ | {"TMPDIR": str(folder)}, text=True, cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=accept_interrupts,
    ) as process:  # fmt: skip
        try:
            jvm, limit = jvm_of(process), time.monotonic() + 60
            while not samples.exists() and time.monotonic() < limit:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 2
    assert re.fullmatch(r"seed 7\n\d rounds? in 0\.\d minutes, seed 7\n", out)
    assert "interrupted: judging the rounds until now\nmeasured " in err
    assert nothing_left({"TMPDIR": str(folder)}, [jvm])


# A release of each kind of broker's metrics: Yammer's, since 2.5.0 Kafka's, which moved to another package.
@pytest.mark.parametrize("release", ["2.0.1", "2.8.2", "3.9.2"])
def test_jvm_unloads_classes_and_ends_threads_of_a_closed_release(release: str, oracle: Oracle, tmp_path: Path) -> None:
    rules = [RULES[slug] for slug in ("murmur2", "offset-index", "record-batch", "broker-producer-state")]
    settings = Settings(rules, [parse_release(release)], 20, 1)
    gauges = Gauges(oracle.jvm, unpacked(oracle))
    openings = 2
    play_round(oracle, settings, 1, lambda _: None)
    before = settled(gauges)
    for seed in range(openings):
        play_round(oracle, settings, seed, lambda _: None)
    after = settled(gauges)
    grown = {name: after[name] - before[name] for name in after}
    for name in ("JVM threads", "JVM class loaders of releases", "JVM shutdown hooks", "JVM MBeans", "temporary files"):
        assert grown[name] <= 0, (name, before, after)
    assert grown["JVM loaded classes"] < 500
    assert grown["JVM unloaded classes"] > 300 * openings


def unpacked(oracle: Oracle) -> Path:
    """The folder into which codecs unpack their native libraries."""
    return Path(str(oracle.jvm.view.java.lang.System.getProperty("java.io.tmpdir")))


def settled(gauges: Gauges) -> dict[str, Any]:
    """What is measured once threads that were told to end have ended."""
    sample, limit = gauges.sample(), time.monotonic() + 10
    while time.monotonic() < limit:
        previous, sample = sample, gauges.sample()
        if (
            previous["JVM threads"] == sample["JVM threads"]
            and previous["JVM unloaded classes"] == sample["JVM unloaded classes"]
        ):
            break
    return sample
