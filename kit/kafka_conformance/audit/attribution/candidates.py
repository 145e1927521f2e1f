"""Partitioners of the user: Python functions ``(key: bytes, num_partitions: int) -> int``, judged like the built-in rules.

A candidate is named ``module:function``, which is also its slug among the placements. It is imported once, where the command
runs, with the working directory on the path, and tried on a few keys. From there it travels by value (cloudpickle) with each
job, together with the modules beside it, so that a worker needs no file of the user's. A function that captures the
candidates registers them in its process first: :func:`registered` here, :func:`register` there.

A candidate is called once for each distinct key of a block. What it raises or wrongly returns for a key of the topic ends
the audit with one line.
"""

from __future__ import annotations

import hashlib
import importlib
import operator
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.relatives import RELATIVES, relative_partitions
from kafka_conformance.core.errors import BadInput, CandidateRaised
from kafka_reference.bulk import Data, Offsets

__all__ = [
    "CustomCandidate", "Function", "candidate_partitions", "find_candidate", "load_candidates", "register",
    "register_relatives", "registered",
]  # fmt: skip

Function: TypeAlias = Callable[[bytes, int], int]

COLON = ":"
TRIAL_KEYS = (b"42", b"customer-1", b"\0\0\0\7", b"\0\0\0\0\0\0\0\7", b"\xff\xfe", b"")
TRIAL_COUNTS = 1, 12
"""Partition counts of the trial, where the topic's is not known: the least, and one that 2, 3 and 4 divide."""
_SHOWN = 40
"""Bytes of a key in a message: with 40, a key, its error and the name of the function fit into a line."""


@dataclass(frozen=True, slots=True)
class CustomCandidate:
    """A function of the user's, as it travels: ``pickled`` by value, empty without Spark.

    ``version`` is the SHA-256 of its module's file, in hex. ``by_remainder``: with n partitions it chooses the remainder by
    n of what it chooses with a multiple of n, as a hash modulo n does.
    """

    name: str
    pickled: bytes
    version: str
    by_remainder: bool


_REGISTERED: dict[str, tuple[CustomCandidate, Function]] = {}
_IMPORTED: dict[str, Function] = {}
"""The functions that :func:`load_candidates` imported, by name: without Spark, they are not pickled."""


def register(candidates: Sequence[CustomCandidate]) -> None:
    """Make these the candidates of this process, in place of any others."""
    if candidates == registered():
        return
    functions = [_function(each) for each in candidates]
    _REGISTERED.clear()
    _REGISTERED.update({each.name: (each, function) for each, function in zip(candidates, functions, strict=True)})


def _function(candidate: CustomCandidate) -> Function:
    if candidate.pickled:
        return pickle.loads(candidate.pickled)  # type: ignore[no-any-return]  # noqa: S301
    return _IMPORTED.get(candidate.name, _never)


def _never(_: bytes, __: int) -> int:
    """Stand for a relative, which is computed for a column of keys."""
    raise NotImplementedError


def register_relatives(slugs: Iterable[str]) -> None:
    """Add these rules of :mod:`.relatives` to the user's candidates, in place of other relatives."""
    own = [each for each in registered() if each.name not in RELATIVES]
    register([*own, *(CustomCandidate(slug, b"", "", by_remainder=True) for slug in slugs)])


def registered() -> tuple[CustomCandidate, ...]:
    """Return the candidates of this process, in the order in which they were named."""
    return tuple(candidate for candidate, _ in _REGISTERED.values())


def find_candidate(slug: str) -> CustomCandidate | None:
    """Return the candidate of this process with this name, or None."""
    found = _REGISTERED.get(slug)
    return found and found[0]


def candidate_partitions(slug: str, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition that a candidate chooses for each key. Raises BadInput with the key that it cannot place."""
    if slug in RELATIVES:
        return relative_partitions(slug, offsets, data, count)
    _, function = _REGISTERED[slug]
    first = int(offsets[0])
    content = data[first : int(offsets[-1])].tobytes()
    ends = (np.asarray(offsets, np.int64) - first).tolist()
    chosen: dict[bytes, int] = {}
    out = np.empty(len(ends) - 1, np.int64)
    for at in range(out.size):
        key = content[ends[at] : ends[at + 1]]
        if key not in chosen:
            chosen[key] = _called(slug, function, key, count)
        out[at] = chosen[key]
    return out


def load_candidates(names: Iterable[str], partitions: int | None = None) -> tuple[CustomCandidate, ...]:
    """Import and try these candidates; ``partitions`` is the topic's partition count if it is known.

    Raises BadInput for a name that cannot be imported or called, and for a function that fails for every trial key, returns
    no partition for one, returns two for the same key, or cannot be sent to a worker.
    """
    counts = (partitions,) if partitions else TRIAL_COUNTS
    with _working_directory_on_path():
        found = {name: _imported(name) for name in names}
        for name, function in found.items():
            _try(name, function, counts)
        _IMPORTED.update(found)
        return tuple(
            CustomCandidate(name, _pickled(name, function), _version(name), _is_by_remainder(name, function))
            for name, function in found.items()
        )


@contextmanager
def _working_directory_on_path() -> Iterator[None]:
    here = str(Path.cwd())
    if here not in sys.path:  # it stays there: a function may import when it is called
        sys.path.insert(0, here)
    yield


def _imported(name: str) -> Function:
    module, colon, attribute = name.partition(COLON)
    if not (module and colon and attribute):
        raise BadInput(f"--candidate {name!r}: expected MODULE:FUNCTION, such as partitioners:by_region")
    try:
        found: Any = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise BadInput(f"--candidate {name}: {module} cannot be imported from {Path.cwd()}: {_line(error)}") from error
    for part in attribute.split("."):
        if (found := getattr(found, part, None)) is None:
            raise BadInput(f"--candidate {name}: the module {module} has no {attribute}")
    if not callable(found):
        raise BadInput(
            f"--candidate {name} is of type {type(found).__name__}: expected a function (key: bytes, num_partitions: int)"
            " -> int"
        )
    function: Function = found
    return function


def _try(name: str, function: Function, counts: Sequence[int]) -> None:
    """Call the function with a few keys. One that takes only some kinds of keys raises for the others; that is allowed."""
    raised: list[CandidateRaised] = []
    for key in TRIAL_KEYS:
        for count in counts:
            try:
                chosen = {_called(name, function, key, count) for _ in range(2)}
            except CandidateRaised as error:
                raised.append(error)
                continue
            if len(chosen) > 1:
                raise BadInput(
                    f"--candidate {name} returns {' and '.join(map(str, sorted(chosen)))} for the same key {_shown(key)}"
                    f" and {count} partitions: only a function of the key can be judged"
                )
    if len(raised) == len(TRIAL_KEYS) * len(counts):
        raise BadInput(f"{raised[0]}; it raised for every trial key")


def _called(name: str, function: Function, key: bytes, count: int) -> int:
    """Return the partition that the function chooses. Raises BadInput with the key if it chooses none."""
    asked = f"for the key {_shown(key)} and {count} partition{'s' * (count != 1)}"
    try:
        found: Any = function(key, count)
    except (Exception, SystemExit) as error:
        raise CandidateRaised(f"--candidate {name} raises {_line(error)} {asked}") from error
    if isinstance(found, bool) or not hasattr(found, "__index__"):
        raise BadInput(f"--candidate {name} returns {_clipped(repr(found))} {asked}: expected an int")
    partition = operator.index(found)
    if not 0 <= partition < count:
        raise BadInput(f"--candidate {name} returns {partition} {asked}: expected 0 to {count - 1}")
    return partition


def _pickled(name: str, function: Function) -> bytes:
    """Return the function by value, with the modules of the working directory that it may use; empty without Spark."""
    try:
        from pyspark import cloudpickle as untyped
    except ImportError:
        return b""
    cloudpickle: Any = untyped

    own = sys.modules[name.partition(COLON)[0]]
    modules = {id(module): module for module in (own, *_modules_beside()) if module.__name__ != "__main__"}
    for module in modules.values():
        cloudpickle.register_pickle_by_value(module)
    try:
        pickled: bytes = cloudpickle.dumps(function)
        pickle.loads(pickled)  # noqa: S301  it was made here
    except Exception as error:
        raise BadInput(
            f"--candidate {name} cannot be sent to Spark's workers: {_line(error)}: keep locks, files and connections out of"
            " its module's variables"
        ) from error
    finally:
        for module in modules.values():
            cloudpickle.unregister_pickle_by_value(module)
    return pickled


def _version(name: str) -> str:
    """Return the SHA-256 of the module's file in hex; empty if it has none."""
    file = getattr(sys.modules[name.partition(COLON)[0]], "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else ""


def _modules_beside() -> Iterator[ModuleType]:
    """Yield the imported modules of the working directory, without those that were installed there."""
    here = Path.cwd()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and Path(file).is_relative_to(here):
            inside = Path(file).relative_to(here).parts
            if not {"site-packages", "dist-packages"} & set(inside) and not module.__name__.startswith("kafka_"):
                yield module


def _is_by_remainder(name: str, function: Function) -> bool:
    keys = [b"%d" % (number * number) for number in range(32)]
    try:
        return all(
            _called(name, function, key, small) == _called(name, function, key, large) % small
            for key in keys
            for small, large in ((3, 12), (4, 12), (5, 20))
        )
    except BadInput:
        return False


def _shown(key: bytes) -> str:
    return repr(key) if len(key) <= _SHOWN else f"{key[:_SHOWN]!r}… ({len(key)} bytes)"


def _clipped(text: str) -> str:
    return text if len(text) <= 2 * _SHOWN else f"{text[: 2 * _SHOWN]}…"


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return _clipped(f"{type(error).__name__}: {text}" if text else type(error).__name__)
