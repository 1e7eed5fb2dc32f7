"""References within a JSON Schema: each must lead to a schema in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.schema_keywords import SCHEMA, SCHEMAS_BY_NAME, holds_schema_list

__all__ = ["check_references"]

_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_IDS = ("$id", "id")


def check_references(schema: Any, what: str) -> None:
    """Raise `ConfigError` for a reference into the schema that leads nowhere.

    References to other documents pass: nothing is fetched. `schema` has passed the keyword checks.
    """
    found = [
        (place, inner, keyword)
        for place, inner in _schemas(schema, what)
        for keyword in _REFERENCES
        if keyword in inner
    ]
    if not found:
        return
    inside = [inner for _, inner in _schemas(schema, what)]
    anchors = {inner[name] for inner in inside for name in _ANCHORS if name in inner}
    ids = {inner[name] for inner in inside for name in _IDS if isinstance(inner.get(name), str)}
    anchors |= {name.removeprefix("#") for name in ids if name.startswith("#")}  # draft 4 to 7
    roots = {schema.get("$id", schema.get("id"))} if isinstance(schema, dict) else set()
    has_embedded = bool({name for name in ids if not name.startswith("#")} - roots)
    for place, inner, keyword in found:
        document, _, fragment = inner[keyword].partition("#")
        if document and document not in roots:
            continue
        if not _resolves(schema, unquote(fragment), anchors, has_embedded=has_embedded):
            raise ConfigError(
                f"`{_shown(place)}.{keyword}` leads nowhere: {brief(inner[keyword])}; define it, "
                f"as under `$defs`",
                context={"field": f"{place}.{keyword}", "value": inner[keyword]},
            )


def _shown(place: str) -> str:
    shown = brief(place)
    return shown[1:] if shown.endswith("...") else shown[1:-1]


def _resolves(schema: Any, fragment: str, anchors: set[str], *, has_embedded: bool) -> bool:
    """Whether a fragment names the whole schema, an anchor, or the place of a schema."""
    if not fragment or fragment in anchors:
        return True
    if not fragment.startswith("/"):
        return False
    value = schema
    for step in fragment[1:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return has_embedded  # it may be relative to an embedded document
    return isinstance(value, dict | bool)


def _schemas(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each schema that is an object, with its place."""
    if not isinstance(schema, dict):
        return
    yield place, schema
    for keyword, value in schema.items():
        if holds_schema_list(keyword, value):
            for index, inner in enumerate(value):
                yield from _schemas(inner, f"{place}.{keyword}[{index}]")
        elif keyword in SCHEMA:
            yield from _schemas(value, f"{place}.{keyword}")
        elif keyword in SCHEMAS_BY_NAME or keyword == "dependencies":
            for name, inner in value.items():
                yield from _schemas(inner, f"{place}.{keyword}.{name}")
