"""Show which partition each known rule and client gives a key, and which of them fit the partition it was seen in.

Without `--seen`, the rules that clients have by default. With it, all that the audit knows, on the whole key and on its
parts that some producers hash. One key is little evidence: of N partitions, a wrong rule fits once in N.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural

if TYPE_CHECKING:
    from kafka_conformance.spark.audit.attribution.placing import Place

__all__ = ["run"]

_LARGEST = 2**31 - 1
_SHOWN = 20


@click.argument("key")
@click.option("--partitions", required=True, type=click.IntRange(1, _LARGEST), metavar="N",
              help="How many partitions the topic has.")  # fmt: skip
@click.option("--seen", default=None, type=click.IntRange(0), metavar="P",
              help="The partition in which a record with this key is: list the rules that fit.")  # fmt: skip
@click.option("--key-encoding", default="utf8", type=click.Choice(["utf8", "hex", "base64"]), show_default=True,
              help="How KEY is written.")  # fmt: skip
@options.as_json
def run(*, key: str, partitions: int, seen: int | None, key_encoding: str, as_json: bool) -> int:
    """Print the partitions; return 0. Raises BadInput."""
    if seen is not None and seen >= partitions:
        raise BadInput(f"--seen {seen}: a topic with {plural(partitions, 'partition')} has none of this number")
    data = _decoded(key, key_encoding)
    from kafka_conformance.spark.audit.attribution.key_views import WHOLE
    from kafka_conformance.spark.audit.attribution.placing import places

    with steps("compiling the rules, the first time", 1):
        found = list(places(data, partitions, parts=seen is not None))
    fit = [each for each in found if (each.clients if seen is None else seen == each.partition or each.drawn)]
    if as_json:
        say_json({
            "key": data.hex(), "partitions": partitions, "seen": seen, "tried": len(found),
            "places": [
                {"partition": each.partition, "rule": each.rule, "view": each.view, "clients": each.clients,
                 "drawn": each.drawn} for each in fit
            ],
        })  # fmt: skip
        return 0
    fit.sort(key=lambda each: (each.view != WHOLE, not each.clients))
    if fit:
        heads = ["partition", "rule", "clients", "how"] if seen is None else ["rule", "of the key", "clients", "how"]
        console().print(table("", heads, [_row(one, seen) for one in fit[:_SHOWN]]))
    say(_conclusion(len(found), len(fit), partitions, seen))
    return 0


def _decoded(key: str, encoding: str) -> bytes:
    try:
        if encoding == "utf8":
            return key.encode()
        return bytes.fromhex(key) if encoding == "hex" else base64.b64decode(key, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadInput(f"KEY {key!r} is not {encoding} ({error}): check --key-encoding") from error


def _row(one: Place, seen: int | None) -> Sequence[str]:
    partition = "drawn at random" if one.drawn else str(one.partition)
    first = (partition, one.rule) if seen is None else (one.rule, f"{one.view}, drawn" if one.drawn else one.view)
    return (*first, ", ".join(one.clients), one.story)


def _conclusion(tried: int, fit: int, partitions: int, seen: int | None) -> str:
    if seen is None:
        return "--seen P lists the rules that fit the partition in which the key was seen"
    more = f"; the first {_SHOWN} are listed, --json lists all" if fit > _SHOWN else ""
    return (
        f"{fit} of {tried} ways to place the key fit partition {seen}{more}. A wrong one fits once in {partitions}: "
        "kafka-conformance audit judges all keys of a topic"
    )
