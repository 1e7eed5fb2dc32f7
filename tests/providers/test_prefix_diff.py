"""What makes two requests differ: each kind of change, its pointer, its byte, what it drags."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry import ConfigError, Personality, ToolRegistry
from ethos_registry.providers import Prefix, PrefixDiff, prefix_diff
from registry_tools import EVERYTHING, made

MANY = Personality("many", plugins=["p"], mcp_servers=["s"])


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def registry(*names: str, **fields: Any) -> ToolRegistry:
    return ToolRegistry([made(name, **fields) for name in names])


def prefix(tools: ToolRegistry, provider: str = "anthropic", **options: Any) -> Prefix:
    return tools.view(MANY, allow_unmatched=True).prefix(provider, **options)


def compared(before: Prefix, after: Prefix) -> PrefixDiff:
    """The difference, with what holds for every one checked."""
    diff = prefix_diff(before, after)
    old, new = before.to_bytes(), after.to_bytes()
    assert diff.same == (old == new) == (not diff.changes)
    assert (diff.before_bytes, diff.after_bytes) == (len(old), len(new))
    if diff.byte_offset is not None:
        assert old[: diff.byte_offset] == new[: diff.byte_offset]
        assert old[diff.byte_offset :][:1] != new[diff.byte_offset :][:1]
    return diff


def rows(diff: PrefixDiff) -> list[tuple[str, str, str, int]]:
    return [(change.tool, change.kind, change.pointer, change.dragged) for change in diff.changes]


def at(text: bytes, offset: int, length: int = 12) -> str:
    return text[offset : offset + length].decode()


def test_equal_prefixes_have_no_difference() -> None:
    diff = compared(prefix(registry("a", "b")), prefix(registry("b", "a")))
    assert diff.same
    assert str(diff) == f"the same {diff.after_bytes} bytes"


def test_an_added_tool_drags_those_behind_it() -> None:
    before, after = prefix(registry("a", "c", "d")), prefix(registry("a", "b", "c", "d"))
    diff = compared(before, after)
    assert rows(diff) == [("b", "added", "", 2)]
    [change] = diff.changes
    assert at(after.to_bytes(), change.byte_offset) == '{"name":"b",'
    assert str(change) == f"b: added at byte {change.byte_offset}, 2 tools behind it"


def test_a_removed_tool_drags_those_that_were_behind_it() -> None:
    before, after = prefix(registry("a", "b", "c")), prefix(registry("a", "c"))
    diff = compared(before, after)
    assert rows(diff) == [("b", "removed", "", 1)]
    assert at(before.to_bytes(), diff.changes[0].byte_offset) == '{"name":"b",'


def test_a_tool_that_moves_is_named_once() -> None:
    one, two = registry("a", "b", "c", "d"), registry("b", "c", "d", "a")
    before, after = prefix(one, order="registration"), prefix(two, order="registration")
    diff = compared(before, after)
    assert rows(diff) == [("a", "moved", "", 0)]
    assert at(after.to_bytes(), diff.changes[0].byte_offset) == '{"name":"a",'
    moved = registry("a", "b")
    moved.register(made("a"), True, plugin_id="p")
    assert rows(compared(prefix(registry("a", "b")), prefix(moved))) == [("a", "moved", "", 0)]


@pytest.mark.parametrize(
    ("provider", "pointer"),
    [
        ("anthropic", "/description"),
        ("openai", "/function/description"),
        ("openai_responses", "/description"),
        ("gemini", "/description"),
        ("ollama", "/function/description"),
        ("bedrock", "/toolSpec/description"),
    ],
)
def test_a_changed_description_is_found_at_its_byte(provider: str, pointer: str) -> None:
    tools = registry("a", "b", "c")
    before = prefix(tools, provider)
    tools.register(made("b", description="The new b."), overwrite=True)
    after = prefix(tools, provider)
    diff = compared(before, after)
    assert rows(diff) == [("b", "description", pointer, 1)]
    assert diff.changes[0].byte_offset == diff.byte_offset
    assert at(after.to_bytes(), diff.changes[0].byte_offset, 6) == "new b."


BASE = schema(
    path={"type": "string", "description": "Where."},
    mode={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    tags={"type": "array", "items": {"enum": ["x", "y"]}},
)


def changed(change: Any) -> dict[str, Any]:
    new = copy.deepcopy(BASE)
    change(new)
    return new


CHANGES: dict[str, tuple[Any, list[tuple[str, str]], str]] = {
    "a type": (
        lambda new: new["properties"]["path"].update(type="integer"),
        [("schema", "/input_schema/properties/path/type")],
        'integer"',
    ),
    "a description inside": (
        lambda new: new["properties"]["path"].update(description="Whence."),
        [("description", "/input_schema/properties/path/description")],
        "nce.",
    ),
    "a new property": (
        lambda new: new["properties"].update({"a/b~c": {"type": "null"}}),
        # Anthropic refuses this name: it is sent another one.
        [("schema", "/input_schema/properties/a_b_c")],
        '"a_b_c":{"type":"null",',
    ),
    "a property less": (
        lambda new: new["properties"].pop("tags"),
        [("schema", "/input_schema/properties/tags")],
        '"tags":',
    ),
    "the order of properties": (
        lambda new: new["properties"].update({"path": new["properties"].pop("path")}),
        [("schema", "/input_schema/properties")],
        '"mode":',
    ),
    "one of several alternatives": (
        lambda new: new["properties"]["mode"]["anyOf"][0].update(type="integer"),
        [("schema", "/input_schema/properties/mode/anyOf/0/type")],
        'integer"',
    ),
    "one alternative more": (
        lambda new: new["properties"]["mode"]["anyOf"].append({"type": "integer"}),
        [("schema", "/input_schema/properties/mode/anyOf")],
        ',{"type":"integer"}]',
    ),
    "the order of an enumeration": (
        lambda new: new["properties"]["tags"]["items"].update(enum=["y", "x"]),
        [("schema", "/input_schema/properties/tags/items/enum")],
        'y","x"]',
    ),
    "an integer that is a float": (
        lambda new: new["properties"]["mode"].update(default=0.0),
        [("schema", "/input_schema/properties/mode/default")],
        "0.0",
    ),
    "what is required": (
        lambda new: new.update(required=["path"]),
        [("schema", "/input_schema/required")],
        '"required":["path"]',
    ),
    "two places": (
        lambda new: (
            new["properties"]["path"].update(type="null"),
            new["properties"]["tags"].update(maxItems=3),
        ),
        [
            ("schema", "/input_schema/properties/path/type"),
            ("schema", "/input_schema/properties/tags/maxItems"),
        ],
        'null"',
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_a_schema_has_its_pointer_and_its_byte(name: str) -> None:
    change, expected, text = CHANGES[name]
    before = prefix(registry("a", "t", "z", schema=BASE))
    tools = registry("a", "t", "z", schema=BASE)
    tools.register(made("t", schema=changed(change)), overwrite=True)
    after = prefix(tools)
    diff = compared(before, after)
    assert [(each.kind, each.pointer) for each in diff.changes] == expected
    assert {(each.tool, each.dragged) for each in diff.changes} == {("t", 1)}
    first = diff.changes[0]
    source = before if name == "a property less" else after
    assert at(source.to_bytes(), first.byte_offset, len(text)) == text


def test_a_flapping_tool_differs_from_one_that_was_removed() -> None:
    up = [True]
    tools = registry("a", "c")
    tools.register(made("b", is_available=lambda: up[0]))
    with_it = prefix(tools)
    up[0] = False
    without = prefix(tools)
    assert without.unavailable == ("b",)
    assert rows(compared(with_it, without)) == [("b", "availability", "", 1)]
    assert rows(compared(without, with_it)) == [("b", "availability", "", 1)]
    tools.unregister("b")
    assert rows(compared(with_it, prefix(tools))) == [("b", "removed", "", 1)]


def test_several_changes_come_in_the_order_of_their_places() -> None:
    before = prefix(registry("a", "b", "d", "e"))
    tools = registry("a", "c", "d", "e")
    tools.register(made("e", description="New."), overwrite=True)
    diff = compared(before, prefix(tools))
    assert [(change.tool, change.kind) for change in diff.changes] == [
        ("b", "removed"),
        ("c", "added"),
        ("e", "description"),
    ]


def test_the_marker_of_the_last_tool_is_no_change_of_it() -> None:
    before, after = prefix(registry("a")), prefix(registry("a", "b"))
    assert rows(compared(before, after)) == [("b", "added", "", 0)]
    moved = compared(prefix(registry("a"), breakpoints=0), prefix(registry("a")))
    assert rows(moved) == [("a", "marker", "/cache_control", 0)]


def test_prefixes_of_two_providers_are_not_compared() -> None:
    with pytest.raises(ConfigError, match="prefixes of one provider are compared"):
        prefix_diff(prefix(registry("a")), prefix(registry("a"), "openai"))
    with pytest.raises(ConfigError, match="compares prefixes, got dict"):
        prefix_diff({}, prefix(registry("a")))  # type: ignore[arg-type]
    assert prefix_diff(prefix(registry("a"), "openai"), prefix(registry("a"), "groq")).same


def test_a_prefix_is_compared_in_another_process() -> None:
    saved = prefix(registry("a", "é"[:0] + "b", schema=BASE), breakpoints=2)
    program = (
        "import sys; from ethos_registry.providers import Prefix; "
        "print(Prefix.from_json(sys.stdin.read()).bytes_digest)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=saved.to_json(),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )
    assert done.stdout.strip() == saved.bytes_digest
    loaded = Prefix.from_json(saved.to_json())
    assert loaded == saved
    assert loaded.to_bytes() == saved.to_bytes()


def test_a_prefix_keeps_what_the_view_says() -> None:
    view = registry("b", "a").view(EVERYTHING)
    saved = view.prefix("openai")
    assert saved.to_bytes() == view.definitions_bytes("openai")
    assert (saved.fingerprint, saved.bytes_digest) == (
        view.fingerprint,
        view.bytes_digest("openai"),
    )
    assert [tool.name for tool in saved.tools] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: "no JSON", "a prefix is a JSON document"),
        (lambda document: "[]", "a prefix is a JSON object, got list"),
        (lambda document: document | {"version": 9}, "unknown version of a prefix: 9"),
        (lambda document: document | {"provider": "x"}, "unknown provider 'x'"),
        (lambda document: document | {"order": "x"}, "`order` must be"),
        (lambda document: document | {"breakpoints": 7}, "`breakpoints` must be at most 2"),
        (lambda document: document | {"tools": {}}, "`tools` of a prefix must be a list"),
        (lambda document: document | {"tools": [1]}, "a tool of a prefix is an object"),
        (
            lambda document: document | {"tools": document["tools"][:1]},
            "the prefix was changed: its digest",
        ),
        (
            lambda document: document | {"tools": [document["tools"][0] | {"text": "x"}]},
            "not valid JSON",
        ),
        (
            lambda document: document | {"tools": [document["tools"][0] | {"text": "1"}]},
            "must be a JSON object",
        ),
    ],
)
def test_what_is_no_prefix_is_refused(change: Any, message: str) -> None:
    document = json.loads(prefix(registry("a", "b")).to_json())
    text = change(document)
    with pytest.raises(ConfigError, match=message):
        Prefix.from_json(text if isinstance(text, str) else json.dumps(text))


class DiffMachine(RuleBasedStateMachine):
    """Registries change at random; a plain comparison of the lists says the same."""

    NAMES = ("a", "b", "c", "mcp__s__a", "plug")
    SCHEMAS = (
        schema(),
        BASE,
        changed(lambda new: new["properties"]["path"].update(type="integer")),
        changed(lambda new: new.update(required=["mode"])),
        changed(lambda new: new["properties"].pop("mode")),
    )

    def __init__(self) -> None:
        super().__init__()
        self.registry = ToolRegistry()
        self.down: set[str] = set()
        self.saved = self.taken()

    def taken(self) -> dict[str, Prefix]:
        return {name: prefix(self.registry, name) for name in ("anthropic", "openai", "gemini")}

    @rule(
        name=st.sampled_from(NAMES),
        text=st.sampled_from(["one", "two"]),
        number=st.integers(0, 4),
        in_plugin=st.booleans(),
    )
    def register(self, name: str, text: str, number: int, in_plugin: bool) -> None:
        tool = made(
            name,
            description=text,
            schema=self.SCHEMAS[number],
            is_available=lambda: name not in self.down,
        )
        self.registry.register(tool, True, plugin_id="p" if in_plugin else None)

    @rule(name=st.sampled_from(NAMES))
    def unregister(self, name: str) -> None:
        self.registry.unregister(name)

    @rule(name=st.sampled_from(NAMES))
    def flap(self, name: str) -> None:
        self.down ^= {name}

    @rule()
    def save(self) -> None:
        self.saved = self.taken()

    @invariant()
    def a_plain_comparison_says_the_same(self) -> None:
        for provider, after in self.taken().items():
            before = self.saved[provider]
            diff = compared(before, after)
            old = {tool.name: tool.text for tool in before.tools}
            new = {tool.name: tool.text for tool in after.tools}
            by_kind: dict[str, set[str]] = {}
            for change in diff.changes:
                by_kind.setdefault(change.kind, set()).add(change.tool)
            gone, come = old.keys() - new.keys(), new.keys() - old.keys()
            flapped = (gone & set(after.unavailable)) | (come & set(before.unavailable))
            assert by_kind.get("availability", set()) == flapped
            assert by_kind.get("removed", set()) == gone - flapped
            assert by_kind.get("added", set()) == come - flapped
            edited = by_kind.get("description", set()) | by_kind.get("schema", set())
            common = old.keys() & new.keys()
            assert edited == {name for name in common if old[name] != new[name]}
            moved = by_kind.get("moved", set())
            stayed = [name for name in old if name in common - moved]
            assert stayed == [name for name in new if name in common - moved]
            if not (gone or come or edited):
                assert bool(moved) == (list(old) != list(new))
            for change in diff.changes:
                is_gone = change.tool not in new
                prefix_of, texts = (before, old) if is_gone else (after, new)
                order = list(texts)
                assert change.dragged == len(order) - 1 - order.index(change.tool)
                if not change.pointer:
                    text = prefix_of.to_bytes()[change.byte_offset :]
                    assert text.startswith(texts[change.tool].encode()[:-1])


TestDiffMachine = DiffMachine.TestCase
TestDiffMachine.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)


def by_other_rules(saved: Prefix) -> Prefix:
    """The prefix as a version of the library saved it that sent no `title`."""
    document = json.loads(saved.to_json())
    for tool in document["tools"]:
        tool["text"] = tool["text"].replace(',"title":"T"', "")
    return Prefix.from_json(json.dumps(document | {"bytes_digest": ""}))


def test_what_only_the_rules_have_changed_is_one_line() -> None:
    titled = schema(x={"type": "string", "title": "T"}, y={"type": "string", "title": "T"})
    tools = registry("a", "b", schema=titled)
    after = prefix(tools)
    diff = compared(by_other_rules(after), after)
    assert rows(diff) == [("a", "rules", "", 1), ("b", "rules", "", 0)]
    lines = str(diff).splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("2 tools are written by other schema rules: a: rules at byte ")
    tools.register(made("b", schema=schema(x={"type": "integer"})), overwrite=True)
    changed = compared(by_other_rules(after), prefix(tools))
    assert {kind for tool, kind, *_ in rows(changed) if tool == "b"} == {"schema"}


def test_a_prefix_saved_without_the_authors_digests_is_read() -> None:
    saved = prefix(registry("a", schema=schema(x={"type": "string", "title": "T"})))
    document = json.loads(by_other_rules(saved).to_json())
    for tool in document["tools"]:
        del tool["own_digest"]
    diff = compared(Prefix.from_json(json.dumps(document)), saved)
    assert rows(diff) == [("a", "schema", "/input_schema/properties/x/title", 0)]
