"""Parts of an artifact that is JSON, by JSON Pointer (RFC 6901)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ethos_registry.artifacts.artifact import SpooledArtifact
from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = ["json_get", "json_keys", "json_slice"]

_INDEX = re.compile("0|[1-9][0-9]{0,17}")
"""An index has no leading zeros (RFC 6901)."""
_KINDS = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    type(None): "null",
}


def json_keys(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The value at `path`: of an object a line `key: kind` for each key."""
    value = _at(artifact, args.get("path", ""))
    if not isinstance(value, dict):
        return _kind(value)
    return "\n".join(f"{key}: {_kind(item)}" for key, item in value.items()) or "(empty list)"


def json_get(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The value at `path`: a string as it is, everything else as JSON."""
    value = _at(artifact, args.get("path", ""))
    return value if isinstance(value, str) else _json(value)


def json_slice(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The items from `start` up to `end` of the array at `path`, as JSON."""
    path = args.get("path", "")
    value = _at(artifact, path)
    if not isinstance(value, list):
        raise RefusalError(f"{_place(path)} is not an array, but {_kind(value)}")
    end = args.get("end")
    return _json(value[int(args.get("start", 0)) : None if end is None else int(end)])


def _place(pointer: str) -> str:
    return shown(pointer) if pointer else "the root"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"object of {len(value):,}"
    if isinstance(value, list):
        return f"array of {len(value):,}"
    return _KINDS[type(value)]


def _at(artifact: SpooledArtifact, pointer: str) -> Any:
    """The value of a pointer; a refusal names the step that does not exist."""
    value = artifact.read_json()
    if pointer and not pointer.startswith("/"):
        raise RefusalError(
            f"`path` must be a JSON Pointer, as `/items/0/name`, got {shown(pointer)}"
        )
    done = ""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise RefusalError(f"{shown(key)} does not exist in {_place(done)}, {_kind(value)}")
        done += f"/{step}"
    return value
