"""Standard backends: what a personality states binds every tool that runs under it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from ethos_registry import ConfigError, Personality, ToolContext, ToolRegistry, err, ok, tool
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.capabilities import (
    CommandSandbox,
    ConnectionPools,
    EnvironmentSecrets,
    FetchLimits,
    FsReach,
    KeyValueDatabase,
    NetworkPolicy,
    ProgramRunner,
    ReachFiles,
    ToolCapabilities,
    folder_storage,
    standard_backends,
)
from ethos_registry.capabilities._resolver import narrowed_reach, uncovered_paths
from ethos_registry.types import AbortController, Attachment
from ethos_registry.usage import UsageLedger
from loopback_http import response, serving
from session_tools import until
from started import no_descriptor_left

pytestmark = [pytest.mark.every_python, pytest.mark.privileges]

SECRET = "correct-horse-battery"


def registry_of(*tools, **backends) -> ToolRegistry:
    settings = {"secrets": EnvironmentSecrets(environ={"EXA_KEY": SECRET})} | backends
    return ToolRegistry(tools, capability_backends=standard_backends(**settings))


def reader(declared) -> object:
    @tool(name="read", capabilities=ToolCapabilities(fs_reach=declared))
    async def read(path: str, context: ToolContext) -> str:
        """Read a file."""
        return await context.scoped_fs.read(path)

    return read


async def answer(registry, name, args, personality=None, **context):
    calls = [{"id": "1", "name": name, "args": args}]
    if personality is None:
        [result] = await registry.execute_parallel(calls, ToolContext(**context))
    else:
        [result] = await registry.view(personality).execute(calls, ToolContext(**context))
    return result


@pytest.fixture
def folder(tmp_path) -> Path:
    base = Path(os.path.realpath(tmp_path))
    for name in ("data", "data/public", "other"):
        (base / name).mkdir()
        (base / name / "f.txt").write_text(name)
    return base


async def test_a_tool_reads_what_it_declares_and_nothing_else(folder):
    registry = registry_of(reader({"read": [str(folder / "data")]}))
    assert (await answer(registry, "read", {"path": f"{folder}/data/f.txt"})).text == "data"
    refused = await answer(registry, "read", {"path": f"{folder}/other/f.txt"})
    assert not refused.ok
    assert "PATH_NOT_REACHABLE: read not permitted" in refused.text


@pytest.mark.parametrize(
    ("allowed", "reads_data", "reads_public"),
    [
        (["{folder}/data"], True, True),
        (["{folder}/data/public"], False, True),
        (["{folder}"], True, True),
        (["{folder}/other"], False, False),
        ([], False, False),
    ],
)
async def test_a_wider_declaration_is_narrowed_to_the_personality(
    folder, allowed, reads_data, reads_public
):
    registry = registry_of(reader({"read": [str(folder / "data")]}))
    reach = FsReach(read=[path.format(folder=folder) for path in allowed])
    personality = Personality("p", fs_reach=reach)
    for name, is_readable in (("data", reads_data), ("data/public", reads_public)):
        result = await answer(registry, "read", {"path": f"{folder}/{name}/f.txt"}, personality)
        assert result.ok == is_readable, result.text
    assert not (await answer(registry, "read", {"path": f"{folder}/other/f.txt"}, personality)).ok


async def test_from_personality_takes_the_roots_of_the_personality(folder):
    registry = registry_of(reader({"read": "from-personality"}))
    personality = Personality("p", fs_reach=FsReach(write=[str(folder / "data")]))
    inside = {"path": f"{folder}/data/f.txt"}
    assert not (await answer(registry, "read", inside, personality)).ok
    personality = Personality("p", fs_reach=FsReach(read=[str(folder / "data")]))
    assert (await answer(registry, "read", inside, personality)).text == "data"
    refused = await answer(registry, "read", inside, Personality("q"))
    assert "states no `fs_reach`" in refused.text


async def test_a_policy_is_asked_at_each_call(folder):
    reach = {"p": FsReach(read=[str(folder / "data")])}
    registry = registry_of(
        reader({"read": [str(folder)]}),
        policies=lambda name: Personality(name, fs_reach=reach[name]),
    )
    view = registry.view(Personality("p"))
    calls = [{"id": "1", "name": "read", "args": {"path": f"{folder}/data/f.txt"}}]
    [before] = await view.execute(calls)
    reach["p"] = FsReach()
    [after] = await view.execute(calls)
    assert (before.ok, after.ok) == (True, False)


@pytest.mark.parametrize(
    ("declared", "allowed", "expected"),
    [
        (["/a"], ["/a"], ["/a"]),
        (["/a"], ["/a/b", "/c"], ["/a/b"]),
        (["/a/b"], ["/a"], ["/a/b"]),
        (["/ab"], ["/a"], []),
        (["/a/../etc"], ["/a"], []),
        (["/a/"], ["/a"], ["/a"]),
        (["/"], ["/a", "/b"], ["/a", "/b"]),
        (["/a"], ["/"], ["/a"]),
        (["/a", "/a"], ["/a"], ["/a"]),
    ],
)
def test_a_reach_is_what_both_permit(declared, allowed, expected):
    found = narrowed_reach({"read": declared}, FsReach(read=allowed), "/")
    assert list(found.read) == expected


@pytest.mark.parametrize("has_policy", [True, False])
def test_a_link_in_a_writable_directory_does_not_widen_the_reach(tmp_path, has_policy):
    outside, writable = tmp_path / "outside", tmp_path / "writable"
    for folder in (outside, writable / "inner", writable / "data"):
        folder.mkdir(parents=True)
    paths = [str(writable / "data"), str(writable / "inner")]
    declared = {"read": paths, "write": [str(writable), *paths]}
    allowed = FsReach(**declared) if has_policy else None
    assert str(writable / "data") in narrowed_reach(declared, allowed, "/").read
    (writable / "data").rmdir()
    (writable / "data").symlink_to(outside)  # as a tool can do
    reach = narrowed_reach(declared, allowed, "/")
    assert str(outside) not in reach.read + reach.write
    assert str(writable / "inner") in reach.read


def test_what_a_personality_does_not_cover_is_named():
    declared = {"read": ["/a/b", "/ab", "/a/../etc"], "write": ["/a"]}
    assert uncovered_paths(declared, FsReach(read=["/a"]), "/") == [
        ("read", "/ab"),
        ("read", "/etc"),
        ("write", "/a"),
    ]
    assert uncovered_paths({"read": "from-personality"}, FsReach(), "/") == []
    assert uncovered_paths(declared, None, "/") == []


@tool(name="use_secret", capabilities=ToolCapabilities(secrets=["exa/*"]))
async def use_secret(reference: str, context: ToolContext, mode: str = "text"):
    """Ask for a secret and give it away."""
    value = await context.secrets_resolver.get(reference)
    if mode == "text":
        return ok(f"the key is {value}")
    if mode == "structured":
        return ok("done", structured={"a": [{"key": value}], value: 1})
    if mode == "extra":
        return {"ok": True, "value": "done", "trace": {"header": f"Bearer {value}"}}
    if mode == "error":
        return err(f"cannot log in with {value}", "execution_failed")
    if mode == "progress":
        context.report(f"logging in with {value}")
        return ok("done")
    raise RuntimeError(f"bad key {value}")


@pytest.mark.parametrize("mode", ["text", "structured", "extra", "error", "raise", "progress"])
async def test_a_secret_leaves_through_no_part_of_a_result(mode):
    events = []
    result = await answer(
        registry_of(use_secret),
        "use_secret",
        {"reference": "exa/key", "mode": mode},
        emit=events.append,
    )
    shown = f"{result.result!r} {result.to_wire()} {events}"
    assert SECRET not in shown
    if mode in ("text", "error", "raise"):
        assert "[redacted: secret]" in result.text


async def test_a_secret_stays_out_of_later_results_too():
    @tool
    def echo() -> str:
        """Print what the other tool left."""
        return f"cached: {SECRET}"

    registry = registry_of(use_secret, echo)
    assert (await answer(registry, "echo", {})).text == f"cached: {SECRET}"
    await answer(registry, "use_secret", {"reference": "exa/key"})
    assert (await answer(registry, "echo", {})).text == "cached: [redacted: secret]"


@pytest.mark.parametrize("reference", ["exa", "exa/../key", "other/key", "exa/%2e", "EXA/key", ""])
async def test_a_secret_that_was_not_declared_is_refused_without_its_name(reference):
    result = await answer(registry_of(use_secret), "use_secret", {"reference": reference})
    assert "SECRET_NOT_DECLARED" in result.text
    assert not reference or reference not in result.text.replace("reference", "")


async def test_a_dry_run_and_a_refusal_show_no_secret_that_was_issued():
    @tool
    async def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    @tool(capabilities=ToolCapabilities(storage={}))
    async def store(values: dict[str, str]) -> str:
        """Store values."""
        return "stored"

    database = KeyValueDatabase(":memory:")
    registry = registry_of(use_secret, double, store, key_values=database)
    await answer(registry, "use_secret", {"reference": "exa/key"})
    values = {"values": {"a": f"x{SECRET}", SECRET: "b", "long": "y" * 490 + SECRET}}
    shown = await answer(registry, "store", values, dry_run=True)
    assert shown.text.startswith("[dry-run] store would be called with: ")
    assert shown.text.count("[redacted: secret]") >= 2
    assert "correct" not in shown.text
    refused = await answer(registry, "double", {"number": SECRET})
    assert not refused.ok
    assert SECRET not in refused.text
    assert SECRET not in (await answer(registry, SECRET, {})).text  # no tool has this name
    database.close()


async def test_the_ledger_and_what_observers_see_hold_no_secret(tmp_path):
    seen = []

    class Observer:
        def call_finished(self, call):
            seen.append(repr(call.result))

    ledger = UsageLedger(tmp_path / "usage.sqlite3")
    backends = standard_backends(secrets=EnvironmentSecrets(environ={"EXA_KEY": SECRET}))
    registry = ToolRegistry(
        [use_secret], capability_backends=backends, observers=[ledger, Observer()]
    )
    for mode in ("text", "error", "raise", "structured", "extra"):
        await answer(registry, "use_secret", {"reference": "exa/key", "mode": mode})
    ledger.close()
    assert len(seen) == 5
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("usage.sqlite3*"))
    assert b"use_secret" in stored
    assert SECRET.encode() not in stored
    assert SECRET not in "".join(seen)


async def test_credentials_are_redacted_by_their_shape_unless_that_is_off():
    token = "ghp_" + "a1B2" * 9

    @tool
    def show() -> str:
        """Print a token."""
        return f"token {token}"

    assert (await answer(ToolRegistry([show]), "show", {})).text == "token [redacted: github token]"
    for settings in ({"redact": False}, {"unredacted_tools": ["show"]}):
        registry = ToolRegistry([show], **settings)
        assert (await answer(registry, "show", {})).text == f"token {token}"
        assert (await answer(registry.freeze(), "show", {})).text == f"token {token}"


async def test_the_artifact_of_a_cut_result_has_no_credential():
    token = "ghp_" + "a1B2" * 9

    @tool
    def show() -> str:
        """Print much."""
        return "x " * 2_500 + token

    store = MemoryArtifactStore()
    result = await answer(
        ToolRegistry([show]), "show", {}, artifact_store=store, result_budget_chars=1_000
    )
    [artifact] = store.artifacts()
    lines = artifact.tail(1)
    assert token not in str(lines)
    assert "[redacted: github token]" in str(lines)
    assert token not in result.text


@tool(name="fetch", capabilities=ToolCapabilities(network={"allowedHosts": ["127.0.0.1"]}))
async def fetch(url: str, context: ToolContext) -> str:
    """Fetch a page."""
    return (await context.scoped_fetch(url)).text


async def test_the_network_policy_of_a_personality_binds(folder):
    pools = ConnectionPools()
    registry = registry_of(fetch, pools=pools)
    with serving(lambda target, head: response(body=b"page")) as server:
        args = {"url": f"http://127.0.0.1:{server.port}/"}
        private = Personality("a", network=NetworkPolicy(allow_private_urls=True))
        assert (await answer(registry, "fetch", args, private)).text == "page"
        for policy in (
            None,
            NetworkPolicy(),
            NetworkPolicy(allow=[], allow_private_urls=True),
            NetworkPolicy(allow=["example.com"], allow_private_urls=True),
            NetworkPolicy(deny=["127.0.0.1"], allow_private_urls=True),
        ):
            result = await answer(registry, "fetch", args, Personality("b", network=policy))
            assert "HOST_NOT_ALLOWED" in result.text
        assert server.connections == 1
    await pools.aclose()


@tool(name="policy", capabilities=ToolCapabilities(network={"allowedHosts": ["*"]}))
async def policy(context: ToolContext) -> dict:
    """Show the policy and the permitted hosts."""
    stated = context.network_policy
    allow = None if stated is None else [*(stated.allow or ())]
    return {"policy": allow, "rules": context.scoped_fetch.rules.allow}


@pytest.mark.parametrize(
    ("stated", "given", "expected"),
    [
        (None, None, None),
        (["a.com"], None, ["a.com"]),
        (None, ["a.com"], ["a.com"]),
        (["*"], ["a.com"], ["a.com"]),
        (["*.a.com"], ["x.a.com", "b.com"], ["x.a.com"]),
        (["x.a.com"], ["*.a.com"], ["x.a.com"]),
        (["a.com"], ["b.com"], []),
        ([], ["*"], []),
        (["b.com"], ["*"], ["b.com"]),
    ],
)
async def test_a_tool_sees_the_network_policy_that_binds_it(stated, given, expected):
    registry = registry_of(policy)
    personality = Personality("p", network=None if stated is None else NetworkPolicy(allow=stated))
    context = {} if given is None else {"network_policy": NetworkPolicy(allow=given)}
    shown = (await answer(registry, "policy", {}, personality, **context)).result.structured
    assert shown["policy"] == expected
    assert shown["rules"] == expected


@tool(name="fetch_plainly", capabilities=ToolCapabilities(network={"allowedHosts": ["*"]}))
def fetch_plainly(url: str, context: ToolContext) -> str:
    """Fetch a page in a plain function."""
    return context.scoped_fetch.sync.fetch(url).text


@pytest.mark.parametrize("name", ["fetch", "fetch_plainly"])
def test_requests_work_from_code_without_a_loop_again_and_again(name):
    registry = registry_of(fetch, fetch_plainly)
    private = Personality("a", network=NetworkPolicy(allow_private_urls=True))
    with serving(lambda target, head: response(body=b"page")) as server:
        args = {"url": f"http://127.0.0.1:{server.port}/"}
        for _ in range(3):
            assert asyncio.run(answer(registry, name, args, private)).text == "page"
        calls = [{"id": "1", "name": name, "args": args}]
        context = ToolContext(network_policy=private.network)
        for _ in range(3):
            assert registry.execute_parallel_sync(calls, context)[0].text == "page"


async def test_the_limits_of_a_fetch_are_those_of_the_backends():
    private = Personality("a", network=NetworkPolicy(allow_private_urls=True))
    registry = registry_of(fetch, fetch_limits=FetchLimits(max_wire_bytes=3))
    with serving(lambda target, head: response(body=b"page")) as server:
        result = await answer(
            registry, "fetch", {"url": f"http://127.0.0.1:{server.port}/"}, private
        )
    assert "longer than 3 bytes" in result.text


@pytest.mark.parametrize(
    ("scope", "context", "other"),
    [
        ("tool", {"session_id": "1"}, {"session_id": "2"}),
        ("session", {"session_id": "1"}, {"session_id": "1"}),
    ],
)
async def test_stored_values_are_found_again_in_their_scope(scope, context, other):
    @tool(capabilities=ToolCapabilities(storage={"scope": scope, "kind": "kv"}))
    async def remember(context: ToolContext, value: str | None = None) -> str:
        """Store or read a value."""
        if value is not None:
            await context.kv_store.set("k", value)
        return str(await context.kv_store.get("k"))

    database = KeyValueDatabase(":memory:")
    registry = registry_of(remember, key_values=database)
    await answer(registry, "remember", {"value": "kept"}, **context)
    assert (await answer(registry, "remember", {}, **other)).text == "kept"
    if scope == "session":
        assert (await answer(registry, "remember", {}, session_id="9")).text == "None"
    database.close()


@tool(name="run", capabilities=ToolCapabilities(process={"allowedBinaries": ["sh", "sleep"]}))
async def run(script: str, context: ToolContext) -> str:
    """Run a script."""
    ended = await context.scoped_process.run("sh", ["-c", script])
    return f"{ended.exit_code} {ended.signal} {ended.stdout}{ended.stderr}"


async def test_a_declared_program_runs_and_no_other():
    assert (await answer(registry_of(run), "run", {"script": "echo hi"})).text == "0 None hi\n"

    @tool(capabilities=ToolCapabilities(process={"allowedBinaries": ["echo"]}))
    async def other(context: ToolContext) -> str:
        """Run what was not declared."""
        return (await context.scoped_process.run("rm", ["x"])).stdout

    assert "BINARY_NOT_ALLOWED" in (await answer(registry_of(other), "other", {})).text


def test_every_program_may_be_declared_and_a_path_is_absolute(tmp_path):
    (tmp_path / "echo").symlink_to(sys.executable)
    for declared, name in ((["*"], "/bin/echo"), (["*"], "echo"), (["/bin/echo"], "/bin/echo")):
        assert ProgramRunner(declared, working_dir=str(tmp_path)).run_sync(name, ["x"]).ok
    for declared, name in ((["*"], "./echo"), (["./echo"], "./echo"), (["echo"], "/bin/echo")):
        with pytest.raises(PermissionError, match="BINARY_NOT_ALLOWED"):
            ProgramRunner(declared, working_dir=str(tmp_path)).run_sync(name)


async def test_the_output_of_a_program_is_bounded():
    runner = ProgramRunner(["sh"], working_dir="/")
    script = "head -c 3000000 /dev/zero; head -c 10 /dev/zero >&2"
    ended = await runner.run("sh", ["-c", script], output_limit_bytes=1_000)
    assert (len(ended.stdout), len(ended.stderr), ended.is_truncated) == (1_000, 10, True)
    assert ended.ok


async def test_a_plain_function_runs_a_program_beside_a_running_loop():
    runner = ProgramRunner(["cat"], working_dir="/")
    assert runner.run_sync("cat", stdin="text").stdout == "text"


def test_a_program_leaves_no_descriptor_open():
    runner = ProgramRunner(["sh"], working_dir="/")
    runner.run_sync("sh", ["-c", "true"])
    with no_descriptor_left():
        runner.run_sync("sh", ["-c", "echo a; exit 3"], stdin="text")
        runner.run_sync("sh", ["-c", "sleep 600"], timeout_seconds=0.05)
        process = runner.spawn("sh", ["-c", "exit 3"])
        process.wait_ended()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a supervisor")
@pytest.mark.parametrize("end", ["timeout", "abort", "cancellation"])
async def test_the_end_of_a_program_is_the_end_of_all_that_it_started(end, tmp_path):
    controller = AbortController()
    runner = ProgramRunner(["sh"], working_dir=str(tmp_path), abort_signal=controller.signal)
    script = "(setsid sh -c 'while :; do date > alive; sleep 0.05; done' &); sleep 999"
    alive = tmp_path / "alive"
    for seconds in (1, 8, 64) if end == "timeout" else (400,):
        task = asyncio.ensure_future(runner.run("sh", ["-c", script], timeout_seconds=seconds))
        await until(lambda task=task: task.done() or alive.exists())
        if not task.done():
            break
    if end == "abort":
        controller.abort()
    elif end == "cancellation":
        task.cancel()
    [ended] = await asyncio.gather(task, return_exceptions=True)
    if end == "cancellation":
        assert isinstance(ended, asyncio.CancelledError)
    else:
        assert (ended.exit_code, ended.timed_out) == (None, end == "timeout")
    (tmp_path / "alive").unlink(missing_ok=True)
    await asyncio.sleep(0.5)
    assert not (tmp_path / "alive").exists()


async def test_the_death_of_a_program_by_a_signal_is_reported_as_such():
    result = await answer(registry_of(run), "run", {"script": "kill -9 $$"})
    assert result.text.startswith("None SIGKILL")


async def test_a_program_gets_none_of_the_hosts_variables(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert SECRET not in (await answer(registry_of(run), "run", {"script": "env"})).text


async def test_a_program_of_a_restricted_personality_is_confined(folder):
    if CommandSandbox().probe().level == "none":
        pytest.skip("no sandbox here")
    work = Path("/var/tmp") / folder.name
    registry = registry_of(run)
    personality = Personality("p", fs_reach=FsReach(read=[str(folder / "data")], write=[]))
    script = {"script": f"cat {folder}/data/f.txt; cat {folder}/other/f.txt"}
    shown = (await answer(registry, "run", script, personality, working_dir=f"{folder}/data")).text
    assert "data" in shown
    assert "No such file" in shown or "denied" in shown
    assert not work.exists()


async def test_a_program_that_cannot_be_confined_does_not_run(folder):
    marker = folder / "ran"
    registry = registry_of(run, sandbox=CommandSandbox(()))
    personality = Personality("p", fs_reach=FsReach(write=[str(folder)]))
    result = await answer(registry, "run", {"script": f"touch {marker}"}, personality)
    assert "cannot be confined" in result.text
    assert not marker.exists()


async def test_attachments_are_those_of_the_declared_kinds_and_only_the_very_file(folder):
    @tool(capabilities=ToolCapabilities(attachments={"kinds": ["file"]}))
    async def look(ref: str, context: ToolContext) -> str:
        """Read an attachment."""
        listed = [item.ref for item in context.attachments.list()]
        return f"{listed} {(await context.attachments.open(ref)).decode()}"

    attached = [
        Attachment("a0", "image", f"file://{folder}/other/f.txt"),
        Attachment("a1", "file", f"file://{folder}/data/f.txt"),
        Attachment("a2", "file", "https://example.com/x"),
    ]
    pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
    registry = registry_of(look, pools=pools)
    texts = []
    for ref in ("a1", "a0", "a2", "zz"):
        [result] = await registry.execute_parallel(
            [{"id": "1", "name": "look", "args": {"ref": ref}}], turn_attachments=attached
        )
        texts.append(result.text)
    assert texts[0] == "['a1', 'a2'] data"
    assert "No attachment with ref 'a0'" in texts[1]
    assert "HOST_NOT_ALLOWED: 'example.com' resolves to 127.0.0.1" in texts[2]
    assert "No attachment with ref 'zz'" in texts[3]


def test_a_capability_without_a_backend_fails_closed():
    backends = standard_backends()
    assert "secrets" not in backends
    assert "storage" not in backends
    with pytest.raises(ConfigError, match="must be a list"):
        narrowed_reach({"read": "/a"}, None, "/")


@pytest.mark.parametrize(("alias", "name"), [("fs", "fs_reach"), ("kv", "storage")])
def test_short_names_are_read_as_the_capabilities_they_mean(alias, name):
    declared = ToolCapabilities.from_wire({alias: {}})
    assert declared.declared == (name,)
    assert list(declared.to_wire()) == list(ToolCapabilities(**{name: {}}).to_wire())
    with pytest.raises(ConfigError, match="twice"):
        ToolCapabilities.from_wire({alias: {}, name: {}})
    made = standard_backends(key_values=KeyValueDatabase(":memory:"))
    assert made[alias] is made[name]

    def factory(tool_name, declaration, context):
        return object()

    @tool(capabilities={alias: {}})
    def touch() -> str:
        """Touch."""
        return "touched"

    calls = [{"id": "1", "name": "touch"}]
    registry = ToolRegistry([touch], capability_backends={alias: factory})
    assert registry.execute_parallel_sync(calls)[0].text == "touched"
    with pytest.raises(ConfigError, match="twice"):
        ToolRegistry(capability_backends={alias: factory, name: factory})


async def test_a_storage_is_one_directory(folder):
    storage = folder_storage(folder / "data")
    await storage.mkdir("new")
    await storage.write("new/a.txt", "mine")
    assert await storage.read("new/a.txt") == "mine"
    assert (folder / "data/new/a.txt").read_text() == "mine"
    assert storage.sync.list(".") == ["f.txt", "new", "public"]
    for path in ("../other/f.txt", f"{folder}/other/f.txt"):
        with pytest.raises(PermissionError, match="PATH_NOT_REACHABLE"):
            await storage.read(path)
    with pytest.raises(ConfigError, match="does not exist"):
        folder_storage(folder / "missing")


async def test_the_log_of_a_raised_exception_holds_no_secret(caplog):
    @tool(capabilities=ToolCapabilities(secrets=["exa/key"]))
    async def fail(context: ToolContext) -> str:
        """Fail."""
        key = await context.secrets_resolver.get("exa/key")
        try:
            raise KeyError(key)
        except KeyError as error:
            raise ValueError(f"GET /?key={key} failed") from error

    @tool
    def fail_plainly() -> str:
        """Fail."""
        raise ValueError("nothing to hide")

    caplog.set_level("DEBUG", logger="ethos_registry")
    registry = registry_of(fail, fail_plainly)
    await answer(registry, "fail", {})
    assert "a call of tool `fail` raised" in caplog.text
    assert "GET /?key=[redacted: secret] failed" in caplog.text
    assert SECRET not in caplog.text
    await answer(registry, "fail_plainly", {})
    [record] = [record for record in caplog.records if record.exc_info]
    assert str(record.exc_info[1]) == "nothing to hide"


async def test_reads_do_not_wait_for_programs(tmp_path):
    (tmp_path / "f.txt").write_text("text")
    runner = ProgramRunner(["sleep"], working_dir=str(tmp_path))
    files = ReachFiles([str(tmp_path)], [], working_dir=str(tmp_path))
    waiting = [
        asyncio.create_task(runner.run("sleep", ["30"])) for _ in range((os.cpu_count() or 1) + 8)
    ]
    await asyncio.sleep(0.5)
    assert await asyncio.wait_for(files.read("f.txt"), 10) == "text"
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
