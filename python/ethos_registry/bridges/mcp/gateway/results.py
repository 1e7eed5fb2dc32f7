"""The result of a call as a client is sent it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ethos_registry.contract.call import CallResult
from ethos_registry.contract.content import Audio, ContentBlock, Document, Image

__all__ = ["META_PREFIX", "error_result", "tool_result"]

META_PREFIX = "ethos-registry/"
"""Begins the keys that the gateway adds to the `_meta` of a result."""


def tool_result(result: CallResult) -> dict[str, Any]:
    """A `tools/call` result: the text, then the content blocks; an error if the call failed.

    `_meta` names what programs may need: whether the output is untrusted and its source, how long
    the text was before it was cut, the code of an error.
    """
    text = result.result.text
    content: list[dict[str, Any]] = []
    if text or not result.result.content:
        content.append({"type": "text", "text": text})
    for position, block in enumerate(result.result.content):
        content.append(_block(block, result.tool_call_id, position))
    wire: dict[str, Any] = {
        "resultType": "complete",
        "content": content,
        "isError": not result.result.ok,
    }
    meta = _meta(result)
    if meta:
        wire["_meta"] = meta
    return wire


def error_result(text: str) -> dict[str, Any]:
    """A `tools/call` result that reports an error."""
    content = [{"type": "text", "text": text}]
    return {"resultType": "complete", "content": content, "isError": True}


def _meta(result: CallResult) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    if result.untrusted:
        meta[f"{META_PREFIX}untrusted"] = True
        if result.source is not None:
            meta[f"{META_PREFIX}source"] = result.source
    if result.truncated_from is not None:
        meta[f"{META_PREFIX}truncatedFrom"] = result.truncated_from
    if not result.result.ok:
        meta[f"{META_PREFIX}code"] = result.result.code
        if result.result.reason is not None:
            meta[f"{META_PREFIX}reason"] = result.result.reason
    return meta


def _block(block: ContentBlock, call_id: str, position: int) -> dict[str, Any]:
    if isinstance(block, Image | Audio):
        return {"type": block.kind, "data": block.base64_text, "mimeType": block.media_type}
    if isinstance(block, Document):
        # A resource needs an address; this one cannot be read again.
        name = quote(block.name or f"document-{position + 1}", safe="")
        resource = {
            "uri": f"ethos-registry://calls/{quote(call_id, safe='')}/{name}",
            "mimeType": block.media_type,
        }
        return {"type": "resource", "resource": resource | _document_data(block)}
    return {"type": "resource_link", "uri": block.url, "name": block.title or block.url}


def _document_data(document: Document) -> dict[str, str]:
    if document.media_type.startswith("text/") or document.media_type == "application/json":
        try:
            return {"text": document.data_bytes.decode("utf-8")}
        except UnicodeDecodeError:
            pass
    return {"blob": document.base64_text}
