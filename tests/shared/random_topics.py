"""Random topics with a known writer of each record, and the records that an audit attributes to another rule.

The partitioners are known and unknown, the keys structured and not, few and many; some topics have two or three clients, in
turn or one after the other, or had fewer partitions before. Places come from the scalar rules of :mod:`audit_truth`.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import audit_truth
import numpy as np
import pyarrow as pa

from kafka_conformance.audit.attribution.block import Block, Judged, attribution_names, judge
from kafka_conformance.audit.attribution.key_views import WHOLE, viewed
from kafka_conformance.audit.attribution.placements import CONSTANT, STRUCTURED
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.attribution.structured import structured_partitions
from kafka_conformance.audit.initial_sample import look
from kafka_conformance.audit.result import Doubt, Placed

PARTITIONS = 2, 3, 4, 5, 6, 7, 8, 10, 12, 12, 16, 20, 24, 30, 32, 50
DISTINCT = 1, 3, 5, 8, 12, 20, 40, 100, 300, 1000, 3000
KEYS: dict[str, Callable[[int], bytes]] = {
    "digits": lambda number: b"%d" % number,
    "padded": lambda number: b"%08d" % number,
    "name": lambda number: b"user-%d" % number,
    "tens": lambda number: b"order-%d0" % number,
    "long": lambda number: number.to_bytes(8, "big"),
    "little long": lambda number: number.to_bytes(8, "little"),
    "int": lambda number: number.to_bytes(4, "big"),
    "uuid": lambda number: hashlib.md5(b"%d" % number, usedforsecurity=False).hexdigest().encode(),
    "raw": lambda number: hashlib.md5(b"%d" % number, usedforsecurity=False).digest(),
}
HASHES = (
    "murmur2", "librdkafka-consistent", "sarama-hash", "murmur2", "librdkafka-consistent", "string-hash-code-masked",
    "crc32", "murmur3-no-seed", "scala-producer",
)  # fmt: skip
RELATED = (
    "string-hash-code-abs-or-zero", "string-hash-code-abs", "string-hash-code-floor-mod", "murmur3-25342-abs",
    "crc32-floor-mod", "fnv-1-unsigned", "fnv-1a-64-unsigned", "djb2-unsigned", "md5-unsigned",
    "sha-1-32-abs", "xxhash-unsigned",
)  # fmt: skip
STRUCTURES = (*(rule.slug for rule in STRUCTURED if rule.slug != "int32-little-endian"), "constant-0")


def _multiplied(factor: int, seed: int, mask: int) -> Callable[[bytes], int]:
    return lambda key: functools.reduce(lambda h, byte: (h * factor + byte) & mask, key, seed)


UNKNOWN: dict[str, Callable[[bytes], int]] = {
    "sha1": lambda key: int.from_bytes(hashlib.sha1(key, usedforsecurity=False).digest(), "big"),
    "sum": sum,
    "exclusive or": lambda key: functools.reduce(lambda a, b: a ^ b, key, 0),
    "seventh": lambda key: int.from_bytes(key, "big") // 7,
    "length": len,
    "djb": _multiplied(33, 5381, 0xFFFFFFFF),
    "times 131": _multiplied(131, 0, 0x7FFFFFFF),
}
UNDRAWN: dict[str, Callable[[bytes], int]] = {
    "inner sha1": lambda key: int.from_bytes(hashlib.sha1(key, usedforsecurity=False).digest()[4:8], "big"),
}
"""Further unknown partitioners, which :func:`random_topic` does not draw."""
RANDOM = "random"


@dataclass(frozen=True, slots=True)
class RandomTopic:
    """``writer`` has the index into ``writers`` of each record, ``where`` its partition, ``key`` its index into ``keys``."""

    description: str
    partitions: int
    writers: tuple[tuple[str, int], ...]
    keys: list[bytes]
    key: np.ndarray
    writer: np.ndarray
    where: np.ndarray
    shown: tuple[bytes, ...] = ()
    """The keys as they are in the topic, if they are not those that were placed; ``view`` is the view that shows these."""
    view: str = WHOLE


VIEWS: dict[str, Callable[[bytes], bytes]] = {
    "window": lambda key: key + (1_700_000_000_000 + 60_000 * (sum(key) % 7)).to_bytes(8, "big"),
    "frame": lambda key: b"\0\0\0\0\x07" + key,
    "before:|": lambda key: key + b"|%d" % (sum(key) % 5),
    "after:/": lambda key: b"acme/" + key,
    "field:id": lambda key: b'{"n": %d, "id": "%s"}' % (sum(key) % 5, key.hex().encode()),
    "hex": lambda key: key.hex().encode(),
    "base64": base64.b64encode,
}
"""What producers and exports make of a key, by the view that takes it back."""


def places(rule: str, keys: list[bytes], count: int) -> np.ndarray:
    """Return where a rule puts these keys, -1 for a key that it does not place; ``random`` cannot be asked."""
    if rule in RELATIVES:
        return np.array([audit_truth.place(rule, key, count) for key in keys], np.int64)
    if rule in UNKNOWN or rule in UNDRAWN:
        unknown = (UNKNOWN | UNDRAWN)[rule]
        return np.array([unknown(key) % count for key in keys], np.int64)
    if rule.startswith(CONSTANT) or rule in {each.slug for each in STRUCTURED}:
        column = audit_truth.column(keys, 0, count)
        return structured_partitions(rule, column.offsets, column.data, count)
    return np.array([audit_truth.place(rule, key, count) for key in keys], np.int64)


def random_topic(draws: random.Random, *, unknown_beside: bool = False, views: bool = False) -> RandomTopic:
    """Draw a topic; ``unknown_beside``: an unknown partitioner may write beside others.

    ``views``: parts of keys, relatives of the rules, or encoded keys are placed, and mirrors keep an old partition count.
    """
    partitions, kind, distinct = draws.choice(PARTITIONS), draws.choice(list(KEYS)), draws.choice(DISTINCT)
    base = draws.choice([0, 1, 1000, 10**6])
    numbers = [base + number for number in range(distinct)]
    if draws.random() < 0.3:
        numbers = [draws.randrange(10**9) for _ in range(distinct)]
    keys = [KEYS[kind](number) for number in dict.fromkeys(numbers)]
    clients = draws.choice([1, 1, 1, 2, 2, 3])
    unknown = (*UNKNOWN, RANDOM)
    groups = (
        [HASHES, HASHES, STRUCTURES]
        + ([RELATED, RELATED] if views else [])
        + ([unknown] if clients == 1 or unknown_beside else [])
    )
    rules = [draws.choice(draws.choice(groups)) for _ in range(clients)]
    rules = [rule for rule in rules if rule == RANDOM or (places(rule, keys, partitions) >= 0).all()] or ["murmur2"]
    counts = [partitions] * len(rules)
    if len(rules) == 1 and partitions % 2 == 0 and draws.random() < 0.3:
        rules, counts = rules * 2, [partitions // 2, partitions]
    view = draws.choice([WHOLE, *VIEWS]) if views else WHOLE
    placed = [key.hex().encode() for key in keys] if view == "field:id" else keys
    keys, shown = placed, tuple(VIEWS[view](key) for key in keys) if view != WHOLE else ()
    if views:
        rules = [rule for rule in rules if rule == RANDOM or (places(rule, keys, partitions) >= 0).all()] or ["murmur2"]
        counts = (counts * 2)[: len(rules)] if len(counts) < len(rules) else counts[: len(rules)]
    records = max(len(keys) * 3, draws.choice([200, 2000, 4000]))
    in_turn = draws.random() < 0.5
    shares = [draws.random() + 0.02 for _ in rules]
    writer = np.arange(records) * len(rules) // records
    if in_turn:
        writer = np.array(draws.choices(range(len(rules)), shares, k=records))
    key = np.array(draws.choices(range(len(keys)), k=records))
    chosen = [
        np.array([draws.randrange(count) for _ in range(records)]) if rule == RANDOM else places(rule, keys, count)[key]
        for rule, count in zip(rules, counts, strict=True)
    ]
    where = np.choose(writer, chosen).astype(np.int32)
    written = " and ".join(f"{rule}@{count}" for rule, count in zip(rules, counts, strict=True))
    by_view = f", {view}" if views else ""
    turns = " in turn" if in_turn else ""
    description = f"{len(keys)} {kind} keys, {records} records, {written}{turns}, {partitions} partitions{by_view}"
    writers = tuple(zip(rules, counts, strict=True))
    return RandomTopic(description, partitions, writers, keys, key, writer, where, shown, view)


@dataclass(frozen=True, slots=True)
class TopicVerdict:
    """What an audit finds: ``known`` placements, or a ``doubt``; each block with the rows of its records."""

    known: tuple[Placed, ...]
    doubt: Doubt | None
    blocks: tuple[tuple[np.ndarray, Judged], ...]
    view: str = WHOLE


def verdict(topic: RandomTopic, expected: str = "murmur2") -> TopicVerdict:
    """Judge a topic as an audit does, each partition as one block."""
    shown = topic.shown or topic.keys
    arrow = pa.array([shown[number] for number in topic.key], pa.binary())
    placed = Placed(expected, topic.partitions)
    rows = pa.table({"partition": topic.where, "offset": np.arange(len(arrow)), "key": arrow})
    seen = look(rows, topic.partitions, placed)
    known, doubt, foreign = seen.known, seen.doubt, seen.foreign
    keys, blocks = viewed(arrow, seen.view).to_pylist(), []
    for partition in np.unique(topic.where).tolist():
        rows = np.flatnonzero(topic.where == partition)
        block = Block(partition, rows, rows, pa.array([keys[row] for row in rows], pa.binary()))
        blocks.append((rows, judge(block, topic.partitions, placed, known, foreign=foreign, doubtful=doubt is not None,
                                   weakest=False)))  # fmt: skip
    return TopicVerdict(known, doubt, tuple(blocks), seen.view)


def wrong(topic: RandomTopic, found: TopicVerdict) -> Counter[str]:
    """Count the records attributed to another rule than their writer's; two that place all keys alike are one rule."""
    same: dict[tuple[str, int], bool] = {}
    topic = as_viewed(topic, found.view)
    out: Counter[str] = Counter()
    for rows, judged in found.blocks:
        names = attribution_names(judged.present)
        for row, code in zip(rows.tolist(), judged.attributed.tolist(), strict=True):
            if code < 0:
                continue
            pair = names[code], int(topic.writer[row])
            if pair not in same:
                same[pair] = _same(topic, pair[0], topic.writers[pair[1]])
            if not same[pair]:
                out[f"{names[code]} for {'@'.join(map(str, topic.writers[pair[1]]))}"] += 1
    return out


def unfounded(topic: RandomTopic, found: TopicVerdict) -> list[str]:
    """Return the placements that the topic's sample shows and that place its keys like none of its writers."""
    topic = as_viewed(topic, found.view)
    return [str(one) for one in found.known if not any(_same(topic, str(one), writer) for writer in topic.writers)]


def as_viewed(topic: RandomTopic, view: str) -> RandomTopic:
    """Return the topic with ``shown``: its keys as the audit has judged them."""
    found = viewed(pa.array(topic.shown or topic.keys, pa.binary()), view).to_pylist()
    return replace(topic, shown=tuple(found))


def _same(topic: RandomTopic, name: str, writer: tuple[str, int]) -> bool:
    """Whether a rule puts the judged keys where the writer has put those that it placed."""
    rule, _, count = name.rpartition("@")
    if writer[0] == RANDOM:
        return False
    judged = list(topic.shown)
    if judged == topic.keys and name == f"{writer[0]}@{writer[1]}":
        return True
    return bool((places(rule, judged, int(count)) == places(writer[0], topic.keys, writer[1])).all())
