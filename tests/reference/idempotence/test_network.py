from __future__ import annotations

import pytest

from kafka_reference.errors import NotInThisRelease
from kafka_reference.idempotence.behaviour import NodeBehaviour
from kafka_reference.idempotence.network import Network, node_hash
from kafka_reference.idempotence.requests import COORDINATOR, End, Reply, Request
from kafka_reference.releases import parse_release


def network_of(at: str = "4.4.0", most: int = 2) -> Network:
    return Network(parse_release(at), most, 30)


def request(node: int = 0, sent_ms: int = 0, wants_answer: bool = True) -> Request:
    return Request(node, {}, sent_ms, wants_answer)


def test_node_accepts_requests_up_to_max_in_flight() -> None:
    network = network_of()
    network.send(request())
    assert network.can_send(0)
    network.send(request())
    assert not network.can_send(0)
    assert network.can_send(1)


def test_poll_completes_only_the_oldest_request_of_a_node() -> None:
    network = network_of()
    first, second = request(sent_ms=0), request(sent_ms=1)
    network.send(first)
    network.send(second)
    for error in ("NONE", "NETWORK_EXCEPTION", "REQUEST_TIMED_OUT"):
        network.reply(0, Reply(error))
    assert network.poll(1) == [(first, Reply("NONE"))]
    assert network.poll(1) == [(second, Reply("NETWORK_EXCEPTION"))]
    assert network.poll(1) == []


def test_reply_with_error_unknown_in_release_raises_not_in_this_release_and_is_not_queued() -> None:
    network = network_of("0.11.0.3")
    network.send(request())
    for reply in (Reply("UNKNOWN_PRODUCER_ID"), Reply("NONE", "NO_SUCH_ERROR")):
        with pytest.raises(NotInThisRelease):
            network.reply(0, reply)
    assert network.poll(0) == []


@pytest.mark.parametrize(("at", "order"), [("1.1.1", [1, 0]), ("2.0.1", [0, 1]), ("4.4.0", [0, 1])])
def test_lost_connection_ends_all_requests_of_node_and_in_reverse_order_up_to_1_1(at: str, order: list[int]) -> None:
    sent = [request(sent_ms=0), request(sent_ms=1)]
    network = network_of(at)
    for one in sent:
        network.send(one)
    network.disconnect(0)
    assert network.poll(1) == [(sent[place], End.DISCONNECTED) for place in order]
    assert network.can_send(0)


@pytest.mark.parametrize(("at", "how"), [("3.4.1", End.DISCONNECTED), ("3.5.0", End.TIMED_OUT)])
def test_timeout_of_oldest_request_ends_all_requests_of_node_as_disconnected_up_to_3_4(at: str, how: End) -> None:
    network = network_of(at)
    old, young = request(sent_ms=0), request(sent_ms=20)
    network.send(old)
    network.send(young)
    assert network.poll(30) == []
    assert network.poll(31) == [(old, how), (young, how)]


def test_request_without_expected_response_completes_at_the_next_poll() -> None:
    network = network_of()
    sent = request(wants_answer=False)
    network.send(sent)
    assert network.poll(0) == [(sent, End.SENT)]


def test_node_hash_code_includes_fenced_flag_since_4_0() -> None:
    assert [node_hash(NodeBehaviour.of("3.9.2"), node) for node in (0, 3)] == [1123095375, 1123187631]
    assert node_hash(NodeBehaviour.of("4.0.0"), 0) == (1123095375 * 31 + 1237) & 0xFFFFFFFF


def test_producer_id_requests_get_queued_replies_then_generated_ids() -> None:
    network = network_of()
    network.queue_producer_id(Reply("NONE", producer=(7, 3)))
    assert [network.request_producer_id(0).producer for _ in range(3)] == [(7, 3), (1001, 0), (1002, 0)]
    assert network.id_requests == 3
    assert [request.node for request, _ in network.poll(0)] == [COORDINATOR]
    network.begin_round()
    assert network.id_requests == 0
    with pytest.raises(NotInThisRelease):
        network.queue_producer_id(Reply("NO_SUCH_ERROR"))
