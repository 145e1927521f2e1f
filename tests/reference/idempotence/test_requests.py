from __future__ import annotations

import pytest

from kafka_reference.errors import NotInThisRelease
from kafka_reference.idempotence.requests import End, InFlight, Reply, Request, node_hash
from kafka_reference.releases import parse_release


def in_flight(at: str = "4.4.0", most: int = 2) -> InFlight:
    return InFlight(parse_release(at), most, 30)


def request(node: int = 0, sent_ms: int = 0, wants_answer: bool = True) -> Request:
    return Request(node, {}, sent_ms, wants_answer)


def test_so_many_in_flight_and_no_more() -> None:
    network = in_flight()
    network.send(request())
    assert network.can_send(0)
    network.send(request())
    assert not network.can_send(0)
    assert network.can_send(1)


def test_a_poll_answers_one_request_of_a_node_the_oldest() -> None:
    network = in_flight()
    first, second = request(sent_ms=0), request(sent_ms=1)
    network.send(first)
    network.send(second)
    for error in ("NONE", "NETWORK_EXCEPTION", "REQUEST_TIMED_OUT"):
        network.reply(0, Reply(error))
    assert network.poll(1) == [(first, Reply("NONE"))]
    assert network.poll(1) == [(second, Reply("NETWORK_EXCEPTION"))]
    assert network.poll(1) == []


def test_an_error_that_is_none_changes_nothing() -> None:
    network = in_flight("0.11.0.3")
    network.send(request())
    for reply in (Reply("UNKNOWN_PRODUCER_ID"), Reply("NONE", "NO_SUCH_ERROR")):
        with pytest.raises(NotInThisRelease):
            network.reply(0, reply)
    assert network.poll(0) == []


@pytest.mark.parametrize(("at", "order"), [("1.1.1", [1, 0]), ("2.0.1", [0, 1]), ("4.4.0", [0, 1])])
def test_a_lost_connection_ends_all_its_requests(at: str, order: list[int]) -> None:
    sent = [request(sent_ms=0), request(sent_ms=1)]
    network = in_flight(at)
    for one in sent:
        network.send(one)
    network.lose(0)
    assert network.poll(1) == [(sent[place], End.LOST) for place in order]
    assert network.can_send(0)


@pytest.mark.parametrize(("at", "how"), [("3.4.1", End.LOST), ("3.5.0", End.TOO_LATE)])
def test_the_oldest_request_took_too_long(at: str, how: End) -> None:
    network = in_flight(at)
    old, young = request(sent_ms=0), request(sent_ms=20)
    network.send(old)
    network.send(young)
    assert network.poll(30) == []
    assert network.poll(31) == [(old, how), (young, how)]


def test_a_request_that_wants_no_answer_ends_at_once() -> None:
    network = in_flight()
    sent = request(wants_answer=False)
    network.send(sent)
    assert network.poll(0) == [(sent, End.SENT)]


def test_hash_codes_of_nodes() -> None:
    assert [node_hash(parse_release("3.9.2"), node) for node in (0, 3)] == [1123095375, 1123187631]
    assert node_hash(parse_release("4.0.0"), 0) == (1123095375 * 31 + 1237) & 0xFFFFFFFF
