"""The gateway as a process: `ethos-registry serve` over standard input and output."""

import os
import signal
import subprocess
import time

import psutil
import pytest

from mcp_gateway_tools import legacy_process, policy, serve_command

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

GRACE_SECONDS = 2
SLOW_MACHINE = 60
ENDINGS = pytest.mark.parametrize("ending", ["end of input", "SIGTERM", "SIGINT", "SIGHUP"])
CODES = {"end of input": 0, "SIGTERM": 143, "SIGINT": 130, "SIGHUP": 129}


def end(server, ending):
    """End the process; its exit code and the seconds that it took."""
    begun = time.monotonic()
    if ending == "end of input":
        server.process.stdin.close()
    else:
        server.process.send_signal(getattr(signal, ending))
    code = server.process.wait(timeout=120)
    return code, time.monotonic() - begun


def until(condition, seconds=120.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


@ENDINGS
def test_it_ends_with_every_tool_cancelled(ending, tmp_path):
    states = [tmp_path / f"state_{number}" for number in range(5)]
    with legacy_process(policy(tmp_path)) as server:
        for state in states:
            server.ask("tools/call", {"name": "wait", "arguments": {"path": str(state)}})
        until(lambda: all(state.exists() and state.read_text() == "started" for state in states))
        code, seconds = end(server, ending)
        assert code == CODES[ending]
        assert seconds < GRACE_SECONDS + SLOW_MACHINE
        assert [state.read_text() for state in states] == ["cancelled"] * 5


@pytest.mark.parametrize("ending", ["end of input", "SIGTERM"])
def test_a_tool_that_ignores_its_cancellation_does_not_keep_it(ending, tmp_path):
    with legacy_process(policy(tmp_path)) as server:
        server.ask("tools/call", {"name": "stubborn", "arguments": {}})
        assert server.call("add", a=1, b=2)["content"][0]["text"] == "3"
        code, seconds = end(server, ending)
        assert code == CODES[ending]
        assert seconds < 2 * GRACE_SECONDS + SLOW_MACHINE


def test_a_signal_answers_what_still_runs(tmp_path):
    with legacy_process(policy(tmp_path)) as server:
        state = tmp_path / "state"
        number = server.ask("tools/call", {"name": "wait", "arguments": {"path": str(state)}})
        until(state.exists)
        server.process.send_signal(signal.SIGTERM)
        answer = server.read()
        assert answer["id"] == number
        assert answer["result"]["isError"]
        assert answer["result"]["content"][0]["text"].endswith("it may have run")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX processes")
@pytest.mark.parametrize("ending", ["end of input", "SIGTERM", "SIGKILL"])
def test_no_process_that_terminal_started_is_left(ending, tmp_path):
    mark = f"3600.{os.getpid()}{time.monotonic_ns()}"
    with legacy_process(
        policy(tmp_path, "id: shell\ntoolset: [terminal]\n"),
        tools="ethos_registry.tools:ready_tools",
    ) as server:
        command = f"sleep {mark} & sleep {mark}"
        server.ask("tools/call", {"name": "terminal", "arguments": {"command": command}})
        until(lambda: len(running(mark)) >= 2)
        end(server, ending)
        until(lambda: not running(mark))


def running(mark):
    every = psutil.process_iter(["cmdline"])
    return [each.pid for each in every if each.info["cmdline"] == ["sleep", mark]]


def test_modules_that_print_while_they_are_loaded_do_not_reach_the_client(tmp_path):
    (tmp_path / "loud.py").write_text(
        "import os, subprocess\n"
        "print('by Python')\n"
        "os.write(1, b'to descriptor 1\\n')\n"
        "subprocess.run(['echo', 'by a child'])\n"
        "from mcp_gateway_tools import registry\n"
    )
    path = os.pathsep.join([str(tmp_path), os.getcwd(), os.path.dirname(os.path.dirname(__file__))])
    environment = os.environ | {"PYTHONPATH": path}
    with legacy_process(policy(tmp_path), tools="loud:registry", env=environment) as server:
        assert server.hello["result"]["serverInfo"]["name"] == "ethos-registry"
        assert server.call("add", a=1, b=2)["content"][0]["text"] == "3"
        end(server, "end of input")
        errors = server.process.stderr.read().decode()
        assert server.process.stdout.read() == b""
    assert {"by Python", "to descriptor 1", "by a child"} <= set(errors.splitlines())


def test_large_messages_pass_in_both_directions_while_others_are_answered(tmp_path):
    options = ("--budget", str(10_000_000))
    with legacy_process(policy(tmp_path), *options) as server:
        for _ in range(3):
            assert len(server.call("large")["content"][0]["text"]) == 200_000
        refused = server.call("add", a="x" * 5_000_000, b=1)
        assert refused["isError"]
        assert len(refused["content"][0]["text"]) < 2_000
        assert server.call("add", a=1, b=2)["content"][0]["text"] == "3"


def test_lines_that_are_no_messages_are_survived(tmp_path):
    with legacy_process(policy(tmp_path)) as server:
        for line in (b"\n", b"garbage\n", b"[]\n", b'{"jsonrpc":"2.0"}\n', b"\xff\xfe\n", b"{}\n"):
            server.process.stdin.write(line)
        assert server.call("add", a=1, b=2)["content"][0]["text"] == "3"


def test_input_from_a_file_is_served_too(tmp_path):
    messages = tmp_path / "messages"
    hello = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    messages.write_text(hello)  # without an end of the line
    with messages.open() as stdin:
        done = subprocess.run(
            serve_command(policy(tmp_path)),
            cwd=os.path.dirname(os.path.dirname(__file__)),
            stdin=stdin,
            capture_output=True,
            timeout=300,
        )
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.startswith(b'{"jsonrpc":"2.0","id":1,')


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "`serve` needs `--personality FILE`"),
        (["--personality", "{many}"], "several personalities; choose with `--id` from `a`, `b`"),
        (["--personality", "{typo}"], "unknown tool 'ad' (did you mean 'add'?)"),
        (["--personality", "{one}", "--http", "nowhere"], "`--http` takes HOST:PORT"),
        (["--personality", "{one}", "--http", "127.0.0.1:70000"], "`--http` takes HOST:PORT"),
        (["--personality", "{one}", "--http", "0.0.0.0:0"], "give a `token`"),
        (["--personality", "{one}", "--allow-host", "x"], "`--allow-host` needs `--http`"),
        (["--personality", "{one}", "--untrusted", "maybe"], "must be mark or wrap: 'maybe'"),
        (["--personality", "{one}", "--working-dir", "/nowhere"], "is not a folder"),
        (["--personality", "{one}", "--ledger", "x.db"], "`--ledger` is for tools"),
    ],
)
def test_bad_usage_is_one_line_on_standard_error(options, words, tmp_path):
    files = {"many": "a: {}\nb: {}\n", "typo": "id: a\ntoolset: [ad]\n", "one": "id: a\n"}
    paths = {}
    for name, text in files.items():
        paths[name] = str(tmp_path / f"{name}.yaml")
        (tmp_path / f"{name}.yaml").write_text(text)
    command = serve_command(policy(tmp_path))
    arguments = [*command[:4], *(each.format(**paths) for each in options)]
    done = subprocess.run(
        [*arguments, "--tools", "mcp_gateway_tools:registry"],
        cwd=os.path.dirname(os.path.dirname(__file__)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env={k: v for k, v in os.environ.items() if k != "ETHOS_REGISTRY_MCP_TOKEN"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert words in line


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":"odd","method":5}',
        b'{"jsonrpc":"1.0","id":"odd","method":"ping"}',
        b'{"id":"odd","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":' + b"[" * 100_000,
    ],
    ids=["method", "version", "no version", "deep"],
)
def test_a_request_that_is_not_valid_is_answered(line, tmp_path):
    with legacy_process(policy(tmp_path)) as server:
        server.process.stdin.write(line + b"\n")
        server.process.stdin.flush()
        answer = server.read()
        assert answer["id"] == "odd"
        assert answer["error"]["code"] == -32600
        assert server.call("add", a=2, b=3)["content"][0]["text"] == "5"


def test_half_a_surrogate_pair_and_a_batch_are_read(tmp_path):
    half = rb'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"\ud83d"}}'
    batch = rb'[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c"}, 5]'
    with legacy_process(policy(tmp_path)) as server:
        server.process.stdin.write(half + b"\n" + batch + b"\n")
        server.process.stdin.flush()
        answers = {(message := server.read())["id"]: message for _ in range(2)}
        assert "Unknown tool" in answers["a"]["result"]["content"][0]["text"]
        assert answers["b"]["result"] == {}
