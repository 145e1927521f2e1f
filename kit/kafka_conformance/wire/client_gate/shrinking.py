"""Make a script that shows a finding smaller: fewer faults, rounds and records, plainer keys, values and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec
import tomlkit

from kafka_conformance.wire.client_gate.script import Script

__all__ = ["as_toml", "shrunk"]

_FAULTS = ("lose_request", "lose_response", "refuse", "at_most")


def shrunk(script: Script, kind: str, run: Callable[[Script], Collection[str]], most: int) -> tuple[Script, int]:
    """Return the smallest script that was seen to have a finding of this kind, and how many runs that took.

    ``run`` runs a script and returns the kinds of its findings. At most ``most`` runs are made, in an order that depends on
    the script and their outcomes alone.
    """
    tried = {script}
    while len(tried) <= most:
        smaller = next((each for each in _smaller(script) if each not in tried), None)
        if smaller is None:
            break
        tried.add(smaller)
        if kind in run(smaller):
            script = smaller
    return script, len(tried) - 1


def _smaller(script: Script) -> Iterator[Script]:
    """Yield scripts with one thing less, those first that leave out most."""
    for name in _FAULTS:
        faults = getattr(script, name)
        for at in range(len(faults)):
            yield msgspec.structs.replace(script, **{name: (*faults[:at], *faults[at + 1 :])})
    for at in range(len(script.consume) - 1):
        yield msgspec.structs.replace(script, consume=script.consume[:at] + script.consume[at + 1 :])
    for name in ("rounds", "records") if script.is_producer else ():
        for number in dict.fromkeys((1, getattr(script, name) // 2, getattr(script, name) - 1)):
            if 0 < number < getattr(script, name):
                yield msgspec.structs.replace(script, **{name: number})
    plainer = {"keys": 0, "empty_key": False} if not script.judges_keys else {}
    for name, value in {**plainer, "partitions": 1, "value_bytes": 1}.items():
        if getattr(script, name) != value and not (name == "partitions" and script.judges_keys):
            yield msgspec.structs.replace(script, **{name: value})
    if script.settings.compression != "none":
        yield msgspec.structs.replace(script, settings=msgspec.structs.replace(script.settings, compression="none"))


def as_toml(script: Script) -> str:
    """Return a script as ``--scripts`` reads it."""
    return tomlkit.dumps({"script": [msgspec.to_builtins(script)]})
