"""Show which partition each known rule and client gives a key, and which of them fit the partition it was seen in.

Without `--seen`, the rules that clients have by default. With it, all that the audit knows, on the whole key and on its
parts that some producers hash. One key is little evidence: of N partitions, a wrong rule fits one key in N.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_reference.partitioning.places import Place, place

__all__ = ["run"]

_LARGEST = 2**31 - 1
_SHOWN = 20
_WHOLE = "whole"  # as in key_views, which needs pyarrow; without --seen, this command does not


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
    found = [(_WHOLE, one) for one in place(data, partitions)] if seen is None else _with_parts(data, partitions)
    fit = [each for each in found if (each[1].clients if seen is None else each[1].partition in (None, seen))]
    if as_json:
        say_json({
            "key": data.hex(), "partitions": partitions, "seen": seen, "tried": len(found),
            "places": [
                {"partition": one.partition, "drawn": one.partition is None, "rule": one.rule, "view": view,
                 "clients": one.clients}
                for view, one in fit
            ],
        })  # fmt: skip
        return 0
    fit.sort(key=lambda each: (each[0] != _WHOLE, not each[1].clients))
    if fit:
        heads = ["partition", "rule", "clients", "how"] if seen is None else ["rule", "of the key", "clients", "how"]
        console().print(table("", heads, [_row(*each, seen) for each in fit[:_SHOWN]]))
    say(_conclusion(len(found), len(fit), partitions, seen))
    return 0


def _with_parts(data: bytes, partitions: int) -> list[tuple[str, Place]]:
    from kafka_conformance.audit.attribution.key_placement import ways_to_place

    with steps("compiling the rules, the first time", 1):
        return list(ways_to_place(data, partitions))


def _decoded(key: str, encoding: str) -> bytes:
    try:
        if encoding == "utf8":
            return key.encode()
        return bytes.fromhex(key) if encoding == "hex" else base64.b64decode(key, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadInput(f"KEY {key!r} is not {encoding} ({error}): check --key-encoding") from error


def _row(view: str, one: Place, seen: int | None) -> Sequence[str]:
    drawn = one.partition is None
    first = (
        ("any" if drawn else str(one.partition), one.rule)
        if seen is None
        else (one.rule, f"{view}, any" if drawn else view)
    )
    return (*first, ", ".join(one.clients), one.description)


def _conclusion(tried: int, fit: int, partitions: int, seen: int | None) -> str:
    if seen is None:
        return "--seen P lists the rules that fit the partition in which the key was seen"
    more = f"; the first {_SHOWN} are listed, --json lists all" if fit > _SHOWN else ""
    return (
        f"{fit} of {tried} ways to place the key fit partition {seen}{more}. A wrong one fits one key in {partitions}: "
        "kafka-conformance audit judges all keys of a topic"
    )
