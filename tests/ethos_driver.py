"""Runs the cases of `ethos_cases` against this project."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ethos_cases import WITH_OVERWRITE, expand
from ethos_registry import (
    DefaultToolRegistry,
    DefaultToolResultReducerRegistry,
    Invocation,
    InvocationFilter,
    Personality,
    Tool,
    ToolContext,
    ToolFilterOpts,
    ToolOk,
    ToolRegistry,
    ToolResult,
    err,
)
from ethos_registry.reduction import ToolReducerContext

NOT_A_FIELD = {"plugin_id", "behavior", "result", "message", "value", "available", "ms"}


class ForeignError(Exception):
    """Stands for what JavaScript throws."""


def made_tool(spec: dict[str, Any]) -> Tool:
    """The tool that a case describes."""
    spec = expand(spec)
    fields = {key: value for key, value in spec.items() if key not in NOT_A_FIELD}
    if "available" in spec:
        fields["is_available"] = lambda: spec["available"]
    fields.setdefault("description", f"desc {spec['name']}")
    fields.setdefault("schema", {"type": "object"})
    return Tool(execute=_behaviour(spec), **fields)


def _behaviour(spec: dict[str, Any]) -> Callable[[Any, ToolContext], Any]:
    behavior = spec.get("behavior")
    answers: dict[str | None, Callable[[Any, ToolContext], Any]] = {
        None: lambda args, context: {"ok": True, "value": f"ran {spec['name']}"},
        "return": lambda args, context: spec["result"],
        "return_string": lambda args, context: "just a string",
        "return_sync": lambda args, context: {"ok": True, "value": "sync"},
        "echo_args": lambda args, context: {
            "ok": True,
            "value": json.dumps(args, separators=(",", ":")),
        },
        "budget": lambda args, context: {
            "ok": True,
            "value": f"budget={context.result_budget_chars}",
        },
    }

    def throw(args: Any, context: ToolContext) -> Any:
        if behavior == "throw_type":
            raise TypeError(spec["message"])
        raise ForeignError(spec["message"] if "message" in spec else spec["value"])

    answer = throw if behavior and behavior.startswith("throw") else answers[behavior]
    if behavior == "return_sync":
        return answer

    async def execute(args: Any, context: ToolContext) -> Any:
        return answer(args, context)

    return execute


class MadeReducer:
    """A reducer of one of the kinds that the cases name."""

    def __init__(self, tool_name: str, kind: str, value: str = "") -> None:
        self.tool_name = tool_name
        self._kind = kind
        self._value = value

    def reduce(self, result: ToolResult, context: ToolReducerContext) -> Any:
        if self._kind == "throw":
            raise ForeignError("the reducer threw")
        if self._kind == "mutate_throw":
            object.__setattr__(result, "value", "mutated")
            raise ForeignError("the reducer threw")
        if self._kind == "undefined":
            return None
        if self._kind == "promise":
            return _promise(result)
        if self._kind == "to_error":
            return err("reduced to error")
        if self._kind == "upper":
            return ToolOk(result.value.upper() if result.ok else f"error hidden: {result.error}")
        assert self._kind == "const"
        return ToolOk(self._value)


async def _promise(result: ToolResult) -> ToolResult:
    return result


def registry_of(given: dict[str, Any]) -> ToolRegistry:
    """A registry with the tools and reducers of a case."""
    reducers = DefaultToolResultReducerRegistry()
    for spec in expand(given.get("reducers", [])):
        reducers.register(MadeReducer(spec["tool"], spec["kind"], spec.get("value", "")))
    registry = DefaultToolRegistry(None, reducers)
    for spec in given["tools"]:
        registry.register(made_tool(spec), plugin_id=spec.get("plugin_id"))
    return registry


def run_execute(case: dict[str, Any]) -> dict[str, Any]:
    given = case["input"]
    results = registry_of(given).execute_parallel_sync(
        expand(given["calls"]),
        ToolContext(**given["ctx"]),
        given.get("allowed_tools"),
    )
    names = {"toolCallId": "tool_call_id"}
    return {
        "results": [
            {names.get(key, key): value for key, value in result.to_wire().items()}
            for result in results
        ]
    }


def run_filter(case: dict[str, Any]) -> dict[str, Any]:
    given = case["input"]
    registry = registry_of(given)
    filters = given["filter_opts"]
    policy = given["allowed_tools"], None if filters is None else ToolFilterOpts(**filters)
    calls = [{"id": name, "name": name, "args": {}} for name in given["call"]]
    results = registry.execute_parallel_sync(calls, None, *policy)
    return {
        "definitions": [item["name"] for item in registry.to_definitions(*policy)],
        "execute": {result.name: _outcome(result.result.to_wire()) for result in results},
    }


def _outcome(wire: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in wire.items() if key in ("ok", "code", "error")}


def run_registry(case: dict[str, Any]) -> dict[str, Any]:
    registry = DefaultToolRegistry()
    overwrite = case["id"] in WITH_OVERWRITE
    return {
        "outcomes": [
            _registry_step(registry, overwrite, *step) for step in expand(case["input"]["steps"])
        ]
    }


def _registry_step(registry: ToolRegistry, overwrite: bool, verb: str, *given: Any) -> Any:
    if verb == "register":
        [spec] = given
        registry.register(made_tool(spec), overwrite, plugin_id=spec.get("plugin_id"))
        return "ok"
    if verb == "register_all":
        registry.register_all([made_tool(spec) for spec in given[0]])
        return "ok"
    if verb == "unregister":
        registry.unregister(*given)
        return "ok"
    if verb == "get":
        tool = registry.get(*given)
        return tool and {"name": tool.name, "description": tool.description}
    if verb == "definitions":
        return json.loads(json.dumps(registry.to_definitions()))
    if verb == "for_toolset":
        return [tool.name for tool in registry.get_for_toolset(*given)]
    if verb == "available":
        return [tool.name for tool in registry.get_available()]
    if verb == "plugin_id":
        return registry.plugin_id_of(*given)
    assert verb == "reach"
    personality = Personality(given[0]["id"], toolset=given[0].get("toolset"))
    return [item["name"] for item in registry.view(personality, allow_unmatched=True).definitions()]


def run_reducer_registry(case: dict[str, Any]) -> dict[str, Any]:
    registry = DefaultToolResultReducerRegistry()
    reducers: dict[str, MadeReducer] = {}
    clean_ups: dict[str, Callable[[], None]] = {}
    outcomes: list[Any] = []
    for verb, *given in case["input"]["steps"]:
        if verb == "register":
            identity, tool_name = given
            reducers[identity] = MadeReducer(tool_name, "throw")
            try:
                clean_ups[identity] = registry.register(reducers[identity])
                outcomes.append("ok")
            except ValueError as error:
                outcomes.append({"raises": str(error)})
        elif verb == "cleanup":
            clean_ups[given[0]]()
            outcomes.append("ok")
        else:
            found = registry.get(given[0])
            outcomes.append(next((key for key, item in reducers.items() if item is found), None))
    return {"outcomes": outcomes}


def run_filters(case: dict[str, Any]) -> dict[str, Any]:
    log: list[str] = []

    async def execute(args: Any, context: ToolContext) -> dict[str, Any]:
        log.append("execute")
        return {"ok": True, "value": "v"}

    def made_filter(index: int, spec: dict[str, Any]) -> InvocationFilter:
        def before(call: Invocation) -> ToolResult | None:
            log.append(f"before{index}")
            if spec["before"] == "throw":
                raise ForeignError(f"before{index} threw")
            return ToolOk(f"short{index}") if spec["before"] == "short" else None

        def after(call: Invocation, result: ToolResult) -> ToolResult:
            log.append(f"after{index}")
            return ToolOk(f"{result.text}+a{index}")

        return InvocationFilter(
            before if "before" in spec else None,
            after if "after" in spec else None,
            spec.get("tool_name"),
            spec.get("toolset"),
            allow_unmatched=True,
        )

    registry = ToolRegistry([made_tool(case["input"]["tool"]).replace(execute=execute)])
    filters = [made_filter(index, spec) for index, spec in enumerate(case["input"]["filters"])]
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "t"}], filters=filters)
    return {"log": log, "result": result.result.to_wire()}


RUNNERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "execute": run_execute,
    "filter": run_filter,
    "registry_steps": run_registry,
    "reducer_registry_steps": run_reducer_registry,
    "invocation_filters": run_filters,
}
