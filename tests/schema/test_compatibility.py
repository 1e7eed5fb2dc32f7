"""A function against its declared schema: one finding each, with tool, parameter and way out."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from ethos_registry import ConfigError, Tool, ToolContext, ToolError, ToolRegistry, ok, tool
from ethos_registry.schema._arguments import Arguments
from ethos_registry.schema._validate import ArgumentValidator
from stopwatch import assert_ratio_below


def schema_of(properties: dict[str, Any], *required: str, **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)} | others


def refused(function: Callable[..., Any], schema: dict[str, Any]) -> ConfigError:
    """What registering says; making the tool says nothing yet."""
    made = tool(function, name="act", schema=schema)
    registry = ToolRegistry()
    with pytest.raises(ConfigError) as caught:
        registry.register(made)
    assert len(registry) == 0
    assert caught.value.context["tool_name"] == "act"
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError):
        registry.register_all([made])
    return caught.value


def agree(function: Callable[..., Any], schema: dict[str, Any]) -> None:
    ToolRegistry([tool(function, name="act", schema=schema)])


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    row: int


STRING = {"type": "string"}
INTEGER = {"type": "integer"}


class TestNames:
    def test_a_required_name_that_is_no_property(self) -> None:
        def act(path: str) -> None: ...

        error = refused(act, schema_of({"path": STRING}, "path", "mode"))
        assert str(error) == (
            "tool `act`: the schema requires `mode`, which is not one of its properties; describe "
            "it in `properties`, or remove it from `required`"
        )
        assert error.context["field"] == "mode"

    def test_a_property_without_a_parameter(self) -> None:
        def act(path: str) -> None: ...

        error = refused(act, schema_of({"path": STRING, "mode": STRING}, "path"))
        assert str(error) == (
            "tool `act`: the schema has a property `mode`, but the function has no such parameter; "
            "add the parameter or `**kwargs`, or remove it from `properties`"
        )

    def test_a_property_for_the_context(self) -> None:
        def act(path: str, context: ToolContext) -> None: ...

        error = refused(act, schema_of({"path": STRING, "context": STRING}, "path"))
        assert "`context`, but the registry fills that parameter" in str(error)

    def test_keywords_take_every_property(self) -> None:
        def act(path: str, **others: Any) -> None: ...

        agree(act, schema_of({"path": STRING, "mode": STRING}, "path"))

    def test_keywords_take_values_of_their_annotation(self) -> None:
        def act(**others: int) -> None: ...

        agree(act, schema_of({"mode": INTEGER}))
        assert "permits type string for `mode`" in str(refused(act, schema_of({"mode": STRING})))

    def test_a_required_parameter_that_the_schema_lacks(self) -> None:
        def act(path: str, mode: str) -> None: ...

        error = refused(act, schema_of({"path": STRING}, "path"))
        assert str(error) == (
            "tool `act`: parameter `mode` has no default, and the schema does not have it; "
            "describe it in `properties`, or give the parameter a default"
        )
        assert error.context["field"] == "mode"

    def test_a_required_parameter_that_is_optional_in_the_schema(self) -> None:
        def act(path: str, mode: str) -> None: ...

        error = refused(act, schema_of({"path": STRING, "mode": STRING}, "path"))
        assert str(error) == (
            "tool `act`: parameter `mode` has no default, and the schema does not require it; add "
            "it to `required`, or give the parameter a default"
        )

    def test_a_parameter_with_a_default_may_be_left_out_or_required(self) -> None:
        def act(path: str, mode: str = "r") -> None: ...

        agree(act, schema_of({"path": STRING}, "path"))
        agree(act, schema_of({"path": STRING, "mode": STRING}, "path", "mode"))

    def test_an_alias_is_the_name(self) -> None:
        def act(path: Annotated[str, Field(alias="filePath")]) -> None: ...

        agree(act, schema_of({"filePath": STRING}, "filePath"))
        assert "property `path`" in str(refused(act, schema_of({"path": STRING}, "path")))


class TestParametersThatNoModelCouldFill:
    def test_a_positional_only_one(self) -> None:
        def act(path: str, /) -> None: ...

        with pytest.raises(ConfigError, match="tool `act`: parameter `path` is positional-only"):
            tool(act, schema=schema_of({"path": STRING}, "path"))

    def test_more_positional_ones(self) -> None:
        def act(*paths: str) -> None: ...

        with pytest.raises(ConfigError, match=r"tool `act`: parameter `\*paths` has no name"):
            tool(act, schema=schema_of({"paths": STRING}))

    def test_one_whose_type_json_cannot_carry(self) -> None:
        def act(when: Callable[[], int]) -> None: ...

        with pytest.raises(ConfigError, match="tool `act`: parameter `when` has a type that JSON"):
            tool(act, schema=schema_of({"when": STRING}, "when"))


class TestTypes:
    @pytest.mark.parametrize(
        ("annotation", "declared", "wrong", "taken"),
        [
            (int, {"type": "string"}, "string", "integer"),
            (int, {"type": "number"}, "number", "integer"),
            (int, {"type": ["integer", "null"]}, "null", "integer"),
            (str, {"anyOf": [STRING, INTEGER]}, "integer", "string"),
            (bool, {"type": "integer"}, "integer", "boolean"),
            (list[str], {"type": "string"}, "string", "array"),
            (dict[str, int], {"type": "array"}, "array", "object"),
            (int | None, {"enum": [1, "many"]}, "string", "integer or null"),
            (Place, {"$ref": "#/$defs/p"}, "array", "object"),
        ],
    )
    def test_that_the_function_does_not_take(
        self, annotation: Any, declared: dict[str, Any], wrong: str, taken: str
    ) -> None:
        def act(value: Any) -> None: ...

        act.__annotations__["value"] = annotation
        schema = schema_of({"value": declared}, "value", **{"$defs": {"p": {"type": "array"}}})
        assert str(refused(act, schema)) == (
            f"tool `act`: the schema permits type {wrong} for `value`, but the function accepts "
            f"{taken}; change the schema's `type` or the annotation"
        )

    def test_of_items_that_the_function_does_not_take(self) -> None:
        def act(rows: list[list[int]]) -> None: ...

        items = {"type": "array", "items": {"type": "array", "items": STRING}}
        assert "permits type string for `rows[][]`" in str(
            refused(act, schema_of({"rows": items}, "rows"))
        )

    @pytest.mark.parametrize(
        ("annotation", "declared"),
        [
            (float, INTEGER),
            (float | None, {"type": "number"}),
            (Any, {"type": ["string", "array"]}),
            (str, {}),
            (str, True),
            (Place, {"type": "object"}),
            (list[int], {"type": "array", "items": {"type": "integer", "minimum": 1}}),
            (int, {"$ref": "https://example.org/away.json"}),
        ],
    )
    def test_that_it_takes_agree(self, annotation: Any, declared: Any) -> None:
        def act(value: Any) -> None: ...

        act.__annotations__["value"] = annotation
        agree(act, schema_of({"value": declared}, "value"))


class TestValues:
    @pytest.mark.parametrize("annotation", [Literal["red", "blue"], Colour])
    def test_an_enum_that_is_wider(self, annotation: Any) -> None:
        def act(colour: Any) -> None: ...

        act.__annotations__["colour"] = annotation
        declared = {"enum": ["red", "green", "blue"]}
        assert str(refused(act, schema_of({"colour": declared}, "colour"))) == (
            "tool `act`: the schema permits 'green' for `colour`, but the function accepts only "
            "'red', 'blue'; shorten `enum`, or widen the annotation"
        )
        agree(act, schema_of({"colour": {"enum": ["blue"]}}, "colour"))
        agree(act, schema_of({"colour": {"const": "red"}}, "colour"))

    def test_no_enum_where_the_function_takes_some_values_only(self) -> None:
        def act(colour: Literal["red", "blue"]) -> None: ...

        assert str(refused(act, schema_of({"colour": STRING}, "colour"))) == (
            "tool `act`: the function accepts only 'red', 'blue' for `colour`, and the schema "
            "permits other values; list them under `enum`, or widen the annotation"
        )


class TestDefaults:
    def test_one_that_is_not_the_functions(self) -> None:
        def act(limit: int = 5) -> None: ...

        assert str(refused(act, schema_of({"limit": INTEGER | {"default": 10}}))) == (
            "tool `act`: the default of `limit` is 10 in the schema and 5 in the function; "
            "make them equal, or remove `default` from the schema"
        )
        agree(act, schema_of({"limit": INTEGER | {"default": 5}}))
        agree(act, schema_of({"limit": INTEGER}))

    def test_a_number_is_no_truth(self) -> None:
        def act(flag: Any = True) -> None: ...

        error = refused(act, schema_of({"flag": {"default": 1, "description": "A flag."}}))
        assert "is 1 in the schema and True in the function" in str(error)

    def test_one_that_is_not_valid_in_its_own_schema(self) -> None:
        def act(limit: int = 0) -> None: ...

        declared = INTEGER | {"default": 0, "minimum": 1}
        assert str(refused(act, schema_of({"limit": declared}))) == (
            "tool `act`: the default of `limit`, 0, is not valid in its own schema; correct the "
            "default, or permit it in the schema or the annotation"
        )

    def test_one_that_the_annotation_itself_excludes(self) -> None:
        def act(limit: Annotated[int, Field(ge=1)] = 0) -> None: ...

        made = tool(act)
        with pytest.raises(ConfigError, match="tool `act`: the default of `limit`, 0, is not"):
            ToolRegistry([made])

        def name(path: str = 5) -> None: ...  # type: ignore[assignment]

        with pytest.raises(ConfigError, match="tool `name`: the default of `path`, 5, is not"):
            ToolRegistry().tool(name)

    def test_that_json_cannot_hold_or_a_factory_makes_agree(self) -> None:
        def act(
            marker: Any = object,
            names: list[str] = Field(default_factory=list),  # noqa: B008
            colour: Colour = Colour.RED,
            limit: int = None,  # type: ignore[assignment]  # noqa: RUF013
        ) -> None: ...

        ToolRegistry([tool(act)])


class TestSchemas:
    def test_that_are_no_json_schema_are_refused_with_the_place(self) -> None:
        with pytest.raises(
            ConfigError, match=r"tool `act`: `schema.properties.a.type` must be one of array, "
        ):
            Tool("act", "", schema_of({"a": {"type": "text"}}), lambda args, context: ok(""))

    @pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": ["object", "null"]}])
    def test_without_an_object_root_are_refused(self, schema: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match="tool `act`: `schema` must have an object root"):
            Tool("act", "", schema, lambda args, context: ok(""))

    def test_of_handwritten_tools_are_not_held_against_a_signature(self) -> None:
        def execute(args: Any, context: Any) -> Any:
            return ok("")

        ToolRegistry([Tool("act", "", schema_of({"a": STRING}, "b"), execute)])

    def test_that_are_replaced_are_held_against_the_function_again(self) -> None:
        @tool
        def act(path: str) -> None: ...

        ToolRegistry([act])
        with pytest.raises(ConfigError, match="parameter `path` has no default"):
            ToolRegistry([act.replace(schema={"type": "object"})])


ANNOTATIONS = st.sampled_from(
    [int, float, str, bool, int | None, list[int], Literal["a", "b"], dict[str, str], Any]
)
DECLARED = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "number"},
        {"type": "string"},
        {"type": "boolean"},
        {"type": ["integer", "null"]},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"enum": ["a"]},
        {"enum": ["a", "b", "c"]},
    ]
)
VALUES = st.sampled_from(
    [1, 1.0, 2.5, "a", "b", "c", "text", True, None, [1], ["a"], {}, {"a": "b"}, []]
)


@given(
    st.dictionaries(st.sampled_from("xyz"), st.tuples(ANNOTATIONS, DECLARED), min_size=1),
    st.dictionaries(st.sampled_from("xyz"), VALUES),
)
def test_where_both_agree_a_valid_call_is_never_refused(
    fields: dict[str, tuple[Any, Any]], args: dict[str, Any]
) -> None:
    parameters = ", ".join(fields)
    scope: dict[str, Any] = {}
    exec(f"def act({parameters}): return 'ran'", scope)
    act = scope["act"]
    act.__annotations__ = {name: annotation for name, (annotation, _) in fields.items()}
    declared = {name: schema for name, (_, schema) in fields.items()}
    schema = schema_of(declared, *fields, additionalProperties=False)
    made = tool(act, schema=schema)
    try:
        ToolRegistry([made])
    except ConfigError:
        return
    if ArgumentValidator("act", schema).problems(args) is None:
        result: Any = made.execute(args, ToolContext())
        assert not isinstance(result, ToolError), result


def test_looking_costs_a_small_part_of_making_the_tool() -> None:
    def act(
        path: str, mode: Literal["r", "w"] = "r", limit: int = 5, deep: bool = False
    ) -> None: ...

    schema = tool(act).schema | {"title": "Act"}
    made = tool(act, schema=schema)
    assert_ratio_below(1, lambda: ToolRegistry([made]), lambda: tool(act, schema=schema), 20)


class Street(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: str
    number: int = 1


class House(pydantic.BaseModel):
    street: Street
    colour: Literal["red", "blue"] = "red"
    rooms: list[Street] = []
    tags: dict[str, int] = {}


STREET = {
    "type": "object",
    "properties": {"name": STRING, "number": INTEGER},
    "required": ["name"],
    "additionalProperties": False,
}


def house(**changed: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"street": STREET} | changed, "required": ["street"]}


class TestDepth:
    @pytest.mark.parametrize(
        ("declared", "problem"),
        [
            (house(street=STREET | {"required": []}), "the function requires `house.street.name`"),
            (
                house(street=STREET | {"properties": {"name": INTEGER}}),
                "permits type integer for `house.street.name`",
            ),
            (
                house(street=STREET | {"properties": {"name": STRING, "zip": STRING}}),
                "has a property `house.street.zip`, but the function accepts no such field",
            ),
            (
                house(street=STREET | {"additionalProperties": True}),
                "permits further fields of `house.street` by `additionalProperties`",
            ),
            (
                house(street=STREET | {"additionalProperties": STRING}),
                "permits further fields of `house.street`",
            ),
            (house(colour={"enum": ["red", "green"]}), "permits 'green' for `house.colour`"),
            (house(colour=STRING), "accepts only 'red', 'blue' for `house.colour`"),
            (
                house(rooms={"type": "array", "items": STREET | {"required": []}}),
                "the function requires `house.rooms[].name`",
            ),
            (
                house(tags={"type": "object", "additionalProperties": STRING}),
                "permits type string for `house.tags.*`",
            ),
            (
                house(tags={"type": "object", "properties": {"a": STRING}}),
                "permits type string for `house.tags.a`",
            ),
            (house() | {"required": []}, "the function requires `house.street`"),
            (
                {"allOf": [house(), {"properties": {"colour": {"enum": ["pink"]}}}]},
                "permits 'pink' for `house.colour`",
            ),
            ({"anyOf": [house(street=STRING), {"type": "null"}]}, "permits type null for `house`"),
            ({"$ref": "#/$defs/house"}, "permits type string for `house.street`"),
            (
                {"allOf": [{"$ref": "#/$defs/house"}, {"required": ["street"]}]},
                "permits type string for `house.street`",
            ),
        ],
        ids=range(15),
    )
    def test_a_disagreement_at_any_depth_is_found(self, declared: Any, problem: str) -> None:
        def act(house: House) -> None: ...

        definitions = {"house": house(street=STRING)}
        schema = schema_of({"house": declared}, "house", **{"$defs": definitions})
        assert problem in str(refused(act, schema))

    @pytest.mark.parametrize(
        "declared",
        [
            house(),
            {"type": "object"},
            house(note=STRING),
            house(colour={"const": "red"}),
            {"allOf": [house(), {"properties": {"colour": {"enum": ["red"]}}}]},
            {"allOf": [{"type": ["object", "null"]}, house()]},
            {"anyOf": [house(), house(colour={"const": "blue"})]},
            {"$ref": "#/$defs/house"},
            house(street={"allOf": [{"$ref": "#/$defs/street"}]}),
            house(rooms={"type": "array", "items": STREET, "maxItems": 3}),
            house(rooms={"type": "array"}),
        ],
        ids=range(11),
    )
    def test_what_agrees_at_every_depth_passes(self, declared: Any) -> None:
        def act(house: House) -> None: ...

        definitions = {"house": house(), "street": STREET}
        schema = schema_of({"house": declared}, "house", **{"$defs": definitions})
        ToolRegistry([tool(act, schema=schema)])

    def test_unions_and_recursive_models_are_compared_as_far_as_they_are_clear(self) -> None:
        def act(
            house: House | None, either: House | Street | None = None, node: Any = None
        ) -> None: ...

        ToolRegistry([tool(act, schema=Arguments(act).schema | {"title": "other"})])
        schema = schema_of({"house": {"anyOf": [house(street=STRING), {"type": "null"}]}}, "house")
        assert "permits type string for `house.street`" in str(refused(act, schema))
        node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
        schema = schema_of({"house": house(), "node": node}, "house", **{"$defs": {"node": node}})
        ToolRegistry([tool(act, schema=schema)])

    @pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
    def test_schemas_that_refer_to_themselves_are_compared(self, keyword: str) -> None:
        def act(house: House, name: str | list[int] = "") -> None: ...

        again = [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]
        definitions = {"a": {keyword: [*again, STRING]}, "b": {keyword: [*again, STRING]}}
        others = {"$defs": definitions}
        ToolRegistry(
            [
                tool(act, name=name, schema=schema_of(properties, "house", **others))
                for name, properties in (
                    ("first", {"house": house(), "name": {"$ref": "#/$defs/a"}}),
                    ("second", {"house": house(), "name": {keyword: [*again, STRING]}}),
                )
            ]
        )
        declared = house(street={"$ref": "#/$defs/a", "type": "string"})
        schema = schema_of({"house": declared}, "house", **others)
        assert "permits type string for `house.street`" in str(refused(act, schema))

    def test_all_of_at_the_root_is_part_of_the_schema(self) -> None:
        def act(a: int, b: str = "") -> None: ...

        both = [{"properties": {"a": INTEGER}, "required": ["a"]}, {"properties": {"b": STRING}}]
        ToolRegistry([tool(act, schema={"type": "object", "allOf": both})])
        wrong = {"type": "object", "allOf": [both[0], {"properties": {"b": INTEGER}}]}
        assert "permits type integer for `b`" in str(refused(act, wrong))
        unknown = {"type": "object", "allOf": [both[0], {"properties": {"c": INTEGER}}]}
        assert "has a property `c`" in str(refused(act, unknown))

    def test_further_arguments_are_compared_with_keywords(self) -> None:
        def act(a: int, **more: int) -> None: ...

        def closed(a: int) -> None: ...

        a = schema_of({"a": INTEGER}, "a")
        ToolRegistry(
            [tool(act, schema=a | {"additionalProperties": INTEGER}), tool(closed, schema=a)]
        )
        wrong = a | {"additionalProperties": STRING}
        assert "permits type string for `**`" in str(refused(act, wrong))
        for others in (True, {}, STRING):
            error = refused(closed, a | {"additionalProperties": others})
            assert "permits further arguments by `additionalProperties`" in str(error)
