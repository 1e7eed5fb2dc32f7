"""Registries, views and results in a notebook and at the prompt."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    CallResult,
    FrozenToolRegistry,
    InvocationFilter,
    Pending,
    Personality,
    Tool,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.execution import Approvals
from ethos_registry.registry import DispatchContext
from session_tools import calls_of, quick, registry_of, tool

HOSTILE = "</td><script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;\ud800"
TABLE_TAGS = {"table", "caption", "tr", "th", "td"}


class Tags(HTMLParser):
    """The tags, attributes and cells of a document."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[Any] = []
        self.text: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(document: str) -> Tags:
    """A document that holds a table and nothing else."""
    document.encode()
    tags = Tags(document)
    assert tags.tags <= TABLE_TAGS
    assert tags.attributes == []
    return tags


async def test_registries_views_and_results_are_tables_whatever_text_they_hold() -> None:
    async def hostile(args: Any, context: Any) -> Any:
        return err(HOSTILE)

    named = HOSTILE.replace("\ud800", "")
    registry = ToolRegistry([Tool("hostile", named, {"type": "object"}, hostile)])
    registry.register(tool(quick), owner=named, plugin_id=named)
    personality = Personality(named, toolset=None, plugins=[named])
    results = await registry.execute_parallel(
        [*calls_of("hostile", "quick"), {"id": HOSTILE, "name": HOSTILE, "args": {}}]
    )
    for value in (
        registry,
        registry.freeze(),
        registry.for_turn(),
        registry.turn(DispatchContext()),
        registry.view(personality),
        results,
        results[0],
        results[2],
    ):
        assert "script" in " ".join(checked(value._repr_html_()).text)
        assert len(repr(value)) < 1_000
    shown = checked(registry._repr_html_()).text
    assert {"ToolRegistry of 2 tools", "hostile", "quick", "plugin"} <= set(shown)
    assert "3 results, 2 not ok" in checked(results._repr_html_()).text


@given(st.text(), st.text())
def test_no_text_becomes_markup(call_id: str, value: str) -> None:
    result = CallResult(call_id, "name", ok(value))
    document = result._repr_html_()
    assert document.count("<td>") == 6
    checked(document)


def test_long_registries_and_long_results_are_cut() -> None:
    registry = ToolRegistry([tool(quick, name=f"tool_{number}") for number in range(1_000)])
    document = registry._repr_html_()
    assert "... 900 more" in document
    assert len(document) < 30_000
    result = CallResult("c0", "quick", ok("x" * 1_000_000, structured={"y": "y" * 1_000_000}))
    for value in (result, result.result, [result], result._repr_html_()):
        assert len(repr(value)) < 1_000
    assert repr(result) == f"<CallResult 'c0' of quick: ok, '{'x' * 76}...>"


async def test_a_pending_call_shows_its_state_and_not_its_token() -> None:
    asks = InvocationFilter(before=lambda invocation: Pending("why"))
    registry = registry_of(quick, approvals=Approvals(b"k" * 32), filters=[asks])
    results = await registry.execute_parallel(calls_of("quick"))
    assert results[0].pending is not None
    assert "pending" in checked(results._repr_html_()).text
    for text in (results._repr_html_(), repr(results), repr(results[0].result)):
        assert results[0].pending.token not in text


def test_a_registry_is_iterated_and_always_true() -> None:
    registry = registry_of(quick)
    for each in (registry, registry.freeze(), registry.for_turn()):
        assert [tool.name for tool in each] == ["quick"]
        assert len(each) == 1
        assert "quick" in each
    for empty in (ToolRegistry(), FrozenToolRegistry(), ToolRegistry().for_turn()):
        assert empty
        assert list(empty) == []


def test_a_turn_and_its_context_end_with_their_block() -> None:
    with ToolRegistry().turn(DispatchContext()) as turn:
        assert not turn.context.is_signalled
    assert turn.context.is_acked
    with pytest.raises(KeyError), DispatchContext() as context:
        raise KeyError("mine")
    assert isinstance(context.nack_error, KeyError)


def test_reprs_are_short() -> None:
    registry = registry_of(quick)
    view = registry.view(Personality("clerk", toolset=None))
    assert [repr(each) for each in (registry, registry.freeze(), view)] == [
        "<ToolRegistry of 1 tools>",
        "<FrozenToolRegistry of 1 tools>",
        "<View of 1 tools>",
    ]
    assert repr(AgentCatalog()) == "<AgentCatalog of 0 agents, not started>"


def test_a_table_needs_no_notebook() -> None:
    assert "IPython" not in sys.modules
