"""Audits of what a real windowed aggregation of Kafka Streams writes: placed as by Java, by a part of the key."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from log_writers import JavaTool
from topics import JavaWriter, Records

from kafka_conformance.brokers.broker import Broker
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.pins import Jar, load
from kafka_jars.store import default_store

RELEASE = "3.9.1"
STREAMS = Jar(
    f"org.apache.kafka:kafka-streams:{RELEASE}", "295dd382b461984577d585955a05cb808893700b00af275eda457782ae434d9c"
)
NAME, PARTITIONS, LIMIT_S = "window-counts", 12, 120
KEYS, TIMES = 90, 4  # a key comes back after 90 s, when its window and its session are over: each record counts 1
WRITTEN = {
    "windows": "window", "sessions": "session-window", f"{NAME}-counts-changelog": "window-store",
    f"{NAME}-active-changelog": "session-window",
}  # fmt: skip
"""The topics that the application writes, and the view of their keys that Kafka Streams places by."""


@pytest.fixture(scope="module")
def broker_with_counts(kafka_broker: Broker, java: JavaWriter) -> Broker:
    """Return the broker after an application has counted what Java's producer wrote, in windows and in sessions."""
    settings = {
        "application.id": NAME, "bootstrap.servers": kafka_broker.bootstrap, "auto.offset.reset": "earliest",
        "statestore.cache.max.bytes": "0", "commit.interval.ms": "200",
    }  # fmt: skip
    for topic in ("records", "windows", "sessions"):
        kafka_broker.create_topic(topic, PARTITIONS)
    start = int(time.time() * 1000) - 600_000  # changelogs are deleted by time, too
    java.write(kafka_broker.bootstrap, "records", Records(
        [b"customer-%d" % (number % KEYS) for number in range(KEYS * TIMES)],
        timestamps=[start + number * 1000 for number in range(KEYS * TIMES)],
    ))  # fmt: skip
    jars = fetched([STREAMS, *load().clients(RELEASE)], default_store())
    with Jvm(extra_class_path=[jar.path for jar in jars]) as jvm:
        application = JavaTool(jvm, "StreamsWindowCounts")
        application("".join(f"{name}={value}\n" for name, value in settings.items()), "records", "windows", "sessions")
        try:
            wait_for_records(kafka_broker.bootstrap, KEYS * TIMES)
        finally:
            application("", "", "", "")
    return kafka_broker


def wait_for_records(bootstrap: str, count: int) -> None:
    """Wait until each topic of the application has this many records."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "ends", "log_level": 0})
    limit = time.monotonic() + LIMIT_S
    try:
        while True:
            found = {topic: ends(consumer, topic) for topic in WRITTEN}
            if min(found.values()) >= count:
                return
            assert time.monotonic() < limit, found
            time.sleep(0.5)
    finally:
        consumer.close()


def ends(consumer: Consumer, topic: str) -> int:
    """Return the number of records of a topic; 0 while it is created, or a partition has no leader yet."""
    try:
        places = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        return sum(consumer.get_watermark_offsets(TopicPartition(topic, place), timeout=10)[1] for place in places)
    except KafkaException:
        return 0


@pytest.mark.parametrize("topic", WRITTEN)
def test_audit_of_kafka_streams_windowed_topic_explains_every_record_by_the_key_without_window(
    topic: str, broker_with_counts: Broker, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_conformance", "audit", topic, "--bootstrap-server", broker_with_counts.bootstrap,
         "--engine", "local", "--json", "--folder", str(tmp_path / "run")],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["records"], report["explained"], report["offending"]) == (KEYS * TIMES, KEYS * TIMES, 0)
    assert report["key_view"] == WRITTEN[topic]
