"""The four requests, told to a socket that has learned its answers by heart. What Kafka makes of them: tests/pipeline."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_conformance.brokers import admin
from kafka_conformance.brokers.admin import await_broker, create_topic, delete_topic, grow_topic, partitions_of
from kafka_conformance.core.errors import BadInput, BrokerLost

NAME = struct.pack(">h", 1) + b"t"
NULL = struct.pack(">h", -1)
OK, EXISTS = (struct.pack(">iih", 0, 1, 0)[:8] + NAME + struct.pack(">h", error) + NULL for error in (0, 36))


def metadata(*leaders: int, error: int = 0) -> bytes:
    """An answer about the topic ``t``: its partitions by their leaders."""
    head = (
        struct.pack(">ii", 0, 1) + struct.pack(">i", 1) + struct.pack(">h", 4) + b"host" + struct.pack(">i", 9) + NULL
    )
    head += NULL + struct.pack(">ii", 1, 1) + struct.pack(">h", error) + NAME + b"\0" + struct.pack(">i", len(leaders))
    rows = [struct.pack(">hii", 0, at, leader) + struct.pack(">ii", 1, 1) * 2 + struct.pack(">i", 0) for at, leader in
            enumerate(leaders)]  # fmt: skip
    return head + b"".join(rows)


@pytest.fixture
def broker() -> Iterator[Callable[..., tuple[str, list[bytes]]]]:
    """A broker that gives these answers, one to each connection, and what it was asked."""
    listening = socket.create_server(("127.0.0.1", 0))
    threads = []

    def answering(*answers: bytes) -> tuple[str, list[bytes]]:
        asked: list[bytes] = []

        def serve() -> None:
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    (length,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                    asked.append(connection.recv(length, socket.MSG_WAITALL))
                    whole = struct.pack(">ii", len(answer) + 4, 1) + answer
                    connection.sendall(whole[:7])
                    connection.sendall(whole[7:])

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[-1].start()
        return f"127.0.0.1:{listening.getsockname()[1]}", asked

    yield answering
    for thread in threads:
        thread.join(5)
    listening.close()


def test_topic_creation_waits_for_leaders_of_all_partitions(broker: Callable[..., tuple[str, list[bytes]]]) -> None:
    address, asked = broker(OK, metadata(error=3), metadata(1, -1), metadata(1, 1))
    create_topic(address, "t", 2, replicas=1, settings={"a": "b"})
    assert [struct.unpack(">hh", request[:4]) for request in asked] == [(19, 4), (3, 5), (3, 5), (3, 5)]
    assert b"\0\1t\0\0\0\2\0\1" in asked[0]
    assert b"\0\1a\0\1b" in asked[0]


def test_create_topic_that_exists_raises_one_line_bad_input(broker: Callable[..., tuple[str, list[bytes]]]) -> None:
    address, _ = broker(EXISTS)
    with pytest.raises(BadInput, match=r"^topic t of 2 partitions cannot be made: the topic exists already$"):
        create_topic(address, "t", 2)


def test_increasing_the_partition_count_sends_a_create_partitions_request(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    address, asked = broker(OK, metadata(1, 1, 1))
    grow_topic(address, "t", 3)
    assert struct.unpack(">hh", asked[0][:4]) == (37, 1)


def test_delete_topic_waits_until_metadata_lacks_the_topic_and_raises_bad_input_for_unknown_topic(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    address, asked = broker(struct.pack(">ii", 0, 1) + NAME + struct.pack(">h", 0), metadata(1), metadata(error=3))
    delete_topic(address, "t")
    assert [struct.unpack(">hh", request[:4]) for request in asked] == [(20, 3), (3, 5), (3, 5)], "until it is gone"
    address, _ = broker(struct.pack(">ii", 0, 1) + NAME + struct.pack(">h", 3))
    with pytest.raises(BadInput, match=r"^topic t cannot be deleted: the topic does not exist$"):
        delete_topic(address, "t")


def test_partition_leaders_are_empty_for_unknown_topic_and_other_metadata_errors_raise_broker_lost(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    address, _ = broker(metadata(2, -1, 3), metadata(error=3), metadata(error=29))
    assert partitions_of(address, "t") == {0: 2, 1: -1, 2: 3}
    assert partitions_of(address, "t") == {}
    with pytest.raises(BrokerLost, match="error 29 of topic t"):
        partitions_of(address, "t")


def test_create_topic_raises_broker_lost_if_no_leader_is_elected_in_time(
    broker: Callable[..., tuple[str, list[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "_LIMIT_S", 0.2)
    monkeypatch.setattr(admin, "_POLL_S", 0.3)
    address, _ = broker(OK, metadata(-1))
    with pytest.raises(BrokerLost, match=r"^topic t has no leader for each of its 1 partitions after 0.2 s$"):
        create_topic(address, "t", 1)


def test_create_topic_waits_until_every_reachable_broker_lists_the_topic(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        stopped = f"127.0.0.1:{unused.getsockname()[1]}"
    first, _ = broker(OK, metadata(1), metadata(1))
    with socket.create_server(("127.0.0.1", 0)) as late:
        asked = []

        def serve() -> None:
            for answer in (metadata(error=3), metadata(1)):
                connection, _ = late.accept()
                with connection:
                    asked.append(connection.recv(4096))
                    connection.sendall(struct.pack(">ii", len(answer) + 4, 1) + answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        create_topic(f"{first},{stopped},127.0.0.1:{late.getsockname()[1]}", "t", 1)
        thread.join(5)
    assert len(asked) == 2


def test_admin_request_uses_second_bootstrap_server_if_the_first_refuses(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        nobody = f"127.0.0.1:{unused.getsockname()[1]}"
    address, _ = broker(metadata(1))
    assert partitions_of(f"{nobody},{address}", "t") == {0: 1}


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1:1", "127.0.0.1:x"])
def test_admin_request_to_absent_or_malformed_broker_address_raises_broker_lost_with_the_address(address: str) -> None:
    with pytest.raises(BrokerLost, match=rf"^no broker answers at {address}: "):
        partitions_of(address, "t")


def test_broker_that_closes_the_connection_raises_broker_lost(broker: Callable[..., tuple[str, list[bytes]]]) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        connection, _ = server.accept()
        connection.recv(4096)
        connection.close()

    thread = threading.Thread(target=hang_up, daemon=True)
    thread.start()
    with pytest.raises(BrokerLost, match="it closed the connection"):
        partitions_of(f"127.0.0.1:{server.getsockname()[1]}", "t")
    thread.join(5)
    server.close()


def test_await_broker_asks_for_metadata_until_the_broker_is_listed(
    broker: Callable[..., tuple[str, list[bytes]]],
) -> None:
    address, asked = broker(struct.pack(">ii", 0, 0), struct.pack(">ii", 0, 1))
    await_broker(address)
    assert [request[:4] for request in asked] == [struct.pack(">hh", 3, 5)] * 2


def test_await_broker_raises_broker_lost_if_the_broker_is_not_listed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "_LIMIT_S", 0.0)
    monkeypatch.setattr(admin, "_ask", lambda *_: admin._Answer(struct.pack(">ii", 0, 0)))
    with pytest.raises(BrokerLost, match=r"is not registered with the controller after 0 s$"):
        await_broker("127.0.0.1:1")
