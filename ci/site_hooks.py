"""Hooks of MkDocs for the site: pages from outside ``kit/docs``, pages of the API, and folders in the navigation.

- A page may link any file of the repository, as on GitHub. The site gets a copy of each, ``repository/PATH``: Markdown as a
  page, anything else as a page with its source. So the site needs no network and no link leads nowhere.
- ``api/PACKAGE.md`` has the public names of each package of the reference, and of the kit's modules for users' own tests.
- ``matrix/badges/NAME/ABOUT.json`` is a badge of each cell of the matrix, as an endpoint for shields.io.
- No page loads anything from elsewhere: the build fails if one does.
- ``folder/*`` in the navigation stands for the pages of a folder that are not listed by name; releases newest first.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

__all__ = [
    "api_pages",
    "badges",
    "expand",
    "foreign_assets",
    "on_files",
    "on_page_markdown",
    "on_post_build",
    "rewrite",
]

ROOT = Path(__file__).parents[1]
DOCS = "kit/docs"
COPIES = "repository"
STARTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")

ASSETS = {"assets/iframe-worker.js": "iframe-worker.js", "assets/site.css": "site.css"}
KIT_MODULES = ("kafka_conformance.pytest_plugin", "kafka_conformance.strategies", "kafka_conformance.spark")
"""Modules of the kit that users import."""

MOST_BYTES = 30_000_000

_COLORS = {
    "agrees": "brightgreen", "differs": "red", "differs, harmless": "green", "no answer": "lightgrey",
    "not applicable": "lightgrey",
}  # fmt: skip
_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)((?:#[^)\s]*)?)(?=\))")
_REMARK = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)  # before the title, which MkDocs then does not find
_STYLE = re.compile(r"<style\b.*?</style>", re.DOTALL)
_CODE = re.compile(r"^(```|~~~).*?^\1$", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and list the pages of folders in the navigation."""
    from mkdocs.structure.files import File

    pages = {page.src_uri: page.content_string for page in files.documentation_pages()}
    cells = json.loads((ROOT / DOCS / "matrix" / "results.json").read_text(encoding="utf-8"))["cells"]
    for uri, content in {**copies(pages), **api_pages(), **badges(cells)}.items():
        files.append(File.generated(config, uri, content=content))
    for uri, name in ASSETS.items():
        files.append(File.generated(config, uri, content=(ROOT / "ci" / name).read_text(encoding="utf-8")))
    every = [page.src_uri for page in files.documentation_pages()]
    config.nav = expand(config.nav or [], every)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links out of ``kit/docs``, and those of copied pages, into links to pages of the site."""
    return rewrite(_REMARK.sub("", markdown), page.file.src_uri)


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what no page loads; fail if a page loads something from elsewhere, or the site is large. Raises SystemExit."""
    site = Path(config.site_dir)
    for unused in (*site.rglob("*.map"), *(site / "assets" / "javascripts" / "lunr").rglob("*.js")):  # other languages
        unused.unlink()
    for page in site.rglob("*.html"):
        if found := foreign_assets(page.read_text(encoding="utf-8")):
            raise SystemExit(f"{page} loads {found[0]}: the site has to be readable without a network")
    if (size := sum(path.stat().st_size for path in site.rglob("*") if path.is_file())) > MOST_BYTES:
        raise SystemExit(f"{site} has {size:,} bytes, more than {MOST_BYTES:,}")


def foreign_assets(html: str) -> list[str]:
    """Return the foreign addresses that a page loads: scripts, pictures, fonts, style sheets; links are not loaded."""
    tags = re.findall(r"<(?!a\b)[a-z-]+\b[^>]*>", html)
    found = [
        address
        for tag in tags
        for address in re.findall(r"""(?:src|href|srcset)=["']?((?:https?:)?//[^"'\s>]+)""", tag)
    ]
    return found + re.findall(r"""(?:url\(|@import\s)["']?((?:https?:)?//[^"')\s]+)""", "".join(_STYLE.findall(html)))


def copies(pages: dict[str, str]) -> dict[str, str]:
    """Return the copies, by their place on the site: of the repository's own pages, and of all that is linked from any."""
    found: dict[str, str] = {}
    left = list(STARTS) + [path for uri, text in pages.items() for path in outside(uri, text)]
    while left:
        path = left.pop()
        uri = copy_of(path)
        if uri in found or not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.endswith(".md"):
            found[uri] = text
            left += outside(uri, text)
        else:
            found[uri] = f"# {Path(path).name}\n\n`{path}`\n\n````{Path(path).suffix[1:]}\n{text}\n````\n"
    return found


def copy_of(path: str) -> str:
    """Return where the copy of a file of the repository is on the site."""
    return f"{COPIES}/{path}" if path.endswith(".md") else f"{COPIES}/{path}.md"


def path_of(uri: str) -> str:
    """Return the path in the repository of a page of the site that is written by hand."""
    return uri.removeprefix(f"{COPIES}/") if uri.startswith(f"{COPIES}/") else f"{DOCS}/{uri}"


def outside(uri: str, text: str) -> Iterator[str]:
    """Yield the paths in the repository, outside ``kit/docs``, that a page links."""
    folder = posixpath.dirname(path_of(uri))
    for link, _ in _LINK.findall(_CODE.sub("", text)):
        path = posixpath.normpath(posixpath.join(folder, link))
        if not path.startswith((f"{DOCS}/", "..")):
            yield path


def rewrite(text: str, uri: str) -> str:
    """Return a page with its links to files as links between pages of the site; code blocks stay."""
    begin, parts = 0, []
    change = partial(_rewritten, uri=uri)
    for block in _CODE.finditer(text):
        parts += [_LINK.sub(change, text[begin : block.start()]), block.group()]
        begin = block.end()
    return "".join([*parts, _LINK.sub(change, text[begin:])])


def _rewritten(link: re.Match[str], uri: str) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(path_of(uri)), link[1]))
    there = path.removeprefix(f"{DOCS}/") if path.startswith(f"{DOCS}/") else copy_of(path)
    return posixpath.relpath(there, posixpath.dirname(uri) or ".") + link[2]


def api_pages() -> dict[str, str]:
    """Return a page for each package of the reference, and one for each module of the kit that users import.

    A name is documented on one page; other pages that export it link that one.
    """
    folder = ROOT / "reference" / "kafka_reference"
    home: dict[str, str] = {}
    pages = {"kafka_reference": _names("kafka_reference", folder / "__init__.py", home)}
    for module in ("bulk", "releases", "errors"):
        pages[f"kafka_reference.{module}"] = _names(f"kafka_reference.{module}", folder / f"{module}.py", home)
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        name = f"kafka_reference.{package.name}"
        modules = sorted(package.glob("[a-z]*.py"))
        pages[name] = _names(name, package / "__init__.py", home) or "\n".join(
            _names(f"{name}.{module.stem}", module, home, name) for module in modules
        )
    for name in KIT_MODULES:
        path = ROOT / "kit" / name.replace(".", "/")
        pages[name] = _names(name, path / "__init__.py" if path.is_dir() else path.with_suffix(".py"), home)
    module_text = "::: {0}\n    options: {{members: false, show_root_heading: false, show_root_toc_entry: false}}"
    head = f'---\ntitle: "{{1}}"\n---\n\n# `{{0}}`\n\n{module_text}\n\n{{2}}'
    return {f"api/{name}.md": head.format(name, _title(name), text) for name, text in pages.items()}


def badges(cells: list[dict[str, Any]]) -> dict[str, str]:
    """Return the badges of the cells of ``matrix/results.json``, by their place on the site.

    A client's are those of its newest version, which comes first, as it is by default; a broker's those of each version.
    Cells that are "not run" have none.
    """
    found: dict[str, str] = {}
    for cell in cells:
        broker = cell["subject"] == "broker"
        if cell["state"] == "not run" or not (broker or "default" in cell["settings"]):
            continue
        name = re.sub(r"[^a-z0-9]+", "-", f"{cell['name']} {cell['version'] if broker else ''}".lower()).strip("-")
        state = cell["state"] + (f": {cell['severity']}" if cell["state"] == "differs" and "severity" in cell else "")
        badge = {"schemaVersion": 1, "label": f"Kafka: {cell['about']}", "message": f"{cell['version']} {state}",
                 "color": _COLORS[cell["state"]]}  # fmt: skip
        found.setdefault(f"matrix/badges/{name}/{cell['about']}.json", json.dumps(badge) + "\n")
    return found


def _title(name: str) -> str:
    """Return a name that is short enough for the navigation."""
    package, _, module = name.partition(".")
    return name if not module else module if package == "kafka_reference" else f"kit: {module}"


def public_names(module: Path) -> dict[str, str]:
    """Return the names in ``__all__`` of a module, without constants, and the module that each is imported from, or ""."""
    names, origins = [], {}
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            names = list(ast.literal_eval(node.value))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            origins[node.name] = ""
        elif isinstance(node, ast.ImportFrom):
            origins |= {alias.asname or alias.name: node.module or "" for alias in node.names}
    return {name: origins[name] for name in names if name in origins and not name.isupper()}


def _names(module: str, path: Path, home: dict[str, str], page: str = "") -> str:
    """Return the directives for the names of a module, and links for those that a page before has: ``home``."""
    lines, linked = [], []
    for name, origin in public_names(path).items():
        full = f"{origin or module}.{name}"
        first = home.setdefault(full, page or module)
        if first == (page or module) and f"::: {full}\n" not in lines:
            lines.append(f"::: {full}\n")
        else:
            linked.append(f"[`{name}`]({first}.md#{full})")
    also = f"Also here: {', '.join(linked)}.\n\n" if linked else ""
    return also + "\n".join(lines)


def expand(nav: list[Any], pages: list[str]) -> list[Any]:
    """Return the navigation with ``folder/*`` replaced by the pages of the folder that it does not list by name."""
    named = set(_listed(nav))
    return _expanded(nav, [page for page in pages if page not in named])


def _listed(nav: list[Any]) -> Iterator[str]:
    for item in nav:
        content = next(iter(item.values())) if isinstance(item, dict) else item
        yield from _listed(content) if isinstance(content, list) else [content]


def _expanded(nav: list[Any], pages: list[str]) -> list[Any]:
    found: list[Any] = []
    for item in nav:
        if isinstance(item, dict):
            found += [{name: _expanded(content, pages) if isinstance(content, list) else content}
                      for name, content in item.items()]  # fmt: skip
        elif item.endswith("/*"):
            folder = item.removesuffix("*")
            inside = [page for page in pages if page.startswith(folder) and "/" not in page.removeprefix(folder)]
            found += sorted(inside, key=_order)
        else:
            found.append(item)
    return found


def _order(page: str) -> tuple[list[int], str]:
    """Releases newest first, other pages by name; the reference before the kit."""
    stem = page.removesuffix(".md")
    if re.search(r"/[\d.]+$", stem):
        return [-int(number) for number in re.findall(r"\d+", stem)], stem
    return [stem.startswith("api/kafka_conformance")], stem
