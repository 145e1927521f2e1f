"""The pictures of the pages that the kit writes: small, and each shown by a page."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "kit" / "docs"
PICTURES = sorted((DOCS / "pictures").iterdir())


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture_is_svg_under_30_kb_or_png_under_100_kb_within_1200_pixels(picture: Path) -> None:
    content = picture.read_bytes()
    if picture.suffix == ".svg":
        assert content.startswith(b"<svg ")
        assert len(content) < 30_000
        return
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert 1000 <= width <= 1200
    assert height <= 1200
    assert len(content) < 100_000


def test_pictures_are_all_shown_by_some_page() -> None:
    shown = {name for page in DOCS.glob("*.md") for name in re.findall(r"\]\(pictures/([^)]+)\)", page.read_text())}
    assert shown == {picture.name for picture in PICTURES}
