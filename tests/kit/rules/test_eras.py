"""Eras: one for each distinct behaviour of a rule, by its records; Java's own answers do not differ within one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from questions import shipped_cases

from kafka_conformance.rules import RULES
from kafka_conformance.rules import eras as module
from kafka_conformance.rules.eras import Era, eras, neighbours, releases_of, spans_of
from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.proven import proven_releases
from kafka_reference.releases import Release, parse_release, since

FIVE = tuple(map(parse_release, ("1.0.0", "2.0.0", "2.1.0", "3.0.0", "4.0.0")))


@behaviour("Fresh", releases=since("4.0.0"))
class _Fresh(Behaviour):
    """A class that began later."""


@behaviour("Changing")
class _Changing(Behaviour):
    """A class with a change that was taken back, and one that few can see."""

    taken_back: bool = holds(since("2.0.0", until="2.1.x"), "Something.")
    limit: int = varies("A number.", (since("3.0.0"), 0))


@pytest.fixture(autouse=True)
def _five(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "slug" not in request.fixturenames:
        monkeypatch.setattr(module, "proven_releases", lambda: FIVE)


def _texts(**changes: object) -> list[str]:
    return list(map(str, eras(replace(RULES["murmur2"], releases=since("0.10.0.0"), **changes))))  # type: ignore[arg-type]


def test_rule_without_behaviour_records_has_one_era() -> None:
    assert _texts() == ["1.0.0 to 4.0.0"]


def test_releases_with_equal_behaviour_records_form_one_era() -> None:
    assert _texts(behaviours=(_Changing,)) == ["1.0.0", "2.0.0 to 2.1.0", "3.0.0 to 4.0.0"]
    only = {"behaviours": (_Changing,), "unobservable": frozenset({"_Changing.limit"})}
    assert _texts(**only) == ["2.0.0 to 2.1.0", "1.0.0, 3.0.0 to 4.0.0"]
    assert _texts(behaviours=(_Fresh,)) == ["1.0.0 to 3.0.0", "4.0.0"]


def test_behaviour_field_observable_only_with_another_field_starts_no_era() -> None:
    hidden = {"_Changing.limit": "_Changing.taken_back"}
    assert _texts(behaviours=(_Changing,), shows_with=hidden) == ["2.0.0 to 2.1.0", "1.0.0, 3.0.0 to 4.0.0"]


def test_release_spans_parse_back_to_equal_releases() -> None:
    for chosen in (FIVE, FIVE[:1], (FIVE[0], *FIVE[2:4]), FIVE[::2]):
        assert releases_of(spans_of(chosen, FIVE), FIVE) == list(chosen)
    assert list(map(str, releases_of("1.0.1, 2.0.0 to 2.5.0", FIVE))) == ["1.0.1", "2.0.0", "2.1.0", "2.5.0"]


def test_eras_contain_only_releases_that_have_the_rule() -> None:
    rule = replace(RULES["murmur2"], releases=since("2.1.0", until="3.0.x"))
    assert list(map(str, eras(rule))) == ["2.1.0 to 3.0.0"]
    assert eras(replace(rule, releases=since("5.0.0"))) == ()


def test_era_exposes_newest_release_and_neighbouring_eras() -> None:
    every = eras(replace(RULES["murmur2"], behaviours=(_Changing,)))
    assert [str(era.newest) for era in every] == ["1.0.0", "2.1.0", "4.0.0"]
    assert neighbours(every[0], every) == [every[1]]
    assert neighbours(every[1], every) == [every[0], every[2]]
    assert neighbours(every[2], every) == [every[1]]
    alone = Era((FIVE[0],), "1.0.0")
    assert neighbours(alone, [alone]) == []


def test_release_spans_list_gaps_and_are_empty_without_releases() -> None:
    assert spans_of({FIVE[0], FIVE[2], FIVE[3]}, FIVE) == "1.0.0, 2.1.0 to 3.0.0"
    assert spans_of((), FIVE) == ""


@pytest.mark.parametrize("slug", RULES)
def test_each_release_proven_for_a_rule_is_in_exactly_one_era(slug: str) -> None:
    found = [release for era in eras(RULES[slug]) for release in era.releases]
    assert sorted(found) == [release for release in proven_releases() if release in RULES[slug].releases]


@pytest.mark.parametrize("slug", RULES)
def test_recorded_java_answers_to_a_question_are_equal_in_all_releases_of_an_era(slug: str) -> None:
    shipped = shipped_cases(slug)
    frozen = {parse_release(release) for release in shipped.provenance.jars}
    assert any(frozen.intersection(era.releases) for era in eras(RULES[slug]))
    for era in eras(RULES[slug]):
        inside: set[Release] = frozen.intersection(era.releases)
        for case in shipped.cases:
            same = inside.intersection(map(parse_release, case.releases))
            assert same in (inside, set()), (case.id, str(era))
