"""What all checks of a partition share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kafka_conformance.log_inspect.directory import LogDirectory, Partition
from kafka_conformance.log_inspect.findings import Findings, Severity
from kafka_conformance.log_inspect.losses import Losses

__all__ = ["Context"]


@dataclass(slots=True)
class Context:
    """The partition, the findings so far, and what is known of its log.

    ``log_start_offset`` is the first offset that clients may read, None if no checkpoint says it. ``policy`` is the
    topic's ``cleanup.policy``: ``compact``, ``delete``, or empty if unknown. ``cleaned`` becomes True with the first
    sign of compaction. ``read`` is called with numbers of bytes that were read. ``losses`` are those of the findings.
    ``now_ms`` is the clock.
    """

    directory: LogDirectory
    partition: Partition
    findings: Findings
    log_start_offset: int | None = None
    policy: str = ""
    cleaned: bool = False
    read: Callable[[int], object] = lambda _: None
    losses: Losses = field(default_factory=Losses)
    now_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def name(self, path: Path) -> str:
        """Return a path as reports show it."""
        return self.directory.relative(path)

    @property
    def gap_severity(self) -> Severity:
        """How bad missing offsets are: compaction makes them legal."""
        if self.policy == "delete":
            return Severity.BROKEN
        return Severity.NOTE if self.cleaned or self.policy == "compact" else Severity.SUSPICIOUS
