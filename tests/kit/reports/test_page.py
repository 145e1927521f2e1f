"""What pages share; that they load and run nothing is held by the tests of each of them."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from kafka_conformance.reports import page


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    files = {"a.css": "a { color: red; }", "b.css": "b { color: blue; }"}
    monkeypatch.setattr(page, "_packaged", files.__getitem__)
    return files


def test_rendered_page_escapes_html_and_control_characters(template: dict[str, str]) -> None:
    template["t"] = "{{ text }}|{{ text | upper }}|{{ made }}|{{ count }}"
    given = {"text": "<b>\x1b\n", "made": Markup("<i>"), "count": 5}
    assert page.render("t", (), {}, given) == "&lt;b&gt;\\x1b\n|&lt;B&gt;\\x1b\n|<i>|5"


def test_rendered_page_shortens_text_above_10000_characters(template: dict[str, str]) -> None:
    template["t"] = "{{ text }}"
    assert page.render("t", (), {}, {"text": "a" * 20_000}).endswith("… (10,000 more characters)")


def test_content_security_policy_has_the_hash_of_the_style_sheets(template: dict[str, str]) -> None:
    template["t"] = "{{ style }} {{ policy }}"
    both, other = page.render("t", ("a.css", "b.css"), {}, {}), page.render("t", ("a.css",), {}, {})
    assert both.startswith("a { color: red; }b { color: blue; } default-src &#39;none&#39;; style-src &#39;sha256-")
    assert both.split("sha256-")[1] != other.split("sha256-")[1]


def test_undefined_template_variable_raises_error(template: dict[str, str]) -> None:
    template["t"] = "{{ text }}"
    with pytest.raises(UndefinedError):
        page.render("t", (), {}, {})
