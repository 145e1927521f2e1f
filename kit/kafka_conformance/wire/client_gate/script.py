"""Scripts: what a client is to do, with which settings, and what happens to its requests.

The scripts that ship are in ``scripts.toml``. A producer's script sends ``rounds`` of ``records`` and flushes after each; a
consumer's reads what the kit has written (``stored``) until ``consume`` records have come, commits and closes,
once for each number::

    [[script]]
    id = "lost/response-idempotent"
    title = "the response to a Produce request is lost: it is sent again, and stored once"
    settings = {idempotence = true}
    lose-response = ["Produce=3"]
"""

from __future__ import annotations

import random
import tomllib
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.recording.faults import Script as Faults
from kafka_conformance.wire.recording.faults import parse_faults, parse_limits

__all__ = ["CODECS", "Script", "Settings", "Stored", "generated", "shipped", "steady"]

Compression = Literal["none", "gzip", "snappy", "lz4", "zstd"]
CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
Stored = Literal["", "plain", "compressed", "transactions"]
"""What a consumer finds: batches of several records; the same in each codec; records of transactions, some aborted."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a client, in the environment of its adapter by the same names in capitals."""

    acks: Literal["all", "1", "0"] = "all"
    idempotence: bool = False
    batch_size: int = 16_384
    linger_ms: int = 5
    compression: Compression = "none"
    in_flight: int = 5
    isolation: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    session_ms: int = 6_000

    def environment(self) -> dict[str, str]:
        """Return the variables of the environment."""
        given = {name.upper(): getattr(self, name) for name in self.__struct_fields__}
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="kebab"):
    """One script.

    With ``warm_up``, one record is sent to each partition and flushed before all others: each is a request, and the broker
    has state of the producer before a fault. ``keys`` is how many different keys records have, 0 for none; ``judges_keys``
    whether they have to go where Java's default partitioner puts them; ``empty_key`` adds one. ``java_fails`` says that
    Java's own producer does not deliver all records either. ``about`` is an incident that a script shows.
    """

    id: str
    title: str
    settings: Settings = Settings()
    partitions: int = 3
    warm_up: bool = False
    rounds: int = 6
    records: int = 20
    keys: int = 0
    empty_key: bool = False
    value_bytes: int = 20
    judges_keys: bool = False
    stored: Stored = ""
    consume: tuple[int, ...] = ()
    lose_request: tuple[str, ...] = ()
    lose_response: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    at_most: tuple[str, ...] = ()
    java_fails: bool = False
    about: str = ""

    @property
    def is_producer(self) -> bool:
        """Whether the client produces; else it consumes."""
        return not self.stored

    @property
    def faults(self) -> Faults:
        """What happens to which request. Raises BadInput."""
        return parse_faults({
            "lose-request": self.lose_request, "lose-response": self.lose_response, "refuse": self.refuse,
        })  # fmt: skip

    @property
    def limits(self) -> dict[str, int]:
        """The largest version that the broker offers, by API. Raises BadInput."""
        return parse_limits(self.at_most)

    @property
    def loses(self) -> bool:
        """Whether a connection is closed: a client may then send again what was stored."""
        return bool(self.lose_request or self.lose_response)


_STEADY_LINGER_MS, _STEADY_BATCH_SIZE = 200, 16_384


def steady(script: Script) -> Script:
    """Return the variant of a script for a cassette: what a client sends in it does not depend on time or chance.

    Batches are sent when they are full or flushed. There is one partition, unless the script is about several: then batches
    are so large that a flush sends one to each.
    """
    if not script.is_producer:
        return msgspec.structs.replace(
            script, partitions=1, consume=tuple(count // script.partitions for count in script.consume)
        )
    partitions = script.partitions if script.judges_keys or script.warm_up else 1
    settings = msgspec.structs.replace(
        script.settings, linger_ms=max(script.settings.linger_ms, _STEADY_LINGER_MS),
        batch_size=script.settings.batch_size if partitions == 1 else max(script.settings.batch_size, _STEADY_BATCH_SIZE),
    )  # fmt: skip
    return msgspec.structs.replace(script, settings=settings, partitions=partitions)


@cache
def shipped() -> tuple[Script, ...]:
    """Return the scripts that ship with the package. Raises BadInput if the file is damaged."""
    text = (resources.files(__package__) / "scripts.toml").read_text(encoding="utf-8")
    return read(text)


def read(text: str) -> tuple[Script, ...]:
    """Read scripts as TOML. Raises BadInput."""
    try:
        found = msgspec.convert(tomllib.loads(text)["script"], tuple[Script, ...])
    except (tomllib.TOMLDecodeError, KeyError, msgspec.ValidationError) as error:
        raise BadInput(f"invalid scripts: {error}") from error
    for one in found:
        _ = one.faults, one.limits
    return found


_RETRIED: Final = (3, 6, 7, 19, 20)
"""Errors of Produce after which every client sends a batch again."""


def generated(count: int, seed: int) -> list[Script]:
    """Return scripts of producers that are drawn from the seed: settings, workload and faults."""
    draw = random.Random(seed)  # noqa: S311  no secret
    return [_drawn(draw, number) for number in range(1, count + 1)]


def _drawn(draw: random.Random, number: int) -> Script:
    idempotent = draw.random() < 0.7
    settings = Settings(
        idempotence=idempotent, batch_size=draw.choice([100, 300, 1_000, 16_384]), linger_ms=draw.choice([0, 5, 20]),
        compression=draw.choice(CODECS), in_flight=draw.choice([1, 2, 5]),
        acks="all" if idempotent else draw.choice(["all", "1"]),
    )  # fmt: skip
    made: dict[str, list[str]] = {"lose_request": [], "lose_response": [], "refuse": []}
    rounds, partitions = draw.randint(2, 8), draw.randint(1, 4)
    after = range(partitions + 1, partitions + rounds + 1)  # no request of the warm-up
    for at in sorted(draw.sample(after, draw.randint(0, min(3, rounds)))):
        kind = draw.choice(list(made))
        made[kind].append(f"Produce={at}:{draw.choice(_RETRIED)}" if kind == "refuse" else f"Produce={at}")
    if draw.random() < 0.2:
        made["refuse"].append("Metadata=1:5")
    fields: dict[str, Any] = {name: tuple(texts) for name, texts in made.items()}
    return Script(
        f"generated/{number}", "settings, workload and faults drawn from the seed", settings, partitions, warm_up=True,
        rounds=rounds, records=draw.randint(1, 40), keys=draw.choice([0, 0, 5, 50]), value_bytes=draw.choice([5, 20, 200]),
        **fields,
    )  # fmt: skip
