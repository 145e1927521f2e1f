"""Record what Java's client does in the scripts of `gate client`, for ``--transcript``: python ci/java_transcripts.py.

The adapter of Java's client of ``RELEASE`` goes through all scripts twice, on a broker of that release from jars: once as
they are, and once in the variant for cassettes. It has to agree in all of them. What it sent and got is written to
``java_transcripts.ndjson`` in the package, a line for each script. Takes six minutes on two cores.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.client_gate.script import Script, shipped, steady
from kafka_conformance.wire.client_gate.transcript import (
    FILE,
    JavaTranscript,
    fingerprint,
    java_transcripts,
    transcript_of,
    write_java_transcripts,
)
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.trace import read_trace

__all__ = ["main", "void_scripts"]

ROOT = Path(__file__).parents[1]
ADAPTER = ROOT / "ci/adapters/java/run.py"
RELEASE: Final = "4.4.0"
SEED: Final = 20261129
_LIMIT_S = 1_800


@click.command(help=__doc__)
@click.option("--from", "given", default=None, type=click.Path(path_type=Path), metavar="FOLDER",
              help="Run nothing: read the traces in the folders plain and steady of this one.")  # fmt: skip
def main(given: Path | None) -> None:
    """Write the file. Raises CalledProcessError if Java's client does not agree."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = given or Path(scratch)
        if given is None:
            _run(folder / "plain")
            _run(folder / "steady", "--record-cassettes", str(folder / "cassettes"))
        write_java_transcripts(FILE, RELEASE, _found(folder))


def _run(traces: Path, *words: str) -> None:
    command = [
        sys.executable, "-m", "kafka_conformance", "gate", "client", "--kafka", RELEASE, "--seed", str(SEED), *words,
        "--traces", str(traces), "--no-github", "--", sys.executable, str(ADAPTER), RELEASE,
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=_LIMIT_S)


def _found(folder: Path) -> Iterator[JavaTranscript]:
    """Yield a transcript for each script; a variant that is equal to its script has none."""
    keys = set()
    for script, name in _scripts():
        if (key := fingerprint(script)) not in keys:
            keys.add(key)
            trace = folder / name / script.id.replace("/", "-") / "trace"
            made = transcript_of(read_trace(trace)[1], shipped_codec())
            if made.left_out:
                raise BadInput(f"{trace} has more lines than a transcript")
            yield JavaTranscript(key, script.id, list(made.exchanges))


def _scripts() -> Iterator[tuple[Script, str]]:
    for script in shipped():
        yield script, "plain"
        yield steady(script), "steady"


def void_scripts() -> list[str]:
    """Return the scripts without a current transcript of Java's client; all if a transcript is of none."""
    if not FILE.exists():
        return [script.id for script in shipped()]
    java = java_transcripts()
    current = {fingerprint(script) for script, _ in _scripts()}
    if java.release != RELEASE or java.by_key.keys() - current:
        return [script.id for script in shipped()]
    return sorted({script.id for script, _ in _scripts() if java.of_script(script) is None})


if __name__ == "__main__":
    main()
