"""Functions that users have: wrapped, partial, with short docstrings; and what they return."""

from __future__ import annotations

import datetime as dt
import functools
import math
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ethos_registry import ConfigError, ToolContext, ToolOk, ToolRegistry, tool
from ethos_registry.schema._binding import result_from_value
from ethos_registry.types import Image

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 16


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def add(first: int, second: int = 2) -> str:
    """Add two numbers."""
    return str(first + second)


@wrapped
@wrapped
async def later(number: int) -> str:
    """Return the number."""
    return str(number)


def test_wrapper_of_an_async_function_is_awaited() -> None:
    registry = ToolRegistry([tool(later)])
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "later", "args": {"number": 1}}])
    assert result.result == ToolOk("1")


@pytest.mark.parametrize(
    ("partial", "args", "value"),
    [
        (functools.partial(add, 5), {"second": 1}, "6"),
        (functools.partial(add, second=5), {"first": 1}, "6"),
    ],
)
def test_updated_partial_hides_what_it_binds(partial: Any, args: Any, value: str) -> None:
    functools.update_wrapper(partial, add)
    made = tool(partial)
    assert list(made.schema["properties"]) == list(args)
    assert made.execute(args, ToolContext()) == ToolOk(value)


def only_arguments(path: str) -> str:
    """Args:
    path: Where it is.
    """
    return path


def test_docstring_may_open_with_its_arguments() -> None:
    made = tool(only_arguments)
    assert made.description == "Only arguments"
    assert made.schema["properties"]["path"]["description"] == "Where it is."


def test_ctx_without_annotation_is_refused() -> None:
    def act(ctx, path: str) -> str:  # type: ignore[no-untyped-def]
        return path

    with pytest.raises(ConfigError, match=r"`ctx` has no annotation.*`ctx: ToolContext`"):
        ToolRegistry([tool(act)])


def test_list_of_text_and_images_is_a_result_with_both() -> None:
    image = Image(PNG, "image/png")
    assert result_from_value(["a", image, "b"]) == ToolOk("a\nb", content=(image,))


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (np.int64(1), "1"),
        (np.array([[1, 2]]), "[[1,2]]"),
        ({"a": [np.float32(0.5)], "b": np.array([True])}, '{"a":[0.5],"b":[true]}'),
    ],
)
def test_numpy_is_converted(returned: Any, value: str) -> None:
    assert result_from_value(returned).value == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("returned", "place"),
    [
        ({"a": [1, math.nan]}, "a[1]: nan"),
        ([{"b": math.inf}], "[0].b: inf"),
        ({"a": np.array([1.0, math.nan])}, "a[1]: nan"),
        ({"a": {"b": object()}}, "a.b: a value of type object"),
    ],
)
def test_error_names_the_place_of_a_value_without_json_form(returned: Any, place: str) -> None:
    result = result_from_value(returned)
    assert result.reason == "bad_result"  # type: ignore[union-attr]
    assert place in result.error  # type: ignore[union-attr]


def test_fingerprint_does_not_depend_on_the_order_of_registration() -> None:
    from ethos_registry import Personality

    tools = [tool(add), tool(only_arguments)]
    first, second = (
        ToolRegistry(order).view(Personality("p", toolset=["add", "only_arguments"]))
        for order in (tools, tools[::-1])
    )
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (dt.date, "next week"),
        (dt.date | None, "next week"),
        (uuid.UUID, "7"),
        (Path, 5),
        (list[dt.date], ["2025-01-31", "soon"]),
        (int, "5 apples"),
        (int, 1.5),
    ],
    ids=str,
)
def test_default_of_a_wrong_type_is_refused(annotation: Any, default: Any) -> None:
    def act(when=default) -> str:
        return "done"

    act.__annotations__["when"] = annotation
    with pytest.raises(ConfigError, match=r"tool `act`: the default of `when`, .* is not valid"):
        ToolRegistry([tool(act)])


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (dt.date, dt.date(2025, 1, 31)),
        (Path, Path("x")),
        (bytes, b"x"),
        (set[int], frozenset({1})),
        (int, None),
        (float, math.inf),
        (Any, dict),
        (tuple[int, ...], [1]),
    ],
    ids=str,
)
def test_default_of_its_type_is_accepted(annotation: Any, default: Any) -> None:
    def act(when=default, other: int = 0) -> str:
        return "done"

    act.__annotations__["when"] = annotation
    [result] = ToolRegistry([tool(act)]).execute_parallel_sync(
        [{"id": "1", "name": "act", "args": {}}]
    )
    assert result.text == "done"
