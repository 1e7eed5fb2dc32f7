"""The shapes in which a call comes: plain, or a provider's, as a dict or as an SDK's object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ethos_registry.contract.errors import ConfigError

__all__ = ["call_identity", "call_parts"]

_WRAPPERS = ("function_call", "functionCall", "toolUse")
"""A part of a message around one call."""
_IDS = ("call_id", "id", "tool_call_id", "toolCallId", "toolUseId")
"""Where the id is, first found first: an item of OpenAI's Responses has `call_id` and `id`."""


def _reader(call: object) -> Callable[[str], Any]:
    """Reads the fields of a mapping or of an object; absent ones are `None`."""
    if isinstance(call, Mapping):
        return call.get
    return lambda name: getattr(call, name, None)


def _has(call: object, name: str) -> bool:
    return name in call if isinstance(call, Mapping) else hasattr(call, name)


def _unwrapped(call: object) -> object:
    get = _reader(call)
    for name in _WRAPPERS:
        if (inner := get(name)) is not None and get("name") is None:
            return inner
    return call


def call_parts(call: object, position: int | None = None) -> tuple[str, str, Any]:
    """Id, name and arguments of a call in any known shape.

    An object of an SDK without an id, as Gemini and Ollama have them, gets `call_{position}` if a
    position is given. `ConfigError` names what is missing.
    """
    if not isinstance(call, dict | Mapping) and not any(
        hasattr(call, name) for name in ("name", "function", *_WRAPPERS)
    ):
        raise ConfigError(
            "a call is a mapping, a ToolCall or an object of a provider's SDK, "
            f"got {type(call).__name__}"
        )
    call = _unwrapped(call)
    get = _reader(call)
    name = get("name")
    if name is None:
        function = get("function")
        args = None
        if function is not None and not isinstance(function, str):
            of_function = _reader(function)
            name, args = of_function("name"), of_function("arguments")
    elif _has(call, "input"):
        args = get("input")
    else:
        args = get("args") if _has(call, "args") else get("arguments")
    call_id = next((found for field in _IDS if (found := get(field)) is not None), None)
    if call_id is None and position is not None and not isinstance(call, Mapping):
        call_id = f"call_{position}"
    if not isinstance(call_id, str):
        raise ConfigError("a call needs an id that is a string")
    if not isinstance(name, str):
        raise ConfigError("a call needs a name that is a string")
    return call_id, name, args


def call_identity(call: object) -> tuple[str | None, str]:
    """What can be had of the id and the name of a call that cannot be read."""
    call = _unwrapped(call)
    get = _reader(call)
    function = get("function")
    names = [get("name")]
    if function is not None and not isinstance(function, str):
        names.append(_reader(function)("name"))
    ids = [get(field) for field in ("call_id", "tool_call_id", "toolCallId", "toolUseId", "id")]
    return (
        next((item for item in ids if isinstance(item, str)), None),
        next((item for item in names if isinstance(item, str)), ""),
    )
