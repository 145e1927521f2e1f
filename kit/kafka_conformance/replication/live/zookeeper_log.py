"""The settings of topics that a broker with ZooKeeper received, from its log.

Java source mirrored: the message of ``kafka.server.ZkConfigManager``, 3.9.0 to 3.9.2.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["last_settings"]

_SETTING = re.compile(r"([\w.]+) -> ([^,)]*)")


def last_settings(log: Path, topic: str) -> dict[str, str]:
    """Return the settings that a topic got with its last change; none if the broker has received no change."""
    begin = f" topics/{topic} with config: "
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    last = next((line for line in reversed(lines) if begin in line), "")
    return dict(_SETTING.findall(last.partition(begin)[2]))
