"""Attribution: which fields of the behaviour records explain the answers of two releases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.verify.explaining_fields import Attribution, differing
from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import NEWEST, Release, parse_release, since

FIRST = parse_release("2.8.2")
BOTH = (FIRST, NEWEST)


@behaviour("Hasher")
class HasherBehaviour(Behaviour):
    """What an invented class does with a text of letters."""

    upper: bool = holds(since("3.0.0"), "The letter a is an A.")
    doubled: bool = holds(since("2.0.0", until="3.1.x"), "The letter b is written twice.")
    joined: str = varies("Between letters.", (since("4.0.0"), "-"), otherwise="")
    split: bool = holds(since("4.0.0"), "What stands between letters is there.")
    silent: bool = holds(since("3.0.0"), "Nothing comes of it.")
    steady: bool = holds(since("0.11.0.0"), "The same in both releases.")


@behaviour("Younger", releases=since("3.0.0"))
class YoungerBehaviour(Behaviour):
    """A class that the first release does not have."""

    more: bool = holds(since("3.0.0"), "More.")


def _ask(question: Murmur2Question, release: Release) -> Answer:
    here = HasherBehaviour.of(release)
    letters = bytes.fromhex(question.key or "").decode()
    changed = [("A" if here.upper and one == "a" else "bb" if here.doubled and one == "b" else one) for one in letters]
    return {"hash": (here.joined if here.split else "").join(changed)}


RULE: Rule = replace(RULES["murmur2"], ask=_ask, behaviours=(HasherBehaviour, YoungerBehaviour))


def question(letters: str) -> Murmur2Question:
    return Murmur2Question(letters.encode().hex())


def named(attribution: Attribution, letters: str) -> list[str]:
    return [field.name for field in attribution.fields_of(question(letters))]


def test_fields_that_differ_between_two_releases_exclude_unobservable_and_masked_fields() -> None:
    names = ["upper", "doubled", "joined", "split", "silent"]
    assert [field.name for field in differing(RULE, BOTH)] == names
    assert [field.value for field in differing(RULE, BOTH)] == [False, True, "", False, False]
    hidden = replace(RULE, unobservable=frozenset({"HasherBehaviour.silent"}))
    assert [field.name for field in differing(hidden, BOTH)] == names[:-1]
    masked = replace(RULE, shows_with={"HasherBehaviour.upper": "HasherBehaviour.split"})
    assert [field.name for field in differing(masked, BOTH)] == names[1:], "split does not hold in the first release"
    shown = replace(RULE, shows_with={"HasherBehaviour.upper": "HasherBehaviour.steady"})
    assert [field.name for field in differing(shown, BOTH)] == names
    assert str(differing(RULE, BOTH)[0]) == "HasherBehaviour.upper"


@pytest.mark.parametrize(
    ("letters", "fields"),
    [
        ("", []), ("x", []), ("a", ["upper"]), ("b", ["doubled"]), ("xy", ["joined"]), ("ay", ["upper", "joined"]),
        ("ab", ["upper", "doubled", "joined"]),
    ],
)  # fmt: skip
def test_attribution_finds_smallest_set_of_fields_that_explains_a_difference(letters: str, fields: list[str]) -> None:
    assert named(Attribution(RULE, BOTH), letters) == fields


def test_attribution_remains_the_smallest_field_set_after_earlier_differences() -> None:
    attribution = Attribution(RULE, BOTH)
    assert [named(attribution, one) for one in ("ay", "by", "ay", "a")] == [
        ["upper", "joined"], ["doubled", "joined"], ["upper", "joined"], ["upper"],
    ]  # fmt: skip


def test_difference_of_a_rule_without_behaviour_records_is_attributed_to_no_field() -> None:
    bare = replace(RULE, behaviours=())
    assert named(Attribution(bare, BOTH), "a") == []


def test_still_unnamed_pairs_each_unattributed_field_with_first_question_inexplicable_without_the_field() -> None:
    attribution = Attribution(RULE, BOTH)
    assert named(attribution, "a") == ["upper"]
    found = attribution.still_unnamed(map(question, ("a", "ab", "b", "xy")))
    assert [(field.name, one.key) for field, one in found] == [("doubled", "6162")], (
        "joined and split stand for each other"
    )
    assert list(attribution.still_unnamed([question("b")])) == []
