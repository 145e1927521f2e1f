"""An exception in our JVM, in a process where a Spark session was once made: pyspark must not read it in its own way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_conformance.oracle.jvm import Jvm


@pytest.mark.parametrize("used", [False, True], ids=["pyspark not used", "pyspark used"])
def test_java_exception_message_is_kept_with_and_without_the_pyspark_exception_hook(
    used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j import java_gateway
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext
    from pyspark.errors.exceptions.captured import install_exception_handler

    monkeypatch.setattr(java_gateway, "get_return_value", java_gateway.get_return_value)  # put back afterwards
    if used:
        monkeypatch.setattr(SparkContext, "_jvm", None)  # as it is once the session has ended
        install_exception_handler()

    def no_number(jvm: Jvm) -> Any:
        return jvm.view.java.lang.Integer.parseInt("many")

    def no_address(jvm: Jvm) -> Any:
        return jvm.view.java.net.URI("a b")

    failing: dict[Callable[[Jvm], Any], str] = {
        no_number: 'java.lang.NumberFormatException: For input string: "many"',
        no_address: "java.net.URISyntaxException: Illegal character in path at index 1: a b",
    }
    with Jvm() as jvm:
        for calls, message in failing.items():
            with pytest.raises(Py4JJavaError) as raised:
                jvm.call(lambda calls=calls: calls(jvm))
            assert raised.value.java_exception.toString() == message
        assert jvm.call(lambda: jvm.view.java.lang.Integer.parseInt("7")) == 7
