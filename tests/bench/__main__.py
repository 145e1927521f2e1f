"""``tox -e bench``: how fast, as ratios within one run. Nothing here is a test: machines are noisy and differ.

Every figure is the median of several rounds, in which the contestants take turns.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import aiokafka.partitioner
import kafka.partitioner.default
import log_inspection
import msgspec
import numpy as np
import pipeline_audit
import pipeline_sweep
import spark_columns
import wire_proxy
from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import collect
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.oracle import OpenRelease, Oracle
from kafka_conformance.rules import RULES, java_classes
from kafka_conformance.verify.columns import key_file
from kafka_jars.pins import load
from kafka_jars.store import default_store
from kafka_reference import bulk, murmur2, parse_release
from kafka_reference.releases import Release

SEED = 20_261_121
ROUNDS = 7
SCALAR_KEYS = 20_000
BULK_KEYS = 2_000_000
SCRIPTS = 2_000
LONG = 50
SIZES = (1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000)


SECTIONS = ("hashing", "asking", "sweep", "column", "audit", "log", "wire")


def main() -> None:
    """All sections, or those named: ``tox -e bench -- audit``; ``audit:50000000`` up to 50 M records, ``log:256`` MiB.

    ``wire:64`` is MiB a round.
    """
    asked = [word.partition(":") for word in sys.argv[1:]] or [(section, "", "") for section in SECTIONS]
    named = {section: argument for section, _, argument in asked}
    if unknown := set(named) - set(SECTIONS):
        sys.exit(f"no such section: {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if {"hashing", "asking"} & set(named):
        rules(named)
    if "sweep" in named:
        with tempfile.TemporaryDirectory() as room:
            pipeline_sweep.sweeping_keys(Path(room))
    if "column" in named:
        spark_columns.columns(int(named["column"] or 5_000_000), rounds=5)
    if "log" in named:
        log_inspection.inspections(int(named["log"] or 1_024), rounds=3)
    if "wire" in named:
        wire_proxy.proxied(int(named["wire"] or 256), rounds=5)
    if "audit" in named:
        most = int(named["audit"] or 10_000_000)
        pipeline_audit.audits(min(most, 10_000_000), tuple(size for size in SIZES if size <= most), rounds=3)


def rules(named: Mapping[str, str]) -> None:
    """Hashing against other clients, and questions through the oracle."""
    print(f"seed {SEED}, {ROUNDS} rounds, medians; Python {sys.version.split()[0]}", flush=True)
    if "hashing" in named:
        hashing_one_by_one()
    pins = load()
    newest = str(max(map(parse_release, pins.releases)))

    def classes(version: str) -> dict[str, str]:
        return {**java_classes(parse_release(version)), "clock": "kafkaoracle.murmur2.Murmur2Clock"}

    with Jvm() as jvm:
        oracle = Oracle(jvm, default_store(), pins, classes)
        if "hashing" in named:
            hashing_columns(oracle.open(newest), newest, jvm.version)
        if "asking" in named:
            asking(oracle, newest)


def hashing_one_by_one() -> None:
    """Scalar murmur2 against the two Python clients people use, over keys of 0 to 36 bytes, 18 on average."""
    chance = random.Random(SEED)
    keys = [chance.randbytes(chance.randint(0, 36)) for _ in range(SCALAR_KEYS)]

    def over(hash_one: Callable[[bytes], int]) -> Callable[[], float]:
        def run() -> float:
            begun = time.perf_counter()
            for key in keys:
                hash_one(key)
            return (time.perf_counter() - begun) / len(keys) * 1e9

        return run

    contestants = {
        "kafka_reference.partitioning.murmur2": over(murmur2),
        "kafka-python": over(kafka.partitioner.default.murmur2),
        "aiokafka": over(aiokafka.partitioner.murmur2),
    }
    show(
        "murmur2, key by key (0-36 bytes)",
        "ns a key",
        in_turns(contestants, ROUNDS),
        "kafka_reference.partitioning.murmur2",
        "others at least 2.0",
    )


def hashing_columns(opened: OpenRelease, newest: str, jvm: str) -> None:
    """Bulk murmur2 against the Java client's own loop over byte[][] that are there already, in the JVM."""
    made = np.random.default_rng(SEED)
    offsets = np.concatenate(([0], np.cumsum(made.integers(0, 37, BULK_KEYS)))).astype(np.int32)
    data = made.integers(0, 256, int(offsets[-1]), dtype=np.uint8)
    with key_file() as file:
        file.write(offsets, data, 0)

        def java() -> float:
            return opened.bulk("clock", file.keys, file.results) / BULK_KEYS

        def ours() -> float:
            begun = time.perf_counter()
            bulk.murmur2_columns(offsets, data)
            return (time.perf_counter() - begun) / BULK_KEYS * 1e9

        results = in_turns({f"Utils.murmur2, Kafka {newest}": java, "kafka_reference.bulk": ours}, ROUNDS)
        assert np.array_equal(file.read(), bulk.murmur2_columns(offsets, data)), "fast and wrong is not fast"
    show(
        f"murmur2, whole columns (0-36 bytes), JVM {jvm}",
        "ns a key",
        results,
        f"Utils.murmur2, Kafka {newest}",
        "bulk at most 1.5",
    )


def asking(oracle: Oracle, newest: str) -> None:
    """Questions a second through the oracle, in batches, after warm-up, in the newest release that has the rule."""
    java = JavaAnswerer(oracle)
    columns = "rule", "release", "steps each", "questions a second", "without writing them down"
    table = Table(*columns, box=None, title="through the oracle", title_justify="left")
    for rule in RULES.values():
        if rule.by_parts is not None:
            continue  # its questions are those of other rules
        at = max(version for version in map(parse_release, load().releases) if rule.java_class(version) is not None)
        questions = collect(rule, SCRIPTS, SEED)
        long = [question for question in questions if len(getattr(question, "steps", ())) >= LONG]
        for name, asked in ((rule.slug, questions), (f"  of {LONG} steps and more", long)):
            if len(asked) >= LONG:
                table.add_row(name, str(at), *_rates(java, oracle, rule, at, asked))
    Console(width=110).print(table)


def _rates(
    java: JavaAnswerer, oracle: Oracle, rule: Rule, release: Release, questions: Sequence[Question]
) -> list[str]:
    """Steps each, and how many a second: with and without writing the questions down."""
    steps = statistics.mean(len(getattr(question, "steps", ("one",))) for question in questions)
    java.answer(rule, release, questions)
    opened = oracle.open_broker(str(release)) if rule.broker else oracle.open(str(release))
    asked = [{"id": str(number), "rule": rule.slug, "question": each} for number, each in enumerate(questions)]
    lines = b"\n".join(map(msgspec.json.encode, asked))

    def a_second(ask: Callable[[], object]) -> Callable[[], float]:
        def run() -> float:
            begun = time.perf_counter()
            ask()
            return len(questions) / (time.perf_counter() - begun)

        return run

    rates = in_turns({
        "asked": a_second(lambda: java.answer(rule, release, questions)),
        "answered": a_second(lambda: opened.answer(lines)),
    }, ROUNDS)  # fmt: skip
    return [f"{steps:.0f}", f"{rates['asked']:,.0f}", f"{rates['answered']:,.0f}"]


def show(title: str, unit: str, results: dict[str, float], one: str, aim: str) -> None:
    table = Table("who", unit, f"ratio to {one}", box=None, title=f"{title}; aim: {aim}", title_justify="left")
    for name, value in results.items():
        table.add_row(name, f"{value:,.1f}", f"{value / results[one]:.2f}")
    Console(width=110).print(table)


main()
