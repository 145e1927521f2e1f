"""Tables and findings for people, printed by rich to standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kafka_conformance.core.console import console
from kafka_conformance.core.protocol import to_json

if TYPE_CHECKING:  # it imports Hypothesis, which commands without questions do not need
    from kafka_conformance.core.pipeline import Difference
    from kafka_conformance.core.rule import Rule

__all__ = ["console", "finding", "plural"]


def finding(
    rule: Rule, difference: Difference, names: tuple[str, str], count: int, where: str, how: str = "shrunk to"
) -> Text:
    """Return a difference as text: the question, ``how`` it was chosen, both answers, and the command that replays it."""
    width = max(map(len, names))
    text = Text(f"{rule.slug}: {plural(count, 'question')} of this kind, {how}\n", style="bold red")
    text.append(f"  question  {to_json(difference.question).decode()}\n", style="default")
    for name, answer in zip(names, (difference.expected, difference.actual), strict=True):
        text.append(f"  {name:<{width}}  {to_json(answer).decode()}\n", style="default")
    text.append(f"  replay: kafka-conformance replay {where}" if where else "", style="dim")
    return text


def plural(count: int, noun: str) -> str:
    """Return the number with its noun: ``1 question``, ``2,000 questions``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
