"""The requests and responses of a trace, decoded, in the order in which the proxy had them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kafka_conformance.core.errors import BadInput, MalformedMessage
from kafka_conformance.wire.codec.messages import ZERO_UUID, Codec, Fields
from kafka_conformance.wire.recording.addresses import decode_lenient
from kafka_conformance.wire.recording.trace import ConnectionChange, Frame, Line

__all__ = ["Closed", "Event", "Names", "Request", "Response", "decoded"]


@dataclass(eq=False)
class Request:
    """A request. ``fields`` are None where its bytes were left out, or cannot be decoded: ``fault`` says why."""

    frame: Frame
    fields: Fields | None
    fault: str = ""


@dataclass(eq=False)
class Response:
    """A response, and the request that it answers; ``fields`` as those of a request."""

    frame: Frame
    request: Request
    fields: Fields | None
    fault: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether a script kept it from the client."""
        return self.frame.fate == "lose-response"


@dataclass(eq=False)
class Closed:
    """A connection that was closed, and its requests that were not answered."""

    change: ConnectionChange
    unanswered: list[Request]


Event: TypeAlias = Request | Response | Closed


@dataclass
class Names:
    """The names of topics by their ids, and their partition counts, as Metadata and CreateTopics name them."""

    names: dict[str, str] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    """The largest partition count of each topic, which may have been deleted and created again."""

    def learn(self, response: Response) -> None:
        """Take the topics that a response names."""
        if response.frame.api not in {"Metadata", "CreateTopics"} or response.fields is None:
            return
        for topic in response.fields["topics"]:
            name, topic_id = topic.get("name"), topic.get("topicId", ZERO_UUID)
            if name and topic_id != ZERO_UUID:
                self.names[topic_id] = name
            if name and topic.get("partitions"):
                self.partitions[name] = len(topic["partitions"])
                self.most[name] = max(self.partitions[name], self.most.get(name, 0))

    def topic(self, fields: Fields) -> str:
        """Return the name of a topic in a request or response; its id if no response of the trace has named it."""
        name = fields.get("name") or fields.get("topic")
        return str(name) if name else self.names.get(fields.get("topicId", ""), str(fields.get("topicId", "")))


def decoded(lines: Iterable[Line], codec: Codec) -> Iterator[Event]:
    """Yield what happened, line by line. Raises BadInput as the lines do."""
    open_requests: dict[int, dict[int, Request]] = {}
    for line in lines:
        if isinstance(line, ConnectionChange):
            waiting = open_requests.pop(line.connection, {})
            if line.what == "closed":
                yield Closed(line, list(waiting.values()))
            continue
        waiting = open_requests.setdefault(line.connection, {})
        if line.sender == "client":
            request = Request(line, *_fields(line, codec, "client"))
            waiting[line.correlation] = request
            yield request
        else:
            answered = waiting.pop(line.correlation, None)
            if answered is None:
                answered = Request(line, None, "a response that answers no request")
            yield Response(line, answered, *_fields(line, codec, "broker"))


def _fields(frame: Frame, codec: Codec, sender: Literal["client", "broker"]) -> tuple[Fields | None, str]:
    if not frame.api:
        return None, "not a message that is known"
    if not frame.data:
        return None, ""
    try:
        if sender == "client":
            return codec.decode_request(frame.api, frame.version, frame.data), ""
        return decode_lenient(codec, frame.api, frame.version, frame.data)[2], ""
    except (MalformedMessage, BadInput) as error:
        return None, str(error)
