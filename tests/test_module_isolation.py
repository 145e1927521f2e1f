"""What a test imports from its own folder is not what a later test finds under that name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("text", ["first", "second"])
def test_module_imported_by_a_test_is_not_reused_by_a_later_test(tmp_path: Path, text: str) -> None:
    (tmp_path / "of_one_test.py").write_text(f"TEXT = {text!r}\n")
    sys.path.insert(0, str(tmp_path))
    found = importlib.import_module("of_one_test")
    assert text == found.TEXT
