"""Mutants that are made from the eras of a rule: a release that answers like the one before it.

A client that was ported from an older release lags behind wherever a newer one changed a rule. There is one mutant for each
such change, named for its two releases: ``default-partitioner-2.4.0-like-2.3.1`` answers questions about Kafka 2.4.0 as the
reference does for 2.3.1. Its description is the text of the fields that changed. There is no mutant the other way round: a
question that tells two releases apart tells them apart in both. If the same two behaviours meet again, as in 3.0.2 and
3.1.1, which have the fix that 3.1.0 lacks, the first pair has the mutant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import eras, record_in, value_text, visible_fields
from kafka_reference.behaviour import Change
from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import NEWEST, Release

__all__ = ["ReleaseMutant", "difference", "references_of", "release_mutants"]

# Fields of a change that a description names; the page of the release has all of them.
_NAMED = 3
# Releases whose change no frozen question of the rule shows: mostly of a class that another rule asks about, and whose
# records this rule inherits. A test holds the list to the frozen answers of Java.
_NOT_SHOWN = {
    "producer-partition": "0.10.2.0 2.4.0 4.0.0",
    "sticky-distribution": "0.10.2.0 3.3.0 3.3.2 4.4.0",
    "record-accumulator": "1.1.0 3.0.2 3.1.1",
    "producer-send": (
        "1.1.0 2.1.1 2.2.0 2.2.1 2.3.0 2.3.1 3.0.0 3.0.2 3.2.0 3.3.2 3.5.0 3.6.2 3.7.0 3.7.1 4.2.0 4.4.0"
    ),
    "delivery": (
        "0.10.0.1 0.10.1.0 0.10.2.0 0.11.0.2 1.0.2 1.1.0 2.0.1 2.1.1 2.2.1 2.3.1 2.4.0 2.4.1 2.6.0 2.7.1 2.8.0 "
        "3.0.2 3.3.0 3.3.2 3.5.0 3.6.0 3.6.1 3.6.2 3.7.1 3.9.2 4.0.2 4.1.0 4.1.2 4.2.0 4.3.0"
    ),
    "consumer-fetch": (
        "1.1.0 2.4.0 2.7.0 2.8.2 3.0.0 3.0.2 3.1.0 3.1.2 3.5.1 3.5.2 3.6.0 3.8.0 4.1.0 4.2.2 4.3.0 4.4.0"
    ),
    "record-batch": "3.5.2",
    "high-watermark": "3.5.0",
    "isr": "4.0.0",
    "produce-acks": "3.5.0",
}
# Where the change was made in Kafka, and where others met or missed it.
_REFERENCES = {
    "builtin-partitioner-3.3.2-like-3.3.1": "apache/kafka/pull/12752",
    "builtin-partitioner-4.4.0-like-4.3.1": "apache/kafka/pull/19850 thomhurst/Dekaf/issues/2223",
    "default-partitioner-2.4.0-like-2.3.1": "segmentio/kafka-go/issues/584",
    "default-partitioner-0.10.2.0-like-0.10.1.1": "apache/kafka/pull/2128",
    "producer-partition-3.3.0-like-3.2.3": "apache/kafka/pull/12049 thomhurst/Dekaf/issues/1385",
    "producer-partition-3.2.0-like-3.1.2": "apache/kafka/pull/10525",
    "producer-partition-0.10.1.0-like-0.10.0.1": "apache/kafka/pull/1995",
    "round-robin-partitioner-3.9.2-like-3.9.1": "apache/kafka/pull/17620 apache/kafka/pull/11326",
    "sticky-distribution-3.9.2-like-3.9.1": "apache/kafka/pull/17620 apache/kafka/pull/11326",
    "record-accumulator-2.5.0-like-2.4.1": "apache/kafka/pull/8285 apache/kafka/pull/7389",
    "record-accumulator-4.2.0-like-4.1.2": "apache/kafka/pull/20358",
    "record-accumulator-3.9.2-like-3.9.1": "apache/kafka/pull/21065",
    "record-accumulator-2.1.0-like-2.0.1": "apache/kafka/pull/5270",
    "record-accumulator-2.7.1-like-2.7.0": "apache/kafka/pull/9832 thomhurst/Dekaf/issues/3342",
    "record-sizes-2.5.0-like-2.4.1": "apache/kafka/pull/8285",
    "idempotence-config-3.0.1-like-3.0.0": "apache/kafka/pull/11691",
    "idempotence-config-4.0.0-like-3.9.2": "apache/kafka/pull/11788",
    "producer-sequences-3.3.2-like-3.3.1": "apache/kafka/pull/12915",
    "producer-sequences-3.1.1-like-3.1.0": "apache/kafka/pull/11991 apache/kafka/pull/12096",
    "producer-sequences-2.7.0-like-2.6.3": "apache/kafka/pull/9832 thomhurst/Dekaf/issues/3342",
    "producer-sequences-2.5.0-like-2.4.1": "apache/kafka/pull/7389",
    "producer-sequences-2.1.0-like-2.0.1": "apache/kafka/pull/5270",
    "producer-sequences-2.0.0-like-1.1.1": "apache/kafka/pull/4642",
    "producer-sequences-1.0.0-like-0.11.0.3": "apache/kafka/pull/3743",
    "broker-producer-state-1.0.0-like-0.11.0.3": "apache/kafka/pull/3743",
    "broker-producer-state-2.0.1-like-2.0.0": "apache/kafka/pull/5518",
    "broker-producer-state-2.1.0-like-2.0.1": "apache/kafka/pull/5990",
    "broker-producer-state-2.4.0-like-2.3.1": "apache/kafka/pull/7388",
    "broker-producer-state-2.5.0-like-2.4.1": (
        "redpanda-data/redpanda/issues/22670 twmb/franz-go/issues/1281 apache/kafka/pull/23234 twmb/franz-go/pull/1401"
    ),
    "broker-producer-state-2.7.0-like-2.6.3": "apache/kafka/pull/9569",
    "broker-producer-state-3.6.0-like-3.5.2": "apache/kafka/pull/13787",
    "broker-producer-state-4.1.0-like-4.0.2": "apache/kafka/pull/19902",
    "broker-producer-state-4.2.0-like-4.1.2": "apache/kafka/pull/20882",
    "delivery-2.0.0-like-1.1.1": "apache/kafka/pull/4642",
    "delivery-1.0.0-like-0.11.0.3": "apache/kafka/pull/3743",
    "cooperative-sticky-assignor-2.5.1-like-2.5.0": "apache/kafka/pull/8668",
    "cooperative-sticky-assignor-2.8.1-like-2.8.0": "apache/kafka/pull/10985",
    "cooperative-sticky-assignor-3.0.0-like-2.8.2": "apache/kafka/pull/10509",
    "cooperative-sticky-assignor-3.4.1-like-3.4.0": "apache/kafka/pull/13550",
    "cooperative-sticky-assignor-3.5.0-like-3.4.1": "apache/kafka/pull/13350",
    "cooperative-sticky-assignor-3.5.2-like-3.5.1": "apache/kafka/pull/13920",
    "cooperative-sticky-assignor-3.7.1-like-3.7.0": "apache/kafka/pull/15416",
    "range-assignor-2.4.0-like-2.3.1": "apache/kafka/pull/7014",
    "range-assignor-3.5.0-like-3.4.1": "apache/kafka/pull/12990",
    "round-robin-assignor-2.4.0-like-2.3.1": "apache/kafka/pull/6815",
    "sticky-assignor-2.4.0-like-2.3.1": "apache/kafka/pull/7130",
    "sticky-assignor-2.5.1-like-2.5.0": "apache/kafka/pull/8668",
    "sticky-assignor-2.8.1-like-2.8.0": "apache/kafka/pull/10985",
    "sticky-assignor-3.0.0-like-2.8.2": "apache/kafka/pull/10509",
    "sticky-assignor-3.4.1-like-3.4.0": "apache/kafka/pull/13550",
    "sticky-assignor-3.5.0-like-3.4.1": "apache/kafka/pull/13350",
    "sticky-assignor-3.5.2-like-3.5.1": "apache/kafka/pull/13920",
    "sticky-assignor-3.7.1-like-3.7.0": "apache/kafka/pull/15416",
    "sticky-assignor-2.3.0-like-2.2.2": "apache/kafka/pull/5291",
    "offset-index-3.5.0-like-3.4.1": "apache/kafka/pull/13009",
    "offset-index-2.2.1-like-2.2.0": "apache/kafka/pull/6385",
    "time-index-3.5.0-like-3.4.1": "apache/kafka/pull/13010",
    "time-index-2.2.1-like-2.2.0": "apache/kafka/pull/6385",
    "delivery-3.0.1-like-3.0.0": "apache/kafka/pull/11691",
}


@dataclass(frozen=True, slots=True)
class ReleaseMutant(Mutant):
    """Answers in ``release`` as the reference does in ``older``, the proven release before it."""

    older: Release = NEWEST


def release_mutants(rule: Rule) -> tuple[ReleaseMutant, ...]:
    """Return a mutant for each change of a rule, in the order of the releases."""
    return _mutants_of(rule.slug)


@cache
def _mutants_of(rule: str) -> tuple[ReleaseMutant, ...]:
    return tuple(_made_of(RULES[rule]))


def _made_of(rule: Rule) -> Iterator[ReleaseMutant]:
    every = eras(rule)
    era_of = {release: number for number, era in enumerate(every) for release in era.releases}
    seen, not_shown = set[frozenset[int]](), _NOT_SHOWN.get(rule.slug, "").split()
    for older, newer in pairwise(sorted(era_of)):
        pair = frozenset((era_of[older], era_of[newer]))
        if len(pair) == 1 or pair in seen:
            continue
        seen.add(pair)
        if str(newer) not in not_shown:
            slug = f"{rule.slug}-{newer}-like-{older}"
            description = f"answers as {older}: {difference(rule, newer, older)}"
            references = tuple(f"https://github.com/{one}" for one in _REFERENCES.get(slug, "").split())
            yield ReleaseMutant(slug, rule.slug, description, partial(_ask_as, rule, older), newer, references, older)


def references_of(rule: Rule, release: Release) -> tuple[str, ...]:
    """Return where a client that answers as ``release`` lags behind: the references of the mutants that do so."""
    fields, cited = visible_fields(rule, release), (one for one in release_mutants(rule) if one.references)
    return tuple(link for one in cited if visible_fields(rule, one.older) == fields for link in one.references)


def _ask_as(rule: Rule, older: Release, question: Any, release: Release) -> Answer:
    """Answer as the reference does for ``older``; where that has no answer, as it does for ``release``."""
    try:
        return rule.ask(question, older)
    except NotInThisRelease:
        return rule.ask(question, release)


def difference(rule: Rule, release: Release, other: Release) -> str:
    """Return what ``other`` does and ``release`` does not, as far as questions of the rule can show."""
    expected, actual = visible_fields(rule, release), visible_fields(rule, other)
    changed = {name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name)}
    texts = dict.fromkeys(_texts(rule, release, other, changed))
    more = len(texts) - _NAMED
    return "; ".join(islice(texts, _NAMED)) + (f"; and {more} more" if more > 0 else "")


def _texts(rule: Rule, release: Release, other: Release, changed: set[str]) -> Iterator[str]:
    """Yield the text of each changed field, those of the first records first."""
    for record in rule.behaviours:
        expected, actual = record_in(record, release), record_in(record, other)
        if expected is None or actual is None:
            if record.__name__ in changed:
                yield f"{'has' if expected is None else 'lacks'} {record.java_class}"
            continue
        for change in record.changes():
            if f"{record.__name__}.{change.name}" in changed:
                yield _text(change, getattr(actual, change.name), getattr(expected, change.name))


def _text(change: Change, actual: Any, expected: Any) -> str:
    effect, ticket = change.effect.rstrip("."), f" ({change.ticket})" if change.ticket else ""
    if actual is True:
        return f"{effect}{ticket}"
    if actual is False:
        return f"not so: {effect}{ticket}"
    return f"{effect}: {value_text(actual)} in place of {value_text(expected)}{ticket}"
