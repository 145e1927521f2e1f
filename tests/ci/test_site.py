"""The site: its navigation has every page, links become those of the site, and nothing is loaded from elsewhere."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import site_hooks
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "kit" / "docs"


class Loader(yaml.SafeLoader):
    """Takes the tag of MkDocs for a Python function as text."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
SITE = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)  # noqa: S506  a safe loader


def listed(nav: list[Any]) -> list[str]:
    found = []
    for item in nav:
        content = next(iter(item.values())) if isinstance(item, dict) else item
        found += listed(content) if isinstance(content, list) else [content]
    return found


def test_site_navigation_lists_every_page_once() -> None:
    pages = [str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")]
    nav = listed(site_hooks.expand(SITE["nav"], pages))
    written = [page for page in nav if not page.startswith("repository/")]
    assert sorted(written) == sorted(pages)
    assert {page.removeprefix("repository/") for page in nav if page.startswith("repository/")} == set(
        site_hooks.STARTS
    )


def test_site_navigation_expands_folders_with_newest_release_first() -> None:
    pages = ["a/1.0.0.md", "a/1.10.0.md", "a/1.2.0.md", "b/x.md", "b/README.md", "b/c/y.md"]
    assert site_hooks.expand([{"A": ["a/*"]}, "b/README.md", "b/*"], pages) == [
        {"A": ["a/1.10.0.md", "a/1.2.0.md", "a/1.0.0.md"]}, "b/README.md", "b/x.md",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("uri", "text", "wanted"),
    [
        ("gate.md", "[a](driver.md#x)", "[a](driver.md#x)"),
        ("gate.md", "[a](../../README.md#x) and `b`", "[a](repository/README.md#x) and `b`"),
        ("rules/murmur2.md", "[a](../../../jars/R.java)", "[a](../repository/jars/R.java.md)"),
        ("repository/README.md", "[a](kit/docs/gate.md) [b](tests/c.py)", "[a](../gate.md) [b](tests/c.py.md)"),
        ("gate.md", "[a](https://b.example/c.md) [a](#x)", "[a](https://b.example/c.md) [a](#x)"),
        ("gate.md", "```\n[a](../../README.md)\n```\n", "```\n[a](../../README.md)\n```\n"),
    ],
)
def test_relative_links_outside_code_blocks_are_rewritten_to_links_of_the_site(
    uri: str, text: str, wanted: str
) -> None:
    assert site_hooks.rewrite(text, uri) == wanted


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ('<script src="https://cdn.example/a.js"></script>', ["https://cdn.example/a.js"]),
        ('<link rel="stylesheet" href="//fonts.example/a">', ["//fonts.example/a"]),
        ("<style>p { background: url(https://a.example/b.png) }</style>", ["https://a.example/b.png"]),
        ('<img src="pictures/a.png"><a href="https://a.example/">a</a><p>url(https://a.example)</p>', []),
    ],
)
def test_scripts_styles_and_images_from_other_hosts_are_reported(html: str, wanted: list[str]) -> None:
    assert site_hooks.foreign_assets(html) == wanted


def test_site_api_pages_list_each_name_once_and_include_partition_for_key() -> None:
    pages = site_hooks.api_pages()
    lines = "\n".join(pages.values()).splitlines()
    names = [line for line, after in pairwise([*lines, ""]) if line.startswith("::: ") and "options" not in after]
    assert len(names) == len(set(names)) > 50
    assert "::: kafka_reference.partitioning.keyed.partition_for_key" in pages["api/kafka_reference.md"]


def test_site_badges_are_made_for_judged_matrix_cells_of_newest_version_and_default_setting() -> None:
    cell = {
        "subject": "client", "name": "@a/b", "version": "2.0", "settings": ["default"], "about": "murmur2",
        "state": "differs",
    }  # fmt: skip
    cells = [
        cell | {"severity": "high"}, cell | {"version": "1.0", "state": "agrees"},
        cell | {"settings": ["java"], "about": "other", "state": "agrees"}, cell | {"about": "not-run", "state": "not run"},
        cell | {"subject": "broker", "name": "B", "settings": [], "about": "fetch", "state": "agrees"},
    ]  # fmt: skip
    made = {path: json.loads(text) for path, text in site_hooks.badges(cells).items()}
    assert made == {
        "matrix/badges/a-b/murmur2.json": {
            "schemaVersion": 1, "label": "Kafka: murmur2", "message": "2.0 differs: high", "color": "red",
        },
        "matrix/badges/b-2-0/fetch.json": {
            "schemaVersion": 1, "label": "Kafka: fetch", "message": "2.0 agrees", "color": "brightgreen",
        },
    }  # fmt: skip


def test_badges_that_the_matrix_page_names_are_made_from_the_recorded_cells() -> None:
    made = site_hooks.badges(json.loads((DOCS / "matrix" / "results.json").read_text(encoding="utf-8"))["cells"])
    named = re.findall(
        r"`(matrix/badges/[a-z0-9-]+/[a-z0-9-]+\.json)`", (DOCS / "matrix.md").read_text(encoding="utf-8")
    )
    assert len(named) == 2
    assert set(named) <= made.keys()


def test_site_build_removes_unused_files_and_fails_at_a_foreign_asset_or_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unused = (tmp_path / "assets" / "javascripts" / "lunr" / "wordcut.js", tmp_path / "bundle.js.map")
    for path in unused:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1_000)
    config = SimpleNamespace(site_dir=str(tmp_path))
    (tmp_path / "page.html").write_text("x" * 1_000)
    monkeypatch.setattr(site_hooks, "MOST_BYTES", 1_000)
    site_hooks.on_post_build(config)
    assert not any(path.exists() for path in unused)
    monkeypatch.setattr(site_hooks, "MOST_BYTES", 999)
    with pytest.raises(SystemExit, match="has 1,000 bytes, more than 999"):
        site_hooks.on_post_build(config)
    (tmp_path / "page.html").write_text('<script src="https://elsewhere.example/x.js">')
    with pytest.raises(SystemExit, match=r"page\.html loads https://elsewhere\.example/x\.js"):
        site_hooks.on_post_build(config)
