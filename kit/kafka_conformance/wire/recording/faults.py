"""What a script does to requests: ``lose-response Produce=3``, ``refuse Produce=3:45``, ``at-most Produce=7``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording.refusals import can_refuse

__all__ = ["Fault", "Script", "parse_faults", "parse_limits"]

Fault: TypeAlias = Literal["lose-request", "lose-response"] | int
"""A request or its response is lost, and its connection closed, as TCP does; or the error that the proxy answers with."""
Script: TypeAlias = Mapping[tuple[str, int], Fault]
"""What happens to the n-th request of an API, counted from 1."""

_MOST_ERRORS: Final = 2**15


def parse_faults(given: Mapping[str, Sequence[str]], dashes: str = "") -> dict[tuple[str, int], Fault]:
    """Parse what happens to which request: ``lose-request`` and ``lose-response`` with ``API=N``, ``refuse`` with an error.

    ``dashes`` are before the names in errors. Raises BadInput.
    """
    script: dict[tuple[str, int], Fault] = {}
    for name, texts in given.items():
        option = dashes + name
        for text in texts:
            which, _, code = text.partition(":")
            api, number = _numbered(option, which)
            if number == 0 or (api, number) in script:
                raise BadInput(f"{option} {text}: requests are counted from 1, and only one thing can happen to each")
            if name != "refuse":
                script[api, number] = "lose-request" if name == "lose-request" else "lose-response"
                if code:
                    raise BadInput(f"{option} {text}: an error code is for {dashes}refuse")
                continue
            if not code.isascii() or not code.isdigit() or not 0 < int(code) < _MOST_ERRORS:
                raise BadInput(f"{option} {text}: expected an error code of Kafka's, like Produce=3:45")
            if not can_refuse(api, shipped_codec()):
                raise BadInput(f"{option} {text}: a response of {api} has no error for the whole request")
            script[api, number] = int(code)
    return script


def parse_limits(texts: Sequence[str], dashes: str = "") -> dict[str, int]:
    """Parse the largest version of each API, ``Produce=7``. Raises BadInput."""
    return dict(_numbered(f"{dashes}at-most", text) for text in texts)


def _numbered(option: str, text: str) -> tuple[str, int]:
    """Parse ``Produce=3``. Raises BadInput."""
    api, equals, number = text.partition("=")
    apis = list(shipped_codec().apis.values())
    if not equals or not number.isascii() or not number.isdigit() or len(number) > 9:
        raise BadInput(f"{option} {text}: expected an API and a number, like Produce=3")
    if api not in apis:
        raise BadInput(f"{option} {text}: there is no API {api!r}: {did_you_mean(api, apis)}")
    return api, int(number)
