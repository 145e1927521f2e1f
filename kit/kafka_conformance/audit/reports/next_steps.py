"""The next step after a verdict: one sentence for all reports of an audit."""

from __future__ import annotations

from kafka_conformance.audit.attribution.key_views import ENCODED, WHOLE
from kafka_conformance.audit.result import UNEXPLAINED, Audit

__all__ = ["next_step"]

_AS_JAVA = {
    "librdkafka-consistent": "partitioner=murmur2_random (librdkafka and its bindings)",
    "kafkajs-legacy": "createPartitioner: Partitioners.DefaultPartitioner (KafkaJS since 2.0)",
    "string-hash-code-abs-or-zero": "a message key in place of partitionKeyExpression (Spring Cloud Stream)",
    "long-hash-code-abs-or-zero": "a message key in place of partitionKeyExpression (Spring Cloud Stream)",
}
"""The client's setting by which it places keys as Java's producer does, by rule."""


def next_step(audit: Audit) -> str:
    """Return what to do after this verdict; empty without keyed records."""
    if not audit.keyed:
        return ""
    if audit.doubt:
        return _after_doubt(audit)
    unexplained = sum(line.attributed.get(UNEXPLAINED, 0) for line in audit.by_partition)
    if (audit.offending or unexplained) and (empty := _empty_at_the_end(audit)):
        return (
            f"Next: partitions {empty[0]:,} to {empty[-1]:,} hold no record: check that the topic has"
            f" {audit.partitions:,} partitions (--partitions, of files); rules take the remainder by this count."
        )
    if 2 * unexplained > audit.keyed:
        return (
            "Next: try your own partitioner (--candidate MODULE:FUNCTION), a part of the key (--key-view) or, of an export,"
            " its --key-encoding; kafka-conformance place KEY --partitions N --seen P tries all rules on one key."
        )
    if audit.mixed_counts:
        one = audit.mixed_counts[0]
        return (
            f"Next: find the producer that knows of {one.before:,} partitions: a mirror that keeps the partitions of its"
            " source, a partition count in its code, or metadata that it does not refresh."
        )
    encoding = audit.key_view.partition("+")[0]
    if encoding in ENCODED:
        return f"Next: audit again with --key-encoding {encoding}."
    if audit.offending:
        return _after_misplaced(audit)
    if audit.key_view != WHOLE:
        return "Next: nothing is to be repaired; joins compare whole keys."
    return "Next: before a join with another topic, kafka-conformance join finds keys that it would miss."


def _empty_at_the_end(audit: Audit) -> list[int]:
    """Return the highest partitions, if none holds a record: at least a quarter, where there are many records."""
    held = [line.partition for line in audit.by_partition if line.records]
    empty = list(range(max(held, default=-1) + 1, audit.partitions))
    return empty if held and 4 * len(empty) >= audit.partitions and audit.keyed >= 5 * audit.partitions else []


def _after_doubt(audit: Audit) -> str:
    doubt = audit.doubt
    if doubt is None or doubt.needed is None:
        return "Next: audit a topic of several partitions that the same producers write."
    more = max(doubt.needed - doubt.keys, 1)
    return f"Next: audit {more:,} more distinct keys: a longer export, or the topic without --from, --to, --sample."


def _after_misplaced(audit: Audit) -> str:
    if audit.growth and all(share.placed.rule == audit.expected.rule for share in audit.shares if share.attributed):
        return (
            "Next: keys moved when the partition count increased; kafka-conformance repair brings each back together."
        )
    others = [
        share.placed.rule for share in audit.shares if share.attributed and share.placed.rule != audit.expected.rule
    ]
    setting = next((_AS_JAVA[rule] for rule in others if rule in _AS_JAVA), "")
    view = "" if audit.key_view == WHOLE else f" --key-view {audit.key_view}"
    meant = f"--expect {others[0]}{view}" if others else ""
    if audit.expected.rule == "murmur2" and setting:
        return f"Next: set {setting}, then kafka-conformance repair; or {meant}, if that rule is meant."
    if len({share.placed.rule for share in audit.shares if share.attributed}) == 1 and others:
        return f"Next: say {meant}, if that rule is meant; if not, kafka-conformance repair writes a copy as expected."
    if others:
        return (
            f"Next: choose one rule for all producers ({meant}, if that one is meant), then kafka-conformance"
            " repair; kafka-conformance join finds the keys that a join misses."
        )
    return (
        "Next: kafka-conformance repair writes a copy with every key where it belongs; kafka-conformance join finds the"
        " keys that a join misses."
    )
