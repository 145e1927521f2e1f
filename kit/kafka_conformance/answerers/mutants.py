"""The reference with one known mistake in it. A kit that does not notice these notices nothing.

Each is a mistake some port has made, or would: its story says which. ``selftest`` puts every one of them to the real
Java, in a release where the mistake shows, and each has to be found; a survivor means that the questions of its rule
are too weak, and fails the run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mmh3

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.errors import BadInput
from kafka_conformance.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_reference.errors import ArithmeticException, NullPointerException
from kafka_reference.murmur2 import MASK, SEED, M, murmur2
from kafka_reference.releases import NEWEST, Release, release

__all__ = ["MUTANTS", "Mutant", "mutant_answerer"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """``ask`` answers like the rule, but for one mistake, which shows in release ``at``."""

    slug: str
    rule: str
    story: str
    ask: Callable[[Any, Release], Answer]
    at: Release = NEWEST


def mutant_answerer(slug: str) -> tuple[Mutant, ReferenceAnswerer]:
    """The mutant of this name, as an answerer. Raises BadInput."""
    found = next((mutant for mutant in MUTANTS if mutant.slug == slug), None)
    if found is None:
        raise BadInput(f"there is no mutant {slug}: the mutants are {', '.join(mutant.slug for mutant in MUTANTS)}")
    return found, ReferenceAnswerer(f"mutant:{slug}", found.ask)


def _signed(h: int) -> int:
    return (h & MASK ^ 0x80000000) - 0x80000000


def _murmur2_but(
    key: bytes, *, m: int = M, seed: int = SEED, order: Any = "little", signed_tail: bool = False, length: int | None = None
) -> int:
    """murmur2, written plainly, with something about it changed."""
    h = seed ^ (len(key) if length is None else length)
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(key[at : at + 4], order) * m & MASK
        h = (h * m ^ (k ^ k >> 24) * m) & MASK
    if tail := key[whole:]:
        for place, byte in enumerate(tail):
            h ^= (byte - 256 if signed_tail and byte >= 0x80 else byte) << 8 * place
        h = h * m & MASK
    h = (h ^ h >> 13) * m & MASK
    return _signed(h ^ h >> 15)


def _fnv1a(key: bytes) -> int:
    h = 0x811C9DC5
    for byte in key:
        h = (h ^ byte) * 0x01000193 & MASK
    return _signed(h)


def _times_31(start: int, key: bytes, signed: bool) -> int:
    h = start
    for byte in key:
        h = 31 * h + (byte - 256 if signed and byte >= 0x80 else byte)
    return _signed(h)


def _murmur2_64a(key: bytes) -> int:
    m, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    h = SEED ^ len(key) * m & mask
    whole = len(key) & ~7
    for at in range(0, whole, 8):
        k = int.from_bytes(key[at : at + 8], "little") * m & mask
        h = (h ^ (k ^ k >> 47) * m & mask) * m & mask
    if tail := key[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * m & mask
    h = (h ^ h >> 47) * m & mask
    return _signed(h ^ h >> 47)


def _characters(key: bytes) -> int:
    return len(key.decode("utf-8", errors="replace"))


_HASHES: dict[str, tuple[str, Callable[[bytes], int]]] = {
    "one-bit": ("the multiplier has one bit wrong", lambda key: _murmur2_but(key, m=M ^ 1)),
    "seed-left-out": ("the hash starts from the length alone", lambda key: _murmur2_but(key, seed=0)),
    "signed-tail": ("left-over bytes of 0x80 and more are taken as negative", lambda key: _murmur2_but(key, signed_tail=True)),
    "big-endian": ("words are read with the first byte on top", lambda key: _murmur2_but(key, order="big")),
    "length-in-characters": ("the length counts characters", lambda key: _murmur2_but(key, length=_characters(key))),
    "unsigned-hash": ("the hash is not a signed int", lambda key: murmur2(key) & MASK),
    "crc32": ("CRC32, librdkafka's default, in place of murmur2", lambda key: _signed(zlib.crc32(key))),
    "fnv-1a": ("FNV-1a, sarama's default, in place of murmur2", _fnv1a),
    "murmur3": ("murmur3 with Kafka's seed in place of murmur2", lambda key: mmh3.hash(key, SEED)),
    "murmur2-64a": ("the 64-bit murmur2, cut to 32 bits", _murmur2_64a),
    "string-hash-code": ("Java's String.hashCode of the bytes", lambda key: _times_31(0, key, signed=False)),
    "arrays-hash-code": ("Java's Arrays.hashCode", lambda key: _times_31(1, key, signed=True)),
}

_FOLDS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "sign-abs": ("the sign is dropped by abs", lambda h, n: abs(h) % n),
    "sign-negate": ("a negative hash is negated in 32 bits, which leaves 0x80000000 negative", lambda h, n: _rem(_signed(-h) if h < 0 else h, n)),
    "sign-inverted": ("a negative hash has all its bits turned", lambda h, n: (~h if h < 0 else h) % n),
    "unsigned": ("the hash is taken as unsigned", lambda h, n: (h & MASK) % n),
    "sign-kept": ("the remainder of the signed hash", lambda h, n: _rem(h, n)),
    "float-arithmetic": ("the fraction of a division in doubles, times the count", lambda h, n: int((h & 0x7FFFFFFF) / n % 1 * n)),
    "shift": ("the sign is shifted out, and with it the lowest bit", lambda h, n: ((h & MASK) >> 1) % n),
}  # fmt: skip


def _rem(dividend: int, divisor: int) -> int:
    """Java's ``%``: the sign of the dividend."""
    left = abs(dividend) % abs(divisor)
    return -left if dividend < 0 else left


def _bytes(question: Any) -> bytes:
    if question.key is None:
        raise NullPointerException
    return bytes.fromhex(question.key)


def _hash_mutants() -> list[Mutant]:
    def ask(wrong: Callable[[bytes], int]) -> Callable[[Any, Release], Answer]:
        return lambda question, _: {"hash": wrong(_bytes(question))}

    return [Mutant(slug, "murmur2", story, ask(wrong)) for slug, (story, wrong) in _HASHES.items()]


def _fold_mutants() -> list[Mutant]:
    def ask(fold: Callable[[int, int], int]) -> Callable[[Any, Release], Answer]:
        def answer(question: Any, _: Release) -> Answer:
            hashed = murmur2(_bytes(question))
            if question.partitions == 0:
                raise ArithmeticException
            return {"partition": fold(hashed, abs(question.partitions))}

        return answer

    return [Mutant(slug, "partition-for-key", story, ask(fold)) for slug, (story, fold) in _FOLDS.items()]


def _key_as(rule: str, given: str | None, taken: str | None) -> Callable[[Any, Release], Answer]:
    """The rule, with one key taken for another."""

    def answer(question: Any, at: Release) -> Answer:
        if question.key == given:
            question = type(question)(taken, question.partitions)
        return RULES[rule].ask(question, at)

    return answer


def _count_error(question: Any, at: Release) -> Answer:
    if question.partitions < 0:
        raise ArithmeticException
    return RULES["partition-for-key"].ask(question, at)


def _producer(change: Callable[[Any], Any]) -> Callable[[Any, Release], Answer]:
    """The rule asked a question somebody changed on the way."""
    return lambda question, at: RULES["producer-partition"].ask(change(question), at)


def _with(question: Any, part: str, **changes: Any) -> Any:
    return _replace(question, **{part: _replace(getattr(question, part), **changes)})


def _replace(value: Any, **changes: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(value, **changes)


def _available_only(question: Any) -> Any:
    led = tuple(partition for partition in question.cluster.partitions if partition.leader is not None)
    return _with(question, "cluster", partitions=led or question.cluster.partitions)


def _empty_is_none(question: Any) -> Any:
    return _with(question, "record", key=None) if question.record.key == "" else question


def _null_is_empty(question: Any) -> Any:
    return _with(question, "record", key="") if question.record.key is None else question


def _unplugged(question: Any) -> Any:
    return _with(question, "config", partitioner=None)


def _unchecked(question: Any, at: Release) -> Answer:
    plugged = question.config.partitioner
    if question.record.partition is None and plugged is not None:
        return {"partition": plugged.returns}
    return RULES["producer-partition"].ask(question, at)


def _as_if(version: str) -> Callable[[Any, Release], Answer]:
    return lambda question, _: RULES["producer-partition"].ask(question, release(version))


def _index_for_id(question: Any, at: Release) -> Answer:
    """An index into the available partitions, where Java answers the id of the one there."""
    renumbered = tuple(_replace(partition, id=at_) for at_, partition in enumerate(_led(question)))
    return RULES["producer-partition"].ask(_with(question, "cluster", partitions=renumbered), at)


def _led(question: Any) -> list[Any]:
    partitions = list(question.cluster.partitions)
    return [partition for partition in partitions if partition.leader is not None] or partitions


def _producer_mutants() -> list[Mutant]:
    rule, old = "producer-partition", release("2.8.2")
    made = [
        Mutant("available-only", rule, "keys go over the partitions that have a leader", _producer(_available_only)),
        Mutant("empty-key-is-none", rule, "an empty key counts as no key", _producer(_empty_is_none)),
        Mutant("null-key-is-empty", rule, "no key is hashed as an empty one", _producer(_null_is_empty)),
        Mutant("keys-not-ignored", rule, "partitioner.ignore.keys is not looked at", _producer(lambda q: _with(q, "config", ignore_keys=False))),
        Mutant("unplugged", rule, "a partitioner that was plugged in is not asked", _producer(_unplugged)),
        Mutant("negative-unchecked", rule, "a negative answer of the partitioner goes through", _unchecked),
        Mutant("as-3.2", rule, "the choice is not left to the accumulator", _as_if("3.2.3")),
        Mutant("as-3.1", rule, "3.2 taken for 3.1: a negative answer goes through", _as_if("3.1.2"), release("3.2.3")),
        Mutant("as-0.10.0", rule, "a partition named in the record has to exist", _as_if("0.10.0.1"), release("0.11.0.3")),
        Mutant("as-0.11", rule, "a partition named in the record need not exist", _as_if("0.11.0.3"), release("0.10.0.1")),
        Mutant("index-for-id", rule, "an index among the available ones is answered as an id", _index_for_id, old),
    ]  # fmt: skip
    return made


def _for_key_mutants() -> list[Mutant]:
    rule = "partition-for-key"
    return [
        Mutant("null-hashed-as-empty", rule, "no key is hashed as an empty one", _key_as(rule, None, "")),
        Mutant("empty-taken-for-null", rule, "an empty key counts as no key", _key_as(rule, "", None)),
        Mutant("negative-count-raises", rule, "a negative count is refused, which Java does not do", _count_error),
    ]


MUTANTS: tuple[Mutant, ...] = (*_hash_mutants(), *_fold_mutants(), *_for_key_mutants(), *_producer_mutants())
