"""A healthy partition for every test."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_partitions import Log, healthy


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Three segments in ``orders-0``."""
    return healthy(tmp_path / "orders-0")
