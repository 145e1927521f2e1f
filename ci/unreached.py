"""Fail on lines and branches of the reference that no frozen case and no fresh question executes.

::

    python ci/unreached.py      # six minutes on one core

The reference answers every frozen case in a release of each behaviour, and the fresh questions of a gate in the newest
release; and it predicts the histories that ``kafka-conformance cluster check`` plays on a real cluster. What is not executed
then, Java was never compared with. A line that no question can reach carries the reason::

    if self.closed:  # unreached: an accumulator that is closed refuses the record first

The comment stands behind the first line of a statement, or alone above it. It covers what the statement opens, or, where
that is executed, the other way out of it; ``# unreached file:`` covers a file. A comment whose code is executed or gone
fails as well. Blocks that refuse a question or an argument need none: they end by raising an error of the reference, which
is not an answer.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import coverage

REFERENCE = Path(__file__).parents[1] / "reference" / "kafka_reference"
# The check of arguments refuses them or changes nothing; fingerprints leave it out, too.
_DECIDES_NO_ANSWER = REFERENCE / "arguments.py"
_EXAMPLES, _SEED = 200, 1
_REMARK = re.compile(r"# unreached( file)?: \S")
# Errors of the reference and of Python: the question has no answer, or the caller's arguments are wrong.
_REFUSALS = {
    "DrawsExhausted", "ImportError", "InvalidScenario", "NeverReturns", "NotImplementedError", "NotInThisRelease",
    "QuestionError", "TypeError", "UndeterminedHistory", "UnprovenRelease", "UnreachableCombination", "ValueError",
}  # fmt: skip
_BLANK = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT}


@dataclass(frozen=True, slots=True)
class Measured:
    """What was executed of a file, and the lines and branches (from, to; below 0: out of the function) that were not."""

    executed: frozenset[int]
    missing: frozenset[int]
    branches: frozenset[tuple[int, int]]


def ask_everything() -> None:
    """Answer all frozen cases in a release of each behaviour, and fresh questions in the newest release of each rule."""
    # Imported while coverage measures: tables of the reference are made on import.
    from kafka_conformance.answerers.reference import ReferenceAnswerer
    from kafka_conformance.cases.store import frozen
    from kafka_conformance.gate.questions import gate_sources
    from kafka_conformance.rules import RULES
    from kafka_conformance.rules.eras import behaviour_in
    from kafka_reference.releases import parse_release

    reference = ReferenceAnswerer()
    for rule in RULES.values():
        cases = frozen(rule)
        if cases is None:
            raise SystemExit(f"{rule.slug} has no frozen cases: kafka-conformance freeze --rules {rule.slug}")
        having = [release for release in map(parse_release, cases.provenance.jars) if release in rule.releases]
        releases = list({repr(behaviour_in(rule, release)): release for release in having}.values())
        for release in releases:
            reference.answer(rule, release, [case.typed_question(rule) for case in cases.at(str(release))])
        *_, (fresh, _) = gate_sources(rule, having[-1], "exact", _EXAMPLES, _SEED, Path("none"), "")
        reference.answer(rule, having[-1], fresh.questions)
    predict_histories()


def predict_histories() -> None:
    """Predict every history that is played on a real cluster, in each cluster that the reference tells apart."""
    from kafka_conformance.replication.histories import generate_histories
    from kafka_conformance.replication.history_labels import DISTINCT_CLUSTERS
    from kafka_reference.cluster.history import simulate

    for group in generate_histories(_SEED):
        for script in group.scripts:
            for cluster in DISTINCT_CLUSTERS:
                simulate(script, *cluster)


def measure(folder: Path, run: Callable[[], None]) -> dict[Path, Measured]:
    """Return what ``run`` executes of the Python files in ``folder``."""
    measurement = coverage.Coverage(data_file=None, branch=True, source=[str(folder)], config_file=False)
    measurement.exclude("if TYPE_CHECKING:")
    measurement.start()
    try:
        run()
    finally:
        measurement.stop()
    with TemporaryDirectory() as made:
        report = Path(made) / "report.json"
        measurement.json_report(outfile=str(report))
        found = json.loads(report.read_text())["files"]
    return {
        Path(name).resolve(): Measured(
            frozenset(one["executed_lines"]), frozenset(one["missing_lines"]), frozenset(map(tuple, one["missing_branches"]))
        )
        for name, one in found.items()
    }  # fmt: skip


def complaints(path: Path, measured: Measured) -> Iterator[tuple[int, str]]:
    """Yield each line of a file that is neither executed nor explained, and each comment that explains nothing."""
    bodies = _Bodies(path)
    missing = measured.missing - bodies.refusals
    branches = {(start, end) for start, end in measured.branches if end not in bodies.refusals}
    for line in bodies.explained:
        if line not in bodies.opened:
            yield line, "explains no statement: write it behind the first line of one"
            continue
        body = bodies.opened[line]
        left = missing.intersection((line, *body))
        used = measured.executed.intersection(body if line else bodies.called)
        if left and used:
            yield line, f"explains lines of which line {min(used)} is executed: explain the others alone"
        elif not left and all(start != line for start, _ in branches):
            yield line, "explains why it is not executed, and it is: remove the comment"
        missing -= left
        branches = {(start, end) for start, end in branches if start != line and start not in body}
    yield from ((line, "is not executed") for line in missing)
    for start, end in branches:
        if measured.missing.isdisjoint((start, end)):
            yield start, "never leaves its function" if end < 0 else f"never goes on with line {end}"


class _Bodies(ast.NodeVisitor):
    """The statements of a file.

    ``opened`` has the lines of the body of each statement, case and handler, by its first line; 0 is the file. ``refusals``
    are the lines that do nothing but refuse a question or an argument, ``explained`` those with a comment, ``called`` those
    of functions.
    """

    def __init__(self, path: Path) -> None:
        text = path.read_text()
        self.opened = {0: range(1, text.count("\n") + 1)}
        self.called: set[int] = set()
        self.refusals: set[int] = set()
        self.visit(ast.parse(text))
        self.explained = list(_explained(path))

    def generic_visit(self, node: ast.AST) -> None:
        body = getattr(node, "body", [node])
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            first = node.lineno
            self.opened.setdefault(first, _lines(body))
            for decorator in getattr(node, "decorator_list", ()):
                self.opened.setdefault(decorator.lineno, _lines(body))
        elif isinstance(node, ast.match_case):
            self.opened[node.pattern.lineno] = _lines(body)
        if isinstance(node, ast.FunctionDef):
            self.called.update(_lines(body))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for statement in takewhile(_only_refuses, reversed(block if isinstance(block, list) else [])):
                self.refusals.update(_lines([statement]))
            if isinstance(node, ast.If) and block and all(map(_only_prepares, block[:-1])) and _only_refuses(block[-1]):
                self.refusals.update(_lines(block))
        super().generic_visit(node)


def _lines(body: Sequence[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or 0) + 1)


def _only_refuses(statement: ast.stmt) -> bool:
    """Whether a statement only raises an error that is not an answer, maybe on a condition."""
    if isinstance(statement, ast.If):
        return (
            not statement.orelse and _only_refuses(statement.body[-1]) and all(map(_only_prepares, statement.body[:-1]))
        )
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id in _REFUSALS


def _only_prepares(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign)


def _explained(path: Path) -> Iterator[int]:
    """Yield the lines that a comment explains: its own, the next one with code if it is alone, or 0 for the file."""
    alone = 0
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT and (found := _REMARK.match(token.string)):
                if found[1]:
                    yield 0
                elif token.line[: token.start[1]].strip():
                    yield token.start[0]
                else:
                    alone = token.start[0]
            elif alone and token.type not in _BLANK:
                yield alone if token.type == tokenize.ENDMARKER else token.start[0]
                alone = 0


def main() -> int:
    """Measure, print what is neither executed nor explained, and return the exit code."""
    failed = 0
    for path, measured in sorted(measure(REFERENCE, ask_everything).items()):
        if path == _DECIDES_NO_ANSWER:
            continue
        lines, place = path.read_text().splitlines(), path.relative_to(REFERENCE)
        for line, why in sorted(complaints(path, measured)):
            print(f"reference/kafka_reference/{place}:{line} {why}: {lines[max(line - 1, 0)].strip()}")
            failed += 1
    if failed:
        print(f"{failed} lines no question executes: freeze a case, remove them, or explain them by '# unreached: why'")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
