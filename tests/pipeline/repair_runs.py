"""Run repairs with the options that their tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.audit.repair.plan import Repair
from kafka_conformance.audit.repair.repair import repair
from kafka_conformance.spark.session import Spark


def repairs(
    spark: Spark, bootstrap: str, topic: str, folder: str, *, partitions: int | None = None
) -> Callable[..., Repair]:
    """Return a function that repairs ``topic`` to ``topic``-new in this folder; what it is given replaces these options."""

    def run(**given: Any) -> Repair:
        asked = {"topic": topic, "target": f"{topic}-new", "kafka": {"kafka.bootstrap.servers": bootstrap},
                 "folder": folder, "partitions": partitions, "execute": True, "patience_s": 60, **given}  # fmt: skip
        return repair(spark, **asked)

    return run
