"""A broker with listeners as they are at work: plaintext, SASL, TLS, and ACLs that let alice read and bob nothing.

The plaintext listener's user, ANONYMOUS, may do everything, so that tests write topics through it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import listeners
import pytest

from kafka_conformance.brokers import cluster
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.brokers.settings import HOST, Node, free_ports, properties

__all__ = ["Secured", "running_secured"]

_NAMES = {"SASL": "SASL_PLAINTEXT", "TLS": "SSL"}
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@dataclass(frozen=True)
class Secured:
    """The broker, its addresses, and alice's password. ``trust`` is the PEM file of the certificate to trust."""

    broker: Broker
    sasl: str
    tls: str
    trust: str
    password: str

    def login(self, user: str = "alice", password: str | None = None) -> dict[str, str]:
        """The settings of a client that logs in."""
        secret = self.password if password is None else password
        return {
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{_PLAIN} required username="{user}" password="{secret}";',
        }  # fmt: skip

    def allow(self, topic: str) -> None:
        """Let alice read a topic."""
        from confluent_kafka.admin import (
            AclBinding,
            AclOperation,
            AclPermissionType,
            AdminClient,
            ResourcePatternType,
            ResourceType,
        )

        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        binding = AclBinding(
            ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:alice", "*", AclOperation.READ,
            AclPermissionType.ALLOW,
        )  # fmt: skip
        for done in admin.create_acls([binding], request_timeout=20).values():
            done.result(20)


@contextlib.contextmanager
def running_secured(folder: Path, password: str) -> Iterator[Secured]:
    """Run the broker until the block ends; alice logs in with ``password``, bob with ``builder``."""
    ports = dict(zip(_NAMES, free_ports(len(_NAMES)), strict=True))
    pem = listeners.pem_file(folder)
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config":
            f'{_PLAIN} required user_alice="{password}" user_bob="builder";',
        "listener.name.tls.ssl.keystore.type": "PEM",
        "listener.name.tls.ssl.keystore.location": pem,
    }  # fmt: skip

    def with_listeners(node: Node, nodes: tuple[Node, ...], data: Path, given: Mapping[str, str]) -> str:
        more = "".join(f",{name}://{HOST}:{port}" for name, port in ports.items())
        protocols = "".join(f",{name}:{protocol}" for name, protocol in _NAMES.items())
        lines = properties(node, nodes, data, given).splitlines()
        added = {"listeners": more, "advertised.listeners": more, "listener.security.protocol.map": protocols}
        return "".join(f"{line}{added.get(line.partition('=')[0], '')}\n" for line in lines)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "properties", with_listeners)
        with running_broker(engine="jars", settings=settings) as broker:
            yield Secured(broker, f"{HOST}:{ports['SASL']}", f"{HOST}:{ports['TLS']}", pem, password)
