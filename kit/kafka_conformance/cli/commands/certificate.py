"""Print the certificate: which questions each rule has answered in each release, and how many match Java.

FILE is a certificate of `verify` (default: the last one made here, else the shipped one).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.reports.terminal import console, table
from kafka_conformance.verify import certificate as certifying
from kafka_reference.certificate import Certificate, certificate, from_json, reference_fingerprint

__all__ = ["run"]


@click.argument("files", nargs=-1, type=options.FILE, metavar="[FILE...]")
@click.option("--write", default=None, type=options.FILE, metavar="FILE",
              help="Write it to this file; several certificates, of other rules or releases each, become one.")  # fmt: skip
@click.option("--shipped", is_flag=True, help="Print the certificate that ships with the package.")
@click.option("--markdown", is_flag=True, help="Print the table of the README.")
def run(*, files: Sequence[Path], shipped: bool, markdown: bool, write: Path | None) -> int:
    """Print it, and write it where several are made one; 0, or 1 if it proves other code than is installed."""
    found = [_found(file, shipped=shipped) for file in files or (None,)]
    where, made = ", ".join(where for where, _ in found), certifying.merged([one for _, one in found])
    if write is not None:
        certifying.write(made, write)
    if markdown:
        print(certifying.markdown(made), end="")
        return 0
    out = console()
    rows = [
        [
            row.release,
            row.rule,
            f"{row.asked:,}",
            f"{row.agreed:,}",
            row.jar_sha256[:12] + ("" if row.pinned else " (unpinned)"),
        ]
        for row in made.rows
    ]
    out.print(table("", ["release", "rule", "asked", "agreed", "jar sha256"], rows))
    for rule in made.rules():
        row = next(row for row in made.rows if row.rule == rule)
        out.print(
            f"{rule}: {'; '.join(f'{count:,} {source}' for source, count in row.sources.items())}",
            style="dim",
            markup=False,
        )
    out.print(f"{where}, made {made.made} by kit {made.kit}, seed {made.seed}, JVM {made.jvm}", markup=False)
    same = made.reference_sha256 == reference_fingerprint()
    out.print("it proves the code that is installed" if same else "it proves OTHER code than is installed: run verify")
    return 0 if same else 1


def _found(file: Path | None, *, shipped: bool) -> tuple[str, Certificate]:
    path = file or (certifying.LAST if certifying.LAST.is_file() and not shipped else None)
    try:
        if path is None:
            return "the certificate that ships", certificate()
        return str(path), from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput(f"there is no certificate at {error.filename}: run verify first") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a certificate: {error}") from error
