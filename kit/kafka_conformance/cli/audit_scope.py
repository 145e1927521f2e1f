"""What ``audit`` and ``join`` judge and with which engine: their options for it, as the values that the engines take."""

from __future__ import annotations

import click
import msgspec

from kafka_conformance.audit.engines.choice import LIMIT_RECORDS, Engine
from kafka_conformance.audit.selection import RecordSelection, parse_bound, parse_share
from kafka_conformance.cli import options
from kafka_conformance.cli.audit_source import pairs
from kafka_reference.partitioning.places import CLIENTS

__all__ = ["EngineOptions", "Scope", "audit_scope", "engine_options", "join_scope", "spark_options"]


class Scope(msgspec.Struct, frozen=True):
    """The options that say what is judged, named as on the command line."""

    expect: str = "murmur2"
    candidate: tuple[str, ...] = ()
    key_format: str = ""
    key_view: str = ""
    begin: str = ""
    end: str = ""
    sample: str = ""

    def selection(self) -> RecordSelection:
        """Return the records to judge. Raises BadInput."""
        chosen = RecordSelection(
            parse_bound("--from", self.begin), parse_bound("--to", self.end), parse_share(self.sample)
        )
        chosen.check()
        return chosen

    def check(self, partitions: int | None, *, joins: bool = False) -> None:
        """Load the candidates, and check that the expected rule and the view exist, before Spark starts. Raises BadInput.

        A join needs a rule with a hash, or a candidate.
        """
        from kafka_conformance.audit.attribution.candidates import find_candidate, load_candidates, register
        from kafka_conformance.audit.attribution.key_views import find_view
        from kafka_conformance.audit.attribution.placements import find_placement, number

        if self.key_view:
            find_view(self.key_view)
        register(load_candidates(self.candidate, partitions))
        if not find_candidate(self.expect):
            (number if joins else find_placement)(self.expect)


class EngineOptions(msgspec.Struct, frozen=True):
    """The options that choose an engine, named as on the command line."""

    engine: str = "spark"
    master: str = ""
    settings: tuple[str, ...] = ()

    def chosen(self) -> Engine:
        """Return the engine. Raises BadInput."""
        return msgspec.convert(
            {"kind": self.engine, "master": self.master, "settings": pairs("--setting", self.settings)}, Engine
        )


_KEY_FORMATS = ("confluent", "apicurio", "apicurio-legacy", "json")  # of framing.formats, whose import is slow


def _rule(_: click.Context, __: click.Parameter, name: str) -> str:
    """Return the slug of a rule, for which a client may be named."""
    return CLIENTS.get(name, name)


_JUDGED = (
    click.option("--expect", default="murmur2", show_default=True, metavar="RULE", callback=_rule,
                 help="The rule that should place keys, or a client with its default; murmur2 is Java's."),
    click.option("--candidate", multiple=True, metavar="MODULE:FUNCTION",
                 help="Your own partitioner, a Python function (key: bytes, num_partitions: int) -> int, judged like the "
                      "built-in rules; repeatable."),
    click.option("--key-format", default="", type=click.Choice(["", *_KEY_FORMATS]), metavar="|".join(_KEY_FORMATS),
                 help="Report keys that differ only in the frame of a schema registry, or the spelling of their JSON, and "
                      "lie in several partitions."),
)  # fmt: skip
_SELECTED = (
    click.option("--from", "begin", default="", metavar="TIME|offset:N|offset:P:N,P:N",
                 help="Judge records from this time (ISO 8601) or offset on; offset:N is for all partitions."),
    click.option("--to", "end", default="", metavar="TIME|offset:N|offset:P:N,P:N",
                 help="Judge records before this time or offset."),
    click.option("--sample", default="", metavar="SHARE",
                 help="Judge this share of the keys, such as 0.01 or 1%, with all their records (default: all keys)."),
)  # fmt: skip
_VIEW = click.option("--key-view", default="", metavar="VIEW",
                     help="The part of a key that a rule places: whole, window, frame, before:X, field:NAME, … (default: "
                          "what explains the topic).")  # fmt: skip
_ENGINE = click.option("--engine", default="auto", type=click.Choice(["auto", "local", "spark"]), show_default=True,
                       metavar="auto|local|spark", help="What reads the records: this process (local), without Java, or "
                       f"Spark. auto: local up to {LIMIT_RECORDS:,} records.")  # fmt: skip
_SPARK = (
    options.master,
    click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE",
                 help="Spark setting, e.g. spark.driver.memory=8g; repeatable."),
)  # fmt: skip
audit_scope = options.collected("scope", Scope, *_JUDGED, _VIEW, *_SELECTED)
"""Add the options of what an audit judges to a command, which receives them as ``scope``."""

join_scope = options.collected("scope", Scope, *_JUDGED, *_SELECTED)
"""Add the options of what a join judges: whole keys."""

engine_options = options.collected("engine", EngineOptions, _ENGINE, *_SPARK)
"""Add the options that choose an engine to a command, which receives them as ``engine``."""

spark_options = options.collected("engine", EngineOptions, *_SPARK)
"""Add the options of Spark, for a command that needs it."""
