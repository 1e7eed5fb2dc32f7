"""What a person expects of any container, and what a registry says of what it cannot do."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from ethos_registry import ConfigError, FrozenToolRegistry, ToolRegistry, tool
from registry_tools import made

pytestmark = pytest.mark.every_python


@tool
def at_module_level(number: int) -> int:
    """Twice a number."""
    return 2 * number


@pytest.mark.parametrize("kind", [ToolRegistry, FrozenToolRegistry])
def test_a_registry_is_true_and_can_be_iterated(kind: Any) -> None:
    assert kind()
    assert list(kind()) == []
    tools = [made("b"), made("a")]
    registry = kind(tools)
    assert registry
    assert list(registry) == tools
    assert len(registry) == 2
    assert "a" in registry
    assert tools[0] in registry
    assert "c" not in registry
    assert made("a") not in registry
    assert 5 not in registry


def test_a_registry_of_functions_at_module_level_is_pickled_frozen() -> None:
    registry = ToolRegistry([at_module_level])
    with pytest.raises(
        TypeError, match=r"pickle `registry\.freeze\(\)`, whose tools must be defined at"
    ):
        pickle.dumps(registry)
    again = pickle.loads(pickle.dumps(registry.freeze()))
    assert again.get("at_module_level") is at_module_level
    call = {"id": "1", "name": "at_module_level", "args": {"number": "4"}}
    assert again.execute_parallel_sync([call])[0].text == "8"


def test_a_local_function_says_how_it_is_pickled() -> None:
    @tool
    def local() -> str:
        return "x"

    with pytest.raises(TypeError, match="decorate the function at module level with `@tool`"):
        pickle.dumps(ToolRegistry([local]).freeze())


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize("kind", [Point, dict, int])
def test_a_class_is_no_function_for_a_tool(kind: Any) -> None:
    with pytest.raises(ConfigError, match=f"got the class `{kind.__name__}`; decorate a function"):
        tool(kind)
    with pytest.raises(ConfigError, match="got the class"):
        ToolRegistry().tool(kind)


def test_bytes_that_are_no_text_say_how_they_are_returned() -> None:
    registry = ToolRegistry()

    @registry.tool
    def image() -> bytes:
        return b"\xff\xd8"

    [result] = registry.execute_parallel_sync([{"id": "1", "name": "image"}])
    assert result.text.endswith(
        "returned bytes that are not UTF-8 text; decode them, or encode them as base64"
    )
