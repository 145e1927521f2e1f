"""Place one key by every known producer rule: Java's, other clients', and variants of them.

    >>> places = place(b"order-4711", 25)
    >>> places[0].rule, places[0].partition, places[0].clients[0]
    ('murmur2', 11, 'java')

A rule is a hash of the key (:mod:`.key_hashes`) and a *fold*, which makes a partition of the number. A hash of 32 bits is
a signed integer to Java, an unsigned one to C, Go and Rust:

==============  =====================================================================================================
fold            partition of n
==============  =====================================================================================================
``masked``      the number without its sign bit, modulo n
``abs``         its absolute value modulo n; Java's ``Math.abs(h % n)`` is the same
``abs-or-zero`` the same, but 0 for the lowest number, whose absolute value is not an int
``floor-mod``   the signed number modulo n, never negative: Java's ``Math.floorMod``, Python's ``%``
``unsigned``    the unsigned number modulo n
==============  =====================================================================================================

Only Java's rule is proven by the certificate. The others are held to the products' classes, packages and clients, where
these could be had: the page of the audit lists which. They were looked up in the source: Spring Cloud Stream,
``PartitionHandler``; Maxwell, ``MaxwellKafkaPartitioner``; Debezium, ``PartitionRouting``; kafka-rust, ``producer.rs``;
brod, ``brod_utils``; wolff, its README; pgstream, ``kafka_writer.go``; Goka, ``goka.DefaultHasher``; Sixt's service
framework, ``SixtPartitioner``. For SeaHash, xxHash of 64 bits, FNV of 64 bits, djb2, MD5 and SHA-1 no such product is
known. CityHash is left out: no producer was found that places by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_reference.arguments import COUNT, POSITIVE, checked
from kafka_reference.partitioning.key_hashes import HASHES, Hash

__all__ = ["ANY", "CLIENTS", "DRAWS_EMPTY", "FOLDS", "NAMED", "RULES", "Place", "PlacingRule", "place"]

FOLDS = {
    "abs-or-zero": "its absolute value, of the lowest number 0",
    "abs": "its absolute value",
    "masked": "its sign masked",
    "floor-mod": "as Math.floorMod",
    "unsigned": "unsigned",
}
"""The folds by name, in words."""

ANY = "any-partition"
"""The rule of clients that take partitions in turn, whatever the key."""

DRAWS_EMPTY = frozenset({"librdkafka-consistent"})
"""Rules that draw the partition of an empty key. librdkafka's other ``_random`` ones hash an empty key."""

NAMED = {
    ("murmur2", "masked"): "murmur2",
    ("crc32", "unsigned"): "librdkafka-consistent",
    ("fnv-1a", "abs"): "sarama-hash",
    ("fnv-1a", "masked"): "sarama-reference-hash",
    ("fnv-1a", "unsigned"): "fnv-1a-unsigned",
    ("crc32", "abs"): "sarama-crc32",
    ("murmur2-by-doubles", "masked"): "kafkajs-legacy",
    ("murmur2", "abs"): "sign-abs",
    ("murmur2", "unsigned"): "unsigned",
    ("crc32", "masked"): "crc32",
    ("murmur3-no-seed", "masked"): "murmur3-no-seed",
    ("string-hash-code", "masked"): "string-hash-code-text-masked",  # string-hash-code-masked is a mutant, of bytes
    ("arrays-hash-code", "masked"): "arrays-hash-code",
    ("arrays-hash-code", "abs-or-zero"): "scala-producer",
    ("kafka-node", "masked"): "kafka-node-keyed",
    ("murmur3-of-low-bytes", "unsigned"): "murmur3-unsigned",
    ("text-integer", "floor-mod"): "text-integer",
    ("int32-big-endian", "floor-mod"): "int32-big-endian",
    ("int32-little-endian", "floor-mod"): "int32-little-endian",
    ("int64-big-endian", "floor-mod"): "int64-big-endian",
    ("int64-little-endian", "floor-mod"): "int64-little-endian",
    ("first-byte", "floor-mod"): "first-byte",
    ("last-byte", "floor-mod"): "last-byte",
}
"""Rules with names of their own, by hash and fold. Any other is named after both: ``xxhash-unsigned``."""

_PRODUCTS = {
    ("murmur2", "masked"): "Java's producer, and what is built on it",
    ("crc32", "unsigned"): "librdkafka's default (consistent_random), ruby-kafka, pgstream",
    ("fnv-1a", "abs"): "sarama's default, Goka, kafka-go's Hash",
    ("fnv-1a", "masked"): "sarama's reference hash partitioner",
    ("murmur2-by-doubles", "masked"): "KafkaJS up to 1.x",
    ("murmur2", "unsigned"): "platformatic-kafka",
    ("arrays-hash-code", "abs-or-zero"): "the Scala producer of Kafka 0.8, for a key of bytes",
    ("kafka-node", "masked"): "kafka-node's KeyedPartitioner",
    ("murmur3-no-seed", "unsigned"): "node-sinek since 9.1.0",
    ("murmur3-of-low-bytes", "unsigned"): "node-sinek up to 9.0.0",
    ("string-hash-code", "abs-or-zero"): "Spring Cloud Stream's default for a key of text",
    ("string-hash-code", "abs"): "Maxwell's default",
    ("string-hash-code", "masked"): "Debezium's PartitionRouting by one field of text",
    ("long-hash-code", "abs-or-zero"): "Spring Cloud Stream's default for a Long",
    ("long-hash-code", "masked"): "Debezium's PartitionRouting by one field of eight bytes",
    ("murmur3-25342", "abs"): "Maxwell with murmur3",
    ("xxhash", "unsigned"): "kafka-rust's default",
    ("xxhash-murmur2-seed", "masked"): "Sixt's service framework",
    ("phash2", "unsigned"): "brod with hash, wolff (EMQX)",
}

CLIENTS: dict[str, str] = {
    **dict.fromkeys(("java", "aiokafka", "franz-go", "kafka-python", "kafkajs", "krafka", "no-kafka"), "murmur2"),
    **dict.fromkeys(
        (
            "librdkafka",
            "confluent-kafka",
            "confluent-kafka-go",
            "node-rdkafka",
            "pgstream",
            "rust-rdkafka",
            "ruby-kafka",
        ),
        "librdkafka-consistent",
    ),
    **dict.fromkeys(("sarama", "goka"), "sarama-hash"),
    "kafkajs-1": "kafkajs-legacy",
    "platformatic-kafka": "unsigned",
    "node-sinek": "murmur3-no-seed-unsigned",
    "node-sinek-9.0": "murmur3-unsigned",
    "kafka-node": "constant-0",
    "spring-cloud-stream": "string-hash-code-abs-or-zero",
    "maxwell": "string-hash-code-abs",
    "kafka-rust": "xxhash-unsigned",
    "brod": "phash2-unsigned",
    "kafka-go": ANY,
    "pykafka": ANY,
}
"""The rule of each client for records with a key, by default; of brod with ``hash``. kafkajs-1 is KafkaJS up to 1.x,
node-sinek-9.0 is node-sinek up to 9.0.0, which hashes the low byte of each character."""


@dataclass(frozen=True, slots=True)
class PlacingRule:
    """A rule: ``hash`` returns the unsigned number of a key, of ``bits`` bits, or None for a key that it does not take."""

    slug: str
    description: str
    hash_name: str
    hash: Hash
    bits: int
    fold: str

    def partition(self, key: bytes, num_partitions: int) -> int | None:  # unreached: of no rule; tests call it
        """Return the partition of a key, None for a key that the rule does not place."""
        number = self.hash(key)
        if number is None:
            return None
        lowest = 1 << self.bits - 1
        if self.fold == "unsigned":
            return number % num_partitions
        if self.fold == "masked":
            return number % lowest % num_partitions
        signed = number - 2 * lowest if number >= lowest else number
        if self.fold == "floor-mod":
            return signed % num_partitions
        return 0 if signed == -lowest and self.fold == "abs-or-zero" else abs(signed) % num_partitions


def _rules() -> Iterator[PlacingRule]:
    for name, hashed in HASHES.items():
        for fold in [hashed.fold] if hashed.fold else FOLDS:
            product = _PRODUCTS.get((name, fold))
            slug = NAMED.get((name, fold), f"{name}-{fold}")
            description = f"{f'{product}: ' if product else ''}{hashed.description}, {FOLDS[fold]}"
            yield PlacingRule(slug, description, name, hashed.function, hashed.bits, fold)


RULES = {
    each.slug: each for each in sorted(_rules(), key=lambda one: (one.hash_name, one.fold) not in _PRODUCTS)
}  # those of a known product first
"""The rules by slug, those of a known product first: of several that place all keys of a topic alike, the first is named."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule puts a key: ``partition`` is None if it draws one or takes one in turn, so that any fits.

    ``clients`` place records with a key by this rule in their default setting; ``description`` is what the rule does.

        >>> first = place(b"home", 3)[0]
        >>> first.rule, first.partition, first.clients[0], first.description
        ('murmur2', 1, 'java', "Java's producer, and what is built on it: murmur2, its sign masked")
    """

    rule: str
    description: str
    partition: int | None
    clients: tuple[str, ...]


@checked(num_partitions=POSITIVE, seen=COUNT)
def place(key: bytes, num_partitions: int, *, seen: int | None = None) -> tuple[Place, ...]:  # unreached: tests call it
    """Return the partition that each known rule gives a key, the rules of clients' defaults first, Java's before all.

    ``key`` is the serialized key, ``num_partitions`` the topic's number of partitions, 1 to 2,147,483,647. With ``seen``,
    the partition in which a record with this key is, only the rules that fit are returned. One key is little evidence: of
    N partitions, a wrong rule fits one key in N.

        >>> {one.clients[0]: one.partition for one in place(b"home", 3)[:3]}
        {'java': 1, 'librdkafka': 1, 'sarama': 2}

    Raises TypeError for a key that is not bytes, ValueError for a partition that the topic does not have.
    """
    if seen is not None and seen >= num_partitions:
        raise ValueError(f"seen is {seen}: expected a partition of the topic, 0 to {num_partitions - 1}")
    found = [_placed(slug, key, num_partitions) for slug in dict.fromkeys((*CLIENTS.values(), *RULES))]
    return tuple(one for one in found if one and (seen is None or one.partition in (None, seen)))


def _placed(slug: str, key: bytes, num_partitions: int) -> Place | None:  # unreached: of no rule; tests call it
    clients = tuple(client for client, rule in CLIENTS.items() if rule == slug)
    if slug == ANY:
        return Place(slug, "partitions in turn or at random, whatever the key", None, clients)
    if slug == "constant-0":
        return Place(slug, "partition 0 for every key", 0, clients)
    rule = RULES[slug]
    if slug in DRAWS_EMPTY and not key:
        return Place(slug, rule.description, None, clients)
    partition = rule.partition(key, num_partitions)
    return None if partition is None else Place(slug, rule.description, partition, clients)
