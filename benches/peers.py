"""Run the same calls through other libraries' own public paths, for `docs/comparison.md`.

Each library lives in a virtual environment of its own:

    python -m venv /tmp/peer && /tmp/peer/bin/pip install fastmcp
    /tmp/peer/bin/python benches/peers.py fastmcp
    /tmp/peer/bin/python benches/peers.py --record    # all, where all are installed

Libraries: ethos, pydantic_ai, fastmcp, langgraph, openai_agents. Prints one JSON object: the
outcome of each probe, and times as ratios to `asyncio.gather` of the bare coroutines, measured
alternately.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import record

Call = tuple[str, str, dict[str, Any]]
"""Id, tool name, arguments."""
Run = Callable[[list[Call]], Awaitable[list[tuple[str, str]]]]
"""Runs the calls of one reply; gives id and text of each result, in the order of the results."""

RESULT = "x" * 200
STARTED: list[str] = []
FINISHED: list[str] = []


async def work(number: int) -> str:
    """Return 200 characters."""
    return RESULT


async def slow(number: int) -> str:
    """Return after 50 ms."""
    STARTED.append("slow")
    await asyncio.sleep(0.05)
    FINISHED.append("slow")
    return f"slow {number}"


async def fails(number: int) -> str:
    """Raise an exception."""
    raise ValueError("boom")


async def cancels(number: int) -> str:
    """Raise CancelledError, as a library with a cancelled task of its own does."""
    raise asyncio.CancelledError


async def large(number: int) -> str:
    """Return a million characters."""
    return "x" * 1_000_000


async def surrogate(number: int) -> str:
    """Return half of a surrogate pair."""
    return "lone \ud83d end"


async def denied(number: int) -> str:
    """Do something this agent must not do."""
    STARTED.append("denied")
    return "done"


TOOLS = [work, slow, fails, cancels, large, surrogate]


def ethos() -> Run:
    """ethos-registry: `view.execute`."""
    from ethos_registry import Personality, ToolRegistry

    registry = ToolRegistry()
    for function in [*TOOLS, denied]:
        registry.tool(function)
    view = registry.view(Personality("agent", exclude=["denied"]))

    async def run(calls: list[Call]) -> list[tuple[str, str]]:
        asked = [{"id": call_id, "name": name, "args": args} for call_id, name, args in calls]
        return [(each.tool_call_id, each.text) for each in await view.execute(asked)]

    return run


def pydantic_ai() -> Run:
    """pydantic-ai: an agent with a scripted model, its toolset filtered."""
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.messages import (
        ModelResponse,
        RetryPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import FunctionModel

    wanted: list[Call] = []

    def model(messages: list[Any], info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse([ToolCallPart(name, args, id_) for id_, name, args in wanted])
        return ModelResponse([TextPart("done")])

    toolset = FunctionToolset([*TOOLS, denied])
    permitted = toolset.filtered(lambda context, definition: definition.name != "denied")
    agent = Agent(FunctionModel(model), toolsets=[permitted], retries=3)

    async def run(calls: list[Call]) -> list[tuple[str, str]]:
        wanted[:] = calls
        done = await agent.run("go")
        return [
            (part.tool_call_id, str(part.content))
            for message in done.all_messages()
            for part in message.parts
            if isinstance(part, ToolReturnPart | RetryPromptPart)
        ]

    return run


def fastmcp() -> Run:
    """FastMCP: an in-memory client; calls are gathered, errors are results."""
    from fastmcp import Client, FastMCP

    server: Any = FastMCP("peers")
    for function in [*TOOLS, denied]:
        server.tool(function)
    server.disable(names={"denied"}, components={"tool"})

    clients: list[Any] = []

    async def run(calls: list[Call]) -> list[tuple[str, str]]:
        if not clients:  # one connection for all batches, unless a probe closed it
            clients.append(await Client(server).__aenter__())
        results = await asyncio.gather(
            *(clients[0].call_tool(name, args, raise_on_error=False) for _, name, args in calls),
            return_exceptions=True,
        )
        if any(isinstance(each, BaseException) for each in results):
            clients.clear()
        return [
            (call[0], str(each) if isinstance(each, BaseException) else each.content[0].text)
            for call, each in zip(calls, results, strict=True)
        ]

    return run


def langgraph() -> Run:
    """LangGraph: a graph of one `ToolNode`, with errors handled."""
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    node = ToolNode([tool(function) for function in TOOLS], handle_tool_errors=True)
    graph: Any = StateGraph(MessagesState).add_node("tools", node)
    graph = graph.add_edge(START, "tools").add_edge("tools", END).compile()

    async def run(calls: list[Call]) -> list[tuple[str, str]]:
        asked = [{"id": id_, "name": name, "args": args} for id_, name, args in calls]
        done = await graph.ainvoke({"messages": [AIMessage("", tool_calls=asked)]})
        return [(each.tool_call_id, str(each.content)) for each in done["messages"][1:]]

    return run


def openai_agents() -> Run:
    """OpenAI Agents: `Runner.run` with a scripted model, one tool disabled."""
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    wanted: list[Call] = []

    class Scripted(Model):  # type: ignore[misc]
        async def get_response(self, *args: Any, **options: Any) -> Any:
            items = options.get("input", args[1] if len(args) > 1 else None)
            if isinstance(items, list) and len(items) > 1:
                text = ResponseOutputText(annotations=[], text="done", type="output_text")
                output: list[Any] = [
                    ResponseOutputMessage(
                        id="m", content=[text], role="assistant", status="completed", type="message"
                    )
                ]
            else:
                output = [
                    ResponseFunctionToolCall(
                        call_id=id_, name=name, arguments=json.dumps(args), type="function_call"
                    )
                    for id_, name, args in wanted
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    tools: list[Any] = [function_tool(function) for function in TOOLS]
    tools.append(function_tool(is_enabled=False)(denied))
    agent: Any = Agent(name="agent", model=Scripted(), tools=tools)
    config = RunConfig(tracing_disabled=True)

    async def run(calls: list[Call]) -> list[tuple[str, str]]:
        wanted[:] = calls
        done = await Runner.run(agent, "go", run_config=config)
        return [
            (each.raw_item["call_id"], str(each.output))
            for each in done.new_items
            if type(each).__name__ == "ToolCallOutputItem"
        ]

    return run


PACKAGES = ("pydantic-ai-slim", "fastmcp", "mcp", "langgraph", "openai-agents")
PEERS = {made.__name__: made for made in (ethos, pydantic_ai, fastmcp, langgraph, openai_agents)}


def calls_of(*names: str) -> list[Call]:
    """Calls of the tools, with the ids c0, c1, ..."""
    return [(f"c{index}", name, {"number": index}) for index, name in enumerate(names)]


async def probe(run: Run, calls: list[Call]) -> dict[str, Any]:
    """Run the calls; report the results, or the exception that left the library."""
    STARTED.clear()
    FINISHED.clear()
    try:
        results = await asyncio.wait_for(run(calls), 20)
        report: dict[str, Any] = {
            "answered": len(results),
            "in_order": [each[0] for each in results] == [each[0] for each in calls],
            "results": [repr(text[:160]) for _, text in results],
            "characters": sum(len(text) for _, text in results),
        }
    except BaseException as error:
        report = {"raised": type(error).__name__, "message": str(error)[:160]}
    await asyncio.sleep(0.1)
    return report | {"started": list(STARTED), "finished": list(FINISHED)}


async def ratio(run: Run, count: int, seconds: float = 3.0) -> dict[str, float]:
    """Microseconds of the processor per call of `run` and of a bare gather, alternately: minima."""
    calls = calls_of(*["work"] * count)
    assert [text for _, text in await run(calls)] == [RESULT] * count
    subject = floor = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.process_time()
        await asyncio.gather(*(work(index) for index in range(count)))
        middle = time.process_time()
        await run(calls)
        floor = min(floor, middle - start)
        subject = min(subject, time.process_time() - middle)
    microseconds = 1e6 / count
    return {
        "us": round(subject * microseconds, 1),
        "gather_us": round(floor * microseconds, 1),
        "ratio": round(subject / floor, 1),
    }


async def main(name: str) -> None:
    """Probe one library and print the report."""
    logging.disable(logging.CRITICAL)
    run = PEERS[name]()
    report: dict[str, Any] = {"library": name}
    report["order"] = await probe(run, calls_of("slow", "work", "work"))
    report["one raises"] = await probe(run, calls_of("fails", "slow"))
    report["one cancels itself"] = await probe(run, calls_of("cancels", "slow"))
    report["unknown tool"] = await probe(run, calls_of("missing", "slow"))
    report["denied tool"] = await probe(run, calls_of("denied", "slow"))
    report["wrong arguments"] = await probe(
        run, [("c0", "work", {"number": "many"}), ("c1", "slow", {"number": 1})]
    )
    report["duplicate ids"] = await probe(
        run, [("same", "slow", {"number": 1}), ("same", "slow", {"number": 2})]
    )
    report["three large results"] = await probe(run, calls_of("large", "large", "large"))
    report["lone surrogate"] = await probe(run, calls_of("surrogate"))
    report["64 calls"] = await ratio(run, 64)
    report["8 calls"] = await ratio(run, 8)
    print(json.dumps(report, indent=1))


def record_all() -> None:
    """Probe each library in a process of its own, and record the reports."""
    reports = {}
    for name in PEERS:
        command = [sys.executable, __file__, name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        reports[name] = json.loads(done.stdout)
    versions = {name: version(name) for name in PACKAGES}
    record.save("peers", reports, **versions)


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record_all()
    else:
        asyncio.run(main(sys.argv[1]))
