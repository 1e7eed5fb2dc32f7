"""What one validation may cost, whatever schema and arguments a peer sends."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from ethos_registry import Personality, Tool, ToolRegistry, ok
from ethos_registry.schema._validate import ArgumentValidator

SECONDS = 1.0
"""Of processor time; a quarter of it on a quiet machine, and minutes without a bound."""
TOO_MUCH = "should be smaller: it takes too long to check this"


def of_a(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, **more}


def doubled(times: int, last: dict[str, Any]) -> dict[str, Any]:
    """A reference that leads to one place on `2 ** times` ways."""
    steps = {
        f"s{at}": {"allOf": [{"$ref": f"#/$defs/s{at - 1}"}] * 2} for at in range(1, times + 1)
    }
    return {"$defs": {"s0": last} | steps}


def branches(count: int, make: Any) -> dict[str, Any]:
    return of_a({"allOf": [make(number) for number in range(count)]})


INTEGER = {"type": "integer"}
HOSTILE: dict[str, tuple[dict[str, Any], Any]] = {
    "references by items": (
        of_a({"items": {"$ref": "#/$defs/s16"}}, **doubled(16, INTEGER)),
        {"a": [1] * 10_000},
    ),
    "references by lists of lists": (
        of_a({"$ref": "#/$defs/s12"}, **doubled(12, {"items": {"items": {"items": INTEGER}}})),
        {"a": [[[1] * 50] * 50] * 50},
    ),
    "numbers of an enum by items": (
        of_a({"items": {"enum": [*(number + 0.5 for number in range(5_000)), None]}}),
        {"a": [3] * 200_000},
    ),
    "lists of an enum by items": (
        of_a({"items": {"enum": [[number, [number] * 5] for number in range(5_000)]}}),
        {"a": [[4_999, [4_999, 0]]] * 20_000},
    ),
    "a long list beside lists of an enum": (
        of_a({"enum": [[[number]] for number in range(5_000)]}),
        {"a": [1] * 200_000},
    ),
    "a copy of a long list for each branch": (
        of_a({"anyOf": [{"const": [1] * 50 + [number]} for number in range(1_000)]}),
        {"a": [1] * 200_000},
    ),
    "unique items by branches": (
        branches(300, lambda number: {"uniqueItems": True, "minItems": number}),
        {"a": list(range(100_000))},
    ),
    "unique integers of one float": (
        of_a({"uniqueItems": True}),
        {"a": list(range(10**300, 10**300 + 3_000))},
    ),
    "contains by branches": (
        branches(500, lambda number: {"contains": {"const": number}}),
        {"a": [-1] * 100_000 + list(range(500))},
    ),
    "patterns of names by names": (
        {"patternProperties": {f"x{number}y": INTEGER for number in range(1_000)}},
        {f"k{number}": 1 for number in range(50_000)},
    ),
    "other names by patterns": (
        {
            "patternProperties": {f"x{number}y": INTEGER for number in range(1_000)},
            "additionalProperties": INTEGER,
        },
        {f"k{number}": 1 for number in range(50_000)},
    ),
    "names that match by branches": (
        {"allOf": [{"propertyNames": {"pattern": f"^k[0-9]*{n or ''}"}} for n in range(300)]},
        {f"k{number}": 1 for number in range(50_000)},
    ),
    "unevaluated names by branches": (
        {
            "allOf": [{"properties": {f"k{number}": True}} for number in range(1_000)],
            "unevaluatedProperties": False,
        },
        {f"k{number}": 1 for number in range(50_000)},
    ),
    "unevaluated items by branches": (
        of_a(
            {
                "allOf": [{"contains": {"const": number}} for number in range(300)],
                "unevaluatedItems": False,
            }
        ),
        {"a": list(range(300)) * 300},
    ),
    "required names by items": (
        of_a({"items": {"required": [f"r{number}" for number in range(2_000)]}}),
        {"a": [{}] * 100_000},
    ),
    "reasons by items": (of_a({"items": {"type": "string"}}), {"a": [1] * 400_000}),
    "reasons by alternatives": (
        of_a(
            {
                "items": {
                    "oneOf": [
                        {"required": ["x"], "properties": {"k": {"const": number}}}
                        for number in range(200)
                    ]
                }
            }
        ),
        {"a": [{"k": -1}] * 20_000},
    ),
    "reasons about all of the value": (
        {"allOf": [{"required": [f"q{number}"]} for number in range(2_000)]},
        {"a": [1] * 300_000},
    ),
    "an ambiguous pattern": (
        of_a({"pattern": "a.{0,3000}b.{0,3000}c$"}),
        {"a": "ab" * 500_000},
    ),
    "an ambiguous pattern by items": (
        of_a({"items": {"pattern": "(a|b|\\w).{0,250}(x|y.).{0,250}z[0-9]"}}),
        {"a": ["abcd xyz é" * 100] * 500},
    ),
    "a pattern with as many states as texts": (
        of_a({"pattern": "^[ab]*a" + "[ab]" * 200 + "$"}),
        {"a": "".join("ab"[number * number % 7 % 2] for number in range(1_000_000))},
    ),
    "a pattern just light enough": (
        of_a({"pattern": "[ab]*a[ab]{10}c"}),
        {"a": "".join("ab"[number * number % 1_009 % 2] for number in range(1_000_000))},
    ),
    "patterns by branches": (
        branches(2_000, lambda number: {"pattern": f"a.*b{number}c|a$"}),
        {"a": "é" * 400_000 + "a"},
    ),
}


@pytest.mark.parametrize("is_plain", [True, False], ids=["in place", "copied"])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_validation_holds_the_loop(name: str, is_plain: bool) -> None:
    schema, args = HOSTILE[name]
    if not is_plain:
        args = args | {"z": 10**30}  # a number that needs a copy as JSON
    validator = ArgumentValidator("t", schema)
    start = time.thread_time()
    validator.problems(args)
    assert time.thread_time() - start < SECONDS


async def test_the_model_reads_that_the_arguments_are_too_much() -> None:
    schema, args = HOSTILE["contains by branches"]
    ran: list[object] = []

    def run(args: Any, context: object) -> Any:
        ran.append(args)
        return ok("ran")

    registry = ToolRegistry(validate_arguments=True)
    registry.register(Tool("t", "", schema, run))
    start = time.thread_time()
    view = registry.view(Personality("clerk"))
    [result] = await view.execute([{"id": "1", "name": "t", "args": args}])
    assert time.thread_time() - start < 3 * SECONDS
    assert TOO_MUCH in result.result.text
    assert not ran


@pytest.mark.parametrize("is_plain", [True, False], ids=["in place", "copied"])
@pytest.mark.parametrize(
    ("items", "is_unique"),
    [
        ("[1, 1.0]", False),
        ("[100, 1e2]", False),
        ("[0, -0.0]", False),
        ("[0.10, 1E-1]", False),
        ("[-5, -0.5e+1]", False),
        ('[1, 10, 0.1, -1, "1", true, false, null, "null", [], {}, [[]], "[]"]', True),
        ("[9007199254740992, 9007199254740993]", True),
        ('[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', False),
        ('[[1, 2], [12], ["1,2"], "[1,2,]"]', True),
        ('[{"a": [1]}, {"a": [2]}, {"a": 1, "b": 2}, {"a:1,b": 2}]', True),
    ],
)
def test_items_are_unique_as_json_values(items: str, is_unique: bool, is_plain: bool) -> None:
    validator = ArgumentValidator("t", of_a({"uniqueItems": True}))
    args = {"a": json.loads(items)} | ({} if is_plain else {"z": 10**30})
    assert (validator.problems(args) is None) is is_unique


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (of_a({"items": {"type": "integer", "minimum": 0, "maximum": 9}}), {"a": [1] * 500_000}),
        (of_a({"type": "string", "pattern": "\\S", "minLength": 1}), {"a": "é " * 4_000_000}),
        (of_a({"pattern": "^[\\s\\S]{1,5000}$"}), {"a": "é " * 2_500}),
        (
            of_a({"pattern": "^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=]+$"}),
            {"a": "data:image/png;base64," + "QUJD" * 1_000_000},
        ),
        (
            of_a({"items": {"pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}}),
            {"a": ["0123abcd-0123-0123-0123-0123456789ab"] * 20_000},
        ),
        (of_a({"items": {"enum": [f"v{n}" for n in range(1_000)]}}), {"a": ["v999"] * 100_000}),
        (of_a({"uniqueItems": True}), {"a": [str(number) for number in range(50_000)]}),
    ],
    ids=["integers", "long text", "bounded text", "data URL", "identifiers", "enum", "unique"],
)
def test_large_arguments_of_ordinary_schemas_are_checked(
    schema: dict[str, Any], args: dict[str, Any]
) -> None:
    assert ArgumentValidator("t", schema).problems(args) is None
