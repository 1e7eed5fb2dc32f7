"""The messages in a line of standard input or output, also if the line is not quite valid.

Imports the package `mcp`: what connects or serves imports this module when it does.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)

_OF_THE_CLIENT = (CONNECTION_CLOSED, REQUEST_TIMEOUT)
"""Codes by which the SDK's client reports its own errors; servers use them for any error."""
_START = (
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,200}")\s*,\s*'
)
_RESPONSE_ID = re.compile(_START + rb'"(?:result|error)"\s*:')
_REQUEST_ID = re.compile(_START + rb'"method"\s*:')
"""The start of a message whose rest cannot be parsed."""
_LISTING = re.compile(rb'"(?:tools|resources|resourceTemplates|prompts)"\s*:\s*\[')
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_MAX_DEPTH = 128
_NO_RESPONSE = "the server sent a response that is not valid; it may have run"
_NO_REQUEST = "the request is not valid"
_PARSE_ERRORS = (ValueError, RecursionError)
_parse = jsonrpc_message_adapter.validate_json


def messages_from_server(line: bytes) -> list[JSONRPCMessage]:
    """The messages in a line that a server wrote, none if it is not a message.

    A response that is not valid is an error for the call that waits for it, which would otherwise
    wait until its timeout. Half of a surrogate pair and bytes that are not UTF-8 are replaced.
    """
    try:
        messages = [_parse(line, by_name=False)]
    except ValueError:
        if _LISTING.search(line):
            line = without_deep_values(line)
        messages, broken = _repaired(line, _RESPONSE_ID, ("result", "error"))
        messages += [_error(each, PARSE_ERROR, _NO_RESPONSE) for each in broken]
    return [_recoded(each) if isinstance(each, JSONRPCError) else each for each in messages]


def without_deep_values(text: bytes) -> bytes:
    """JSON, or lines of it, with `null` for each value that is nested too deep for a parser.

    In a listing that costs the one item, whose definition is not valid any more.

    >>> text = b"[1, " + b"[" * 200 + b"]" * 200 + b"]"
    >>> len(without_deep_values(text))
    263
    """
    if text.count(b"[") + text.count(b"{") <= _MAX_DEPTH:
        return text
    parts: list[bytes] = []
    depth = start = 0
    for found in _BRACKETS.finditer(text):
        bracket = found[0]
        if bracket in (b"[", b"{"):
            depth += 1
            if depth == _MAX_DEPTH + 1:
                parts += (text[start : found.start()], b"null")
        elif bracket in (b"]", b"}"):
            if depth == _MAX_DEPTH + 1:
                start = found.end()
            depth = max(depth - 1, 0)
    if depth <= _MAX_DEPTH:
        parts.append(text[start:])
    return b"".join(parts)


def messages_from_client(line: bytes) -> tuple[list[JSONRPCMessage], list[JSONRPCError]]:
    """The messages in a line that a client wrote, and the answers to requests that are not valid.

    A client would wait without end for the answer to such a request.
    """
    try:
        return [_parse(line, by_name=False)], []
    except ValueError:
        messages, broken = _repaired(line, _REQUEST_ID, ("method",))
        return messages, [_error(each, INVALID_REQUEST, _NO_REQUEST) for each in broken]


def _recoded(message: JSONRPCError) -> JSONRPCError:
    """A server's error, so that it cannot be taken for one of the client."""
    if message.error.code not in _OF_THE_CLIENT:
        return message
    error = message.error.model_copy(update={"code": INTERNAL_ERROR})
    return message.model_copy(update={"error": error})


def _repaired(
    line: bytes, start: re.Pattern[bytes], keys: tuple[str, ...]
) -> tuple[list[JSONRPCMessage], list[int | str]]:
    """The messages that can be read, and the ids of those with one of the keys that cannot."""
    try:
        value: Any = json.loads(line.decode("utf-8-sig", "replace"))
    except _PARSE_ERRORS:
        found = start.match(line)
        return [], [] if found is None else [json.loads(found[1])]
    messages: list[JSONRPCMessage] = []
    broken: list[int | str] = []
    items = value if isinstance(value, list) else [value]  # a batch of revision 2025-03-26
    for item in items:
        if not isinstance(item, dict):
            continue
        message = _whole(item)
        identifier: Any = item.get("id")
        if isinstance(identifier, float) and identifier.is_integer():
            identifier = int(identifier)
        if message is not None:
            messages.append(message)
        elif type(identifier) in (int, str) and not item.keys().isdisjoint(keys):
            broken.append(identifier)
    return messages, broken


def _whole(item: dict[str, Any]) -> JSONRPCMessage | None:
    try:
        text = json.dumps(item, ensure_ascii=False)
        return _parse(
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), by_name=False
        )
    except _PARSE_ERRORS:
        return None


def _error(identifier: int | str, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))
