"""Mistakes of verdicts: exit codes that ignore a rule or a mutant, and a gate that is satisfied with two answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kafka_conformance.core.events import Ended, RuleEnded
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.gate import completeness, runner
from kafka_conformance.kit_mistakes.mistake import Mistake, replacing
from kafka_conformance.verify import verification
from kafka_conformance.verify.mutants import comparison
from kafka_conformance.verify.verification import RuleResult

__all__ = ["VERDICT_MISTAKES"]

_exit_code, _ended, _verdict = verification.exit_code, runner._ended, comparison.verdict  # noqa: SLF001


def _of_last(results: Sequence[RuleResult]) -> int:
    return _exit_code(results[-1:])


def _of_all_but_first(ended: Sequence[RuleEnded], *rest: Any) -> Ended:
    return _ended(ended[1:] or ended, *rest)


def _all_killed(slugs: Sequence[str], results: Sequence[tuple[Mutant, Tally]]) -> comparison.MutantFailures:
    return replace(_verdict(slugs, results), alive=())


VERDICT_MISTAKES: Sequence[Mistake] = (
    Mistake("verify-last-rule", "the exit code of verify is that of its last rule", ("verify, wrong reference",),
            replacing((verification, "exit_code", _of_last))),
    Mistake("selftest-ignores-survivors", "the exit code of selftest ignores mutants that are alive",
            ("selftest, survivor",), replacing((comparison, "verdict", _all_killed))),
    Mistake("gate-ignores-first-rule", "the exit code of gate ignores the first rule", ("gate, wrong",),
            replacing((runner, "_ended", _of_all_but_first))),
    Mistake("two-answers-suffice", "a rule is judged however few questions are answered", ("gate, two answers",),
            replacing((completeness, "missing_coverage", lambda *_: ()))),
)  # fmt: skip
