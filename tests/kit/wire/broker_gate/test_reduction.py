"""Smaller cases of a difference, and the versions of a request that have it."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fake_brokers import CLOSE, SILENCE, fake_broker
from msgspec.structs import replace

from kafka_conformance.wire.broker_gate.case import BrokerCase, CaseTopic, Recorded, Step
from kafka_conformance.wire.broker_gate.reduction import Smaller, make_smaller
from kafka_conformance.wire.broker_gate.runner import BrokerTarget
from kafka_conformance.wire.client import parse_address

OFFSETS = {"replicaId": -1, "topics": []}
GROUPS = Step("DeleteGroups", 2, {"groupsNames": ["$name.g"]})
BEAT = Step("Heartbeat", 2, {"groupId": "$name.g", "generationId": 1, "memberId": "m"})
LIST = Step("ListOffsets", 4, OFFSETS)
INIT = Step("InitProducerId", 4, {"transactionalId": None, "transactionTimeoutMs": 60000}, {"pid": "producerId"})


def answer(wrong: dict[int, Any]) -> Any:
    """Answers Heartbeat with the codes of these versions, else with 0, and DeleteGroups with none."""

    def answers(api: str, version: int, _: dict[str, Any]) -> Any:
        if api == "DeleteGroups":
            return {"results": []}
        if api != "Heartbeat" or not (found := wrong.get(version)):
            return None
        return found if isinstance(found, str) else {"errorCode": found}

    return answers


def smaller(steps: list[Step], wrong: dict[int, Any], until: float = 60) -> tuple[Smaller, list[tuple[str, Any]]]:
    """Run a case at a broker that is wrong in these versions of Heartbeat, and make it smaller."""
    with fake_broker(answer({})) as right:
        target = BrokerTarget(*parse_address(right.address), 5.0, "kafka-conformance-gate-t")
        expected = target.run(BrokerCase("a/one", "", steps)).answers
        target.close()
    case = BrokerCase("a/one", "", steps, [CaseTopic()], [Recorded(("4.4.0",), expected)])
    with fake_broker(answer(wrong)) as broker:
        target = BrokerTarget(*parse_address(broker.address), 0.5, "kafka-conformance-gate-t")
        with target.prepared([case]):
            outcome = target.run(case, "4.4.0")
            assert outcome.is_failure
            difference = next(
                (each for each in outcome.differences if outcome.case.steps[each.step].api == "Heartbeat"), None
            )
            found = make_smaller(target, outcome, difference, "4.4.0", time.monotonic() + until)
        target.close()
        assert broker.topics == set()
        return found, broker.requests


def apis(found: Smaller) -> list[str]:
    return [step.api for step in found.outcome.case.steps]


def test_shrinking_removes_read_only_and_later_requests_from_differing_case() -> None:
    found, _ = smaller([LIST, BEAT, GROUPS], {2: 9})
    assert apis(found) == ["Heartbeat"]
    assert [(each.step, each.actual) for each in found.outcome.differences] == [(0, 9)]


def test_shrinking_keeps_requests_that_share_a_group_with_the_differing_request() -> None:
    found, _ = smaller([GROUPS, INIT, LIST, BEAT], {2: 9})
    assert apis(found) == ["DeleteGroups", "Heartbeat"]


def test_shrinking_keeps_request_that_binds_a_value_used_later() -> None:
    bound = replace(LIST, bind={"wait": "throttleTimeMs"})
    use = replace(BEAT, request={**BEAT.request, "generationId": "$wait"})
    found, _ = smaller([INIT, bound, LIST, use], {2: 9})
    assert [step.bind for step in found.outcome.case.steps] == [{"wait": "throttleTimeMs"}, {}]


@pytest.mark.parametrize(
    ("wrong", "versions"),
    [
        (dict.fromkeys(range(5), 9), "Heartbeat in versions 0 to 4"),
        ({2: 9, 3: 9, 4: 9}, "Heartbeat in versions 2 to 4; version 1 is answered as by Kafka"),
        ({1: 7, 2: 9}, "Heartbeat in version 2; version 1 is answered with 7; version 3 is answered as by Kafka"),
        ({1: CLOSE, 2: 9, 3: 9, 4: 9}, "Heartbeat in versions 2 to 4; version 1 ends with a closed connection"),
        ({1: 9, 2: SILENCE, 3: SILENCE, 4: SILENCE}, "Heartbeat in versions 2 to 4; version 1 is answered"),
    ],
)  # fmt: skip
def test_shrinking_reports_versions_that_show_the_difference_and_answers_of_adjacent_versions(
    wrong: dict[int, Any], versions: str
) -> None:
    found, _ = smaller([BEAT], wrong)
    assert found.versions == versions


def test_shrinking_past_the_deadline_returns_the_original_case() -> None:
    found, requests = smaller([LIST, BEAT, GROUPS], {2: 9}, until=0)
    assert (apis(found), found.versions) == (
        ["ListOffsets", "Heartbeat", "DeleteGroups"],
        "Heartbeat in version 2",
    )
    assert [api for api, _ in requests].count("DeleteGroups") == 2  # of the case, and of the end
