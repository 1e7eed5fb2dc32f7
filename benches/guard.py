"""Guard the speed of this package: about forty rows, each compared with a recorded value.

    python benches/guard.py                   # measures and prints every row
    python benches/guard.py --check           # exit 1: a row failed or is over its tolerance
    python benches/guard.py --check --slow 1.3 get import   # each must fail: 30 % more time
    python benches/guard.py --write           # records rows that are new or became better
    python benches/guard.py --write --reason "redacts before the trim" "batch of 8"
    python benches/guard.py --record          # records the figures of docs/performance.md

A row is the time of a subject divided by that of a plain baseline, in seconds of the processor,
each that of its fast rounds, many in turn: what else runs on the machine does not count. Rows of
native code are instructions counted by valgrind, which is the same in every run; without valgrind
they are skipped. A row that looks too slow is measured again, up to three times: noise goes away,
a slower program stays. Measured is the installed package, which must be a release build.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import inspect
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE),
    str(HERE.parent / "tests"),
    str(HERE.parent / "tests" / "cli"),
    str(HERE.parent / "docs" / "frameworks"),
]

import bench_kanban  # noqa: E402
import bench_trim  # noqa: E402
import inputs  # noqa: E402
import outputs  # noqa: E402
import record  # noqa: E402
from beside import beside  # noqa: E402
from ethos_registry import Tool, ToolContext, ToolRegistry, _core, ok, reduce_text  # noqa: E402
from outputs import PROGRAMS  # noqa: E402

RECORDED = HERE / "guard.json"
PYTHON = "{}.{}".format(*sys.version_info)
MACHINE = platform.machine()
RATIO_TOLERANCE = 0.2
INSTRUCTIONS_TOLERANCE = 0.05
ATTEMPTS = 4
SECONDS_A_ROW = 1.5
LEAST_ROUNDS = 7
MEBIBYTE = 1_048_576


@dataclass(frozen=True)
class Row:
    """A case of a bench, compared with one of its baselines."""

    name: str
    bench: str
    baseline: str
    case: dict[str, Any] = field(default_factory=dict)
    has_processes: bool = False


@dataclass(frozen=True)
class NativeRow:
    """A call of native code, counted in instructions."""

    name: str
    text: Callable[[], str]
    call: str
    """An expression over `core`, the native module, and `text`."""


def _output(program: outputs.Program, mebibytes: int) -> str:
    """The output of the program, with as many lines as make this size."""
    usual = outputs.LINES
    outputs.LINES = usual * mebibytes * MEBIBYTE // len(program.text())
    try:
        return program.text()
    finally:
        outputs.LINES = usual


def _tickets() -> str:
    return bench_kanban.board(10_000, bench_kanban.TITLES["ascii"])


def _reduced(command: str = "", kind: str = "terminal") -> str:
    args = {"command": command}
    return f"core.NativeReducer({kind!r}).reduce(text, {args}, True, 0)"


_CUT = "[core.finish(text, 10_000, redacts=True) for _ in range(100)]"
"""One cut is too short to be counted."""

GATHER = "asyncio.gather"
SLICE = "gather + slice"
NATIVE_TOOL = "native tool"
LIBRARIES = "its dependencies"
LINES = "a set of the lines"
PROGRAM_START = "start of cat"
JSON_LINES = "bare JSON lines"
EXECUTOR = "ProcessPoolExecutor"
VENDORS = "adapters_of_vendors"

ROWS = (
    Row("batch of 1", "execute.test_no_trim", GATHER, {"count": 1}),
    Row("batch of 8", "execute.test_no_trim", GATHER, {"count": 8}),
    Row("batch of 64", "execute.test_no_trim", GATHER, {"count": 64}),
    Row("batch of 512", "execute.test_no_trim", GATHER, {"count": 512}),
    Row("batch of 64, gated", "execute.test_gated", GATHER, {"count": 64}),
    Row("batch of 64, cut to a budget", "guard.cut_to_a_budget", SLICE),
    Row("@tool, one call", "tool_decorator.test_execute", "pydantic.validate_call"),
    Row("@tool, batch of 64", "tool_decorator.test_batch_of_64", "gather of validate_call"),
    Row("arguments", "validation.test_validation", "pydantic, strict", {"wrong": False}),
    Row("8 x 1 MiB of ASCII, cut", "trim.test_trim", SLICE, {"alphabet": "ascii"}),
    Row("8 x 1 MiB of Cyrillic, cut", "trim.test_trim", SLICE, {"alphabet": "cyrillic"}),
    Row("8 x 1 MiB of emoji, cut", "trim.test_trim", SLICE, {"alphabet": "emoji"}),
    Row("definitions", "definitions.test_first_definitions", "copy of each", {"count": 1_000}),
    Row(
        "definitions, filtered",
        "definitions.test_filtered",
        "plain Python filter",
        {"count": 1_000},
    ),
    Row("definitions, again", "definitions.test_view_definitions", "list(existing)"),
    Row(
        "definitions of a provider, first",
        "definitions.test_first_provider_list",
        "copy of each",
        {"name": "anthropic"},
    ),
    Row(
        "definitions of Gemini parameters, first",
        "definitions.test_first_provider_list",
        "copy of each",
        {"name": "gemini_parameters"},
    ),
    Row("get", "get.test_get", "dict.get behind a method", {"count": 1_000}),
    Row("capabilities", "capabilities.test_resolving_capabilities_for_one_call", "no capabilities"),
    Row("scoped read", "capabilities.test_scoped_read", "open", {"size": "4 kB"}),
    Row(
        "telemetry",
        "telemetry.test_telemetry",
        "a span made by the tool",
        {"kind": "spans and metrics", "count": 64},
    ),
    Row("unknown output, 16 MiB", "guard.reduced", LINES, {"program": "unknown"}),
    Row("tests, 16 MiB", "guard.reduced", LINES, {"program": "pytest -v"}),
    Row("installs, 16 MiB", "guard.reduced", LINES, {"program": "npm install"}),
    Row("git status, 100,000 lines", "guard.reduced", LINES, {"program": "git status -s"}),
    Row("import", "guard.importing", LIBRARIES, has_processes=True),
    Row("CLI start", "guard.cli_start", LIBRARIES, has_processes=True),
    Row("hook", "guard.native_hook", PROGRAM_START, has_processes=True),
    Row("reduce", "guard.native_reduce", PROGRAM_START, has_processes=True),
    Row("--version", "guard.native_version", PROGRAM_START, has_processes=True),
    Row(
        "process transport",
        "guard.process_transport",
        JSON_LINES,
        {"name": "answer"},
        has_processes=True,
    ),
    Row(
        "process transport, plain functions",
        "guard.process_transport",
        EXECUTOR,
        {"name": "answer_plain"},
        has_processes=True,
    ),
    Row("adapter of Pydantic AI", "adapters.test_pydantic_ai", NATIVE_TOOL, {"count": 8}),
    Row("adapter of LangGraph", "adapters.test_langchain", NATIVE_TOOL, {"count": 8}),
    Row("adapter of OpenAI Agents", "adapters.test_openai_agents", NATIVE_TOOL, {"count": 8}),
    Row("adapter of FastMCP", "adapters.test_fastmcp", NATIVE_TOOL, {"count": 8}),
    Row("adapter of Anthropic", f"{VENDORS}.test_anthropic", NATIVE_TOOL, {"count": 8}),
    Row("adapter of Claude SDK", f"{VENDORS}.test_claude_agent_sdk", NATIVE_TOOL, {"count": 8}),
    Row("adapter of Agent Framework", f"{VENDORS}.test_agent_framework", NATIVE_TOOL, {"count": 8}),
    Row("adapter of Google ADK", f"{VENDORS}.test_google_adk", NATIVE_TOOL, {"count": 8}),
)

NATIVE_ROWS = (
    NativeRow("unknown output", lambda: _output(PROGRAMS["unknown"], 1), _reduced("./do-it")),
    NativeRow("tests", lambda: _output(PROGRAMS["pytest -v"], 1), _reduced("pytest -v")),
    NativeRow("installs", lambda: _output(PROGRAMS["npm install"], 1), _reduced("npm install")),
    NativeRow("git status", lambda: inputs.git_status(10_000), _reduced("git status -s")),
    NativeRow("kanban, 10,000 tickets", _tickets, _reduced(kind="kanban_list")),
    NativeRow("head and tail", lambda: inputs.text(1), _reduced(kind="head_tail")),
    NativeRow("redaction", lambda: inputs.text(1), "core.redact(text)"),
    *(
        NativeRow(f"cut of 1 MiB, {alphabet}", partial(mul, *repeated), _CUT)
        for alphabet, repeated in bench_trim.TEXTS.items()
    ),
    NativeRow("sanitising", lambda: inputs.text(1), "core.sanitize(text)"),
)


def reduced(benchmark: Any, program: str) -> None:
    """A long output reduced, beside its lines put into a set."""
    if program == "git status -s":
        command, original = program, inputs.git_status(100_000)
    else:
        command, original = PROGRAMS[program].command, _output(PROGRAMS[program], 16)
    assert len(reduce_text(original, command=command, exit_code=0)) < len(original)

    def ours() -> Callable[[], object]:
        text = inputs.fresh(original)
        return lambda: reduce_text(text, command=command, exit_code=0)

    def theirs() -> Callable[[], object]:
        text = inputs.fresh(original)
        return lambda: set(text.split("\n"))

    beside(benchmark, ours, {LINES: theirs}, group="", rounds=9)


async def _hand_over(args: Any, context: ToolContext) -> Any:
    return args["answer"]


def cut_to_a_budget(benchmark: Any, loop: asyncio.AbstractEventLoop) -> None:
    """64 results of 4,000 characters, cut to 1,250 each."""
    registry = ToolRegistry([Tool("tool", "", {"type": "object"}, _hand_over)])
    context = ToolContext(result_budget_chars=80_000)

    async def ours(calls: Any) -> list[str]:
        return [result.text for result in await registry.execute_parallel(calls, context)]

    async def sliced(calls: Any) -> list[str]:
        answers = await asyncio.gather(*[_hand_over(call["args"], context) for call in calls])
        return [
            f"{one.value[:1250]}\n[truncated — {len(one.value)} chars total]" for one in answers
        ]

    def prepare(run: Callable[[Any], Any]) -> Callable[[], Any]:
        batches = [
            [
                {"id": str(n), "name": "tool", "args": {"answer": ok(f"{n:04d}".ljust(4_000, "x"))}}
                for n in range(64)
            ]
            for _ in range(4)
        ]

        async def all_of() -> Any:
            return [await run(batch) for batch in batches]

        return lambda: loop.run_until_complete(all_of())

    assert prepare(ours)() == prepare(sliced)()
    beside(benchmark, lambda: prepare(ours), {SLICE: lambda: prepare(sliced)}, group="", rounds=99)


def importing(benchmark: Any) -> None:
    names = "from ethos_registry import ToolContext, ToolRegistry, tool"
    _programs(benchmark, ["-c", names], "import asyncio, pydantic")


def _native(benchmark: Any, words: list[str], data: bytes) -> None:
    """The native program beside one that copies the same input."""
    from cli_program import NATIVE

    if NATIVE is None:
        pytest.skip("needs a wheel with the native program")

    def run(command: list[str], folder: str) -> None:
        subprocess.run(
            command,
            input=data,
            stdout=subprocess.DEVNULL,
            check=True,
            env={"HOME": folder, "ETHOS_REGISTRY_OUTPUTS": f"{folder}/outputs"},
        )

    with tempfile.TemporaryDirectory() as folder:
        start = partial(run, [NATIVE, *words], folder)
        beside(
            benchmark,
            lambda: start,
            {PROGRAM_START: lambda: partial(run, ["/bin/cat"], folder)},
            group="",
            rounds=20,
        )


def native_hook(benchmark: Any) -> None:
    """An answer to a result of 29,000 characters, which the program halves."""
    payload = {
        "session_id": "session",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "seq 1 5900"},
        "tool_response": {"stdout": "".join(f"{number}\n" for number in range(1, 5_901))},
    }
    _native(benchmark, ["hook", "claude"], json.dumps(payload).encode())


def native_reduce(benchmark: Any) -> None:
    """The output of 16 KiB of a test run, reduced to 4,000 characters."""
    lines = "".join(f"tests/test_{n}.py::test_a PASSED [{n // 4:3}%]\n" for n in range(400))
    options = ["--command", "pytest -v", "--exit-code", "0", "--target-chars", "4000"]
    _native(benchmark, ["reduce", *options], lines.encode())


def native_version(benchmark: Any) -> None:
    """The version, which is in the program."""
    _native(benchmark, ["--version"], b"")


def cli_start(benchmark: Any) -> None:
    pytest.importorskip("typer")
    program = "from ethos_registry_cli import main; import sys; sys.argv[1:] = ['--help']; main()"
    _programs(benchmark, ["-c", program], "import asyncio, pydantic, rich.console, typer")


def _programs(benchmark: Any, ours: list[str], theirs: str) -> None:
    def prepare(arguments: list[str]) -> Callable[[], Callable[[], object]]:
        command = [sys.executable, *arguments]
        return lambda: lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    dependencies = {LIBRARIES: prepare(["-c", theirs])}
    beside(benchmark, prepare(ours), dependencies, group="", rounds=9)


def process_transport(benchmark: Any, loop: asyncio.AbstractEventLoop, name: str) -> None:
    """Batches of 64 over one worker, beside the least that such a process does.

    That is, for an async tool, JSON lines to one subprocess, and for a plain function a
    `ProcessPoolExecutor`.
    """
    import bench_transports as transports
    from ethos_registry.transports import ProcessTransport

    is_plain = name == "answer_plain"
    bare = transports.BarePool() if is_plain else transports.BareLines()
    pool = ProcessTransport("bench_transports:registry", workers=1)
    away = ToolRegistry(transports.registry.all(), transports={"*": pool})
    context = ToolContext(result_budget_chars=1e9)

    async def ours() -> None:
        for _ in range(8):
            results = await away.execute_parallel(transports.calls(64, name=name), context)
            assert all(result.ok for result in results)

    async def theirs() -> None:
        for _ in range(8):
            await asyncio.gather(*(bare.call(number, transports.TEXT) for number in range(64)))

    def prepare(run: Callable[[], Any]) -> Callable[[], Callable[[], object]]:
        return lambda: lambda: loop.run_until_complete(run())

    async def start() -> None:
        await bare.start()
        await pool.start()

    async def close() -> None:
        await bare.close()
        await pool.aclose()

    loop.run_until_complete(start())
    try:
        baseline = EXECUTOR if is_plain else JSON_LINES
        beside(benchmark, prepare(ours), {baseline: prepare(theirs)}, group="", rounds=99)
    finally:
        loop.run_until_complete(close())


def _family_seconds() -> float:
    """Seconds of the processor, used by this process, its children and those that ended."""
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The clock of another process, as `clock_getcpuclockid` makes it.
    alive = sum(time.clock_gettime((~process << 3) | 2) for process in _descendants(os.getpid()))
    return time.process_time() + ended.ru_utime + ended.ru_stime + alive


def _descendants(process_id: int) -> Iterator[int]:
    for children in Path(f"/proc/{process_id}/task").glob("*/children"):
        for child in map(int, children.read_text(encoding="ascii").split()):
            yield child
            yield from _descendants(child)  # a worker is the child of its supervisor


class Rounds:
    """The part of pytest-benchmark's fixture that benches use, with as many rounds as fit."""

    def __init__(self, timer: Callable[[], float], seconds: float, slow: float) -> None:
        self._timer = timer
        self._seconds = seconds
        self._slow = slow
        self.group = ""
        self.extra_info: dict[str, Any] = {}
        self.stats = SimpleNamespace(stats=SimpleNamespace(data=[]))

    def pedantic(self, run: Callable[..., object], *, setup: Callable[[], Any], **_: Any) -> None:
        timer, data = self._timer, self.stats.stats.data
        setup()[0][0]()
        gc.collect()
        gc.freeze()
        end = time.process_time() + self._seconds
        stop = time.monotonic() + 4 * self._seconds
        while len(data) < LEAST_ROUNDS or (time.process_time() < end and time.monotonic() < stop):
            arguments, _ = setup()
            start = timer()
            run(*arguments)
            spent = timer() - start
            while self._slow > 1 and timer() - start < spent * self._slow:
                pass
            data.append(timer() - start)
        gc.unfreeze()


def ratio(row: Row, slow: float, seconds: float) -> float:
    """How many times as long as its baseline the subject takes."""
    module_name, name = row.bench.split(".")
    if row.has_processes and sys.platform != "linux":
        pytest.skip("the time of other processes is read from /proc")
    is_here = module_name == "guard"
    module = sys.modules[__name__] if is_here else importlib.import_module(f"bench_{module_name}")
    function = getattr(module, name)
    benchmark = Rounds(_family_seconds if row.has_processes else time.process_time, seconds, slow)
    loop = asyncio.new_event_loop()
    try:
        with tempfile.TemporaryDirectory() as folder:
            fixtures = {"benchmark": benchmark, "loop": loop, "tmp_path": Path(folder)}
            wanted = inspect.signature(function).parameters
            function(**{one: fixtures[one] for one in fixtures if one in wanted}, **row.case)
    finally:
        loop.close()
    measured: float = benchmark.extra_info["baselines"][row.baseline]["ratio_of_fast"]
    return measured


CHILD = """
import importlib.machinery, sys, _imp
spec = importlib.machinery.ModuleSpec("_core", None, origin=sys.argv[1])
core = _imp.create_dynamic(spec)
_imp.exec_dynamic(core)

class Call:
    def __init__(self, source):
        self.run = eval("lambda text: " + source, {"core": core})
    def __abs__(self):
        self.run(text)
        return 0

for path, source in zip(sys.argv[2::2], sys.argv[3::2]):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    call = Call(source)
    call.run(text)  # what is made once
    abs(call)
"""
"""Only `abs` calls `PyNumber_Absolute`, by whose name valgrind starts and stops counting."""


CHILD_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    # `rep movsb` counts as one instruction a byte, and alignment decides where it is used.
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=0x7fffffff",
}


def instructions(rows: list[NativeRow]) -> dict[str, float]:
    """The instructions of each row, all in one process under valgrind."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for number, row in enumerate(rows):
            path = Path(folder, str(number))
            path.write_text(row.text(), encoding="utf-8", newline="")
            arguments += [str(path), row.call]
        counted = Path(folder, "counted")
        subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=PyNumber_Absolute",
                "--dump-after=PyNumber_Absolute",
                f"--callgrind-out-file={counted}",
                *(sys.executable, "-I", "-S", "-c", CHILD, str(_core.__file__), *arguments),
            ],
            check=True,
            stderr=subprocess.PIPE,
            env=os.environ | CHILD_ENVIRONMENT,
        )
        found = {}
        for number, row in enumerate(rows, 1):
            part = Path(f"{counted}.{number}")
            if not part.exists():  # this Python calls it by no such name
                return {}
            totals = re.search(r"^totals: (\d+)$", part.read_text(encoding="utf-8"), re.MULTILINE)
            if totals is None or int(totals[1]) < 100_000:
                return {}
            found[row.name] = float(totals[1])
        return found


@dataclass
class Measured:
    """One row of this run."""

    name: str
    key: str
    value: float | None
    tolerance: float
    recorded: float | None
    skipped: str = ""
    error: str = ""

    @property
    def is_worse(self) -> bool:
        if self.error:
            return True
        if self.value is None or self.recorded is None:
            return False
        return self.value > self.recorded * (1 + self.tolerance)

    def __str__(self) -> str:
        if self.error:
            return f"{self.name:45} FAILED: {self.error}"
        if self.value is None:
            return f"{self.name:45} skipped: {self.skipped}"
        if self.recorded is None:
            return f"{self.name:45} {self.value:>16,.6g}  not recorded for {self.key}"
        change = self.value / self.recorded - 1
        state = "  WORSE" if self.is_worse else ""
        return f"{self.name:45} {self.value:>16,.6g} {self.recorded:>16,.6g} {change:+7.1%}{state}"


def measure(names: list[str], recorded: dict[str, Any], slow: float) -> Iterator[Measured]:
    """Every chosen row, or all of them."""

    def entry(name: str, key: str, default: float) -> Measured:
        row = recorded.get(name, {})
        return Measured(name, key, None, row.get("tolerance", default), row.get(key))

    for row in ROWS:
        if names and row.name not in names:
            continue
        found = entry(row.name, f"Python {PYTHON}", RATIO_TOLERANCE)
        try:
            found.value = ratio(row, slow, SECONDS_A_ROW)
            for attempt in range(2, ATTEMPTS + 1):
                if not found.is_worse:
                    break
                found.value = min(found.value, ratio(row, slow, SECONDS_A_ROW * attempt))
        except pytest.skip.Exception as reason:
            found.skipped = str(reason)
        except Exception as error:
            traceback.print_exc()
            found.error = repr(error)
        yield found
    natives = [row for row in NATIVE_ROWS if not names or row.name in names]
    counts = instructions(natives) if natives and shutil.which("valgrind") else {}
    for native in natives:
        found = entry(native.name, MACHINE, INSTRUCTIONS_TOLERANCE)
        found.value = counts.get(native.name)
        found.skipped = "valgrind is not installed or cannot count here"
        yield found


def write(found: Iterable[Measured], recorded: dict[str, Any], reason: str | None) -> list[str]:
    """Record the values; those that are worse only with a reason. The names of the rest."""
    refused = []
    for row in found:
        if row.value is None or row.error:
            continue
        entry = recorded.setdefault(row.name, {"tolerance": row.tolerance})
        # Half of the tolerance: the luckiest of many runs would be the record else.
        if row.recorded is not None and abs(row.value / row.recorded - 1) < row.tolerance / 2:
            continue
        if row.recorded is not None and row.value > row.recorded:
            if reason is None:
                refused.append(row.name)
                continue
            entry["reasons"] = [
                *entry.get("reasons", []),
                f"{row.key}: {row.recorded:,} -> {float(f'{row.value:.6g}'):,}: {reason}",
            ]
        entry[row.key] = float(f"{row.value:.6g}")
    return refused


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rows", nargs="*", help="Names of rows (default: all).")
    parser.add_argument(
        "--check", action="store_true", help="Exit with 1 if a row failed or is too slow."
    )
    parser.add_argument("--write", action="store_true", help="Record new and better values.")
    parser.add_argument("--reason", help="Record worse values too, with this reason.")
    parser.add_argument("--record", action="store_true", help="Record the figures of the pages.")
    parser.add_argument("--slow", type=float, default=1, help="Make subjects this much slower.")
    chosen = parser.parse_args()
    if getattr(_core, "IS_DEBUG_BUILD", True):
        parser.error(f"{_core.__file__} is a debug build: install the wheel with `pip install .`")
    known = {row.name for row in (*ROWS, *NATIVE_ROWS)}
    if unknown := sorted(set(chosen.rows) - known):
        parser.error(f"unknown row {unknown[0]!r}; rows are {', '.join(sorted(known))}")
    if chosen.write and chosen.slow != 1:
        parser.error("`--write` does not record what `--slow` measures")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    found = []
    for row in measure(chosen.rows, recorded, chosen.slow):
        print(row, flush=True)
        found.append(row)
    if chosen.record:
        # What processes take depends on what else the machine does.
        baselines = {row.name: row.baseline for row in ROWS if not row.has_processes}
        baselines |= {row.name: "" for row in NATIVE_ROWS}
        figures = [
            {"row": row.name, "baseline": baselines[row.name], "value": row.value}
            for row in found
            if row.value is not None and row.name in baselines
        ]
        record.save("performance", figures)
    if chosen.write:
        refused = write(found, recorded, chosen.reason)
        RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", "utf-8")
        if refused:
            print(f"worse, not recorded without `--reason`: {', '.join(refused)}")
            return 1
    worse = [row.name for row in found if row.is_worse]
    if worse:
        print(f"failed or slower than recorded: {', '.join(worse)}")
    return 1 if worse and chosen.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
