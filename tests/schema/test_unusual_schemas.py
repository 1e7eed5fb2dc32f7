"""Unusual schemas of servers have a form for each provider that loses no call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ethos_registry import _core
from ethos_registry.mcp._definitions import RemoteDefinition, argument_validator
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._sent_arguments import sent_arguments
from ethos_registry.schema._compilation import NoSchemaError
from ethos_registry.schema._compiler import compile_schema
from ethos_registry.schema._drafts import schema_of_2020_12
from ethos_registry.schema._strict import strict_form
from ethos_registry.types._json_values import read_only
from provider_rules import RULES
from schema.unusual_schemas import CASES

PROBES = [None, True, 0, -1, 1.5, "", "a", "x" * 70, [], ["a"], [1], {}, {"a": 1}]
WITHOUT_FORM = {"reference_to_document"}
"""What is behind the reference is not fetched, and an embedded document is not followed."""


def read(case: str) -> Any:
    """The schema as the bridge reads it."""
    return RemoteDefinition({"name": "t", "inputSchema": CASES[case][0]}).schema


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value


def without_patterns(schema: Any) -> Any:
    """Without the patterns that the engine of the validator does not have."""
    if isinstance(schema, dict):
        return {
            key: without_patterns(value)
            for key, value in schema.items()
            if not (key == "pattern" and isinstance(value, str) and set(value) & {"(", "p"})
        }
    return [without_patterns(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("case", sorted(CASES.keys() - WITHOUT_FORM))
def test_the_bridge_reads_it(case: str) -> None:
    _, valid, invalid = CASES[case]
    validator = argument_validator("t", read(case))
    for args in valid:
        assert validator.problems(args) is None
    for args in invalid:
        assert validator.problems(args) is not None


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("case", sorted(CASES.keys() - WITHOUT_FORM))
def test_its_form_is_taken_and_loses_no_call(case: str, name: str) -> None:
    schema, (_, valid, invalid) = read(case), CASES[case]
    compiled = compile_schema(schema, DIALECTS[name])
    form = json.loads(json.dumps(compiled.schema))
    assert [problem for rule in RULES[name] for problem in rule(form)] == []
    author = _core.SchemaValidator(without_patterns(json.loads(json.dumps(schema))))
    sent = _core.SchemaValidator(without_patterns(schema_of_2020_12(form)))
    names = {own: new for new, own in compiled.names.items()}
    back = sent_arguments(read_only(json.loads(json.dumps(schema))), strict=False)
    listed = CASES[case][0].get("properties") or ()
    for args in [*valid, *invalid, *({key: probe} for key in listed for probe in PROBES)]:
        given = renamed(args, names)
        if author.is_valid(args):
            assert sent.is_valid(given)
            assert (given if back is None else back.restored(given)) == args
        elif not compiled.changes:
            assert not sent.is_valid(given)


@pytest.mark.parametrize("name", [name for name, each in DIALECTS.items() if each.strict])
@pytest.mark.parametrize("case", sorted(CASES.keys() - WITHOUT_FORM))
def test_its_strict_form_is_valid(case: str, name: str) -> None:
    dialect = DIALECTS[name]
    assert dialect.strict is not None
    try:
        strict = strict_form(compile_schema(read(case), dialect).schema, dialect.strict)
    except NoSchemaError:
        return
    assert _core.SchemaValidator(without_patterns(json.loads(json.dumps(strict.schema))))


@pytest.mark.parametrize("case", sorted(WITHOUT_FORM))
@pytest.mark.parametrize("name", DIALECTS)
def test_without_a_form_it_says_why(case: str, name: str) -> None:
    with pytest.raises(NoSchemaError, match="leads to another document"):
        compile_schema(read(case), DIALECTS[name])
