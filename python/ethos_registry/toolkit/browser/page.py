"""One open page: what a model sees of it, and what it does there."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ethos_registry.capabilities.network.hosts import HostNotAllowedError, HostRules
from ethos_registry.capabilities.network.url import target_of
from ethos_registry.toolkit.arguments import RefusalError, shown

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, ElementHandle, JSHandle, Page

    from ethos_registry.capabilities.network.forward_proxy import ForwardProxy
    from ethos_registry.capabilities.network.lookup import Resolve

__all__ = ["OpenPage"]

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

    def __init__(self, turn: object, rules: HostRules, timeout_seconds: float) -> None:
        self.turn = turn
        self.rules = rules
        self.lock = asyncio.Lock()
        self._timeout_ms = timeout_seconds * 1_000
        self._blocked: dict[str, str] = {}
        self._windows: list[str] = []
        self._proxy: ForwardProxy | None = None
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._elements: JSHandle | None = None

    async def start(self, browser: PlaywrightBrowser, resolve: Resolve) -> None:
        """Open an empty page behind a proxy."""
        from ethos_registry.capabilities.network.forward_proxy import ForwardProxy

        self._proxy = ForwardProxy(self.rules, resolve, on_refusal=self._blocked.__setitem__)
        port = await self._proxy.start()
        # `<-loopback>`: addresses of this machine go through the proxy as well.
        self._context = await browser.new_context(
            accept_downloads=False,
            proxy={"server": f"http://127.0.0.1:{port}", "bypass": "<-loopback>"},
        )
        self._context.set_default_timeout(self._timeout_ms)
        self._page = await self._context.new_page()
        self._context.on("page", self._close_window)

    async def aclose(self) -> None:
        """Close the page and its connections."""
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

    @property
    def page(self) -> Page:
        """The page of Playwright."""
        assert self._page is not None
        return self._page

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
                f"{shown(url)} cannot be opened: {reason}; check the URL or use another page",
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
            lines.append(f"Blocked request to {shown(host)}: {reason}")
        for window in self._windows[:_MAX_BLOCKED]:
            lines.append(f"Closed a new window: {shown(window)}; open it with browser_open")
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
    text = f"[{number}] {' '.join(kind.split())} {shown(' '.join(name.split()))}"
    return f"{text} = {shown(value)}" if value else text
