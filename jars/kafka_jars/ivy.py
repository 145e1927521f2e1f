"""Jars by the Ivy that is inside Spark's JVM: by coordinates, with no address written anywhere.

``org.apache.spark.util.MavenUtils`` is what ``spark-submit --packages`` uses. It is asked for one jar at a time and
without the jar's dependencies: which jars belong to a release is in ``releases.toml`` and ``brokers.toml``, not in
a POM. Only the commands that write those files read POMs (:meth:`Ivy.closure`).

The JVM has its own list of certificate authorities, which may differ from those that this machine trusts. Python, curl and
pip accept a company's proxy through ``SSL_CERT_FILE``; a Java that came as a wheel does not. So before the first fetch the
JVM is configured to trust what Python trusts.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_jars.errors import JarNotPublished, JarUnavailable

__all__ = ["Closure", "Ivy"]

# In what Ivy says: the repositories it tried, and those that did not answer.
_TRIED = re.compile(r"^\s+https?://([^/\s]+)/", re.MULTILINE)
_SILENT = re.compile(r"(?:Server access error at url https?://|^\s+Host )([^/\s]+)(?:/| not found)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Closure:
    """A jar and all that it needs at run time: coordinates, its own first; and those that no repository has."""

    coordinates: tuple[str, ...]
    absent: tuple[str, ...]


class Ivy:
    """Fetches jars through ``jvm``, the ``jvm`` view of a py4j gateway into Spark's JVM."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._trusting = False

    def fetch(self, coordinates: str, into: Path) -> Path:
        """Bring the jar of ``coordinates`` into the folder ``into``; the path of the jar.

        Raises JarNotPublished for a jar that does not exist, another JarUnavailable for a network that does not answer.
        """
        jvm = self._jvm
        output, printer, settings = self._settings(into)
        utils, none = jvm.org.apache.spark.util.MavenUtils, jvm.scala.Option.empty()
        no_exclusions = jvm.scala.collection.immutable.List.newBuilder().result()
        try:
            found = utils.resolveMavenCoordinates(coordinates, settings, none, False, no_exclusions, False, printer)
            paths = [str(found.apply(index)) for index in range(found.size())]
        except Exception as error:
            if type(error).__name__ != "Py4JJavaError":  # py4j is an extra: this package must import without it
                raise
            raise _unavailable(coordinates, str(output), str(error)) from error
        if not paths:  # Spark leaves out what it has itself, like scala-library; Ivy does not
            paths = self._by_ivy_alone(coordinates, settings)
        if len(paths) != 1:
            raise JarUnavailable(f"{coordinates}: expected one jar from Ivy, got {paths}")
        return Path(paths[0])

    def closure(self, coordinates: str, into: Path) -> Closure:
        """What a jar's POM, and those of what it names, ask for at run time; the folder ``into`` is Ivy's.

        Raises JarUnavailable if the jar itself is not to be had.
        """
        self.fetch(coordinates, into)  # it distinguishes a jar that does not exist from a network that fails
        _, _, settings = self._settings(into)
        report = self._resolved(coordinates, settings, transitive=True)
        found = [_named(each.getArtifact().getModuleRevisionId()) for each in report.getAllArtifactsReports()]
        absent = [_named(each.getId()) for each in report.getUnresolvedDependencies()]
        return Closure(tuple(dict.fromkeys([coordinates, *found])), tuple(absent))

    def versions(self, module: str, into: Path) -> list[str]:
        """Return every published version of ``group:artifact``, in no order; the folder ``into`` is Ivy's.

        Raises JarUnavailable if no repository lists any.
        """
        output, _, settings = self._settings(into)
        found = self._jvm.org.apache.ivy.Ivy.newInstance(settings).listRevisions(*module.split(":"))
        if versions := [str(version) for version in found]:
            return versions
        raise JarUnavailable(
            f"no repository lists versions of {module}: look at the network, then run the same command again"
            f"{f' ({lines[0]})' if (lines := str(output).strip().splitlines()) else ''}"
        )

    def _settings(self, into: Path) -> tuple[Any, Any, Any]:
        """What is output goes into the first, by the second; the third are Ivy's settings, with its folder ``into``."""
        if not self._trusting:
            self._trust_what_python_trusts()
            self._trusting = True
        jvm = self._jvm
        output = jvm.java.io.ByteArrayOutputStream()
        printer = jvm.java.io.PrintStream(output)
        utils, none = jvm.org.apache.spark.util.MavenUtils, jvm.scala.Option.empty()
        settings = utils.buildIvySettings(none, jvm.scala.Option.apply(str(into)), False, printer)
        settings.setDefaultCache(jvm.java.io.File(str(into / "cache")))
        return output, printer, settings

    def _by_ivy_alone(self, coordinates: str, settings: Any) -> list[str]:
        report = self._resolved(coordinates, settings, transitive=False)
        return [str(artifact.getLocalFile()) for artifact in report.getAllArtifactsReports()]

    def _resolved(self, coordinates: str, settings: Any, *, transitive: bool) -> Any:
        ivy = self._jvm.org.apache.ivy
        options = ivy.core.resolve.ResolveOptions()
        options.setTransitive(transitive)
        if transitive:  # not what is optional, or there for tests; the pattern makes an array of Java's strings
            options.setConfs(self._jvm.java.util.regex.Pattern.compile(",").split("default"))
        asked = ivy.core.module.id.ModuleRevisionId.newInstance(*coordinates.split(":"))
        return ivy.Ivy.newInstance(settings).resolve(asked, options, False)

    def _trust_what_python_trusts(self) -> None:
        authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
        if not authorities:
            return  # this Python keeps none in a list: the JVM's own stay
        java = self._jvm.java
        keys = java.security.KeyStore.getInstance("PKCS12")
        keys.load(None, None)
        factory = java.security.cert.CertificateFactory.getInstance("X.509")
        for number, der in enumerate(authorities):
            certificate = factory.generateCertificate(java.io.ByteArrayInputStream(der))
            keys.setCertificateEntry(f"authority-{number}", certificate)
        net = self._jvm.javax.net.ssl
        managers = net.TrustManagerFactory.getInstance(net.TrustManagerFactory.getDefaultAlgorithm())
        managers.init(keys)
        context = net.SSLContext.getInstance("TLS")
        context.init(None, managers.getTrustManagers(), None)
        net.SSLContext.setDefault(context)


def _named(module: Any) -> str:
    return f"{module.getOrganisation()}:{module.getName()}:{module.getRevision()}"


def _unavailable(coordinates: str, output: str, error: str) -> JarUnavailable:
    """Distinguish "not found" from "no response": a repository that was tried and did not fail has responded."""
    tried = set(_TRIED.findall(output))
    silent = set(_SILENT.findall(output))
    if tried - silent:
        return JarNotPublished(f"{coordinates} is in no repository: is that a published Kafka release?")
    if silent:
        return JarUnavailable(
            f"{coordinates} is not in the cache and no repository can be reached:"
            " run once with a network, then everything works without one"
        )
    return JarUnavailable(f"{coordinates} cannot be fetched: {error.splitlines()[0]}")
