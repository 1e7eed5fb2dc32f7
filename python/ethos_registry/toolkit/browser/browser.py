"""The tools that open, read, click, type and take screenshots of web pages."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.content import Image
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.ports import TurnScope
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import (
    RefusalError,
    known_arguments,
    optional_flag,
    optional_whole_number,
    required_text,
)
from ethos_registry.toolkit.browser.chromium import BrowserThread, find_chromium, has_playwright
from ethos_registry.toolkit.browser.page import OpenPage

__all__ = ["Browser"]

Work = Callable[[OpenPage, Any], Awaitable[ToolResult]]

_ELEMENT = {
    "type": "integer",
    "minimum": 1,
    "description": "Number of the element, as browser_read shows it.",
}
_MAX_TYPED_CHARS = 10_000


class Browser:
    """Tools that use web pages in an installed Chromium (extra `browser`).

    `tools()` returns `browser_open`, `browser_read`, `browser_click`, `browser_type` and
    `browser_screenshot`, in the toolset `browser`. A session has one page, which is closed when a
    call of a later turn opens another, when `max_pages` others were used since, and by `close()`.
    Given to a turn, as `registry.turn(context, browser)`, each turn has a page of its own, closed
    when the turn is acknowledged.

    Every connection of a page, with those of its scripts, frames, WebSockets and workers, is made
    by a proxy on this machine that connects to permitted hosts and judged addresses only. The tools
    need the backend `network` of `standard_backends()`; they are hidden where Chromium or
    Playwright is missing. Results are untrusted.

    Args:
        allowed_hosts: The hosts that the tools declare. Default: all that the personality permits.
        executable_path: The program. Default: `chromium` or `google-chrome` on the path.
        timeout_seconds: How long one action may take.
        max_pages: How many pages are open at once. Of more, the one that was not used for the
            longest time is closed.

    """

    def __init__(
        self,
        *,
        allowed_hosts: Sequence[str] = ("*",),
        executable_path: str | None = None,
        timeout_seconds: float = 30.0,
        max_pages: int = 16,
    ) -> None:
        checks.finite_number(max_pages, "max_pages", minimum=1, whole=True)
        self._allowed_hosts = list(allowed_hosts)
        self._executable_path = executable_path
        self._timeout_seconds = timeout_seconds
        self._max_pages = max_pages
        self._thread = BrowserThread(executable_path)
        self._pages: dict[object, OpenPage] = {}
        self._turns: weakref.WeakKeyDictionary[TurnScope, object] = weakref.WeakKeyDictionary()

    def tools(self) -> list[Tool]:
        """The five tools, with one page a session."""
        return self._tools(None)

    def __call__(self, context: TurnScope) -> list[Tool]:
        """The five tools for one turn; its page is closed when the turn is acknowledged."""
        key = self._turns.get(context)
        if key is None:
            key = self._turns[context] = object()
            context.on_ack(lambda: self._abandon(key))
        return self._tools(key)

    async def aclose(self) -> None:
        """Close all pages and end Chromium."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close all pages and end Chromium; it starts again with the next call."""
        pages = [self._pages.pop(key) for key in [*self._pages]]
        for page in pages:
            self._thread.submit(page.aclose()).result(self._timeout_seconds)
        self._thread.close()

    def _abandon(self, key: object) -> None:
        page = self._pages.pop(key, None)
        if page is not None:
            self._thread.submit(page.aclose())

    def _is_available(self) -> bool:
        return has_playwright() and (self._executable_path or find_chromium()) is not None

    def _tools(self, key: object) -> list[Tool]:
        def make(
            name: str, description: str, properties: dict[str, Any], required: list[str], work: Work
        ) -> Tool:
            async def execute(args: Any, context: ToolContext) -> ToolResult:
                try:
                    values = known_arguments(args, tuple(properties), name)
                    opens = name == "browser_open"
                    running = self._run(key, context, work, values, opens=opens)
                    return await asyncio.wrap_future(self._thread.submit(running))
                except RefusalError as refusal:
                    return refusal.error

            schema = {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
            return Tool(
                name,
                description,
                schema,
                execute,
                toolset="browser",
                max_result_chars=40_000,
                output_is_untrusted=True,
                is_available=self._is_available,
                capabilities=ToolCapabilities(network={"allowedHosts": self._allowed_hosts}),
            )

        return [
            make(
                "browser_open",
                "Open a web page in a browser. Returns its text and numbered elements.",
                {"url": {"type": "string", "description": "The address, with https://."}},
                ["url"],
                _open,
            ),
            make(
                "browser_read",
                "Read the open page again: its text and numbered elements.",
                {},
                [],
                _read,
            ),
            make(
                "browser_click",
                "Click an element of the open page. Returns the page after it.",
                {"element": _ELEMENT},
                ["element"],
                _click,
            ),
            make(
                "browser_type",
                "Replace the text of a field of the open page. Returns the page after it.",
                {
                    "element": _ELEMENT,
                    "text": {"type": "string", "description": "What to type."},
                    "submit": {
                        "type": "boolean",
                        "description": "Press Enter afterwards. Default: false.",
                    },
                },
                ["element", "text"],
                _type,
            ),
            make(
                "browser_screenshot",
                "See the open page as an image.",
                {
                    "fullPage": {
                        "type": "boolean",
                        "description": "The whole page, not only what is visible. Default: false.",
                    }
                },
                [],
                _screenshot,
            ),
        ]

    async def _run(
        self, key: object, context: ToolContext, work: Work, values: Any, *, opens: bool
    ) -> ToolResult:
        """One action, on the browser's loop."""
        from playwright.async_api import Error

        page = await self._page(key, context, opens=opens)
        try:
            async with page.lock, asyncio.timeout(self._timeout_seconds + 10):
                return await work(page, values)
        except (Error, TimeoutError) as error:
            reason = str(error).partition("\n")[0] or "it took too long"
            raise RefusalError(
                f"the browser could not do this: {reason}; read the page again with browser_read",
                "execution_failed",
            ) from None

    async def _page(self, key: object, context: ToolContext, *, opens: bool) -> OpenPage:
        rules = getattr(context.scoped_fetch, "rules", None)
        resolve = getattr(context.scoped_fetch, "resolve", None)
        if rules is None or resolve is None:
            raise ConfigError("the browser needs the backend `network` of standard_backends()")
        turn: object = None
        if key is None:
            key, turn = context.session_id, context.current_turn
        page = self._pages.get(key)
        if page is not None and (page.turn, page.rules) == (turn, rules):
            self._pages[key] = self._pages.pop(key)  # used last
            return page
        if page is not None:
            del self._pages[key]
            await page.aclose()
        if not opens:
            raise RefusalError("no page is open; open one with browser_open", "not_available")
        await self._make_room()
        page = self._pages[key] = OpenPage(turn, rules, self._timeout_seconds)
        try:
            async with page.lock:
                await page.start(await self._thread.browser(), resolve)
        except BaseException:
            self._pages.pop(key, None)
            await page.aclose()
            raise
        return page

    async def _make_room(self) -> None:
        """Close the pages that were not used for the longest time, but none that is in use."""
        idle = [key for key, page in self._pages.items() if not page.lock.locked()]
        for key in idle[: max(len(self._pages) + 1 - self._max_pages, 0)]:
            await self._pages.pop(key).aclose()


async def _open(page: OpenPage, values: Any) -> ToolResult:
    url = required_text(values, "url", "https://example.com/page").strip()
    return await _shown(page, page.open(url))


async def _read(page: OpenPage, values: Any) -> ToolResult:
    return await _shown(page, page.read())


async def _click(page: OpenPage, values: Any) -> ToolResult:
    element = await page.element(_number(values))
    await element.click()
    return await _shown(page, page.read())


async def _type(page: OpenPage, values: Any) -> ToolResult:
    text = values.get("text")
    if not isinstance(text, str) or len(text) > _MAX_TYPED_CHARS:
        raise RefusalError(f"`text` must be a string of at most {_MAX_TYPED_CHARS:,} characters")
    submits = optional_flag(values, "submit")
    element = await page.element(_number(values))
    await element.fill(text)
    if submits:
        await element.press("Enter")
    return await _shown(page, page.read())


async def _screenshot(page: OpenPage, values: Any) -> ToolResult:
    is_full = optional_flag(values, "fullPage")
    data = await page.page.screenshot(full_page=is_full, type="png")
    image = Image(data, "image/png")
    return ok(f"{page.page.url}: {image.describe()}", content=[image])


async def _shown(page: OpenPage, reading: Coroutine[Any, Any, str]) -> ToolResult:
    text = await reading
    return ok(text, structured={"url": page.page.url})


def _number(values: Any) -> int:
    number = optional_whole_number(values, "element", minimum=1)
    if number is None:
        raise RefusalError("`element` is missing; give a number that browser_read shows")
    return number
