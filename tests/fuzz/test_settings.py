"""Settings of a user: files of Java properties, ``sasl.jaas.config``, client settings, environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st

from kafka_conformance.brokers import client_settings, jaas
from kafka_conformance.core import java_properties
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.java_properties import read_properties
from kafka_conformance.core.submission import is_submitted
from kafka_conformance.gate.reports import writers
from kafka_conformance.gate.reports.github import in_actions
from kafka_conformance.oracle import java_home
from kafka_conformance.oracle.session import named_release
from kafka_jars.store import cache_folder

JAAS = [b'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b\\"c"; // end',
        b"x.Y optional a='1' b=\"\\101\"; /* c */", b"X required;"]  # fmt: skip
PROPERTIES = [
    b"security.protocol=SASL_SSL\nsasl.mechanism: PLAIN\nsasl.jaas.config=" + JAAS[0].replace(b"\\", b"\\\\") + b"\n",
    b"# c\n! d\na\\=b = c\\\n   d\n\\u0041\\t=\\uD83D\\uDE00\nssl.keystore.location=/nowhere\nssl.keystore.type=JKS\n",
]
HOSTILE = [
    b"\\u", b"\\u12", b"\\", b"=", b"a\\", b"\xff\xfe", b"\\uD800=\\uDFFF",
    b'x required a="\\777";', b'x required a="', b"/*",
    b"x required " + b"a=" * 5_000, b'"' * 5_000, b"/" * 5_000, b"\\\n" * 20_000, b"a" * 200_000, b"x required a='\\'",
]  # fmt: skip


def reads_properties(file: Path) -> Door:
    def read(data: bytes) -> None:
        file.write_bytes(data)
        found = read_properties("--command-config", str(file))
        repr(client_settings.librdkafka_settings(found))

    return Door(read, (BadInput,))


def reads_jaas(data: bytes) -> None:
    jaas.read_jaas(data.decode("utf-8", "surrogateescape"))


JAAS_DOOR = Door(reads_jaas, (BadInput,))


def test_fuzzed_java_properties_raise_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    inputs = arbitrary_or_mutated(PROPERTIES)
    explore(plan, reads_properties(tmp_path / "x"), inputs, 200, [*HOSTILE, *PROPERTIES])


def test_fuzzed_jaas_logins_raise_documented_errors_only(plan: FuzzPlan) -> None:
    explore(plan, JAAS_DOOR, st.one_of(arbitrary_or_mutated(JAAS), st.text().map(str.encode)), 200,
            [*HOSTILE, *JAAS])  # fmt: skip


def test_fuzzed_environment_variables_raise_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that an environment can hold: any bytes but NUL."""

    def read(value: bytes) -> None:
        text = value.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        for name in ("JAVA_HOME", "KAFKA_CONFORMANCE_CACHE", "PYSPARK_GATEWAY_PORT", "GITHUB_ACTIONS"):
            monkeypatch.setenv(name, text)
        assert in_actions({"GITHUB_ACTIONS": text}) is (text == "true")
        is_submitted()
        cache_folder()
        writers._append(tmp_path / "x" / text.strip("/.") if text else tmp_path, "")

    values = [b"", b"/", b"\xff", b"..", b"a" * 5_000, b"/dev/null", b"\n", str(tmp_path).encode(), b"~", b"a/b"]
    explore(plan, Door(read, (KitError,)), arbitrary_or_mutated(values), 100, values)


def test_fuzzed_java_home_raises_documented_errors_only(plan: FuzzPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(value: bytes) -> None:
        monkeypatch.setenv("JAVA_HOME", value.replace(b"\0", b"").decode("utf-8", "surrogateescape") or "/nowhere")
        java_home.find_java()

    explore(
        plan, Door(read, (KitError,)), st.binary(min_size=1, max_size=40), 50, [b"/", b"\xff", b"/tmp", b"a" * 5_000]
    )


def test_fuzzed_release_names_raise_documented_errors_only(plan: FuzzPlan) -> None:
    names = [b"4.4.0", b"0.10.0.1", b"3.x", b"newest", "٤.٤.٠".encode(), b"9" * 5_000 + b".0.0", b"1.2.3\n"]
    explore(plan, Door(lambda data: named_release(data.decode("utf-8", "surrogateescape")), (BadInput,)),
            arbitrary_or_mutated(names), 150, names)  # fmt: skip


def test_fuzzer_finds_bugs_planted_in_properties_and_jaas_parsers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, java_properties, "_plain", lambda text: "\\u" in text and "\\u0041" not in text)
    plant(monkeypatch, jaas, "_unescaped", lambda quoted: len(quoted) > 6)
    for door, files in ((reads_properties(tmp_path / "x"), PROPERTIES), (JAAS_DOOR, JAAS)):
        with pytest.raises(BrokenPromise, match="planted"):
            explore(FuzzPlan(shrink=False), door, arbitrary_or_mutated(files), 600)
