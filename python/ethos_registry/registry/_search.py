"""The state of a tool search: what can be found, what was found, what its definitions cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from ethos_registry import _core
from ethos_registry._table.admission import Admission, is_available, refusal_under
from ethos_registry._table.entry import Entry
from ethos_registry.registry._definitions import always_listed, search_index
from ethos_registry.registry._entry import checked_entry
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import Personality
from ethos_registry.types._result import ToolError, ToolOk, err, ok
from ethos_registry.types._tool import Tool

SearchBy: TypeAlias = Literal["registry", "provider"]
"""Who searches: this registry, by a tool of its own, or the model's provider."""

CHARS_PER_TOKEN = 4
MAX_LIMIT = 50
_MANY = 1_000
"""The index of more tools takes over 10 ms."""
_SPARE = 50
"""Matches beyond the limit that are looked at, in case others are not available."""


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ToolSearch:
    """How a view finds tools that are not in its list; `registry.view(personality, search=...)`.

    Raises `ConfigError` for a value of the wrong kind.

    >>> ToolSearch(limit=3).by
    'registry'
    """

    limit: int = 5
    """The most tools that one search finds, 1 to 50, unless the model asks for fewer."""
    definition_budget_tokens: int | None = None
    """Tokens that the definitions of listed and found tools may have together, estimated at four
    bytes each; tools beyond it are named and not loaded. `None`: no limit."""
    by: SearchBy = "registry"
    """`"registry"`: a tool `search_tools`. `"provider"`: the search of Anthropic or OpenAI
    Responses, with every definition sent and marked `defer_loading`."""

    def __post_init__(self) -> None:
        limit = _checks.whole_count(self.limit, "limit")
        if limit > MAX_LIMIT:
            raise ConfigError(f"`limit` must be at most {MAX_LIMIT}: {limit}")
        if self.definition_budget_tokens is not None:
            _checks.finite_number(
                self.definition_budget_tokens, "definition_budget_tokens", whole=True
            )
        _checks.one_of(self.by, get_args(SearchBy), "by")


def checked_search(search: Any) -> ToolSearch | None:
    """The search of a view, or `None`; `ConfigError` for another value than the documented ones."""
    if search is False:
        return None
    if search is True:
        return ToolSearch()
    _checks.instance(search, ToolSearch, "search", "True, False or a ToolSearch")
    return cast("ToolSearch", search)


class FoundTools:
    """What a conversation has found: `view.search` of a view made with `search=True`.

    Make one view for each conversation: what a model finds stays callable.

    >>> from ethos_registry import Personality, Tool, ToolRegistry
    >>> mail = Tool("send_mail", "Send a letter.", {"type": "object"}, lambda args, context: ...)
    >>> view = ToolRegistry([mail]).view(Personality("clerk"), search=True)
    >>> [tool["name"] for tool in view.definitions()], view.search.found
    (['search_tools'], [])
    >>> import asyncio
    >>> call = {"id": "1", "name": "search_tools", "args": {"query": "letters"}}
    >>> [result] = asyncio.run(view.execute([call]))
    >>> result.text
    'send_mail: Send a letter.'
    >>> [tool["name"] for tool in view.definitions()], view.search.found
    (['search_tools', 'send_mail'], ['send_mail'])
    """

    __slots__ = ("_all", "_index", "_listed", "_personality", "base", "loaded", "options")

    def __init__(
        self, base: Admission, options: ToolSearch, personality: Personality | None
    ) -> None:
        self.base = base
        """The policy without a search; what it does not permit is never found."""
        self.options = options
        self._personality = personality
        self._all = base.visible()
        self._listed = always_listed(base)
        self._index: _core.ToolSearchIndex | None = None
        self.loaded: dict[str, Entry] = {}
        """By name, in the order in which they were found."""

    @property
    def found(self) -> list[str]:
        """The names of the tools that were found, in the order in which they were."""
        return list(self.loaded)

    @property
    def definition_tokens(self) -> int:
        """Tokens of the definitions of listed and found tools, estimated at four bytes each."""
        return sum(map(_tokens, (*self._listed.values(), *self.loaded.values())))

    def unload(self, keep: Iterable[str] = ()) -> list[str]:
        """Take found tools off the list, but for some names; returns those that were taken off.

        The list changes, so call it when the provider's cached prefix is lost anyway: after a
        compaction of the conversation, or when the cache has expired. A search finds them again.
        """
        listed = set(_checks.strings(keep, "keep"))
        gone = [name for name in self.loaded if name not in listed]
        for name in gone:
            del self.loaded[name]
        return gone

    @property
    def listed(self) -> tuple[Entry, ...]:
        """The tools that are always listed."""
        return tuple(self._listed.values())

    def callable_entry(self, name: str) -> Entry | None:
        """The entry of a tool that is listed or was found."""
        return self._listed.get(name) or self.loaded.get(name)

    async def prepare(self) -> None:
        """Build the index if there is none yet; off the event loop if there are many tools."""
        if self._index is None and len(self._all) > _MANY:
            self._index = await asyncio.to_thread(search_index, self.base)

    def search(self, query: str, limit: int) -> tuple[list[Entry], list[Entry]]:
        """Find tools and load them, the best match first, and those that the budget leaves out."""
        if self._index is None:
            self._index = search_index(self.base)
        limit = min(limit, self.options.limit)
        loaded: list[Entry] = []
        left_out: list[Entry] = []
        for position, _ in self._index.find(query, limit + _SPARE):
            if len(loaded) + len(left_out) == limit:
                break
            entry = self._all[position]
            if not is_available(entry) or not self.can_run(entry):
                continue
            is_loaded = self.callable_entry(entry.name) is not None or self._load(entry)
            (loaded if is_loaded else left_out).append(entry)
        return loaded, left_out

    def can_run(self, entry: Entry) -> bool:
        """Whether calls of a tool can run under the personality on this machine."""
        return not refusal_under(entry, self._personality)

    def load(self, names: list[str]) -> None:
        """Load what an earlier view of the conversation had found, if it is still permitted."""
        for name, entry in zip(names, self.base.admit(names), strict=True):
            if isinstance(entry, int) or self.base.snapshot.is_hidden(name):
                continue
            if self.callable_entry(name) is None:
                self.loaded[name] = entry

    def _load(self, entry: Entry) -> bool:
        budget = self.options.definition_budget_tokens
        if budget is not None and self.definition_tokens + _tokens(entry) > budget:
            return False
        self.loaded[entry.name] = entry
        return True


def _tokens(entry: Entry) -> int:
    return -(-len(entry.definition.text) // CHARS_PER_TOKEN)


# The tools with which a model searches for tools and calls what it found.

SEARCH_TOOLS = "search_tools"
CALL_FOUND_TOOL = "call_found_tool"
_DESCRIPTION_CHARS = 300


def search_entry(tools: FoundTools, *, shows_parameters: bool) -> Entry:
    """The entry of `search_tools`, which loads what it finds."""

    async def search_tools(args: dict[str, Any], context: object) -> ToolOk | ToolError:
        query, limit = args.get("query"), args.get("limit", tools.options.limit)
        if not isinstance(query, str) or not query.strip():
            return err("query: a few words about what the tool should do", "input_invalid")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            return err("limit: a whole number from 1", "input_invalid")
        await tools.prepare()
        loaded, left_out = tools.search(query, limit)
        lines = [_shown(entry, shows_parameters=shows_parameters) for entry in loaded]
        if left_out:
            names = ", ".join(entry.name for entry in left_out)
            lines.append(f"Not loaded, because the budget of definitions is used up: {names}")
        if not lines:
            return ok("No tool matches. Try other words.", structured={"tools": []})
        if shows_parameters and loaded:
            lines.append(f"Call these with {CALL_FOUND_TOOL}.")
        return ok("\n".join(lines), structured={"tools": [entry.name for entry in loaded]})

    tool = Tool(
        SEARCH_TOOLS,
        "Find tools that are not in your list, by what they do. Tools that are found can be called "
        "from then on.",
        {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "A few words about the task, such as `create calendar event`.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": tools.options.limit,
                    "description": "The most tools to find.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        search_tools,
        always_include=True,
        idempotent=True,
    )
    return checked_entry(tool)


def caller_entry() -> Entry:
    """The entry of `call_found_tool`; it runs only for calls that name no found tool."""

    async def call_found_tool(args: dict[str, Any], context: object) -> ToolError:
        name = args.get("name")
        return err(
            f"name: no tool {str(name)[:100]!r} was found in this conversation; "
            f"call {SEARCH_TOOLS} first",
            "input_invalid",
        )

    tool = Tool(
        CALL_FOUND_TOOL,
        f"Call a tool that {SEARCH_TOOLS} found.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the tool."},
                "arguments": {
                    "type": "object",
                    "description": f"Its arguments, by the parameters that {SEARCH_TOOLS} showed.",
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
        call_found_tool,
        always_include=True,
    )
    return checked_entry(tool)


def _shown(entry: Entry, *, shows_parameters: bool) -> str:
    if shows_parameters:
        return entry.definition.text.decode()
    description = " ".join(entry.definition.fresh()["description"].split())
    if len(description) > _DESCRIPTION_CHARS:
        description = f"{description[: _DESCRIPTION_CHARS - 1]}…"
    return f"{entry.name}: {description}"
