"""An exception of our JVM stays ours in a process where pyspark has been at work.

pyspark puts its own reading of errors in the place of py4j's, for every gateway of the process and for good: it asks
*its* JVM what kind of exception that is. Of ours that JVM knows nothing, so what it answers is about another object or
about none; and once its session has ended, the error that arrives is an ``AssertionError`` without a word.

Errors are therefore read where the answer comes in, by py4j's own function, which pyspark leaves as it is.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import CALL_COMMAND_NAME, CONSTRUCTOR_COMMAND_NAME, get_return_value, is_error

__all__ = ["keep_errors"]


def keep_errors(gateway: Any) -> None:
    """From now on a call over ``gateway`` that ends in an exception raises py4j's ``Py4JJavaError``, whoever is loaded."""
    client = gateway._gateway_client  # noqa: SLF001  py4j gives no other way to it
    send = client.send_command

    def sent(command: str, retry: bool = True, binary: bool = False) -> Any:
        answer = send(command, retry, binary)
        if not binary and command.startswith((CALL_COMMAND_NAME, CONSTRUCTOR_COMMAND_NAME)) and is_error(answer)[0]:
            get_return_value(answer, client, *command.split("\n", 3)[1:3])
        return answer

    client.send_command = sent
