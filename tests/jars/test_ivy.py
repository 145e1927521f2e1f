"""What Ivy says when it brings nothing, told apart. The texts are Ivy 2.5's own, from Spark 4.0's JVM, shortened."""

from __future__ import annotations

import ssl
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from kafka_jars.errors import JarNotPublished, JarUnavailable
from kafka_jars.ivy import Ivy

CLIENTS = "org.apache.kafka:kafka-clients:9.9.9"
TRIED = """\
\t\tmodule not found: org.apache.kafka#kafka-clients;9.9.9

\t==== local-ivy-cache: tried

\t  /tmp/room/local/org.apache.kafka/kafka-clients/9.9.9/ivys/ivy.xml

\t==== central: tried

\t  https://first.test/maven2/org/apache/kafka/kafka-clients/9.9.9/kafka-clients-9.9.9.pom

\t  -- artifact org.apache.kafka#kafka-clients;9.9.9!kafka-clients.jar:

\t  https://first.test/maven2/org/apache/kafka/kafka-clients/9.9.9/kafka-clients-9.9.9.jar

\t==== spark-packages: tried

\t  https://second.test/org/apache/kafka/kafka-clients/9.9.9/kafka-clients-9.9.9.pom
"""
REFUSED = """\
\tServer access error at url https://first.test/maven2/org/apache/kafka/x.pom (java.net.ConnectException: refused)

\tServer access error at url https://second.test/org/apache/kafka/x.pom (java.net.ConnectException: refused)
"""
NO_NAMES = """\
\tHost first.test not found. url=https://first.test/maven2/org/apache/kafka/kafka-clients/9.9.9/x.pom

\tHost second.test not found. url=https://second.test/org/apache/kafka/kafka-clients/9.9.9/x.pom
"""


class Py4JJavaError(Exception):
    """What py4j raises for an exception in Java; Ivy knows it by its name."""


def jvm_saying(said: str, answer: object) -> MagicMock:
    """A JVM whose Ivy writes ``said`` and then gives the paths ``answer``, or raises it."""
    jvm = MagicMock()
    jvm.java.io.ByteArrayOutputStream.return_value.__str__.return_value = said
    resolve = jvm.org.apache.spark.util.MavenUtils.resolveMavenCoordinates
    if isinstance(answer, Exception):
        resolve.side_effect = answer
    else:
        resolve.return_value.size.return_value = len(answer)
        resolve.return_value.apply.side_effect = answer
    return jvm


def failing(said: str) -> MagicMock:
    return jvm_saying(said, Py4JJavaError("An error occurred while calling z:resolveMavenCoordinates.\n: and so on"))


def test_ivy_fetch_resolves_without_dependencies_and_returns_the_jar_path(tmp_path: Path) -> None:
    jvm = jvm_saying("", [str(tmp_path / "jars" / "it.jar")])
    ivy = Ivy(jvm)
    assert ivy.fetch(CLIENTS, tmp_path) == tmp_path / "jars" / "it.jar"
    asked = jvm.org.apache.spark.util.MavenUtils.resolveMavenCoordinates.call_args.args
    assert asked[0] == CLIENTS
    assert asked[3] is False, "no dependencies: which jars belong to a release is pinned"


def test_jvm_trust_store_is_filled_once_with_the_ca_certificates_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = MagicMock()
    context.get_ca_certs.return_value = [b"first", b"second"]
    monkeypatch.setattr(ssl, "create_default_context", lambda: context)
    jvm = jvm_saying("", ["a.jar", "b.jar"])
    jvm.org.apache.spark.util.MavenUtils.resolveMavenCoordinates.return_value.size.return_value = 1
    ivy = Ivy(jvm)
    ivy.fetch(CLIENTS, tmp_path)
    ivy.fetch(CLIENTS, tmp_path)
    keys = jvm.java.security.KeyStore.getInstance.return_value
    assert [call.args[0] for call in keys.setCertificateEntry.call_args_list] == ["authority-0", "authority-1"]
    assert jvm.javax.net.ssl.SSLContext.setDefault.call_count == 1


def test_python_without_ca_certs_keeps_the_jvm_trust_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = MagicMock()
    context.get_ca_certs.return_value = []
    monkeypatch.setattr(ssl, "create_default_context", lambda: context)
    jvm = jvm_saying("", ["a.jar"])
    Ivy(jvm).fetch(CLIENTS, tmp_path)
    assert jvm.javax.net.ssl.SSLContext.setDefault.call_count == 0


@pytest.mark.parametrize("said", [TRIED, REFUSED[: REFUSED.index("\n\n")] + "\n" + TRIED])
def test_coordinates_absent_from_every_reachable_repository_raise_jar_not_published(tmp_path: Path, said: str) -> None:
    with pytest.raises(JarNotPublished) as raised:
        Ivy(failing(said)).fetch(CLIENTS, tmp_path)
    assert str(raised.value) == f"{CLIENTS} is in no repository: is that a published Kafka release?"


def test_refused_connection_to_every_repository_raises_jar_unavailable(tmp_path: Path) -> None:
    match = "is not in the cache and no repository can be reached: run once with"
    with pytest.raises(JarUnavailable, match=match) as raised:
        Ivy(failing(REFUSED + TRIED)).fetch(CLIENTS, tmp_path)
    assert not isinstance(raised.value, JarNotPublished), "a silent network says nothing about the release"


def test_unresolved_host_of_every_repository_raises_jar_unavailable(tmp_path: Path) -> None:
    with pytest.raises(JarUnavailable, match="is not in the cache and no repository can be reached"):
        Ivy(failing(NO_NAMES + TRIED)).fetch(CLIENTS, tmp_path)


def test_other_ivy_failure_raises_jar_unavailable_with_one_line_message(tmp_path: Path) -> None:
    with pytest.raises(JarUnavailable) as raised:
        Ivy(failing("")).fetch(CLIENTS, tmp_path)
    assert str(raised.value).startswith(f"{CLIENTS} cannot be fetched: An error occurred")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("paths", [[], ["a.jar", "b.jar"]])
def test_ivy_result_of_zero_or_two_paths_raises_jar_unavailable(tmp_path: Path, paths: list[str]) -> None:
    with pytest.raises(JarUnavailable, match="expected one jar from Ivy"):
        Ivy(jvm_saying("", paths)).fetch(CLIENTS, tmp_path)


def test_lost_jvm_connection_raises_connection_error_and_not_jar_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        Ivy(jvm_saying("", ConnectionError("the JVM is gone"))).fetch(CLIENTS, tmp_path)


def _module(named: str) -> MagicMock:
    group, artifact, version = named.split(":")
    module = MagicMock()
    module.getOrganisation.return_value, module.getName.return_value = group, artifact
    module.getRevision.return_value = version
    return module


def test_ivy_closure_lists_jar_then_dependencies_and_missing_coordinates_separately(tmp_path: Path) -> None:
    jvm = jvm_saying("", [str(tmp_path / "kafka.jar")])
    report = jvm.org.apache.ivy.Ivy.newInstance.return_value.resolve.return_value
    artifacts = []
    for named in ("a:needed:1", "org.apache.kafka:kafka_2.13:4.4.0", "a:needed:1"):
        artifacts.append(MagicMock())
        artifacts[-1].getArtifact.return_value.getModuleRevisionId.return_value = _module(named)
    absent = MagicMock()
    absent.getId.return_value = _module("org.apache.kafka:kafka-tools-api:4.4.0")
    report.getAllArtifactsReports.return_value = artifacts
    report.getUnresolvedDependencies.return_value = [absent]
    closure = Ivy(jvm).closure("org.apache.kafka:kafka_2.13:4.4.0", tmp_path)
    assert closure.coordinates == ("org.apache.kafka:kafka_2.13:4.4.0", "a:needed:1")
    assert closure.absent == ("org.apache.kafka:kafka-tools-api:4.4.0",)
    options = jvm.org.apache.ivy.core.resolve.ResolveOptions.return_value
    options.setTransitive.assert_called_once_with(True)
    jvm.java.util.regex.Pattern.compile.return_value.split.assert_called_once_with("default")


def test_closure_of_unpublished_coordinates_raises_jar_unavailable(tmp_path: Path) -> None:
    with pytest.raises(JarUnavailable, match="is in no repository"):
        Ivy(jvm_saying(TRIED, Py4JJavaError("unresolved dependency"))).closure(CLIENTS, tmp_path)


def test_published_versions_are_listed_and_an_empty_list_raises_jar_unavailable(tmp_path: Path) -> None:
    jvm = jvm_saying(REFUSED, [])
    listed = jvm.org.apache.ivy.Ivy.newInstance.return_value.listRevisions
    listed.return_value = ["4.4.0", "3.9.2"]
    assert Ivy(jvm).versions("org.apache.kafka:kafka-clients", tmp_path) == ["4.4.0", "3.9.2"]
    listed.assert_called_with("org.apache.kafka", "kafka-clients")
    listed.return_value = []
    with pytest.raises(
        JarUnavailable, match=r"no repository lists versions of org.apache.kafka:kafka-clients"
    ) as raised:
        Ivy(jvm).versions("org.apache.kafka:kafka-clients", tmp_path)
    assert "\n" not in str(raised.value)
