"""Mistakes in the hash of a key: another hash altogether, or murmur2 with one thing about it wrong."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import mmh3

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_reference.errors import NullPointerException
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import MASK, murmur2
from kafka_reference.releases import Release

__all__ = ["HASHES", "MUTANTS", "asked_bytes", "fnv1a", "signed"]


def signed(h: int) -> int:
    """The low 32 bits of ``h``, as a Java int."""
    return (h & MASK ^ 0x80000000) - 0x80000000


def _murmur2_but(
    key: bytes,
    *,
    m: int = M,
    seed: int = SEED,
    order: Any = "little",
    signed_tail: bool = False,
    length: int | None = None,
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
    return signed(h ^ h >> 15)


def fnv1a(key: bytes) -> int:
    """The 32-bit FNV-1a, as a Java int."""
    h = 0x811C9DC5
    for byte in key:
        h = (h ^ byte) * 0x01000193 & MASK
    return signed(h)


def _times_31(start: int, key: bytes, signed_bytes: bool) -> int:
    h = start
    for byte in key:
        h = 31 * h + (byte - 256 if signed_bytes and byte >= 0x80 else byte)
    return signed(h)


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
    return signed(h ^ h >> 47)


def _characters(key: bytes) -> int:
    return len(key.decode("utf-8", errors="replace"))


HASHES: dict[str, tuple[str, Callable[[bytes], int]]] = {
    "one-bit": ("the multiplier has one bit wrong", lambda key: _murmur2_but(key, m=M ^ 1)),
    "seed-left-out": ("the hash starts from the length alone", lambda key: _murmur2_but(key, seed=0)),
    "signed-tail": (
        "left-over bytes of 0x80 and more are taken as negative",
        lambda key: _murmur2_but(key, signed_tail=True),
    ),
    "big-endian": ("words are read with the first byte on top", lambda key: _murmur2_but(key, order="big")),
    "length-in-characters": ("the length counts characters", lambda key: _murmur2_but(key, length=_characters(key))),
    "unsigned-hash": ("the hash is not a signed int", lambda key: murmur2(key) & MASK),
    "crc32": ("CRC32, librdkafka's default, in place of murmur2", lambda key: signed(zlib.crc32(key))),
    "fnv-1a": ("FNV-1a, sarama's default, in place of murmur2", fnv1a),
    "murmur3": ("murmur3 with Kafka's seed in place of murmur2", lambda key: mmh3.hash(key, SEED)),
    "murmur2-64a": ("the 64-bit murmur2, cut to 32 bits", _murmur2_64a),
    "string-hash-code": ("Java's String.hashCode of the bytes", lambda key: _times_31(0, key, signed_bytes=False)),
    "arrays-hash-code": ("Java's Arrays.hashCode", lambda key: _times_31(1, key, signed_bytes=True)),
}


def asked_bytes(question: Any) -> bytes:
    """The key asked about; a null one raises, as in Java."""
    if question.key is None:
        raise NullPointerException
    return bytes.fromhex(question.key)


def _ask(wrong: Callable[[bytes], int]) -> Ask:
    def answer(question: Any, _: Release) -> Answer:
        return {"hash": wrong(asked_bytes(question))}

    return answer


MUTANTS = tuple(Mutant(slug, "murmur2", story, _ask(wrong)) for slug, (story, wrong) in HASHES.items())
