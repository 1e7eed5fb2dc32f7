"""An installed Chromium on a thread of its own, driven by Playwright."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from ethos_registry.contract.extras import has_extra

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser

__all__ = ["BrowserThread", "find_chromium", "has_playwright"]

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
    """The path of an installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


def has_playwright() -> bool:
    """Whether Playwright is installed."""
    return has_extra("browser")


class BrowserThread:
    """An event loop on a daemon thread, and one Chromium that is started when it is needed."""

    def __init__(self, executable_path: str | None) -> None:
        self._executable_path = executable_path
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._started: asyncio.Lock | None = None
        self._playwright: Any = None
        self._browser: PlaywrightBrowser | None = None
        atexit.register(_close_at_exit, weakref.ref(self))

    def submit(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """Run a coroutine on the browser's loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._started = asyncio.Lock()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="browser", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

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
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._stop(), loop).result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _close_at_exit(reference: weakref.ref[BrowserThread]) -> None:
    thread = reference()
    if thread is not None:
        thread.close()
