"""The tools `todo_read` and `todo_write`: the plan of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ethos_registry.capabilities._key_values import KeyValueError
from ethos_registry.tools._arguments import RefusalError, argument_tool, quoted
from ethos_registry.types._context import ToolContext
from ethos_registry.types._ports import KeyValueStore
from ethos_registry.types._result import ToolResult, err, ok
from ethos_registry.types._tool import Tool

_KEY = "todo"
_MAX_ITEMS = 100
_MAX_CONTENT_CHARS = 500
_BOXES = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_STATUSES = tuple(_BOXES)
_EXAMPLE = '{"content": "Run the tests", "status": "pending"}'
_CAPABILITIES = {"storage": {"scope": "session"}}


def todo_tools() -> list[Tool]:
    """`todo_read` and `todo_write`, in the toolset `todo`: one list per session.

    They declare the capability `storage` with the scope `session`, so the registry needs backends
    with a key-value store: `standard_backends(key_values="values.sqlite3")`. The list lives as long
    as that store, and every session, by the context's `session_id`, has its own.

    `todo_write(items)` replaces the list; an item has a `content` and a `status` (`pending`,
    `in_progress` or `completed`). Both return the list as lines, and in `structured` as `items`.
    At most 100 items of 500 characters. No reducer: the list is short.
    """
    return [
        argument_tool(
            "todo_read",
            "Read the todo list of this session.",
            {},
            _read,
            toolset="todo",
            capabilities=_CAPABILITIES,
            idempotent=True,
        ),
        argument_tool(
            "todo_write",
            "Replace the todo list of this session: give all items, done ones too. Use it to plan "
            "work of several steps and to keep the status of each.",
            {
                "items": {
                    "type": "array",
                    "maxItems": _MAX_ITEMS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string", "maxLength": _MAX_CONTENT_CHARS},
                            "status": {"type": "string", "enum": list(_STATUSES)},
                        },
                        "required": ["content", "status"],
                        "additionalProperties": False,
                    },
                }
            },
            _write,
            required=["items"],
            toolset="todo",
            capabilities=_CAPABILITIES,
            idempotent=True,
        ),
    ]


async def _read(_: Mapping[str, Any], context: ToolContext) -> ToolResult:
    try:
        items = await _store(context).get(_KEY)
    except KeyValueError as error:
        return err(f"the todo list could not be read: {error}; tell the user")
    return _shown(items or [], "The todo list is empty; todo_write fills it.")


async def _write(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    items = _items(values)
    try:
        await _store(context).set(_KEY, items)
    except KeyValueError as error:
        return err(f"the todo list could not be stored: {error}; tell the user")
    return _shown(items, "The todo list is empty.")


def _store(context: ToolContext) -> KeyValueStore:
    if context.kv_store is None:
        raise RefusalError(
            "there is no store for the todo list; tell the user to give the registry "
            '`standard_backends(key_values="values.sqlite3")`',
            "not_available",
        )
    return context.kv_store


def _items(values: Mapping[str, Any]) -> list[dict[str, str]]:
    given = values.get("items")
    if not isinstance(given, list):
        raise RefusalError(f"`items` must be a list of items such as {_EXAMPLE}")
    if len(given) > _MAX_ITEMS:
        raise RefusalError(f"`items` has {len(given)} items, at most {_MAX_ITEMS} are stored")
    return [_item(item, position) for position, item in enumerate(given)]


def _item(item: object, position: int) -> dict[str, str]:
    if not isinstance(item, Mapping):
        raise RefusalError(f"items[{position}] must be an object such as {_EXAMPLE}")
    if unknown := set(item) - {"content", "status"}:
        name = min(unknown, key=str)
        raise RefusalError(f"items[{position}] has no {quoted(name)}; it has content and status")
    content, status = item.get("content"), item.get("status", "pending")
    if not isinstance(content, str) or not content.strip():
        raise RefusalError(f"items[{position}].content must be a line of text")
    content = " ".join(content.split())
    if len(content) > _MAX_CONTENT_CHARS:
        raise RefusalError(
            f"items[{position}].content has {len(content)} characters, at most "
            f"{_MAX_CONTENT_CHARS} are stored"
        )
    if status not in _STATUSES:
        raise RefusalError(
            f"items[{position}].status must be one of {', '.join(_STATUSES)}, got {quoted(status)}"
        )
    return {"content": content, "status": status}


def _shown(items: list[dict[str, str]], empty: str) -> ToolResult:
    counts = Counter(item["status"] for item in items)
    summary = ", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status])
    lines = [
        f"{number}. {_BOXES[item['status']]} {item['content']}"
        for number, item in enumerate(items, 1)
    ]
    return ok("\n".join([summary, *lines]) if items else empty, structured={"items": items})
