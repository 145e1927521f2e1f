"""Arguments of public functions and constructors, checked before the call: a wrong one is refused in one line.

    >>> from kafka_reference import Partition
    >>> Partition("0")
    Traceback (most recent call last):
    TypeError: id of Partition is '0': expected a Java int, -2147483648 to 2147483647

What an argument accepts follows from its annotation, narrowed where :func:`checked` is given more:

================= ====================================================================================================
``int``           an int of 64 bits, as a Java long, or as narrowed; no bool, no float; integers of NumPy, too
``bool``, ``str`` these types
enum, class       a member, an instance; the error lists the members
``X | None``      any of its parts
sequence of X     any sequence except text; its elements are checked, and the error names the first wrong one
``Mapping``       a mapping; keys and values are checked
``Draws``         a list or iterator of int32, a source of draws, or None
``str | Release`` a release: text has to name one in which the rule is proven, a Release may be any
================= ====================================================================================================

A wrong type is a TypeError, a wrong value of the right type a ValueError. The check only raises: an accepted argument
reaches the function unchanged. The check is generated as source text, as dataclasses generate their constructors, because
rules call some constructors millions of times: an argument of exactly the expected type costs one comparison of types.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from typing import Any, ForwardRef, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, overload

__all__ = [
    "ALLOCATIONS", "ANY_RELEASE", "COUNT", "INT32", "POSITIVE", "PRODUCER_SETTINGS", "SEED", "SETTINGS", "TEXT_SETTINGS",
    "Narrowed", "checked", "one_of", "proven_by",
]  # fmt: skip

T = TypeVar("T", bound=Callable[..., Any])
Names: TypeAlias = dict[str, object]
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A wrong value: what is expected, where in the argument it is, or the whole message if that says more."""

    value: object
    expected: str
    is_type: bool
    path: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What an argument accepts, as text for errors; :meth:`find` returns what is wrong with a value.

    ``quick`` returns an expression, about the variable that it is given, which is true only of accepted values; it may put
    what the expression needs into the names. ``types`` are the types of which every value is accepted.
    """

    words: str
    find: Callable[[Any], _Wrong | None]
    quick: Callable[[str, Names], str]
    types: frozenset[type] = frozenset()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """An argument that accepts less than its annotation says, in place of ``kind``, wherever in the annotation that is."""

    kind: object
    accepted: _Accepted


def _bound(names: Names, value: object) -> str:
    """Return a name for a value that an expression needs."""
    name = f"_value{len(names)}"
    names[name] = value
    return name


def _slow(find: Callable[[Any], _Wrong | None]) -> Callable[[str, Names], str]:
    return lambda variable, names: f"{_bound(names, find)}({variable}) is None"


def _between(least: int, most: int, words: str = "") -> Narrowed:
    words = words or f"an int, {least} to {most}"

    def find(value: Any) -> _Wrong | None:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            return _Wrong(value, words, is_type=True)
        try:
            number = value.__index__()
        except TypeError:  # an array of NumPy
            return _Wrong(value, words, is_type=True)
        return None if least <= number <= most else _Wrong(value, words, is_type=False)

    return Narrowed(int, _Accepted(words, find, lambda name, _: f"type({name}) is int and {least} <= {name} <= {most}"))


INT32 = _between(-(2**31), 2**31 - 1, "a Java int, -2147483648 to 2147483647")
COUNT = _between(0, 2**31 - 1)
"""A number of things, or a size in bytes."""
POSITIVE = _between(1, 2**31 - 1)
SEED = _between(-(2**63), 2**64 - 1, "an int of 64 bits")
"""64 bits, with or without a sign."""
_INT64 = _between(-(2**63), 2**63 - 1, "a Java long, an int of 64 bits")


def one_of(*texts: str) -> Narrowed:
    """Return an argument that is one of these texts; the error for another one lists them."""
    known = frozenset(texts)
    words = f"one of {', '.join(texts)}"

    def find(value: Any) -> _Wrong | None:
        return None if isinstance(value, str) and value in known else _Wrong(value, words, not isinstance(value, str))

    return Narrowed(
        str, _Accepted(words, find, lambda name, names: f"type({name}) is str and {name} in {_bound(names, known)}")
    )


_FAMILIES = ("sasl.", "ssl.")
TEXT_SETTINGS = frozenset({"acks", "client.rack", "compression.type", "transactional.id"})
"""Settings that Kafka reads from text alone: ``acks`` is "1", never 1."""
PRODUCER_SETTINGS = frozenset({
    "acks", "auto.include.jmx.reporter", "batch.size", "block.on.buffer.full", "bootstrap.resolve.timeout.ms",
    "bootstrap.servers", "buffer.memory", "buffer.memory.allocation.strategy", "client.dns.lookup", "client.id",
    "client.rack", "compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
    "config.providers", "connections.max.idle.ms", "delivery.timeout.ms", "enable.idempotence", "enable.metrics.push",
    "interceptor.classes", "internal.auto.downgrade.txn.commit", "key.serializer", "linger.ms", "max.block.ms",
    "max.in.flight.requests.per.connection", "max.request.size", "metadata.cluster.check.enable",
    "metadata.fetch.timeout.ms", "metadata.max.age.ms", "metadata.max.idle.ms",
    "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy", "metric.reporters", "metrics.num.samples",
    "metrics.recording.level", "metrics.sample.window.ms", "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms", "partitioner.class", "partitioner.ignore.keys", "partitioner.rack.aware",
    "receive.buffer.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms", "request.timeout.ms", "retries",
    "retry.backoff.max.ms", "retry.backoff.ms", "security.protocol", "security.providers", "send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms", "timeout.ms",
    "transaction.timeout.ms", "transaction.two.phase.commit.enable", "transactional.id", "value.serializer",
})  # fmt: skip
"""``ProducerConfig.configNames()`` of all releases, but for the names that begin with ``sasl.`` or ``ssl.``."""


ALLOCATIONS = one_of("full", "incremental")


def _find_setting(value: Any) -> _Wrong | None:
    if not isinstance(value, Mapping):
        return _Wrong(value, _SETTINGS_WORDS, is_type=True)
    for name, given in value.items():
        if not isinstance(name, str):
            message = f"unknown setting {name!r}: settings have Kafka's names, such as 'linger.ms'"
            return _Wrong(name, "", is_type=False, message=message)
        if name not in PRODUCER_SETTINGS and not name.startswith(_FAMILIES):
            return _Wrong(name, "", is_type=False, message=_unknown_setting(name))
        if name in TEXT_SETTINGS and given is not None:
            from kafka_reference.config_def import string

            string(name, given)  # raises as Kafka's parser does
    return None


def _unknown_setting(name: str) -> str:
    dotted = name.replace("_", ".").lower()
    if dotted in PRODUCER_SETTINGS:
        return f"unknown setting {name!r}: Kafka's name is {dotted!r}"
    near = get_close_matches(dotted, PRODUCER_SETTINGS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "Kafka's producer has none of this name; leave it out"
    return f"unknown setting {name!r}: {hint}"


def _quick_settings(name: str, names: Names) -> str:
    known, texts = _bound(names, PRODUCER_SETTINGS), _bound(names, frozenset({str, type(None)}))
    return f"type({name}) is dict and {name}.keys() <= {known} and {{*map(type, {name}.values())}} <= {texts}"


_SETTINGS_WORDS = "settings by Kafka's names, such as {'linger.ms': 5}"
SETTINGS = Narrowed(Mapping, _Accepted(_SETTINGS_WORDS, _find_setting, _quick_settings))
"""Settings of a producer. A name that Kafka's producer has in no release is refused."""
_RELEASE_WORDS = "a release: text, such as '4.4.0', or a Release"


@dataclass(frozen=True, slots=True)
class _ProvenBy(Narrowed):
    """A release in which one rule is proven."""

    rule: str


def proven_by(rule: str) -> Narrowed:
    """Narrow a release: text has to name one in which the certificate proves this rule, which covers the function."""
    return _ProvenBy("release", ANY_RELEASE.accepted, rule)


def _release(kind: type, rule: str, *, has_to_be_proven: bool) -> _Accepted:
    def find(value: Any) -> _Wrong | None:
        if isinstance(value, str) and has_to_be_proven:
            from kafka_reference import proven, releases

            instead = f"Pass parse_release({value!r}) to take it unproven"
            proven.check_proven(releases.parse_release(value), instead, rule)
        return None if isinstance(value, (str, kind)) else _Wrong(value, _RELEASE_WORDS, is_type=True)

    return _Accepted(
        _RELEASE_WORDS, find, lambda name, names: f"type({name}) is {_bound(names, kind)}", frozenset({kind})
    )


ANY_RELEASE = Narrowed("release", _Accepted(_RELEASE_WORDS, lambda _: None, lambda *_: "False"))
"""A release that need not be proven."""


def _find_draws(value: Any) -> _Wrong | None:
    words = "a list of int32, a source of draws such as SeededDraws(1), or None"
    if value is None or hasattr(value, "next"):
        return None
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return _Wrong(value, words, is_type=True)
    return _first_wrong(value, INT32.accepted) if isinstance(value, (list, tuple)) else None


def _find_key(value: Any) -> _Wrong | None:
    if value is None or isinstance(value, (bytes, bytearray, memoryview)):  # None is an answer: Java's exception
        return None
    from kafka_reference.partitioning.murmur2 import as_bytes

    as_bytes(value)  # raises, and says how to encode a text
    return None


def _quick_draws(name: str, names: Names) -> str:
    listed = f"type({name}) is tuple and {{*map(type, {name})}} <= {_bound(names, frozenset({int}))}"
    in_range = f"{-(2**31)} <= min({name}) and max({name}) < {2**31}"
    return f"{name} is None or ({listed} and (not {name} or {in_range}) or hasattr({name}, 'next'))"


_DRAWS = _Accepted("", _find_draws, _quick_draws)
_KEY = _Accepted("", _find_key, lambda name, _: f"type({name}) is bytes or {name} is None")


def _first_wrong(values: Iterable[Any], each: _Accepted) -> _Wrong | None:
    for place, value in enumerate(values):
        if (wrong := each.find(value)) is not None:
            return _Wrong(wrong.value, wrong.expected, wrong.is_type, f"[{place}]{wrong.path}", wrong.message)
    return None


def _sequence(each: _Accepted, kind: type) -> _Accepted:
    words = f"a sequence, each of it {each.words}" if each.words else "a sequence"
    is_lazy = kind not in (tuple, list)

    def find(value: Any) -> _Wrong | None:
        is_sequence = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, Mapping)
        if isinstance(value, (str, bytes, bytearray, memoryview)) or not (is_sequence or isinstance(value, Iterable)):
            return _Wrong(value, words, is_type=True)
        return _first_wrong(value, each) if is_sequence or isinstance(value, (set, frozenset)) else None

    def quick(name: str, names: Names) -> str:
        exact = f"(type({name}) is tuple or type({name}) is list)" if is_lazy else f"type({name}) is {kind.__name__}"
        every = f"{{*map(type, {name})}} <= {_bound(names, each.types)}" if each.types else _slow(find)(name, names)
        return f"{exact} and (not {name} or {every})"

    return _Accepted(words, find, quick)


def _tuple(parts: list[_Accepted]) -> _Accepted:
    words = f"a tuple of {' and '.join(one.words for one in parts)}"

    def find(value: Any) -> _Wrong | None:
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            return _Wrong(value, words, is_type=True)
        for place, (part, one) in enumerate(zip(parts, value, strict=True)):
            if (wrong := part.find(one)) is not None:
                return _Wrong(wrong.value, wrong.expected, wrong.is_type, f"[{place}]{wrong.path}", wrong.message)
        return None

    return _Accepted(words, find, _slow(find))


def _mapping(key: _Accepted, item: _Accepted) -> _Accepted:
    words = f"a mapping from {key.words or 'anything'} to {item.words or 'anything'}"

    def find(value: Any) -> _Wrong | None:
        if not isinstance(value, Mapping):
            return _Wrong(value, words, is_type=True)
        for name, one in value.items():
            if (wrong := key.find(name)) is not None:
                return wrong
            if (wrong := item.find(one)) is not None:
                return _Wrong(wrong.value, wrong.expected, wrong.is_type, f"[{name!r}]{wrong.path}", wrong.message)
        return None

    def quick(name: str, names: Names) -> str:
        if not (key.types and item.types):
            return _slow(find)(name, names)
        kinds = _bound(names, key.types), _bound(names, item.types)
        every = [
            f"{{*map(type, {one})}} <= {types}" for one, types in zip((name, f"{name}.values()"), kinds, strict=True)
        ]
        return f"type({name}) is dict and {' and '.join(every)}"

    return _Accepted(words, find, quick)


_WORDS = {bool: "True or False", str: "a str", bytes: "bytes", float: "a float"}
_ALSO: dict[type, tuple[type, ...]] = {bytes: (bytearray, memoryview), float: (int,)}


def _class(kind: type) -> _Accepted:
    if issubclass(kind, enum.Enum):
        return _enum(kind)
    if getattr(kind, "_is_protocol", False):
        return _protocol(kind)
    kinds = (kind, *_ALSO.get(kind, ()))
    refused = bool if kind is float else ()
    words = _WORDS.get(kind, f"a {kind.__name__}")
    return _simple(words, kind, lambda one: isinstance(one, kinds) and not isinstance(one, refused))


def _protocol(kind: type) -> _Accepted:
    members = [name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")]
    accepted = _simple(f"a {kind.__name__}", kind, lambda one: all(hasattr(one, name) for name in members))
    return dataclasses.replace(accepted, quick=_slow(accepted.find), types=frozenset())


def _enum(kind: type[enum.Enum]) -> _Accepted:
    words = f"a {kind.__name__}: {', '.join(one.name for one in kind)}"

    def find(value: Any) -> _Wrong | None:
        if isinstance(value, kind):
            return None
        texts = {str(value).upper(), value} if isinstance(value, str) else {value} if isinstance(value, int) else ()
        meant = next(
            (f"; did you mean {kind.__name__}.{one.name}?" for one in kind if {one.name, one.value} & {*texts}), ""
        )
        return _Wrong(value, words + meant, not isinstance(value, str))

    return _Accepted(words, find, lambda name, names: f"type({name}) is {_bound(names, kind)}", frozenset({kind}))


def _literal(values: tuple[Any, ...]) -> _Accepted:
    words = f"one of {', '.join(map(str, values))}"

    def find(value: Any) -> _Wrong | None:
        kinds = {type(one) for one in values}
        return None if type(value) in kinds and value in values else _Wrong(value, words, type(value) not in kinds)

    return _Accepted(words, find, _slow(find))


def _simple(words: str, kind: type, accepts: Callable[[Any], bool]) -> _Accepted:
    def find(value: Any) -> _Wrong | None:
        return None if accepts(value) else _Wrong(value, words, is_type=True)

    def quick(name: str, names: Names) -> str:
        if kind in _WORDS:
            return f"type({name}) is {kind.__name__}"
        return f"callable({name})" if accepts is callable else f"isinstance({name}, {_bound(names, kind)})"

    return _Accepted(words, find, quick, frozenset({kind}))


_NONE = _Accepted("None", lambda value: None if value is None else _Wrong(value, "None", is_type=True),
                  lambda name, _: f"{name} is None", frozenset({type(None)}))  # fmt: skip
_ANYTHING = _Accepted("", lambda _: None, lambda *_: "True")
_SIMPLE = {type(None): _NONE, None: _NONE, int: _INT64.accepted, object: _ANYTHING, Any: _ANYTHING}


def _any_of(parts: list[_Accepted]) -> _Accepted:
    words = " or ".join(one.words for one in parts)

    def find(value: Any) -> _Wrong | None:
        found = [one.find(value) for one in parts]
        if any(one is None for one in found):
            return None
        near = [one for one in found if one is not None and (one.path or not one.is_type)]
        if not near:
            return _Wrong(value, words, is_type=True)
        near_words = near[0].expected + (" or None" if _NONE in parts and not near[0].path else "")
        return _Wrong(near[0].value, near_words, near[0].is_type, near[0].path, near[0].message)

    def quick(name: str, names: Names) -> str:
        return " or ".join(f"({one.quick(name, names)})" for one in sorted(parts, key=lambda one: one is _NONE))

    every = all(one.types for one in parts)
    return _Accepted(words, find, quick, frozenset().union(*(one.types for one in parts)) if every else frozenset())


def _of_annotation(annotation: Any, namespace: dict[str, Any], narrowed: Narrowed | None) -> _Accepted:
    """Return what an argument with this annotation accepts."""
    text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    if isinstance(text, str):
        if text in ("Draws", "Key", "Key | None"):
            return _DRAWS if text == "Draws" else _KEY
        annotation = eval(text, namespace)  # noqa: S307  the reference's own code
    return _of_type(annotation, narrowed)


def _of_type(kind: Any, narrowed: Narrowed | None) -> _Accepted:
    if narrowed is not None and narrowed.kind in (kind, get_origin(kind)):
        return narrowed.accepted
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    return _class(kind) if get_origin(kind) is None else _of_generic(kind, narrowed)


def _of_generic(kind: Any, narrowed: Narrowed | None) -> _Accepted:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        release = [one for one in parts if getattr(one, "__name__", "") == "Release"]
        if str in parts and release:
            rule = narrowed.rule if isinstance(narrowed, _ProvenBy) else ""
            return _release(release[0], rule, has_to_be_proven=narrowed is not ANY_RELEASE)
        return _any_of([_of_type(one, narrowed) for one in parts])
    if origin is Literal:
        return _literal(parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*(_of_type(one, narrowed) for one in parts))
    if origin is tuple and parts[-1] is not Ellipsis:
        return _tuple([_of_type(one, narrowed) for one in parts])
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _sequence(_of_type(parts[0], narrowed), origin)
    return _simple("a callable", origin, callable)


@overload
def checked(decorated: T, /) -> T: ...
@overload
def checked(**narrowed: Narrowed) -> Callable[[T], T]: ...
def checked(decorated: Any = None, /, **narrowed: Narrowed) -> Any:
    """Decorate a function, or a class for its constructor and its public methods: their arguments are checked.

    ``narrowed`` are arguments, by name, that accept less than their annotation says.
    """
    if decorated is None:
        return lambda one: _decorate(one, narrowed)
    return _decorate(decorated, narrowed)


def _decorate(decorated: Any, narrowed: Mapping[str, Narrowed]) -> Any:
    if not isinstance(decorated, type):
        return _with_check(decorated, decorated.__name__, narrowed)
    for name, value in tuple(vars(decorated).items()):
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_constructor = name == "__init__" or (name == "__new__" and issubclass(decorated, tuple))
        is_public = is_constructor or name == "__call__" or not name.startswith("_")
        if is_public and isinstance(function, types.FunctionType):
            title = decorated.__name__ if is_constructor or name == "__call__" else f"{decorated.__name__}.{name}"
            made = _with_check(function, title, narrowed, decorated if is_constructor else None)
            setattr(decorated, name, type(value)(made) if value is not function else made)
    return decorated


def _with_check(function: Any, title: str, narrowed: Mapping[str, Narrowed], kind: type | None = None) -> Any:
    """Return a function of the same signature that checks its arguments, then calls ``function``.

    ``kind`` is the class of a constructor: annotations of inherited fields are resolved in the modules that declare them.
    """
    own = inspect.unwrap(function)
    # Not its __globals__: those of a NamedTuple's constructor have no built-ins.
    module = vars(sys.modules[own.__module__ if kind is None else kind.__module__])
    bases = () if kind is None else kind.__mro__[-2:0:-1]
    inherited = {name: value for base in bases for name, value in vars(sys.modules[base.__module__]).items()}
    namespace = {**inherited, **module}
    parameters = inspect.signature(own).parameters.values()
    accepted = {
        one.name: _of_annotation(one.annotation, namespace, narrowed.get(one.name))
        for one in parameters
        if one.annotation is not one.empty
    }
    names: Names = {"_function": function, "_refuse": _refuse, "_accepted": accepted, "_title": title}
    names["_set"] = object.__setattr__
    tests = [f"({one.quick(name, names)})" for name, one in accepted.items() if one is not _ANYTHING]
    if not tests:
        return function
    head, call = [], []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and "*" not in head:
            head.append("*")
        head.append(one.name if one.default is one.empty else f"{one.name}={_bound(names, one.default)}")
        call.append(f"{one.name}={one.name}" if "*" in head else one.name)
    given = ", ".join(f"'{name}': {name}" for name in accepted)
    lines = (
        f"def _make({', '.join(names)}):",
        f" def made({', '.join(head)}):",
        f"  if not ({' and '.join(tests)}): _refuse(_title, _accepted, {{{given}}})",
        *(_assignments(kind) or [f"  return _function({', '.join(call)})"]),
        " return made",
    )
    local: dict[str, Any] = {}
    exec(compile("\n".join(lines), f"<arguments of {title}>", "exec"), module, local)  # noqa: S102
    made: Any = wraps(function)(local["_make"](**names))
    made.__code__ = made.__code__.replace(co_name=own.__code__.co_name, co_qualname=own.__code__.co_qualname)
    return made


def _assignments(kind: type | None) -> list[str]:
    """Return the constructor of a dataclass that does nothing but set its fields: a call less for each object."""
    if kind is None or not dataclasses.is_dataclass(kind) or hasattr(kind, "__post_init__"):
        return []
    fields = dataclasses.fields(kind)
    if any(not one.init or one.default_factory is not dataclasses.MISSING for one in fields):
        return []
    frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return [
        f"  _set(self, '{one.name}', {one.name})" if frozen else f"  self.{one.name} = {one.name}" for one in fields
    ]


def _refuse(title: str, accepted: Mapping[str, _Accepted], given: Mapping[str, object]) -> None:
    """Raise TypeError or ValueError for the first wrong argument, if one is wrong."""
    for name, value in given.items():
        wrong = accepted[name].find(value)
        if wrong is not None:
            shown = repr(wrong.value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            raised = TypeError if wrong.is_type else ValueError
            raise raised(wrong.message or f"{name}{wrong.path} of {title} is {shown}: expected {wrong.expected}")
