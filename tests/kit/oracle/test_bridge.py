"""A compilation that fails is one line with file, line, message and release. The compiler here is a stand-in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.oracle.bridge import Compiler

LOG = (
    "/src/murmur2/Murmur2Rule.java:15: error: Utils cannot be resolved\n"
    "\treturn Utils.murmur2(key);\n"
    "\t       ^^^^^\n"
    '/src/murmur2/Murmur2Rule.java:20: error: Syntax error, insert ";" to complete Statement\n'
    "\treturn 1\n"
    "\t       ^\n"
)
ERROR = "/src/rule/Rule.java:{line}: error: mistake {line}\n"


class JvmWithALog:
    """Has the log of a failed compilation in place of a JVM."""

    view: Any = None

    def __init__(self, log: str) -> None:
        self._log = log

    def array(self, kind: Any, length: int) -> Any:
        raise NotImplementedError

    def call(self, work: Callable[[], Any]) -> Any:  # noqa: ARG002
        return self._log


def message(log: str, folder: Path) -> str:
    with pytest.raises(OracleFault) as raised:
        Compiler(JvmWithALog(log), [], folder).classes([], "Kafka 4.4.0", [])
    return str(raised.value)


def test_the_message_has_file_line_message_and_release(tmp_path: Path) -> None:
    assert message(LOG, tmp_path) == (
        "cannot compile the oracle's Java for Kafka 4.4.0: /src/murmur2/Murmur2Rule.java:15: Utils cannot be resolved;"
        ' /src/murmur2/Murmur2Rule.java:20: Syntax error, insert ";" to complete Statement:'
        " correct these lines, or name what this release lacks by reflection"
    )


def test_of_many_errors_the_first_three_are_shown(tmp_path: Path) -> None:
    text = message("".join(ERROR.format(line=line) for line in range(1, 9)), tmp_path)
    assert "Rule.java:3: mistake 3 (and 5 more errors): correct" in text
    assert "mistake 4" not in text


@pytest.mark.parametrize(
    ("log", "shown"), [("out of\nmemory\n", "out of memory"), ("", "the compiler printed no error")]
)
def test_a_log_of_another_form_is_shown_whole(tmp_path: Path, log: str, shown: str) -> None:
    assert f"for Kafka 4.4.0: {shown}: correct" in message(log, tmp_path)


def test_nothing_is_kept_of_a_failed_compilation(tmp_path: Path) -> None:
    message(LOG, tmp_path)
    assert list((tmp_path / "classes").iterdir()) == []
