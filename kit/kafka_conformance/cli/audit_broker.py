"""The broker of an audit, a join or a repair, and the settings to reach it: from a file, so that no secret is in ``ps``."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from kafka_conformance.audit.connector_options import from_properties
from kafka_conformance.audit.isolation import LEVELS, READ_COMMITTED
from kafka_conformance.cli import options
from kafka_conformance.core.java_properties import read_properties

__all__ = ["BrokerOptions", "broker_options"]


class BrokerOptions(msgspec.Struct, frozen=True):
    """The options that name a broker, with their names on the command line."""

    bootstrap: str = ""
    command_config: str = ""
    options: tuple[str, ...] = ()
    isolation: str = READ_COMMITTED

    def given(self) -> dict[str, Any]:
        """Return the fields of ``audit_source.Given`` for this broker. Raises BadInput for an unreadable file."""
        settings = read_properties("--command-config", self.command_config) if self.command_config else {}
        return {
            "bootstrap": self.bootstrap or settings.get("bootstrap.servers", ""), "options": self.options,
            "client": from_properties(settings), "isolation": self.isolation,
        }  # fmt: skip


broker_options = options.collected(
    "broker", BrokerOptions,
    click.option("--bootstrap-server", "bootstrap", default="", metavar="HOST:PORT",
                 help="Broker of the topic (default: bootstrap.servers of --command-config)."),
    click.option("--command-config", default="", metavar="FILE",
                 help="File of client settings, as for Kafka's own tools: Java properties such as security.protocol and "
                      "sasl.jaas.config. Passwords belong here: other users of the machine can read a command line."),
    click.option("--option", "options", multiple=True, metavar="NAME=VALUE",
                 help="Option of Spark's Kafka connector, e.g. kafka.security.protocol=SSL; repeatable. It goes before the "
                      "same setting of --command-config, which is the place for passwords."),
    click.option("--isolation", default=READ_COMMITTED, type=click.Choice(LEVELS), show_default=True,
                 metavar="read_committed|read_uncommitted",
                 help="Records of a topic to read: those of committed transactions and those without one, or also those of "
                      "aborted and open transactions."),
)  # fmt: skip
"""Add the options of :class:`BrokerOptions` to a command, which receives them as ``broker``."""
