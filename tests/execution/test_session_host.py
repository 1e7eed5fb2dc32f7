"""Parts that the host brings (reducer registry, backends, store) may fail: no result is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ethos_registry import ToolContext, ok
from session_tools import calls_of, code, quick, reason, registry_of, tool


class RaisingReducers:
    def get(self, tool_name: str) -> Any:
        raise SystemExit("no reducers today")


async def test_a_reducer_registry_that_raises_reduces_nothing_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reducers: Any = RaisingReducers()
    results = await registry_of(quick, reducer_registry=reducers).execute_parallel(
        calls_of("quick", "quick")
    )
    assert [result.text for result in results] == ["done", "done"]
    [record] = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert "the reducer registry raised" in record.getMessage()


class MoodyBackends(Mapping[Any, Any]):
    """Whole while it is checked, and broken when it is asked."""

    broken = False

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(["secrets"])

    def __getitem__(self, name: str) -> Any:
        if self.broken:
            raise SystemExit("the vault is closed")
        return lambda *given: object()


async def test_backends_that_cannot_be_asked_refuse_their_tool_and_no_other() -> None:
    backends = MoodyBackends()
    declaring = tool(quick, "declaring", capabilities={"secrets": []})
    registry = registry_of(declaring, quick, capability_backends=backends)
    backends.broken = True
    first, second = await registry.execute_parallel(calls_of("declaring", "quick"))
    assert (code(first), reason(first)) == ("not_available", "no_backends")
    assert "the vault is closed" in first.text
    assert second.text == "done"


class Unprintable:
    def __format__(self, how: str) -> str:
        raise RuntimeError("no text")


class Store:
    reader_names = ("artifact_head",)

    def __init__(self, artifact_id: Any) -> None:
        self.artifact_id = artifact_id

    def reserve(self) -> Any:
        return self.artifact_id

    def spool(self, *given: Any) -> None:
        """Keeps nothing."""


@pytest.mark.parametrize("policy", ["even", "fill"])
@pytest.mark.parametrize("artifact_id", [None, 5, Unprintable()])
async def test_a_store_that_gives_no_id_loses_no_result(artifact_id: Any, policy: Any) -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("x" * 500)

    store: Any = Store(artifact_id)
    results = await registry_of(long).execute_parallel(
        calls_of("long", "long"),
        ToolContext(artifact_store=store, result_budget_chars=20),
        budget_policy=policy,
    )
    lost = "[the rest of this output is lost: it could not be stored]"
    expected = f"{'x' * 10}\n[truncated — 500 chars total]\n{lost}"
    assert [result.text for result in results] == [expected] * 2
