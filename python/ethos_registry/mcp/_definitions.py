"""Pinned definitions: what was approved, in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError

from ethos_registry import _core
from ethos_registry._persistence.files import write_whole_file
from ethos_registry.mcp._resources import pages
from ethos_registry.mcp._results import META_PREFIX
from ethos_registry.mcp._sdk_private import private_attribute, raw_requests
from ethos_registry.mcp._server_text import (
    check_depth,
    cleaned,
    cleaned_metadata,
    cleaned_schema,
    json_fields,
)
from ethos_registry.schema._compilation import names_at
from ethos_registry.schema._conjunction import types_of
from ethos_registry.schema._drafts import has_old_references, schema_of_2020_12
from ethos_registry.schema._validate import ArgumentValidator
from ethos_registry.types._checks import wire_name
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import canonical_json, sha256_hex

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp_types import ListToolsResult

# What a bridge reports: problems, states of servers, and changes of tools.

ServerState: TypeAlias = Literal["connecting", "ready", "failed", "closed"]
"""`failed` lasts until the next attempt to connect, which is `connecting` again."""

ProblemKind: TypeAlias = Literal[
    "server", "refresh", "output", "tool", "schema", "collision", "pin", "count", "config"
]
"""What is affected: the connection, a later listing, standard output, a tool that was skipped, a
schema that some providers refuse, a name, a pinned definition, the number of tools, the file."""


@dataclass(frozen=True, slots=True)
class McpProblem:
    """One thing that is wrong with a server or one of its tools."""

    server: str
    kind: ProblemKind
    message: str
    tool: str | None = None
    """The name of the tool on its server; `None` if the problem is not about one tool."""

    def __str__(self) -> str:
        place = self.server if self.tool is None else f"{self.server}/{self.tool}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """One server as it is now."""

    name: str
    state: ServerState
    reason: str = ""
    """Why it failed; empty otherwise."""
    stderr_tail: str = ""
    """The last 4 KB of its standard error, if it is a command."""
    protocol: str = ""
    """The revision of the protocol that was agreed on."""
    tools: int = 0
    process_id: int | None = None
    """The process of a command that is running."""
    connections: int = 0
    """How often a connection was established."""


@dataclass(frozen=True, slots=True)
class ToolsChanged:
    """How the tools of a server differ from the listing before, by their names in the registry."""

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class McpAnnotations:
    """The hints of a server about a tool: claims of the server, for approval filters.

    The defaults are those of the protocol: a tool without hints may be destructive.
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True


# The definition of a tool as a server lists it, and its digest.

_PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_OPEN = frozenset(
    {
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "dependentSchemas",
        "$ref",
        "$dynamicRef",
    }
)
"""Keywords at the root that may permit arguments which are not listed under `properties`."""
_AT_ROOT = ("anyOf", "oneOf", "allOf", "not", "enum", "if", "$ref")


class RemoteDefinition:
    """What a server states of one tool: the JSON that a pin compares."""

    __slots__ = ("digest", "fields", "meta", "name", "task_support")

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = {key: fields[key] for key in _PINNED if fields.get(key) is not None}
        self.name: str = self.fields["name"]
        execution = fields.get("execution")
        self.task_support = execution.get("taskSupport") if isinstance(execution, Mapping) else None
        """`optional` or `required` if the server may answer a call with a task."""
        given = fields.get("_meta")
        self.meta: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        self.digest = sha256_hex(canonical_json(self.fields))

    @property
    def description(self) -> str:
        """What a model reads."""
        return cleaned(self.fields.get("description") or self.fields.get("title") or "")

    @property
    def schema(self) -> Any:
        """The schema of the arguments, as `cleaned_schema` returns it.

        One that is not valid draft 2020-12, but can be read, is translated: many servers write
        older drafts, types of their programming language, or no type at the root.
        """
        schema = cleaned_schema(self.fields.get("inputSchema"))
        if not isinstance(schema, Mapping):
            return schema
        rewritten: list[str] = []
        translated = schema_of_2020_12(schema, rewritten.append)
        if not rewritten and not has_old_references(schema):
            translated = dict(schema)  # with keywords such as `$anchor`, which no call depends on
        if "type" not in translated or "object" in types_of(translated):
            translated["type"] = "object"
        return schema if translated == schema else translated

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of `structuredContent`, as `cleaned_schema` returns it."""
        schema = self.fields.get("outputSchema")
        return cleaned_schema(schema) if isinstance(schema, Mapping) else None

    def listed_fields(self, *, trust_annotations: bool) -> dict[str, Any]:
        """What a gateway lists beside name, description and input schema.

        Annotations are hints for those who decide about a call, so they are passed on if trusted.
        """
        found: dict[str, Any] = {}
        if isinstance(title := self.fields.get("title"), str):
            found["title"] = cleaned(title, 200)
        if (output := self.output_schema) is not None:
            found["outputSchema"] = output
        if trust_annotations and isinstance(given := self.fields.get("annotations"), Mapping):
            found["annotations"] = cleaned_metadata(given)
        meta = {
            key: value
            for key, value in cleaned_metadata(self.meta).items()
            if not key.startswith(META_PREFIX)
        }
        return found | {"_meta": meta} if meta else found

    @property
    def annotations(self) -> McpAnnotations:
        """The server's hints; those of the wrong type count as not given."""
        given = self.fields.get("annotations")
        if not isinstance(given, Mapping):
            return McpAnnotations()
        names = [each.name for each in fields(McpAnnotations)]
        hints = {name: given.get(f"{wire_name(name)}Hint") for name in names}  # `readOnlyHint`
        return McpAnnotations(
            **{name: hint for name, hint in hints.items() if isinstance(hint, bool)}
        )


def argument_validator(name: str, schema: Mapping[str, Any]) -> ArgumentValidator:
    """The compiled schema of the arguments.

    Many servers ignore arguments that they do not know, so that a model would not notice its
    mistake: a name that the schema does not have is refused, if the schema names its properties and
    does not decide about others. A pattern that the engine does not support, such as one with
    look-around, is not checked here; the server checks it. `ConfigError` for a schema that cannot
    be compiled at all.
    """
    checked = dict(schema)
    if checked.get("properties") and not checked.keys() & _OPEN:
        listed = checked["properties"]
        names = names_at(checked, lambda reference: None)  # there are none at the root
        checked["properties"] = {name: listed.get(name, {}) for name in names}
        checked["additionalProperties"] = False
    try:
        return ArgumentValidator(name, checked)
    except ConfigError:
        return ArgumentValidator(name, _without_foreign_patterns(checked))


def _without_foreign_patterns(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_foreign_patterns(value)
            for key, value in schema.items()
            if not (key == "pattern" and isinstance(value, str) and not _is_supported(value))
        }
    if isinstance(schema, list):
        return [_without_foreign_patterns(item) for item in schema]
    return schema


def _is_supported(pattern: str) -> bool:
    try:
        _core.SchemaValidator({"pattern": pattern})
    except ValueError:
        return False
    return True


def compositions_at_root(schema: Any) -> list[str]:
    """Keywords at the root of a schema that some providers refuse there."""
    return [key for key in _AT_ROOT if key in schema] if isinstance(schema, Mapping) else []


# All tools that a server lists, page by page.

_FEATURE = "skipping single invalid tools of an MCP server"
MAX_PAGES = 100
MAX_TOOLS = 2000
MAX_PROBLEMS = 100


@dataclass(slots=True)
class ServerTools:
    """The definitions of a server by name, sorted, and what could not be taken."""

    definitions: dict[str, RemoteDefinition] = field(default_factory=dict)
    problems: list[tuple[str | None, str]] = field(default_factory=list)
    """The name of a tool, or `None`, with what is wrong; the first hundred."""
    is_cut: bool = False
    """Whether there are more tools than are taken."""

    def add_problem(self, name: str | None, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append((name, problem))
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append((None, "there are more problems with its tools than these"))


async def list_tools(client: Client) -> ServerTools:
    """Every page, up to 100 pages and 2,000 tools; of two tools of one name the first is taken."""
    listing = ServerTools()
    found: dict[str, RemoteDefinition] = {}
    if client.server_capabilities.tools is None:
        listing.problems.append((None, "the server has no tools"))
        return listing
    cursor: str | None = None
    async for page in pages(lambda cursor: _page(client, cursor, listing), MAX_PAGES):
        for tool in page.tools:
            if tool.name in found:
                listing.add_problem(tool.name, "the server lists this name twice")
            elif len(found) < MAX_TOOLS:
                try:
                    check_depth([tool.input_schema, tool.output_schema, tool.meta])
                    found[tool.name] = RemoteDefinition(json_fields(tool))
                except RecursionError:
                    listing.add_problem(tool.name, "was skipped: its definition is nested too deep")
                except (ConfigError, ValueError) as error:
                    listing.add_problem(tool.name, f"was skipped: {error}")
            else:
                listing.is_cut = True
        cursor = page.next_cursor
        if len(found) >= MAX_TOOLS:
            break
    if cursor or listing.is_cut:
        listing.problems.append(
            (None, f"the listing was cut at {len(found):,} tools: it has no end, or too many pages")
        )
    listing.definitions = {name: found[name] for name in sorted(found)}
    return listing


async def _page(client: Client, cursor: str | None, listing: ServerTools) -> ListToolsResult:
    """A page; each tool judged by itself if the SDK refuses the page for an invalid one."""
    import mcp_types
    from mcp_types import methods

    try:
        return await client.list_tools(cursor=cursor, cache_mode="refresh")
    except ValidationError:
        if (send := raw_requests(client.session, _FEATURE)) is None:
            raise
    answer = await send("tools/list", {} if cursor is None else {"cursor": cursor})
    tools = []
    items = answer.get("tools") or ()
    listing.is_cut |= len(items) > MAX_TOOLS
    for item in items[:MAX_TOOLS]:
        try:
            alone = {**answer, "tools": [item]}
            methods.validate_server_result("tools/list", client.protocol_version, alone)
            tools.append(mcp_types.Tool.model_validate(item, by_name=False))
        except ValidationError as error:
            name = item.get("name") if isinstance(item, dict) else None
            [first, *_] = error.errors()
            place = ".".join(str(part) for part in first["loc"][2:])
            problem = f"was skipped: its definition is invalid at {place}: {first['msg']}"
            listing.add_problem(name if isinstance(name, str) else None, problem)
    page = mcp_types.ListToolsResult(tools=tools, next_cursor=answer.get("nextCursor"))
    is_complete = cursor is None and page.next_cursor is None
    absorb = private_attribute(client.session, "_absorb_tool_listing", _FEATURE)
    return page if absorb is None else absorb(page, complete=is_complete)


PinChange: TypeAlias = Literal["changed", "new", "removed"]
_VERSION = 1


@dataclass(frozen=True, slots=True)
class PinDifference:
    """One tool whose definition is not the pinned one."""

    server: str
    tool: str
    """The tool's name on its server."""
    change: PinChange
    pinned: Mapping[str, Any] | None = None
    """The definition that was approved; `None` for a new tool."""
    listed: Mapping[str, Any] | None = None
    """The definition that the server lists now; `None` for a tool that is gone."""

    @property
    def fields(self) -> list[str]:
        """The fields that differ, such as `description` or `inputSchema`."""
        before, after = self.pinned or {}, self.listed or {}
        names = [*before, *(name for name in after if name not in before)]
        return [name for name in names if before.get(name) != after.get(name)]


class McpPins:
    """The approved definitions of each pinned server.

    A server that was never pinned is not bound by this file. A pin covers name, title, description,
    both schemas and the annotations of a tool; a tool that was not there when its server was pinned
    is not approved, since a tool can be replaced under another name.
    """

    __slots__ = ("_servers", "path")

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._servers: dict[str, dict[str, RemoteDefinition]] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, must_exist: bool = True) -> McpPins:
        """The pins in a file.

        Raises:
            ConfigError: The file is missing (unless `must_exist` is false), cannot be read, or is
                not a file of pins.

        """
        pins = cls(path)
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            if not must_exist:
                return pins
            raise ConfigError(
                f"{path}: the file of pins does not exist; `ethos-registry mcp pin` makes one"
            ) from None
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: cannot be read as pins: {error}") from None
        try:
            if document["version"] != _VERSION:
                raise ConfigError(f"{path}: unknown version {document['version']!r} of pins")
            for server, tools in document["servers"].items():
                pins._servers[server] = {
                    fields["name"]: RemoteDefinition(fields) for fields in tools
                }
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"{path}: is not a file of pins: {error!r}") from None
        return pins

    def save(self) -> None:
        """Write the file, as a whole or not at all; without a path it does nothing."""
        if self.path is None:
            return
        document = {
            "version": _VERSION,
            "servers": {
                server: [tools[name].fields for name in sorted(tools)]
                for server, tools in sorted(self._servers.items())
            },
        }
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        write_whole_file(self.path, text, mode=0o644)

    def is_pinned(self, server: str) -> bool:
        """Whether the definitions of a server are pinned."""
        return server in self._servers

    def definitions(self, server: str) -> dict[str, RemoteDefinition]:
        """The approved definitions of a server by their names on it."""
        return dict(self._servers.get(server, {}))

    def pin(self, server: str, definitions: Iterable[RemoteDefinition]) -> None:
        """Approve exactly these definitions of a server."""
        self._servers[server] = {definition.name: definition for definition in definitions}

    def approve(self, server: str, definition: RemoteDefinition) -> None:
        """Approve one definition, in the place of the one before."""
        self._servers.setdefault(server, {})[definition.name] = definition

    def forget(self, server: str, name: str) -> None:
        """Approve a tool of a server no longer."""
        self._servers.get(server, {}).pop(name, None)


def pin_differences(
    server: str, pinned: Mapping[str, RemoteDefinition], listed: Mapping[str, RemoteDefinition]
) -> list[PinDifference]:
    """What differs between the approved definitions of a server and those it lists, by name."""
    found = []
    for name in sorted({*pinned, *listed}):
        before, after = pinned.get(name), listed.get(name)
        if before is None:
            assert after is not None
            found.append(PinDifference(server, name, "new", None, after.fields))
        elif after is None:
            found.append(PinDifference(server, name, "removed", before.fields))
        elif before.digest != after.digest:
            found.append(PinDifference(server, name, "changed", before.fields, after.fields))
    return found


def pins_beside(config: str | os.PathLike[str]) -> Path:
    """Where the pins of a configuration are by default: `mcp.json` has `mcp.pins.json`."""
    path = Path(config)
    return path.with_name(f"{path.stem or path.name}.pins.json")
