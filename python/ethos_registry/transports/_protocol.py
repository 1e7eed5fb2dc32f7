"""The tools of a worker, by the names under which they can be imported."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, cast

from pydantic_core import PydanticSerializationError, from_json, to_json

from ethos_registry.execution._refusals import exception_text
from ethos_registry.execution._remote_batch import tool_digest
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.registry._tool_registry import ToolRegistry
from ethos_registry.types import _checks
from ethos_registry.types._context import ReadMtime
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._remote_finish import FinishFacts
from ethos_registry.types._result import ToolError, ToolOk, ToolResult
from ethos_registry.types._tool import Tool
from ethos_registry.types._transport import ToolExecuteRequest, TransportReply

RESPOND_SECONDS = 5.0
"""A worker whose event loop takes no turn for that long after a call was stopped is replaced."""

READ_BYTES = 1 << 16
"""The most that one read takes: for a larger buffer the allocator maps memory at each read."""
TICKET_BYTES = 8
"""The size of a ticket in the queue of a worker, in the byte order of the machine."""

# JSON lines between a pool and its workers.


def read_line(line: bytes) -> Any:
    """The value of a line; `ValueError` if it is not JSON, or more than 200 levels deep."""
    try:
        return from_json(line, cache_strings="keys")
    except ValueError:
        if b"\\u" not in line:
            raise
    value = json.loads(line)  # a lone surrogate, which the fast parser refuses
    from_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))  # the same depth
    return value


def checked_offer(tools: Any) -> dict[str, list[Any]]:
    """What a worker reports as its tools; `ValueError` if it is anything else."""
    if not isinstance(tools, dict):
        raise ValueError("`tools` is not an object")
    for offered in tools.values():
        match offered:
            case [str(), bool()]:
                pass
            case _:
                raise ValueError("a tool is not its digest and whether it is a plain function")
    return tools


def json_bytes(value: Any) -> bytes:
    """A value that is JSON already, as compact JSON."""
    try:
        return to_json(value)
    except PydanticSerializationError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def exact_json_bytes(value: Any) -> bytes:
    """A value as compact JSON. `TypeError` or `ValueError` for what would arrive as something else.

    >>> exact_json_bytes({"a": [1, None]})
    b'{"a":[1,null]}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


ENTRY_POINT_GROUP = "ethos_registry.tools"
_ENTRY_POINT = "entry_point:"


def checked_references(tools: str | Sequence[str]) -> tuple[str, ...]:
    """References of tools; `ConfigError` for one that another process cannot import.

    >>> checked_references("package.tools:registry")
    ('package.tools:registry',)
    """
    references = _checks.strings([tools] if isinstance(tools, str) else tools, "tools")
    if not references:
        raise ConfigError("`tools` is empty; name what workers import, as `package.tools:registry`")
    for reference in references:
        module, _, attribute = reference.partition(":")
        if not module or not attribute:
            raise ConfigError(
                f"`tools` takes `module:attribute` or `entry_point:NAME`: {reference!r}"
            )
        if module == "__main__":
            raise ConfigError(
                f"workers cannot import the main program: {reference!r}; move the tools to a module"
            )
    return references


def load_tools(references: Sequence[str]) -> RegistryReader:
    """The registry that references name: in a worker.

    A reference is `module:attribute`, or `entry_point:NAME` of the group `ethos_registry.tools`. It
    names a registry, a `Tool`, an iterable of tools, or a function without parameters that returns
    one of these. Of several, the settings are those of the first registry.
    """
    found = [_listed(_named(reference), reference) for reference in references]
    if len(found) == 1 and isinstance(found[0], RegistryReader):
        return found[0]
    found.sort(key=lambda item: not isinstance(item, RegistryReader))
    return ToolRegistry.merge(found)


def offered_tools(registry: RegistryReader) -> dict[str, list[Any]]:
    """For each tool its digest, and whether it is a plain function."""
    return {
        entry.name: [tool_digest(entry), not entry.is_coroutine]
        for entry in registry._snapshot().all()
    }


def registry_digest(offered: Mapping[str, Sequence[Any]]) -> str:
    """SHA-256 hex over the names and digests of `offered_tools`.

    >>> registry_digest({"b": ["2", True], "a": ["1", False]})[:12]
    'ddc7523b594d'
    """
    listed = sorted((name, entry[0]) for name, entry in offered.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _named(reference: str) -> Any:
    if reference.startswith(_ENTRY_POINT):
        name = reference.removeprefix(_ENTRY_POINT)
        found = list(entry_points(group=ENTRY_POINT_GROUP, name=name))
        if not found:
            raise ConfigError(
                f"no installed package has the entry point {name!r} of {ENTRY_POINT_GROUP}"
            )
        return found[0].load()
    module_name, _, path = reference.partition(":")
    value: Any = importlib.import_module(module_name)
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _listed(value: Any, reference: str) -> RegistryReader | list[Tool]:
    if not isinstance(value, Tool | RegistryReader) and callable(value):
        value = value()
    if isinstance(value, RegistryReader):
        return value
    if isinstance(value, Tool):
        return [value]
    tools = list(value) if isinstance(value, Iterable) else []
    if not tools or not all(isinstance(tool, Tool) for tool in tools):
        raise ConfigError(
            f"{reference!r} is not a registry, a Tool or a list of tools: {type(value).__name__}"
        )
    return tools


# What a worker sends back about a call: its result, and the files that its tool has read.


class TrackedMtimes(dict[str, ReadMtime]):
    """Records the entries that tools write, which go back to the caller."""

    def __init__(self, entries: Any) -> None:
        super().__init__(entries)
        self._written: dict[str, ReadMtime] = {}

    def __setitem__(self, path: str, entry: ReadMtime) -> None:
        super().__setitem__(path, entry)
        self._written[path] = entry

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As of a dict; the entries are recorded."""
        for path, entry in dict(*args, **kwargs).items():
            self[path] = entry

    def take_written(self) -> dict[str, ReadMtime]:
        """The entries that were written since the last time."""
        written, self._written = self._written, {}
        return written


class Replies:
    """Makes the replies to the requests of a message; see `FinishingItems`."""

    def __init__(self, requests: Sequence[ToolExecuteRequest], max_result_bytes: int) -> None:
        self._mtimes = [_tracked_mtimes(request) for request in requests]
        self._max_result_bytes = max_result_bytes
        self._facts: FinishFacts | None = None

    def finished(self, index: int, facts: FinishFacts) -> None:
        """How the result was finished that follows."""
        self._facts = facts

    def reply_with(self, index: int, result: ToolResult, was_started: bool) -> TransportReply:
        """The reply with what tools wrote, and how its result was finished."""
        facts, self._facts = self._facts, None
        mtimes = self._mtimes[index]
        return TransportReply(
            index,
            bounded_result(result, self._max_result_bytes),
            was_started,
            None,
            None if mtimes is None else mtimes.take_written(),
            facts,
        )


def _tracked_mtimes(request: ToolExecuteRequest) -> TrackedMtimes | None:
    """The map of a request's context, which from now on records what tools write."""
    facts = request.context._facts
    if facts.read_mtimes is None:
        return None
    if not isinstance(facts.read_mtimes, TrackedMtimes):
        facts.read_mtimes = TrackedMtimes(facts.read_mtimes)
    return cast("TrackedMtimes", facts.read_mtimes)


def bounded_result(result: ToolResult, max_bytes: int) -> ToolResult:
    r"""The result with the start and the end of text that is too long.

    >>> bounded_result(ToolOk("a" * 50 + "b" * 50), 20).text
    'aaaaaaaaaa\n[80 characters left out here: the result exceeds 20 bytes]\nbbbbbbbbbb'
    """
    text = result.text
    if len(text) * 4 <= max_bytes or len(text.encode("utf-8", "surrogatepass")) <= max_bytes:
        return result
    per_char = -(-len(text.encode("utf-8", "surrogatepass")) // len(text))
    half = max(max_bytes // per_char // 2, 1)
    left_out = len(text) - 2 * half
    note = f"\n[{left_out:,} characters left out here: the result exceeds {max_bytes:,} bytes]\n"
    shown = text[:half] + note + text[-half:]
    if isinstance(result, ToolOk):
        return dataclasses.replace(result, value=shown)
    return dataclasses.replace(result, error=shown)


def reply_line(position: int, reply: TransportReply) -> bytes:
    """The reply to the request at a position as JSON; an error if its result has no JSON form."""
    try:
        return json_bytes(["reply", position, reply.to_wire()])
    except Exception as error:
        failed = ToolError(f"the result cannot be sent: {exception_text(error)}")
        return json_bytes(["reply", position, TransportReply(reply.index, failed).to_wire()])
