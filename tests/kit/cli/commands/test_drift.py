"""``drift``, with the reference of the predecessor in Java's place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cli.commands import drift
from kafka_conformance.core.errors import BadInput, OracleFault
from kafka_conformance.core.protocol import Answered, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_jars.errors import JarNotPublished
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import Stored
from kafka_reference.releases import Release, parse_release

RULES = ["murmur2", "partition-for-key"]
New = Callable[[Rule, Any, Outcome], Outcome]


class Java:
    """The reference for the predecessor; for the new release, ``new`` of what the reference answers."""

    name = "java"

    def __init__(self, new: New, releases: tuple[Release, Release]) -> None:
        self.new, (self.predecessor, self.release), self.closed = new, releases, 0

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        known = [outcome_of(rule.ask, question, self.predecessor) for question in questions]
        if release == self.predecessor:
            return known
        assert release == self.release
        return [self.new(rule, question, outcome) for question, outcome in zip(questions, known, strict=True)]

    def close(self) -> None:
        self.closed += 1


def same(_: Rule, __: Any, outcome: Outcome) -> Outcome:
    return outcome


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs the command; the exit code and what was printed."""
    asked: list[tuple[str, str, Pins]] = []

    def ran(release: str | None, new: New = same, after: str | None = None, published: bool = False,
            rules: Sequence[str] = RULES) -> tuple[int, str]:  # fmt: skip
        @contextmanager
        def opened(pins: Pins, new_one: Release, predecessor: Release) -> Iterator[Any]:
            asked.append((str(new_one), str(predecessor), pins))
            known = Stored(Jar(f"g:a:{predecessor}", "0a" * 32), tmp_path, "0a" * 32)
            unknown = Stored(Jar(f"g:a:{new_one}"), tmp_path, "0b" * 32)
            yield drift._Opened(Java(new, (predecessor, new_one)), (known, unknown))  # type: ignore[arg-type]

        monkeypatch.setattr(drift, "_opened", opened)
        code = drift.run(release=release, after=after, published=published, rules=rules, examples=30, seed=7)
        return code, capsys.readouterr().out

    ran.asked = asked  # type: ignore[attr-defined]
    return ran


def test_drift_of_unpinned_release_without_changes_exits_0(ran: Any) -> None:
    code, out = ran("9.0.0")
    assert code == 0
    assert "g:a:4.4.0 sha256 0a0a0a0a0a0a0a0a (as pinned)\ng:a:9.0.0 sha256 0b0b0b0b0b0b0b0b (not pinned)\n" in out
    assert "murmur2: same as 4.4.0, " in out
    assert out.endswith("9.0.0 after 4.4.0: 2 rules: 2 same; seed 7\n")
    ((_, predecessor, pins),) = ran.asked
    assert predecessor == "4.4.0"
    assert pins.like == {"9.0.0": "4.4.0"}


def test_drift_with_after_option_uses_the_jar_list_of_that_predecessor_at_the_new_version(ran: Any) -> None:
    ran("4.4.0", after="3.9.2")
    ((release, predecessor, pins),) = ran.asked
    assert (release, predecessor) == ("4.4.0", "3.9.2")
    assert [jar.coordinates for jar in pins.broker(release)] == [
        jar.coordinates.replace(":3.9.2", ":4.4.0") for jar in pins.broker("3.9.2")
    ]


@pytest.mark.parametrize(("release", "predecessor"), [("3.9.3", "3.9.2"), ("4.4.0", "4.3.1"), ("4.0.9", "4.0.2")])
def test_drift_predecessor_is_the_newest_older_pinned_release(ran: Any, release: str, predecessor: str) -> None:
    ran(release)
    assert ran.asked[0][1] == predecessor


def test_drift_with_changed_answers_exits_1_and_prints_smallest_example(ran: Any) -> None:
    def hashes_otherwise(rule: Rule, question: Any, outcome: Outcome) -> Outcome:
        return Answered({"hash": 1}) if rule.slug == "murmur2" and len(question.key or "") > 6 else outcome

    code, out = ran("9.0.0", hashes_otherwise)
    assert code == 1
    assert "murmur2: changed, " in out
    assert " differ from 4.4.0, in 1 kind\n" in out
    assert '  question  {"key":"00000000"}\n' in out
    assert '  java 9.0.0  {"hash":1}\n' in out
    assert "partition-for-key: same as 4.4.0" in out
    assert "9.0.0 after 4.4.0: 2 rules: 1 same, 1 changed; seed 7" in out


def test_drift_reports_missing_java_class_as_moved_and_judges_other_rules(ran: Any) -> None:
    def lacks_utils(rule: Rule, _: Any, outcome: Outcome) -> Outcome:
        if rule.slug == "murmur2":
            raise OracleFault(
                "the oracle failed: java.lang.ClassNotFoundException: org.apache.kafka.common.utils.Utils"
            )
        return outcome

    code, out = ran("9.0.0", lacks_utils)
    assert code == 1
    assert "murmur2: moved, in 9.0.0 class org.apache.kafka.common.utils.Utils was not found\n" in out
    assert "partition-for-key: same as 4.4.0" in out
    assert "2 rules: 1 same, 1 moved; seed 7" in out


def test_drift_with_failing_java_oracle_exits_2_as_not_judged(ran: Any) -> None:
    def broken(*_: Any) -> Outcome:
        raise OracleFault("the oracle failed: java.lang.OutOfMemoryError")

    code, out = ran("9.0.0", broken)
    assert code == 2
    assert "murmur2: could not judge, 9.0.0: the oracle failed: java.lang.OutOfMemoryError\n" in out
    assert "2 rules: 2 could not judge; seed 7" in out


def test_drift_exits_0_for_a_new_rule_and_2_for_rule_in_neither_release(ran: Any) -> None:
    code, out = ran("3.6.0", rules=["murmur2", "server-range-assignor"], after="3.5.2")
    assert code == 0
    assert "server-range-assignor: new, 3.5.2 has no such rule: nothing to compare 3.6.0 with\n" in out
    code, out = ran("9.0.0", rules=["default-partitioner"])
    assert code == 2
    assert "default-partitioner: neither 4.4.0 nor 9.0.0 has this rule\n" in out


def test_drift_published_option_compares_every_unpinned_release_with_the_predecessor(
    ran: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        drift, "published_versions", lambda: list(map(parse_release, ("3.9.2", "3.9.3", "4.4.0", "4.5.0")))
    )
    code, out = ran(None, published=True)
    assert code == 0
    assert [asked[:2] for asked in ran.asked] == [("3.9.3", "3.9.2"), ("4.5.0", "4.4.0")]
    assert "3.9.3 after 3.9.2: " in out
    assert "4.5.0 after 4.4.0: " in out


def test_drift_published_option_with_all_releases_pinned_compares_nothing_and_exits_0(
    ran: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "published_versions", lambda: [parse_release("4.3.1"), parse_release("4.4.0")])
    code, out = ran(None, published=True)
    assert (code, ran.asked) == (0, [])
    assert out == "no unknown release: all 2 that are published are pinned, the newest is 4.4.0\n"


def test_drift_of_unpublished_release_raises_jar_not_published(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def unpublished(*_: Any) -> Any:
        raise JarNotPublished("org.apache.kafka:kafka-clients:9.9.9 is in no repository")

    monkeypatch.setattr(drift, "open_oracle", unpublished)
    with pytest.raises(JarNotPublished):
        drift.run(release="9.9.9", after=None, published=False, rules=RULES, examples=1, seed=1)


@pytest.mark.parametrize(
    ("release", "after", "published", "message"),
    [
        (None, None, False, "drift needs a RELEASE, like 4.4.0, or --published in its place"),
        ("9.0.0", None, True, "drift needs a RELEASE, like 4.4.0, or --published in its place"),
        ("4.x", None, False, "'4.x' is not a Kafka release"),
        ("0.9.0.1", None, False, "no pinned release is before 0.9.0.1: the oldest is 0.10.0.0"),
        ("4.4.0", "4.4.0", False, "--after 4.4.0 is not before 4.4.0: expected a pinned release before it, like 4.3.1"),
        ("9.0.0", "8.0.0", False, "--after 8.0.0 is not pinned: expected a pinned release before it, like 4.4.0"),
        (None, "4.3.1", True, "--after goes with a RELEASE: with --published, each has the newest pinned one before it"),
    ],
)  # fmt: skip
def test_drift_with_bad_arguments_is_refused_with_the_reason(
    ran: Any, release: Any, after: Any, published: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "published_versions", lambda: [parse_release("9.0.0")])
    with pytest.raises(BadInput, match="^" + re.escape(message)):
        ran(release, after=after, published=published)
