"""Loads personalities from YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ethos_registry.config.document import Document, read_document
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.wire import wire_name

__all__ = ["load_personalities", "load_personality"]

_FIELDS = frozenset(field.name for field in fields(Personality))
_KNOWN = _FIELDS | {wire_name(field) for field in _FIELDS}
_QUOTED = re.compile(r"`([^`]+)`|'([^']+)'")


def load_personalities(path_or_text: str | os.PathLike[str]) -> dict[str, Personality]:
    r"""The personalities of a YAML file or text by id, in its order.

    The file maps ids to fields, or is one personality with an `id`. YAML 1.2 applies: `no` is a
    string. A `str` with a line break or a key is text, any other `str` a path. Raises `ConfigError`
    with file and line for a file that cannot be read, invalid YAML, a duplicate key, an unknown
    field and a value of the wrong type.

    >>> load_personalities("reader:\n  toolset: [read_file]\n")["reader"].toolset
    ('read_file',)
    """
    document = read_document(path_or_text)
    root = document.value
    if not isinstance(root, Mapping):
        raise document.error(
            "the file must map ids to personalities, or be one personality with `id`, "
            f"got {_kind(root)}"
        )
    if _is_one(root):
        one = _personality(document, root, ())
        return {one.id: one}
    return {_id(document, key): _named(document, key, value) for key, value in root.items()}


def load_personality(path_or_text: str | os.PathLike[str]) -> Personality:
    """The only personality of a YAML file or text; see `load_personalities`.

    >>> load_personality("id: reader").id
    'reader'
    """
    loaded = load_personalities(path_or_text)
    if len(loaded) != 1:
        raise ConfigError(
            f"expected one personality, got {len(loaded)}; use `load_personalities`",
            context={"field": "path_or_text", "value": list(loaded)},
        )
    return next(iter(loaded.values()))


def _is_one(root: Mapping[Any, Any]) -> bool:
    """Whether the file is one personality, with an `id` or with a missing `id`."""
    if "id" in root:
        return not isinstance(root["id"], Mapping)
    return any(key in _KNOWN and not isinstance(value, Mapping) for key, value in root.items())


def _id(document: Document, key: object) -> str:
    if not isinstance(key, str):
        raise document.error(f"the id of a personality must be a string, got {_kind(key)}: {key!r}")
    return key


def _named(document: Document, key: str, value: Any) -> Personality:
    if not isinstance(value, Mapping):
        raise document.error(
            f"personality `{key}` must be a mapping of fields, got {_kind(value)}", (key,)
        )
    if value.get("id", key) != key:
        raise document.error(f"personality `{key}` has another `id`: {value['id']!r}", (key, "id"))
    return _personality(document, {**value, "id": key}, (key,))


def _personality(
    document: Document, payload: Mapping[Any, Any], path: tuple[str, ...]
) -> Personality:
    try:
        return Personality.from_wire(payload)
    except ConfigError as error:
        field = _field(error)
        inside = (name for name, value in payload.items() if _holds(value, field))
        place = (*path, *field) if field[:1] and field[0] in payload else (*path, *inside, *field)
        raise document.error(" ".join(str(error).split()), place, **error.context) from None


def _field(error: ConfigError) -> tuple[str, ...]:
    """The path of the field that an error is about."""
    named = error.context.get("field")
    if not isinstance(named, str):
        quoted = _QUOTED.search(str(error))
        named = (quoted[1] or quoted[2]) if quoted else ""
    return tuple(named.split(".")) if named else ()


def _holds(value: object, field: tuple[str, ...]) -> bool:
    return isinstance(value, Mapping) and field[:1] != () and field[0] in value


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", type(None): "nothing"}
    return names.get(type(value), f"a {type(value).__name__}")
