"""LangChain and LangGraph: a view as tools of a graph, and their tools in a registry.

Needs the extra `langchain`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, Unpack

from pydantic import PrivateAttr, ValidationError

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    AdapterDefinition,
    approval_names,
    argument_error,
    data_block,
    definitions_of,
    framework_tool,
    needs_its_framework,
    parts_result,
    result_as_dict,
)
from ethos_registry.adapters._turn_collector import AdapterCalls, call_factory
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import DataBlock, sent_parts
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._content import Audio, ContentBlock, Image
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for LangChain", "langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, ToolException
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.types import interrupt

__all__ = ["RegistryTool", "from_langchain", "to_langchain"]


_RUNTIME = "registry_tool_runtime"
"""The argument that the graph fills in; the model never sees it."""


async def _injected(*, registry_tool_runtime: ToolRuntime) -> None:
    """What a graph inspects to find out what a tool receives beside the arguments."""


class RegistryTool(BaseTool):
    """One tool of a view; made by `to_langchain`."""

    coroutine: ClassVar[Any] = staticmethod(_injected)
    _calls: AdapterCalls = PrivateAttr()
    _needs_approval: bool = PrivateAttr()

    def __init__(self, shown: AdapterDefinition, calls: AdapterCalls, needs_approval: bool) -> None:
        super().__init__(
            name=shown.name,
            description=shown.description,
            args_schema=shown.parameters,
            response_format="content_and_artifact",
            handle_tool_error=True,
        )
        self._calls = calls
        self._needs_approval = needs_approval

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        return frozenset({_RUNTIME})

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments stay together: their names may be anything."""
        if isinstance(tool_input, str):
            return (tool_input, None, tool_call_id), {}
        arguments = dict(tool_input)
        runtime = arguments.pop(_RUNTIME, None)
        return (arguments, runtime, tool_call_id), {}

    async def _arun(
        self, arguments: Any, runtime: ToolRuntime | None, call_id: str | None
    ) -> tuple[Any, dict[str, Any]]:
        arguments = self._approved(arguments, call_id)
        options = self._call_options(runtime, call_id)
        run = _run_of(runtime)
        return self._output(await self._calls.call(self.name, arguments, run=run, **options))

    def _run(
        self, arguments: Any, runtime: ToolRuntime | None, call_id: str | None
    ) -> tuple[Any, dict[str, Any]]:
        arguments = self._approved(arguments, call_id)
        options = self._call_options(runtime, call_id)
        return self._output(self._calls.call_sync(self.name, arguments, **options))

    def _call_options(self, runtime: ToolRuntime | None, call_id: str | None) -> dict[str, Any]:
        context = self._calls.context(runtime)
        options: dict[str, Any] = {"tool_call_id": call_id or "", "context": context}
        if runtime is not None:
            write = runtime.stream_writer

            def on_progress(event: ToolProgressEvent) -> None:
                write({**event.to_wire(), "toolCallId": call_id})

            options["on_progress"] = on_progress
        return options

    def _approved(self, arguments: Any, call_id: str | None) -> Any:
        """The arguments to run with; a person may change them."""
        if not self._needs_approval:
            return arguments
        question = {"tool_name": self.name, "args": arguments, "tool_call_id": call_id}
        answer = interrupt(question)
        edited = answer if isinstance(answer, Mapping) else {"approved": answer}
        if edited.get("approved") is not True:
            reason = edited.get("reason") or "no reason was given"
            raise ToolException(f"Tool {self.name} was not approved: {reason}")
        return edited.get("args", arguments)

    def _output(self, result: CallResult) -> tuple[Any, dict[str, Any]]:
        if not result.ok:
            raise ToolException(sent_parts(result, lambda block: False)[0])
        text, blocks = sent_parts(result, lambda block: not isinstance(block, Audio))
        parts = [{"type": "text", "text": text}, *map(_content_block, blocks)]
        return parts if blocks else text, result_as_dict(result)


def _run_of(runtime: ToolRuntime | None) -> object | None:
    """What a graph makes for each of its runs; `None` outside a graph."""
    if runtime is None or runtime.execution_info is None:
        return None
    return runtime.stream_writer


@_checks.checked_signature
def to_langchain(
    view: ToolView,
    *,
    context_factory: Callable[[ToolRuntime | None], ToolContext] | None = None,
    needs_approval: Collection[str] = (),
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[BaseTool]:
    """The tools of a view for `create_agent(tools=...)` or `ToolNode(...)`.

    In an async graph the calls of one step of a run are one batch, whose results share
    `turn_budget_chars`; calls of different runs never share one. In a sync graph (`graph.invoke`)
    and outside a graph each call is a batch of its own. `call_budget_chars` is the limit of a call
    that joins no other, and of what a batch has for each of its calls. `context_factory` makes the
    context of a call from the graph's `ToolRuntime` (`None` outside a graph), so tools can receive
    its `context` and `state`. Calls of tools in `needs_approval` interrupt the graph with
    `{"tool_name", "args", "tool_call_id"}` until it is resumed with `True`, `False`, or
    `{"approved": bool, "args": {...}, "reason": str}`; that needs a checkpointer. Progress is
    written to the stream mode `custom`. The other options are those of `View.execute`.

    Kept: text, images and documents, the result as plain JSON in the `artifact` of a success. Lost:
    of errors, all but the text; audio, which becomes a line of text. The graph itself answers
    unknown names, and a resumed node runs all of its calls again.

    Raises `ConfigError` for a name in `needs_approval` that the view does not show, and for a tool
    with an argument `runtime`, which LangGraph replaces.
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    approved = approval_names(needs_approval, view)
    tools: list[BaseTool] = []
    for shown in definitions_of(view):
        if "runtime" in shown.parameters.get("properties", ()):
            raise ConfigError(
                f"tool `{shown.name}`: LangGraph replaces an argument `runtime`; rename it, "
                "or leave the tool out of the view"
            )
        tools.append(RegistryTool(shown, calls, shown.name in approved))
    return tools


def _content_block(block: DataBlock) -> dict[str, Any]:
    kind = "image" if isinstance(block, Image) else "file"
    shown = {"type": kind, "base64": block.base64_text, "mime_type": block.media_type}
    return shown if block.name is None else {**shown, "filename": block.name}


@_checks.checked_signature
def from_langchain(
    tools: Iterable[BaseTool],
    *,
    config_factory: Callable[[ToolContext], Any] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """LangChain tools as tools for `registry.register_all`.

    `config_factory` makes the `RunnableConfig` of a call from the registry's context. The output
    counts as untrusted unless `trusted`; the toolset of the tools is `langchain`. The tools'
    validation applies, and its errors are reported as the registry reports others. `ToolException`
    is an error with its text. A dict in the artifact becomes `structured`. Tools that interrupt a
    graph or return a `Command` are answered `not_available`; tools that need the state of a graph
    fail.

    >>> def register(registry, search_tool):
    ...     registry.register_all(from_langchain([search_tool]))
    """
    return [
        framework_tool(
            tool.name,
            tool.description,
            _schema_of(tool),
            _execute(tool, config_factory),
            toolset="langchain",
            is_trusted=trusted,
        )
        for tool in tools
    ]


def _schema_of(tool: BaseTool) -> dict[str, Any]:
    shown: Any = tool.tool_call_schema
    schema = dict(shown) if isinstance(shown, dict) else shown.model_json_schema()
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _execute(tool: BaseTool, config_factory: Callable[[ToolContext], Any] | None) -> Any:
    schema = _schema_of(tool)

    async def execute(args: Any, context: ToolContext) -> ToolResult:
        config = call_factory(config_factory, context, name="config_factory")
        call = {"type": "tool_call", "name": tool.name, "args": args, "id": context.tool_call_id}
        try:
            message = await tool.ainvoke(call, config)
        except ValidationError as error:
            return argument_error(error, args, schema)
        except ToolException as error:
            return ToolError(str(error))
        except GraphBubbleUp:
            return needs_its_framework(tool.name, "LangGraph", "interrupts its graph")
        if not isinstance(message, ToolMessage):
            return needs_its_framework(
                tool.name, "LangGraph", f"returns a {type(message).__name__}"
            )
        return _result(message)

    return execute


def _result(message: ToolMessage) -> ToolResult:
    content = message.content
    parts: list[str | ContentBlock] = []
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            parts.append(part)
            continue
        parts.append(str(part.get("text", "")))
        if isinstance(data := part.get("base64"), str):
            parts.append(data_block(data, part.get("mime_type") or "", str(part.get("type"))))
    artifact = message.artifact if isinstance(message.artifact, dict) else None
    return parts_result(parts, artifact, is_error=message.status == "error")
