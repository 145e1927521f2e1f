"""Why the kit could not judge: every such error, on one screen.

A disagreement is no error; it is a verdict, and exit code 1. What is here ends a run with exit code 2 and one line that
says what happened and what to do. ``kafka_jars.errors.JarError`` is the one other family that does, since the jars know
nothing of the kit.
"""

from __future__ import annotations

__all__ = ["BadInput", "BrokerLost", "JvmLost", "KitError", "NoJava", "OracleFault", "TargetLost", "WrongRelease"]


class KitError(Exception):
    """The kit could not judge. ``str()`` is the line for the user."""


class BadInput(KitError):
    """What the user gave cannot be understood: an argument, a file, a line on standard input."""


class BrokerLost(KitError):
    """A broker of ours did not start, ended by itself, or did not answer within the limit."""


class NoJava(KitError):
    """There is no Java to run, or the one that was named is not usable."""


class JvmLost(KitError):
    """Spark's JVM did not start, ended, or did not answer within the limit."""


class WrongRelease(KitError):
    """The release that was loaded is not the one that was asked for."""


class OracleFault(KitError):
    """The Java half of the bridge failed, as opposed to Kafka raising: nothing can be said about the rule."""


class TargetLost(KitError):
    """Who was to be judged cannot be asked: one word for the trouble, what happened, and what to mend."""

    def __init__(self, trouble: str, what: str, mend: str) -> None:
        super().__init__(f"{what}: {mend}")
        self.trouble, self.what, self.mend = trouble, what, mend
