"""Records of every kind in a broker's log: idempotent producers with every codec, transactions, compaction, retention."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_conformance.oracle.jvm import Jvm

__all__ = [
    "CODECS", "JavaTool", "java_transactions", "new_producer", "produce", "produce_plain", "produce_transactions",
    "written_meanwhile",
]  # fmt: skip

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class JavaTool:
    """A public class beside this file with one static method; calling it calls the method in ``jvm``."""

    def __init__(self, jvm: Jvm, name: str) -> None:
        self._jvm = jvm
        source = Path(__file__).with_name(f"{name}.java").read_text(encoding="utf-8")

        def compiled() -> Any:
            compiler = jvm.view.org.codehaus.janino.SimpleCompiler()
            compiler.cook(source)
            return compiler.getClassLoader().loadClass(name)

        self._method = next(
            each for each in jvm.call(compiled).getDeclaredMethods() if "static" in str(each.toString())
        )

    def __call__(self, *arguments: str | int) -> None:
        given = self._jvm.array(self._jvm.view.java.lang.Object, len(arguments))
        for at, argument in enumerate(arguments):
            given[at] = argument
        self._jvm.call(lambda: self._method.invoke(None, given))


def java_transactions(write: JavaTool, bootstrap: str, topic: str, transactions: int, records: int) -> None:
    """Write transactions with Java's producer to a topic of two partitions; every third of them aborts."""
    kind = "org.apache.kafka.common.serialization.ByteArraySerializer"
    settings = {"bootstrap.servers": bootstrap, "transactional.id": f"java-{topic}", "key.serializer": kind,
                "value.serializer": kind}  # fmt: skip
    write("".join(f"{name}={value}\n" for name, value in settings.items()), topic, transactions, records)


def new_producer(bootstrap: str, **settings: Any) -> Any:
    """Return an idempotent producer of librdkafka that makes small batches."""
    from confluent_kafka import Producer

    given = {"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0, "batch.num.messages": 30, **settings}
    return Producer({"enable.idempotence": True, **given})


def produce(bootstrap: str) -> None:
    """Write to the topics of :data:`log_directories.TOPICS`."""
    chance = random.Random(1)
    for codec in CODECS:
        produce_plain(bootstrap, f"plain-{codec}", 9_000 if codec == "none" else 3_000, chance, codec=codec)
    produce_plain(bootstrap, "retained", 12_000, chance, idempotent=False)
    produce_transactions(bootstrap, chance)
    produce_compacted(bootstrap, chance)


def produce_plain(
    bootstrap: str, topic: str, count: int, chance: random.Random, *, codec: str = "none", idempotent: bool = True
) -> None:
    """Write records of about 300 bytes."""
    producer = new_producer(bootstrap, **{"compression.type": codec, "enable.idempotence": idempotent})
    for number in range(count):
        producer.produce(topic, key=b"%d" % (number % 97), value=chance.randbytes(chance.randint(10, 600)))
        if number % 1_000 == 0:
            producer.flush()
    producer.flush()


def produce_transactions(bootstrap: str, chance: random.Random, *, also: str = "compacted-transactions") -> None:
    """Write to ``transactions`` and ``also``: transactions that commit and abort, and one that stays open, twice.

    The second producer has the transactional id of the first, and so fences it and aborts its open transaction.
    """
    for _ in range(2):
        producer = new_producer(bootstrap, **{"transactional.id": "librdkafka"})
        initialized(producer)
        for number in range(10):
            producer.begin_transaction()
            for record in range(60):
                producer.produce("transactions", key=b"k", value=chance.randbytes(100), partition=record % 2)
                producer.produce(also, key=b"%d" % chance.randint(0, 30), value=b"v")
            producer.flush()
            (producer.abort_transaction if number % 3 == 0 else producer.commit_transaction)()
        producer.begin_transaction()
        producer.produce("transactions", value=b"left open", partition=0)
        producer.flush()


def initialized(producer: Any) -> None:
    """Begin to use a transactional id: again while a transaction of it is being aborted."""
    from confluent_kafka import KafkaException

    for left in range(5, -1, -1):
        try:
            producer.init_transactions(30)
        except KafkaException as error:
            if not left or not error.args[0].retriable():
                raise
        else:
            return


def produce_compacted(bootstrap: str, chance: random.Random) -> None:
    """Write few keys to ``compacted``, some values of which are null, over five seconds."""
    producer = new_producer(bootstrap)
    for _ in range(5):
        for number in range(1_200):
            producer.produce(
                "compacted", key=b"%d" % chance.randint(0, 200), value=None if number % 50 == 0 else b"v" * 99
            )
        producer.flush()
        time.sleep(1.2)


@contextlib.contextmanager
def written_meanwhile(bootstrap: str, *topics: str) -> Iterator[None]:
    """Write to these topics until the block ends, whether or not the broker does."""
    ended = threading.Event()
    producer = new_producer(bootstrap)

    def write() -> None:
        number = 0
        while not ended.is_set():
            for topic in topics:
                producer.produce(topic, key=b"%d" % (number % 50), value=b"v" * (number % 700))
            number += 1
            if number % 100 == 0:
                while producer.flush(0.1) and not ended.is_set():
                    pass

    thread = threading.Thread(target=write)
    thread.start()
    try:
        time.sleep(0.3)
        yield
    finally:
        ended.set()
        thread.join()
        producer.flush(1)
        producer.purge()
