"""Answer protocol lines from standard input on standard output.

A line that is not a question is answered as well, with `failed` and its number; the exit code is then 2.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, BinaryIO

import click
import msgspec

from kafka_conformance.answerers.names import open_answerer
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.decoding import UNREADABLE, decode_question
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import PROTOCOL, Answered, Ask, Failed, Lost, Outcome, Unsupported
from kafka_conformance.core.streams import LONGEST_LINE, input_lines, output_lost, raw_output
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import named_release
from kafka_conformance.rules import RULES

__all__ = ["run"]


@click.option("--as", "answerer_name", default="reference", show_default=True, metavar="ANSWERER",
              help="The answerer: reference, java or mutant:NAME.")  # fmt: skip
def run(*, answerer_name: str, lines: BinaryIO | None = None, out: BinaryIO | None = None) -> int:
    """Answer until the input ends; 2 if some line could not be answered."""
    asked, out = lines or input_lines(), out or raw_output()
    bad = 0
    with ExitStack() as stack:
        answerer = open_answerer(answerer_name, stack)
        for number, line in enumerate(asked, 1):
            if not line.strip():
                continue
            answered, good = _line(answerer, answerer_name, line, number)
            bad += not good
            out.write(msgspec.json.encode(answered) + b"\n")
            out.flush()
            if output_lost():  # the reader of the answers is gone: some are not given
                return 2
    return 2 if bad else 0


def _line(answerer: Answerer, answerer_name: str, line: bytes, number: int) -> tuple[dict[str, Any], bool]:
    if len(line) > LONGEST_LINE:
        return {"id": None, "failed": f"line {number} has more than {LONGEST_LINE:,} bytes"}, False
    try:
        document = msgspec.json.decode(line)
    except UNREADABLE as error:
        return {"id": None, "failed": f"line {number} is not JSON: {error}"}, False
    if isinstance(document, dict) and "hello" in document:
        return _hello(document["hello"], answerer_name, number)
    name = document.get("id") if isinstance(document, dict) else None
    try:
        asked = msgspec.json.decode(line, type=Ask)
        rule = RULES.get(asked.rule)
        if rule is None:
            return {"id": asked.id, "unsupported": f"unknown rule {asked.rule!r}"}, True
        question = decode_question(asked.question, rule.question)
        (outcome,) = answerer.answer(rule, named_release(asked.release), [question])
    except UNREADABLE as error:
        return {"id": name, "failed": f"line {number} is not a question: {error}"}, False
    except BadInput as error:
        return {"id": name, "failed": f"line {number}: {error}"}, False
    return {"id": asked.id, **_fields(outcome)}, not isinstance(outcome, Failed | Lost)


def _hello(hello: Any, answerer_name: str, number: int) -> tuple[dict[str, Any], bool]:
    if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
        return {"id": None, "failed": f"line {number}: I speak protocol {PROTOCOL}, not {hello}"}, False
    me = {
        "protocol": PROTOCOL,
        "name": f"kafka-conformance {answerer_name}",
        "version": kit_version(),
        "language": "python",
    }
    return {"hello": {**me, "rules": list(RULES)}}, True


def _fields(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Answered(answer):
            return {"answer": answer}
        case Unsupported(why):
            return {"unsupported": why}
        case Failed(what) | Lost(what=what):
            return {"failed": what}
