"""The tools that open, read, click, type and take screenshots of web pages."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from ethos_registry.capabilities._address_guard import HostNotAllowedError, HostRules, target_of
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    flag,
    optional_flag,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.types import _checks
from ethos_registry.types._content import Image
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import has_extra
from ethos_registry.types._loop_thread import LoopThread
from ethos_registry.types._policy import ToolCapabilities
from ethos_registry.types._ports import TurnScope
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

if TYPE_CHECKING:
    from playwright.async_api import (
        Browser as PlaywrightBrowser,
    )
    from playwright.async_api import (
        BrowserContext,
        ElementHandle,
        JSHandle,
        Page,
    )

    from ethos_registry.capabilities._address_guard import Resolve
    from ethos_registry.capabilities._guarded_connections import ForwardProxy

# An installed Chromium on a thread of its own, driven by Playwright.

R = TypeVar("R")

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    # Without a proxy, WebRTC would send UDP packets past it.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_NOWHERE = "http://127.0.0.1:1"
"""The proxy of everything that has none: nothing listens there."""
_CLOSE_SECONDS = 10.0


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


class BrowserThread:
    """An event loop on a daemon thread, and one Chromium that is started when it is needed."""

    def __init__(self, executable_path: str | None) -> None:
        self._executable_path = executable_path
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._started: asyncio.Lock | None = None
        self._playwright: Any = None
        self._browser: PlaywrightBrowser | None = None
        atexit.register(_close_at_exit, weakref.ref(self))

    def submit(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        with self._lock:
            if self._thread is None:
                self._started = asyncio.Lock()
                self._thread = LoopThread("browser")
            return self._thread.submit(work)

    async def browser(self) -> PlaywrightBrowser:
        """The running Chromium; on the browser's loop."""
        assert self._started is not None
        async with self._started:
            if self._browser is None or not self._browser.is_connected():
                from playwright.async_api import async_playwright

                if self._playwright is None:
                    self._playwright = await async_playwright().start()
                flags = [*_FLAGS]
                if hasattr(os, "geteuid") and os.geteuid() == 0:
                    flags.append("--no-sandbox")  # Chromium's own sandbox refuses to run as root
                self._browser = await self._playwright.chromium.launch(
                    executable_path=self._executable_path or find_chromium(),
                    args=flags,
                    proxy={"server": _NOWHERE},
                )
            return self._browser

    async def _stop(self) -> None:
        if self._browser is not None:
            with contextlib.suppress(Exception):
                await self._browser.close()
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                await self._playwright.stop()
        self._browser = self._playwright = None

    def close(self) -> None:
        """End the browser and its thread; from any other thread."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        with contextlib.suppress(Exception):
            thread.submit(self._stop()).result(_CLOSE_SECONDS)
        thread.close(_CLOSE_SECONDS)


def _close_at_exit(reference: weakref.ref[BrowserThread]) -> None:
    thread = reference()
    if thread is not None:
        thread.close()


# One open page: what a model sees of it, and what it does there.

_MAX_TEXT_CHARS = 400_000
_MAX_BLOCKED = 5
_START_SECONDS = 0.05
"""Before a click or a key has an effect."""
_LOAD_SECONDS = 10.0
_SETTLE_SECONDS = 0.5
_READ_ATTEMPTS = 3
_WINDOW_SECONDS = 2.0
"""For the address of a window that a page opens."""
_WAY_OUT = "open a public page of a permitted host, or ask the user to permit this one"

_ELEMENTS = """() => [...document.querySelectorAll(
  'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],' +
  '[role=button],[role=link],[role=checkbox],[role=tab],[role=menuitem],[onclick]')]
  .filter(e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && !e.disabled;
  }).slice(0, 200)"""
_DESCRIBED = """list => list.map(e => {
  const tag = e.tagName.toLowerCase(), type = String(e.type || '');
  const kind = e.getAttribute('role') || (tag === 'a' ? 'link' : tag === 'input' ? type : tag);
  const label = e.labels && e.labels[0] ? e.labels[0].innerText : '';
  const name = e.getAttribute('aria-label') || label || e.innerText || e.placeholder || e.title ||
    e.name || '';
  const value = type === 'password' || tag === 'button' ? '' : String(e.value ?? '');
  return [String(kind).slice(0, 40), String(name).slice(0, 100), value.slice(0, 100)];
})"""


class OpenPage:
    """A page in a browser context of its own, whose every connection a judging proxy makes."""

    page: Page
    """The page of Playwright, once it is started."""

    def __init__(self, turn: object, rules: HostRules, timeout_seconds: float) -> None:
        self.turn = turn
        self.rules = rules
        self.lock = asyncio.Lock()
        self._timeout_ms = timeout_seconds * 1_000
        self._blocked: dict[str, str] = {}
        self._windows: list[str] = []
        self._proxy: ForwardProxy | None = None
        self._context: BrowserContext | None = None
        self._elements: JSHandle | None = None

    async def start(self, browser: PlaywrightBrowser, resolve: Resolve) -> None:
        """Open an empty page behind a proxy."""
        from ethos_registry.capabilities._guarded_connections import ForwardProxy

        self._proxy = ForwardProxy(self.rules, resolve, on_refusal=self._blocked.__setitem__)
        port = await self._proxy.start()
        # `<-loopback>`: addresses of this machine go through the proxy as well.
        self._context = await browser.new_context(
            accept_downloads=False,
            proxy={"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"},
        )
        self._context.set_default_timeout(self._timeout_ms)
        self.page = await self._context.new_page()
        self._context.on("page", self._close_window)

    async def aclose(self) -> None:
        if self._context is not None:
            with contextlib.suppress(Exception):  # the browser may be gone
                await self._context.close()
        if self._proxy is not None:
            await self._proxy.aclose()

    async def _close_window(self, page: Page) -> None:
        """There is one page: a window that it opens is closed and reported."""
        with contextlib.suppress(Exception):
            await page.wait_for_load_state("domcontentloaded", timeout=_WINDOW_SECONDS * 1_000)
        self._windows.append(page.url)
        with contextlib.suppress(Exception):
            await page.close()

    async def open(self, url: str) -> str:
        """Go to an address; returns what is there."""
        from playwright.async_api import Error

        try:
            target = target_of(url)
            self.rules.check(target.host)
        except HostNotAllowedError as error:
            raise RefusalError(f"{error}; {_WAY_OUT}", "not_available") from None
        self._blocked.clear()
        try:
            reply = await self.page.goto(target.url, wait_until="domcontentloaded")
        except Error as error:
            self._refuse_blocked()
            reason = str(error).partition("\n")[0].removeprefix("Page.goto: ")
            raise RefusalError(
                f"{quoted(url)} cannot be opened: {reason}; check the URL or use another page",
                "execution_failed",
            ) from None
        if reply is not None and reply.status in (403, 502):
            self._refuse_blocked()
        return await self.read()

    def _refuse_blocked(self) -> None:
        """Refuse an address whose connection, or that of its redirect, was not permitted."""
        for reason in self._blocked.values():
            raise RefusalError(f"{reason}; {_WAY_OUT}", "not_available")

    async def read(self) -> str:
        """Title, address, text and numbered elements."""
        from playwright.async_api import Error

        for _ in range(_READ_ATTEMPTS):
            try:
                return await self._read()
            except Error as error:  # the page went elsewhere while it was read
                if "context was destroyed" not in str(error):
                    raise
        return await self._read()

    async def _read(self) -> str:
        page = self.page
        await asyncio.sleep(_START_SECONDS)
        with contextlib.suppress(Exception):
            await page.wait_for_load_state("load", timeout=_LOAD_SECONDS * 1_000)
            await page.wait_for_load_state("networkidle", timeout=_SETTLE_SECONDS * 1_000)
        text = await page.evaluate(
            "limit => (document.body ? document.body.innerText : '').slice(0, limit)",
            _MAX_TEXT_CHARS,
        )
        self._elements = await page.evaluate_handle(_ELEMENTS)
        described = await self._elements.evaluate(_DESCRIBED)
        lines = [f"# {' '.join((await page.title()).split())}", page.url, "", str(text).strip()]
        if described:
            lines += ["", "Elements:"]
            lines += [_line(number, *item) for number, item in enumerate(described, 1)]
        for host, reason in list(self._blocked.items())[:_MAX_BLOCKED]:
            lines.append(f"Blocked request to {quoted(host)}: {reason}")
        for window in self._windows[:_MAX_BLOCKED]:
            lines.append(f"Closed a new window: {quoted(window)}; open it with browser_open")
        self._blocked.clear()
        self._windows.clear()
        return "\n".join(lines)

    async def element(self, number: int) -> ElementHandle:
        """The element that `read` showed under this number."""
        found: Any = None
        if self._elements is not None:
            with contextlib.suppress(Exception):  # the page that had it is gone
                found = (await self._elements.get_property(str(number - 1))).as_element()
        if found is None:
            raise RefusalError(
                f"`element`: there is no element {number}; read the page again with browser_read "
                "and use one of its numbers"
            )
        return found  # type: ignore[no-any-return]


def _line(number: int, kind: str, name: str, value: str) -> str:
    text = f"[{number}] {' '.join(kind.split())} {quoted(' '.join(name.split()))}"
    return f"{text} = {quoted(value)}" if value else text


Work = Callable[[OpenPage, Any], Awaitable[ToolResult]]

_ELEMENT = whole_number("Number of the element, as browser_read shows it.")
_MAX_TYPED_CHARS = 10_000


@_checks.checked_class
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
        _checks.whole_count(max_pages, "max_pages")
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
        return has_extra("browser") and (self._executable_path or find_chromium()) is not None

    def _tools(self, key: object) -> list[Tool]:
        def make(
            name: str, description: str, properties: dict[str, Any], required: list[str], work: Work
        ) -> Tool:
            async def perform(values: Any, context: ToolContext) -> ToolResult:
                opens = name == "browser_open"
                running = self._run(key, context, work, values, opens=opens)
                return await asyncio.wrap_future(self._thread.submit(running))

            return argument_tool(
                name,
                description,
                properties,
                perform,
                required=required,
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
                {"url": string("The address, with https://.")},
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
                    "text": string("What to type."),
                    "submit": flag("Press Enter afterwards. Default: false."),
                },
                ["element", "text"],
                _type,
            ),
            make(
                "browser_screenshot",
                "See the open page as an image.",
                {"fullPage": flag("The whole page, not only what is visible. Default: false.")},
                [],
                _screenshot,
            ),
        ]

    async def _run(
        self, key: object, context: ToolContext, work: Work, values: Any, *, opens: bool
    ) -> ToolResult:
        """One action, on the browser's loop."""
        from playwright.async_api import Error

        try:
            page = await self._page(key, context, opens=opens)
            async with page.lock, asyncio.timeout(self._timeout_seconds + 10):
                if page not in self._pages.values():  # it could not be started, or was replaced
                    raise RefusalError(
                        "the page was closed meanwhile; open one with browser_open", "not_available"
                    )
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
    return _shown(page, await page.open(url))


async def _read(page: OpenPage, values: Any) -> ToolResult:
    return _shown(page, await page.read())


async def _click(page: OpenPage, values: Any) -> ToolResult:
    element = await page.element(_number(values))
    await element.click()
    return _shown(page, await page.read())


async def _type(page: OpenPage, values: Any) -> ToolResult:
    text = values.get("text")
    if not isinstance(text, str) or len(text) > _MAX_TYPED_CHARS:
        raise RefusalError(f"`text` must be a string of at most {_MAX_TYPED_CHARS:,} characters")
    submits = optional_flag(values, "submit")
    element = await page.element(_number(values))
    await element.fill(text)
    if submits:
        await element.press("Enter")
    return _shown(page, await page.read())


async def _screenshot(page: OpenPage, values: Any) -> ToolResult:
    is_full = optional_flag(values, "fullPage")
    data = await page.page.screenshot(full_page=is_full, type="png")
    image = Image(data, "image/png")
    return ok(f"{page.page.url}: {image.describe()}", content=[image])


def _shown(page: OpenPage, text: str) -> ToolResult:
    return ok(text, structured={"url": page.page.url})


def _number(values: Any) -> int:
    number = optional_whole_number(values, "element", minimum=1)
    if number is None:
        raise RefusalError("`element` is missing; give a number that browser_read shows")
    return number
