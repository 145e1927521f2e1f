"""Every check is green without a mistake; each mistake is found by the checks it names; one that is missed fails the run.

The checks that change the Java half need Java: ``tests/conformance/test_kit_mistakes.py``.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from kafka_conformance.core.errors import BadInput, OracleFault, WrongRelease
from kafka_conformance.core.progress import Steps
from kafka_conformance.kit_mistakes.bench import Bench
from kafka_conformance.kit_mistakes.checks import JAVA_CHECKS, Check
from kafka_conformance.kit_mistakes.comparison_mistakes import COMPARISON_MISTAKES
from kafka_conformance.kit_mistakes.count_mistakes import COUNT_MISTAKES
from kafka_conformance.kit_mistakes.mistake import Mistake
from kafka_conformance.kit_mistakes.oracle_mistakes import ORACLE_MISTAKES
from kafka_conformance.kit_mistakes.run import CHECKS, MISTAKES, KitResult, run_checks
from kafka_conformance.kit_mistakes.verdict_mistakes import VERDICT_MISTAKES

NEEDS_JAVA = "verify, wrong Java"
HERE = [check for check in CHECKS if check.name != NEEDS_JAVA]
ECHOES = [mistake for mistake in ORACLE_MISTAKES if mistake.slug in ("reference-for-java", "echo")]
PLANTED = [*ECHOES, *COMPARISON_MISTAKES, *COUNT_MISTAKES, *VERDICT_MISTAKES]
FINDS = Check("finds", "", lambda _: "found")
MISSES = Check("misses", "", lambda _: "")


def _mistake(*checks: str) -> Mistake:
    return Mistake("planted", "none", checks, lambda _: nullcontext())


def _run(bench: Bench, checks: list[Check], mistakes: list[Mistake]) -> KitResult:
    return run_checks(bench, Steps("", 1), checks, mistakes)


@pytest.mark.parametrize("check", HERE, ids=lambda check: check.name)
def test_kit_check_passes_without_a_planted_mistake(bench: Bench, check: Check) -> None:
    assert check.run(bench) == ""


@pytest.mark.parametrize("mistake", PLANTED, ids=lambda mistake: mistake.slug)
def test_every_check_named_by_a_planted_mistake_detects_the_mistake(bench: Bench, mistake: Mistake) -> None:
    by_name = {check.name: check for check in HERE}
    names = [name for name in mistake.checks if name != NEEDS_JAVA]
    assert names
    with mistake.plant(bench):
        said = {name: by_name[name].run(bench) for name in names}
    assert all(said.values()), said
    assert {name: by_name[name].run(bench) for name in names} == dict.fromkeys(names, ""), "the mistake is still there"


def test_every_check_is_named_by_a_mistake_and_every_mistake_names_checks() -> None:
    named = {name for mistake in MISTAKES for name in mistake.checks}
    assert named == {check.name for check in CHECKS}
    assert all(mistake.checks for mistake in MISTAKES)
    assert len({mistake.slug for mistake in MISTAKES}) == len(MISTAKES) > 20
    assert len({check.name for check in CHECKS}) == len(CHECKS) == len(JAVA_CHECKS) + 5


@pytest.mark.parametrize(
    ("checks", "mistakes", "code"),
    [
        ([MISSES], [], 0),
        ([FINDS], [], 1),  # red without a mistake
        ([MISSES], [_mistake("misses")], 1),
        ([MISSES], [_mistake()], 1),
    ],
    ids=["all green", "red without a mistake", "missed", "no check named"],
)
def test_selftest_kit_exits_0_only_if_checks_pass_and_every_planted_mistake_is_detected(
    bench: Bench, checks: list[Check], mistakes: list[Mistake], code: int
) -> None:
    assert _run(bench, checks, mistakes).exit_code == code


def _planted_in(real: Mistake, check: Check) -> list[Check]:
    """Return all checks, with the first that this mistake names replaced."""
    return [replace(check, name=each.name) if each.name == real.checks[0] else each for each in HERE]


def test_kit_selftest_fails_if_a_named_check_misses_the_mistake(bench: Bench) -> None:
    (real,) = [mistake for mistake in MISTAKES if mistake.slug == "gate-ignores-first-rule"]
    assert _run(bench, HERE, [real]).exit_code == 0
    blind = _run(bench, _planted_in(real, MISSES), [real])
    assert blind.exit_code == 1
    assert [one.missed_by for one in blind.outcomes] == [["gate, wrong"]]
    assert blind.broken == {}


def test_kit_selftest_fails_if_only_one_of_two_named_checks_detects_the_mistake(bench: Bench) -> None:
    (real,) = [mistake for mistake in MISTAKES if mistake.slug == "unsupported-agrees"]
    half = _run(bench, _planted_in(real, MISSES), [real])
    assert half.exit_code == 1
    assert half.outcomes[0].missed_by == [real.checks[0]]


def test_wrong_release_error_counts_as_detection_and_oracle_fault_propagates(bench: Bench) -> None:
    def raising(error: Exception) -> Check:
        def run(_: Bench) -> str:
            raise error

        return Check("raises", "", run)

    found = _run(bench, [raising(WrongRelease("another"))], [_mistake("raises")])
    assert found.outcomes[0].said == {"raises": "another"}
    assert found.broken == {"raises": "another"}
    with pytest.raises(OracleFault):
        _run(bench, [raising(OracleFault("does not compile"))], [])


def test_planted_mistake_that_names_an_unknown_check_raises_bad_input(bench: Bench) -> None:
    with pytest.raises(BadInput, match="planted names no check: nothing"):
        _run(bench, [MISSES], [_mistake("nothing")])
