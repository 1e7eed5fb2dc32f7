"""Strict tools, and registries that validate, hold arguments against the schema as it stands."""

import pytest

from ethos_registry import ConfigError, Tool, ToolRegistry, ok
from ethos_registry.registry import DispatchContext

pytestmark = pytest.mark.every_python

SCHEMA = {
    "type": "object",
    "properties": {"limit": {"type": "integer", "minimum": 1}},
    "required": ["limit"],
    "additionalProperties": False,
}


def tool(log, *, strict=False, schema=SCHEMA) -> Tool:
    async def execute(args, context):
        log.append(args)
        return ok("ran")

    return Tool("search", "Searches.", schema, execute, strict=strict)


async def call(registry, args):
    [result] = await registry.execute_parallel([{"id": "1", "name": "search", "args": args}])
    return result


@pytest.mark.parametrize(("strict", "validate"), [(True, False), (False, True), (True, True)])
async def test_wrong_arguments_are_refused_without_coercion_and_the_tool_does_not_run(
    strict, validate
):
    log = []
    registry = ToolRegistry([tool(log, strict=strict)], validate_arguments=validate)
    result = await call(registry, {"limit": "many"})
    assert (result.result.code, result.result.reason) == ("input_invalid", "invalid_args")
    assert result.text == "limit: should be a whole number, got 'many'"
    assert log == []
    assert (await call(registry, '{"limit": 5}')).ok
    assert log == [{"limit": 5}]


async def test_other_tools_get_their_arguments_unchecked():
    log = []
    registry = ToolRegistry([tool(log)])
    assert (await call(registry, {"limit": "5", "more": 1})).ok
    assert log == [{"limit": "5", "more": 1}]


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1"])
def test_a_schema_that_cannot_be_checked_in_linear_time_is_refused_at_registration(pattern):
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    with pytest.raises(ConfigError, match="search"):
        ToolRegistry([tool([], schema=schema, strict=True)])


async def test_the_schema_of_the_registration_counts_whatever_is_forced_into_the_tool():
    log = []
    strict = tool(log, strict=True)
    registry = ToolRegistry([strict])
    dict.__setitem__(strict.schema["properties"], "limit", {})
    assert not (await call(registry, {"limit": "many"})).ok


@pytest.mark.parametrize("wrong", [1, None, "yes"])
def test_validate_arguments_is_a_boolean(wrong):
    with pytest.raises(ConfigError, match="validate_arguments"):
        ToolRegistry(validate_arguments=wrong)


@pytest.mark.parametrize(
    "join",
    [
        lambda validating, other: ToolRegistry.merge([validating, other]),
        lambda validating, other: ToolRegistry.merge([validating, other]).for_turn(),
        lambda validating, other: ToolRegistry.merge([validating, other]).freeze(),
        lambda validating, other: ToolRegistry.merge([validating, other.freeze()]),
        lambda validating, other: validating.turn(DispatchContext(), lambda _: other).registry,
        lambda validating, other: (
            validating.turn(DispatchContext(), lambda _: other.all()).registry
        ),
        lambda validating, other: ToolRegistry.merge([other, validating]).for_turn().freeze(),
    ],
    ids=["merge", "turn", "freeze", "frozen", "forged registry", "forged tools", "second"],
)
async def test_a_registry_that_validates_does_so_for_tools_that_join_it(join, request):
    log = []
    validating, other = ToolRegistry(validate_arguments=True), ToolRegistry()
    (validating if "second" in request.node.name else other).register(tool(log))
    result = await call(join(validating, other), {"limit": "many"})
    assert result.text == "limit: should be a whole number, got 'many'"
    assert log == []


async def test_tools_that_a_registry_does_not_validate_stay_so_where_the_first_does_not():
    log = []
    merged = ToolRegistry.merge([ToolRegistry(), ToolRegistry([tool(log)])])
    assert (await call(merged, {"limit": "many"})).ok


def test_a_schema_that_cannot_be_checked_is_refused_when_its_tool_joins():
    schema = {"type": "object", "properties": {"a": {"pattern": "(?=a)"}}}
    validating, other = (
        ToolRegistry(validate_arguments=True),
        ToolRegistry([tool([], schema=schema)]),
    )
    with pytest.raises(ConfigError, match="search"):
        ToolRegistry.merge([validating, other])
