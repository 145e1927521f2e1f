"""What tests of single rules share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _releases_at_which_behaviour_begins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folders of rules, take any release as text: behaviour begins at releases that no proof covers."""
    if request.path.parent != Path(__file__).parent:
        monkeypatch.setattr("kafka_reference.proven.is_proven", lambda *_: True)
