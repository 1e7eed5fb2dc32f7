"""A view that lists few tools and finds the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.policy import Personality
from ethos_registry.execution.json_arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.resolved_admission import ResolvedAdmission, unavailable_entry
from ethos_registry.registry.search_tools import CALL_FOUND_TOOL, caller_entry, search_entry
from ethos_registry.registry.tool_search import FoundTools, ToolSearch
from ethos_registry.registry.view import View
from ethos_registry.table.admission import Admission
from ethos_registry.table.entry import Entry
from ethos_registry.table.snapshot import Selection

__all__ = ["SearchView", "SearchingAdmission"]


class SearchView(View):
    """Lists the tools that are always included, `search_tools`, and what was found with it.

    Made by `registry.view(personality, search=True)`, one for each conversation: what a model finds
    stays callable. A permitted tool that was not found is refused as not available; a tool that the
    personality may not see is never found.

    >>> from ethos_registry import Personality, Tool, ToolRegistry
    >>> mail = Tool("send_mail", "Send a letter.", {"type": "object"}, lambda args, context: ...)
    >>> view = ToolRegistry([mail]).view(Personality("clerk"), search=True)
    >>> [tool["name"] for tool in view.definitions()]
    ['search_tools']
    >>> import asyncio
    >>> call = {"id": "1", "name": "search_tools", "args": {"query": "letters"}}
    >>> [result] = asyncio.run(view.execute([call]))
    >>> result.text
    'send_mail: Send a letter.'
    >>> [tool["name"] for tool in view.definitions()]
    ['search_tools', 'send_mail']
    """

    __slots__ = ("_tools",)

    def __init__(
        self,
        base: Admission,
        runtime: Runtime,
        options: ToolSearch,
        *,
        personality: Personality | None = None,
        turn: DispatchContext | None = None,
    ) -> None:
        self._tools = FoundTools(base, options, personality)
        admission = SearchingAdmission(self._tools, calls_by_name=True)
        super().__init__(admission, runtime, personality=personality, turn=turn)
        self._unavailable = None  # what is listed changes

    @property
    def found(self) -> list[str]:
        """The names of the tools that were found, in the order in which they were."""
        return list(self._tools.found)

    @property
    def definition_tokens(self) -> int:
        """Tokens of the definitions of listed and found tools, estimated at four bytes each."""
        return self._tools.tokens()

    def _continue(self, earlier: View) -> None:
        """Load what the conversation had found in an earlier view."""
        if isinstance(earlier, SearchView):
            self._tools.load(earlier.found)

    def _with_caller(self) -> SearchView:
        """The same conversation for providers whose list of tools cannot change.

        Found tools are called by `call_found_tool` instead of being listed.
        """
        view: SearchView = SearchView.__new__(SearchView)
        view._tools = self._tools
        admission = SearchingAdmission(self._tools, calls_by_name=False)
        View.__init__(
            view, admission, self._runtime, personality=self._personality, turn=self._turn
        )
        view._unavailable = None
        return view


class SearchingAdmission(ResolvedAdmission):
    """Admits what is listed and what was found; the base admission judges both again."""

    __slots__ = ("_own", "redirects", "tools")

    is_dynamic = True

    def __init__(self, tools: FoundTools, *, calls_by_name: bool) -> None:
        super().__init__(tools.base.snapshot, tools.base.gate)
        self.tools = tools
        own = [search_entry(tools, shows_parameters=not calls_by_name)]
        if not calls_by_name:
            own.append(caller_entry())
        self._own = {entry.name: entry for entry in own}
        self.redirects = not calls_by_name

    def selection(self) -> Selection:
        """What is listed now."""
        entries = (*self.tools.listed, *self._own.values())
        if not self.redirects:
            entries += tuple(self.tools.found.values())
        probed: list[tuple[Callable[[], Any], int]] = []
        for position, entry in enumerate(entries):
            if entry.is_available is not None:
                probed.append((entry.is_available, position))
            if entry.why_refused is not None:
                probed.append((partial(self.tools.can_run, entry), position))
        return Selection(entries, tuple(probed))

    def admit(self, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it."""
        verdicts = super().admit(names)
        return [
            self._admitted(name, verdict) for name, verdict in zip(names, verdicts, strict=True)
        ]

    def _admitted(self, name: Any, verdict: Entry | int) -> Entry | int:
        if not isinstance(name, str):
            return verdict
        if (own := self._own.get(name)) is not None:
            return own
        if isinstance(verdict, int) or self.snapshot.is_hidden(name):
            return verdict
        if self.tools.callable_entry(name) is not None:
            return verdict
        return unavailable_entry(verdict)

    def redirect(self, name: str, args: Any) -> tuple[str, Any] | None:
        """The call of a found tool inside a call of `call_found_tool`."""
        if name != CALL_FOUND_TOOL:
            return None
        if isinstance(args, str):
            try:
                args = parse_json_arguments(args)
            except BadArgumentsError:
                return None  # answered by the step that parses arguments
        if not isinstance(args, dict) or not isinstance(target := args.get("name"), str):
            return None
        if self.tools.callable_entry(target) is None:
            return None
        arguments = args.get("arguments")
        return target, {} if arguments is None else arguments
