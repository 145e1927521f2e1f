"""Cases against a server on this machine with answers of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fake_brokers import CLOSE, SILENCE, FakeBroker, fake_broker

from kafka_conformance.core.errors import BadInput, BrokerLost, KitError, MalformedMessage, NoResponse
from kafka_conformance.wire.broker_gate import runner
from kafka_conformance.wire.broker_gate.case import BrokerCase, CaseTopic, Recorded, Step, Until
from kafka_conformance.wire.broker_gate.runner import CLOSED, BrokerTarget, CaseOutcome, CaseVerdict, differences
from kafka_conformance.wire.client import parse_address

PREFIX = "kafka-conformance-gate-test"
INIT = Step("InitProducerId", 4, {"transactionalId": None, "transactionTimeoutMs": 1000}, {"pid": "producerId"})
END = Step("EndTxn", 3, {"transactionalId": "$name.t", "producerId": "$pid", "producerEpoch": 0, "committed": True})
RIGHT = {"errorCode": 0, "producerId": "$pid", "producerEpoch": 0}
ENDED = {"errorCode": 0}


def case(*steps: Step, expected: list[Any] | None = None, topics: tuple[CaseTopic, ...] = ()) -> BrokerCase:
    recorded = [] if expected is None else [Recorded(("4.4.0",), expected)]
    return BrokerCase("group/case", "title", list(steps), list(topics), recorded)


@contextmanager
def target(broker: FakeBroker, limit_s: float = 5.0) -> Iterator[BrokerTarget]:
    made = BrokerTarget(*parse_address(broker.address), limit_s, PREFIX)
    try:
        yield made
    finally:
        made.close()


def run(
    asked: BrokerCase, *answers: Any, release: str | None = "4.4.0", limit_s: float = 5.0, own_limit_s: float | None = None
) -> CaseOutcome:  # fmt: skip
    """Run a case against a broker that gives these answers to everything but ApiVersions."""
    left = list(answers)
    with (
        fake_broker(lambda api, *_: None if api == "ApiVersions" else left.pop(0)) as broker,
        target(broker, limit_s) as made,
    ):
        return made.run(asked, release, own_limit_s)


def test_broker_answers_that_differ_only_in_producer_id_give_verdict_agrees() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"producerId": 77}, {})
    assert (found.verdict, found.answers) == (CaseVerdict.AGREES, [RIGHT, ENDED])


def test_differing_answer_is_reported_with_step_path_expected_and_actual_value() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"producerId": 77}, {"errorCode": 47})
    assert found.verdict is CaseVerdict.DIFFERS
    assert found.difference is not None
    at = found.difference
    assert (at.step, at.path, at.expected, at.actual) == (1, "errorCode", 0, 47)


def test_request_without_response_within_the_limit_gives_verdict_no_answer() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"producerId": 77}, SILENCE, limit_s=0.3)
    assert (found.verdict, found.answers) == (CaseVerdict.NO_ANSWER, [RIGHT])
    assert "no answer to EndTxn" in found.why


def test_connection_closed_where_kafka_answers_gives_verdict_closed() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"producerId": 77}, CLOSE)
    assert (found.verdict, found.answers) == (CaseVerdict.CLOSED, [RIGHT, CLOSED])


def test_connection_closed_where_kafka_closes_the_connection_too_gives_verdict_agrees() -> None:
    assert run(case(INIT, END, expected=[RIGHT, CLOSED]), {"producerId": 77}, CLOSE).verdict is CaseVerdict.AGREES


def test_response_where_kafka_closes_the_connection_gives_verdict_differs() -> None:
    found = run(case(INIT, END, expected=[RIGHT, CLOSED]), {"producerId": 77}, {})
    assert (found.verdict, found.difference and found.difference.path) == (CaseVerdict.DIFFERS, "connection")


def test_difference_in_answer_before_closed_connection_gives_verdict_differs() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"errorCode": 3}, CLOSE)
    assert (found.verdict, found.difference and found.difference.step) == (CaseVerdict.DIFFERS, 0)


def test_undecodable_response_bytes_give_verdict_differs() -> None:
    found = run(case(INIT, expected=[RIGHT]), b"\x00")
    assert (found.verdict, found.difference) == (CaseVerdict.DIFFERS, None)
    assert "InitProducerIdResponse version 4 cannot be decoded" in found.why


def test_answer_without_value_needed_by_next_request_gives_verdict_differs() -> None:
    bound = Step(END.api, END.version, END.request, {"pid": "producerId"})
    found = run(case(INIT, bound, END, expected=[RIGHT, {}, ENDED]), {"producerId": 7}, {}, {})
    assert (found.verdict, found.difference and found.difference.path) == (CaseVerdict.DIFFERS, "errorCode")


def test_case_that_binds_an_absent_response_field_is_refused() -> None:
    with pytest.raises(BadInput, match=r"producerId is null"):
        run(case(Step(INIT.api, 4, INIT.request, {"pid": "nothing"}), END), {}, {}, release=None)


def test_request_answered_with_retriable_error_is_repeated_until_success() -> None:
    found = run(case(INIT, END, expected=[RIGHT, ENDED]), {"errorCode": 14}, {"producerId": 7}, {"errorCode": 51}, {})
    assert found.verdict is CaseVerdict.AGREES


def test_retriable_error_that_persists_until_the_deadline_gives_verdict_differs() -> None:
    found = run(case(INIT, expected=[RIGHT]), *[{"errorCode": 14}] * 1000, limit_s=0.1)
    assert (found.verdict, found.difference and found.difference.actual) == (CaseVerdict.DIFFERS, 14)


def test_case_with_a_shorter_limit_still_repeats_requests_until_success_or_expected_value() -> None:
    answers = {"errorCode": 14}, {"producerId": 7, "producerEpoch": 2}
    assert run(case(INIT, expected=[{**RIGHT, "producerEpoch": 2}]), *answers, limit_s=10, own_limit_s=2).verdict is (
        CaseVerdict.AGREES
    )
    step = Step(INIT.api, 4, INIT.request, until=Until("producerEpoch", 2))
    found = run(case(step), {}, *answers, release=None, limit_s=10, own_limit_s=2)
    assert found.answers[0]["producerEpoch"] == 2


def test_request_is_repeated_until_response_field_has_expected_value() -> None:
    step = Step(INIT.api, 4, INIT.request, until=Until("producerEpoch", 2))
    found = run(case(step), *({"producerEpoch": each} for each in range(5)), release=None)
    assert found.answers[0]["producerEpoch"] == 2


def test_case_with_api_version_missing_from_broker_is_not_applicable() -> None:
    with fake_broker() as broker:
        broker.versions["EndTxn"] = (0, 2)
        with target(broker) as made:
            found = made.run(case(INIT, END, expected=[RIGHT, ENDED]), "4.4.0")
    assert (found.verdict, found.why) == (CaseVerdict.NOT_APPLICABLE, "the broker has no EndTxn version 3")


def test_topics_that_a_broker_creates_after_the_request_was_given_up_are_deleted() -> None:
    late: list[str] = []
    listings = 0

    def answer(api: str, _: int, request: dict[str, Any]) -> Any:
        nonlocal listings
        if api == "CreateTopics":
            late[:] = late or [each["name"] for each in request["topics"]]
            again = any(name == "CreateTopics" for name, _ in broker.requests[:-1])
            return {"topics": [{"name": each, "errorCode": 36} for each in late]} if again else SILENCE
        if api == "Metadata" and late and request["topics"] is None:
            listings += 1
            if listings == 4:  # with ZooKeeper, brokers list a new topic after the controller has made it
                broker.topics.update(late)
        return None

    with fake_broker(answer) as broker, target(broker, 0.3) as made:
        with pytest.raises(NoResponse), made.prepared([case(INIT, topics=TOPICS)]):
            pass
        while listings < 6:
            made.topic_names()
        assert late
        assert not broker.topics


def test_topics_that_a_broker_lists_only_while_others_are_deleted_are_deleted_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "_SETUP_S", 2.0)
    late: list[str] = []

    def answer(api: str, _: int, request: dict[str, Any]) -> Any:
        if api == "CreateTopics" and not late:
            first, *others = [each["name"] for each in request["topics"]]
            late.extend(others)
            broker.topics.add(first)
            return SILENCE
        if api == "DeleteTopics":  # with ZooKeeper, topics of one request are created and listed one after the other
            broker.topics.update(late)
        return None

    with fake_broker(answer) as broker, target(broker, 0.3) as made:
        with pytest.raises(NoResponse), made.prepared([case(INIT, topics=TOPICS)]):
            pass
        assert late
        assert not broker.topics


def test_case_without_recorded_answers_of_the_release_is_not_applicable() -> None:
    found = run(case(INIT, expected=[RIGHT]), release="3.9.2")
    assert (found.verdict, found.why) == (CaseVerdict.NOT_APPLICABLE, "Kafka 3.9.2 lacks an API or a version")


def test_case_after_lost_broker_connection_is_not_run() -> None:
    with fake_broker(lambda api, *_: None if api == "ApiVersions" else CLOSE) as broker:
        made = BrokerTarget(*parse_address(broker.address), 1.0, PREFIX)
    with made_closed(made):
        first = made.run(case(INIT, expected=[RIGHT]), "4.4.0")
        second = made.run(case(INIT, expected=[RIGHT]), "4.4.0")
    assert (first.verdict, second.verdict) == (CaseVerdict.CLOSED, CaseVerdict.NOT_RUN)
    assert "no connection to" in second.why


@contextmanager
def made_closed(made: BrokerTarget) -> Iterator[None]:
    try:
        yield
    finally:
        made.close()


TOPICS = (CaseTopic(), CaseTopic("b", 3, {"cleanup.policy": "compact"}))


def test_case_topics_are_created_before_the_run_and_deleted_afterwards() -> None:
    with fake_broker() as broker, target(broker) as made:
        broker.topics.add("orders")
        with made.prepared([case(INIT, topics=TOPICS)]):
            assert broker.topics == {"orders", f"{PREFIX}-group-case", f"{PREFIX}-group-case-b"}
        assert broker.topics == {"orders"}
        (created,) = [fields["topics"] for api, fields in broker.requests if api == "CreateTopics"]
    assert [(each["numPartitions"], each["configs"]) for each in created] == [
        (1, []), (3, [{"name": "cleanup.policy", "value": "compact"}]),
    ]  # fmt: skip


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_case_topics_are_deleted_after_exception_or_keyboard_interrupt(error: type[BaseException]) -> None:
    with fake_broker() as broker, target(broker) as made:
        prepared = made.prepared([case(INIT, topics=TOPICS)])
        prepared.__enter__()
        broker.topics.add(f"{PREFIX}-made-by-metadata")
        assert not prepared.__exit__(error, error(), None)  # it is raised again
        assert broker.topics == set()


def test_topics_remaining_after_deletion_are_reported_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kafka_conformance.wire.broker_gate.runner._SETUP_S", 0.2)
    with fake_broker(lambda api, *_: {} if api == "DeleteTopics" else None) as broker, target(broker) as made:
        with made.prepared([case(INIT, topics=TOPICS)]):
            pass
        assert len(broker.topics) == 2
    assert f"topics {PREFIX}-* may be left: 2 topics are still there" in capsys.readouterr().err


def test_topic_creation_error_raises_kit_error_with_code_and_message_of_the_broker() -> None:
    def answer(api: str, _: int, request: dict[str, Any]) -> Any:
        if api != "CreateTopics":
            return None
        return {
            "topics": [{"name": each["name"], "errorCode": 44, "errorMessage": "policy"} for each in request["topics"]]
        }

    with fake_broker(answer) as broker, target(broker) as made, pytest.raises(KitError, match="error 44, policy"):
        made.prepared([case(INIT, topics=TOPICS)]).__enter__()


def test_only_default_topics_are_auto_created_by_metadata_request_if_broker_lacks_create_topics() -> None:
    with fake_broker() as broker:
        broker.versions |= {"CreateTopics": (0, -1), "DeleteTopics": (0, -1)}
        with target(broker) as made:
            assert (made.makes_topics, made.deletes_topics) == (False, False)
            assert made.lacking(case(INIT, topics=TOPICS)) == "the broker has no CreateTopics version 4"
            with made.prepared([case(INIT, topics=TOPICS[:1])]):
                assert broker.topics == {f"{PREFIX}-group-case"}


def test_coordinator_still_unavailable_at_setup_timeout_ends_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_conformance.wire.broker_gate.runner._SETUP_S", 0.1)
    with (
        fake_broker(lambda api, *_: {"errorCode": 15} if api == "FindCoordinator" else None) as broker,
        target(broker) as made,
        pytest.raises(BrokerLost, match="FindCoordinator is answered with error 15"),
    ):
        made.prepared([case(INIT)]).__enter__()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (SILENCE, "no answer to ApiVersions"),
        (CLOSE, "closed the connection on ApiVersions"),
        (b"HTTP/1.1", "cannot be decoded"),
        ({"errorCode": 58}, "answers ApiVersions with error 58"),
    ],
)
def test_server_without_valid_api_versions_response_is_refused(answer: Any, error: str) -> None:
    with fake_broker(lambda *_: answer) as broker, pytest.raises((BrokerLost, MalformedMessage), match=error):
        BrokerTarget(*parse_address(broker.address), 0.3, PREFIX)


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, []),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 4}, {"b": 3}]}, [("a[0].b", 1, 4), ("a[1].b", 2, 3)]),
        ({"a": [1]}, {"a": [1, 2]}, [("a", [1], [1, 2])]),
        ({"a": 1}, {}, [("a", 1, "absent")]),
        ({}, {"a": 1}, [("a", "absent", 1)]),
        ({"a": 0}, {"a": False}, [("a", 0, False)]),
        ({"a": None}, {"a": []}, [("a", None, [])]),
        ({"a": {}}, {"a": 5}, [("a", {}, 5)]),
    ],
)
def test_answer_differences_are_listed_with_path_expected_and_actual_value(
    expected: Any, actual: Any, found: Any
) -> None:
    assert list(differences(expected, actual)) == found


def test_topics_are_auto_created_by_metadata_request_if_create_topics_response_is_undecodable() -> None:
    with fake_broker(lambda api, *_: b"" if api == "CreateTopics" else None) as broker:
        with target(broker) as made, made.prepared([case(INIT, expected=[RIGHT], topics=[CaseTopic()])]):
            assert len(broker.topics) == 1
            assert not made.makes_topics
        assert broker.topics == set()
