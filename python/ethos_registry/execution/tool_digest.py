"""The identity of a tool, by which two processes see that they mean the same one."""

from __future__ import annotations

import hashlib
import json
import weakref

from ethos_registry.contract.tool import Tool
from ethos_registry.table.entry import Entry

__all__ = ["tool_digest"]

_known: weakref.WeakKeyDictionary[Tool, tuple[bytes, str]] = weakref.WeakKeyDictionary()


def tool_digest(entry: Entry) -> str:
    """SHA-256 hex over the definition and the declared capabilities of a registered tool."""
    text = entry.definition.text
    known = _known.get(entry.tool)
    if known is not None and known[0] is text:
        return known[1]
    capabilities = json.dumps(entry.capabilities.to_wire(), sort_keys=True)
    digest = hashlib.sha256(text + capabilities.encode()).hexdigest()
    _known[entry.tool] = (text, digest)
    return digest
