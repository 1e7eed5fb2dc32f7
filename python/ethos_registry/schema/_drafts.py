"""Schemas of older drafts, of OpenAPI and of careless writers, as draft 2020-12."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from ethos_registry.schema._conjunction import types_of
from ethos_registry.schema._fixed_values import fits_type
from ethos_registry.types._schema_rules import SCHEMA, SCHEMA_LISTS, SCHEMAS_BY_NAME

Report = Callable[[str], None]
"""Takes what was rewritten."""

DROPPED = frozenset(
    {
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$id",
        "$recursiveAnchor",
        "$schema",
        "$vocabulary",
        "discriminator",
        "externalDocs",
        "id",
        "readOnly",
        "writeOnly",
        "xml",
    }
)
"""Keywords that no call depends on."""

_ANCHORS = ("$anchor", "$dynamicAnchor")
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OTHER_TYPES = {
    "arraylist": "array",
    "bigint": "integer",
    "bool": "boolean",
    "byte": "integer",
    "char": "string",
    "dict": "object",
    "double": "number",
    "float": "number",
    "hashmap": "object",
    "int": "integer",
    "list": "array",
    "long": "integer",
    "none": "null",
    "short": "integer",
    "str": "string",
    "text": "string",
    "tuple": "array",
}
"""Types of programming languages, in lower case."""
_ANY_TYPES = ("any", "mixed", "unknown")
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_SIZES = frozenset(
    f"{end}{of}" for end in ("min", "max") for of in ("Length", "Items", "Properties", "Contains")
)
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_TEXTS = frozenset(
    {"title", "description", "format", "pattern", "$ref", "contentEncoding", "contentMediaType"}
)
_BESIDE_OLD_REFERENCE = frozenset(
    {"$ref", "$defs", "definitions", "title", "description", "default", "examples"}
)
_ABOUT_VALUES = frozenset({"type", "title", "description", "default"})
_IN_URIS = "#/%!$&'()*+,;=:@-._~?"
_NOT_IN_URIS = re.compile(rf"[^A-Za-z0-9{re.escape(_IN_URIS)}]|%(?![0-9A-Fa-f]{{2}})")
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


def schema_of_2020_12(schema: Any, report: Report | None = None) -> Any:
    """The whole schema in the words of draft 2020-12; the author's is not changed.

    Pointers into `definitions` lead into `$defs`. `report` is not called for keywords that are
    dropped because no call depends on them.

    >>> schema_of_2020_12({"type": "OBJECT", "properties": {"n": {"minimum": 0,
    ...     "exclusiveMinimum": True}}})
    {'type': 'object', 'properties': {'n': {'exclusiveMinimum': 0}}}
    """

    def translated(value: Any) -> Any:
        node = node_of_2020_12(value, report, old_references=has_old_references(schema))
        if not isinstance(node, dict):
            return node
        # Dropped from one schema; in the whole one a pointer may lead to it.
        node |= {name: value[name] for name in _ANCHORS if name in value}
        pointer = node.get("$ref")
        if isinstance(pointer, str):
            node["$ref"] = pointer.replace("#/definitions/", "#/$defs/")
        for _, holder, key in inner_places(node):
            holder[key] = translated(holder[key])
        return node

    return translated(schema)


def inner_places(node: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Where each schema directly in a schema is: under which keyword, in what, by which key.

    It can be replaced there: lists of schemas and schemas by name are copied before.
    """
    for keyword, value in node.items():
        if keyword in SCHEMAS_BY_NAME:
            node[keyword] = named = dict(value)
            for name in value:
                yield keyword, named, name
        elif keyword in SCHEMA_LISTS:
            node[keyword] = listed = list(value)
            for index in range(len(listed)):
                yield keyword, listed, index
        elif keyword in SCHEMA:
            yield keyword, node, keyword


def has_old_references(schema: Any) -> bool:
    """Whether keywords beside `$ref` are ignored, as before draft 2019-09."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    return isinstance(declared, str) and any(draft in declared for draft in _OLD_DRAFTS)


def node_of_2020_12(
    schema: Any, report: Report | None = None, *, old_references: bool = False
) -> Any:
    """One schema, its inner ones as they are, in the words of draft 2020-12."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        return {}
    if _is_plain_value(schema):
        return dict(schema)
    say = report or _nothing
    node = {
        name: value
        for name, value in schema.items()
        if name not in DROPPED and not name.startswith("x-")
    }
    if old_references and "$ref" in node:
        node = {name: value for name, value in node.items() if name in _BESIDE_OLD_REFERENCE}
    for name in [name for name in node if _is_empty_keyword(name, node[name])]:
        if node[name] == [] and name in SCHEMAS_BY_NAME:
            node[name] = {}
            say(f"`{name}` is written as an object")
            continue
        say("an empty keyword is dropped")
        del node[name]
    if "definitions" in node:
        definitions = node.pop("definitions")
        node["$defs"] = definitions | node.get("$defs", {})
        say("`definitions` are written as `$defs`")
    if "$recursiveRef" in node:
        node.setdefault("$ref", node.pop("$recursiveRef"))
        say("`$recursiveRef` is written as `$ref`")
    if isinstance(anchor := node.get("$dynamicRef"), str):
        node.setdefault("$ref", anchor)  # in one document its anchor is the only one of that name
        del node["$dynamicRef"]
        say("`$dynamicRef` is written as `$ref`")
    if _NOT_IN_URIS.search(node.get("$ref", "")):
        node["$ref"] = quote(node["$ref"], safe=_IN_URIS)
        say("`$ref` is percent-encoded")
    if "enum" in node and not isinstance(node["enum"], list):
        node["enum"] = [node["enum"]]
        say("`enum` is written as a list")
    _type(node, say)
    _bounds(node, say)
    _items(node, say)
    _enum_of_items(node, say)
    _dependencies(node, say)
    _required(node, say)
    if "example" in node:
        node.setdefault("examples", [node.pop("example")])
    if "examples" in node and not isinstance(node["examples"], list):
        node["examples"] = [node["examples"]]
        say("`examples` are written as a list")
    return _nullable(node, say)


def _is_plain_value(schema: dict[str, Any]) -> bool:
    """Whether it is one type, described, which every draft writes so."""
    kind = schema.get("type")
    return (
        type(kind) is str
        and kind in _TYPES
        and _ABOUT_VALUES.issuperset(schema)
        and isinstance(schema.get("title", ""), str)
        and isinstance(schema.get("description", ""), str)
    )


def _nothing(message: str) -> None:
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_empty_keyword(name: str, value: Any) -> bool:
    """Whether a keyword has a value that means nothing there."""
    if name in _DATA:
        return name == "enum" and value is None
    if value is None:
        return True
    if name in SCHEMA_LISTS:
        return not isinstance(value, list) or not value
    if name in SCHEMAS_BY_NAME:
        return not isinstance(value, dict)
    if name in SCHEMA:
        return not isinstance(value, dict | bool | list)
    if name in _SIZES:
        return not _is_number(value) or value < 0
    if name == "multipleOf":
        return not _is_number(value) or value <= 0
    if name in _NUMBERS:
        return not _is_number(value) and not (isinstance(value, bool) and name[:3] == "exc")
    if name in _TEXTS:
        return not isinstance(value, str)
    return name in ("required", "type") and value in ([], {}, "")


def _type(node: dict[str, Any], say: Report) -> None:
    given = node.get("type")
    if given is None or (type(given) is str and given in _TYPES):
        return
    types: list[str] = []
    is_any = False
    for item in given if isinstance(given, list) else [given]:
        lower = item.lower() if isinstance(item, str) else ""
        found = lower if lower in _TYPES else _OTHER_TYPES.get(lower)
        if found is None:
            is_any = True
            say(
                "the type any is left out" if lower in _ANY_TYPES else "an unknown type is left out"
            )
        elif found not in types:
            types.append(found)
            if found != item:
                say("the type's name is written as JSON Schema has it")
    if is_any or not types:
        del node["type"]
    else:
        node["type"] = types if isinstance(given, list) else types[0]
        if isinstance(given, list) and len(types) < len(given):
            say("`type` lists each type once")


def _bounds(node: dict[str, Any], say: Report) -> None:
    """Draft 4: a boolean makes `minimum` or `maximum` exclusive."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        flag = node.get(exclusive)
        if isinstance(flag, bool):
            del node[exclusive]
            if flag and bound in node:
                node[exclusive] = node.pop(bound)
            say(f"`{exclusive}` is a number")


def _items(node: dict[str, Any], say: Report) -> None:
    """Before 2020-12, `items` is a list for a tuple, and `additionalItems` is for the rest."""
    rest = node.pop("additionalItems", None)
    items = node.get("items")
    if not isinstance(items, list):
        return
    del node["items"]
    if items:
        node["prefixItems"] = items
    if rest is not None:
        node["items"] = rest
    say("the tuple is written as `prefixItems`")


def _enum_of_items(node: dict[str, Any], say: Report) -> None:
    """Choices of a list that hold no list: no value would fit, so they are those of its items."""
    enum, items = node.get("enum"), node.get("items", {})
    if node.get("type") != "array" or not enum or not isinstance(items, dict) or "enum" in items:
        return
    items = dict(items)
    _type(items, _nothing)
    fitting = types_of(items)
    if all(
        not isinstance(value, list) and (not fitting or fits_type(value, fitting)) for value in enum
    ):
        node["items"] = {**items, "enum": node.pop("enum")}
        say("the enum of a list is written as that of its items")


def _dependencies(node: dict[str, Any], say: Report) -> None:
    given = node.pop("dependencies", None)
    if not isinstance(given, dict):
        return
    for name, needed in given.items():
        keyword = "dependentRequired" if isinstance(needed, list | str) else "dependentSchemas"
        value = [needed] if isinstance(needed, str) else needed
        node[keyword] = {**node.get(keyword, {}), name: value}
    say("`dependencies` are written as those of 2020-12")


def _required(node: dict[str, Any], say: Report) -> None:
    """Draft 3 has `required: true` in the property."""
    properties = node.get("properties", {})
    marked = [
        name
        for name, item in properties.items()
        if isinstance(item, dict) and isinstance(item.get("required"), bool)
    ]
    if marked:
        required = [name for name in marked if properties[name]["required"]]
        node["properties"] = {
            name: {key: value for key, value in item.items() if key != "required"}
            if name in marked
            else item
            for name, item in properties.items()
        }
        given = node.get("required")
        named = [*given, *required] if isinstance(given, list) else required
        if named:
            node["required"] = named
        say("`required` is a list of names")
    given = node.get("required")
    if given is None:
        return
    if not isinstance(given, list):
        del node["required"]
        say("`required` that is not a list is dropped")
        return
    names = list(dict.fromkeys(name for name in given if isinstance(name, str)))
    if names != given:
        node["required"] = names
        say("`required` lists each name once")


def _nullable(node: dict[str, Any], say: Report) -> dict[str, Any]:
    """OpenAPI 3.0: `nullable`."""
    flag = node.pop("nullable", None)
    if flag is not True:
        return node
    say("`nullable` is written as the type null")
    if any(name in node for name in ("$ref", "allOf", "oneOf", "const", "not")):
        about: dict[str, Any] = {
            name: node.pop(name) for name in ("title", "description", "default") if name in node
        }
        return {**about, "anyOf": [node, {"type": "null"}]}
    if "enum" in node and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    types = types_of(node)
    if types:
        node["type"] = types if "null" in types else [*types, "null"]
    if "anyOf" in node:
        node["anyOf"] = [*node["anyOf"], {"type": "null"}]
    return node
