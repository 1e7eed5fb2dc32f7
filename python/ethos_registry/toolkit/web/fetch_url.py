"""The tool `fetch_url`: a web page as Markdown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from ethos_registry.capabilities.network.exchange import ResponseTooLargeError
from ethos_registry.capabilities.network.hosts import HostNotAllowedError
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.scoped_ports import ScopedResponse
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import (
    RefusalError,
    known_arguments,
    optional_flag,
    required_text,
    shown,
)
from ethos_registry.toolkit.network_errors import request_errors
from ethos_registry.toolkit.received import decoded, received, sniffed_type
from ethos_registry.toolkit.web.page import check_web_extra, page_of

__all__ = ["fetch_url_tool"]

_SCHEMA = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "description": "The address, with http:// or https://."},
        "wholePage": {
            "type": "boolean",
            "description": "Return all text and links of the page, not only its main content. "
            "Default: false.",
        },
    },
    "required": ["url"],
    "additionalProperties": False,
}
_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,"
    "*/*;q=0.5",
    "User-Agent": "ethos-registry (fetch_url)",
}
_TEXT_TYPES = re.compile(
    r"text/|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml)\b", re.IGNORECASE
)
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
    check_web_extra()

    async def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return await _fetched(args, context)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        "fetch_url",
        "Read a web page or file by its URL. Pages are returned as Markdown: the main content "
        "first; set wholePage for menus and links as well.",
        _SCHEMA,
        execute,
        toolset="web",
        max_result_chars=40_000,
        output_is_untrusted=True,
        idempotent=True,
        capabilities=ToolCapabilities(network={"allowedHosts": list(allowed_hosts)}),
    )


async def _fetched(args: Any, context: ToolContext) -> ToolResult:
    values = known_arguments(args, ("url", "wholePage"), "fetch_url")
    url = required_text(values, "url", "https://example.com/page").strip()
    is_whole = optional_flag(values, "wholePage")
    context.report(f"fetching {url[:200]}")
    reply = await _reply(url, context)
    if not reply.ok:
        raise _status_refusal(reply)
    if not reply.content:
        return ok(f"{reply.url} is empty.", structured={"url": reply.url, "status": reply.status})
    facts: dict[str, Any] = {"url": reply.url, "status": reply.status}
    stated = reply.headers.get("content-type", "")
    charset = re.search(r"charset=\"?([\w.:-]+)", stated, re.IGNORECASE)
    media_type = sniffed_type(reply.content)
    if not _is_html(media_type, stated, reply.content):
        # Text in an older encoding looks like binary content; here its header decides.
        encoding = charset[1] if charset else "windows-1252" if _TEXT_TYPES.match(stated) else None
        is_utf_8 = media_type.startswith("text/")
        return received(
            reply.content,
            shown(reply.url),
            name=reply.url.partition("?")[0].rpartition("/")[2] or None,
            charset=None if is_utf_8 and not charset else encoding,
            structured=facts,
        )
    html = _html_text(reply.content, charset[1] if charset else None)
    page = await asyncio.to_thread(page_of, html, reply.url, is_whole=is_whole)
    heading = f"# {page.title}\n" if page.title else ""
    facts |= {"title": page.title, "mediaType": "text/html", "bytes": len(reply.content)}
    return ok(f"{heading}{reply.url}\n\n{page.markdown}", structured=facts)


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
            f"{shown(url)}: {error}; look for a smaller page or a part of it", "execution_failed"
        ) from None
    except TimeoutError as error:
        raise RefusalError(
            f"{shown(url)}: {error}; try again later or use another source", "execution_failed"
        ) from None
    except request_errors() as error:
        raise RefusalError(
            f"{shown(url)} cannot be fetched: {str(error) or type(error).__name__}; check the URL "
            "or use another source",
            "execution_failed",
        ) from None


def _status_refusal(reply: ScopedResponse) -> RefusalError:
    status = reply.status
    way_out = _STATUS_HELP.get(status)
    if way_out is None:
        if status >= 500:
            way_out = "the server has a problem; try again later or use another source"
        else:
            way_out = "check the URL or use another source"
    wait = reply.headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit():
        way_out += f" (the server asks to wait {int(wait):,} seconds)"
    return RefusalError(f"{shown(reply.url)}: HTTP {status}; {way_out}", "execution_failed")


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
