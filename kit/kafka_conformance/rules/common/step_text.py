"""Steps, answers and fields as text, for the timelines of ``explain``.

A rule with steps and without an explain function is shown by :func:`plain_steps`: step and answer, no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_reference.releases import Release

__all__ = [
    "answer_in_words",
    "bytes_in_words",
    "cluster_in_words",
    "count_of",
    "fields_in_words",
    "plain_step_in_words",
    "plain_steps",
    "raised",
]


def plain_steps(question: Any, _: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return steps and answers as text; the clock is the sum of the steps named "advance", if there are any."""
    steps: Sequence[Mapping[str, Any]] = msgspec.to_builtins(question.steps)
    clock = 0 if any(_advances(step) for step in steps) else None
    for step, answer in zip(steps, answers, strict=True):
        if clock is not None and _advances(step):
            clock += step["ms"]
        words = _words(step)
        yield Explained(clock, words, answer_in_words(answer), words)


def _advances(step: Any) -> bool:
    return isinstance(step, dict) and step.get("op") == "advance" and isinstance(step.get("ms"), int)


def plain_step_in_words(step: Any) -> str:
    """Return a step as its name and its fields."""
    return _words(msgspec.to_builtins(step))


def _words(step: Any) -> str:
    if not isinstance(step, dict):
        return to_json(step).decode()
    rest = [f"{name} {text}" for name, text in fields_in_words(step) if name != "op"]
    return " ".join([str(step.get("op", "")).replace("_", " "), ", ".join(rest)]).strip()


def answer_in_words(answer: Any) -> str:
    """Return any answer as its exception or its fields."""
    if isinstance(answer, dict):
        return raised(answer) or ", ".join(f"{name} {text}" for name, text in fields_in_words(answer)) or NOTHING
    return to_json(answer).decode()


def raised(answer: Answer) -> str:
    """Return the exception of an answer as text, or "" if it has none."""
    if "raises" not in answer:
        return ""
    return f"raises {answer['raises']}" + (f": {answer['message']}" if "message" in answer else "")


def fields_in_words(value: Question | Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the fields of a question, a step or an answer as name and text, without ``steps``."""
    fields = value if isinstance(value, Mapping) else msgspec.to_builtins(value)
    for name, content in fields.items():
        if name == "steps":
            continue
        if name in {"key", "value"} and isinstance(content, str):
            yield name, bytes_in_words(content)
        elif name == "cluster":
            yield name, cluster_in_words(msgspec.convert(content, AskedCluster))
        elif isinstance(content, dict):
            inner = ", ".join(f"{each} {text}" for each, text in fields_in_words(content))
            yield name, inner or "{}"
        else:
            yield name, content if isinstance(content, str) and content else to_json(content).decode()


def bytes_in_words(hexadecimal: str | None) -> str:
    """Return bytes given as hex: with their text if they are text; long ones as their beginning and length."""
    if hexadecimal is None:
        return "null"
    data = bytes.fromhex(hexadecimal)
    if not data:
        return "empty"
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    if len(data) > 24:
        return f"{hexadecimal[:16]}… ({count_of(len(data), 'byte')})"
    return f'"{text}" ({hexadecimal})' if text is not None and text.isprintable() else hexadecimal


def cluster_in_words(cluster: AskedCluster) -> str:
    """Return a line for each node with the partitions it leads, in the order given, and one for those without a leader."""
    lines = []
    for node in cluster.nodes:
        led = [str(partition.id) for partition in cluster.partitions if partition.leader == node.id]
        rack = "" if node.rack is None else f' in rack "{node.rack}"'
        lines.append(f"node {node.id}{rack} leads {', '.join(led) or 'nothing'}")
    known = {node.id for node in cluster.nodes}
    for leader in dict.fromkeys(p.leader for p in cluster.partitions if p.leader not in known):
        led = [str(partition.id) for partition in cluster.partitions if partition.leader == leader]
        name = "no leader for" if leader is None else f"node {leader} (not in the cluster) leads"
        lines.append(f"{name} {', '.join(led)}")
    return "\n".join(lines) or "no nodes, no partitions"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 record``, ``2 records``, ``3 batches``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "es" if noun.endswith("ch") else "s")
