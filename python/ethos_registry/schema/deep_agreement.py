"""Two schemas of one value compared at every depth: what one permits, the other must accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ethos_registry.schema.permitted import alternatives, parts, permitted_types, permitted_values
from ethos_registry.schema.shown import shown

__all__ = ["Side", "disagreements"]

_MAX_DEPTH = 8
"""How many levels of fields and items are compared."""
_MAX_VALUES_SHOWN = 5


class Side(NamedTuple):
    """A schema and the definitions that its references lead to."""

    schema: Any
    definitions: Mapping[str, Any]

    def at(self, schema: Any) -> Side:
        """Another schema of the same document."""
        return Side(schema, self.definitions)

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """The schemas that a value must all match."""
        return parts(self.schema, self.definitions)

    @property
    def types(self) -> frozenset[str] | None:
        """The permitted types, if they are restricted."""
        return permitted_types(self.schema, self.definitions)


def disagreements(
    place: str, declared: Side, accepted: Side, depth: int = _MAX_DEPTH
) -> Iterator[str]:
    """Why a value that `declared` permits is refused by `accepted`: sentences with the way out."""
    if declared == accepted:
        return
    permitted, taken = declared.types, accepted.types
    if permitted is not None and taken is not None and (wrong := _beyond(permitted, taken)):
        yield (
            f"the schema permits type {_listed(wrong)} for `{place}`, but the function accepts "
            f"{_listed(sorted(taken))}; change the schema's `type` or the annotation"
        )
        return
    values = permitted_values(*accepted)
    if values is not None:
        yield from _values(place, permitted_values(*declared), values)
    if depth > 0:
        for one, other in _pairs(declared, accepted):
            yield from _fields(place, one, other, depth - 1)
            yield from _items(place, one, other, depth - 1)


def _beyond(permitted: frozenset[str], taken: frozenset[str]) -> list[str]:
    """The types that are permitted and not accepted; a whole number is a number."""
    whole = {"integer"} if "number" in taken else set()
    return sorted(permitted - taken - whole)


def _values(
    place: str, permitted: Mapping[str, Any] | None, taken: Mapping[str, Any]
) -> Iterator[str]:
    if permitted is None:
        yield (
            f"the function accepts only {_some(taken)} for `{place}`, and the schema permits other "
            "values; list them under `enum`, or widen the annotation"
        )
        return
    beyond = {text: value for text, value in permitted.items() if text not in taken}
    if beyond:
        yield (
            f"the schema permits {_some(beyond)} for `{place}`, but the function accepts only "
            f"{_some(taken)}; shorten `enum`, or widen the annotation"
        )


def _pairs(declared: Side, accepted: Side) -> Iterator[tuple[Side, Side]]:
    """The alternatives of both sides that describe the same kind of value.

    An alternative for which the function has several of the kind is not compared: any may fit.
    """
    for kind in ("object", "array"):
        theirs = [side for side in _branches(accepted) if _may_be(side, kind)]
        if len(theirs) != 1:
            continue
        for ours in _branches(declared):
            if _may_be(ours, kind):
                yield ours, theirs[0]


def _branches(side: Side) -> list[Side]:
    """The alternatives of a union at the root of a schema; the schema itself if it has no union."""
    unions = [union for part in side.parts for union in alternatives(part)]
    if len(unions) != 1:
        return [side]
    return [branch for item in unions[0] for branch in _branches(side.at(item))]


def _may_be(side: Side, kind: str) -> bool:
    types = side.types
    return types is not None and kind in types


def _properties(side: Side) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in side.parts:
        for name, schema in part.get("properties", {}).items():
            found.setdefault(name, []).append(schema)
    return found


def _required(side: Side) -> set[str]:
    return {name for part in side.parts for name in part.get("required", ())}


def _others(side: Side) -> Any:
    """The `additionalProperties` of fields that are not described; `None` if it is absent."""
    stated = [part["additionalProperties"] for part in side.parts if "additionalProperties" in part]
    return False if False in stated else stated[0] if stated else None


def _fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    ours, theirs = _properties(declared), _properties(accepted)
    our_others, their_others = _others(declared), _others(accepted)
    if not theirs and their_others is None:
        return
    for name in sorted(_required(accepted) - _required(declared)):
        if ours or our_others is False:  # a bare object describes no fields at all
            yield (
                f"the function requires `{place}.{name}`, and the schema does not; add it to "
                f"`required` of `{place}`, or give the field a default"
            )
    for name, schemas in ours.items():
        inner = f"{place}.{name}"
        if name in theirs:
            other: Any = theirs[name][0]
        elif their_others is False:
            yield (
                f"the schema has a property `{inner}`, but the function accepts no such field; "
                "add the field, or remove the property"
            )
            continue
        else:
            other = their_others
        combined = schemas[0] if len(schemas) == 1 else {"allOf": schemas}
        yield from disagreements(inner, declared.at(combined), accepted.at(other), depth)
    yield from _other_fields(place, declared, accepted, depth)


def _other_fields(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    """Fields that neither side describes by name: only what the schema states is compared."""
    ours, theirs = _others(declared), _others(accepted)
    if ours is None or ours is False:
        return
    if theirs is False:
        yield (
            f"the schema permits further fields of `{place}` by `additionalProperties`, but the "
            "function accepts none; set it to false, or accept them"
        )
    elif isinstance(theirs, dict):
        yield from disagreements(f"{place}.*", declared.at(ours), accepted.at(theirs), depth)


def _items(place: str, declared: Side, accepted: Side, depth: int) -> Iterator[str]:
    ours = [part["items"] for part in declared.parts if "items" in part]
    theirs = [part["items"] for part in accepted.parts if "items" in part]
    if not theirs:
        return
    item: Any = ours[0] if len(ours) == 1 else {"allOf": ours} if ours else None
    if isinstance(item, list):  # a tuple before draft 2020-12
        for index, one in enumerate(item):
            yield from disagreements(
                f"{place}[{index}]", declared.at(one), accepted.at(theirs[0]), depth
            )
    elif item is not None:
        yield from disagreements(f"{place}[]", declared.at(item), accepted.at(theirs[0]), depth)


def _listed(types: list[str]) -> str:
    return " or ".join(types)


def _some(values: Mapping[str, Any]) -> str:
    first = [shown(value) for value in list(values.values())[:_MAX_VALUES_SHOWN]]
    more = f" and {len(values) - len(first)} more" if len(values) > len(first) else ""
    return f"{', '.join(first)}{more}"
