"""Why the kit could not judge: every such error, on one screen.

A disagreement is not an error; it is a verdict, and exit code 1. An error of this module ends a run with exit code 2 and
one line: what happened and what to do. So does ``kafka_jars.errors.JarError``, the only other family, since the jars do not
import the kit.
"""

from __future__ import annotations

__all__ = [
    "BadInput", "BrokerLost", "CandidateRaised", "ConnectionClosed", "JvmLost", "KitError", "MalformedMessage", "NoJava",
    "NoResponse", "OffScript", "OracleFault", "TargetLost", "TooMuchText", "TooSlow", "WrongRelease",
]  # fmt: skip


class KitError(Exception):
    """The kit could not judge. ``str()`` is the line for the user."""


class BadInput(KitError):
    """What the user gave cannot be understood: an argument, a file, a line on standard input."""


class CandidateRaised(BadInput):
    """A user's partitioner raised an error."""


class BrokerLost(KitError):
    """A broker that the kit started did not start, ended unexpectedly, or did not answer within the limit."""


class NoResponse(BrokerLost):
    """A broker sent no whole response within the limit."""


class ConnectionClosed(BrokerLost):
    """A broker ended the connection, or none could be made."""


class TooSlow(BrokerLost):
    """The machine was too slow for a history: a session ended before an event that belongs before its end."""


class MalformedMessage(KitError):
    """Bytes that are not a message of Kafka's protocol of this name and version."""


class OffScript(KitError):
    """A client sent what a cassette does not have, or did not send what it has."""


class TooMuchText(KitError):
    """The keys and other text of an export are more than this process holds in memory."""


class NoJava(KitError):
    """No Java was found, or the one that was named is not usable."""


class JvmLost(KitError):
    """Spark's JVM did not start, ended, or did not answer within the limit."""


class WrongRelease(KitError):
    """The release that was loaded is not the one that was asked for."""


class OracleFault(KitError):
    """The Java half of the bridge failed, not Kafka: the rule is not judged."""


class TargetLost(KitError):
    """The implementation under test cannot be asked: the name of the protocol error, what happened, and a hint."""

    def __init__(self, error: str, what: str, hint: str) -> None:
        super().__init__(f"{what}: {hint}")
        self.error, self.what, self.hint = error, what, hint
