"""The usage page in a real browser: what it shows is what the ledger counted."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import struct
import threading
import time
from contextlib import contextmanager

import pytest

from ethos_registry import Tool, ok
from ethos_registry._cli.usage import make_server
from ethos_registry.registry import Registration
from ethos_registry.usage import UsageLedger, read_usage
from usage_tools import missing

BROWSER_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"> & <!--"


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("chromium", "Chromium is not installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("chromium", "playwright is not installed")
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
        yield running
        running.close()


def filled(path):
    """A ledger of some tools, agents and days, with names that models might choose."""
    now = time.time()
    ledger = UsageLedger(path)
    ledger.add_tools(
        [
            Registration(
                Tool(name, description, {"type": "object"}, lambda args, context: ok("")),
                owner=owner,
                registered_at_seconds=now - 60 * 86_400,
            )
            for name, owner, description in (
                ("lore_search", "hawken", f"Find lore. {HOSTILE}"),
                ("wiki", "lagan", "Look it up."),
                ("old_index", "lagan", "Nobody needs it."),
            )
        ]
    )
    for number in range(3_000):
        ledger.record(
            ("lore_search", "wiki", "lore_search")[number % 3],
            ("hawken", "lagan")[number % 2],
            ("ok", "ok", "failed", "denied")[number % 4],
            owner=("hawken", "lagan", "hawken")[number % 3],
            duration_seconds=0.001 * (number % 100),
            raw_chars=number,
            sent_chars=number // 2,
            cost_usd=0.001,
            started_at_seconds=now - number % 10 * 86_400,
        )
    ledger.record(HOSTILE, "hawken", "unknown")
    return ledger


@contextmanager
def shown(browser, address, **options):
    """A page that made no errors and no requests but those to its own address."""
    problems, requests = [], []
    page = browser.new_page(**options)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    yield page
    origin = address if address.startswith("file:") else address.rstrip("/")
    assert not [url for url in requests if not url.startswith((origin, "data:"))]
    assert not problems
    page.close()


ROWS = """
    () => [...document.querySelectorAll('#tools tbody tr')].map((row) => Object.fromEntries(
        [...row.cells].map((cell) => [cell.dataset.key, cell.dataset.value])))
"""


@pytest.fixture
def page_file(tmp_path):
    with filled(tmp_path / "usage.sqlite3") as ledger:
        report = ledger.report()
    file = tmp_path / "usage.html"
    file.write_text(report.to_html(), encoding="utf-8")
    return report, file.as_uri()


FIGURES = ("parameter_count", "invocations", "refusals", "failures", "saved_chars")


def test_the_table_holds_the_figures_of_the_ledger(browser, page_file):
    report, address = page_file
    with shown(browser, address) as page:
        rows = {row["name"]: row for row in page.evaluate(ROWS)}
        assert rows.keys() == {tool.name for tool in report.tools}
        for tool in report.tools:
            row = rows[tool.name]
            assert {name: int(row[name]) if row[name] else None for name in FIGURES} == {
                name: getattr(tool, name) for name in FIGURES
            }
            assert row["description"] == tool.description
            assert float(row["cost_usd"]) == tool.cost_usd
            assert float(row["median_seconds"] or -1) == (tool.median_seconds or -1)
        sums = page.evaluate(
            "() => Object.fromEntries([...document.querySelectorAll('[data-sum]')]"
            ".map((each) => [each.dataset.sum, Number(each.dataset.value)]))"
        )
        assert sums["calls"] == report.calls
        days = page.evaluate(
            "() => [...document.querySelectorAll('#days [data-date]')]"
            ".map((each) => [each.dataset.date, Number(each.dataset.calls)])"
        )
        assert days == [[day.date, day.calls] for day in report.by_day]
        agents = page.locator("#agents .name").all_text_contents()
        assert sorted(agents) == sorted(agent.agent for agent in report.agents)


def test_calls_of_a_wrong_clock_do_not_hide_the_present_days(browser, tmp_path):
    now = time.time()
    ledger = UsageLedger()
    for seconds in (0.0, 1.7e12, now - 2 * 86_400, now):
        ledger.record("wiki", "lagan", "ok", started_at_seconds=seconds)
    file = tmp_path / "usage.html"
    file.write_text(ledger.report().to_html(), encoding="utf-8")
    with shown(browser, file.as_uri()) as page:
        counts = page.evaluate(
            "() => [...document.querySelectorAll('[data-date]')].map((day) => day.dataset.calls)"
        )
    assert len(counts) == 366
    assert counts[-3:] == ["1", "0", "1"]


def test_columns_sort_both_ways(browser, page_file):
    report, address = page_file
    with shown(browser, address) as page:
        head = page.locator("th[data-key=failures]")
        for order in ("descending", "ascending"):
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == order
            failures = [int(row["failures"]) for row in page.evaluate(ROWS)]
            assert failures == sorted(failures, reverse=order == "descending")
        page.locator("th[data-key=name] button").click()
        names = [row["name"] for row in page.evaluate(ROWS)]
        assert names == sorted(tool.name for tool in report.tools)


def test_filters_narrow_the_table(browser, page_file):
    report, address = page_file
    with shown(browser, address) as page:

        def names():
            return {row["name"] for row in page.evaluate(ROWS)}

        page.locator("#find").fill("LORE hawken")
        assert names() == {"lore_search"}
        assert page.locator("#count").text_content() == "1 of 4 tools"
        page.locator("#find").fill("")
        for choice, chosen in (
            ("dead", lambda tool: tool.is_dead),
            ("hot", lambda tool: tool.is_hot),
            ("failing", lambda tool: tool.failures),
            ("refused", lambda tool: tool.refusals),
            ("others", lambda tool: tool.called_by_others),
        ):
            page.locator("#show").select_option(choice)
            assert names() == {tool.name for tool in report.tools if chosen(tool)}, choice
        page.locator("#show").select_option("")
        page.locator("#agent").select_option(label="lagan")
        assert names() == {tool.name for tool in report.tools if "lagan" in tool.callers}


def test_names_and_descriptions_are_text_and_never_markup(browser, page_file):
    _, address = page_file
    with shown(browser, address) as page:
        assert page.title() == "Tool usage"
        assert page.locator("img").count() == 0
        assert HOSTILE in [row["name"] for row in page.evaluate(ROWS)]


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_light_and_dark(browser, page_file, scheme):
    _, address = page_file
    with shown(browser, address, color_scheme=scheme) as page:
        pairs = page.evaluate("""
            () => [...document.querySelectorAll('h1, p, td, th, b, span, .bad')]
                .filter((each) => each.textContent.trim() && each.offsetParent)
                .map((each) => {
                    let back = each;
                    while (getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') {
                        back = back.parentElement;
                    }
                    return [getComputedStyle(each).color, getComputedStyle(back).backgroundColor];
                })
        """)
        background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (luminance(background) < 0.5) == (scheme == "dark")
    assert len(pairs) > 50
    for front, back in set(map(tuple, pairs)):
        dark, light = sorted([luminance(front), luminance(back)])
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)


@contextmanager
def serving(path):
    server = make_server(lambda: read_usage(path), 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_served_page_follows_the_ledger(browser, tmp_path):
    path = tmp_path / "usage.sqlite3"
    with filled(path) as ledger:
        ledger.flush()
        with serving(path) as port, shown(browser, f"http://127.0.0.1:{port}/") as page:
            figure = page.locator("[data-sum=calls]")
            assert figure.get_attribute("data-value") == "3001"
            page.locator("#find").fill("wiki")
            for _ in range(9):
                ledger.record("wiki", "lagan", "ok", owner="lagan")
            ledger.flush()
            page.wait_for_function(
                "() => document.querySelector('[data-sum=calls]').dataset.value === '3010'"
            )
            assert [row["name"] for row in page.evaluate(ROWS)] == ["wiki"]


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_the_server_answers_on_loopback_and_under_its_own_name_only(tmp_path):
    path = tmp_path / "usage.sqlite3"
    filled(path).close()
    with serving(path) as port:
        with make_server(lambda: None, 0) as other:
            assert other.server_address[0] == "127.0.0.1"
        status, body = get(port, "/usage.json")
        assert (status, json.loads(body)["totals"]["calls"]) == (200, 3_001)
        assert get(port, "/", Host=f"localhost:{port}")[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", ""):
            assert get(port, "/usage.json", Host=host)[0] == 403
        assert get(port, "/etc/passwd")[0] == 404
        for each in path.parent.iterdir():
            each.unlink()
        assert get(port, "/usage.json")[0] == 503


def test_a_browser_that_goes_away_leaves_no_traceback(tmp_path, capfd):
    path = tmp_path / "usage.sqlite3"
    filled(path).close()
    with serving(path) as port:
        for request in (
            b"",
            b"GET / HTT",
            f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode(),
        ):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                reset = struct.pack("ii", 1, 0)  # closing sends a reset
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                connection.sendall(request)
        assert get(port, "/usage.json")[0] == 200
    assert capfd.readouterr().err == ""
