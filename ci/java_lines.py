"""Write the line numbers of Kafka's declarations into the ``summary.toml`` of every rule, from a checkout of Kafka.

::

    git clone https://github.com/apache/kafka
    python ci/java_lines.py kafka            # writes the lines that have changed
    python ci/java_lines.py kafka --check    # exits with 1 if a line is another one; writes nothing

Sources are read by ``git show TAG:PATH``, so the checkout needs the tags that the files name, and no work tree. Exit codes:
0 all lines are right or written; 1 with ``--check`` one is not; 2 a tag, a path or a declaration is missing, or not unique.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from kafka_conformance.rules.summaries import FILE

__all__ = ["Unfound", "corrected", "line_of"]

RULES = Path(__file__).parents[1] / "kit" / "kafka_conformance" / "rules"
_ENTRY = re.compile(
    r'^tag = "(?P<tag>[^"]+)"\npath = "(?P<path>[^"]+)"\ndeclaration = "(?P<declaration>[^"]+)"\nline = (?P<line>\d+)$',
    re.MULTILINE,
)
LIMIT_S = 120


class Unfound(Exception):
    """A declaration that the checkout does not have once."""


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a line is another one.")
def main(checkout: Path, *, check: bool) -> None:
    """Write the line numbers of Kafka's declarations, read from CHECKOUT, a clone of Kafka."""
    stale = 0
    try:
        for file in sorted(RULES.glob(f"*/{FILE}")):
            before = file.read_text(encoding="utf-8")
            after = corrected(before, checkout)
            for old, new in _changes(before, after):
                stale += 1
                click.echo(f"{file.parent.name}: {old} is {new}")
            if not check:
                file.write_text(after, encoding="utf-8")
    except Unfound as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    sys.exit(1 if check and stale else 0)


def corrected(text: str, checkout: Path) -> str:
    """Return a ``summary.toml`` with the lines that the checkout has. Raises Unfound."""

    def entry(found: re.Match[str]) -> str:
        line = line_of(checkout, found["tag"], found["path"], found["declaration"])
        return found[0].removesuffix(f"line = {found['line']}") + f"line = {line}"

    return _ENTRY.sub(entry, text)


def line_of(checkout: Path, tag: str, path: str, declaration: str) -> int:
    """Return the number of the one line of a file that has the declaration. Raises Unfound."""
    found = [number for number, line in enumerate(_source(checkout, tag, path), 1) if declaration in line]
    if len(found) != 1:
        raise Unfound(f"{len(found)} lines of {path} in {tag} have {declaration!r}: expected one; correct {FILE}")
    return found[0]


@cache
def _source(checkout: Path, tag: str, path: str) -> list[str]:
    words = ["git", "-C", str(checkout), "show", f"{tag}:{path}"]
    shown = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if shown.returncode:
        raise Unfound(f"{path} cannot be read in {tag} from {checkout}: {shown.stderr.strip()}: fetch Kafka's tags")
    return shown.stdout.splitlines()


def _changes(before: str, after: str) -> Iterator[tuple[str, str]]:
    for old, new in zip(_ENTRY.finditer(before), _ENTRY.finditer(after), strict=True):
        if old["line"] != new["line"]:
            yield f"{old['path']}#L{old['line']}", f"#L{new['line']}"


if __name__ == "__main__":
    main()
