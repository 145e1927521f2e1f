"""What an audit judges: the options of ``audit`` for the user's own partitioners, key formats, and a window of records."""

from __future__ import annotations

import click
import msgspec

from kafka_conformance.audit.selection import RecordSelection, parse_bound, parse_share
from kafka_conformance.cli import options
from kafka_conformance.cli.audit_source import Given
from kafka_conformance.core.errors import BadInput

__all__ = ["Scope", "scope_options"]


class Scope(msgspec.Struct, frozen=True):
    """The options that :func:`scope_options` adds, named as on the command line."""

    candidate: tuple[str, ...] = ()
    key_format: str = ""
    begin: str = ""
    end: str = ""
    sample: str = ""
    report_only: bool = False
    key_view: str = ""

    def selection(self) -> RecordSelection:
        """Return the records to judge. Raises BadInput."""
        chosen = RecordSelection(
            parse_bound("--from", self.begin), parse_bound("--to", self.end), parse_share(self.sample)
        )
        chosen.check()
        return chosen

    def check(self, expect: str, source: Given, *, repairs: bool, joins: bool = False) -> None:
        """Load the candidates, and check that ``expect`` is a rule, before Spark starts. Raises BadInput.

        A join needs a rule with a hash, or a candidate.
        """
        from kafka_conformance.audit.attribution.candidates import find_candidate, load_candidates, register
        from kafka_conformance.audit.attribution.key_views import find_view
        from kafka_conformance.audit.attribution.placements import find_placement, number

        if self.key_view:
            find_view(self.key_view)
        if self.candidate and repairs:
            raise BadInput(
                "--candidate has no effect with --repair-to: records are placed as Java's producer places them"
            )
        if self.key_format and repairs:
            raise BadInput("--key-format has no effect with --repair-to: records are placed by their whole keys")
        if self.key_view and (repairs or joins):
            raise BadInput(
                f"--key-view has no effect with {'--join' if joins else '--repair-to'}: whole keys count there"
            )
        if repairs and (self.begin or self.end or self.sample):
            raise BadInput("--from, --to and --sample have no effect with --repair-to: a repair copies every record")
        register(load_candidates(self.candidate, source.partitions))
        if not find_candidate(expect):
            (number if joins else find_placement)(expect)


_KEY_FORMATS = ("confluent", "apicurio", "apicurio-legacy", "json")  # of framing.formats, whose import is slow
scope_options = options.collected(
    "scope", Scope,
    click.option("--candidate", multiple=True, metavar="MODULE:FUNCTION",
                 help="Your own partitioner, a Python function (key: bytes, num_partitions: int) -> int, judged like the "
                      "built-in rules; repeatable."),
    click.option("--key-format", default="", type=click.Choice(["", *_KEY_FORMATS]), metavar="|".join(_KEY_FORMATS),
                 help="Report keys that differ only in the frame of a schema registry, or the spelling of their JSON, and "
                      "lie in several partitions."),
    click.option("--key-view", default="", metavar="VIEW",
                 help="The part of a key that a rule places: whole, window, frame, before:X, field:NAME, … (default: what "
                      "explains the topic)."),
    click.option("--from", "begin", default="", metavar="TIME|offset:N|offset:P:N,P:N",
                 help="Judge records from this time (ISO 8601) or offset on; offset:N is for all partitions."),
    click.option("--to", "end", default="", metavar="TIME|offset:N|offset:P:N,P:N",
                 help="Judge records before this time or offset."),
    click.option("--sample", default="", metavar="SHARE",
                 help="Judge this share of the keys, such as 0.01 or 1%, with all their records (default: all keys)."),
    click.option("--report-only", is_flag=True,
                 help="Report the finished audit in --folder again, without its broker or files."),
)  # fmt: skip
"""Add the options of :class:`Scope` to a command, which receives them as ``scope``."""
