"""Whether ``spark-submit`` runs this program; it is asked before Spark, or anything else that is slow, is imported."""

from __future__ import annotations

import os

__all__ = ["is_submitted"]


def is_submitted() -> bool:
    """Whether ``spark-submit`` runs this program: then it has started the JVM, and its options choose the master."""
    return bool(os.environ.get("PYSPARK_GATEWAY_PORT"))
