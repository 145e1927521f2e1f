"""Read ``sasl.jaas.config``: one login module with its options, as Kafka's ``JaasConfig`` reads it."""

from __future__ import annotations

import re

import msgspec

from kafka_conformance.core.errors import BadInput

__all__ = ["LoginModule", "read_jaas"]

_TOKEN = re.compile(
    r"""(?P<skipped>\s+|/\*.*?\*/|/[^\r\n]*)
    |"(?P<double>(?:\\.|[^"\\\r\n])*)(?:"|(?=[\r\n])|\Z)
    |'(?P<single>(?:\\.|[^'\\\n])*)'
    |(?P<word>[A-Za-z_$\u00a0-\U0010ffff][\w.$\-\u00a0-\U0010ffff]*)
    |(?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS = ("required", "requisite", "sufficient", "optional")


class LoginModule(msgspec.Struct, frozen=True):
    """A login module: its Java class and its options, which hold secrets."""

    name: str
    options: dict[str, str]


def read_jaas(text: str) -> LoginModule:
    """Return the one login module of an entry. Raises BadInput, which quotes nothing of the text: it holds secrets."""
    tokens = _tokens(text)
    if len(tokens) < 2 or not tokens[0][1]:
        raise _invalid("expected a login module and the flag required")
    if tokens[1][0].lower() not in _FLAGS:
        raise _invalid(f"the flag after the login module is none of {', '.join(_FLAGS)}")
    options: dict[str, str] = {}
    place = 2
    while place < len(tokens) and tokens[place] != (";", False):
        name, equals, value = (tokens[place : place + 3] + [("", False)] * 3)[:3]
        if name == ("=", False) or equals != ("=", False) or not value[1]:
            raise _invalid(f'option {len(options) + 1} is not name="value", in double quotes')
        options[name[0]] = value[0]
        place += 3
    if place >= len(tokens):
        raise _invalid("there is no semicolon at its end")
    if place + 1 < len(tokens):
        raise _invalid("expected one login module, and nothing after the first semicolon")
    return LoginModule(tokens[0][0], options)


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Return the tokens, each with whether it is a word or a quoted text."""
    tokens, place = [], 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _invalid("there is an unquoted value or an unexpected character: put values in double quotes")
        place = found.end()
        if (quoted := found["double"] if found["double"] is not None else found["single"]) is not None:
            tokens.append((_unescaped(quoted), True))
        elif found["word"] or found["sign"]:
            tokens.append((found[0], bool(found["word"])))
    return tokens


def _unescaped(quoted: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 8)) if found[1] else _ESCAPES.get(found[2], found[2])

    return re.sub(r"\\(?:([0-3]?[0-7]{1,2})|(.))", plain, quoted, flags=re.DOTALL)


def _invalid(why: str) -> BadInput:
    return BadInput(
        f"sasl.jaas.config cannot be read: {why}; an example:"
        ' org.apache.kafka.common.security.plain.PlainLoginModule required username="..." password="...";'
    )
