"""Check with librdkafka, before Spark starts, that a repair may read its source's settings and create its target."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from kafka_conformance.brokers.client_settings import librdkafka_settings
from kafka_conformance.brokers.topic_check import LIMIT_S, QUIET
from kafka_conformance.core.errors import BadInput

__all__ = ["check_repairable"]

_log = logging.getLogger(__name__)


def check_repairable(java: Mapping[str, str], source: str, target: str) -> None:
    """Check that a client with Java's settings ``java`` may do what a repair needs. Nothing is created. Raises BadInput.

    Where librdkafka cannot decide, this returns, and the repair itself finds out.
    """
    translated = librdkafka_settings(java)
    if translated.untranslated:
        return
    try:
        from confluent_kafka import admin as names
    except ImportError:
        return
    kinds: Any = names  # it does not declare the names that it imports
    where = java.get("bootstrap.servers", "")
    admin = kinds.AdminClient({**translated.settings, **QUIET})
    described = kinds.ConfigResource(kinds.ResourceType.TOPIC, source)
    _check(
        lambda: admin.describe_configs([described], request_timeout=LIMIT_S)[described],
        f"the login may not read the settings of topic {source} at {where}: a repair needs the ACL DESCRIBE_CONFIGS of it",
    )
    made = kinds.NewTopic(target, num_partitions=1)
    _check(
        lambda: admin.create_topics([made], validate_only=True, request_timeout=LIMIT_S)[target],
        f"the login may not create topic {target} at {where}: a repair needs the ACLs CREATE, WRITE, READ and ALTER_CONFIGS"
        " of it",
    )


def _check(request: Callable[[], Any], denied: str) -> None:
    """Raise BadInput with the line ``denied`` if the broker does not authorize a request."""
    from confluent_kafka import KafkaError, KafkaException

    try:
        request().result(LIMIT_S)
    except KafkaException as error:
        code = error.args[0].code()
        if code in {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED}:
            raise BadInput(denied) from error
        _log.debug("checked before Spark starts: %s", error)
    except TimeoutError:
        _log.debug("no answer within %g s", LIMIT_S)
