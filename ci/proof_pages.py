"""Write what is proven: a line of the README, the certificate in ``proof.md``, the figures in ``testing.md``.

::

    python ci/proof_pages.py            # writes the three blocks; ten seconds

Each figure is counted in what ships: the certificate, the frozen cases, the records, the mutants, the drivers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import finding_pages
import historical_bugs
from client_gates import ROOT, names, settings
from trial import read_trials

from kafka_conformance.answerers.named_driver import FOLDER, read_driver
from kafka_conformance.cases.store import folder_of_cases, read
from kafka_conformance.kit_mistakes.run import CHECKS, MISTAKES
from kafka_conformance.replication.fault_sequences import SEQUENCES
from kafka_conformance.replication.histories import SCRIPTS_PER_SEQUENCE
from kafka_conformance.reports.page_block import block_of, write_block
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify.coverage.record import Ratio, shipped
from kafka_conformance.verify.coverage.summary import newest_summaries
from kafka_conformance.verify.mutants import record as known
from kafka_reference.certificate import certificate

__all__ = ["BLOCKS", "COMMAND", "void_pages"]

COMMAND = "python ci/proof_pages.py"
"""What the marks on the pages name."""


def proof_line() -> str:
    """Return the certificate and the score of the generated mutants in three sentences, for the README."""
    made = certificate()
    releases = made.releases()
    asked, agreed = _answers()
    killed, mutants = _generated()
    return (
        f"**{agreed:,} of {asked:,} answers** of {len(made.rules())} rules match those of Kafka's own Java classes, in\n"
        f"{len(releases)} releases ({releases[0]} to {releases[-1]}). Of {mutants:,} mistakes that\na program "
        f"made in these rules, a gate's questions find {killed:,}, asked in one release of each behaviour; by default they\n"
        "are asked in the newest alone. [The proof, and what is not proven](kit/docs/proof.md); "
        "[how the kit is tested](kit/docs/testing.md).\n"
    )


def figures() -> str:
    """Return the table of ``testing.md``: what is checked against what, how much of it, and by which command."""
    made, every = certificate(), [read(path) for path in sorted(folder_of_cases().glob("*.ndjson"))]
    cases = [case for one in every for case in one.cases]
    summaries = newest_summaries(shipped()).values()
    lines = sum((one.lines for one in summaries), Ratio(0, 0))
    branches = sum((one.branches for one in summaries), Ratio(0, 0))
    asked, agreed = _answers()
    killed, mutants = _generated()
    killed_known = sum(kill.differ > 0 for row in known.shipped().rows for kill in row.mutants)
    public = sum(bool(mutant.references) for mutant in MUTANTS)
    remarks = sum(path.read_text(encoding="utf-8").count("# unreached") for path in (ROOT / "reference").rglob("*.py"))
    clients = [read_driver(ROOT / FOLDER / name) for name in names()]
    histories = len(SEQUENCES) * SCRIPTS_PER_SEQUENCE
    areas = finding_pages.read_areas()
    shown = [name for area in areas for name in area.findings if finding_pages.read_case(name) is not None]
    rows = (
        ("the reference", "Kafka's classes of each release",
         f"{len(made.rules())} rules, {len(made.releases())} releases: {agreed:,} of {asked:,} answers match",
         "verify --kafka all"),
        ("the questions", "Kafka's code that the rules mirror, by JaCoCo",
         f"run: lines {lines}, branches {branches}", "coverage"),
        ("the questions", "lines and branches of the reference",
         f"all run, but for {remarks} places with a reason", "python ci/unreached.py"),
        ("frozen cases", "Kafka's classes, asked again",
         f"{len(cases):,} questions, {sum(len(case.releases) for case in cases):,} answers", "freeze --check"),
        ("the questions", "known mistakes in the rules",
         f"{killed_known:,} of {len(MUTANTS):,} found; {public:,} with a public reference", "selftest"),
        ("the gate", "mistakes in the reference, made by a program",
         f"{Ratio(killed, mutants)} found, in one release of each behaviour",
         "selftest --generated"),
        ("the gate", "mistakes that ports of Kafka's client have made", f"all of {len(historical_bugs.BUGS)} found",
         "tox -e conformance"),
        ("the gate's diagnosis", "clients whose deviation is known from their source", f"{len(read_trials())} settings",
         "python ci/trial.py"),
        ("the kit", "mistakes in its oracle, comparison, counts and verdicts",
         f"all of {len(MISTAKES)} found, by {len(CHECKS)} checks", "selftest --kit"),
        ("the gate", "real clients",
         f"{len(clients)} clients and versions, {sum(len(settings(one)) for one in clients)} settings", "tox -e clients"),
        ("the rules together", "three real brokers that are paused and killed", f"{histories} histories in a run",
         "cluster check"),
        ("findings", "Kafka's classes of every release that has the rule", f"{len(shown)} cases", "tox"),
    )  # fmt: skip
    table = ["| what is checked | against what | how much | command |", "|---|---|---|---|"]
    table += [f"| {what} | {against} | {much} | `{command}` |" for what, against, much, command in rows]
    return "\n".join(table) + "\n"


def _answers() -> tuple[int, int]:
    """Return the answers that were compared with Java's, and those that match."""
    rows = certificate().rows
    return sum(row.asked for row in rows), sum(row.agreed for row in rows)


def _generated() -> tuple[int, int]:
    """Return the generated mutants that a gate kills, and all that can change an answer."""
    scores = certificate().scores.values()
    return sum(score.by_gate for score in scores), sum(score.mutants for score in scores)


BLOCKS: Mapping[Path, Callable[[], str]] = {
    ROOT / "README.md": proof_line,
    ROOT / "kit" / "docs" / "proof.md": lambda: certificates.markdown(certificate()),
    ROOT / "kit" / "docs" / "testing.md": figures,
}
"""The pages, and what makes the block of each."""


def void_pages() -> list[str]:
    """Return the names of the pages whose block is not as it would be written."""
    return [
        path.name
        for path, made in BLOCKS.items()
        if block_of(path.read_text(encoding="utf-8"), COMMAND) != made().strip("\n")
    ]


if __name__ == "__main__":
    for path, made in BLOCKS.items():
        write_block(path, COMMAND, made())
