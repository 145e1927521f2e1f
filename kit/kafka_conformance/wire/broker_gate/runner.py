"""Run cases against a broker, one request at a time, and say what became of each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, BrokerLost, ConnectionClosed, KitError, MalformedMessage, NoResponse
from kafka_conformance.core.notices import warn
from kafka_conformance.wire.broker_gate.case import BrokerCase, CaseTopic, Step
from kafka_conformance.wire.broker_gate.variables import Variables, value_at
from kafka_conformance.wire.client import Connection
from kafka_conformance.wire.codec.messages import error_codes, shipped_codec

__all__ = ["ABSENT", "CLOSED", "PREFIX", "BrokerTarget", "CaseOutcome", "CaseVerdict", "Difference", "differences"]

PREFIX = "kafka-conformance-gate-"
"""What the names of the gate's topics, groups and transactional ids begin with."""

CLOSED = {"connection": "closed"}
"""Stands for the answer of a broker that closes the connection: Kafka does so on some requests."""

ABSENT = "absent"
"""Stands for a field that one of two answers lacks."""

_PASSING = frozenset({14, 15, 16, 51})
"""Errors that pass: the coordinator is loading, absent or not here so far; a transaction is being completed."""
_SEEMS_ONGOING = 19
"""What Produce in a transaction is answered with in place of 51 in 3.6 to 3.9: not enough replicas (KIP-890)."""
_POLL_S = 0.005
_AT_ONCE = 50
_COUNTING = frozenset(
    {"Metadata", "CreateTopics", "CreatePartitions", "DescribeTopicPartitions", "ConsumerGroupHeartbeat"}
)
"""The requests whose answers depend on how many partitions a topic has."""
_RESERVE = 0.2
"""The part of a case's time in which no request is repeated: the last answer counts, and the next requests need time."""
_SETUP_S = 30.0
_BEFORE_MS = 3_600_000
"""How long before the run the times in records are: retention does not reach them, and none is a broker's own."""
_TOPIC_EXISTS = 36
_GROUP, _TRANSACTION = 0, 1
_ADMIN = {"Metadata": 5, "CreateTopics": 4, "DeleteTopics": 3, "ListOffsets": 2, "FindCoordinator": 2, "DeleteGroups": 1,
          "InitProducerId": 1}  # fmt: skip
"""The versions of the requests that set a run up, which most brokers have."""
_WITH_IDS = 12
"""The version of Metadata that returns topics' ids for names."""


class CaseVerdict(Enum):
    """What became of a case."""

    AGREES = "agrees"
    DIFFERS = "differs"
    HARMLESS = "differs, harmless"
    NO_ANSWER = "no answer"
    CLOSED = "connection closed"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference: in the answer to which step, at which path, and both values."""

    step: int
    path: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """A case's verdict, why, the answers as compared and as received, and all differences, the first one first."""

    case: BrokerCase
    verdict: CaseVerdict
    why: str = ""
    answers: list[Any] = field(default_factory=list)
    raw: list[Any] = field(default_factory=list)
    differences: tuple[Difference, ...] = ()

    @property
    def difference(self) -> Difference | None:
        """The first difference."""
        return self.differences[0] if self.differences else None

    @property
    def is_failure(self) -> bool:
        """Whether the broker does not behave as Kafka does."""
        return self.verdict in {CaseVerdict.DIFFERS, CaseVerdict.NO_ANSWER, CaseVerdict.CLOSED}


class BrokerTarget:
    """A broker under test: one connection, made again after a case that ended it.

    ``limit_s`` is for each case as a whole. Names of topics, groups and transactions begin with ``prefix``. Raises
    BrokerLost and MalformedMessage if the broker does not answer as Kafka.
    """

    def __init__(self, host: str, port: int, limit_s: float, prefix: str) -> None:
        self._address, self._limit_s, self._prefix = (host, port), limit_s, prefix
        self._connection = Connection(host, port, limit_s)
        try:
            self._versions = self._connection.versions()
        except KitError:
            self._connection.close()
            raise
        self._ids: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._lost = ""
        self._groups: list[str] = []
        self._garbled = False
        """Whether an answer to CreateTopics could not be decoded."""
        self._unanswered: list[dict[str, Any]] = []
        """The topics of a CreateTopics request without an answer: the broker may still create them."""

    @property
    def makes_topics(self) -> bool:
        """Whether the broker has CreateTopics; else topics are made by asking for their metadata."""
        return self._has("CreateTopics", _ADMIN["CreateTopics"]) and not self._garbled

    @property
    def deletes_topics(self) -> bool:
        """Whether the broker has DeleteTopics."""
        return self._has("DeleteTopics", _ADMIN["DeleteTopics"])

    def partition_count(self, case: BrokerCase) -> int:
        """Return how many partitions the topic of a case has: a broker without CreateTopics makes as many as it likes."""
        (topic,) = case.topics
        return self._counts.get(self._topic(case, topic), topic.partitions)

    def broker_count(self) -> int:
        """Return how many brokers the cluster has."""
        return len(self._admin("Metadata", {"topics": [], "allowAutoTopicCreation": False})["brokers"])

    def topic_names(self) -> list[str]:
        """Return the names of all topics that are not internal."""
        found = self._admin("Metadata", {"topics": None, "allowAutoTopicCreation": False})["topics"]
        return sorted(each["name"] for each in found if not each["isInternal"] and not each["name"].startswith("__"))

    def versions_of(self, api: str) -> range:
        """Return the versions of an API that both the broker and the schemas have."""
        found = self._versions.get(shipped_codec().api_key(api), range(0))
        valid = shipped_codec().message(f"{api}Request").versions
        return range(max(found.start, valid.start), min(found.stop, valid.stop))

    def applies(self, case: BrokerCase, release: str | None = None) -> bool:
        """Return whether the broker and a release have all APIs and versions of a case. If not, it gets no topics."""
        return not self._lacking_version(case) and (release is None or case.answers_of(release) is not None)

    def lacking(self, case: BrokerCase, release: str | None = None) -> str:
        """Return the first thing that a case needs and the broker lacks, or the release; empty if both have all."""
        if version := self._lacking_version(case):
            return f"the broker has no {version}"
        if not self.applies(case, release):
            return f"Kafka {release} lacks an API or a version"
        if not self.makes_topics and not self._has_such_topics(case):
            return f"the broker has no CreateTopics version {_ADMIN['CreateTopics']}"
        if case.names_topic_ids and not all(self._ids.get(self._topic(case, topic)) for topic in case.topics):
            return f"the broker has no topic id in Metadata version {_WITH_IDS}"
        return ""

    def _lacking_version(self, case: BrokerCase) -> str:
        """Return the first API and version of a case that the broker lacks; empty if it has all."""
        missing = (step for step in case.steps if not self._has(step.api, step.version))
        return next((f"{step.api} version {step.version}" for step in missing), "")

    @contextlib.contextmanager
    def prepared(self, cases: Sequence[BrokerCase]) -> Iterator[None]:
        """Make the topics of these cases and wait for coordinators; delete all at the end of the block. Raises KitError."""
        try:
            self.make(cases)
            self._await_coordinators()
            yield
        except KeyboardInterrupt:
            interrupts.acknowledge()  # else it would be raised again while topics are deleted
            raise
        finally:
            try:
                self._delete(self._groups)
            except KitError as error:
                warn(f"topics {self._prefix}-* may be left: {error}")

    def make(self, cases: Sequence[BrokerCase]) -> None:
        """Make the topics of these cases, within :meth:`prepared`. Raises KitError."""
        wanted = {self._topic(case, topic): topic for case in cases for topic in case.topics}
        self._groups += [f"{self.token(case)}-g" for case in cases]
        for at in range(0, len(wanted), _AT_ONCE):
            some = dict(list(wanted.items())[at : at + _AT_ONCE])
            if self.makes_topics:
                self._create(some)
            if not self.makes_topics:
                self._let_create(list(some))
            self._await_leaders({name: self._counts.get(name, topic.partitions) for name, topic in some.items()})

    def run(self, case: BrokerCase, release: str | None = None, limit_s: float | None = None) -> CaseOutcome:
        """Run a case, and compare its answers with those of a release; without one, answers are compared with nothing.

        ``limit_s`` is for all of it, in place of the limit for each case.
        """
        if why := self._lost:
            return CaseOutcome(case, CaseVerdict.NOT_RUN, why)
        if why := self.lacking(case, release):
            return CaseOutcome(case, CaseVerdict.NOT_APPLICABLE, why)
        expected = None if release is None else case.answers_of(release)
        limit_s = limit_s or self._limit_s
        variables, until = self._variables(case), time.monotonic() + limit_s
        repeat_until = until - _RESERVE * limit_s
        answers: list[Any] = []
        raw: list[Any] = []
        try:
            for step in case.steps:
                answer = self._answer(step, variables, until, repeat_until)
                raw.append(answer)
                for name, path in step.bind.items():
                    variables.bind(name, value_at(answer, path))
                answers.append(variables.normalised(answer))
        except NoResponse as error:
            return self._ended(case, CaseVerdict.NO_ANSWER, error, answers, raw, expected)
        except ConnectionClosed as error:
            answers.append(CLOSED)
            return self._ended(case, CaseVerdict.CLOSED, error, answers, raw, expected)
        except MalformedMessage as error:
            return self._ended(case, CaseVerdict.DIFFERS, error, answers, raw, expected)
        except BadInput:
            found = _compared(case, answers, raw, expected)
            if found.difference is None:
                raise
            return found  # an answer lacks a value that this request needs
        return _compared(case, answers, raw, expected)

    def _variables(self, case: BrokerCase) -> Variables:
        """Return the names and times of a case, and the ids of its topics."""
        made = Variables(self.token(case), int(time.time() * 1000) - _BEFORE_MS)
        for topic in case.topics:
            if found := self._ids.get(self._topic(case, topic)):
                made.bind(f"id.{topic.name}" if topic.name else "id", found)
        return made

    def _has_such_topics(self, case: BrokerCase) -> bool:
        """Return whether topics that the broker has made by itself are as good as those of a case.

        They may have more partitions, where no request shows the number.
        """
        counts = [(self._counts.get(self._topic(case, topic), 0), topic) for topic in case.topics]
        exact = any(step.api in _COUNTING for step in case.steps)
        return not any(
            topic.settings or count < topic.partitions or (exact and count != topic.partitions)
            for count, topic in counts
        )

    def _topic(self, case: BrokerCase, topic: CaseTopic) -> str:
        return Variables(self.token(case), 0).topic(topic.name)

    def token(self, case: BrokerCase) -> str:
        """Return what the names of a case begin with."""
        return f"{self._prefix}-{case.id.replace('/', '-')}"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _ended(self, case: BrokerCase, verdict: CaseVerdict, error: KitError, answers: list[Any], raw: list[Any],
               expected: list[Any] | None) -> CaseOutcome:  # fmt: skip
        """Return the outcome of a case that ended midway, unless an earlier answer differs, and connect again."""
        self._connect_again()
        found = _compared(case, answers, raw, expected)
        closed = answers[-1:] == [CLOSED]
        if found.difference is not None and not (closed and found.difference.step == len(answers) - 1):
            return found
        if closed and found.difference is None:
            return found  # Kafka closes the connection as well
        return CaseOutcome(case, verdict, str(error), answers, raw, found.differences)

    def _connect_again(self) -> None:
        self._connection.close()
        try:
            self._connection = Connection(*self._address, self._limit_s)
        except BrokerLost as error:
            self._lost = str(error)

    def _answer(self, step: Step, variables: Variables, until: float, repeat_until: float) -> Any:
        """Ask one step, again while the broker is not ready or what is waited for has not come."""
        request = variables.filled(step.request)
        while True:
            answer = self._connection.ask(step.api, step.version, request, until=until, is_answered=step.is_answered)
            if step.until is not None:
                waits = variables.normalised(value_at(answer, step.until.path)) != step.until.value
            else:
                passing = _PASSING | {_SEEMS_ONGOING} if request.get("transactionalId") else _PASSING
                waits = not passing.isdisjoint(error_codes(answer))
            if not waits or time.monotonic() >= repeat_until:
                return answer
            time.sleep(_POLL_S)

    def _create(self, topics: dict[str, Any]) -> None:
        asked = [
            {"name": name, "numPartitions": topic.partitions, "replicationFactor": 1, "assignments": [],
             "configs": [{"name": key, "value": value} for key, value in topic.settings.items()]}
            for name, topic in topics.items()
        ]  # fmt: skip
        self._unanswered = asked
        try:
            found = self._admin("CreateTopics", {"topics": asked, "timeoutMs": int(_SETUP_S * 1000)})["topics"]
        except MalformedMessage as error:
            self._unanswered = []
            warn(f"{error}: topics are created by Metadata, and cases that need more do not apply")
            self._garbled = True
            self._connect_again()
            return
        self._unanswered = []
        for each in found:
            if code := each["errorCode"]:
                raise KitError(f"topic {each['name']} cannot be created: error {code}, {each['errorMessage']}")

    def _let_create(self, names: Sequence[str]) -> None:
        """Let the broker create topics, with as many partitions as it likes. Raises KitError if it does not."""
        request = {"topics": [{"name": name} for name in names], "allowAutoTopicCreation": True}
        self._await("the broker creates no topics", "Metadata", request)
        for each in self._admin("Metadata", request)["topics"]:
            self._counts[each["name"]] = len(each["partitions"])

    def _await_leaders(self, partitions: dict[str, int]) -> None:
        """Wait until every partition can be read, and note the topics' ids. Raises BrokerLost."""
        asked = [
            {"name": name, "partitions": [{"partitionIndex": each, "timestamp": -1} for each in range(count)]}
            for name, count in partitions.items()
        ]
        self._await("new topics cannot be read", "ListOffsets", {"replicaId": -1, "topics": asked})
        if self._has("Metadata", _WITH_IDS):
            request = {"topics": [{"name": name} for name in partitions], "allowAutoTopicCreation": False}
            with contextlib.suppress(MalformedMessage):  # a case of Metadata shows it
                for each in self._connection.ask("Metadata", _WITH_IDS, request)["topics"]:
                    self._ids[each["name"]] = each["topicId"]

    def _await_coordinators(self) -> None:
        """Wait until groups and transactions have coordinators, which make topics for themselves. Raises BrokerLost."""
        name = f"{self._prefix}-setup"
        for kind in (_GROUP, _TRANSACTION):
            if self._has("FindCoordinator", _ADMIN["FindCoordinator"]):
                self._await("there is no coordinator", "FindCoordinator", {"key": name, "keyType": kind})
        if self._has("InitProducerId", _ADMIN["InitProducerId"]):
            for transaction in (None, name):
                request = {"transactionalId": transaction, "transactionTimeoutMs": 60_000}
                self._await("there are no producer ids", "InitProducerId", request)

    def _await(self, problem: str, api: str, request: dict[str, Any]) -> None:
        limit = time.monotonic() + _SETUP_S
        while codes := set(error_codes(self._admin(api, request))):
            if time.monotonic() >= limit:
                raise BrokerLost(f"{problem} after {_SETUP_S:g} s: {api} is answered with error {min(codes)}")
            time.sleep(_POLL_S)

    def _delete(self, groups: Sequence[str]) -> None:
        """Delete what was made, over a new connection: the old one may be waiting for an answer. Raises BrokerLost."""
        self._connection.close()
        self._connection = Connection(*self._address, _SETUP_S)
        if self._has("DeleteGroups", _ADMIN["DeleteGroups"]):
            self._admin("DeleteGroups", {"groupsNames": list(groups)})
        if not self.deletes_topics:
            return
        self._delete_topics()
        if self._unanswered:
            self._await_created()
            self._delete_topics()

    def _await_created(self) -> None:
        """Request the topics of an unanswered CreateTopics again, and wait until all are listed. Raises KitError.

        The request may have been given up, as after Ctrl-C, before the broker lists what it creates: then they could not be
        deleted, and would be left. Error 36 is a topic that exists.
        """
        request = {"topics": self._unanswered, "timeoutMs": int(_SETUP_S * 1000)}
        found = self._admin("CreateTopics", request)["topics"]
        wanted = {each["name"] for each in found if each["errorCode"] in {0, _TOPIC_EXISTS}}
        limit = time.monotonic() + _SETUP_S
        while missing := wanted.difference(self._own_topics()):
            if time.monotonic() >= limit:
                raise KitError(f"{len(missing):,} topics are not listed {_SETUP_S:g} s after CreateTopics")
            time.sleep(_POLL_S)

    def _delete_topics(self) -> None:
        """Delete the run's topics until none is listed: some may be listed only while others are deleted.

        A broker knows of a deletion later than the controller, so a topic may be named twice. Raises KitError if their
        number does not fall any more.
        """
        fewest, limit = 0, 0.0
        while topics := self._own_topics():
            if not fewest or len(topics) < fewest:
                fewest, limit = len(topics), time.monotonic() + _SETUP_S
            elif time.monotonic() >= limit:
                raise KitError(f"{len(topics):,} topics are still there {_SETUP_S:g} s after DeleteTopics")
            for at in range(0, len(topics), _AT_ONCE):
                names = topics[at : at + _AT_ONCE]
                self._admin("DeleteTopics", {"topicNames": list(names), "timeoutMs": int(_SETUP_S * 1000)})
            time.sleep(_POLL_S)

    def _own_topics(self) -> list[str]:
        return [name for name in self.topic_names() if name.startswith(self._prefix)]

    def _admin(self, api: str, request: dict[str, Any]) -> Any:
        version = _ADMIN[api]
        if not self._has(api, version):
            raise BadInput(f"the broker has no {api} version {version}, which the gate needs to set up its cases")
        return self._connection.ask(api, version, request)

    def _has(self, api: str, version: int) -> bool:
        return version in self._versions.get(shipped_codec().api_key(api), ())


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each difference of two answers, and both values.

    Lists of other lengths are one difference, and lists of plain values, such as numbers of partitions.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            below = f"{path}.{name}" if path else name
            if name in expected and name in actual:
                yield from differences(expected[name], actual[name], below)
            else:
                yield below, expected.get(name, ABSENT), actual.get(name, ABSENT)
    elif isinstance(expected, list) and isinstance(actual, list) and _is_of_parts(expected, actual):
        for at, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(one, other, f"{path}[{at}]")
    elif type(expected) is not type(actual) or expected != actual:
        yield path, expected, actual


def _is_of_parts(expected: list[Any], actual: list[Any]) -> bool:
    return len(expected) == len(actual) and all(isinstance(each, dict | list) for each in (*expected, *actual))


def _compared(case: BrokerCase, answers: list[Any], raw: list[Any], expected: list[Any] | None) -> CaseOutcome:
    """Compare the answers that there are."""
    found = tuple(
        Difference(at, *each)
        for at, (one, other) in enumerate(zip(expected or (), answers, strict=False))
        for each in differences(one, other)
    )
    return CaseOutcome(case, CaseVerdict.DIFFERS if found else CaseVerdict.AGREES, "", answers, raw, found)
