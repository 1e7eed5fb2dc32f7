"""Names of properties: those that a provider refuses, and what is sent in their place."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["in_place", "named_within", "names_at", "renamed_properties", "with_names"]

_DIGEST_CHARS = 8
_MAX_NAME_CHARS = 64


def renamed_properties(names: Iterable[str], rule: re.Pattern[str]) -> dict[str, str]:
    """The names that a rule refuses, with those that are sent in their place.

    Accents are dropped and other characters become `_`; a name that is taken, empty or too long
    ends in eight hex digits of SHA-256 over the author's.

    >>> renamed_properties(["$top", "unit price"], re.compile("[A-Za-z_]+"))
    {'$top': 'top', 'unit price': 'unit_price'}
    """
    names = list(names)
    refused = [name for name in names if rule.fullmatch(name) is None]
    if not refused:
        return {}
    taken = {name for name in names if name not in refused}
    plain = {name: _plain_name(name, rule) for name in refused}
    sent: dict[str, str] = {}
    for name, short in plain.items():
        is_free = short not in taken and list(plain.values()).count(short) == 1
        if not is_free or rule.fullmatch(short) is None:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            begin = short[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1] or "p"
            if rule.fullmatch(begin) is None:
                begin = f"p_{begin}"[: _MAX_NAME_CHARS - _DIGEST_CHARS - 1]
            short = f"{begin}_{digest[:_DIGEST_CHARS]}"
        sent[name] = short
    return sent


def _plain_name(name: str, rule: re.Pattern[str]) -> str:
    letters = [
        char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)
    ]
    text = "".join(
        char if char == "_" or rule.fullmatch(f"a{char}") is not None else "_" for char in letters
    )
    return text.strip("_")


def names_at(node: Any, follow: Callable[[str], Any]) -> dict[str, None]:
    """The names of properties that one object may have by this schema, in order.

    `follow` returns the schema that a `$ref` leads to, or `None`.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()

    def collect(schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        for keyword in ("properties", "required", "dependentRequired", "dependentSchemas"):
            found.update(dict.fromkeys(schema.get(keyword) or ()))
        for names in (schema.get("dependentRequired") or {}).values():
            found.update(dict.fromkeys(names))
        for inner in in_place(schema):
            collect(inner)
        pointer = schema.get("$ref")
        if isinstance(pointer, str) and pointer not in seen:
            seen.add(pointer)
            collect(follow(pointer))

    collect(node)
    return found


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The inner schemas that look at the same value."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword) or ()
    for keyword in ("not", "if", "then", "else"):
        if keyword in schema:
            yield schema[keyword]
    yield from (schema.get("dependentSchemas") or {}).values()


def with_names(schema: Any, sent: Mapping[str, str]) -> Any:
    """A schema whose object has its properties under other names."""
    if not sent or not isinstance(schema, dict):
        return schema
    node = dict(schema)
    for keyword in ("properties", "dependentSchemas"):
        if keyword in node:
            node[keyword] = {sent.get(name, name): item for name, item in node[keyword].items()}
    if "required" in node:
        node["required"] = [sent.get(name, name) for name in node["required"]]
    if "dependentRequired" in node:
        node["dependentRequired"] = {
            sent.get(name, name): [sent.get(other, other) for other in others]
            for name, others in node["dependentRequired"].items()
        }
    return node


def named_within(schema: Any, sent: Mapping[str, str]) -> Any:
    """The same with the schemas that look at the same object."""
    if not sent or not isinstance(schema, dict):
        return schema
    node = with_names(schema, sent)
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in node:
            node[keyword] = [named_within(item, sent) for item in node[keyword]]
    for keyword in ("not", "if", "then", "else"):
        if keyword in node:
            node[keyword] = named_within(node[keyword], sent)
    return node
