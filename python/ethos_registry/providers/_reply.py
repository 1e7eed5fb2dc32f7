"""The calls in what a program has: calls, content blocks, or a provider's whole reply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ethos_registry.providers._wire_format import call_entries, items, read, word
from ethos_registry.types import _checks
from ethos_registry.types._call import MalformedCall, ToolCall
from ethos_registry.types._errors import ConfigError

OnUnknown = Callable[[str], object]

_CALL_TYPES: Final = frozenset(
    {"tool_use", "function_call", "function", "custom_tool_call", "custom"}
)
_OTHER_TYPES: Final = frozenset(
    """
    text thinking redacted_thinking server_tool_use mcp_tool_use mcp_tool_listing container_upload
    image document search_result tool_result tool_reference fallback compaction context_management
    message reasoning output_text refusal input_text input_image input_file input_audio image_url
    file audio video file_search_call web_search_call computer_call image_generation_call
    code_interpreter_call local_shell_call shell_call apply_patch_call mcp_list_tools
    mcp_approval_request mcp_approval_response mcp_call tool_search_call tool_search_output
    additional_tools program program_output item_reference encrypted_content
    """.split()  # noqa: SIM905 - a list would take a line for each
)
"""Elements of replies that are not calls of ours: text, and what the provider runs itself."""
_OTHER_ENDINGS: Final = ("_tool_result", "_call_output")
_OTHER_KEYS: Final = frozenset(
    """
    text thought inlineData inline_data fileData file_data executableCode executable_code
    codeExecutionResult code_execution_result functionResponse function_response toolCall tool_call
    toolResponse tool_response image document video audio toolResult guardContent cachePoint
    reasoningContent citationsContent searchResult
    """.split()  # noqa: SIM905
)
"""The keys of the elements of Gemini and Bedrock, which have no type."""

_IDS: Final = ("call_id", "id", "tool_call_id", "toolCallId", "toolUseId")
_ARGUMENTS: Final = ("args", "input", "arguments")


def reply_calls(reply: object, on_unknown: OnUnknown) -> list[Any]:
    """The calls of a reply, of a list of its elements, or of a list of calls, in order.

    Replies are those of the seven formats, as dicts or SDK objects. An element with the shape of a
    call is always there, a malformed one as `MalformedCall`; others are left out, and `on_unknown`
    is called with the type of an element that is unknown.

    Raises:
        ConfigError: `reply` is nothing of that.

    """
    if isinstance(reply, list | tuple):
        return _calls_of_list(reply, on_unknown)
    if isinstance(reply, ToolCall | MalformedCall):
        return [reply]
    if not isinstance(reply, str | bytes | bytearray | int | float | None):
        found = _calls_of_reply(reply, on_unknown)
        if found is not None:
            return found
        if isinstance(reply, Sequence):
            return _calls_of_list(list(reply), on_unknown)
        if _is_call(reply):
            return _calls_of_list([reply], on_unknown)
    way_out = "give the whole reply of the provider's client"
    if isinstance(reply, Iterator | AsyncIterator):
        way_out = "a streamed reply is for `view.dispatch(provider=...)`"
    elif isinstance(reply, Awaitable):
        way_out = "`await` it first"
    kind = type(reply).__name__
    if isinstance(reply, Mapping):
        kind += f" with the keys {_checks.brief(list(reply))}"
    raise ConfigError(
        f"expected calls, content blocks or a provider's reply, got {kind}; {way_out}"
    )


def _calls_of_list(elements: Sequence[Any], on_unknown: OnUnknown) -> list[Any]:
    for element in elements:
        # Written out, because it is the usual call.
        is_call = type(element) is dict and (
            "args" in element and "id" in element and "name" in element
        )
        if not is_call and not _is_plain(element):
            break
    else:
        return list(elements)
    families: dict[str, list[Any]] = {}
    placed: list[tuple[str | None, Any]] = []
    for position, element in enumerate(elements):
        family, problem = None, ""
        try:
            family = None if _is_plain(element) else _family(element)
            if family is None and not _is_call(element):
                if type(element) is not tuple:
                    _report(element, on_unknown)
                    continue
                problem = "a call is a mapping with id, name and args, got tuple"
        except Exception as error:  # an element may be an object with code of its own
            problem = f"it cannot be read: {type(error).__name__}"
        if problem:
            placed.append((None, MalformedCall(str(position), "", f"malformed call: {problem}")))
            continue
        if family is not None:
            families.setdefault(family, []).append(element)
        placed.append((family, element))
    read_by = {family: _read_family(family, found) for family, found in families.items()}
    return [
        element if family is None else _checked_id(element, next(read_by[family]))
        for family, element in placed
    ]


def _is_plain(element: object) -> bool:
    if type(element) is dict:
        return "args" in element and "id" in element and "name" in element
    return type(element) is ToolCall or type(element) is MalformedCall


def _family(element: object) -> str | None:
    """The format whose rules for one block apply to an element, if it is a call."""
    kind = word(read(element, "type"))
    if kind == "tool_use":
        return "anthropic"
    if kind == "function_call":
        return "openai_responses"
    if kind is not None:
        return None
    use = read(element, "toolUse")
    if use is not None:
        return None if read(use, "type") == "server_tool_use" else "bedrock"
    wrapped = read(element, "functionCall", "function_call")
    return "gemini" if wrapped is not None and read(element, "name") is None else None


def _read_family(family: str, elements: list[Any]) -> Iterator[Any]:
    from ethos_registry.providers._by_name import provider

    whole: Any = {
        "anthropic": {"content": elements, "stop_reason": "tool_use"},
        "openai_responses": elements,
        "bedrock": {"content": elements, "stopReason": "tool_use"},
        "gemini": {"parts": elements},
    }[family]
    return iter(provider(family).calls(whole))


def _checked_id(element: object, call: ToolCall | MalformedCall) -> ToolCall | MalformedCall:
    inner = read(element, "toolUse", "functionCall", "function_call")
    given = read(element if inner is None else inner, *_IDS)
    if given is None or isinstance(given, str) or isinstance(call, MalformedCall):
        return call
    return MalformedCall(call.tool_call_id, call.name, "malformed call: its id must be a string")


def _is_call(element: object) -> bool:
    """Whether an element has the shape of a call: a known type, or two of id, name, arguments."""
    if isinstance(element, ToolCall | MalformedCall):
        return True
    kind = word(read(element, "type"))
    if kind is not None and kind not in _CALL_TYPES:
        if _is_other(kind):
            return False
    elif kind is not None or read(element, "function") is not None:
        return True
    if read(element, "role") is not None:
        return False
    if (use := read(element, "toolUse")) is not None:
        return bool(read(use, "type") != "server_tool_use")
    if read(element, "functionCall", "function_call") is not None:
        return True
    parts = (_IDS, ("name",), _ARGUMENTS)
    return sum(_has(element, names) for names in parts) >= 2


def _has(element: object, names: tuple[str, ...]) -> bool:
    if isinstance(element, Mapping):
        return any(name in element for name in names)
    return read(element, *names) is not None


def _is_other(kind: str) -> bool:
    return kind in _OTHER_TYPES or kind.endswith(_OTHER_ENDINGS)


def _report(element: object, on_unknown: OnUnknown) -> None:
    kind = word(read(element, "type"))
    if kind is not None:
        if not _is_other(kind):
            on_unknown(kind)
    elif isinstance(element, Mapping):
        if not _OTHER_KEYS.intersection(element) and read(element, "toolUse") is None:
            on_unknown(", ".join(map(str, element))[:64] or "{}")
    elif not isinstance(element, str) and read(element, *_OTHER_KEYS) is None:
        on_unknown(type(element).__name__)


# Whole replies


def _calls_of_reply(reply: object, on_unknown: OnUnknown) -> list[Any] | None:
    """The calls of a whole reply or of its message; `None` if it has no known shape."""
    family = _reply_family(reply)
    if family is None:
        return None
    from ethos_registry.providers._by_name import provider

    wire_format = provider(family)
    calls = wire_format.calls(reply)
    elements = wire_format.elements(reply)
    if not elements:
        return calls
    answers = iter(calls)
    found: list[Any] = []
    for element in elements:
        if _family(element) == family:
            answer = next(answers, None)
            if answer is not None:  # a reply that pauses has no calls yet
                found.append(_checked_id(element, answer))
        elif _is_call(element):
            found.append(element)
        else:
            _report(element, on_unknown)
    return found


def _reply_family(reply: object) -> str | None:
    content, message = read(reply, "content"), read(reply, "message")
    output = read(reply, "output")
    if read(reply, "choices") is not None:
        return "openai"
    if read(reply, "candidates") is not None or items(read(content, "parts")) is not None:
        return "gemini"
    if items(read(reply, "parts")) is not None:
        return "gemini"
    if items(output) is not None:
        return "openai_responses"
    if read(output, "message") is not None:
        return "bedrock"
    if message is not None:
        return _family_of_wrapped(reply, message)
    if call_entries(reply):
        return "openai"
    if items(content) is not None and _holds_bedrock(reply, content):
        return "bedrock"
    if read(reply, "stop_reason") is not None or word(read(reply, "type")) == "message":
        return "anthropic" if items(content) is not None or isinstance(content, str) else None
    if word(read(reply, "role")) != "assistant":
        return None
    if items(content) is not None:
        return "anthropic"
    return "openai"


def _family_of_wrapped(reply: object, message: object) -> str | None:
    """The format of a reply whose message is under `message`."""
    if read(reply, "done", "done_reason") is not None:
        return "ollama"
    content = read(message, "content")
    if read(reply, "stopReason") is not None or (
        items(content) is not None and _holds_bedrock(message, content)
    ):
        return "bedrock"
    finish_reason = word(read(reply, "finish_reason"))
    if finish_reason is not None and finish_reason.isupper():
        return "cohere"
    return "openai" if word(read(message, "role")) == "assistant" else None


def _holds_bedrock(message: object, content: Sequence[Any]) -> bool:
    return bool(content) and all(
        read(block, "type") is None and isinstance(block, Mapping) for block in content
    )
