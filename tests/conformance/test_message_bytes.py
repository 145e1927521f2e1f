"""The bytes of every message and version, read and written again by the release's own generated classes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from message_values import KINDS, requests_and_responses, values

from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.wire.codec.messages import jar_codec
from kafka_jars.pins import load
from kafka_jars.store import default_store

SOURCE = Path(__file__).with_name("MessageBytes.java")


@pytest.mark.parametrize("release", ["2.4.1", "2.8.2", "3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.4.0"])
def test_java_generated_messages_read_and_write_the_bytes_of_the_codec(release: str) -> None:
    pins, store = load(), default_store()
    jars = [store.path(jar) for jar in pins.jars(release)]
    asked = [
        (message.name, version, kind, message.encode(values(message, version, kind), version).hex())
        for message in requests_and_responses(jar_codec(jars[0]))
        for version in message.versions
        for kind in KINDS
    ]
    lines = "".join(f"{name} {version} {data}\n" for name, version, _, data in asked)
    words = [find_java().program, "-Xmx400m", "-cp", os.pathsep.join(map(str, jars)), SOURCE]
    done = subprocess.run(list(map(str, words)), input=lines, capture_output=True, text=True, timeout=250, check=False)
    if "jdk.compiler" in done.stderr:
        pytest.skip("this Java has no compiler: a JDK is needed")
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(asked) > 1400
    wrong = [
        (name, version, kind, answer[:200])
        for (name, version, kind, data), answer in zip(asked, answers, strict=True)
        if answer != f"0 {data}"
    ]
    assert wrong == []
