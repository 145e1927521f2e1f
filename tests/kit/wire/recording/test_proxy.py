"""The recording proxy in front of a small broker of ours, which answers what a test gives it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.errors import BadInput, KitError, MalformedMessage
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording import proxy as proxies
from kafka_conformance.wire.recording.addresses import decode_lenient
from kafka_conformance.wire.recording.exchanges import decoded
from kafka_conformance.wire.recording.judge import Judge
from kafka_conformance.wire.recording.proxy import Proxy
from kafka_conformance.wire.recording.refusals import can_refuse, refusal
from kafka_conformance.wire.recording.trace import ConnectionChange, Frame

CODEC = shipped_codec()
VERSIONS = {"Metadata": 9, "ApiVersions": 3, "Produce": 9, "SaslAuthenticate": 2, "FindCoordinator": 4}


@contextlib.contextmanager
def broker(answers: Mapping[str, Mapping[str, Any]], seen: list[bytes]) -> Iterator[int]:
    """Answer each request with the fields for its API; requests of others get no answer."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while data := received(connection):
                seen.append(data)
                api, version = CODEC.apis[int.from_bytes(data[:2])], int.from_bytes(data[2:4])
                if api in answers:
                    send(connection, CODEC.encode_response(api, version, answers[api], int.from_bytes(data[4:8])))

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(4) + data)


def received(connection: socket.socket) -> bytes:
    head = exactly(connection, 4)
    return exactly(connection, int.from_bytes(head)) if head else b""


def exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (piece := connection.recv(size - len(data))):
            return b""
        data += piece
    return data


def ask(connection: socket.socket, api: str, fields: Mapping[str, Any], correlation: int = 1) -> Any:
    """Return the fields of the response; None if the connection is closed in place of it."""
    send(connection, CODEC.encode_request(api, VERSIONS[api], fields, correlation, "app"))
    data = received(connection)
    return CODEC.decode_response(api, VERSIONS[api], data)[1] if data else None


def recorded(proxy: Proxy, client: Callable[[int], Any]) -> tuple[Any, list[Frame | ConnectionChange]]:
    """Return what a client returns that is given the proxy's port, and the lines of the trace."""

    async def run() -> Any:
        port = await proxy.listen(0)
        try:
            return await asyncio.wait_for(asyncio.to_thread(client, port), 20)
        finally:
            await proxy.close()

    found = asyncio.run(run())
    data = proxy.file.getvalue()  # type: ignore[attr-defined]
    return found, [msgspec.json.decode(line, type=Frame | ConnectionChange) for line in data.splitlines()]


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10)


def metadata(port: int) -> dict[str, Any]:
    return {"brokers": [{"nodeId": 1, "host": "localhost", "port": port, "rack": None}], "topics": []}


@pytest.mark.parametrize("turns", range(12))
def test_proxy_closed_right_after_the_client_disconnects_leaves_no_open_connection_task(turns: int) -> None:
    """The proxy is closed some turns of the event loop after the client: a writer that is left open warns, which fails."""

    async def run(port: int) -> None:
        proxy = Proxy(("127.0.0.1", port), io.BytesIO())
        _, writer = await asyncio.open_connection("127.0.0.1", await proxy.listen(0))
        while proxy.connections == 0 or not proxy.file.getvalue():  # type: ignore[attr-defined]
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        writer.close()
        for _ in range(turns):
            await asyncio.sleep(0)
        await proxy.close()
        assert not proxy._tasks

    with broker({}, []) as port:
        asyncio.run(run(port))
    gc.collect()


def test_proxy_replaces_broker_addresses_in_responses_by_own_listeners_but_not_in_the_trace() -> None:
    answers: dict[str, Any] = {"FindCoordinator": {"coordinators": [
        {"key": "a", "nodeId": -1, "host": "", "port": -1, "errorCode": 15, "errorMessage": None}]}}  # fmt: skip
    seen: list[bytes] = []
    with broker(answers, seen) as port:
        answers["Metadata"] = metadata(port)

        def client(at: int) -> tuple[Any, Any, Any]:
            with connected(at) as first:
                found = ask(first, "Metadata", {})["brokers"][0]
                not_found = ask(first, "FindCoordinator", {"coordinatorKeys": ["a"]}, 2)["coordinators"][0]
            with connected(found["port"]) as second:
                return found, not_found, ask(second, "Metadata", {})

        (found, not_found, again), lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO()), client)
    assert (found["host"], again["brokers"][0]["port"]) == ("127.0.0.1", found["port"])
    assert found["port"] != port
    assert (not_found["host"], not_found["port"]) == ("", -1)
    assert {line.broker for line in lines} == {f"127.0.0.1:{port}", f"localhost:{port}"}
    frames = [line for line in lines if isinstance(line, Frame)]
    assert [frame.data for frame in frames if frame.sender == "client"] == seen
    raw = CODEC.decode_response("Metadata", 9, frames[1].data)[1]
    assert raw["brokers"][0]["port"] == port


def test_sasl_secret_is_forwarded_but_not_written_to_trace() -> None:
    answers = {"SaslAuthenticate": {"errorCode": 0, "errorMessage": None, "authBytes": b"server-secret"}}
    seen: list[bytes] = []
    with broker(answers, seen) as port:
        file = io.BytesIO()

        def client(at: int) -> Any:
            with connected(at) as one:
                return ask(one, "SaslAuthenticate", {"authBytes": b"\0user\0password"})

        found, lines = recorded(Proxy(("127.0.0.1", port), file), client)
    assert found["authBytes"] == b"server-secret"
    assert b"\0user\0password" in seen[0]
    assert [(line.size > 0, line.data) for line in lines if isinstance(line, Frame)] == [(True, b""), (True, b"")]


def test_raw_sasl_tokens_after_handshake_version_0_are_not_written_to_trace() -> None:
    with broker({"SaslHandshake": {"errorCode": 0, "mechanisms": ["PLAIN"]}}, []) as port:

        def client(at: int) -> None:
            with connected(at) as one:
                send(one, CODEC.encode_request("SaslHandshake", 0, {"mechanism": "PLAIN"}, 1, "app"))
                received(one)
                send(one, b"\0\x03user\0password")  # read as a header, it is one of ListOffsets
                one.shutdown(socket.SHUT_WR)
                received(one)

        _, lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO()), client)
    assert not [line for line in lines if isinstance(line, Frame) and b"password" in line.data]
    assert [line.api for line in lines if isinstance(line, Frame) and line.sender == "client"] == ["SaslHandshake", ""]


@pytest.mark.parametrize(("fault", "reaches_broker"), [("lose-request", 1), ("lose-response", 2)])
def test_scripted_fault_drops_only_the_second_request_or_response(fault: Any, reaches_broker: int) -> None:
    seen: list[bytes] = []
    with broker({"Metadata": metadata(1)}, seen) as port:

        def client(at: int) -> list[bool]:
            found = []
            for _ in range(3):
                with connected(at) as one:
                    found.append(ask(one, "Metadata", {}) is not None)
            return found

        proxy = Proxy(("127.0.0.1", port), io.BytesIO(), script={("Metadata", 2): fault})
        found, lines = recorded(proxy, client)
    assert found == [True, False, True]
    assert len(seen) == reaches_broker + 1
    assert proxy.done == [("Metadata", 2)]
    assert fault in {line.fate for line in lines if isinstance(line, Frame)}
    assert "script" in {line.why for line in lines if isinstance(line, ConnectionChange)}


def test_scripted_error_is_answered_in_order_without_request_reaching_the_broker() -> None:
    seen: list[bytes] = []
    asked = {"acks": -1, "timeoutMs": 1, "topicData": [
        {"name": "orders", "partitionData": [{"index": 4, "records": b""}, {"index": 5, "records": b""}]}]}  # fmt: skip
    with broker({"Produce": {"responses": []}, "Metadata": metadata(1)}, seen) as port:

        def client(at: int) -> list[tuple[int, Any]]:
            with connected(at) as one:
                send(one, CODEC.encode_request("Produce", 9, {**asked, "acks": 0}, 1, "app"))
                for correlation in (2, 4):
                    send(one, CODEC.encode_request("Metadata", 9, {}, correlation, "app"))
                    send(one, CODEC.encode_request("Produce", 9, asked, correlation + 1, "app"))
                versions = [("Produce", 9), ("Metadata", 9), ("Produce", 9), ("Metadata", 9), ("Produce", 9)]
                return [CODEC.decode_response(*each, received(one)) for each in versions]

        proxy = Proxy(("127.0.0.1", port), io.BytesIO(), script={("Produce", 2): 45, ("Produce", 3): 6})
        found, lines = recorded(proxy, client)
    assert [correlation for correlation, _ in found] == [1, 2, 3, 4, 5]
    codes = [
        [(each["index"], each["errorCode"]) for topic in fields["responses"] for each in topic["partitionResponses"]]
        for _, fields in (found[2], found[4])
    ]
    assert codes == [[(4, 45), (5, 45)], [(4, 6), (5, 6)]]
    assert [CODEC.apis[int.from_bytes(data[:2])] for data in seen] == ["Produce", "Metadata", "Metadata"]
    fates = [line.fate for line in lines if isinstance(line, Frame) and line.sender == "broker" and line.fate]
    assert fates == ["error 45", "error 6"]


def test_client_gets_no_scripted_error_after_the_lost_response_of_an_earlier_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The response that is lost and the next request arrive while the proxy is busy: it has to end with the first."""
    passed, busy = proxies.write_frame, threading.Event()

    async def slow(*to: Any) -> bool:
        done = await passed(*to)
        busy.set()
        time.sleep(0.5)
        return done

    monkeypatch.setattr(proxies, "write_frame", slow)
    asked = {"acks": 1, "timeoutMs": 1, "topicData": []}
    with broker({"Metadata": metadata(1)}, []) as port:

        def client(at: int) -> bytes:
            with connected(at) as one:
                send(one, CODEC.encode_request("Metadata", 9, {}, 1, "app"))
                assert busy.wait(10)
                time.sleep(0.2)  # the response is there first
                send(one, CODEC.encode_request("Produce", 9, asked, 2, "app"))
                return received(one)

        proxy = Proxy(("127.0.0.1", port), io.BytesIO(), script={("Metadata", 1): "lose-response", ("Produce", 1): 19})
        found, lines = recorded(proxy, client)
    assert found == b""
    assert proxy.done[0] == ("Metadata", 1)
    assert [line.why for line in lines if isinstance(line, ConnectionChange)] == ["", "script"]


REFUSED: dict[str, dict[str, Any]] = {
    "Fetch": {"maxWaitMs": 1, "minBytes": 1, "topics": [
        {"topic": "orders", "partitions": [{"partition": 1, "fetchOffset": 0, "partitionMaxBytes": 1}]}]},
    "FindCoordinator": {"coordinatorKeys": ["g"]}, "InitProducerId": {"transactionTimeoutMs": 1},
    "Heartbeat": {"groupId": "g", "generationId": 1, "memberId": "m"},
    "ListOffsets": {"topics": [{"name": "orders", "partitions": [{"partitionIndex": 1, "timestamp": -1}]}]},
    "OffsetCommit": {"groupId": "g", "topics": [{"name": "orders", "partitions": [
        {"partitionIndex": 1, "committedOffset": 1}]}]},
    "Produce": {"acks": 1, "timeoutMs": 1, "topicData": [
        {"name": "orders", "partitionData": [{"index": 1, "records": b""}]}]},
}  # fmt: skip


def test_scripted_error_waits_for_the_earlier_response_that_is_still_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    own, arrived = Proxy.own, threading.Event()

    async def slow(proxy: Proxy, address: tuple[str, int]) -> tuple[str, int]:
        arrived.set()
        await asyncio.sleep(0.3)
        return await own(proxy, address)

    monkeypatch.setattr(Proxy, "own", slow)
    answers: dict[str, Any] = {}
    with broker(answers, []) as port:
        answers["Metadata"] = metadata(port)

        def client(at: int) -> list[int]:
            with connected(at) as connection:
                send(connection, CODEC.encode_request("Metadata", 9, {}, 1, "app"))
                assert arrived.wait(10)
                send(connection, CODEC.encode_request("FindCoordinator", 4, {"coordinatorKeys": ["a"]}, 2, "app"))
                return [int.from_bytes(received(connection)[:4]) for _ in range(2)]

        proxy = Proxy(("127.0.0.1", port), io.BytesIO(), None, {("FindCoordinator", 1): 15}, {})
        assert recorded(proxy, client)[0] == [1, 2]


@pytest.mark.parametrize("api", REFUSED)
def test_scripted_error_response_has_error_code_in_every_request_version_without_topic_ids(api: str) -> None:
    def errors(value: Any) -> list[int]:
        if isinstance(value, dict):
            return [
                found for name, each in value.items() for found in ([each] if name == "errorCode" else errors(each))
            ]
        return [found for each in value for found in errors(each)] if isinstance(value, list) else []

    assert can_refuse(api, CODEC)
    tried = 0
    for version in CODEC.message(f"{api}Request").versions:
        fields = {"key": "g"} if api == "FindCoordinator" and version < 4 else renamed(api, version)
        if fields is None:
            continue
        request = CODEC.encode_request(api, version, fields, 9, "app")
        correlation, data = refusal(api, version, request, 27, CODEC)
        assert correlation == 9
        assert 27 in errors(CODEC.decode_response(api, version, data)[1]), version
        tried += 1
    assert tried > 1


def renamed(api: str, version: int) -> Mapping[str, Any] | None:
    """Return the fields in a version that names topics; None for one with ids."""
    try:
        CODEC.encode_request(api, version, REFUSED[api], 9, "app")
    except BadInput:
        return None
    return REFUSED[api]


def test_create_topics_request_cannot_be_answered_with_a_scripted_error() -> None:
    assert not can_refuse("CreateTopics", CODEC)


def test_proxy_caps_offered_produce_version_at_the_configured_limit() -> None:
    answers: dict[str, dict[str, Any]] = {"ApiVersions": {"errorCode": 0, "apiKeys": [
        {"apiKey": 0, "minVersion": 3, "maxVersion": 13}, {"apiKey": 1, "minVersion": 4, "maxVersion": 18}]}}  # fmt: skip
    with broker(answers, []) as port:

        def client(at: int) -> Any:
            with connected(at) as one:
                return ask(one, "ApiVersions", {"clientSoftwareName": "a", "clientSoftwareVersion": "1"})

        found, _ = recorded(Proxy(("127.0.0.1", port), io.BytesIO(), most={"Produce": 8}), client)
    assert [(each["apiKey"], each["maxVersion"]) for each in found["apiKeys"]] == [(0, 8), (1, 18)]


def test_request_version_above_the_limit_of_the_proxy_is_found_as_version_not_offered() -> None:
    answers: dict[str, dict[str, Any]] = {
        "ApiVersions": {"errorCode": 0, "apiKeys": [{"apiKey": 3, "minVersion": 0, "maxVersion": 13}]}
    }
    with broker(answers, []) as port:
        answers["Metadata"] = metadata(port)

        def client(at: int) -> Any:
            with connected(at) as one:
                ask(one, "ApiVersions", {"clientSoftwareName": "a", "clientSoftwareVersion": "1"})
                return ask(one, "Metadata", {}, 2)

        _, lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO(), most={"Metadata": 8}), client)
    judge = Judge()
    judge.take(decoded(lines, CODEC))
    assert [(one.kind, one.what) for one in judge.findings] == [
        ("version-not-offered", "Metadata version 9; the broker offers 0 to 8")
    ]


def test_response_without_broker_address_is_forwarded_byte_for_byte() -> None:
    answers = {"Produce": {"responses": []}}
    with broker(answers, []) as port:

        def client(at: int) -> bytes:
            with connected(at) as one:
                send(one, CODEC.encode_request("Produce", 9, {"acks": 1, "timeoutMs": 1, "topicData": []}, 5, "app"))
                return received(one)

        found, lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO()), client)
    assert found == next(line.data for line in lines if isinstance(line, Frame) and line.sender == "broker")


@pytest.mark.parametrize("size", [-1, 2**31 - 1])
def test_frame_with_negative_or_huge_size_closes_the_connection(size: int) -> None:
    with broker({}, []) as port:

        def client(at: int) -> bytes:
            with connected(at) as one:
                one.sendall(size.to_bytes(4, signed=True))
                return one.recv(1)

        found, lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO()), client)
    assert found == b""
    assert "none of Kafka's" in [line.why for line in lines if isinstance(line, ConnectionChange)][-1]


def test_unreachable_broker_closes_client_connection_and_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def client(at: int) -> bytes:
        with connected(at) as one:
            return one.recv(1)

    found, lines = recorded(Proxy(("127.0.0.1", port), io.BytesIO()), client)
    assert found == b""
    assert (
        f"127.0.0.1:{port} cannot be reached" in [line.why for line in lines if isinstance(line, ConnectionChange)][-1]
    )
    assert f"127.0.0.1:{port} cannot be reached" in capsys.readouterr().err


def test_full_disk_ends_the_trace_recording_with_error() -> None:
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

    async def run() -> None:
        proxy = Proxy(("127.0.0.1", 1), Full())
        port = await proxy.listen(0)
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await asyncio.wait_for(proxy.failed(), 10)
        finally:
            await proxy.close()

    with pytest.raises(KitError, match="the trace cannot be written: No space left on device"):
        asyncio.run(run())


def test_proxy_listen_port_in_use_is_refused_with_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KitError, match=f"127.0.0.1:{port} cannot be listened on"):
            asyncio.run(Proxy(("127.0.0.1", 1), io.BytesIO()).listen(port))


@pytest.mark.parametrize("version", [0, 3])
def test_lenient_decoding_accepts_padded_version_0_api_versions_response_but_no_malformed_metadata(
    version: int,
) -> None:
    offered = {"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 2}]}
    data = CODEC.encode_response("ApiVersions", 0, offered, 7) + b"\x00" * version
    found = decode_lenient(CODEC, "ApiVersions", version, data)
    assert (found[0], found[1], found[2]["apiKeys"]) == (0, 7, offered["apiKeys"])
    with pytest.raises(MalformedMessage):
        decode_lenient(CODEC, "Metadata", 9, b"\x00")
