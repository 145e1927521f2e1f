"""Which questions of ``offset-index`` a broker can bring about; its files may be damaged, as after a crash."""

from __future__ import annotations

from kafka_conformance.rules.common.index_labels import index_domain

__all__ = ["domain"]

domain = index_domain(lambda key: "" if key >= 0 else "a position is 0 or more")
