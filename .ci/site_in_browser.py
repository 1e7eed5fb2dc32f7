"""Open every page of the built site in Chromium, at three widths, light and dark.

    python .ci/site_in_browser.py target/site

Exit code 1: a page asks another host, misses a file, links to none, logs an error, is wider than
the window, or has text that is hard to read.
"""

from __future__ import annotations

import functools
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page, Request, Response, sync_playwright

WIDTHS = (390, 820, 1440)
SCHEMES = ("light", "dark")
MIN_CONTRAST = 4.5  # of the Web Content Accessibility Guidelines, level AA

# What sticks out of the window, and is not inside of something that scrolls.
TOO_WIDE = """() => [...document.querySelectorAll(".md-main *")].filter(element => {
    if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
    if (element.closest(".md-sidebar, .md-top, svg")) return false;
    for (let parent = element; parent; parent = parent.parentElement)
        if (getComputedStyle(parent).overflowX != "visible") return false;
    return true;
}).map(element => element.textContent.trim().slice(0, 40))"""

CONTRAST = """() => {
    const rgb = color => color.match(/[\\d.]+/g).map(Number);
    const light = color => rgb(color).slice(0, 3)
        .map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const text = document.querySelector(".md-typeset p, .md-typeset h1");
    const over = (rgba, under) => rgba.slice(0, 3)
        .map((part, at) => part * (rgba[3] ?? 1) + under[at] * (1 - (rgba[3] ?? 1)));
    const back = rgb(getComputedStyle(document.body).backgroundColor);
    const front = over(rgb(getComputedStyle(text).color), back);
    const both = [`rgb(${front})`, `rgb(${back})`].map(light).sort((a, b) => b - a);
    return (both[0] + 0.05) / (both[1] + 0.05);
}"""


LINKS = """() => [...document.querySelectorAll("a[href]")]
    .filter(link => link.origin == location.origin).map(link => decodeURI(link.pathname))"""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Within the block, the folder is served at the address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def messages_of(page: Page, address: str) -> list[str]:
    """A list that gets what goes wrong while the page loads."""
    messages: list[str] = []

    def requested(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            messages.append(f"asks {request.url}")

    def answered(response: Response) -> None:
        if response.status >= 400:
            messages.append(f"{response.status} of {response.url}")

    page.on("request", requested)
    page.on("response", answered)
    page.on("pageerror", lambda error: messages.append(f"error {error}"))
    return messages


def faults_of(page: Page, address: str, root: Path) -> Iterator[str]:
    """What is wrong with one page."""
    page.goto(address)
    for link in sorted(set(page.evaluate(LINKS))):
        if not (root / link.lstrip("/")).exists():
            yield f"links to {link}, which is not there"
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        if (contrast := page.evaluate(CONTRAST)) < MIN_CONTRAST:
            yield f"{scheme}: a contrast of {contrast:.1f}"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        yield from (f"{width} px: too wide: {text!r}" for text in page.evaluate(TOO_WIDE)[:3])


def main(folder: str) -> int:
    """Look at each page."""
    found = 0
    root = Path(folder)
    # 404.html is for every path: its links start with the path of the published site.
    pages = sorted(set(root.rglob("*.html")) - {root / "404.html"})
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright, served(root) as address:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        messages = messages_of(page, address)
        for path in pages:
            name = path.relative_to(root).as_posix()
            for fault in [*faults_of(page, f"{address}/{name}", root), *messages]:
                found = 1
                print(f"{name}: {fault}")
            messages.clear()
        browser.close()
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, light and dark")
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
