"""Ask the question of a failure again, and show both answers.

FILE-OR-ID is the file of a saved failure, or its id. Nothing is generated.
"""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.answerers.target import open_target
from kafka_conformance.cases.failures import TARGET, Failure, Said, read_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Agrees, Answered, Differs, Outcome, Question, judge, to_json
from kafka_conformance.oracle.session import named_release, open_oracle
from kafka_conformance.reports.terminal import console, table
from kafka_conformance.rules import RULES

__all__ = ["answerer", "run"]


@click.argument("named", metavar="FILE-OR-ID")
@click.option("--expected", default="", metavar="ANSWERER",
              help="Who gives the expected answer: java, reference or mutant:NAME (default: as in the "
                   "failure).")  # fmt: skip
@click.option("--actual", default="", metavar="ANSWERER",
              help="Who gives the actual answer: java, reference or mutant:NAME (default: as in the failure).")  # fmt: skip
def run(*, named: str, expected: str, actual: str) -> int:
    """Ask both again; 0 if they agree by now, 1 if they differ, 2 if one of them could not answer."""
    failure = read_failure(named)
    question = failure.typed_question()
    sides = [
        Said(given or said.by, said.release, said.answer)
        for given, said in ((expected, failure.expected), (actual, failure.actual))
    ]
    with ExitStack() as rooms:
        outcomes = [_ask(rooms, failure, said, question) for said in sides]
    out = console()
    out.print(f"{failure.rule}, question {failure.id}", style="bold", markup=False, soft_wrap=True)
    out.print(f"  {to_json(question).decode()}", markup=False, soft_wrap=True)
    names = (f"{sides[0].by} {sides[0].release}", f"{sides[1].by} {sides[1].release}")
    _print_outcomes(out, question, names, outcomes)
    expected_outcome, actual_outcome = outcomes
    match judge(expected_outcome, actual_outcome, names):
        case Agrees():
            out.print("they agree now", style="bold green")
            return 0
        case Differs():
            out.print("they differ", style="bold red")
            return 1
        case verdict:
            out.print(f"could not be judged: {verdict}", style="bold red", markup=False, soft_wrap=True)
            return 2


def answerer(who: str, rooms: ExitStack) -> Answerer:
    """``reference``, ``java``, ``mutant:NAME`` or ``target:…``; what it needs ends with ``rooms``. Raises BadInput."""
    if who == "java":
        return JavaAnswerer(rooms.enter_context(open_oracle()))
    if who == "reference":
        return ReferenceAnswerer()
    if who.startswith("mutant:"):
        return mutant_answerer(who.removeprefix("mutant:"))
    if who.startswith(TARGET):
        return rooms.enter_context(_target(who.removeprefix(TARGET)))
    raise BadInput(f"{who} is nobody I know: reference, java, mutant:NAME, or target: and what gate takes")


def _target(spelled: str) -> AbstractContextManager[Answerer]:
    """Who a gate judged, by name, or by a command after ``-- ``."""
    if not spelled.startswith("-- "):
        return open_target(spelled)
    try:
        return open_target("", shlex.split(spelled.removeprefix("-- ")))
    except ValueError as error:
        raise BadInput(f"{spelled} is no command: {error}") from error


def _ask(rooms: ExitStack, failure: Failure, said: Said, question: Question) -> Outcome:
    (outcome,) = answerer(said.by, rooms).answer(RULES[failure.rule], named_release(said.release), [question])
    return outcome


def _print_outcomes(out: Any, question: Question, names: tuple[str, str], outcomes: list[Outcome]) -> None:
    answers = [outcome.answer if isinstance(outcome, Answered) else {"": str(outcome)} for outcome in outcomes]
    steps = [answer.get("steps") for answer in answers]
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
    for name, answer in zip(names, answers, strict=True):
        out.print(f"  {name:<{width}}  {msgspec.json.encode(answer).decode()}", markup=False, soft_wrap=True)


def _line(steps: Any, number: int) -> str:
    return to_json(steps[number]).decode() if number < len(steps) else "(no answer)"
