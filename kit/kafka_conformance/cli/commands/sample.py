"""Print sample questions of a rule with their answers.

RULE is the slug of a rule. The questions are short and of different kinds, in domain where there are any; `--kind` selects
one kind. The answers are the reference's. `--json` prints the lines that the kit writes to a driver: pipe them into one.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from kafka_conformance.answerers.driver.lines import ask_line, hello_line
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.samples import Sample, samples
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Unsupported, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.streams import say_json
from kafka_conformance.oracle.session import chosen_releases, unproven_releases
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import rule_named
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["run"]


@click.argument("rule", metavar="RULE")
@click.option("--kafka", default="newest", show_default=True, metavar="RELEASE", help="An exact release or 'newest'.")
@click.option("--count", default=5, type=click.IntRange(min=1), show_default=True, metavar="N",
              help="Number of questions.")  # fmt: skip
@click.option("--kind", default="", metavar="LABEL", help="Questions of this kind only (default: different kinds).")
@click.option("--seed", default=0, type=click.IntRange(min=0), show_default=True, metavar="N",
              help="Another seed selects other questions.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the lines of the protocol: a hello, then the questions.")
@click.option("--answers", is_flag=True, help="With --json: print the lines of a correct driver's answers instead.")
@options.allow_unproven
def run(*, rule: str, kafka: str, count: int, kind: str, seed: int, as_json: bool, answers: bool,
        allow_unproven: bool) -> int:  # fmt: skip
    """Print the samples; 0, or BadInput."""
    meant = rule_named(rule)
    release = _one_release(kafka, meant)
    unproven = unproven_releases([(meant.slug, release)], allow=allow_unproven)
    if answers and not as_json:
        raise BadInput("--answers needs --json: without it, questions and answers are printed together")
    chosen = samples(meant, release, count, kind=kind, seed=seed)
    outcomes = ReferenceAnswerer().answer(meant, release, [sample.question for sample in chosen])
    if not as_json:
        _print(meant, f"{release} (unproven)" if unproven else str(release), chosen, outcomes)
        return 0
    if not answers:
        say_json(hello_line().rstrip())
    for sample, outcome in zip(chosen, outcomes, strict=True):
        name = question_id(meant.slug, str(release), sample.question)
        line = (
            to_json({"id": name, **_fields(outcome)}) + b"\n"
            if answers
            else ask_line(name, meant.slug, str(release), sample.question)
        )
        say_json(line.rstrip())
    return 0


def _one_release(kafka: str, rule: Rule) -> Release:
    release, *others = chosen_releases(kafka, load())
    if others:
        raise BadInput(f"sample takes one release, not {len(others) + 1}")
    if release not in rule.releases:
        raise BadInput(f"{rule.slug} does not exist in {release}: it exists {rule.releases}")
    return release


def _print(rule: Rule, release: str, chosen: Sequence[Sample], outcomes: Sequence[Outcome]) -> None:
    out = console()
    out.print(f"{rule.slug} in {release}: {rule.title}", markup=False, soft_wrap=True, style="bold")
    for sample, outcome in zip(chosen, outcomes, strict=True):
        ((name, answer),) = _fields(outcome).items()
        out.print(f"\n{', '.join(sample.kinds)}", markup=False, soft_wrap=True)
        if sample.out_of_domain:
            out.print(f"  out of domain: {sample.out_of_domain}", markup=False, soft_wrap=True)
        for head, value in (("question", sample.question), (name, answer)):
            out.print(f"  {head:<11} {to_json(value).decode()}", markup=False, soft_wrap=True)


def _fields(outcome: Outcome) -> dict[str, object]:
    match outcome:
        case Answered(answer):
            return {"answer": answer}
        case Unsupported(why):
            return {"unsupported": why}
        case Failed(what) | Lost(what=what):
            return {"failed": what}
