"""Shape and limits: what a provider needs beside a keyword, and keywords that it does not take."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from ethos_registry.schema._compilation import ALL_TYPES, EMPTY
from ethos_registry.schema._conjunction import both, types_of
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._fixed_values import add_type
from ethos_registry.schema._value_pass import ValuePass

UNSAID = frozenset({"title", "deprecated", "$schema"})
"""Keywords that a model need not read where the provider does not take them."""
_HAS_KIND = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not", "if"})
"""Keywords that a schema is not just any value with."""
_CONDITIONS = frozenset({"not", "if"})
_LISTS_NAMES = frozenset({"additionalProperties", "anyOf", "oneOf", "allOf", "$ref"})
_LENGTHS = ("minLength", "maxLength")


class LimitPass(ValuePass):
    """The shape and the limits of one schema."""

    def _shape(self, node: dict[str, Any], path: str, dialect: Dialect, *, is_root: bool) -> None:
        types = types_of(node)
        if not dialect.boolean_schemas:
            self._without_booleans(node, path)
        if "object" in types:
            self._listed_names(node, path)
            if dialect.object_needs_properties and (is_root or not _LISTS_NAMES & node.keys()):
                node.setdefault("properties", {})
        if "array" in types and dialect.array_needs_items and "items" not in node:
            node["items"] = {}
            self.say("rewritten", path, "`items` is added")
        if dialect.any_value == "type_list" and node.get("items") in EMPTY:
            node.pop("items", None)
        if not dialect.type_beside_any_of and "type" in node:
            for keyword in ("anyOf", "oneOf"):
                self._type_into(node, keyword, path)

    def _kind(self, node: dict[str, Any], path: str, dialect: Dialect) -> None:
        """A schema of any value has a type where the provider needs one."""
        has_kind = _HAS_KIND & node.keys()
        if dialect.any_value == "any_of":
            has_kind -= _CONDITIONS
        if not has_kind:
            if dialect.any_value == "type_list":
                node["type"] = list(ALL_TYPES)
            elif dialect.any_value == "any_of":
                node["anyOf"] = _any_value(1)
                self.say("rewritten", path, "any value is written as all types")
                self.widened += 1
        elif dialect.any_value == "any_of" and "enum" in node:
            add_type(node)

    def _without_booleans(self, node: dict[str, Any], path: str) -> None:
        properties = node.get("properties")
        if properties and False in properties.values():
            node["properties"] = {
                name: item for name, item in properties.items() if item is not False
            }
            self.widened += 1
            self.say("rewritten", path, "a property that is forbidden is left out")
        if node.get("items") is False:
            del node["items"]
            count = len(node.get("prefixItems", ()))
            node["maxItems"] = min(count, node.get("maxItems", count))
            self.say("rewritten", path, "`items: false` is written as `maxItems`")
        if node.get("not") is False:
            del node["not"]

    def _listed_names(self, node: dict[str, Any], path: str) -> None:
        """A name that is required has a property."""
        properties = node.get("properties", {})
        missing = [name for name in node.get("required", ()) if name not in properties]
        if not missing:
            return
        others = node.get("additionalProperties")
        schema = others if isinstance(others, dict) else {}
        node["properties"] = {**properties, **dict.fromkeys(missing, schema)}
        self.widened += others is False
        self.say("rewritten", path, "a required name is listed as a property")

    def _type_into(self, node: dict[str, Any], keyword: str, path: str) -> None:
        if keyword not in node or "type" not in node:
            return
        pushed = [both(branch, {"type": node["type"]}) for branch in node[keyword]]
        if all(isinstance(branch, dict) for branch in pushed):
            node[keyword] = pushed
            del node["type"]
            self.say("rewritten", path, f"the type is written into `{keyword}`")

    # Limits

    def _limits(
        self,
        node: dict[str, Any],
        path: str,
        dialect: Dialect,
        notes: dict[str, Any],
        known: frozenset[str] | None,
    ) -> None:
        self._patterns(node, path, dialect, notes)
        for keyword in [name for name in node if not self._is_known(name, known)]:
            value = node.pop(keyword)
            if keyword == "additionalProperties" and value in EMPTY:
                continue
            if keyword == "additionalProperties" and value is False:
                self.widened += 1
                self.say("rewritten", path, "`additionalProperties: false` is not sent")
            elif keyword not in UNSAID:
                notes[keyword] = value
        formats = dialect.formats
        if formats is not None and "format" in node and node["format"] not in formats:
            notes["format"] = node.pop("format")
        if not dialect.pattern_with_length and ("pattern" in node or "format" in node):
            for keyword in _LENGTHS:
                if keyword in node:
                    notes[keyword] = node.pop(keyword)
        is_beside = {"properties", "patternProperties"} <= node.keys()
        if is_beside and not dialect.pattern_beside_properties:
            notes["patternProperties"] = node.pop("patternProperties")
        self._reversed(node, path, dialect, notes)
        _move_dependent(node, notes)
        if dialect.array_needs_items and "items" not in node and "array" in types_of(node):
            node["items"] = {}

    def _is_known(self, keyword: str, known: frozenset[str] | None) -> bool:
        if keyword == "$ref":
            return True
        return keyword not in self.without and (known is None or keyword in known)

    def _reversed(
        self, node: dict[str, Any], path: str, dialect: Dialect, notes: dict[str, Any]
    ) -> None:
        """Where permitting more inside would permit less outside, the whole is described."""
        for keyword in ("not", "if"):
            if keyword in node and not self.is_exact(node[keyword], path, dialect):
                notes[keyword] = node.pop(keyword)
        if "oneOf" in node and not all(
            self.is_exact(branch, path, dialect) for branch in node["oneOf"]
        ):
            notes["oneOf"] = node.pop("oneOf")
        if {"contains", "maxContains"} <= node.keys() and not self.is_exact(
            node["contains"], path, dialect
        ):
            notes["maxContains"] = node.pop("maxContains")

    def _patterns(
        self, node: dict[str, Any], path: str, dialect: Dialect, notes: dict[str, Any]
    ) -> None:
        pattern = node.get("pattern")
        if pattern is None or dialect.pattern == "any":
            return
        written: str | None = None
        if dialect.pattern == "anchored":
            written = _anchored(pattern)
        elif dialect.pattern == "python" and is_python_pattern(pattern):
            written = pattern
        if written is None:
            notes["pattern"] = node.pop("pattern")
        elif written != pattern:
            node["pattern"] = written
            self.say("rewritten", path, "the pattern is anchored")


def _any_value(levels: int) -> list[Any]:
    """Alternatives that are any value, lists in lists to some depth."""
    found: list[Any] = [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object", "properties": {}},
    ]
    if levels:
        found.append({"type": "array", "items": {"anyOf": _any_value(levels - 1)}})
    return [*found, {"type": "null"}]


def _move_dependent(node: dict[str, Any], notes: dict[str, Any]) -> None:
    """Describe keywords that would mean something else without those that are described."""
    if not notes:
        return
    for gone, dependent in (
        (("if",), ("then", "else")),
        (("properties", "patternProperties"), ("additionalProperties",)),
        (("prefixItems",), ("items",)),
        (("minContains",), ("contains", "maxContains")),
        (("contains",), ("minContains", "maxContains")),
        (tuple(_EVALUATE), ("unevaluatedProperties", "unevaluatedItems")),
    ):
        if any(keyword in notes for keyword in gone):
            for keyword in dependent:
                if keyword in node and not (keyword == "items" and node[keyword] in EMPTY):
                    notes[keyword] = node.pop(keyword)


_EVALUATE = frozenset(
    {
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "properties",
        "patternProperties",
        "additionalProperties",
        "prefixItems",
        "items",
        "contains",
        "dependentSchemas",
    }
)


@lru_cache(maxsize=512)
def is_python_pattern(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            return False
    return True


_NOT_OF_GRAMMARS = re.compile(r"\(\?<?[=!]|\\[1-9]|\\k<|\\[bBpP]")


def _anchored(pattern: str) -> str | None:
    """The pattern for an engine that matches the whole text; `None` where it has none."""
    if _NOT_OF_GRAMMARS.search(pattern):
        return None
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    body = pattern[1 if begins else 0 : -1 if ends else None]
    if re.search(r"(?<![\\\[])[\^$]", body):
        return None
    if "|" in body:
        if begins or ends:
            return pattern if _has_no_top_alternation(body) and begins and ends else None
        body = f"(?:{body})"
    return f"{'^' if begins else _ANY_START}{body}{'$' if ends else _ANY_END}"


_ANY_START, _ANY_END = r"^[\s\S]*", r"[\s\S]*$"


_QUOTED = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
"""A character after a backslash, and a class of characters."""


def _has_no_top_alternation(body: str) -> bool:
    depth = 0
    for char in _QUOTED.sub("", body):
        if char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            return False
    return True
