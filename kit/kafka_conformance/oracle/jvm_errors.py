"""Keep py4j's errors for the oracle's JVM in a process that also uses pyspark.

pyspark replaces py4j's conversion of errors for every gateway of the process: it asks *its own* JVM for the kind of an
exception. For an exception of the oracle's JVM the result describes another object or none; after the Spark session has
ended, the error is an ``AssertionError`` without a message.

Errors are therefore converted when the response arrives, by py4j's own function, which pyspark does not replace.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import CALL_COMMAND_NAME, CONSTRUCTOR_COMMAND_NAME, get_return_value, is_error

__all__ = ["keep_errors"]


def keep_errors(gateway: Any) -> None:
    """Make calls through ``gateway`` raise py4j's ``Py4JJavaError`` for a Java exception, even after pyspark is loaded."""
    client = gateway._gateway_client  # noqa: SLF001  py4j has no public access to it
    send = client.send_command

    def send_and_check(command: str, retry: bool = True, binary: bool = False) -> Any:
        answer = send(command, retry, binary)
        if not binary and command.startswith((CALL_COMMAND_NAME, CONSTRUCTOR_COMMAND_NAME)) and is_error(answer)[0]:
            get_return_value(answer, client, *command.split("\n", 3)[1:3])
        return answer

    client.send_command = send_and_check
