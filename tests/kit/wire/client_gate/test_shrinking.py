"""Scripts that show a finding are made smaller, with a client of ours that has it under known conditions."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")

from kafka_conformance.wire.client_gate.script import Script, Settings, read, shipped
from kafka_conformance.wire.client_gate.shrinking import as_toml, shrunk

LARGE = Script(
    "a/one", "title", Settings(idempotence=True, compression="gzip"), 7, rounds=8, records=40, keys=50, value_bytes=200,
    lose_response=("Produce=3", "Produce=5"), refuse=("Produce=4:6", "Metadata=1:5"),
)  # fmt: skip


def loses(script: Script) -> set[str]:
    """Lose a record if the third response is lost, in three rounds of two records or more."""
    wrong = "Produce=3" in script.lose_response and script.rounds >= 3 and script.records >= 2
    return {"lost", "failed"} if wrong else {"failed"}


def test_shrinking_reduces_a_client_script_to_the_smallest_that_still_shows_the_finding() -> None:
    script, runs = shrunk(LARGE, "lost", loses, 100)
    assert (script.rounds, script.records, script.lose_response, script.refuse) == (3, 2, ("Produce=3",), ())
    assert (script.keys, script.partitions, script.value_bytes, script.settings.compression) == (0, 1, 1, "none")
    assert (script.id, script.settings.idempotence) == (LARGE.id, True)
    assert 10 < runs < 60
    assert shrunk(LARGE, "lost", loses, 100) == (script, runs), "the same client gives the same script"


@pytest.mark.parametrize("most", [0, 1, 5])
def test_shrinking_stops_at_the_run_limit_and_never_runs_a_script_twice(most: int) -> None:
    seen: list[Script] = []

    def run(script: Script) -> set[str]:
        seen.append(script)
        return loses(script)

    _, runs = shrunk(LARGE, "lost", run, most)
    assert runs == len(seen) == len(set(seen)) == most


def test_shrinking_returns_the_original_script_if_the_finding_never_recurs() -> None:
    script, runs = shrunk(LARGE, "stored-twice", loses, 100)
    assert script == LARGE
    assert runs < 40


def test_shrunk_script_keeps_judged_keys_and_the_last_consume_count_and_is_valid_toml() -> None:
    for each in shipped():
        smallest, _ = shrunk(each, "any", lambda _: {"any"}, 1_000)
        assert smallest.judges_keys <= bool(smallest.keys or smallest.empty_key)
        assert smallest.consume[-1:] == each.consume[-1:]
        assert read(as_toml(smallest)) == (smallest,)
