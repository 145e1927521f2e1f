"""The record of what Java's client does in the scripts of ``gate client``: when it is void."""

from __future__ import annotations

import java_transcripts
import msgspec
import pytest

pytest.importorskip("kafka")

from kafka_conformance.wire.client_gate.script import shipped


def test_transcripts_of_java_are_void_for_a_changed_or_new_script_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert java_transcripts.void_scripts() == [], "run: python ci/java_transcripts.py"
    scripts = shipped()
    added = msgspec.structs.replace(scripts[3], id="produce/new", rounds=77)
    monkeypatch.setattr(java_transcripts, "shipped", lambda: (*scripts, added))
    assert java_transcripts.void_scripts() == ["produce/new"]


def test_transcripts_of_java_are_all_void_if_one_belongs_to_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = shipped()
    monkeypatch.setattr(java_transcripts, "shipped", lambda: scripts[1:])
    assert java_transcripts.void_scripts() == [script.id for script in scripts[1:]]
