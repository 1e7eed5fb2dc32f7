"""The tool `fetch_url`: a web page as Markdown."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from ethos_registry import _core
from ethos_registry.capabilities._address_guard import HostNotAllowedError
from ethos_registry.capabilities._network import ResponseTooLargeError, decoded_by
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    flag,
    optional_flag,
    quoted,
    required_text,
    string,
)
from ethos_registry.types import _checks
from ethos_registry.types._content import Audio, Document, Image
from ethos_registry.types._context import ToolContext
from ethos_registry.types._extras import has_extra, missing_extra
from ethos_registry.types._loop_thread import on_own_thread
from ethos_registry.types._policy import ToolCapabilities
from ethos_registry.types._ports import ScopedResponse
from ethos_registry.types._result import ToolOk, ToolResult, ok
from ethos_registry.types._tool import Tool

# What a request can raise.


def request_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions of a request that was permitted and failed, and `more`."""
    try:
        import httpcore
    except ImportError:
        return (OSError, *more)
    return (
        OSError,
        httpcore.NetworkError,
        httpcore.TimeoutException,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
        httpcore.ProxyError,
        *more,
    )


# Received bytes as a result: text as text, images, documents and audio as content blocks.

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The formats that providers accept."""
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def sniffed_type(data: bytes) -> str:
    """The media type that the content shows, whatever its name or headers claim."""
    if any(data.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS[1:]):
        return "text/plain"
    return _core.sniff_media_type(data) or "application/octet-stream"


def decoded(data: bytes, charset: str | None = None) -> str:
    """Text by its byte order mark, else by `charset`, else as UTF-8."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return decoded_by(charset or "utf-8", data)


def described_bytes(
    data: bytes,
    what: str,
    *,
    name: str | None = None,
    charset: str | None = None,
    structured: dict[str, Any] | None = None,
) -> ToolOk:
    """The result that shows `data`; a refusal for a format that models cannot read.

    `what` names the content in messages; `name` is the file name that providers show.
    """
    media_type = sniffed_type(data)
    facts = {**(structured or {}), "mediaType": media_type, "bytes": len(data)}
    if media_type.startswith("text/") or (charset and media_type == "application/octet-stream"):
        return ok(decoded(data, charset), structured=facts)
    block = _block(data, media_type, name)
    if block is None:
        raise RefusalError(
            f"{what} is {media_type} ({len(data):,} bytes), which cannot be shown; ask for it as "
            "text, PDF, PNG or JPEG",
            "not_available",
        )
    return ok(f"{what}: {block.describe()}", structured=facts, content=[block])


def _block(data: bytes, media_type: str, name: str | None) -> Image | Document | Audio | None:
    if media_type in _IMAGES:
        return Image(data, media_type, name)
    if media_type == "application/pdf":
        return Document(data, media_type, name)
    if media_type.startswith("audio/"):
        return Audio(data, media_type, name)
    return None


# HTML as Markdown (extra `web`): the main content of a page, or all of it.

_MAX_HTML_CHARS = 4_000_000
"""Longer pages are cut before they are parsed."""
_TAG = re.compile(r"""<[a-z](?:[^=>]+|=(?:\s*(?:"[^"]*"|'[^']*'))?)*""", re.IGNORECASE)
_QUOTED = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_MAX_TAG_CHARS = 1_000
"""Without quoted values: the parser compares each attribute of a tag with those before it."""
_MAX_TAGS = 50_000
"""To find the main part of a page takes time that grows with the square of its tags."""
_MAX_LINKS = 200
_NO_OUTPUT = logging.NullHandler()


def page_of(html: str, url: str, *, is_whole: bool) -> tuple[str, str]:
    """Title and main content of a page as Markdown; with `is_whole` all its text and its links.

    A page without a main part, such as a list of links, is returned whole; so is one that has more
    than 50,000 tags.
    """
    import trafilatura

    # Without a handler, its warnings about pages without content would be printed.
    logging.getLogger("trafilatura").addHandler(_NO_OUTPUT)
    html = _TAG.sub(_bounded_tag, html[:_MAX_HTML_CHARS])
    if "<html" not in html[:200].lower():
        html = f"<!DOCTYPE html><html>{html}"  # else the library takes a fragment for text
    tree = trafilatura.load_html(html)
    if tree is None:
        return "", html
    title = " ".join("".join(tree.xpath("//title[1]//text()")).split())
    main = None
    if not is_whole and html.count("<") <= _MAX_TAGS:
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
        return title, main
    base = "".join(tree.xpath("string(//base[1]/@href)"))
    lines = _links(tree, urljoin(url, base) if base else url)
    for hidden in tree.xpath("//script | //style | //noscript | //template"):
        hidden.drop_tree()
    blocks = (" ".join(text.split()) for text in tree.itertext())
    text = "\n".join(block for block in blocks if block)
    return title, text + (f"\n\nLinks:\n{lines}" if lines else "")


def _bounded_tag(found: re.Match[str]) -> str:
    tag = found[0]
    is_short = len(tag) <= _MAX_TAG_CHARS or len(_QUOTED.sub("=", tag)) <= _MAX_TAG_CHARS
    return tag if is_short else tag[:2]


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


_PROPERTIES = {
    "url": string("The address, with http:// or https://."),
    "wholePage": flag(
        "Return all text and links of the page, not only its main content. Default: false."
    ),
}
_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,"
    "*/*;q=0.5",
    "User-Agent": "ethos-registry (fetch_url)",
}
_TEXT_TYPES = re.compile(
    r"text/|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml)\b", re.IGNORECASE
)
_MAX_WAIT_DIGITS = 9
_STATUS_HELP = {
    400: "check the URL",
    401: "it needs a login; use another source",
    403: "the server refuses access; use another source",
    404: "the page does not exist; check the URL or search for it",
    405: "the server refuses access; use another source",
    410: "the page was removed; search for another source",
    429: "too many requests; wait before the next one, or use another source",
    451: "the page is blocked for legal reasons; use another source",
}


@_checks.checked_signature
def fetch_url_tool(*, allowed_hosts: Sequence[str] = ("*",)) -> Tool:
    """The tool `fetch_url(url, wholePage?)`, in the toolset `web` (extra `web`).

    HTML becomes Markdown: the main content of the page without navigation, advertisements and
    scripts; with `wholePage` all text and the links. JSON and other text is returned unchanged,
    images and PDFs as content blocks. The format is read from the content. `structured` holds
    `url` (after redirects), `status`, `title` of HTML, `mediaType` and `bytes`. The result is
    untrusted. A long page is cut to the budget, and its full text is stored as an artifact where
    the context has a store.

    Needs the backend `network` of `standard_backends()`. Requests go to public addresses of the
    permitted hosts only.

    Args:
        allowed_hosts: The hosts that the tool declares: `example.com`, `*.example.com` or `*` for
            all that the personality permits.

    Raises:
        ConfigError: The extra `web` is not installed.

    """
    if not has_extra("web"):
        raise missing_extra("fetch_url", "web")
    return argument_tool(
        "fetch_url",
        "Read a web page or file by its URL. Pages are returned as Markdown: the main content "
        "first; set wholePage for menus and links as well.",
        _PROPERTIES,
        _fetched,
        required=["url"],
        toolset="web",
        max_result_chars=40_000,
        output_is_untrusted=True,
        idempotent=True,
        capabilities=ToolCapabilities(network={"allowedHosts": list(allowed_hosts)}),
    )


async def _fetched(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    url = required_text(values, "url", "https://example.com/page").strip()
    is_whole = optional_flag(values, "wholePage")
    context.report(f"fetching {url[:200]}")
    reply = await _reply(url, context)
    if not reply.ok:
        raise _status_refusal(reply)
    facts: dict[str, Any] = {"url": reply.url, "status": reply.status}
    if not reply.content:
        return ok(f"{reply.url} is empty.", structured=facts)
    stated = reply.headers.get("content-type", "")
    charset = re.search(r"charset=\"?([\w.:-]+)", stated, re.IGNORECASE)
    media_type = sniffed_type(reply.content)
    if not _is_html(media_type, stated, reply.content):
        # Text in an older encoding looks like binary content; here its header decides.
        encoding = charset[1] if charset else "windows-1252" if _TEXT_TYPES.match(stated) else None
        is_utf_8 = media_type.startswith("text/")
        return described_bytes(
            reply.content,
            quoted(reply.url),
            name=reply.url.partition("?")[0].rpartition("/")[2] or None,
            charset=None if is_utf_8 and not charset else encoding,
            structured=facts,
        )
    html = _html_text(reply.content, charset[1] if charset else None)
    # On a thread of its own: a page may take long, and nothing else waits for it.
    title, markdown = await on_own_thread(lambda: page_of(html, reply.url, is_whole=is_whole))
    heading = f"# {title}\n" if title else ""
    facts |= {"title": title, "mediaType": "text/html", "bytes": len(reply.content)}
    return ok(f"{heading}{reply.url}\n\n{markdown}", structured=facts)


async def _reply(url: str, context: ToolContext) -> ScopedResponse:
    fetch = context.scoped_fetch
    assert fetch is not None
    try:
        return await fetch.fetch(url, headers=_HEADERS)
    except HostNotAllowedError as error:
        raise RefusalError(
            f"{error}; use a public page of a permitted host, or ask the user to permit this one",
            "not_available",
        ) from None
    except ResponseTooLargeError as error:
        raise RefusalError(
            f"{quoted(url)}: {error}; look for a smaller page or a part of it", "execution_failed"
        ) from None
    except TimeoutError as error:
        raise RefusalError(
            f"{quoted(url)}: {error}; try again later or use another source", "execution_failed"
        ) from None
    except request_errors() as error:
        raise RefusalError(
            f"{quoted(url)} cannot be fetched: {str(error) or type(error).__name__}; check the URL "
            "or use another source",
            "execution_failed",
        ) from None


def _status_refusal(reply: ScopedResponse) -> RefusalError:
    status = reply.status
    way_out = _STATUS_HELP.get(status, "check the URL or use another source")
    if status >= 500:
        way_out = "the server has a problem; try again later or use another source"
    wait = reply.headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit() and len(wait) <= _MAX_WAIT_DIGITS:
        way_out += f" (the server asks to wait {int(wait):,} seconds)"
    return RefusalError(f"{quoted(reply.url)}: HTTP {status}; {way_out}", "execution_failed")


def _is_html(media_type: str, stated: str, content: bytes) -> bool:
    """Whether to read the content as HTML; a header alone does not make a PDF or image one."""
    if media_type == "text/html":
        return True
    if not re.match(r"text/html|application/xhtml\+xml", stated.strip(), re.IGNORECASE):
        return False
    is_text = media_type.startswith("text/") or media_type == "application/octet-stream"
    return is_text and b"\0" not in content[:1_024]


_META_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([\w.:-]+)", re.IGNORECASE)


def _html_text(content: bytes, charset: str | None) -> str:
    declared = None if charset else _META_CHARSET.search(content[:4_096])
    return decoded(content, declared[1].decode("ascii") if declared else charset)
