"""HTML as Markdown (extra `web`): the main content of a page, or all of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from urllib.parse import urljoin

from ethos_registry.contract.extras import has_extra, missing_extra

__all__ = ["Page", "check_web_extra", "page_of"]

_MAX_HTML_CHARS = 4_000_000
"""Longer pages are cut before they are parsed."""
_MAX_LINKS = 200
_NO_OUTPUT = logging.NullHandler()


@dataclass(frozen=True, slots=True)
class Page:
    """The content of an HTML page."""

    title: str
    markdown: str


def check_web_extra() -> None:
    """Raise `ConfigError` unless the extra `web` is installed."""
    if not has_extra("web"):
        raise missing_extra("fetch_url", "web")


def page_of(html: str, url: str, *, is_whole: bool) -> Page:
    """The main content of a page as Markdown; with `is_whole` all its text and its links.

    A page without a main part, such as a list of links, is returned whole.
    """
    import trafilatura

    # Without a handler, its warnings about pages without content would be printed.
    logging.getLogger("trafilatura").addHandler(_NO_OUTPUT)
    html = html[:_MAX_HTML_CHARS]
    if "<html" not in html[:200].lower():
        html = f"<!DOCTYPE html><html>{html}"  # else the library takes a fragment for text
    tree = trafilatura.load_html(html)
    if tree is None:
        return Page("", html)
    title = " ".join("".join(tree.xpath("//title[1]//text()")).split())
    main = None
    if not is_whole:
        main = trafilatura.extract(
            html,
            url=url,
            output_format="markdown",
            include_comments=False,
            include_formatting=True,
            include_links=True,
            include_tables=True,
        )
    if main:
        return Page(title, main)
    base = "".join(tree.xpath("string(//base[1]/@href)"))
    lines = _links(tree, urljoin(url, base) if base else url)
    for hidden in tree.xpath("//script | //style | //noscript | //template"):
        hidden.drop_tree()
    blocks = (" ".join(text.split()) for text in tree.itertext())
    text = "\n".join(block for block in blocks if block)
    return Page(title, text + (f"\n\nLinks:\n{lines}" if lines else ""))


def _links(tree: object, base: str) -> str:
    """The links of a page, each once."""
    found: dict[str, str] = {}
    for anchor in tree.iter("a"):  # type: ignore[attr-defined]
        target = (anchor.get("href") or "").strip()
        if not target or target.startswith(("#", "javascript:", "data:")):
            continue
        try:
            url = urljoin(base, target)
        except ValueError:
            continue
        label = " ".join("".join(anchor.itertext()).split())
        if url not in found and url.startswith(("http://", "https://")):
            found[url] = label
        if len(found) == _MAX_LINKS:
            break
    return "\n".join(f"- [{label or url}]({url})" for url, label in found.items())
