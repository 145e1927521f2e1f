"""Show which records are lost, duplicated or reordered when requests fail.

Requests are numbered in the order in which they are sent, from 1; a retry is another request. Replicas are numbered from 0,
which leads at first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.names import open_answerer
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.protocol import Answered, Unsupported, to_json
from kafka_conformance.core.streams import say_json
from kafka_conformance.oracle.session import named_release, unproven_releases
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES
from kafka_conformance.rules.delivery.adapter import to_scenario
from kafka_conformance.rules.delivery.explain import columns, outcome_text, request_rows, setting_text
from kafka_conformance.rules.delivery.question import (
    NETWORK_KINDS,
    REFUSAL_KINDS,
    AskedFault,
    AskedKind,
    DeliveryQuestion,
)
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.delivery.faults import InvalidScenario
from kafka_reference.delivery.simulation import check_possible
from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import NEWEST, Release

__all__ = ["run"]

_REFUSAL = "NOT_LEADER_OR_FOLLOWER"
_FAULTS = {
    "--lose-request": "The connection closes before this request arrives",
    "--lose-response": "The connection closes before the response to this request arrives",
    "--crash-before": "The leader crashes before it handles this request",
    "--crash-unreplicated": "The leader crashes after it appends this request, before a follower has it",
    "--crash-replicated": "The leader crashes once followers have this request",
    "--restart-producer": "The producer ends before it receives the response to this request, and a new one starts",
}


_OF_A_FOLLOWER = {
    "--stop-follower": "Before this request, a replica stops to fetch",
    "--resume-follower": "Before this request, a replica fetches again and is in sync",
}
_SHRINKS = {
    "--shrink-isr": "Before this request, `replica.lag.time.max.ms` passes: replicas that lack a record leave the ISR",
    "--shrink-isr-after-append": "The same, after the leader appends this request and before it acknowledges it",
}


def _faults(run: Callable[..., int]) -> Callable[..., int]:
    number = click.IntRange(1, 1000)
    for name, words in reversed(_SHRINKS.items()):
        run = click.option(name, multiple=True, type=number, metavar="REQUEST", help=f"{words}; repeatable.")(run)
    for name, words in reversed(_OF_A_FOLLOWER.items()):
        run = click.option(name, multiple=True, metavar="REQUEST=REPLICA", help=f"{words}; repeatable.")(run)
    for name, words in reversed(_FAULTS.items()):
        run = click.option(name, multiple=True, type=number, metavar="REQUEST", help=f"{words}; repeatable.")(run)
    return run


@click.option("--acks", default=None, metavar="0|1|all", help="Producer `acks` (default: unset).")
@click.option("--retries", default=None, metavar="N", help="Producer `retries` (default: unset).")
@click.option("--in-flight", default=None, metavar="N",
              help="Producer `max.in.flight.requests.per.connection` (default: unset).")  # fmt: skip
@click.option(
    "--idempotence", default=None, metavar="true|false", help="Producer `enable.idempotence` (default: unset)."
)
@click.option("--replicas", default=3, type=click.IntRange(1, 9), show_default=True, metavar="N",
              help="Replicas of the partition.")  # fmt: skip
@click.option("--min-insync-replicas", default=1, type=click.IntRange(1, 9), show_default=True, metavar="N",
              help="Topic `min.insync.replicas`.")  # fmt: skip
@click.option("--unclean-leader-election", is_flag=True,
              help="Topic `unclean.leader.election.enable`: a replica that is not in sync may lead if no other "
                   "can.")  # fmt: skip
@click.option("--records", default=3, type=click.IntRange(1, 20), show_default=True, metavar="N", help="Records sent.")
@_faults
@click.option("--refuse", multiple=True, metavar="REQUEST[=ERROR]",
              help="The leader answers this request with an error (default: NOT_LEADER_OR_FOLLOWER), once it "
                   "has appended it if brokers give the error only then; repeatable.")  # fmt: skip
@click.option("--refuse-after-append", multiple=True, metavar="REQUEST[=ERROR]",
              help="The leader appends this request and answers it with an error (default: NOT_LEADER_OR_FOLLOWER); "
                   "repeatable.")  # fmt: skip
@click.option("--kafka", default="newest", show_default=True, metavar="RELEASE", help="An exact release or 'newest'.")
@options.allow_unproven
@options.answerer_option("reference, java or mutant:NAME, which answers")
@click.option("--explain", is_flag=True, help="Show what happens to each request.")
@click.option("--json", "as_json", is_flag=True, help="Print question and answer as a JSON line.")
def run(*, kafka: str, answerer_name: str, explain: bool, as_json: bool, allow_unproven: bool = False,
        **options: Any) -> int:  # fmt: skip
    """Simulate one scenario and print its outcome; return 0, or 2 if Kafka refuses the configuration.

    Raises BadInput, KitError.
    """
    release = NEWEST if kafka == "newest" else named_release(kafka)
    unproven = unproven_releases([("delivery", release)], allow=allow_unproven)
    question = _question(options, release)
    rule = next((mutant.rule for mutant in MUTANTS if answerer_name == f"mutant:{mutant.slug}"), "delivery")
    if rule != "delivery":
        raise BadInput(f"{answerer_name} is a mutant of {rule}: name one of the rule delivery")
    with ExitStack() as resources:
        (outcome,) = open_answerer(answerer_name, resources).answer(RULES["delivery"], release, [question])
    if isinstance(outcome, Unsupported):
        raise BadInput(outcome.why)
    if not isinstance(outcome, Answered):
        raise KitError(f"{answerer_name} did not answer: {outcome}")
    answer = msgspec.json.decode(to_json(outcome.answer))
    refused = "requests" not in answer
    if not refused:
        _check_faults(question, [each["request"] for each in answer["requests"]])
    if as_json:
        mark = {"unproven": True} if unproven else {}
        document = {"rule": "delivery", "kafka": str(release), "question": question, "answer": answer, **mark}
        say_json(to_json(document))
        return 2 if refused else 0
    out = console()
    out.print(
        f"{setting_text(question)}; {answerer_name} {release}{' (unproven)' if unproven else ''}",
        markup=False,
    )
    if explain and not refused:
        out.print(table("", list(columns(answer)), request_rows(question, answer)))
    for line in outcome_text(answer):
        out.print(line, markup=False)
    return 2 if refused else 0


def _check_faults(question: DeliveryQuestion, requests: Sequence[int]) -> None:
    """Raise BadInput for a fault at a request that the producer does not send."""
    last = max(requests, default=0)
    for fault in question.faults:
        if fault.request > last:
            option = f"--{fault.op.replace('_', '-')} {fault.request}"
            raise BadInput(f"{option}: the producer sends {last} requests here: choose 1 to {last}, or more --records")


def _question(options: Mapping[str, Any], release: Release) -> DeliveryQuestion:
    """Return the options as a question. Raises BadInput."""
    faults = [
        AskedFault(kind, number) for kind in NETWORK_KINDS if kind not in REFUSAL_KINDS for number in options[kind]
    ]
    faults += [_refusal(kind, text) for kind in REFUSAL_KINDS for text in options[kind]]
    faults += [_of_follower(kind, text) for kind in ("stop_follower", "resume_follower") for text in options[kind]]
    faults += [
        AskedFault(kind, number) for kind in ("shrink_isr", "shrink_isr_after_append") for number in options[kind]
    ]
    producer = {
        "acks": options["acks"], "retries": options["retries"], "enable.idempotence": options["idempotence"],
        "max.in.flight.requests.per.connection": options["in_flight"],
    }  # fmt: skip
    document = {
        "producer": producer, "records": options["records"],
        "partition": {
            name: options[name] for name in ("replicas", "min_insync_replicas", "unclean_leader_election")
        },
        "faults": sorted(msgspec.to_builtins(faults), key=lambda fault: fault["request"]),
    }  # fmt: skip
    try:
        question = msgspec.convert(document, DeliveryQuestion)
        check_possible(to_scenario(question), release)
    except NotInThisRelease as error:
        raise BadInput(str(error)) from error
    except (msgspec.ValidationError, InvalidScenario) as error:
        raise BadInput(f"impossible scenario: {error}") from error
    return question


def _of_follower(kind: AskedKind, text: str) -> AskedFault:
    parts = re.fullmatch(r"([0-9]{1,4})=([0-8])", text)
    if parts is None:
        raise BadInput(f"--{kind.replace('_', '-')} {text}: expected REQUEST=REPLICA, such as 2=1")
    return AskedFault(kind, int(parts[1]), replica=int(parts[2]))


def _refusal(kind: AskedKind, text: str) -> AskedFault:
    parts = re.fullmatch(r"([0-9]{1,4})(?:=([A-Z_]{1,60}))?", text)
    if parts is None:
        raise BadInput(
            f"--{kind.replace('_', '-')} {text}: expected REQUEST or REQUEST=ERROR, with Kafka's name of the error"
        )
    return AskedFault(kind, int(parts[1]), parts[2] or _REFUSAL)
