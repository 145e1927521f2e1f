"""Tables and findings for people, printed by rich to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_conformance.core.notices import warn
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.rule import Rule

__all__ = ["console", "drop_output", "finding", "plural", "table"]


class _Output(Console):
    """Standard output. If its reader has gone, the rest is dropped, and the command goes on to its exit code."""

    def on_broken_pipe(self) -> None:
        """Drop what is printed from here on; rich would end the run with exit code 1."""
        drop_output()


def console() -> Console:
    """Return standard output: as wide as the terminal, or 140 columns if it is none."""
    out = _Output(highlight=False, emoji=False, soft_wrap=False)
    return out if out.is_terminal else _Output(highlight=False, emoji=False, width=140)


def drop_output() -> None:
    """Drop the rest of standard output, whose reader has gone, and say so: Python would fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    warn("standard output was closed before everything was printed; the exit code is the verdict all the same")


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a plain table, with numbers to the right."""
    made = Table(
        title=Text(title) if title else None, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    lines = [list(row) for row in rows]
    for column, head in enumerate(heads):
        numbers = bool(lines) and all(_is_count(line[column]) for line in lines)
        made.add_column(head, justify="right" if numbers else "left", overflow="fold")
    for line in lines:
        made.add_row(*map(Text, line))
    return made


def _is_count(cell: str) -> bool:
    return cell == "-" or cell.endswith(" %") or cell.replace(",", "").isdigit()


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
