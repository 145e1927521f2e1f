"""What a node is told, and which ports it gets."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kafka_conformance.brokers.settings import (
    HOST,
    Node,
    checked_settings,
    free_ports,
    nodes_of,
    properties,
    zookeeper_properties,
)
from kafka_conformance.core.errors import BadInput


def reported(node: Node, nodes: tuple[Node, ...], **settings: str) -> dict[str, str]:
    lines = properties(node, nodes, Path("/data/1"), settings).splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_single_kraft_node_is_broker_and_controller_and_does_not_auto_create_topics() -> None:
    node = Node(1, 21_000, 21_001)
    said = reported(node, (node,))
    assert said["process.roles"] == "broker,controller"
    assert said["listeners"] == "PLAINTEXT://127.0.0.1:21000,CONTROLLER://127.0.0.1:21001"
    assert said["controller.quorum.voters"] == "1@127.0.0.1:21001"
    assert said["offsets.topic.replication.factor"] == "1"
    assert said["auto.create.topics.enable"] == "false"
    assert said["log.dirs"] == "/data/1"


def test_only_first_of_three_nodes_is_quorum_voter_and_internal_topics_have_three_replicas() -> None:
    nodes = (Node(1, 21_000, 21_003), Node(2, 21_001), Node(3, 21_002))
    said = [reported(node, nodes) for node in nodes]
    assert [each["process.roles"] for each in said] == ["broker,controller", "broker", "broker"]
    assert {each["controller.quorum.voters"] for each in said} == {"1@127.0.0.1:21003"}
    assert said[2]["listeners"] == said[2]["advertised.listeners"] == "PLAINTEXT://127.0.0.1:21002"
    assert {each["offsets.topic.replication.factor"] for each in said} == {"3"}
    assert {each["transaction.state.log.min.isr"] for each in said} == {"2"}


def test_cluster_with_separate_controller_has_node_100_as_only_voter_besides_three_brokers() -> None:
    nodes = nodes_of(3, None, separate_controller=True)
    assert [(node.id, node.roles) for node in nodes] == [(100, "controller"), *((each, "broker") for each in (1, 2, 3))]
    said = [reported(node, nodes) for node in nodes]
    assert {each["controller.quorum.voters"] for each in said} == {f"100@127.0.0.1:{nodes[0].controller_port}"}
    assert said[0]["listeners"] == f"CONTROLLER://127.0.0.1:{nodes[0].controller_port}"
    assert "advertised.listeners" not in said[0]
    assert "inter.broker.listener.name" not in said[0]
    assert said[3]["listeners"] == said[3]["advertised.listeners"] == f"PLAINTEXT://{nodes[3].address}"
    assert {each["offsets.topic.replication.factor"] for each in said} == {"3"}
    assert len({node.port for node in nodes[1:]} | {nodes[0].controller_port}) == 4


def test_zookeeper_cluster_has_only_broker_nodes_without_kraft_settings() -> None:
    nodes = nodes_of(3, None, separate_controller=True, zookeeper=True)
    assert [(node.id, node.roles) for node in nodes] == [(each, "broker") for each in (100, 1, 2, 3)]
    for node in nodes:
        text = zookeeper_properties(node, nodes, Path("/data/1"), {"broker.rack": "a"}, 21_000)
        said = dict(line.split("=", 1) for line in text.splitlines())
        assert said["broker.id"] == str(node.id)
        assert said["zookeeper.connect"] == "127.0.0.1:21000"
        assert said["listeners"] == said["advertised.listeners"] == f"PLAINTEXT://{node.address}"
        assert said["offsets.topic.replication.factor"] == "3", "the controller has no replicas"
        assert said["broker.rack"] == "a"
        assert not {name for name in said if name.startswith(("process.", "controller.", "broker.session."))}


def test_given_broker_setting_overrides_the_default() -> None:
    node = Node(1, 21_000, 21_001)
    said = reported(node, (node,), **checked_settings({"auto.create.topics.enable": True, "log.segment.bytes": 1024}))
    assert said["auto.create.topics.enable"] == "true"
    assert said["log.segment.bytes"] == "1024"


@pytest.mark.parametrize("name", ["listeners", "log.dirs", "node.id", "controller.quorum.voters", "zookeeper.connect"])
def test_reserved_broker_setting_such_as_listeners_or_node_id_raises_bad_input(name: str) -> None:
    with pytest.raises(BadInput, match=rf"^{name} cannot be set: the kit sets it"):
        checked_settings({name: "x"})


@pytest.mark.parametrize("wrong", [{"": "1"}, {"a b": "1"}, {"a": "1\nnode.id=2"}, {"a=b": "1"}, {"#a": "1"}])
def test_broker_setting_with_invalid_name_or_newline_in_the_value_raises_bad_input(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="is not a setting of Kafka's"):
        checked_settings(wrong)


def test_free_ports_are_distinct_and_below_the_ephemeral_range() -> None:
    ports = free_ports(40)
    assert len(set(ports)) == 40
    assert all(20_000 <= port < 32_000 for port in ports)


def test_given_port_in_use_raises_bad_input_and_is_never_chosen_as_a_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(BadInput, match=rf"^port {port} of 127.0.0.1 is not available"):
            nodes_of(1, port)
        monkeypatch.setattr("kafka_conformance.brokers.settings._PORTS", range(port, port + 1))
        monkeypatch.setattr("random.SystemRandom.sample", lambda _, ports, __: list(ports) * 3)
        with pytest.raises(BadInput, match="has no 1 free ports"):
            free_ports(1)


def test_three_nodes_with_a_given_port_use_consecutive_ports() -> None:
    first = next(port for port in free_ports(20) if port < 31_990)
    nodes = nodes_of(3, first)
    assert [node.port for node in nodes] == [first, first + 1, first + 2]
    assert nodes[0].controller_port not in {None, first, first + 1, first + 2}
    assert nodes[1].controller_port is None
