"""The root of a schema: an object, without what a provider refuses there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.schema._compilation import Compilation, NoSchemaError
from ethos_registry.schema._conjunction import is_same, types_of
from ethos_registry.schema._fixed_values import add_type, fixed_values


class RootPass(Compilation):
    """Merges unions at the root into one object; what that loses is for the description."""

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
            node = self._merged_root(node, notes)
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

    def _merged_root(self, node: dict[str, Any], notes: dict[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in node.items() if name != "allOf"}
        merged, rest = self.conjunction(node["allOf"], own)
        if len(rest) < len(node["allOf"]):
            self.say("rewritten", "", "`allOf` at the root is merged")
        if rest:
            notes["allOf"] = rest
        return merged

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
