"""What the compiler reports about our Java reaches the user: the file, the line, the message and the release."""

from pathlib import Path

import pytest

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.oracle import Oracle
from kafka_jars.pins import load

SOURCE = """package kafkaoracle.broken;

final class Broken {
    int hash = org.apache.kafka.common.utils.Utils.murmur3(new byte[0]);
}
"""


def test_java_compile_error_raises_oracle_fault_with_file_line_and_release(oracle: Oracle, tmp_path: Path) -> None:
    source = tmp_path / "Broken.java"
    source.write_text(SOURCE, encoding="utf-8")
    pins = load()
    compiler = Compiler(oracle.jvm, oracle.resolve(pins.compiler), tmp_path)
    with pytest.raises(OracleFault) as raised:
        compiler.jar([source], "Kafka 4.4.0", oracle.resolve(pins.jars("4.4.0")))
    assert str(raised.value) == (
        f"cannot compile the oracle's Java for Kafka 4.4.0: {source}:4: The method murmur3(byte[]) is undefined for the"
        " type Utils: correct these lines, or name what this release lacks by reflection"
    )
