"""What the kit reads back: certificates, records of mutants and of coverage, streams of events, rows of ``verify``."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import streams
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from json_mutations import hostile_json, mutated_json, mutated_lines

from kafka_conformance.cli.commands import certificate as certificate_command
from kafka_conformance.cli.commands import report
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.events import from_lines, to_line
from kafka_conformance.gate.reports import writers
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.rules import RULES
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify import partial_rows
from kafka_conformance.verify.coverage import record as coverage_record
from kafka_conformance.verify.fingerprint import fingerprint
from kafka_conformance.verify.mutants import record as mutant_record
from kafka_conformance.verify.verification import VerificationPlan as Proof
from kafka_reference.certificate import certificate
from kafka_reference.releases import parse_release

MADE = certificate()
CERTIFICATE = msgspec.json.encode(
    msgspec.to_builtins(MADE)
    | {
        "rows": msgspec.to_builtins(MADE.rows[:2]),
        "scores": msgspec.to_builtins(dict(list(MADE.scores.items())[:1])),
        "harness": dict(list(MADE.harness.items())[:1]),  # all of them would take up most of the changes
    }
)
MUTANTS = msgspec.json.encode(mutant_record.Record(mutant_record.shipped().rows[:2]))
COVERED = coverage_record.shipped().rows[:1]
COVERAGE = msgspec.json.encode(
    coverage_record.Record(
        tuple(msgspec.structs.replace(row, methods=dict(list(row.methods.items())[:1])) for row in COVERED)
    )
)


def written(path: Path, read: Callable[[Path], object], refuses: tuple[type[Exception], ...] = (KitError,)) -> Door:
    def write_and_read(data: bytes) -> None:
        path.write_bytes(data)
        read(path)

    return Door(write_and_read, refuses)


def reads_certificate(path: Path) -> None:
    _, made = certificate_command._read(path, shipped=False)
    certificates.merged([made])
    certificates.markdown(made, coverage_record.Record())
    with contextlib.redirect_stdout(io.StringIO()):
        certificate_command._print(made, [], "x", verbose=True)  # what is void takes a second, whatever the file


def reads_mutants(path: Path) -> None:
    found = mutant_record.read(path)
    mutant_record.write(found, path)
    assert mutant_record.read(path) == found


def reads_coverage(path: Path) -> None:
    found = coverage_record.read(path)
    coverage_record.write(found, path)
    assert coverage_record.read(path) == found


DOCUMENTS = {
    "certificate": (reads_certificate, CERTIFICATE),
    "mutants": (reads_mutants, MUTANTS),
    "coverage": (reads_coverage, COVERAGE),
}


@pytest.mark.parametrize("which", DOCUMENTS)
def test_fuzzed_certificate_mutant_and_coverage_json_raises_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, which: str
) -> None:
    read, document = DOCUMENTS[which]
    inputs = st.one_of(mutated_json([document]), arbitrary_or_mutated([document]))
    explore(plan, written(tmp_path / "x.json", read), inputs, 50, hostile_json([document]))


def reads_events(path: Path) -> None:
    """Every stream that is read is reported, in each form."""
    found = report.read(path)
    assert all(from_lines([to_line(event)]) for event in found)
    folder = path.parent
    names = {name: folder / f"out.{name}" for name in ("junit", "markdown", "html", "badge")}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        writers.show(found)
        writers.write_all(found, **names, github=True)
    assert outline(found).exit_code in {0, 1, 2}


def reads_partial(path: Path) -> None:
    """A ``verify`` resumes, or begins again."""
    assert isinstance(partial_rows.resumed_seed(path, PROOF), int | None)
    with partial_rows.record_rows(path, PROOF, "jvm"):
        pass


PROOF = Proof([RULES["murmur2"]], [parse_release("4.4.0")], 10, 8, 1)
ROWS = [
    msgspec.json.encode(partial_rows._head(PROOF, 1)),
    msgspec.json.encode(
        partial_rows._Row("murmur2", "4.4.0", fingerprint(RULES["murmur2"]), "jvm", {"a": 1}, 1, 0, {}, "0" * 64, True)
    ),
]
STREAM = [to_line(event) for event in streams.everything()]


def test_fuzzed_gate_event_streams_raise_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    inputs = st.one_of(mutated_lines(STREAM), arbitrary_or_mutated([b"\n".join(STREAM)]))
    explore(plan, written(tmp_path / "events", reads_events), inputs, 60, hostile_json(STREAM[:1])[::7])


def test_verify_resume_never_raises_for_fuzzed_partial_result_rows(plan: FuzzPlan, tmp_path: Path) -> None:
    door = written(tmp_path / "partial", reads_partial, ())
    explore(plan, door, mutated_lines(ROWS), 50, [ROWS[0] + b"\n" + row for row in hostile_json(ROWS[1:])])


@pytest.mark.parametrize("which", [*DOCUMENTS, "events"])
def test_fuzzer_finds_bugs_planted_in_certificate_record_and_event_readers(
    tmp_path: Path, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, name, when = {
        "certificate": (certificate_command, "_print", lambda made, *_: made.rows[:1] != MADE.rows[:1]),
        "mutants": (mutant_record, "_lines", lambda rows: len(rows) != 2),
        "coverage": (coverage_record, "_lines", lambda rows: not rows),
        "events": (report, "from_lines", lambda lines: b"NaN" in lines[0]),
    }[which]  # fmt: skip
    plant(monkeypatch, where, name, when)
    read, document = DOCUMENTS.get(which, (reads_events, STREAM[0]))
    always = hostile_json([document])
    with pytest.raises(BrokenPromise, match="planted"):
        explore(FuzzPlan(shrink=False), written(tmp_path / "x", read), mutated_json([document]), 600, always)
