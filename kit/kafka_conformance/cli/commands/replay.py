"""Ask the question of a failure again, and show both answers.

FILE-OR-ID is the file of a saved failure, or its id. Nothing is generated, and the file starts no program: what a gate
judged is asked again only where --actual names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.names import open_answerer, open_saved_answerer
from kafka_conformance.cases.failures import Side, read_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import Comparison, error_line
from kafka_conformance.core.protocol import (
    Agrees,
    Answered,
    Crashed,
    Differs,
    Failed,
    Lost,
    Outcome,
    Question,
    Unsupported,
    to_json,
)
from kafka_conformance.oracle.session import named_release
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES

__all__ = ["run"]


@click.argument("named", metavar="FILE-OR-ID")
@click.option("--expected", default="", metavar="ANSWERER",
              help="Who gives the expected answer: java, reference, mutant:NAME, or target: with a target of gate, such as "
                   "'target:-- ./driver' (default: as in the failure, unless that is a target).")  # fmt: skip
@click.option("--actual", default="", metavar="ANSWERER",
              help="Who gives the actual answer: the same.")  # fmt: skip
def run(*, named: str, expected: str, actual: str) -> int:
    """Ask both answerers again; 0 if their answers match now, 1 if they differ, 2 if one of them could not answer."""
    failure = read_failure(named)
    question = failure.typed_question()
    with ExitStack() as stack:
        comparison = Comparison(
            _opened("--expected", expected, failure.expected, stack),
            _opened("--actual", actual, failure.actual, stack),
            named_release(failure.expected.release),
            named_release(failure.actual.release),
        )
        judgement = comparison.judge_one(RULES[failure.rule], question)
    out = console()
    out.print(f"{failure.rule}, question {failure.id}", style="bold", markup=False, soft_wrap=True)
    out.print(f"  {to_json(question).decode()}", markup=False, soft_wrap=True)
    _print_outcomes(out, question, comparison.names, (judgement.expected, judgement.actual))
    if failure.actual.error:
        out.print(f"  then: {failure.actual.error}: {failure.actual.what}", style="dim", markup=False, soft_wrap=True)
    match judgement.verdict:
        case Agrees():
            out.print("the answers match now", style="bold green")
            return 0
        case Differs():
            out.print("the answers differ", style="bold red")
            return 1
        case verdict:
            out.print(f"could not be judged: {error_line(verdict)}", style="bold red", markup=False, soft_wrap=True)
            if isinstance(verdict, Crashed):
                out.print(f"  hint: {verdict.lost.hint}", markup=False, soft_wrap=True)
            return 2


def _opened(option: str, given: str, saved: Side, stack: ExitStack) -> Answerer:
    """Open the answerer that the user named, or the one of the file unless it is a program. Raises BadInput."""
    return open_answerer(given, stack) if given else open_saved_answerer(saved.by, option, stack)


def _print_outcomes(out: Any, question: Question, names: tuple[str, str], outcomes: Sequence[Outcome]) -> None:
    steps = [outcome.answer.get("steps") if isinstance(outcome, Answered) else None for outcome in outcomes]
    if all(isinstance(each, list) for each in steps):
        asked = getattr(question, "steps", ())
        rows = [
            [str(number), to_json(step).decode(), *(_line(each, number) for each in steps)]
            for number, step in enumerate(asked)
        ]
        marked = [[*row, "" if row[2] == row[3] else "◀"] for row in rows]
        out.print(table("", ["step", "asked", *names, ""], marked))
        return
    width = max(map(len, names))
    for name, outcome in zip(names, outcomes, strict=True):
        out.print(f"  {name:<{width}}  {_outcome_line(outcome)}", markup=False, soft_wrap=True)


def _outcome_line(outcome: Outcome) -> str:
    match outcome:
        case Answered(answer):
            return msgspec.json.encode(answer).decode()
        case Lost(error=error):
            return f"(no answer: {error})"
        case Failed():
            return "(no answer: failed)"
        case Unsupported():
            return "(no answer: unsupported)"


def _line(steps: Any, number: int) -> str:
    return to_json(steps[number]).decode() if number < len(steps) else "(no answer)"
