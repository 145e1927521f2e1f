"""Which questions of ``delivery`` a user can bring about.

All of them; settings take any text, and networks and brokers fail.
"""

from __future__ import annotations

from kafka_conformance.rules.delivery.question import DeliveryQuestion

__all__ = ["domain"]


def domain(_: DeliveryQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return ""
