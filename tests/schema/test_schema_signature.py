from __future__ import annotations

import enum
import functools
import json
import math
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from ethos_registry import ConfigError
from ethos_registry.schema import function_schema
from ethos_registry.schema._parameters import read_docstring

if TYPE_CHECKING:
    from ethos_registry import ToolContext

pytestmark = pytest.mark.every_python


class Color(enum.Enum):
    """A colour of the palette."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Node(BaseModel):
    label: str
    children: list[Node] = []


class Titled(BaseModel):
    size: int = Field(title="Size in bytes")


class Service:
    def find(self, query: str) -> str:
        """Find."""
        return query

    def __call__(self, query: str) -> str:
        return query


class TestProperties:
    def test_order_is_the_authors_and_required_follows_it(self) -> None:
        def act(zebra: int, apple: str, mango: int = 1, *, banana: bool) -> None: ...

        schema = function_schema(act)
        assert list(schema["properties"]) == ["zebra", "apple", "mango", "banana"]
        assert schema["required"] == ["zebra", "apple", "banana"]

    def test_schema_of_a_plain_function_is_exactly_this(self) -> None:
        def act(path: str, limit: int = 5) -> None: ...

        assert json.dumps(function_schema(act)) == json.dumps(
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "limit": {"type": "integer", "default": 5},
                },
                "required": ["path"],
                "additionalProperties": False,
            }
        )

    def test_function_without_parameters_has_no_required(self) -> None:
        def act() -> None: ...

        assert function_schema(act) == {
            "type": "object",
            "properties": {},
            "additionalProperties": False,
        }

    def test_no_title_repeats_a_name(self) -> None:
        def act(point: Point, color: Color, node: Node, size_limit: int) -> None: ...

        assert "title" not in json.dumps(function_schema(act))

    def test_title_that_an_author_wrote_stays(self) -> None:
        def act(titled: Titled) -> None: ...

        size = function_schema(act)["$defs"]["Titled"]["properties"]["size"]
        assert size["title"] == "Size in bytes"

    def test_recursive_models_keep_their_definitions(self) -> None:
        def act(node: Node) -> None: ...

        schema = function_schema(act)
        assert schema["properties"]["node"] == {"$ref": "#/$defs/Node"}
        assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {
            "$ref": "#/$defs/Node"
        }

    def test_unannotated_parameter_takes_any_value(self) -> None:
        def act(value, other=None) -> None: ...

        assert function_schema(act)["properties"] == {"value": {}, "other": {"default": None}}

    def test_default_none_makes_null_acceptable(self) -> None:
        def act(
            limit: int = None,  # noqa: RUF013 - what users write
            size: Annotated[int, Field(gt=0)] = None,  # noqa: RUF013
        ) -> None: ...

        limit, size = function_schema(act)["properties"].values()
        assert limit == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
        assert {"type": "null"} in size["anyOf"]

    def test_default_that_json_lacks_is_not_shown_and_optional(self) -> None:
        def act(timeout: float = math.inf, marker: Any = object(), many: Any = (1,)) -> None: ...  # noqa: B008

        schema = function_schema(act)
        assert schema["properties"]["timeout"] == {"type": "number"}
        assert schema["properties"]["marker"] == {}
        assert schema["properties"]["many"] == {"default": [1]}
        assert "required" not in schema

    def test_default_objects_are_shown_as_json(self) -> None:
        def act(color: Color = Color.BLUE, point: Point = Point(1)) -> None: ...  # noqa: B008

        schema = function_schema(act)
        assert schema["properties"]["color"]["default"] == "blue"
        assert schema["properties"]["point"]["default"] == {"x": 1, "y": 0}

    def test_field_defaults_and_factories_make_a_parameter_optional(self) -> None:
        def act(
            one: int = Field(3, ge=1),
            many: list[int] = Field(default_factory=list),  # noqa: B008 - pydantic's own spelling
            inner: Annotated[int, Field(default=4)] = 5,
        ) -> None: ...

        schema = function_schema(act)
        assert schema["properties"]["one"] == {"type": "integer", "minimum": 1, "default": 3}
        assert schema["properties"]["inner"]["default"] == 5
        assert "required" not in schema

    def test_alias_is_the_name_that_a_model_sees(self) -> None:
        def act(from_: Annotated[str, Field(alias="from")]) -> None: ...

        schema = function_schema(act)
        assert list(schema["properties"]) == schema["required"] == ["from"]

    def test_untyped_keyword_arguments_leave_the_object_open(self) -> None:
        def act(path: str, **options) -> None: ...

        schema = function_schema(act)
        assert schema["additionalProperties"] is True
        assert list(schema["properties"]) == ["path"]

    def test_typed_keyword_arguments_become_a_schema(self) -> None:
        def act(path: Point, **options: Point) -> None: ...

        schema = function_schema(act)
        assert schema["additionalProperties"] == {"$ref": "#/$defs/Point"}
        assert list(schema["$defs"]) == ["Point"]
        assert schema["required"] == ["path"]


class TestContext:
    def test_context_is_left_out_wherever_it_is(self) -> None:
        def first(context: ToolContext, path: str) -> None: ...
        def last(path: str, *, anything: ToolContext | None = None) -> None: ...
        def annotated(path: str, it: Annotated[ToolContext, "why"]) -> None: ...

        for function in (first, last, annotated):
            assert list(function_schema(function)["properties"]) == ["path"]

    def test_parameter_called_context_is_an_ordinary_one(self) -> None:
        def act(context: str) -> None: ...

        assert function_schema(act)["required"] == ["context"]

    def test_two_contexts_are_refused(self) -> None:
        def act(one: ToolContext, two: ToolContext) -> None: ...

        with pytest.raises(ConfigError, match="`one` and `two` are both annotated `ToolContext`"):
            function_schema(act)


class TestAnnotations:
    def test_names_of_the_enclosing_function_resolve(self) -> None:
        class Local(BaseModel):
            depth: int

        def act(local: Local, many: list[Local]) -> None: ...

        assert list(function_schema(act)["$defs"]) == ["Local"]

    def test_names_two_functions_up_resolve(self) -> None:
        Kind = Literal["a", "b"]

        def make() -> dict[str, Any]:
            def act(kind: Kind) -> None: ...

            return function_schema(act)

        assert make()["properties"]["kind"]["enum"] == ["a", "b"]

    def test_local_name_wins_over_the_modules(self) -> None:
        Color = Literal["green"]  # noqa: F841 - the annotation names it

        def act(color: Color) -> None: ...

        assert function_schema(act)["properties"]["color"] == {"const": "green", "type": "string"}

    def test_unknown_return_annotation_does_not_matter(self) -> None:
        def act(path: str) -> Nowhere: ...  # noqa: F821

        assert function_schema(act)["required"] == ["path"]

    def test_metadata_of_annotated_reaches_the_schema(self) -> None:
        def act(
            name: Annotated[str, Field(min_length=2, pattern="^a", description="A name.")],
            kind: Literal["x", "y"],
            either: int | list[str],
        ) -> None: ...

        name, kind, either = function_schema(act)["properties"].values()
        assert name == {
            "type": "string", "minLength": 2, "pattern": "^a", "description": "A name.",
        }  # fmt: skip
        assert kind["enum"] == ["x", "y"]
        assert [item["type"] for item in either["anyOf"]] == ["integer", "array"]


def positional(path: str, /) -> None: ...
def starred(*paths: str) -> None: ...
def unresolved(path: Nowhere) -> None: ...  # noqa: F821
def unrepresentable(path: str, connection: socket.socket) -> None: ...
def callback(done: Callable[[], int]) -> None: ...
def untagged(either: Annotated[Node | Titled, Field(discriminator="kind")]) -> None: ...
def bad_pattern(text: Annotated[str, Field(pattern="(")]) -> None: ...


class TestRefusals:
    @pytest.mark.parametrize(
        ("function", "parameter", "way_out"),
        [
            (positional, "`path`", "remove the `/`"),
            (starred, "`*paths`", "take a list"),
            (unresolved, "`path`", "import the name at module level"),
            (unrepresentable, "`connection`", "functools.partial"),
            (callback, "`done`", "functools.partial"),
            (untagged, "`either`", "discriminator"),
            (bad_pattern, "`text`", "unclosed group"),
            (Service.find, "`self`", "tool(instance.method)"),
        ],
    )
    def test_refusal_names_tool_parameter_and_way_out(
        self, function: Callable[..., Any], parameter: str, way_out: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            function_schema(function)
        message = str(caught.value)
        assert f"tool `{function.__name__}`" in message
        assert parameter in message
        assert way_out in message
        assert "\n" not in message
        assert "pydantic.dev" not in message
        assert caught.value.context["tool_name"] == function.__name__
        assert caught.value.context["field"] == parameter.strip("`*")


class TestCallables:
    def test_bound_methods_and_callable_objects_lose_self(self) -> None:
        assert function_schema(Service().find) == function_schema(Service())
        assert function_schema(Service().find)["required"] == ["query"]

    def test_what_a_partial_has_bound_is_not_shown(self) -> None:
        bound = functools.partial(unrepresentable, connection=None)
        assert function_schema(bound)["required"] == ["path"]

    def test_decorated_function_shows_its_own_signature(self) -> None:
        def act(path: str, limit: int = 3) -> None: ...

        @functools.wraps(act)
        def logged(*args: Any, **kwargs: Any) -> None: ...

        assert function_schema(logged) == function_schema(act)


GOOGLE = """
Read a file.

The whole of it,
or a window.

Note:
    Binary files are refused.

Args:
    path: Where the file is,
        from the working directory.
    limit (int): How many lines.
    **options: Ignored by most.

Returns:
    The text.

Raises:
    OSError: Never.
"""
NUMPY = """Read a file.

    The whole of it,
    or a window.

    Parameters
    ----------
    path : str
        Where the file is.
    limit : int, optional
        How many lines.

    Returns
    -------
    str
        The text.
    """
SPHINX = """Read a file.

    The whole of it,
    or a window.

    :param path: Where the file is.
    :param int limit: How many lines.
    :returns: The text.
    :raises OSError: Never.
    """


class TestDocstrings:
    @pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
    def test_each_style_gives_description_and_parameters(self, text: str) -> None:
        found = read_docstring(text)
        assert found.description.startswith("Read a file.\n\nThe whole of it,\nor a window.")
        assert found.parameters["path"].startswith("Where the file is")
        assert found.parameters["limit"] == "How many lines."
        for left_out in ("path", "Parameters", "Args", ":param", "The text", "OSError"):
            assert left_out not in found.description

    def test_notes_stay_in_the_description(self) -> None:
        assert read_docstring(GOOGLE).description.endswith("Note: Binary files are refused.")

    def test_text_without_sections_is_the_description(self) -> None:
        text = "Read a file.\n\nKeep in mind: it may be large."
        assert read_docstring(text).description == text
        assert read_docstring(None).description == ""

    def test_field_description_wins_over_the_docstring(self) -> None:
        def act(path: Annotated[str, Field(description="From the field.")], limit: int) -> None:
            """Act.

            Args:
                path: From the docstring.
                limit: From the docstring too.
            """

        path, limit = function_schema(act)["properties"].values()
        assert path["description"] == "From the field."
        assert limit["description"] == "From the docstring too."

    def test_a_text_in_annotated_describes_the_parameter(self) -> None:
        def act(
            path: Annotated[str, "Where."],
            limit: Annotated[int, "Not this.", Field(description="How many.")] = 5,
            deep: Annotated[bool | None, "How deep."] = None,
        ) -> None:
            """Act.

            Args:
                path: From the docstring.
            """

        shown = function_schema(act)["properties"]
        assert [each["description"] for each in shown.values()] == [
            "Where.",
            "How many.",
            "How deep.",
        ]
        assert [each.get("default") for each in shown.values()] == [None, 5, None]

    def test_a_parsers_complaints_are_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        read_docstring("Act.\n\nArgs:\n    nobody: Not a parameter.\n    broken line\n")
        assert not caplog.records

    def test_griffe_is_loaded_only_for_sections(self) -> None:
        program = (
            "import sys\n"
            "from ethos_registry.schema import function_schema\n"
            "def plain(path: str):\n    'Read a file.'\n"
            "function_schema(plain)\n"
            "assert not any(name.startswith('griffe') for name in sys.modules)\n"
            "def rich(path: str):\n    'Read.\\n\\nArgs:\\n    path: Where.'\n"
            "function_schema(rich)\n"
            "assert 'griffe' in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
