"""One conversation whose tool list never changes a byte, whatever comes and goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from ethos_registry._table.admission import Admission, without
from ethos_registry._table.entry import Entry
from ethos_registry.execution._options import BatchOptions, StreamOptions
from ethos_registry.execution._results import CallResults
from ethos_registry.providers._by_name import provider as provider_named
from ethos_registry.providers._prefix import (
    CacheLoss,
    Prefix,
    PrefixTool,
    cached_tokens,
    prefix_diff,
)
from ethos_registry.providers._wire_format import (
    DefinitionOrder,
    breakpoint_positions,
    request_text,
    request_values,
)
from ethos_registry.registry._definitions import SentTools, ViewDefinitions, in_order, prefix_tool
from ethos_registry.registry._search_view import (
    DEFERRED,
    ResolvedAdmission,
    SearchingAdmission,
    found_view,
    unavailable_entry,
)
from ethos_registry.registry._stream import DispatchOptions, StreamDispatcher
from ethos_registry.registry._view import View
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError

_BY_REFERENCE = "mid-conversation-tool-changes-2026-07-01"
_BY_VALUE = "inline-tools-2026-09-15"
_HAVE_CHANGES = ("anthropic", "openai_responses")
"""Formats that can add tools in mid-conversation; the first can remove them, too."""


@_checks.checked_class
class PrefixSession:
    """Keeps the tool list of the first request for a whole conversation.

    A provider's prompt cache ends at the first byte that differs, and tools come first in a
    request. So the list stays, byte for byte, and `update` returns what announces later changes
    to the model: messages with `tool_addition` and `tool_removal` blocks for `"anthropic"`, an
    `additional_tools` item for `"openai_responses"`. For the other formats, and with
    `tool_changes=False` for a model that does not take such blocks, it returns nothing: new tools
    are appended to the list, and tools that went stay in it.

    Tools that a view with `search=True` finds are announced by the next `update`. Where nothing can
    be announced, the list has `call_found_tool` from the start, which calls what was found.

    `execute` runs exactly the tools that the model was offered and that were not removed since; a
    call of any other is answered `not_available`. (Hidden tools run, as in a view.) A tool whose
    definition has changed goes on as it was offered; `stale` names it.

    >>> from ethos_registry import Personality, Tool, ToolRegistry
    >>> def made(name):
    ...     return Tool(name, "", {"type": "object"}, lambda args, context: {"ok": True})
    >>> registry = ToolRegistry([made("first")])
    >>> everything = Personality("everything")
    >>> session = PrefixSession(registry.view(everything), "anthropic")
    >>> registry.register(made("late"))
    >>> [message] = session.update(registry.view(everything))
    >>> message["content"][0]["type"], message["content"][0]["tool"]["definition"]["name"]
    ('tool_addition', 'late')
    >>> [tool["name"] for tool in session.definitions()]
    ['first']
    """

    def __init__(
        self,
        view: View,
        provider: str,
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
        tool_changes: bool | None = None,
    ) -> None:
        """`tool_changes`: whether the model takes changes in mid-conversation; by the provider."""
        self._format = provider_named(provider)
        can_change = self._format.name in _HAVE_CHANGES
        if tool_changes is None:
            tool_changes = can_change
        elif _checks.boolean(tool_changes, "tool_changes") and not can_change:
            raise ConfigError(
                f"`{provider}` has no changes of tools in mid-conversation; "
                f"{' and '.join(_HAVE_CHANGES)} have"
            )
        self._announces = tool_changes
        self._order: DefinitionOrder = order
        self._sent = SentTools(self._format)
        view = self._adapted(view)
        entries = self._available(view)
        self._values: list[Any] = []
        self._listed: list[PrefixTool] = []
        self._observed: tuple[Prefix, int] | None = None
        """The list of the last request that was observed, and the tokens in the cache after it."""
        self._declared: dict[str, tuple[bytes, Entry]] = {}
        """What the model was ever shown, by name: its bytes and their entry."""
        self._offered: dict[str, Entry] = {}
        self._stale: set[str] = set()
        self._uses_value = self._uses_reference = False
        shown = self._sent.fitting(in_order(entries, order))
        self._positions = breakpoint_positions([entry.segment for entry in shown], breakpoints)
        for entry in shown:
            self._list(entry)
        self._source = view
        self._view = self._admitting(view)

    def __repr__(self) -> str:
        return f"<PrefixSession of {len(self._listed)} tools for {self._format.name!r}>"

    def definitions(self) -> list[Any]:
        """The `tools` of the next request: those of the first one, and what was appended since."""
        return request_values(self._format, self._values, self._positions)

    def definitions_bytes(self) -> bytes:
        """The same as compact JSON; those of the first request are their beginning."""
        texts = [tool.text.encode() for tool in self._listed]
        return request_text(self._format, texts, self._positions)

    @property
    def offered(self) -> list[str]:
        """The names that the model may call now, sorted."""
        return sorted(self._offered)

    @property
    def stale(self) -> list[str]:
        """The tools whose definition has changed since they were offered, sorted."""
        return sorted(self._stale)

    @property
    def betas(self) -> list[str]:
        """What the requests of this conversation need in `betas`, for Anthropic; else nothing."""
        if self._format.name != "anthropic":
            return []
        named = [_BY_REFERENCE] if self._uses_reference or self._uses_value else []
        return [*named, _BY_VALUE] if self._uses_value else named

    def update(self, view: View | None = None) -> list[Any]:
        """Take over what a view shows now; the messages that say so, to be sent in their place.

        Without a view the last one is asked again, for tools whose availability has changed. The
        messages belong at the end of the conversation, and stay in it.
        """
        view = self._source if view is None else self._adapted(view, self._source)
        present = {entry.name: entry for entry in self._available(view) if self._sent.text(entry)}
        removed = [name for name in self._offered if name not in present]
        for name in removed:
            del self._offered[name]
        returned: list[str] = []
        added: list[Entry] = []
        self._stale.clear()
        for entry in in_order(list(present.values()), self._order):
            name = entry.name
            declared = self._declared.get(name)
            if declared is None:
                added.append(entry)
            elif declared[0] != self._sent.text(entry):
                self._stale.add(name)
            else:
                if name not in self._offered:
                    returned.append(name)
                self._declare(entry, declared[0])
        messages = self._announced(removed, returned, added)
        self._source = view
        self._view = self._admitting(view)
        return messages

    def observe(self, usage: object) -> CacheLoss | None:
        """What lost the provider's cache since the last request; `None` if it was not lost.

        `usage` is that of a response, as a dict or an object of an SDK. Give it that of every
        response of the conversation, before the next `update`.

        >>> from ethos_registry import Personality, Tool, ToolRegistry
        >>> def made(name):
        ...     return Tool(name, "", {"type": "object"}, lambda args, context: {"ok": True})
        >>> registry = ToolRegistry([made("first")])
        >>> session = PrefixSession(registry.view(Personality("p")), "openai")
        >>> session.observe({"prompt_tokens_details": {"cached_tokens": 1_920}})
        >>> registry.register(made("late"))
        >>> session.update(registry.view(Personality("p")))
        []
        >>> loss = session.observe({"prompt_tokens_details": {"cached_tokens": 0}})
        >>> loss.diff.changes[0].tool, loss.diff.changes[0].kind
        ('late', 'added')

        Raises `ConfigError` for a `usage` that is not a usage.
        """
        read, written = cached_tokens(usage)
        listed = self._prefix()
        before, self._observed = self._observed, (listed, read + written)
        if before is None or read >= before[1]:
            return None
        return CacheLoss(read, before[1], prefix_diff(before[0], listed))

    def _prefix(self) -> Prefix:
        """The list as a value, without cache markers: they never move."""
        return Prefix(self._format.name, self._order, 0, tuple(self._listed))

    async def execute(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResults:
        """Run the calls of what was offered; the parameters are those of `View.execute`."""
        return await self._view.execute(calls, context, turn_attachments, **options)

    def stream(
        self,
        calls: Sequence[Any],
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[StreamOptions],
    ) -> AsyncIterator[CallResult]:
        """The results one by one; the parameters are those of `View.stream`."""
        return self._view.stream(calls, context, turn_attachments, **options)

    def dispatch(
        self,
        context: ToolContext | None = None,
        **options: Unpack[DispatchOptions],
    ) -> StreamDispatcher:
        """Run the calls of a streamed reply; the parameters are those of `View.dispatch`."""
        return self._view.dispatch(context, provider=self._format.name, **options)

    # The list

    def _adapted(self, view: View, earlier: View | None = None) -> View:
        """The view as this provider can show it, with what was found in an earlier one."""
        _checks.instance(view, View, "view", "a View", "`registry.view(personality)` makes one")
        if view._definitions.layout is DEFERRED:
            raise ConfigError(
                "a view with the provider's search has no list to keep: give its `definitions`"
            )
        search = view.search
        if search is None or view is earlier:
            return view
        if earlier is not None and earlier.search is not None:
            search.load(earlier.search.found)
        if self._announces:
            return view
        return found_view(search, view._caller, calls_by_name=False)

    @staticmethod
    def _available(view: View) -> list[Entry]:
        definitions = view._definitions
        return without(definitions.admission.selection().entries, definitions.missing())

    def _list(self, entry: Entry) -> None:
        """Put a tool at the end of the list."""
        text = self._sent.text(entry)
        self._values.append(self._sent.value(entry))
        self._listed.append(prefix_tool(entry, text))
        self._declare(entry, text)

    def _declare(self, entry: Entry, text: bytes) -> None:
        self._declared[entry.name] = (text, entry)
        self._offered[entry.name] = entry

    def _announced(self, removed: list[str], returned: list[str], added: list[Entry]) -> list[Any]:
        if not self._announces:
            for entry in added:
                self._list(entry)
            return []
        definitions = []
        for entry in added:
            self._declare(entry, self._sent.text(entry))
            definitions.append(self._sent.value(entry))
        if self._format.name == "openai_responses":
            if not definitions:
                return []
            return [{"type": "additional_tools", "role": "developer", "tools": definitions}]
        changes: list[tuple[str, dict[str, Any]]] = [
            *(("tool_removal", {"type": "tool_reference", "name": name}) for name in removed),
            *(("tool_addition", {"type": "tool_reference", "name": name}) for name in returned),
            *(("tool_addition", {"type": "tool_definition", "definition": v}) for v in definitions),
        ]
        blocks = [{"type": kind, "tool": tool} for kind, tool in changes]
        self._uses_value = self._uses_value or bool(definitions)
        self._uses_reference = self._uses_reference or bool(removed or returned)
        return [{"role": "system", "content": blocks}] if blocks else []

    def _admitting(self, view: View) -> View:
        """A view that runs what was offered."""
        declared = {name: entry for name, (_, entry) in self._declared.items()}
        offered = _Offered(view._definitions.admission, dict(self._offered), declared)
        return View(ViewDefinitions(offered), replace(view._caller, admission=offered))


class _Offered(ResolvedAdmission):
    """Admits what the model was offered, and refuses as unavailable what it was not."""

    __slots__ = ("_declared", "_offered", "_source", "redirects")

    def __init__(
        self,
        admission: Admission,
        offered: Mapping[str, Entry],
        declared: Mapping[str, Entry],
    ) -> None:
        super().__init__(admission.snapshot, admission.gate)
        self._offered = offered
        self._declared = declared
        self._source = admission
        self.redirects = admission.redirects

    def visible(self) -> tuple[Entry, ...]:
        """What was offered."""
        return tuple(self._offered.values())

    def redirect(self, name: str, args: Any) -> tuple[str, Any] | None:
        """What the view's own admission finds."""
        return self._source.redirect(name, args)

    def admitted(self, name: str, verdict: Entry | int) -> Entry | int:
        """What was offered; what was not is refused as unavailable, unless it is hidden."""
        if (offered := self._offered.get(name)) is not None:
            return offered
        if isinstance(self._source, SearchingAdmission) and name in self._source.tools.loaded:
            return verdict  # the search itself offered it
        if (declared := self._declared.get(name)) is not None:
            return unavailable_entry(declared)
        if isinstance(verdict, int) or self.snapshot.is_hidden(name):
            return verdict
        return unavailable_entry(verdict)
