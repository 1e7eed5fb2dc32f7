"""Validation of six fields, compared with pydantic and, if installed, jsonschema-rs."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pydantic
import pytest

from beside import beside
from ethos_registry.schema._validate import ArgumentValidator

CALLS = 500
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "score": {"type": "number"},
        "exact": {"type": "boolean"},
        "order": {"enum": ["name", "date"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query", "limit", "score", "exact", "order", "tags"],
    "additionalProperties": False,
}


class Search(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, pydantic.Field(min_length=1)]
    limit: Annotated[int, pydantic.Field(ge=1, le=100)]
    score: float
    exact: bool
    order: Literal["name", "date"]
    tags: list[str]


def arguments(number: int, wrong: bool) -> dict[str, Any]:
    return {
        "query": f"words {number}",
        "limit": "ten" if wrong else number % 100 + 1,
        "score": number / 7,
        "exact": number % 2 == 0,
        "order": "name" if number % 3 else "date",
        "tags": [f"tag {number}", "other"],
    }


def each(check: Callable[[dict[str, Any]], object], wrong: bool) -> Callable[[], Any]:
    """Prepare new arguments and validate each of them."""

    def prepare() -> Callable[[], Any]:
        batch = [arguments(number, wrong) for number in range(CALLS)]
        return lambda: [check(args) for args in batch]

    return prepare


def pydantic_text(args: dict[str, Any]) -> str | None:
    try:
        Search.model_validate(args)
    except pydantic.ValidationError as error:
        return str(error)
    return None


@pytest.mark.parametrize("wrong", [False, True], ids=["valid", "one wrong field"])
def test_validation(benchmark: Any, wrong: bool) -> None:
    validator = ArgumentValidator("search", SCHEMA)
    baselines = {"pydantic, strict": each(pydantic_text, wrong)}
    if importlib.util.find_spec("jsonschema_rs") is not None:
        peer = importlib.import_module("jsonschema_rs").validator_for(SCHEMA)
        baselines["jsonschema-rs"] = each(lambda args: list(peer.iter_errors(args)), wrong)
    for check in (validator.problems, pydantic_text):
        assert (check(arguments(1, wrong)) is not None) == wrong
    beside(
        benchmark,
        each(validator.problems, wrong),
        baselines,
        group="arguments of six fields",
        rounds=100,
        per_round=CALLS,
        unit="check",
    )
