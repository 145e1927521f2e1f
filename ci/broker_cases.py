"""The requests of the cases of `kafka-conformance gate broker`; ci/record_broker_cases.py records what Kafka answers.

A case belongs to a group, the first part of its id. Written cases name what they are about; those named ``generated`` are
drawn from a seed.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.wire.broker_gate.case import BrokerCase, CaseTopic, Step, Until

__all__ = ["GENERATED", "SEED", "all_cases"]

SEED = 20261129
GENERATED = 240
LATEST, EARLIEST, LARGEST_TIMESTAMP = -1, -2, -3
CODECS = ("GZIP", "SNAPPY", "LZ4", "ZSTD")
INT_MAX = 2**31 - 1
Batch = dict[str, Any]


def all_cases() -> list[BrokerCase]:
    """Return all cases, in the order of their ids."""
    sources = (
        api_versions, produce, record_batches, producer_state, generated_producer_state, markers, transactions,
        generated_transactions, fetch, list_offsets, generated_logs, topics_and_configs, groups, server_assignors,
    )  # fmt: skip
    found = sorted((case for source in sources for case in source()), key=lambda case: case.id)
    twice = [one.id for one, other in itertools.pairwise(found) if one.id == other.id]
    if twice:
        raise SystemExit(f"two cases have the id {twice[0]}")
    return found


# Requests


def produce_step(*batches: Batch, acks: int = -1, version: int = 9, topic: str = "$topic", partition: int = 0,
                 transaction: str | None = None) -> Step:  # fmt: skip
    data = [{"index": partition, "records": {"$batches": list(batches)}}]
    request: dict[str, Any] = {"acks": acks, "timeoutMs": 5000}
    if version >= 3:
        request["transactionalId"] = transaction
    key = {"topicId": topic} if version >= 13 else {"name": topic}
    request["topicData"] = [{**key, "partitionData": data}]
    return Step("Produce", version, request, is_answered=acks != 0)


def fetch_step(offset: int = 0, *, committed: bool = False, version: int = 12, partition: int = 0, topic: str = "$topic",
               max_bytes: int = 2**20, until: Until | None = None, **fields: Any) -> Step:  # fmt: skip
    wanted = {"partition": partition, "fetchOffset": offset, "partitionMaxBytes": max_bytes, **fields}
    key = {"topicId": topic} if version >= 13 else {"topic": topic}
    request = {
        "maxWaitMs": 0, "minBytes": 0, "maxBytes": 2**20, "isolationLevel": int(committed),
        "topics": [{**key, "partitions": [wanted]}],
    }  # fmt: skip
    if version < 15:
        request["replicaId"] = -1
    return Step("Fetch", version, request, until=until)


def offsets_step(timestamp: int | str = LATEST, *, committed: bool = False, version: int = 7, partition: int = 0,
                 until: int | None = None, **fields: Any) -> Step:  # fmt: skip
    asked = [{"partitionIndex": partition, "timestamp": timestamp, **fields}]
    request = {"replicaId": -1, "isolationLevel": int(committed), "topics": [{"name": "$topic", "partitions": asked}]}
    wait = None if until is None else Until("topics.0.partitions.0.offset", until)
    return Step("ListOffsets", version, request, until=wait)


def init_step(transaction: str | None = None, *, name: str = "pid", version: int = 4, timeout_ms: int = 60_000,
              **fields: Any) -> Step:  # fmt: skip
    request = {"transactionalId": transaction, "transactionTimeoutMs": timeout_ms, **fields}
    return Step("InitProducerId", version, request, bind={name: "producerId"})


def add_step(transaction: str = "$name.tx", *, pid: Any = "$pid", epoch: int = 0, version: int = 1,
             topics: tuple[str, ...] = ("$topic",), partitions: tuple[int, ...] = (0,)) -> Step:  # fmt: skip
    request = {
        "v3AndBelowTransactionalId": transaction, "v3AndBelowProducerId": pid, "v3AndBelowProducerEpoch": epoch,
        "v3AndBelowTopics": [{"name": topic, "partitions": list(partitions)} for topic in topics],
    }  # fmt: skip
    return Step("AddPartitionsToTxn", version, request)


def end_step(
    *, commit: bool, transaction: str = "$name.tx", pid: Any = "$pid", epoch: int = 0, version: int = 1
) -> Step:
    request = {"transactionalId": transaction, "producerId": pid, "producerEpoch": epoch, "committed": commit}
    return Step("EndTxn", version, request)


def batch(sequence: int = 0, records: Any = 1, *, pid: Any = "$pid", epoch: int = 0, **fields: Any) -> Batch:
    return {
        "records": records,
        "baseTimestamp": "$t+0",
        "maxTimestamp": "$t+0",
        "producerId": pid,
        "producerEpoch": epoch,
        "baseSequence": sequence,
        **fields,
    }


def plain(records: Any = 1, **fields: Any) -> Batch:
    return {"records": records, "baseTimestamp": "$t+0", "maxTimestamp": "$t+0", **fields}


def transactional(sequence: int = 0, records: Any = 1, **fields: Any) -> Batch:
    return batch(sequence, records, transactional=True, **fields)


ONE = [CaseTopic()]


def case(name: str, title: str, *steps: Step, topics: list[CaseTopic] | None = None) -> BrokerCase:
    return BrokerCase(name, title, list(steps), ONE if topics is None else topics)


# Cases


def api_versions() -> Iterator[BrokerCase]:
    for version in range(5):
        request = {} if version < 3 else {"clientSoftwareName": "gate", "clientSoftwareVersion": "1"}
        # The list of APIs is a matter of the release; the error code and the form of the answer are compared.
        step = Step("ApiVersions", version, request)
        yield BrokerCase(f"api-versions/v{version}", f"ApiVersions version {version} is answered", [step])
    wrong = Step("ApiVersions", 3, {"clientSoftwareName": "", "clientSoftwareVersion": "1"})
    yield BrokerCase(
        "api-versions/empty-name", "ApiVersions with an empty software name is an invalid request", [wrong]
    )
    wrong = Step("ApiVersions", 3, {"clientSoftwareName": "a b", "clientSoftwareVersion": "1"})
    yield BrokerCase(
        "api-versions/name-with-space", "ApiVersions with a space in the software name is an invalid request", [wrong]
    )


def produce() -> Iterator[BrokerCase]:
    for acks in (-2, -1, 1, 2):
        yield case(f"produce/acks-{acks}", f"acks={acks}", produce_step(plain(), acks=acks), offsets_step())
    yield case(
        "produce/acks-0", "acks=0 is not answered, and appended", produce_step(plain(2), acks=0), offsets_step(until=2)
    )
    alive = Step("ApiVersions", 0, {})
    yield case("produce/acks-0-unknown-topic", "acks=0 to an unknown topic: the connection is closed",
               produce_step(plain(), acks=0, topic="$topic.absent"), alive, topics=[])  # fmt: skip
    yield case("produce/acks-0-bad-crc", "acks=0 of a batch with a wrong checksum: the connection is closed",
               produce_step(plain(crcXor=1), acks=0), alive)  # fmt: skip
    for version in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12):
        yield case(
            f"produce/v{version}", f"Produce version {version}", produce_step(plain(3), version=version), fetch_step()
        )
    yield case(
        "produce/v13-topic-id", "Produce by topic id", produce_step(plain(3), version=13, topic="$id"), fetch_step()
    )
    unknown = "AAAAAAAAAAAAAAAAAAAAMA"
    yield case(
        "produce/unknown-topic-id", "Produce to an unknown topic id", produce_step(plain(), version=13, topic=unknown)
    )
    yield case(
        "produce/unknown-topic", "Produce to an unknown topic", produce_step(plain(), topic="$topic.absent"), topics=[]
    )
    yield case("produce/unknown-partition", "Produce to an unknown partition", produce_step(plain(), partition=9))
    yield case("produce/negative-partition", "Produce to partition -1", produce_step(plain(), partition=-1))
    yield case("produce/empty", "Produce without a batch", produce_step(), offsets_step())
    yield case(
        "produce/two-batches",
        "two batches of one partition in a request",
        produce_step(plain(), plain()),
        offsets_step(),
    )
    compacted = [CaseTopic(settings={"cleanup.policy": "compact"})]
    yield case(
        "produce/compacted-no-key",
        "a record without key on a compacted topic",
        produce_step(plain([{"key": "a", "value": "1"}, {"value": "2"}])),
        offsets_step(),
        topics=compacted,
    )
    yield case(
        "produce/compacted-key",
        "records with keys on a compacted topic",
        produce_step(plain([{"key": "a", "value": "1"}, {"key": "a"}])),
        fetch_step(),
        topics=compacted,
    )
    large = plain([{"key": "a", "value": "x" * 300}])
    small = [CaseTopic(settings={"max.message.bytes": "200"})]
    yield case(
        "produce/too-large", "a batch above max.message.bytes", produce_step(large), offsets_step(), topics=small
    )
    yield case("produce/too-large-compressed", "a batch that is below max.message.bytes when it is compressed",
               produce_step({**large, "codec": "GZIP"}), offsets_step(), topics=small)  # fmt: skip
    strict = [CaseTopic(settings={"min.insync.replicas": "2"})]
    for acks in (-1, 1):
        yield case(f"produce/min-isr-2-acks-{acks}", f"acks={acks} where min.insync.replicas=2 is not met",
                   produce_step(plain(), acks=acks), offsets_step(), topics=strict)  # fmt: skip
    later = [CaseTopic(settings={"message.timestamp.type": "LogAppendTime"})]
    yield case(
        "produce/log-append-time",
        "the broker's time on a topic with LogAppendTime",
        produce_step(plain(2)),
        fetch_step(),
        topics=later,
    )


def record_batches() -> Iterator[BrokerCase]:
    broken: dict[str, Batch] = {
        "bad-crc": plain(crcXor=1),
        "magic-3": plain(magic=3),
        "magic-negative": plain(magic=-1),
        "control": plain(control=True),
        "no-records": plain(0),
        "count-too-large": plain(2, recordCount=3),
        "count-too-small": plain(2, recordCount=1),
        "count-negative": plain(recordCount=-1),
        "last-delta-too-large": plain(2, lastOffsetDelta=2),
        "last-delta-too-small": plain(2, lastOffsetDelta=0),
        "last-delta-negative": plain(lastOffsetDelta=-1),
        "base-offset-5": plain(2, baseOffset=5),
        "base-offset-negative": plain(baseOffset=-1),
        "leader-epoch-0": plain(partitionLeaderEpoch=0),
        "leader-epoch-7": plain(partitionLeaderEpoch=7),
        "cut-by-1": plain(cut=1),
        "cut-header": plain(cut=30),
        "length-negative": plain(batchLength=-1),
        "length-0": plain(batchLength=0),
        "length-too-large": plain(batchLength=1000),
        "length-too-small": plain(batchLength=48),
        "codec-5": plain(attributes=5),
        "codec-7": plain(attributes=7),
        "log-append-time": plain(attributes=8),
        "unused-attribute": plain(attributes=0x80),
        "delete-horizon": plain(attributes=0x40),
        "timestamp-none": plain(baseTimestamp=-1, maxTimestamp=-1),
        "timestamp-0": plain(baseTimestamp=0, maxTimestamp=0),
        "timestamp-negative": plain(baseTimestamp=-5, maxTimestamp=-5),
        "max-timestamp-wrong": plain(maxTimestamp="$t+99"),
        "gzip-flag-only": plain(attributes=1),
        "zstd-flag-only": plain(attributes=4),
        "producer-without-epoch": plain(producerId=77, baseSequence=0),
        "sequence-without-producer": plain(baseSequence=0),
        "producer-sequence-negative": plain(producerId=77, producerEpoch=0, baseSequence=-1),
        "producer-sequence-minus-2": plain(producerId=77, producerEpoch=0, baseSequence=-2),
        "producer-epoch-negative": plain(producerId=77, producerEpoch=-1, baseSequence=0),
        "producer-epoch-minus-2": plain(producerId=77, producerEpoch=-2, baseSequence=0),
        "producer-id-negative": plain(producerId=-2, producerEpoch=0, baseSequence=0),
        "transactional-without-producer": plain(transactional=True),
        "null-key-and-value": plain([{}]),
        "headers": plain([{"value": "a", "headers": [["h", "x"], ["h", None], ["", ""]]}]),
        "empty-key-and-value": plain([{"key": "", "value": ""}]),
        "own-timestamps": plain([{"value": "a", "timestamp": 7}]),
        "magic-0": {"records": 1, "format": 0},
        "magic-1": {"records": 1, "format": 1},
        "magic-1-gzip": {"records": 2, "format": 1, "codec": "GZIP"},
    }
    for name, each in broken.items():
        yield case(f"record-batch/{name}", f"a batch: {name.replace('-', ' ')}", produce_step(each), fetch_step())
        if name.startswith("magic-") and name != "magic-negative":
            yield case(f"record-batch/{name}-v7", f"a batch in Produce version 7: {name.replace('-', ' ')}",
                       produce_step(each, version=7), fetch_step())  # fmt: skip
    for codec in CODECS:
        yield case(f"record-batch/{codec.lower()}", f"a batch compressed with {codec.lower()}",
                   produce_step(plain(4, codec=codec)), fetch_step())  # fmt: skip
        kept = [CaseTopic(settings={"compression.type": codec.lower()})]
        yield case(f"record-batch/topic-{codec.lower()}", f"a topic with compression.type={codec.lower()}",
                   produce_step(plain(4)), fetch_step(), topics=kept)  # fmt: skip
        yield case(
            f"record-batch/uncompressed-{codec.lower()}",
            f"compression.type=uncompressed of a batch with {codec.lower()}",
            produce_step(plain(4, codec=codec)),
            fetch_step(),
            topics=[CaseTopic(settings={"compression.type": "uncompressed"})],
        )
    for version, codec in itertools.product((6, 7), ("ZSTD",)):
        yield case(f"record-batch/zstd-produce-v{version}", f"zstd in Produce version {version}",
                   produce_step(plain(2, codec=codec), version=version), offsets_step())  # fmt: skip
    yield case("record-batch/zstd-fetch-v9", "zstd fetched with version 9", produce_step(plain(2, codec="ZSTD")),
               fetch_step(version=9))  # fmt: skip


def producer_state() -> Iterator[BrokerCase]:
    histories: dict[str, tuple[Batch, ...]] = {
        "in-order": (batch(0), batch(1, 2), batch(3)),
        "exact-repeat": (batch(0, 2), batch(0, 2)),
        "repeat-of-second-last": (batch(0), batch(1), batch(0)),
        "repeat-of-fifth-last": (*map(batch, range(5)), batch(0)),
        "repeat-of-sixth-last": (*map(batch, range(6)), batch(0)),
        "gap": (batch(0), batch(2)),
        "gap-of-many": (batch(0), batch(100)),
        "overlap": (batch(0, 3), batch(1, 3)),
        "repeat-with-more-records": (batch(0, 2), batch(0, 3)),
        "repeat-with-fewer-records": (batch(0, 3), batch(0, 2)),
        "same-sequence-other-records": (batch(0, [{"value": "a"}]), batch(0, [{"value": "b"}])),
        "unknown-producer-at-5": (batch(5), batch(6)),
        "unknown-producer-at-max": (batch(INT_MAX), batch(0)),
        "wrap": (batch(INT_MAX - 1, 2), batch(0), batch(1)),
        "wrap-inside-batch": (batch(INT_MAX - 1, 4), batch(2)),
        "wrap-one-early": (batch(INT_MAX - 2, 2), batch(0)),
        "wrap-to-1": (batch(INT_MAX, 1), batch(1)),
        "newer-epoch-at-0": (batch(0), batch(0, epoch=1), batch(1, epoch=1)),
        "newer-epoch-at-1": (batch(0), batch(1, epoch=1), batch(0, epoch=1)),
        "older-epoch": (batch(0, epoch=1), batch(0, epoch=0), batch(1, epoch=1)),
        "refused-batch-changes-nothing": (batch(0), batch(3, epoch=1), batch(1, epoch=0)),
        "gap-then-right": (batch(0), batch(2), batch(1)),
        "two-producers": (batch(0), batch(0, pid="$other"), batch(1), batch(1, pid="$other")),
        "repeat-after-newer-epoch": (batch(0), batch(0, epoch=1), batch(0, epoch=0)),
        "timestamp-none-then-next": (batch(0, baseTimestamp=-1, maxTimestamp=-1), batch(1)),
        "plain-between": (batch(0), plain(), batch(1)),
        "transactional-without-adding": (transactional(0),),
        "epoch-max": (batch(0, epoch=32_767), batch(1, epoch=32_767), batch(0, epoch=0)),
        "compressed-repeat": (batch(0, 3, codec="LZ4"), batch(0, 3)),
    }  # fmt: skip
    for name, history in histories.items():
        steps = [produce_step(each) for each in history]
        yield case(f"producer-state/{name}", name.replace("-", " "), *_inits(history), *steps, fetch_step())
    two = [CaseTopic(partitions=2)]
    yield case("producer-state/partitions-are-separate", "sequences are counted for each partition", init_step(),
               produce_step(batch(0)), produce_step(batch(0), partition=1), produce_step(batch(1), partition=1),
               produce_step(batch(1)), offsets_step(), topics=two)  # fmt: skip
    yield case("producer-state/two-batches-in-request", "two batches of a producer in one request", init_step(),
               produce_step(batch(0), batch(1)), produce_step(batch(0)), offsets_step())  # fmt: skip
    described = Step("DescribeProducers", 0, {"topics": [{"name": "$topic", "partitionIndexes": [0]}]})
    yield case("producer-state/described", "DescribeProducers after two batches", init_step(), produce_step(batch(0)),
               produce_step(batch(1, 3)), described)  # fmt: skip


def generated_producer_state() -> Iterator[BrokerCase]:
    """Histories of one or two producers: mostly what a producer sends, with repeats, gaps, epochs and wraps."""
    draw = random.Random(SEED)
    for number in range(GENERATED):
        history = tuple(_history(draw))
        yield case(
            f"producer-state/generated-{number:03}",
            f"a history of appends drawn from seed {SEED}",
            *_inits(history),
            *map(produce_step, history),
            fetch_step(),
        )


def _inits(history: Sequence[Batch]) -> list[Step]:
    """Return what binds the producer ids of a history."""
    names = {str(each.get("producerId")).removeprefix("$") for each in history}
    return [init_step(name=name) for name in ("pid", "other") if name == "pid" or name in names]


def _history(draw: random.Random) -> Iterator[Batch]:
    producers = {"$pid": _Producer(draw), "$other": _Producer(draw)}
    sent: list[Batch] = []
    for _ in range(draw.randint(3, 9)):
        pid: Any = draw.choices(list(producers), (4, 1))[0]
        producer = producers[pid]
        kind = draw.choices(("next", "repeat", "gap", "epoch", "old epoch", "other length"), (10, 4, 2, 2, 1, 1))[0]
        if kind == "repeat" and sent:
            made = draw.choice(sent[-7:])
        else:
            records = draw.choice((1, 1, 2, 3))
            sequence, epoch = producer.next, producer.epoch
            if kind == "gap":
                sequence = (sequence + draw.choice((1, 2, 5))) % 2**31
            elif kind == "epoch":
                epoch, sequence = epoch + 1, draw.choice((0, 0, 0, 1))
            elif kind == "old epoch":
                epoch = max(0, epoch - 1)
            elif kind == "other length":
                sequence = max(0, sequence - 1)
            made = batch(sequence, records, pid=pid, epoch=epoch)
            if kind in {"next", "epoch"}:
                producer.next, producer.epoch = (sequence + records) % 2**31, epoch
        sent.append(made)
        yield made


class _Producer:
    """What a producer sends next."""

    def __init__(self, draw: random.Random) -> None:
        self.epoch = 0
        self.next = draw.choices((0, 5, INT_MAX - 2), (6, 1, 2))[0]


def markers() -> Iterator[BrokerCase]:
    """Markers of transactions as a coordinator writes them: what they do to the state of a producer."""

    def marker(*, pid: Any = "$pid", epoch: int = 0, commit: bool = True, coordinator: int = 0) -> Step:
        written = {
            "producerId": pid,
            "producerEpoch": epoch,
            "transactionResult": commit,
            "coordinatorEpoch": coordinator,
            "topics": [{"name": "$topic", "partitionIndexes": [0]}],
        }
        return Step("WriteTxnMarkers", 1, {"markers": [written]})

    def append(sequence: int = 0, epoch: int = 0) -> Step:
        return produce_step(batch(sequence, epoch=epoch))

    histories = {
        "unknown-producer": (marker(), append(5)),
        "after-batch": (append(), marker(), append(1)),
        "abort": (append(), marker(commit=False), append(1)),
        "newer-epoch": (append(), marker(epoch=1), append(0, 1), append(1, 0)),
        "newer-epoch-then-gap": (append(), marker(epoch=1), append(4, 1)),
        "older-epoch": (append(0, 2), marker(epoch=1), append(1, 2)),
        "lower-coordinator-epoch": (append(), marker(coordinator=3), marker(coordinator=2), append(1)),
        "equal-coordinator-epoch": (append(), marker(coordinator=3), marker(coordinator=3), append(1)),
        "coordinator-epoch-of-other-producer": (append(), marker(coordinator=3), marker(pid=999_999, coordinator=2)),
        "newer-epoch-then-repeat": (append(), marker(epoch=1), append(0, 0)),
    }
    for name, history in histories.items():
        yield case(
            f"markers/{name}", f"markers: {name.replace('-', ' ')}", init_step(), *history, fetch_step(committed=True)
        )
    absent = {"producerId": 5, "producerEpoch": 0, "transactionResult": True, "coordinatorEpoch": 0,
              "topics": [{"name": "$topic.absent", "partitionIndexes": [0]}]}  # fmt: skip
    yield case(
        "markers/unknown-topic",
        "a marker for an unknown topic",
        Step("WriteTxnMarkers", 1, {"markers": [absent]}),
        topics=[],
    )


def generated_transactions() -> Iterator[BrokerCase]:
    """Transactions of two producers on two partitions, in any order, each ended once its records are written."""
    draw = random.Random(SEED + 1)
    for number in range(60):
        yield case(f"transactions/generated-{number:03}", f"transactions of two producers drawn from seed {SEED + 1}",
                   *_transactions(draw), topics=[CaseTopic(partitions=2)])  # fmt: skip


def _transactions(draw: random.Random) -> Iterator[Step]:
    made = _Transactions()
    yield init_step("$name.tx")
    yield init_step("$name.b", name="other")
    for _ in range(draw.randint(4, 10)):
        name, partition = draw.choice(list(PIDS)), draw.randrange(2)
        kind = draw.choices(("append", "end", "plain", "read"), (6, 3, 1, 2))[0]
        if kind == "append":
            yield from made.append(name, partition, draw.randint(1, 3))
        elif kind == "plain":
            yield from made.plain(partition)
        elif kind == "end":
            yield from made.end(name, commit=draw.random() < 0.5)
        yield offsets_step(committed=True, partition=partition)
        if kind == "read":
            yield fetch_step(draw.randint(0, made.ends[partition]), committed=True, partition=partition)
    for name in PIDS:
        yield from made.end(name, commit=False)
    for each in range(2):
        yield fetch_step(committed=True, partition=each)


PIDS = {"$name.tx": "$pid", "$name.b": "$other"}
"""Two transactional ids, and their producer ids."""


class _Transactions:
    """Requests of transactions, and the end offset of each partition, which tells when markers are written."""

    def __init__(self) -> None:
        self.ends = [0, 0]
        self._sequences: dict[tuple[str, int], int] = {}
        self._added: dict[str, set[int]] = {name: set() for name in PIDS}

    def append(self, name: str, partition: int, records: int) -> Iterator[Step]:
        if partition not in self._added[name]:
            yield add_step(name, pid=PIDS[name], partitions=(partition,))
            self._added[name].add(partition)
        sequence = self._sequences.get((name, partition), 0)
        yield produce_step(transactional(sequence, records, pid=PIDS[name]), transaction=name, partition=partition)
        self._sequences[name, partition] = sequence + records
        self.ends[partition] += records

    def plain(self, partition: int) -> Iterator[Step]:
        yield produce_step(plain(), partition=partition)
        self.ends[partition] += 1

    def end(self, name: str, *, commit: bool) -> Iterator[Step]:
        """End a transaction that has partitions, and wait for a marker in each."""
        if not self._added[name]:
            return
        yield end_step(commit=commit, transaction=name, pid=PIDS[name])
        for each in sorted(self._added[name]):
            self.ends[each] += 1
            yield offsets_step(until=self.ends[each], partition=each)
        self._added[name].clear()


def generated_logs() -> Iterator[BrokerCase]:
    """Logs of a few batches with times in any order: looked up by time and by offset."""
    draw = random.Random(SEED + 2)
    for number in range(60):
        yield case(f"list-offsets/generated-{number:03}", f"a log drawn from seed {SEED + 2}", *_log(draw))


def _log(draw: random.Random) -> Iterator[Step]:
    end = 0
    for _ in range(draw.randint(2, 6)):
        base, deltas = draw.randrange(100), [draw.randrange(30) for _ in range(draw.randint(1, 4))]
        records = [{"value": f"v{end + at}", "timestamp": delta} for at, delta in enumerate(deltas)]
        codec = draw.choice(("NONE", "NONE", *CODECS))
        yield produce_step(plain(records, codec=codec, baseTimestamp=f"$t+{base + deltas[0]}",
                                 maxTimestamp=f"$t+{base + max(deltas)}"))  # fmt: skip
        end += len(deltas)
    for _ in range(4):
        yield offsets_step(f"$t+{draw.randrange(140)}")
    yield offsets_step(LARGEST_TIMESTAMP)
    for _ in range(2):
        yield fetch_step(draw.randrange(end), max_bytes=draw.choice((1, 100, 150, 300)))


def transactions() -> Iterator[BrokerCase]:
    tx = "$name.tx"
    begin = (init_step(tx), add_step())
    data = produce_step(transactional(0, 2), transaction=tx)
    open_reads = (fetch_step(), fetch_step(committed=True), offsets_step(), offsets_step(committed=True))
    ended = (offsets_step(committed=True, until=3), fetch_step(), fetch_step(committed=True))
    yield case("transactions/open", "records of an open transaction: last stable offset 0", *begin, data, *open_reads,
               end_step(commit=True), offsets_step(committed=True, until=3))  # fmt: skip
    for commit, version in itertools.product((True, False), (1, 3)):
        name = "commit" if commit else "abort"
        yield case(f"transactions/{name}-v{version}", f"{name}: marker, isolation levels, aborted list", init_step(tx),
                   add_step(version=version), data, end_step(commit=commit, version=version), *ended)  # fmt: skip
        yield case(
            f"transactions/{name}-twice-v{version}",
            f"{name} sent twice",
            init_step(tx),
            add_step(version=version),
            data,
            end_step(commit=commit, version=version),
            offsets_step(committed=True, until=3),
            end_step(commit=commit, version=version),
            offsets_step(),
        )
        yield case(f"transactions/{name}-then-other-v{version}", f"{name}, then the other end", init_step(tx),
                   add_step(version=version), data, end_step(commit=commit, version=version),
                   offsets_step(committed=True, until=3), end_step(commit=not commit, version=version))  # fmt: skip
        yield case(f"transactions/{name}-empty-v{version}", f"{name} without a partition", init_step(tx),
                   end_step(commit=commit, version=version), offsets_step())  # fmt: skip
        yield case(
            f"transactions/{name}-without-records-v{version}",
            f"{name} of a partition without records",
            init_step(tx),
            add_step(version=version),
            end_step(commit=commit, version=version),
            offsets_step(until=1),
            fetch_step(),
        )
    yield case(
        "transactions/abort-between-commits",
        "aborted list of a fetch over three transactions",
        *begin,
        data,
        end_step(commit=True),
        offsets_step(committed=True, until=3),
        add_step(),
        produce_step(transactional(2, 2), transaction=tx),
        end_step(commit=False),
        offsets_step(committed=True, until=6),
        add_step(),
        produce_step(transactional(4, 2), transaction=tx),
        end_step(commit=True),
        offsets_step(committed=True, until=9),
        fetch_step(committed=True),
        fetch_step(4, committed=True),
        fetch_step(6, committed=True),
        fetch_step(),
    )
    yield case(
        "transactions/plain-behind-open",
        "plain records behind an open transaction are not stable",
        *begin,
        data,
        produce_step(plain(2)),
        *open_reads,
        end_step(commit=False),
        offsets_step(committed=True, until=5),
        fetch_step(committed=True),
    )
    yield case(
        "transactions/two-open",
        "two open transactions: the first keeps the last stable offset",
        init_step(tx),
        add_step(),
        init_step("$name.b", name="other"),
        add_step("$name.b", pid="$other"),
        data,
        produce_step(transactional(0, 1, pid="$other"), transaction="$name.b"),
        end_step(commit=True, transaction="$name.b", pid="$other"),
        offsets_step(until=4),
        offsets_step(committed=True),
        fetch_step(committed=True),
        end_step(commit=False),
        offsets_step(committed=True, until=5),
        fetch_step(committed=True),
    )
    yield case(
        "transactions/fenced",
        "a second InitProducerId fences the first",
        *begin,
        init_step(tx, name="pid"),
        data,
        end_step(commit=True),
        add_step(),
        produce_step(transactional(0, epoch=1), transaction=tx),
    )
    yield case("transactions/fenced-open", "InitProducerId aborts an open transaction", *begin, data, init_step(tx),
               offsets_step(committed=True, until=3), fetch_step(committed=True), end_step(commit=True),
               produce_step(transactional(2), transaction=tx))  # fmt: skip
    yield case("transactions/wrong-id", "an id that was never initialised", add_step("$name.never", pid=5),
               end_step(commit=True, transaction="$name.never", pid=5))  # fmt: skip
    yield case("transactions/wrong-producer", "another producer's id", init_step(tx), add_step(pid=999_999),
               end_step(commit=True, pid=999_999))  # fmt: skip
    for version in (1, 3):
        yield case(
            f"transactions/old-epoch-v{version}",
            "an older epoch in AddPartitionsToTxn and EndTxn",
            init_step(tx),
            init_step(tx),
            add_step(version=version),
            end_step(commit=True, version=version),
        )
        yield case(
            f"transactions/newer-epoch-v{version}",
            "a newer epoch in AddPartitionsToTxn and EndTxn",
            init_step(tx),
            add_step(epoch=9, version=version),
            end_step(commit=True, epoch=9, version=version),
        )
    yield case(
        "transactions/unknown-partition",
        "AddPartitionsToTxn with an unknown topic beside a known one",
        init_step(tx),
        add_step(topics=("$topic", "$topic.absent")),
        end_step(commit=True),
    )
    yield case("transactions/add-again", "AddPartitionsToTxn twice", *begin, add_step(), end_step(commit=False),
               offsets_step(until=1))  # fmt: skip
    yield case(
        "transactions/unadded-partition",
        "records of a transaction on a partition that was not added",
        init_step(tx),
        add_step(),
        produce_step(transactional(0), transaction=tx, partition=1),
        end_step(commit=True),
        topics=[CaseTopic(partitions=2)],
    )
    yield case("transactions/plain-batch", "a batch without the transactional flag during a transaction", *begin,
               produce_step(batch(0), transaction=tx), data, end_step(commit=False))  # fmt: skip
    yield case("transactions/after-end", "records after EndTxn", *begin, data, end_step(commit=True),
               offsets_step(committed=True, until=3), produce_step(transactional(2), transaction=tx))  # fmt: skip
    for name, timeout in (("above-maximum", 2**31 - 1), ("zero", 0), ("negative", -1)):
        yield case(f"transactions/timeout-{name}", f"transaction timeout: {name.replace('-', ' ')}",
                   init_step(tx, timeout_ms=timeout), topics=[])  # fmt: skip
    yield case("transactions/empty-id", "an empty transactional id", init_step(""), topics=[])
    yield case("transactions/no-id", "a producer id without a transactional id: epoch 0", init_step(), topics=[])
    for version in range(6):
        yield case(
            f"transactions/init-v{version}",
            f"InitProducerId version {version}",
            init_step(tx, version=version),
            topics=[],
        )
    yield case(
        "transactions/init-again",
        "InitProducerId again: same id, next epoch",
        init_step(tx),
        init_step(tx, name="again"),
        topics=[],
    )
    yield case("transactions/init-with-epoch", "InitProducerId with the own epoch", init_step(tx),
               init_step(tx, name="again", producerId="$pid", producerEpoch=0),
               init_step(tx, name="again", producerId="$pid", producerEpoch=0), topics=[])  # fmt: skip
    yield case(
        "transactions/init-with-old-epoch",
        "InitProducerId with an old epoch",
        init_step(tx),
        init_step(tx),
        init_step(tx),
        init_step(tx, name="again", producerId="$pid", producerEpoch=0),
        topics=[],
    )
    yield case("transactions/init-with-other-id", "InitProducerId with another producer's id", init_step(tx),
               init_step(tx, name="again", producerId=5, producerEpoch=0), topics=[])  # fmt: skip
    yield case(
        "transactions/kip-890-commit",
        "EndTxn 5 returns the next epoch, and Produce 12 adds the partition",
        init_step(tx),
        produce_step(transactional(0, 2), transaction=tx, version=12),
        end_step(commit=True, version=5),
        *ended,
        produce_step(transactional(0, epoch=1), transaction=tx, version=12),
        end_step(commit=False, epoch=1, version=5),
        offsets_step(committed=True, until=5),
        fetch_step(committed=True),
    )
    yield case(
        "transactions/kip-890-repeated-end",
        "EndTxn 5 again with the old epoch",
        init_step(tx),
        produce_step(transactional(0, 2), transaction=tx, version=12),
        end_step(commit=True, version=5),
        offsets_step(committed=True, until=3),
        end_step(commit=True, version=5),
        end_step(commit=False, version=5),
    )
    yield case(
        "transactions/kip-890-old-epoch",
        "records under the epoch before EndTxn 5",
        init_step(tx),
        produce_step(transactional(0, 2), transaction=tx, version=12),
        end_step(commit=True, version=5),
        offsets_step(committed=True, until=3),
        produce_step(transactional(2), transaction=tx, version=12),
    )
    described = Step("DescribeTransactions", 0, {"transactionalIds": [tx]})
    yield case("transactions/described-empty", "DescribeTransactions of a new id", init_step(tx), described, topics=[])
    yield case("transactions/described-absent", "DescribeTransactions of an unknown id", described, topics=[])
    commit_offset = Step(
        "TxnOffsetCommit",
        3,
        {
            "transactionalId": tx,
            "groupId": "$name.g",
            "producerId": "$pid",
            "producerEpoch": 0,
            "topics": [
                {
                    "name": "$topic",
                    "partitions": [{"partitionIndex": 0, "committedOffset": 5, "committedMetadata": "m"}],
                }
            ],
        },
    )
    add_offsets = Step(
        "AddOffsetsToTxn", 3, {"transactionalId": tx, "producerId": "$pid", "producerEpoch": 0, "groupId": "$name.g"}
    )
    for commit in (True, False):
        read = _offset_fetch(Until("groups.0.topics.0.partitions.0.committedOffset", 5) if commit else None)
        yield case(
            f"transactions/offsets-{'commit' if commit else 'abort'}",
            "offsets committed in a transaction",
            init_step(tx),
            add_offsets,
            commit_offset,
            _offset_fetch(None),
            end_step(commit=commit),
            read,
        )


def fetch() -> Iterator[BrokerCase]:
    three = (produce_step(plain(3)), produce_step(plain(2, codec="GZIP")))
    for offset in (0, 1, 2, 3, 4, 5, 6, -1, 100):
        yield case(
            f"fetch/offset-{offset}",
            f"fetch offset {offset} of five records in two batches",
            *three,
            fetch_step(offset),
        )
    for version in (4, 5, 6, 7, 8, 9, 10, 11, 12):
        yield case(f"fetch/v{version}", f"Fetch version {version}", *three, fetch_step(version=version))
    for version in range(13, 19):
        yield case(
            f"fetch/v{version}",
            f"Fetch version {version}, by topic id",
            *three,
            fetch_step(version=version, topic="$id"),
        )
    yield case(
        "fetch/unknown-topic-id", "Fetch of an unknown topic id", fetch_step(version=13, topic="AAAAAAAAAAAAAAAAAAAAMA")
    )
    yield case(
        "fetch/zero-topic-id", "Fetch of the topic id of zeros", fetch_step(version=13, topic="AAAAAAAAAAAAAAAAAAAAAA")
    )
    yield case("fetch/unknown-topic", "Fetch of an unknown topic", fetch_step(topic="$topic.absent"), topics=[])
    yield case("fetch/unknown-partition", "Fetch of an unknown partition", fetch_step(partition=9))
    for limit in (0, 1, 80, 10_000):
        yield case(
            f"fetch/partition-bytes-{limit}",
            f"partition max bytes {limit}: whole batches",
            *three,
            fetch_step(max_bytes=limit),
        )
    yield case("fetch/empty", "Fetch of an empty partition", fetch_step())
    yield case(
        "fetch/leader-epoch-newer", "a leader epoch that the broker does not know", fetch_step(currentLeaderEpoch=9)
    )
    yield case("fetch/leader-epoch-0", "the current leader epoch", fetch_step(currentLeaderEpoch=0))
    yield case("fetch/last-fetched-epoch", "a last fetched epoch that the log does not have", *three,
               fetch_step(5, lastFetchedEpoch=7))  # fmt: skip
    deleted = Step(
        "DeleteRecords",
        2,
        {"timeoutMs": 5000, "topics": [{"name": "$topic", "partitions": [{"partitionIndex": 0, "offset": 3}]}]},
    )
    for offset in (2, 3):
        yield case(
            f"fetch/after-delete-{offset}",
            "Fetch after DeleteRecords up to offset 3",
            *three,
            deleted,
            fetch_step(offset),
            offsets_step(EARLIEST),
        )
    inside = Step(
        "DeleteRecords",
        2,
        {"timeoutMs": 5000, "topics": [{"name": "$topic", "partitions": [{"partitionIndex": 0, "offset": 1}]}]},
    )
    yield case(
        "fetch/delete-inside-batch", "DeleteRecords inside a batch", *three, inside, fetch_step(1), fetch_step(0)
    )
    for offset in (-1, 5, 6):
        step = Step(
            "DeleteRecords",
            2,
            {
                "timeoutMs": 5000,
                "topics": [{"name": "$topic", "partitions": [{"partitionIndex": 0, "offset": offset}]}],
            },
        )
        yield case(
            f"fetch/delete-records-{offset}", f"DeleteRecords up to offset {offset} of five records", *three, step
        )


def list_offsets() -> Iterator[BrokerCase]:
    timed = [
        produce_step(plain([{"value": str(at)}], baseTimestamp=f"$t+{at}", maxTimestamp=f"$t+{at}"))
        for at in (10, 30, 20, 30)
    ]
    asked: dict[str, int | str] = {
        "latest": LATEST,
        "earliest": EARLIEST,
        "before": "$t+0",
        "first": "$t+10",
        "between": "$t+11",
        "largest": "$t+30",
        "after": "$t+31",
        "zero": 0,
    }
    for name, timestamp in asked.items():
        yield case(f"list-offsets/{name}", f"ListOffsets: {name}", *timed, offsets_step(timestamp))
        yield case(f"list-offsets/{name}-empty", f"ListOffsets of an empty partition: {name}", offsets_step(timestamp))
    for version in range(1, 11):
        yield case(f"list-offsets/v{version}", f"ListOffsets version {version}", *timed, _versioned_offsets(version))
    for name, timestamp, version in (
        ("max-timestamp", LARGEST_TIMESTAMP, 7), ("max-timestamp-v6", LARGEST_TIMESTAMP, 6), ("minus-4-v7", -4, 7),
        ("minus-4-v8", -4, 8), ("minus-5-v9", -5, 9), ("minus-6", -6, 7), ("minus-100", -100, 7),
    ):  # fmt: skip
        yield case(f"list-offsets/{name}", f"ListOffsets: {name}", *timed, offsets_step(timestamp, version=version))
    yield case(
        "list-offsets/max-timestamp-empty",
        "the largest timestamp of an empty partition",
        offsets_step(LARGEST_TIMESTAMP),
    )
    yield case(
        "list-offsets/compressed",
        "a time inside a compressed batch",
        produce_step(
            plain(
                [{"value": "a"}, {"value": "b", "timestamp": 5}, {"value": "c", "timestamp": 9}],
                codec="GZIP",
                maxTimestamp="$t+9",
            )
        ),
        offsets_step("$t+6"),
        offsets_step("$t+0"),
    )
    yield case("list-offsets/unknown-partition", "ListOffsets of an unknown partition", offsets_step(partition=9))
    yield case(
        "list-offsets/leader-epoch-newer", "ListOffsets with a newer leader epoch", offsets_step(currentLeaderEpoch=5)
    )
    for epoch in (-1, 0, 3):
        step = Step(
            "OffsetForLeaderEpoch",
            4,
            {
                "replicaId": -2,
                "topics": [
                    {
                        "topic": "$topic",
                        "partitions": [{"partition": 0, "leaderEpoch": epoch, "currentLeaderEpoch": -1}],
                    }
                ],
            },
        )
        yield case(f"list-offsets/for-leader-epoch-{epoch}", f"OffsetForLeaderEpoch {epoch}", *timed, step)


def _versioned_offsets(version: int) -> Step:
    request: dict[str, Any] = {
        "replicaId": -1,
        "topics": [{"name": "$topic", "partitions": [{"partitionIndex": 0, "timestamp": "$t+20"}]}],
    }
    if version >= 2:
        request["isolationLevel"] = 0
    return Step("ListOffsets", version, request)


def topics_and_configs() -> Iterator[BrokerCase]:
    def create(
        name: str = "$topic.new", partitions: int = 1, replicas: int = 1, *, only_check: bool = True, **more: Any
    ) -> Step:
        topic = {"name": name, "numPartitions": partitions, "replicationFactor": replicas, **more}
        return Step("CreateTopics", 5, {"topics": [topic], "timeoutMs": 5000, "validateOnly": only_check})

    checks = {
        "valid": create(), "no-partitions": create(partitions=0), "negative-partitions": create(partitions=-2),
        "no-replicas": create(replicas=0), "too-many-replicas": create(replicas=99), "empty-name": create(""),
        "name-with-space": create("$topic x"), "dot": create("."), "name-too-long": create("x" * 250),
        "unknown-setting": create(configs=[{"name": "no.such.setting", "value": "1"}]),
        "wrong-value": create(configs=[{"name": "retention.ms", "value": "soon"}]),
        "assignment-and-count": create(assignments=[{"partitionIndex": 0, "brokerIds": [1]}]),
    }  # fmt: skip
    for name, step in checks.items():
        if name not in {"valid", "name-with-space"}:
            yield case(
                f"topics/create-{name}", f"CreateTopics, only checked: {name.replace('-', ' ')}", step, topics=[]
            )
    yield case("topics/create-existing", "CreateTopics of a topic that exists", create("$topic"))

    def grow(count: int, name: str = "$topic") -> Step:
        grown = {"name": name, "count": count, "assignments": None}
        return Step("CreatePartitions", 2, {"topics": [grown], "timeoutMs": 5000, "validateOnly": True})

    for count in (-1, 0, 1, 2, 3):
        yield case(f"topics/grow-to-{count}", f"CreatePartitions, only checked: from 2 to {count}", grow(count),
                   topics=[CaseTopic(partitions=2)])  # fmt: skip
    yield case("topics/grow-unknown", "CreatePartitions of an unknown topic", grow(2, "$topic.absent"), topics=[])
    yield case("topics/delete-unknown", "DeleteTopics of an unknown topic",
               Step("DeleteTopics", 4, {"topicNames": ["$topic.absent"], "timeoutMs": 5000}), topics=[])  # fmt: skip
    for version in (4, 8, 9, 12):
        step = Step(
            "Metadata",
            version,
            {"topics": [{"name": "$topic"}, {"name": "$topic.absent"}], "allowAutoTopicCreation": False},
        )
        yield case(f"topics/metadata-v{version}", f"Metadata version {version} of a topic and an absent one", step)
    some = Step("DescribeTopicPartitions", 0, {"topics": [{"name": "$topic"}, {"name": "$topic.absent"}]})
    yield case(
        "topics/describe-partitions",
        "DescribeTopicPartitions of a topic and an absent one",
        some,
        topics=[CaseTopic(partitions=3)],
    )
    few = Step("DescribeTopicPartitions", 0, {"topics": [{"name": "$topic"}], "responsePartitionLimit": 2})
    yield case(
        "topics/describe-partitions-limit",
        "DescribeTopicPartitions with a limit",
        few,
        topics=[CaseTopic(partitions=3)],
    )
    yield case("topics/metadata-none", "Metadata of no topic", Step("Metadata", 9, {"topics": []}), topics=[])
    wrong = Step("Metadata", 9, {"topics": [{"name": "a b"}], "allowAutoTopicCreation": False})
    yield case("topics/metadata-invalid-name", "Metadata of an invalid name", wrong, topics=[])

    def described(*names: str) -> Step:
        resource = {"resourceType": 2, "resourceName": "$topic", "configurationKeys": list(names)}
        return Step("DescribeConfigs", 3, {"resources": [resource]})

    names = ("cleanup.policy", "max.message.bytes", "min.insync.replicas")
    for name in names:
        yield case(f"topics/describe-{name}", f"DescribeConfigs of {name}", described(name))
    yield case("topics/describe-own", "DescribeConfigs of a setting of the topic", described("retention.ms"),
               topics=[CaseTopic(settings={"retention.ms": "86400000"})])  # fmt: skip
    for number, word, value in (
        (0, "set", "compact"),
        (1, "delete", None),
        (2, "append", "compact"),
        (3, "subtract", "delete"),
    ):
        change = {"name": "cleanup.policy", "configOperation": number, "value": value}
        step = Step(
            "IncrementalAlterConfigs",
            1,
            {"resources": [{"resourceType": 2, "resourceName": "$topic", "configs": [change]}], "validateOnly": True},
        )
        yield case(f"topics/alter-{word}", f"IncrementalAlterConfigs, only checked: {word}", step)
    yield case(
        "topics/alter-unknown-operation",
        "IncrementalAlterConfigs with operation 9",
        Step(
            "IncrementalAlterConfigs",
            1,
            {
                "resources": [
                    {
                        "resourceType": 2,
                        "resourceName": "$topic",
                        "configs": [{"name": "cleanup.policy", "configOperation": 9, "value": "compact"}],
                    }
                ],
                "validateOnly": True,
            },
        ),
    )
    yield case(
        "topics/alter-wrong-value",
        "IncrementalAlterConfigs with a wrong value",
        Step(
            "IncrementalAlterConfigs",
            1,
            {
                "resources": [
                    {
                        "resourceType": 2,
                        "resourceName": "$topic",
                        "configs": [{"name": "retention.ms", "configOperation": 0, "value": "soon"}],
                    }
                ],
                "validateOnly": True,
            },
        ),
    )


def _coordinator(key: str, kind: int = 0, version: int = 3) -> Step:
    return Step("FindCoordinator", version, {"key": key, "keyType": kind})


def _offset_fetch(until: Until | None, group: str = "$name.g") -> Step:
    topics = [{"name": "$topic", "partitionIndexes": [0]}]
    return Step(
        "OffsetFetch", 8, {"groups": [{"groupId": group, "topics": topics}], "requireStable": False}, until=until
    )


def groups() -> Iterator[BrokerCase]:
    for version in (1, 2, 3):
        yield case(f"groups/coordinator-v{version}", f"FindCoordinator version {version} of a group",
                   _coordinator("$name.g", version=version), topics=[])  # fmt: skip
    yield case(
        "groups/coordinator-of-transaction",
        "FindCoordinator of a transactional id",
        _coordinator("$name.tx", 1),
        topics=[],
    )
    yield case(
        "groups/coordinator-of-nothing", "FindCoordinator of an unknown kind", _coordinator("$name.g", 9), topics=[]
    )

    def commit(
        metadata: str | None = "m", offset: int = 5, generation: int = -1, member: str = "", group: str = "$name.g"
    ) -> Step:
        partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": metadata}
        return Step("OffsetCommit", 8, {"groupId": group, "generationIdOrMemberEpoch": generation, "memberId": member,
                                        "topics": [{"name": "$topic", "partitions": [partition]}]})  # fmt: skip

    commits = {
        "metadata": commit(),
        "no-metadata": commit(None),
        "empty-metadata": commit(""),
        "offset-negative": commit(offset=-5),
        "metadata-too-long": commit("x" * 5000),
        "unknown-member": commit(generation=1, member="nobody"),
        "empty-group": commit(group=""),
    }
    for name, step in commits.items():
        yield case(f"groups/commit-{name}", f"OffsetCommit: {name.replace('-', ' ')}", step, _offset_fetch(None))
    yield case("groups/fetch-uncommitted", "OffsetFetch of a group without offsets", _offset_fetch(None))

    def join(member: str = "", version: int = 6, **more: Any) -> Step:
        protocols = [{"name": "range", "metadata": {"$bytes": "00"}}]
        request = {"groupId": "$name.g", "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000, "memberId": member,
                   "protocolType": "consumer", "protocols": protocols, **more}  # fmt: skip
        return Step("JoinGroup", version, request, bind={"member": "memberId"} if not member else {})

    def sync(generation: int = 1, member: str = "$member") -> Step:
        return Step(
            "SyncGroup",
            4,
            {
                "groupId": "$name.g",
                "generationId": generation,
                "memberId": member,
                "assignments": [{"memberId": "$member", "assignment": {"$bytes": "0102"}}],
            },
        )

    def beat(generation: int = 1, member: str = "$member") -> Step:
        return Step("Heartbeat", 4, {"groupId": "$name.g", "generationId": generation, "memberId": member})

    leave = Step("LeaveGroup", 4, {"groupId": "$name.g", "members": [{"memberId": "$member"}]})
    joined = (join(), join("$member"))
    yield case("groups/join-without-id", "JoinGroup without a member id: the id comes with an error", join(), topics=[])
    yield case(
        "groups/join-sync-leave",
        "one member joins, gets its assignment, beats and leaves",
        *joined,
        sync(),
        beat(),
        leave,
        beat(),
        topics=[],
    )
    yield case("groups/sync-wrong-generation", "SyncGroup of another generation", *joined, sync(7), topics=[])
    yield case(
        "groups/sync-unknown-member", "SyncGroup of an unknown member", *joined, sync(member="nobody"), topics=[]
    )
    yield case("groups/beat-before-sync", "Heartbeat before SyncGroup", *joined, beat(), topics=[])
    yield case(
        "groups/beat-wrong-generation", "Heartbeat of another generation", *joined, sync(), beat(9), leave, topics=[]
    )
    yield case(
        "groups/beat-unknown-group", "Heartbeat in a group that does not exist", beat(member="nobody"), topics=[]
    )
    yield case("groups/join-unknown-member", "JoinGroup with an unknown member id", join("nobody"), topics=[])
    yield case(
        "groups/join-timeout-too-short", "a session timeout below the minimum", join(sessionTimeoutMs=1), topics=[]
    )
    yield case(
        "groups/join-timeout-too-long", "a session timeout above the maximum", join(sessionTimeoutMs=INT_MAX), topics=[]
    )
    yield case("groups/join-no-protocols", "JoinGroup without a protocol", join(protocols=[]), topics=[])
    yield case("groups/join-other-type", "JoinGroup with another protocol type", *joined, sync(),
               join("other-member", protocolType="connect"), leave, topics=[])  # fmt: skip
    yield case(
        "groups/commit-of-member",
        "OffsetCommit of a member, and of an older generation",
        *joined,
        sync(),
        commit(generation=1, member="$member"),
        commit(generation=0, member="$member"),
        commit(),
        leave,
    )
    described = Step("DescribeGroups", 5, {"groups": ["$name.g"]})
    yield case("groups/describe-absent", "DescribeGroups of a group that does not exist", described, topics=[])
    deleted = Step("DeleteGroups", 2, {"groupsNames": ["$name.g"]})
    yield case("groups/delete-absent", "DeleteGroups of a group that does not exist", deleted, topics=[])
    yield case(
        "groups/delete-with-member",
        "DeleteGroups of a group with a member",
        *joined,
        sync(),
        deleted,
        leave,
        deleted,
        topics=[],
    )

    def heartbeat(member: str = "AAAAAAAAAAAAAAAAAAAAMA", epoch: int = 0, **more: Any) -> Step:
        request = {"groupId": "$name.g", "memberId": member, "memberEpoch": epoch, "rebalanceTimeoutMs": 10_000,
                   "subscribedTopicNames": ["$topic"], "topicPartitions": [], **more}  # fmt: skip
        return Step("ConsumerGroupHeartbeat", 0, request)

    gone = {"rebalanceTimeoutMs": -1, "subscribedTopicNames": None, "topicPartitions": None}
    yield case("groups/kip-848-join-leave", "a member with an id of its own joins and leaves", heartbeat(),
               heartbeat(epoch=-1, **gone))  # fmt: skip
    yield case(
        "groups/kip-848-wrong-epoch",
        "a member epoch that is too large",
        heartbeat(),
        heartbeat(epoch=9, **gone),
        heartbeat(epoch=-1, **gone),
    )
    yield case("groups/kip-848-unknown-member", "an unknown member at epoch 5", heartbeat(epoch=5, **gone))
    yield case("groups/kip-848-no-topics", "a first heartbeat without topics", heartbeat(subscribedTopicNames=None))
    yield case("groups/kip-848-unknown-assignor", "an assignor that does not exist", heartbeat(serverAssignor="none"))
    yield case("groups/kip-848-assignment-not-empty", "a first heartbeat that owns partitions",
               heartbeat(topicPartitions=[{"topicId": "$id", "partitions": [0]}]))  # fmt: skip
    yield case("groups/kip-848-empty-group", "an empty group id", heartbeat(groupId=""))


def server_assignors() -> Iterator[BrokerCase]:
    """Members that join one after the other, and heartbeat until each has what the broker's assignor gives it (KIP-848)."""
    for assignor, members, partitions in itertools.product(("uniform", "range"), (2, 3), (1, 2, 3, 4, 5, 7)):
        yield case(f"groups/server-{assignor}-{members}-members-{partitions}-partitions",
                   f"{assignor}: {members} members, {partitions} partitions", *_members(assignor, members),
                   topics=[CaseTopic(partitions=partitions)])  # fmt: skip


def _members(assignor: str, count: int) -> Iterator[Step]:
    def beat(member: int, **fields: Any) -> Step:
        request = {"groupId": "$name.g", "memberId": f"AAAAAAAAAAAAAAAAAAAAM{'AQg'[member]}", **fields}
        bind = {f"epoch-{member}": "memberEpoch", f"own-{member}": "assignment.topicPartitions"}
        return Step("ConsumerGroupHeartbeat", 0, request, bind=bind)

    for member in range(count):
        yield beat(
            member,
            memberEpoch=0,
            rebalanceTimeoutMs=10_000,
            subscribedTopicNames=["$topic"],
            topicPartitions=[],
            serverAssignor=assignor,
        )
        for _ in range(2):
            for each in range(member + 1):
                yield beat(each, memberEpoch=f"$epoch-{each}", topicPartitions=f"$own-{each}")
    for member in range(count):
        yield beat(member, memberEpoch=-1)
