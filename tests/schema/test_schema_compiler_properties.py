"""Random schemas and values: what the author's schema takes, the provider's form takes too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ethos_registry import _core
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._sent_arguments import sent_arguments
from ethos_registry.schema._compilation import NoSchemaError
from ethos_registry.schema._compiler import compile_schema
from ethos_registry.schema._drafts import schema_of_2020_12
from ethos_registry.types._json_values import read_only
from ethos_registry.types._schema_rules import ordered_schema

NAMES = st.sampled_from(["a", "b", "$top", "unit price"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab", 0.5]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
"""Without names that are renamed: inside a value of any kind they stay."""
LEAVES = st.one_of(
    st.just({}),
    st.just(True),
    st.builds(
        lambda kind: {"type": kind},
        st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]),
    ),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=2)),
    st.builds(lambda value: {"const": value}, VALUES),
    st.sampled_from(
        [
            {"type": "string", "minLength": 1, "maxLength": 1},
            {"type": "string", "pattern": "^a"},
            {"type": "string", "format": "uri"},
            {"type": "integer", "exclusiveMinimum": 0, "maximum": 2},
            {"type": ["string", "null"]},
            {"$ref": "#/$defs/node"},
        ]
    ),
)


def branches(keyword: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda parts: {keyword: parts}, st.lists(inner, min_size=1, max_size=2))


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required, others: {
                "type": "object",
                "properties": properties,
                "required": [name for name in properties if name in required],
                "additionalProperties": others,
            },
            st.dictionaries(NAMES, inner, max_size=2),
            st.sets(NAMES, max_size=1),
            st.booleans(),
        ),
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 2}, inner),
        branches("anyOf", inner),
        branches("oneOf", inner),
        branches("allOf", inner),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("name", DIALECTS)
@given(st.dictionaries(NAMES, SCHEMAS, max_size=2), SCHEMAS, VALUES, st.data())
def test_form_takes_what_the_schema_takes(
    name: str, properties: Any, node: Any, others: Any, data: Any
) -> None:
    definitions = {"node": {} if node == {"$ref": "#/$defs/node"} else node}
    raw = {"type": "object", "properties": properties, "$defs": definitions}
    schema = json.loads(json.dumps(ordered_schema(read_only(raw))))
    try:
        author = _core.SchemaValidator(schema)
        compiled = compile_schema(schema, DIALECTS[name])
    except (ValueError, NoSchemaError):
        assume(False)
        return
    form = _core.SchemaValidator(schema_of_2020_12(json.loads(json.dumps(compiled.schema))))
    value = data.draw(
        st.fixed_dictionaries(
            {}, optional={key: st.just(others) | VALUES for key in [*properties, "a"]}
        )
    )
    sent = {own: new for new, own in compiled.names.items()}
    given_value = renamed(value, sent)
    is_valid = author.is_valid(value)
    if is_valid:
        is_deep = name == "moonshot" and has_list_of_lists(value)
        assert is_deep or form.is_valid(given_value), compiled.schema
    elif not compiled.changes:
        assert not form.is_valid(given_value), compiled.schema
    back = sent_arguments(read_only(schema), strict=False)
    if is_valid:
        assert (given_value if back is None else back.restored(given_value)) == value


def has_list_of_lists(value: Any) -> bool:
    """Moonshot needs a type everywhere, so any value is written out: two levels of lists."""
    if isinstance(value, dict):
        return any(map(has_list_of_lists, value.values()))
    return isinstance(value, list) and any(
        isinstance(item, list) or has_list_of_lists(item) for item in value
    )


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value
