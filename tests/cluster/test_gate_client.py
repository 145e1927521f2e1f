"""The gate of clients on a real broker: Java's own client agrees in every script, and known deviations are found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.cli.main import app
from kafka_conformance.core.events import Differed, RuleEnded, from_lines

ADAPTERS = Path(__file__).parents[2] / "ci/adapters"
SEED = 20261129


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker("4.4.0", engine="jars") as started:
        yield started


def gate(
    broker: Broker, folder: Path, adapter: str, *words: str
) -> tuple[int, str, dict[str, list[str]], dict[str, str]]:
    """Return the exit code, what was printed, the kinds of findings by script, and the verdicts."""
    events = folder / "events.ndjson"
    ran = CliRunner().invoke(
        app,
        ["gate", "client", "--to", broker.bootstrap, "--seed", str(SEED), "--timeout", "40", "--events", str(events), *words,
         "--", sys.executable, *(str(ADAPTERS / word) if ".py" in word else word for word in adapter.split())],
        standalone_mode=False, catch_exceptions=False,
    )  # fmt: skip
    kinds: dict[str, list[str]] = {}
    verdicts = {}
    for event in from_lines(events.read_bytes().splitlines()):
        if isinstance(event, Differed):
            kinds.setdefault(event.id, []).append(event.kind)
        if isinstance(event, RuleEnded):
            verdicts[event.rule.removeprefix("client/")] = event.verdict
    return int(ran.return_value), ran.output, kinds, verdicts


def test_java_client_passes_every_shipped_script_of_the_client_gate(broker: Broker, tmp_path: Path) -> None:
    code, output, _, verdicts = gate(broker, tmp_path, "java/run.py 4.4.0")
    assert code == 0, output
    assert set(verdicts.values()) == {"agrees"}


@pytest.mark.parametrize("release", ["2.1.1", "2.8.2", "3.9.2", "4.4.0"])
def test_java_clients_of_four_releases_pass_fifteen_generated_client_gate_scripts(
    broker: Broker, tmp_path: Path, release: str
) -> None:
    words = ("--generate", "15", "--run", "generated/*")
    code, output, _, verdicts = gate(broker, tmp_path, f"java/run.py {release}", *words)
    assert code == 0, output
    assert len(verdicts) == 15


@pytest.mark.parametrize("client", ["kafka_python", "aiokafka", "confluent_kafka"])
def test_client_gate_exits_1_with_only_the_known_deviations_of_three_python_clients(
    broker: Broker, tmp_path: Path, client: str
) -> None:
    """The three differ from Java after errors that they take for fatal, and only librdkafka loses a record."""
    code, output, kinds, verdicts = gate(broker, tmp_path, f"{client}_adapter.py")
    assert code == 1, output
    found = {script for script, some in kinds.items() if some}
    assert "refused/out-of-order" in found
    assert found <= {
        "refused/first-not-leader", "refused/out-of-order", "refused/out-of-order-two-partitions",
        "refused/producer-epoch", "refused/too-large", "refused/unknown-producer",
    }  # fmt: skip
    assert kinds.get("refused/first-not-leader") == (["lost"] if client == "confluent_kafka" else None)
    assert "errored" not in verdicts.values()
