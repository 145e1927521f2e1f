"""Audit topics of which the writer of each record is known, and write the verdicts as a page.

::

    python ci/truth_page.py           # writes kit/docs/audit-truth.md
    python ci/truth_page.py --check   # exit code 1 if the page is not as it would be written

The topics are made by ``tests/shared/truth_topics.py``: files, audited in this process without Spark. Half a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "shared"))

from truth_topics import KINDS, Judgement, Kind, judged  # noqa: E402  tests/shared has to be on the path

from kafka_conformance.audit.reports.writers import estimate, estimated_rules  # noqa: E402
from kafka_conformance.audit.result import Audit  # noqa: E402
from kafka_conformance.reports.terminal import plural  # noqa: E402

__all__ = ["PAGE", "main", "page", "row"]

PAGE = ROOT / "kit" / "docs" / "audit-truth.md"
HEAD = """\
# Kinds of topic with a known truth

Each topic is written by the rules that the clients have, so that the writer of every record is known, and then
[audited](audit.md). *Wrong* counts the records that the audit attributes to a rule that did not write them; a rule that puts
every key of the topic into the same partition as the writer is the same rule. *Either* counts the records that several
producers may have sent.

| topic | truth | verdict | attributed | either | unexplained | wrong |
|---|---|---|---|---|---|---|
"""
TAIL = """
`python ci/truth_page.py` writes this page; `tox -e conformance` checks it. Random topics are judged the same way by
`tests/kit/audit/attribution/test_random_topics.py`: of 500, no record is attributed to a rule that did not write it.
"""


def verdict(audit: Audit) -> str:
    """Return the verdict in a few words."""
    if audit.doubt:
        if audit.doubt.needed is None:
            return "**cannot tell**: one partition"
        fitting = plural(len(audit.doubt.fitting), "rule") if audit.doubt.fitting else "no rule"
        return f"**cannot tell**: {audit.doubt.keys} keys, and {fitting} for all of them"
    shares = estimated_rules(audit)
    found = (share.placed.rule for share in audit.shares if share.attributed or share.placed.rule in shares)
    parts = [f"{rule} {estimate(shares[rule]) if rule in shares else '100 %'}" for rule in dict.fromkeys(found)]
    parts += [f"unknown {estimate(audit.foreign)}"] if audit.foreign else []
    grown = [f"{one.before} to {one.after} partitions" for one in audit.growth]
    grown += [f"{one.before} and {one.after} partitions at the same time" for one in audit.mixed_counts]
    keyless = [f"without a key: {name}" for name in audit.keyless.patterns]
    return "; ".join([*(parts or ["no known placement"]), *grown, *keyless])


def row(kind: Kind, found: Judgement) -> str:
    """Return the line of the table for a kind of topic."""
    expected = "" if kind.expected == "murmur2" else f" (`--expect {kind.expected}`)"
    counts = (found.attributed, found.either, found.unexplained, found.wrong)
    cells = [kind.name + expected, kind.truth, verdict(found.audit), *(f"{count:,}" for count in counts)]
    return f"| {' | '.join(cells)} |\n"


def page(kinds: Iterable[Kind] = KINDS) -> str:
    """Return the page."""
    return HEAD + "".join(row(kind, judged(kind)) for kind in kinds) + TAIL


def main(arguments: list[str]) -> int:
    """Write the page, or check it with ``--check``; return the exit code."""
    text = page()
    if arguments == ["--check"]:
        same = PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE.name} is {'current' if same else 'not current: run python ci/truth_page.py'}")
        return 0 if same else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
