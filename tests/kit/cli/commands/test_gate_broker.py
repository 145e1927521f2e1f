"""`gate broker`: what it asks for, what it refuses, and what it leaves behind."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fake_brokers import CLOSE, FakeBroker, fake_broker
from mock_broker import mock_broker

from kafka_conformance.cli.commands import gate_broker
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, BrokerLost, KitError
from kafka_conformance.core.extras import missing_extra
from kafka_conformance.wire.broker_gate.case import frozen
from kafka_conformance.wire.codec import messages
from kafka_conformance.wire.codec.schemas import read_shipped

CASES = ("api-versions/v0", "api-versions/v1", "topics/metadata-none", "groups/coordinator-v2")
"""Cases that a fake broker answers as Kafka does."""
RUN = [word for case in CASES for word in ("--run", case)]


@pytest.fixture
def broker() -> Iterator[FakeBroker]:
    with fake_broker() as served:
        yield served


def gate(broker: FakeBroker, *words: str, code: int | None = None) -> Result:
    """Run the command; ``code`` is its exit code."""
    ran = CliRunner().invoke(app, ["gate", "broker", broker.address, *words], standalone_mode=False)
    if ran.exception:
        raise ran.exception
    assert code is None or ran.return_value == code, ran.output
    return ran


def test_gate_of_broker_that_answers_as_kafka_exits_with_0(broker: FakeBroker) -> None:
    ran = gate(broker, *RUN, "--seed", "7", code=0)
    assert "4 of 4 cases agree with Kafka" in ran.output
    assert "seed 7" in ran.output
    assert "(only run api-versions/v0, run api-versions/v1, " in ran.output


def test_broker_gate_announces_on_stderr_which_topics_the_run_creates_and_deletes(broker: FakeBroker) -> None:
    ran = gate(broker, "--run", "fetch/empty", "--run", "api-versions/v0", "--no-github")
    assert re.search(
        r"sends 2 cases recorded from Kafka 4\.4\.0, creates 1 topic (kafka-conformance-gate-[0-9a-f]{8})-\*,"
        r" writes to no other topic, and deletes these at the end",
        ran.stderr,
    )


def test_broker_gate_writes_only_to_topics_that_this_run_created(broker: FakeBroker) -> None:
    broker.topics |= {"kafka-conformance-gate-older", "__consumer_offsets"}
    gate(broker, "--run", "fetch/*", code=1)
    written = [
        str(fields)
        for api, fields in broker.requests
        if api in {"CreateTopics", "DeleteTopics", "Produce", "DeleteRecords"}
    ]
    assert written
    assert all(re.search("kafka-conformance-gate-[0-9a-f]{8}-fetch", each) for each in written)
    assert broker.topics == {"kafka-conformance-gate-older", "__consumer_offsets"}


def test_broker_gate_creates_no_topic_for_a_case_that_does_not_apply(broker: FakeBroker) -> None:
    broker.versions["Fetch"] = (4, 11)
    ran = gate(broker, "--run", "fetch/empty", "--run", "api-versions/v0", "--run", "produce/two-batches", code=1)
    assert "creates 1 topic" in ran.stderr
    created = [each["name"] for api, fields in broker.requests if api == "CreateTopics" for each in fields["topics"]]
    assert created
    assert not [name for name in created if "produce-two-batches" not in name]


def test_broker_gate_refuses_cluster_with_other_topics_without_option_i_own_this_cluster(broker: FakeBroker) -> None:
    broker.topics |= {"orders", "a", "b", "c"}
    with pytest.raises(
        KitError, match=r"has 4 topics that no gate has made \(a, b, c, …\): .* give --i-own-this-cluster"
    ):
        gate(broker, *RUN)
    assert {api for api, _ in broker.requests} == {"ApiVersions", "Metadata"}
    gate(broker, *RUN, "--i-own-this-cluster", code=0)
    assert broker.topics == {"orders", "a", "b", "c"}


def test_broker_gate_refuses_cluster_of_three_brokers(broker: FakeBroker) -> None:
    broker.brokers = 3
    with pytest.raises(KitError, match="has 3 brokers: the gate asks one"):
        gate(broker, *RUN)


@pytest.mark.parametrize("address", ["", "localhost", "localhost:", "localhost:0", "localhost:99999", ":9092", "a:b"])
def test_broker_gate_address_without_host_or_with_missing_or_invalid_port_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="is not an address: expected HOST:PORT"):
        CliRunner().invoke(app, ["gate", "broker", address], standalone_mode=False, catch_exceptions=False)


def test_missing_kafka_module_is_reported_before_the_gate_sends_a_request(
    broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_struct_field", lambda: importlib.import_module("kafka.protocol.schemas"))
    monkeypatch.setattr(gate_broker, "shipped_codec", lambda: messages.Codec(read_shipped()[2]))
    for name in [name for name in sys.modules if name.partition(".")[0] == "kafka"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kafka", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        gate(broker, *RUN)
    assert str(missing_extra(missing.value)).startswith("this command needs kafka: pip install '.[wire]' in a checkout")
    assert broker.requests == []


def test_broker_gate_of_unreachable_address_raises_broker_lost(broker: FakeBroker) -> None:
    with fake_broker() as gone:
        pass
    with pytest.raises(BrokerLost, match=f"no connection to {gone.address}"):
        gate(gone, *RUN)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--as", "9.9.9"], "unknown release '9.9.9': answers are recorded for 2."),
        (["--run", "fetch/nothing"], "no case matches 'fetch/nothing': "),
        (["--skip", "zzz/*"], "no case matches 'zzz/*': the groups are api-versions/*, fetch/*, groups/*, "),
        (["--skip", "fetch/ofset-0"], "no case matches 'fetch/ofset-0': did you mean fetch/offset-0"),
        (["--run", "fetch/*", "--skip", "fetch*"], "no case is left to run: --skip matches all that --run selects"),
        (["--write-known-failures"], "--write-known-failures needs --known-failures FILE"),
    ],
)  # fmt: skip
def test_broker_gate_with_bad_option_is_refused_before_the_first_request(
    broker: FakeBroker, words: list[str], message: str
) -> None:
    with pytest.raises(BadInput) as raised:
        gate(broker, *words)
    assert str(raised.value).startswith(message)
    assert broker.requests == []


def test_broker_gate_as_option_compares_with_answers_recorded_from_that_kafka_release(broker: FakeBroker) -> None:
    ran = gate(broker, *RUN, "--as", "3.9.2", code=0)
    assert "Kafka 3.9.2" in ran.output


def wrong(api: str, version: int, _: dict[str, Any]) -> Any:
    return CLOSE if (api, version) == ("FindCoordinator", 3) else None


def test_differing_broker_gate_exits_1_and_every_report_but_the_badge_names_the_case(tmp_path: Path) -> None:
    options = ("--transcript", "--events", "--junit", "--markdown", "--html", "--badge")
    files = {option: tmp_path / option.removeprefix("--") for option in options}
    words = [word for option, path in files.items() for word in (option, str(path))]
    with fake_broker(wrong) as broker:
        ran = gate(broker, "--run", "groups/coordinator-v*", *words, "--github", code=1)
    assert "FindCoordinator: connection closed" in ran.output
    assert "::error" in ran.output
    for option, path in files.items():
        text = path.read_text("utf-8")
        assert ("1 differ" if option == "--badge" else "groups/coordinator-v3") in text, option


def test_broker_gate_writes_known_failures_accepts_those_later_and_exits_1_if_stale(tmp_path: Path) -> None:
    known = str(tmp_path / "known.toml")
    with fake_broker(wrong) as broker:
        gate(broker, "--run", "groups/coordinator-v*", "--known-failures", known, "--write-known-failures", code=0)
        gate(broker, "--run", "groups/coordinator-v*", "--known-failures", known, code=0)
    text = Path(known).read_text(encoding="utf-8")
    assert 'cases = [\n    "groups/coordinator-v3",\n]' in text
    assert "for 'FindCoordinator: connection closed': replace this by the reason" in text
    with fake_broker() as broker:
        gate(broker, "--run", "groups/coordinator-v*", "--known-failures", known, code=1)
        gate(broker, "--run", "groups/coordinator-v*", "--known-failures", known, "--write-known-failures", code=0)
    assert "[[known]]" not in Path(known).read_text(encoding="utf-8")


def test_transcript_file_of_gate_without_differences_states_that_no_case_differs(
    broker: FakeBroker, tmp_path: Path
) -> None:
    gate(broker, *RUN, "--transcript", str(tmp_path / "t.md"), code=0)
    assert "No case that was run differs." in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_broker_gate_case_beyond_timeout_is_reported_as_no_answer(tmp_path: Path) -> None:
    with fake_broker(lambda api, version, _: "silence" if (api, version) == ("FindCoordinator", 3) else None) as broker:
        ran = gate(broker, "--run", "groups/coordinator-v*", "--timeout", "0.3", code=1)
    assert "FindCoordinator: no answer" in ran.output


def test_report_from_broker_gate_events_repeats_the_summary(broker: FakeBroker, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    gate(broker, *RUN, "--events", str(events), code=0)
    ran = CliRunner().invoke(app, ["report", str(events)], standalone_mode=False)
    assert ran.return_value == 0
    assert "4 of 4 cases agree with Kafka" in ran.output


def test_broker_gate_of_librdkafka_mock_without_topic_creation_exits_1_with_case_counts() -> None:
    with mock_broker() as mock:
        words = ["gate", "broker", mock.bootstrap, "--run", "fetch/*", "--run", "topics/*", "--timeout", "5"]
        ran = CliRunner().invoke(app, words, standalone_mode=False, catch_exceptions=False)
    assert ran.return_value == 1, ran.output
    assert "and leaves these: the broker has no DeleteTopics" in ran.stderr
    assert "the broker has no CreateTopics version" in ran.output
    assert re.search(r"fetch +differs +42 +\d+ +[12]\d +3 +12", ran.output)
    assert re.search(r"all +78 +\d+ +[12]\d +3 +46", ran.output)


def test_gate_broker_is_a_separate_command_with_host_and_port_help() -> None:
    assert {"gate", "gate broker"} <= set(app.list_commands(None))  # type: ignore[arg-type]
    shown = CliRunner().invoke(app, ["gate", "broker", "--help"]).output
    assert "HOST:PORT" in shown
    assert all(case in {each.id for each in frozen().cases} for case in CASES)
