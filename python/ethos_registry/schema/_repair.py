"""Wrong arguments that have one reading: JSON as text, numbers as text, null for "not given".

Nothing here runs before validation has failed, and what is returned was validated as a whole.
Text that the schema takes as text is never read as anything else, and cut text is never completed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ethos_registry import _core
from ethos_registry.schema._conjunction import types_of
from ethos_registry.schema._fixed_values import listed_values, type_of
from ethos_registry.schema._problems import path_text, wrong_root
from ethos_registry.schema._references import item_schema, nodes_of, references_of, target_of
from ethos_registry.types._call import Repair, RepairKind, RepairLevel
from ethos_registry.types._json_values import MAX_DEPTH

Path: TypeAlias = tuple[int | str, ...]
FailingPaths: TypeAlias = Callable[[Any], Sequence[Path]]
"""Where arguments fail; empty if they are valid."""
Parse: TypeAlias = Callable[[str], Any]
"""Strict JSON text to a value; raises an exception for anything else."""

MAX_ROUNDS = 16
"""A repair may show further places that fail; one validation reports at most 64 places."""
MAX_NUMBER_CHARS = 400

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CONTROLS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_TRAILING = re.compile(r"(?:[}\]\s]|```|</tool_call>)+")
_SEVERAL = re.compile(r"[,;\[\n\r]")
"""What text has that may be meant as more than one item."""


class ArgumentRepair(NamedTuple):
    """The repairs as an entry of a registry has them, for the steps of a call."""

    parse: Parse
    """Strict JSON text to a value."""

    def text(self, text: str, level: RepairLevel) -> tuple[Any, list[Repair]] | None:
        """The value of text that is not JSON, with what was done; `None` unless it has one reading.

        The whole of the arguments is text.
        """
        repairs = []
        escaped = _STRING.sub(_with_escaped_controls, text)
        if escaped != text:
            repairs.append(Repair("", "raw_control"))
            value = _parsed(self.parse, escaped)
            if value is not None:
                return value, repairs
        escaped = escaped.lstrip()
        try:
            _, end = json.JSONDecoder().raw_decode(escaped)
        except (ValueError, RecursionError):
            return None
        value, rest = _parsed(self.parse, escaped[:end]), escaped[end:]
        if type(value) is not dict:
            return None
        second = _parsed(self.parse, rest)
        if type(second) is dict and json.dumps(second) == json.dumps(value):
            return value, [*repairs, Repair("", "doubled_json")]
        if level == "all" and _TRAILING.fullmatch(rest):
            return value, [*repairs, Repair("", "trailing_text")]
        return None

    def whole(self, text: str) -> tuple[dict[str, Any], str] | None:
        """The object that arguments are which came as JSON text of JSON text, up to twice.

        With the message about text as arguments.
        """
        value: Any = text
        for _ in range(2):
            value = _parsed(self.parse, value)
            if type(value) is not str:
                break
        return (value, wrong_root(text)) if type(value) is dict else None

    def values(
        self,
        args: Any,
        schema: Mapping[str, Any],
        failing: FailingPaths,
        level: RepairLevel,
        restore: Callable[[Any], Any] | None = None,
    ) -> tuple[Any, list[Repair]] | None:
        """Arguments that `failing` takes, with what was done; `None` if there is no one reading.

        `args` stay as they are. `restore` gives what was JSON text the tool's own names.

        >>> schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
        >>> def failing(args):
        ...     return [] if isinstance(args["limit"], int) else [("limit",)]
        >>> ArgumentRepair(json.loads).values({"limit": "5"}, schema, failing, "safe")
        ({'limit': 5}, [Repair(path='limit', kind='number_text')])
        """
        reader = _Reader(schema, self.parse, level)
        repairs: list[Repair] = []
        paths = failing(args)
        for _ in range(MAX_ROUNDS):
            if not paths:
                return args, repairs
            changed: set[Path] = set()
            copied: set[Path] = set()
            has_new_names = False
            for path in sorted(dict.fromkeys(paths), key=len):
                if any(path[:length] in changed for length in range(len(path))):
                    continue
                found = reader.reading(args, path)
                if found is None:
                    continue
                kind, value = found
                args = _changed(args, path, value, copied, is_removed=kind == "null_as_absent")
                changed.add(path)
                repairs.append(Repair(path_text(path) if path else "", kind))
                has_new_names |= kind == "json_text"
            if not changed:
                return None
            if has_new_names and restore is not None:
                args = restore(args)
            paths = failing(args)
        return None if paths else (args, repairs)


def _with_escaped_controls(string: re.Match[str]) -> str:
    text = string[0]
    for raw, escape in _CONTROLS.items():
        text = text.replace(raw, escape)
    return text


def _parsed(parse: Parse, text: str) -> Any:
    """The value of JSON text; `None` for text that is not JSON, and for none."""
    if not text or text.isspace():
        return None
    try:
        return parse(text)
    except Exception:
        return None


def _changed(
    value: Any, path: Path, new: Any, copied: set[Path], *, is_removed: bool, depth: int = 0
) -> Any:
    """A copy of a value that differs at one place; what is in `copied` is changed itself."""
    step, here = path[depth], path[:depth]
    copy: Any = value
    if here not in copied:
        copy = list(value) if isinstance(value, list | tuple) else dict(value)
        copied.add(here)
    if depth + 1 < len(path):
        deeper = copy[step]
        copy[step] = _changed(deeper, path, new, copied, is_removed=is_removed, depth=depth + 1)
    elif is_removed:
        del copy[step]
    else:
        copy[step] = new
    return copy


class _Reader:
    """What a value at one place can mean under a schema."""

    def __init__(self, schema: Mapping[str, Any], parse: Parse, level: RepairLevel) -> None:
        self.schema = schema
        self.parse = parse
        self.has_all = level == "all"

    def reading(self, args: Any, path: Path) -> tuple[RepairKind, Any] | None:
        """The kind of repair and the value for the place; `None` if it has no one reading."""
        value: Any = args
        try:
            for step in path:
                value = value[step]
        except (KeyError, IndexError, TypeError):
            return None  # what is missing
        if not path:
            return None
        types = self.types(self.schema, path, MAX_DEPTH)
        if value is None and "null" not in types:
            return ("null_as_absent", None) if self._is_optional(path) else None
        if type(value) is str and "string" not in types:
            found = self._of_text(value, types)
            if found is not None:
                return found
        if self.has_all and types - {"null"} == {"array"} and self._is_item(value, path):
            return "single_as_list", [value]
        return None

    def _of_text(self, text: str, types: frozenset[str]) -> tuple[RepairKind, Any] | None:
        if text in ("true", "false"):
            return ("boolean_text", text == "true") if "boolean" in types else None
        if text == "null":
            return ("null_text", None) if self.has_all and "null" in types else None
        if len(text) <= MAX_NUMBER_CHARS and _NUMBER.fullmatch(text):
            if "integer" in types and _INTEGER.fullmatch(text):
                return "number_text", int(text)
            number = float(text)
            return ("number_text", number) if "number" in types and math.isfinite(number) else None
        value = _parsed(self.parse, text)
        if (type(value) is dict and "object" in types) or (
            type(value) is list and "array" in types
        ):
            return "json_text", value
        return None

    def _is_item(self, value: Any, path: Path) -> bool:
        """Whether a value is one item of the list at a place, and of no more than one."""
        if value is None or type(value) is list:
            return False
        if type(value) is str:
            if not value.strip() or _SEVERAL.search(value):
                return False
            if type(_parsed(self.parse, value)) is dict:  # it may be meant as an object
                return False
        return type_of(value) in self.types(self.schema, (*path, 0), MAX_DEPTH)

    def types(self, schema: Any, path: Path, levels: int) -> frozenset[str]:
        """The types that a schema may permit at a place; too many rather than too few."""
        if schema is False:
            return frozenset()
        if not isinstance(schema, Mapping) or levels == 0:
            return _ANY
        found = self._own_types(schema) if not path else _ANY
        for inner in _schemas_of_step(schema, path[0]) if path else ():
            found &= self.types(inner, path[1:], levels - 1)
        for reference in references_of(schema):
            found &= self.types(target_of(self.schema, reference), path, levels - 1)
        for part in schema.get("allOf") or ():
            found &= self.types(part, path, levels - 1)
        for keyword in ("anyOf", "oneOf"):
            if schema.get(keyword):
                branches = [self.types(part, path, levels - 1) for part in schema[keyword]]
                found &= frozenset().union(*branches)
        return found

    def _own_types(self, schema: Mapping[str, Any]) -> frozenset[str]:
        found = _ANY
        if "type" in schema:
            named = types_of(dict(schema))
            found = frozenset(named) | ({"integer"} if "number" in named else set())
        values = listed_values(schema)
        return found if values is None else found & frozenset(map(type_of, values))

    def _is_optional(self, path: Path) -> bool:
        """Whether a place is a property that the schema names; one that is required fails later."""
        *outer, name = path
        schemas: list[Any] = [self.schema]
        for step in outer:
            nodes = nodes_of(self.schema, schemas)
            schemas = [inner for node in nodes for inner in _schemas_of_step(node, step)]
        nodes = nodes_of(self.schema, schemas)
        return any(name in (node.get("properties") or ()) for node in nodes)


_ANY = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _schemas_of_step(schema: Mapping[str, Any], step: int | str) -> list[Any]:
    """The schemas of a property or an item."""
    if isinstance(step, int):
        found = item_schema(schema, step)
        return [] if found is None else [found]
    properties = schema.get("properties") or {}
    matching = [
        item
        for pattern, item in (schema.get("patternProperties") or {}).items()
        if _matches(pattern, step)
    ]
    if step in properties:
        return [properties[step], *matching]
    others = schema.get("additionalProperties")
    return matching or ([] if others is None else [others])


def _matches(pattern: str, name: str) -> bool:
    """As the validation finds it: in linear time."""
    found = _pattern(pattern)
    return found is not None and found.is_valid(name)


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> _core.SchemaValidator | None:
    try:
        return _core.SchemaValidator({"pattern": pattern})
    except ValueError:
        return None
