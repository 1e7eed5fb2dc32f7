"""Which wrong arguments run at each level of repair, and what that changes of valid ones.

`python benches/repair.py` prints the table of docs/concepts/argument-repair.md.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ethos_registry import CallResult, Tool, ToolRegistry, ok
from ethos_registry.schema._drafts import schema_of_2020_12

DATA = Path(__file__).parents[1] / "tests" / "data"
LEVELS = ("off", "safe", "all")


def called(schemas: list[Any], calls: list[tuple[int, Any]], level: Any) -> list[CallResult]:
    """The results of calls of tools that answer with their arguments."""

    async def execute(args: Any, context: Any) -> Any:
        return ok(json.dumps(args, sort_keys=True))

    registry = ToolRegistry(
        [Tool(f"t{number}", "", schema, execute) for number, schema in enumerate(schemas)],
        validate_arguments=True,
        repair_arguments=level,
    )
    return registry.execute_parallel_sync(
        [
            {"id": str(number), "name": f"t{schema}", "args": args}
            for number, (schema, args) in enumerate(calls)
        ]
    )


def wrong() -> tuple[list[Any], list[tuple[int, Any]], list[Any]]:
    """Schemas, calls, and the arguments that were meant; `None` where that cannot be known."""
    published = json.loads((DATA / "schema_cases.json").read_text())
    recorded = json.loads((DATA / "wrong_arguments.json").read_text())
    schemas = published["argument_schemas"] | recorded["schemas"]
    places = {name: place for place, name in enumerate(schemas)}
    cases = [case for case in published["arguments"] if case.get("repairs") != []]
    cases += recorded["wrong"]
    calls = [(places[case["schema"]], case["sent"]) for case in cases]
    return list(schemas.values()), calls, [case.get("runs_with") for case in cases]


def valid() -> tuple[list[Any], list[tuple[int, Any]]]:
    """The functions and the expected calls of BFCL."""
    data = json.loads(lzma.decompress((DATA / "bfcl.json.xz").read_bytes()))
    schemas = []
    for function in data["functions"]:
        schema = schema_of_2020_12(function["parameters"])
        schema.setdefault("type", "object")
        schemas.append(schema)
    return schemas, [(function, args) for function, args in data["calls"]]


def rows() -> Iterator[tuple[str, ...]]:
    """One row for each level."""
    schemas, calls, meant = wrong()
    functions, expected = valid()
    unrepaired = called(functions, expected, "off")
    for level in LEVELS:
        results = called(schemas, calls, level)
        outcome: Counter[str] = Counter()
        for result, arguments in zip(results, meant, strict=True):
            if not result.ok:
                outcome["refused"] += 1
            elif result.text == json.dumps(arguments, sort_keys=True):
                outcome["as meant"] += 1
            else:
                outcome["otherwise"] += 1
        again = unrepaired if level == "off" else called(functions, expected, level)
        changed = sum(
            before.ok and before.text != after.text
            for before, after in zip(unrepaired, again, strict=True)
        )
        accepted = sum(before.ok for before in unrepaired)
        yield (
            f'`"{level}"`',
            f"{outcome['as meant']} of {len(calls)}",
            str(outcome["otherwise"]),
            str(outcome["refused"]),
            f"{changed} of {accepted:,}",
        )


HEADINGS = (
    "level",
    "wrong arguments that run as they were meant",
    "that run otherwise",
    "refused",
    "valid arguments that are changed",
)


def table() -> str:
    """The rows in Markdown."""
    lines = [HEADINGS, ("---",) * len(HEADINGS), *rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(table())
