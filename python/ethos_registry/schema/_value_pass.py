"""The root as an object; unions, enums and types as a dialect writes them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from ethos_registry.schema._compilation import EMPTY, Compilation, NoSchemaError
from ethos_registry.schema._conjunction import ABOUT, both, is_same, paragraphs, types_of
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._fixed_values import (
    add_type,
    choices_of,
    fits_type,
    fixed_values,
    listed_values,
    value_types,
)


class ValuePass(Compilation):
    """The root of a schema, and the values of each schema.

    Unions at the root are merged into one object; what that loses is for the description.
    """

    def _root(self, root: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """An object without what the provider refuses there, and what has to be said instead."""
        root = self.written_out(root)
        if root is False:
            raise NoSchemaError("the schema permits nothing")
        node: dict[str, Any] = {} if root is True else dict(root)
        if node.get("type") != "object":
            if "type" in node and "object" not in types_of(node):
                raise NoSchemaError("the root is not an object")
            node["type"] = "object"
            self.say("rewritten", "", "the root has the type object")
        notes: dict[str, Any] = {}
        refused = self.dialect.refused_at_root
        if "allOf" in refused and "allOf" in node:
            parts = node["allOf"]
            node, rest = self.conjunction(node)
            if len(rest) < len(parts):
                self.say("rewritten", "", "`allOf` at the root is merged")
            if rest:
                notes["allOf"] = rest
        for keyword in ("anyOf", "oneOf"):
            if keyword in refused and keyword in node:
                self._union_at_root(node, keyword, notes)
        for keyword in ("not", "enum", "const", "if", "then", "else"):
            if keyword in refused and keyword in node:
                notes[keyword] = node.pop(keyword)
        if notes and "unevaluatedProperties" in node:  # it looks at what the others evaluated
            notes["unevaluatedProperties"] = node.pop("unevaluatedProperties")
        self.widened += len(notes)
        return node, notes

    def _union_at_root(self, node: dict[str, Any], keyword: str, notes: dict[str, Any]) -> None:
        """Properties of all branches in one object; the alternatives are for the description."""
        branches = [
            {} if branch is True else branch
            for branch in (self.flat(self.written_out(item)) for item in node.pop(keyword))
            if branch is True or (branch and _may_be_object(branch)) or branch == {}
        ]
        if not branches:
            raise NoSchemaError(f"no branch of `{keyword}` at the root is an object")
        own = node.get("properties", {})
        found: dict[str, list[Any]] = {name: [schema] for name, schema in own.items()}
        for branch in branches:
            for name, schema in branch.get("properties", {}).items():
                known = found.setdefault(name, [])
                if name not in own and not any(is_same(schema, item) for item in known):
                    known.append(schema)
        properties = {name: _either(schemas) for name, schemas in found.items()}
        required = dict.fromkeys(node.get("required", ()))
        required.update(
            (name, None)
            for name in branches[0].get("required", ())
            if all(name in branch.get("required", ()) for branch in branches)
        )
        if properties:
            node["properties"] = properties
        if required:
            node["required"] = list(required)
        others = node.get("additionalProperties", True)
        if isinstance(others, dict) and properties.keys() - own:
            notes["additionalProperties"] = node.pop("additionalProperties")
        elif others is True and all(
            branch.get("additionalProperties") is False and "patternProperties" not in branch
            for branch in branches
        ):
            node["additionalProperties"] = False
        notes[keyword] = [_rest(branch, properties) for branch in branches]

    # Values

    def _values(
        self,
        node: dict[str, Any],
        path: str,
        dialect: Dialect,
        notes: dict[str, Any],
        known: frozenset[str] | None,
    ) -> None:
        if node.get("enum") == []:
            notes["enum"] = node.pop("enum")
        if "const" in node and not dialect.const and "enum" not in node:
            node["enum"] = [node.pop("const")]
            add_type(node)
        if dialect.types == "joined" or (known is not None and "anyOf" not in known):
            _join_types(node)
        if "oneOf" in node and "anyOf" not in node:
            is_known = (known is None or "oneOf" in known) and "oneOf" not in self.without
            if dialect.one_of_disjoint and not _are_disjoint(node["oneOf"]):
                is_known = False
            if not is_known or not all(
                self.is_exact(branch, path, dialect) for branch in node["oneOf"]
            ):
                node["anyOf"] = node.pop("oneOf")
                self.widened += 1
                self.say("rewritten", path, "`oneOf` is written as `anyOf`")
        if dialect.types == "one":
            self._single_type(node, notes)
        if dialect.string_enums and "enum" in node:
            if not all(isinstance(value, str) for value in node["enum"]):
                add_type(node)
                notes["enum"] = node.pop("enum")
            elif node.setdefault("type", "string") != "string":
                notes["enum"] = node.pop("enum")

    def _unite(self, node: dict[str, Any], path: str) -> None:
        """Merge `allOf` and unions of one branch, as far as that can be stated."""
        is_new = True
        while is_new:
            is_new = False
            if "allOf" in node:
                merged, rest = self.conjunction(node)
                if len(rest) < len(node["allOf"]):
                    self.say("rewritten", path, "`allOf` is merged")
                    is_new = True
                replace_node(node, {**merged, "allOf": rest} if rest else merged)
            for keyword in ("anyOf", "oneOf"):
                if keyword in node:
                    is_new = self._branches(node, keyword, path) or is_new

    def _branches(self, node: dict[str, Any], keyword: str, path: str) -> bool:
        """Drop branches that permit nothing, and write described choices as one enum.

        Returns whether the one branch that is left was merged.
        """
        branches = [item for item in node[keyword] if item is not False and not is_nothing(item)]
        if branches and len(branches) < len(node[keyword]):
            self.say("rewritten", path, f"a branch of `{keyword}` that permits nothing is dropped")
            node[keyword] = branches
        choices = choices_of(node[keyword])
        if choices is not None and "enum" not in node and "const" not in node:
            values, lines = choices
            del node[keyword]
            node["enum"] = values
            add_type(node)
            node["description"] = paragraphs(node.get("description"), "\n".join(lines))
            self.say("rewritten", path, "choices with descriptions are one enum")
        elif len(branches) == 1:
            rest = {name: value for name, value in node.items() if name != keyword}
            found = both(branches[0], rest)
            if isinstance(found, dict):
                replace_node(node, found)
                return True
        return False

    def _single_type(self, node: dict[str, Any], notes: dict[str, Any]) -> None:
        """One type a schema: `nullable` for null, `anyOf` for several."""
        types = types_of(node)
        values = node.get("enum")
        if values is not None and not types:
            types = value_types(values)
        is_nullable = "null" in types
        if values is not None and None in values:
            node["enum"] = [value for value in values if value is not None] or values
        branches = node.get("anyOf")
        if branches is not None:
            rest = [item for item in branches if not _is_null(item)]
            if len(rest) < len(branches) and rest:
                is_nullable = is_nullable or not types
                node["anyOf"] = rest
                if len(rest) == 1:
                    del node["anyOf"]
                    found = both(rest[0], node)
                    if isinstance(found, dict):
                        replace_node(node, found)
                        types = types_of(node) or types
                        is_nullable = is_nullable or "null" in types
                    else:
                        node["anyOf"] = rest
        types = [name for name in types if name != "null"] or types
        if "anyOf" in node:
            self._push_into_branches(node, notes)
        elif len(types) == 1:
            node["type"] = types[0]
        elif types:
            node.pop("type", None)
            node["anyOf"] = [_of_type(node, name) for name in types]
            for name in list(node):
                if name not in ("anyOf", *ABOUT):
                    del node[name]
            self._push_into_branches(node, notes)
        if is_nullable and types != ["null"]:
            node["nullable"] = True

    def _push_into_branches(self, node: dict[str, Any], notes: dict[str, Any]) -> None:
        """Nothing may stand beside `anyOf`."""
        if "default" in node:
            notes["default"] = node.pop("default")
        rest = {name: value for name, value in node.items() if name not in ("anyOf", *ABOUT)}
        if rest:
            pushed = [both(branch, rest) for branch in node["anyOf"]]
            for name in rest:
                del node[name]
            if all(isinstance(branch, dict) for branch in pushed):
                node["anyOf"] = pushed
            else:
                notes.update(rest)


def _may_be_object(branch: dict[str, Any]) -> bool:
    return "type" not in branch or "object" in types_of(branch)


def _either(schemas: list[Any]) -> Any:
    """One schema for any of several."""
    if len(schemas) == 1:
        return schemas[0]
    values: list[Any] = []
    for schema in schemas:
        found = fixed_values(schema)
        if found is None:
            return {"anyOf": schemas}
        values += [value for value in found if not any(is_same(value, item) for item in values)]
    node: dict[str, Any] = {"enum": values}
    add_type(node)
    return node


def _rest(branch: dict[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """What a branch states that the merged object does not."""
    rest: dict[str, Any] = {}
    for keyword, value in branch.items():
        if keyword == "type":
            continue
        if keyword == "properties":
            value = {
                name: schema
                for name, schema in value.items()
                if not is_same(schema, properties[name])
            }
            if not value:
                continue
        rest[keyword] = value
    return rest


def replace_node(node: dict[str, Any], other: dict[str, Any]) -> None:
    node.clear()
    node.update(other)


def is_nothing(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.keys() == {"not"} and schema["not"] in EMPTY


def _are_disjoint(branches: list[Any]) -> bool:
    """Whether no value fits two branches: by type, or by the value of a required property."""
    return not any(
        _may_overlap(first, second) for first, second in itertools.combinations(branches, 2)
    )


def _may_overlap(first: Any, second: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return True
    if _differ(first, second):
        return False
    if first.get("type") != "object" or second.get("type") != "object":
        kinds = [
            {"number" if name == "integer" else name for name in types_of(branch)}
            for branch in (first, second)
        ]
        return not all(kinds) or bool(kinds[0] & kinds[1])
    one, other = first.get("properties", {}), second.get("properties", {})
    return not any(
        _differ(one.get(name), other.get(name))
        for name in {*first.get("required", ())} & {*second.get("required", ())}
    )


def _differ(first: Any, second: Any) -> bool:
    """Whether both are lists of values that have none in common."""
    values = [listed_values(schema) for schema in (first, second) if isinstance(schema, dict)]
    if len(values) < 2 or None in values:
        return False
    return not any(is_same(one, other) for one in values[0] or () for other in values[1] or ())


def _is_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return schema.get("type") == "null" or schema.get("enum") == [None] or schema == {"const": None}


def _join_types(node: dict[str, Any]) -> None:
    """A union of bare types as a list of them."""
    branches = node.get("anyOf")
    if branches is None or "type" in node:
        return
    if all(isinstance(item, dict) and item.keys() == {"type"} for item in branches):
        node["type"] = list(dict.fromkeys(name for item in branches for name in types_of(item)))
        del node["anyOf"]


def describe_in_branch(node: dict[str, Any]) -> None:
    """Put the description into the first branch: nothing may stand beside `anyOf`."""
    about = node.pop("description", None)
    if about is not None:
        first = node["anyOf"][0]
        first = {} if isinstance(first, bool) else dict(first)
        text = first.get("description")
        first["description"] = f"{about}\n\n{text}" if text else about
        node["anyOf"] = [first, *node["anyOf"][1:]]


_BY_TYPE = {
    "string": ("format", "pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": (
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
    ),
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
    ),
}


def _of_type(node: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What a schema states of the values of one type."""
    relevant = _BY_TYPE.get("number" if kind == "integer" else kind, ())
    found = {"type": kind, **{name: node[name] for name in relevant if name in node}}
    if "enum" in node:
        found["enum"] = [value for value in node["enum"] if fits_type(value, [kind])]
    for name in ("not", "oneOf", "allOf", "if", "then", "else", "const"):
        if name in node:
            found[name] = node[name]
    return found
