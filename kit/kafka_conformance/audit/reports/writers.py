"""Say which producers wrote a topic, with their shares: one sentence for all reports of an audit."""

from __future__ import annotations

from collections import Counter
from math import ceil, floor, log

from kafka_conformance.audit.reports.formatting import counted, percent
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Audit, Interval
from kafka_conformance.core.sanitize import clipped

__all__ = ["attributed_totals", "bounds", "estimate", "estimated_rules", "topic_writers"]

_DESCRIPTION, _RULE, _EMPTY = 120, 60, 8


def topic_writers(audit: Audit) -> str:
    """Return which producers wrote the keyed records, and the shares of other records; empty without keyed records."""
    if not audit.keyed:
        return ""
    totals = attributed_totals(audit)
    rules: Counter[str] = Counter()
    for share in audit.shares:
        rules[share.placed.rule] += share.attributed
    shares = estimated_rules(audit)
    wrote = [rule for rule, count in rules.most_common() if count or (rule in shares and shares[rule].low)]
    parts = [
        f"{_with_description(audit, rule)} {estimate(shares[rule]) if rule in shares else percent(rules[rule], audit.keyed)}"
        for rule in wrote
    ]
    kinds = f"{counted(len(wrote), 'kind').capitalize()} of producer wrote this topic"
    if audit.foreign:
        kinds += ", beside unknown ones"
        parts.append(f"unknown {estimate(audit.foreign)}")
    sentence = f"{kinds}: {'; '.join(parts)}."
    rest = [
        f"{percent(totals[name], audit.keyed)} {words}"
        for name, words in ((EITHER, "may be of more than one"), (UNEXPLAINED, _unexplained(audit, totals)))
        if totals[name]
    ]
    left = f"{', and '.join(rest)}." if rest else ""
    return " ".join(filter(None, [sentence if wrote else "", left]))


def _unexplained(audit: Audit, totals: Counter[str]) -> str:
    """Return that records match no placement, and whether a function of the key placed them, if nothing else wrote."""
    words = "match no known placement"
    repeated = audit.keyed - audit.splits.of_keys
    if totals[UNEXPLAINED] != audit.keyed or audit.partitions < 2 or repeated * log(audit.partitions) < log(1e9):
        return words
    if not audit.splits.keys:
        empty = [f"{line.partition:,}" for line in audit.by_partition if not line.records]
        held = f"; partitions that hold nothing: {', '.join(empty[:_EMPTY])}" if empty else ""
        return (
            f"{words}, but each key stays in one partition: an unknown function of the key chose it, or of something that"
            f" goes with the key, such as another field, a database, a table or the number of a task{held}"
        )
    if audit.splits.records - audit.splits.keys >= 0.9 * repeated:
        return (
            f"{words}, and repeated keys are in several partitions: these were named, drawn at random, or taken in turn"
        )
    return words


def _with_description(audit: Audit, rule: str) -> str:
    description = next((share.description for share in audit.shares if share.placed.rule == rule), "")
    return clipped(rule, _RULE) + (f" ({clipped(description, _DESCRIPTION)})" if description else "")


def estimated_rules(audit: Audit) -> dict[str, Interval]:
    """Return the estimated share of each rule, with all its partition counts: what the other rules leave bounds it too."""
    by_rule: dict[str, list[Interval]] = {}
    for share in audit.shares:
        if share.estimated:
            by_rule.setdefault(share.placed.rule, []).append(share.estimated)
    out = {}
    for rule, mine in by_rule.items():
        others = [one for other, each in by_rule.items() if other != rule for one in each]
        others += [audit.foreign] if audit.foreign else []
        low = max(sum(one.low for one in mine), 1 - sum(one.high for one in others))
        high = min(sum(one.high for one in mine), 1 - sum(one.low for one in others))
        best = min(max(sum(one.share for one in mine), low), high)
        out[rule] = Interval(best, low, high)
    return out


def estimate(one: Interval) -> str:
    """Return a share with its bounds: ``58.2 % (57.1 to 59.3 %)``."""
    if one.low > 1 - 1e-9:
        return "100 %"
    return f"{100 * one.share:.{_digits(one)}f} % ({bounds(one)})"


def bounds(one: Interval) -> str:
    """Return the bounds of a share, rounded outwards: ``57.1 to 59.3 %``."""
    digits = _digits(one)
    fine = 10.0 ** (digits + 2)
    low, high = floor(fine * one.low + 1e-6) / fine, ceil(fine * one.high - 1e-6) / fine
    return f"{100 * low:.{digits}f} to {100 * min(high, 1):.{digits}f} %"


def _digits(one: Interval) -> int:
    return 2 if one.high < 0.01 else 1


def attributed_totals(audit: Audit) -> Counter[str]:
    """Count the keyed records of the topic by attribution."""
    totals: Counter[str] = Counter()
    for line in audit.by_partition:
        totals.update(line.attributed)
    return totals
