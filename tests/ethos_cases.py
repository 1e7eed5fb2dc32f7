"""The pairs of `data/ethos_cases.json`, and which of them this project is to match.

Each case states what the TypeScript system does. Flags say where that is not the measure; they are
looked at in the order of `ruling`, and what the project's own specification settles stands above
them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("data") / "ethos_cases.json"

ABSENT = {
    "cache_sequence": "there is no result cache",
    "cap_ingested": "there is no cap outside the registry",
    "spill": "there are no spill files",
}
"""Operations of features that the seeds do not have and that are not built."""

SETTLED = {
    "reg-unicode-normalisation": "such a name is refused when the tool is made",
    "reg-reach-undefined-toolset": "the name `mcp__` is refused",
    "reg-reach-toolset": "`mcp__` is refused, and tools that are always included are in reach",
    "filter-mcp-name-no-server": "a name without one reading is refused",
    "filter-mcp-triple-underscore-2": "a name with two readings needs `mcp_server`",
    "filter-mcp-tools-bare-with-double-underscore": "a name with two readings needs `mcp_server`",
    "exec-aborted-signal-not-checked": "after an abort no tool starts",
    "ifilter-short-circuit": "filters nest: `after` runs in reverse order",
}
"""Cases without a deciding flag that the specification rules out."""

WITH_OVERWRITE = {"reg-same-name-replaces-in-place"}
"""Cases that hold when a second registration says `overwrite=True`."""


@dataclass(frozen=True)
class Ruling:
    """What a case asks of this project."""

    kind: str
    """`match`, `settled`, `defect`, `js_quirk` or `absent`."""
    expected: Any = None
    """What `match` compares with."""
    reason: str = ""


def load_cases() -> dict[str, dict[str, Any]]:
    """Every case by its id."""
    cases: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="ascii"))["cases"]
    by_id = {case["id"]: case for case in cases}
    assert len(by_id) == len(cases)
    return by_id


def ruling(case: dict[str, Any]) -> Ruling:
    """The first rule that applies decides; features that are not built come before all."""
    if case["op"] in ABSENT:
        assert case.get("not_in_seed"), case["id"]
        return Ruling("absent", reason=ABSENT[case["op"]])
    if case["id"] in SETTLED:
        return Ruling("settled", reason=SETTLED[case["id"]])
    if "differs" in case:
        return Ruling("match", case["seed_expected"], case["seed_text"])
    for flag in ("defect", "js_quirk"):
        if flag in case:
            return Ruling(flag, reason=str(case[flag]))
    if "unit_sensitive" in case:
        return Ruling("match", _in_code_points(case), "counted in code points")
    return Ruling("match", case["expected"])


def _in_code_points(case: dict[str, Any]) -> Any:
    [result] = case["expected"]["results"]
    value = case["expected_value_if_code_points"]
    return {"results": [result | {"result": {"ok": True, "value": value}}]}


def expand(value: Any) -> Any:
    """The value with its text generators written out."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        text, count = value["$repeat"]
        return text * count
    return {key: expand(item) for key, item in value.items()}


def matches(expected: Any, actual: Any) -> bool:
    """Whether a value is the expected one; a digest stands for a long text."""
    if isinstance(expected, dict) and "$digest" in expected:
        return isinstance(actual, str) and _digest(actual) == (
            expected["$digest"]["codepoints"],
            expected["$digest"]["sha256_utf8"],
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(matches(item, actual[key]) for key, item in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(map(matches, expected, actual))
        )
    return type(expected) is type(actual) and bool(expected == actual)


def _digest(text: str) -> tuple[int, str]:
    return len(text), hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
