"""Pages as parsers and browsers see them, for the tests of every report that is one."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import signal
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest

EMPTY = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """The elements in their order, their attributes, and the text in them; every element has to be closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def policy(self) -> str:
        (found,) = [
            each for tag, each in self.tags if tag == "meta" and each.get("http-equiv") == "Content-Security-Policy"
        ]
        return found["content"] or ""


def solid(text: str) -> str:
    """Without white space, which elements put between words."""
    return "".join(text.split())


def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """Elements and the names of their attributes."""
    return [(tag, tuple(attributes)) for tag, attributes in page.tags]


def assert_loads_and_runs_nothing(text: str) -> None:
    """No element that could load or run something, no attribute that could, no address but ours and plain ones."""
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "video",
        "audio",
        "image",
        "use",
    }
    for _, attributes in page.tags:
        assert not any(
            attribute.startswith("on") or attribute in ("style", "src", "srcset", "xlink:href")
            for attribute in attributes
        )
        href = attributes.get("href")
        assert href is None or re.fullmatch(r"#r[0-9]+|https://[!-~]+", href)
        assert all(
            re.fullmatch(r"url\(#h[0-9]+\)", value) for value in attributes.values() if value and "url(" in value
        )
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = {href[1:] for _, attributes in page.tags if (href := attributes.get("href")) and href.startswith("#")}
    fills = {fill[5:-1] for _, attributes in page.tags if (fill := attributes.get("fill")) and fill.startswith("url(#")}
    assert anchors | fills <= set(ids)


def assert_policy(text: str) -> None:
    """The page's policy allows its one style sheet, which loads nothing, and nothing else."""
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert (
        Page(text).policy() == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style
    assert "@import" not in style


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="THERE IS NO CHROMIUM, SO NO PAGE WAS SEEN IN A BROWSER: apt-get install chromium, or put one in the PATH",
)
FLAGS = [
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *(
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--dump-dom",
    ),
]


class Seen(NamedTuple):
    title: str
    dom: str
    complaints: list[str]


def look(text: str, folder: Path) -> Seen:
    """The page after a browser has loaded it and run whatever it would run, and what its policy forbade."""
    assert CHROMIUM is not None
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    words = [CHROMIUM, *FLAGS, *root, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    dom = out.decode()
    title = re.findall("<title>(.*?)</title>", dom, re.DOTALL)[0]  # the others are tooltips in figures
    return Seen(title, dom, [line for line in err.decode().splitlines() if "Content Security Policy" in line])
