"""The browser tools in a real Chromium: nothing on a page reaches what is not permitted."""

from __future__ import annotations

import asyncio
import time

import pytest

from ethos_registry import Personality, ToolContext, ToolRegistry, default_reducers
from ethos_registry.capabilities import NetworkPolicy, standard_backends
from ethos_registry.registry import DispatchContext
from ethos_registry.tools import Browser
from ethos_registry.tools._browser import find_chromium
from ethos_registry.types._extras import has_extra
from loopback_http import response, serving
from session_tools import until
from usage_tools import missing
from web_tools import call, registry_of

SITE = NetworkPolicy(allow=["site.test"], allow_private_urls=True)
FORM = """<title>Harbour</title><h1>Ferries</h1><p>The first leaves at 08:15.</p>
<p style="display:none">hidden text</p>
<a href="/next">Next page</a> <button onclick="document.querySelector('p').innerText='changed'">
Change</button><form action="/found"><label>Where to <input name="q"></label>
</form><input type="password" name="pw" value="hunter2">"""


@pytest.fixture(scope="module")
def browser():
    if find_chromium() is None:
        missing("chromium", "Chromium is not installed")
    if not has_extra("browser"):
        missing("chromium", "playwright is not installed")
    made = Browser()
    yield made
    made.close()


def html(body: str) -> bytes:
    return response(body=body.encode(), Content_Type="text/html; charset=utf-8")


def site(target: str, head: bytes) -> bytes:
    if target.startswith("/found"):
        return html(f"<title>Found</title>You asked {target}")
    return html("<title>Second</title>The second page" if target == "/next" else FORM)


def use(browser: Browser, **options):
    registry = registry_of(*browser.tools())

    async def act(name: str, args=None, **context):
        context = {"policy": SITE, "session_id": "s1"} | options | context
        return await call(registry, f"browser_{name}", args or {}, **context)

    return act


async def test_a_page_is_opened_read_clicked_and_typed_into(browser):
    act = use(browser)
    with serving(site) as server:
        base = f"http://site.test:{server.port}"
        opened = await act("open", {"url": base})
        assert opened.text.startswith(f"# Harbour\n{base}/\n\nFerries\n")
        assert "hidden text" not in opened.text
        assert "hunter2" not in opened.text
        assert opened.text.index("[1] link `Next page`") < opened.text.index("[2] button `Change`")
        assert "[3] text `Where to`" in opened.text
        assert "[4] password `pw`" in opened.text
        assert opened.untrusted
        changed = await act("click", {"element": 2})
        assert "changed" in changed.text
        typed = await act("type", {"element": 3, "text": "Gull Island"})
        assert "[3] text `Where to` = `Gull Island`" in typed.text
        found = await act("type", {"element": 3, "text": "Seal", "submit": True})
        assert f"{base}/found?q=Seal" in found.text
        assert found.result.structured["url"].startswith(f"{base}/found")
        await act("open", {"url": base})
        assert "The second page" in (await act("click", {"element": "1"})).text
        assert "The second page" in (await act("read")).text
        shot = await act("screenshot", {"fullPage": True})
        [image] = shot.result.content
        assert (image.kind, image.data[:8]) == ("image", b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("open", {}, "`url` is missing"),
        ("click", {}, "`element` is missing; give a number that browser_read shows"),
        ("click", {"element": 99}, "there is no element 99; read the page again"),
        ("click", {"element": "x"}, "must be a whole number"),
        ("type", {"element": 3}, "`text` must be a string"),
        ("read", {"url": "x"}, "browser_read has no argument `url`"),
        ("screenshot", {"fullPage": 3}, "must be true or false"),
    ],
)
async def test_wrong_arguments_name_what_to_send(browser, name, args, text):
    act = use(browser, session_id="arguments")
    with serving(site) as server:
        await act("open", {"url": f"http://site.test:{server.port}"})
        result = await act(name, args)
    assert text in result.text
    assert result.result.code == "input_invalid"


@pytest.mark.parametrize(
    ("url", "policy"),
    [
        ("http://other.test:{port}/", SITE),
        ("http://127.0.0.1:{port}/", SITE),
        ("http://127.0.0.1:{port}/", None),
        ("http://site.test:{port}/", None),
        ("http://2130706433:{port}/", None),
        ("http://localhost:{port}/", None),
        ("http://169.254.169.254/", NetworkPolicy(allow_private_urls=True)),
        ("https://site.test:{port}/", None),
        ("file:///etc/passwd", SITE),
        ("chrome://version", SITE),
        ("javascript:alert(1)", SITE),
        ("view-source:http://site.test/", SITE),
        ("about:blank", SITE),
    ],
)
async def test_an_address_that_is_not_permitted_is_refused_with_the_way_out(browser, url, policy):
    with serving(site) as server:
        act = use(browser, policy=policy, session_id=f"refused {policy is None}")
        result = await act("open", {"url": url.format(port=server.port)})
        assert server.connections == 0
    assert result.text.startswith("HOST_NOT_ALLOWED: ")
    assert result.text.endswith(
        "open a public page of a permitted host, or ask the user to permit this one"
    )


async def test_a_redirect_to_another_host_is_refused(browser):
    with serving(lambda target, head: html("secret")) as other:
        place = f"http://127.0.0.1:{other.port}/"
        with serving(lambda target, head: response(302, Location=place)) as server:
            act = use(browser, session_id="redirect")
            result = await act("open", {"url": f"http://site.test:{server.port}/"})
        assert other.connections == 0
    assert result.text.startswith("HOST_NOT_ALLOWED: '127.0.0.1' is not permitted")


WAYS_OUT = """<title>Hostile</title><body>
<img src="{to}/img"><script src="{to}/script"></script><iframe src="{to}/frame"></iframe>
<link rel="stylesheet" href="{to}/style"><link rel="prefetch" href="{to}/prefetch">
<link rel="preconnect" href="{to}"><link rel="dns-prefetch" href="{to}">
<video src="{to}/video"></video><object data="{to}/object"></object><embed src="{to}/embed">
<style>@import "{to}/import"; body {{ background: url({to}/background) }}</style>
<form id=f action="{to}/form" method=post target=inside><input name=a value=b></form>
<iframe name=inside></iframe>
<script>
const to = "{to}";
fetch(to + "/fetch", {{mode: "no-cors"}}).catch(() => 0);
const x = new XMLHttpRequest(); x.open("GET", to + "/xhr"); x.send();
navigator.sendBeacon(to + "/beacon", "data");
new EventSource(to + "/events");
new WebSocket(to.replace("http", "ws") + "/socket");
const code = `fetch("${{to}}/worker", {{mode: "no-cors"}}).catch(() => 0);
  new WebSocket("${{to.replace("http", "ws")}}/worker-socket")`;
new Worker(URL.createObjectURL(new Blob([code])));
new SharedWorker(URL.createObjectURL(new Blob([code])));
if (navigator.serviceWorker) navigator.serviceWorker.register("/sw.js").catch(() => 0);
document.getElementById("f").submit();
try {{
  const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{udp}"}}]}});
  peer.createDataChannel("x");
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
}} catch (error) {{}}
new WebSocket("ws://" + location.host + "/own-socket");
window.open(to + "/window");
setTimeout(() => document.title = "tried", 700);
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "other.test", "localhost", "[::ffff:127.0.0.1]"])
async def test_nothing_on_a_page_reaches_another_host(browser, host):
    import socket

    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    datagrams.setblocking(False)
    with serving(lambda target, head: html("secret")) as other:
        to = f"http://{host}:{other.port}"
        body = WAYS_OUT.format(to=to, udp=datagrams.getsockname()[1])
        worker = f'fetch("{to}/service-worker", {{mode: "no-cors"}}).catch(() => 0)'

        def answer(target, head):
            if target == "/sw.js":
                return response(body=worker.encode(), Content_Type="text/javascript")
            return html(body)

        with serving(answer) as server:
            act = use(browser, session_id=f"ways out {host}")
            opened = await act("open", {"url": f"http://site.test:{server.port}/"})
            deadline = time.monotonic() + 100
            result = opened
            while "# tried" not in result.text and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
                result = await act("read")
            assert "# tried" in result.text
            assert "Blocked request to" in opened.text + result.text
            # A WebSocket to a permitted host goes the same way, and gets there.
            assert any(b"GET /own-socket" in request for request in server.requests)
        assert other.connections == 0
    with pytest.raises(BlockingIOError):
        datagrams.recv(100)
    datagrams.close()


async def test_sessions_share_neither_pages_nor_cookies(browser):
    def answer(target, head):
        if b"cookie: who=" in head.lower():
            return html("known")
        return response(body=b"new", Content_Type="text/html", Set_Cookie="who=me")

    with serving(answer) as server:
        url = {"url": f"http://site.test:{server.port}/"}
        one, two = use(browser, session_id="one"), use(browser, session_id="two")
        assert "new" in (await one("open", url)).text
        assert "known" in (await one("open", url)).text
        assert "no page is open; open one with browser_open" in (await two("read")).text
        assert "new" in (await two("open", url)).text


async def test_of_too_many_pages_the_one_that_was_not_used_longest_is_closed(browser):
    browser.close()
    few = Browser(max_pages=2)
    act = use(few)
    try:
        with serving(site) as server:
            url = f"http://site.test:{server.port}"
            for session in ("a", "b"):
                await act("open", {"url": url}, session_id=session)
            await act("read", session_id="a")
            await act("open", {"url": url}, session_id="c")
            assert "no page is open" in (await act("read", session_id="b")).text
            for session in ("a", "c"):
                assert "Ferries" in (await act("read", session_id=session)).text
    finally:
        few.close()


async def test_a_page_ends_with_its_turn(browser):
    act = use(browser, session_id="turns")
    with serving(site) as server:
        url = {"url": f"http://site.test:{server.port}/"}
        await act("open", url, current_turn=1)
        assert (await act("read", current_turn=1)).ok
        later = await act("read", current_turn=2)
        assert (later.ok, later.result.code) == (False, "not_available")
        assert "turns" not in browser._pages


async def test_a_page_of_a_turn_is_closed_when_the_turn_is_acknowledged(browser):
    registry = ToolRegistry(capability_backends=standard_backends())
    personality = Personality("p", network=NetworkPolicy(allow_private_urls=True))
    before = set(browser._pages)
    context = DispatchContext()
    with serving(site) as server:
        with registry.turn(context, browser) as turn:
            calls = [
                {
                    "id": "1",
                    "name": "browser_open",
                    "args": {"url": f"http://127.0.0.1:{server.port}"},
                }
            ]
            [opened] = await turn.registry.view(personality).execute(calls)
            assert "Ferries" in opened.text
            turn.begin_iteration()
            calls = [{"id": "2", "name": "browser_read", "args": {}}]
            [read] = await turn.registry.view(personality).execute(calls)
            assert "Ferries" in read.text
            [key] = set(browser._pages) - before
            page = browser._pages[key].page
        assert set(browser._pages) == before
        await until(page.is_closed)
        assert turn.registry.get("browser_read") is None


async def test_a_changed_policy_closes_the_page(browser):
    act = use(browser, session_id="policies")
    with serving(site) as server:
        await act("open", {"url": f"http://site.test:{server.port}/"})
        changed = await act("read", policy=NetworkPolicy(allow=["b.test"], allow_private_urls=True))
    assert "no page is open" in changed.text


def test_the_tools_work_from_code_without_a_loop(browser):
    with serving(site) as server:
        registry = registry_of(*browser.tools())
        context = ToolContext(network_policy=SITE, session_id="sync")
        for name, args in (("open", {"url": f"http://site.test:{server.port}/"}), ("read", {})):
            [result] = registry.execute_parallel_sync(
                [{"id": "1", "name": f"browser_{name}", "args": args}], context
            )
            assert "Ferries" in result.text


async def test_a_call_for_a_page_that_cannot_be_started_names_the_way_out(browser):
    broken = Browser(executable_path="/bin/false")
    try:
        act = use(broken)
        first, second = await asyncio.gather(
            *(act("open", {"url": "http://site.test"}) for _ in range(2))
        )
    finally:
        broken.close()
    assert "the browser could not do this" in first.text
    assert second.text == "the page was closed meanwhile; open one with browser_open"


def test_without_chromium_the_tools_are_hidden(monkeypatch):
    monkeypatch.setenv("PATH", "")
    tools = Browser().tools()
    assert [tool.name for tool in tools] == [
        "browser_open",
        "browser_read",
        "browser_click",
        "browser_type",
        "browser_screenshot",
    ]
    assert registry_of(*tools).to_definitions() == []
    assert all(default_reducers().get(tool.name) is None for tool in tools)
