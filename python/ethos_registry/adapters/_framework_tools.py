"""Tools of a framework as tools of a registry, whatever the framework is."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from ethos_registry.providers._portable_name import portable
from ethos_registry.providers._wire_format import DataBlock
from ethos_registry.schema._binding import result_from_value
from ethos_registry.schema._problems import problems_text
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._content import Audio, ContentBlock, Document, Image
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import thaw
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import NO_EXTRA, ToolError, ToolOk
from ethos_registry.types._tool import Execute, Tool

_BEGINS_WITH_LETTER = re.compile(r"[A-Za-z]")


def framework_tool(
    name: str,
    description: str | None,
    schema: Mapping[str, Any],
    execute: Execute,
    *,
    toolset: str,
    is_trusted: bool,
) -> Tool:
    """A tool that calls a framework's; its output is untrusted unless the caller vouches for it."""
    return Tool(
        portable(name, "" if _BEGINS_WITH_LETTER.match(name) else "t_"),
        description or "",
        {"type": "object"} | dict(schema),
        execute,
        toolset=toolset,
        output_is_untrusted=not is_trusted,
    )


def argument_error(
    error: ValidationError, arguments: object, schema: Mapping[str, Any]
) -> ToolError:
    """What the model reads about arguments that the framework's own validation refused."""
    names = tuple(schema.get("properties", ()))
    return ToolError(problems_text(error, arguments, names), "input_invalid", "invalid_args")


def filled_result(
    value: Any,
    blocks: Iterable[ContentBlock] = (),
    structured: Mapping[str, Any] | None = None,
) -> ToolOk | ToolError:
    """The result of a framework's tool: its value as text, and the blocks beside it."""
    result = result_from_value(value)
    if not isinstance(result, ToolOk):
        return result
    shown = result.structured if structured is None else structured
    return ToolOk(result.value, shown, result.cost_usd, NO_EXTRA, (*result.content, *blocks))


def needs_its_framework(name: str, framework: str, what: str) -> ToolError:
    """The answer where a framework's tool asks for what only its own agent can give."""
    return ToolError(
        f"Tool {name} cannot run here: it {what}, which only an agent of {framework} can answer",
        "not_available",
    )


def parts_result(
    parts: Iterable[str | ContentBlock],
    structured: Mapping[str, Any] | None = None,
    *,
    is_error: bool = False,
) -> ToolOk | ToolError:
    """The result of a framework's tool out of its parts: text, one a line, and blocks."""
    found = list(parts)
    text = "\n".join(part for part in found if isinstance(part, str) and part)
    if is_error:
        return ToolError(text)
    return filled_result(text, [part for part in found if not isinstance(part, str)], structured)


_KINDS: dict[str, type[DataBlock]] = {"image": Image, "audio": Audio}


def data_block(data: bytes | str, media_type: str, kind: str = "") -> DataBlock:
    """The block of data, which a string has in base64; without a `kind`, that of its media type."""
    make = _KINDS.get(kind or media_type.partition("/")[0], Document)
    return make(base64.b64decode(data) if isinstance(data, str) else data, media_type)


# What an adapter shows and hands out of a view, whatever the framework is.

T = TypeVar("T")


class AdapterDefinition(NamedTuple):
    """One tool of a view, as plain values that a framework may change."""

    name: str
    description: str
    parameters: dict[str, Any]


def definitions_of(view: ToolView) -> list[AdapterDefinition]:
    """The tools that the view shows; deep copies, because several frameworks change schemas."""
    return [
        AdapterDefinition(shown["name"], shown["description"], thaw(shown["parameters"]))
        for shown in view.definitions()
    ]


@dataclass(slots=True, eq=False)
class AdapterTools(Generic[T]):
    """A framework's objects for the tools of a view, made again only when the view changes."""

    view: ToolView
    make: Callable[[AdapterDefinition], T]
    fingerprint: str | None = None
    tools: dict[str, T] = field(default_factory=dict)

    def current(self) -> dict[str, T]:
        """Name -> object, in the order of the definitions; the same dict while nothing changes."""
        fingerprint = self.view.fingerprint
        if fingerprint != self.fingerprint:
            shown = definitions_of(self.view)
            self.tools = {definition.name: self.make(definition) for definition in shown}
            self.fingerprint = fingerprint
        return self.tools


def result_as_dict(result: CallResult) -> dict[str, Any]:
    """A result that a framework keeps in a history: dicts, lists and plain values of its own."""
    plain: dict[str, Any] = json.loads(json.dumps(result.to_wire()))
    return plain


def approval_names(names: Iterable[str], view: ToolView) -> frozenset[str]:
    """The tools that a person approves; `ConfigError` for a name that the view does not show."""
    wanted = frozenset(_checks.strings(names, "needs_approval"))
    unknown = wanted - {shown["name"] for shown in view.definitions()}
    if unknown:
        raise ConfigError(
            f"`needs_approval` names {min(unknown)!r}, which the view does not show; "
            "without the tool there is nothing to approve"
        )
    return wanted


@dataclass(slots=True, eq=False)
class AsyncProgress:
    """Passes the events of one call to a channel of the framework that has to be awaited."""

    send: Callable[[ToolProgressEvent], Coroutine[Any, Any, object]]
    tasks: list[asyncio.Task[object]] = field(default_factory=list)

    def __call__(self, event: ToolProgressEvent) -> None:
        self.tasks.append(asyncio.ensure_future(self.send(event)))

    async def sent(self) -> None:
        """Wait until all events were sent; what the framework raises is dropped."""
        if self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)
