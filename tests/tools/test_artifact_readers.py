"""The tools that read what was cut: what they show, within which budget, of what is still there."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_grep
from artifact_tools import read, remaining
from ethos_registry import ConfigError, Tool, ToolContext, ToolError, ToolOk, ToolRegistry
from ethos_registry.artifacts import MemoryArtifactStore, SpooledArtifactStore
from ethos_registry.registry import DispatchContext
from ethos_registry.tools import ArtifactReaders

pytestmark = pytest.mark.usefixtures("ids_in_order")

GONE = "Error: no artifact with id a1 in this turn: it is gone; call the tool again for its output"

TEXT_TOOLS = [
    "artifact_head",
    "artifact_tail",
    "artifact_grep",
    "artifact_cat",
    "artifact_line_count",
    "artifact_byte_length",
    "artifact_estimate_tokens",
]
JSON_TOOLS = ["artifact_json_keys", "artifact_json_get", "artifact_json_slice"]
LINES = "".join(f"line {number}\n" for number in range(1_000))


@pytest.fixture
def store() -> MemoryArtifactStore:
    return MemoryArtifactStore()


def tools_of(store: MemoryArtifactStore) -> list[Tool]:
    return ArtifactReaders(store).forge_tools()


def text(result: Any) -> str:
    assert isinstance(result, ToolOk), result
    return result.value


def error(result: Any) -> str:
    assert isinstance(result, ToolError), result
    return result.error


class TestForging:
    def test_adk_72_no_artifacts_make_no_tools(self, store: MemoryArtifactStore) -> None:
        assert ArtifactReaders(store).forge_tools(DispatchContext()) == []

    def test_adk_72_an_unknown_id_is_a_wrong_argument(self, store: MemoryArtifactStore) -> None:
        remaining(store, "a")
        remaining(store, "b")
        result = read(tools_of(store), "artifact_head", "a9")
        assert error(result) == "artifact_id: should be 'a1' or 'a2', got 'a9'"
        assert isinstance(result, ToolError)
        assert (result.code, result.reason) == ("input_invalid", "invalid_args")

    def test_adk_72_a_search_without_a_match_gives_an_empty_list(
        self, store: MemoryArtifactStore
    ) -> None:
        remaining(store, "a")
        assert text(read(tools_of(store), "artifact_grep", "a1", pattern="b")) == "(empty list)"

    @pytest.mark.parametrize("flags", ["g", "y", "ig"])
    def test_adk_72_other_flags_are_wrong_arguments(
        self, store: MemoryArtifactStore, flags: str
    ) -> None:
        remaining(store, "a")
        result = read(tools_of(store), "artifact_grep", "a1", pattern="a", flags=flags)
        assert error(result) == f"flags: should match the pattern ^[imsu]*$, got '{flags}'"

    def test_adk_72_a_result_of_a_reader_is_no_artifact(self, store: MemoryArtifactStore) -> None:
        remaining(store, LINES)
        readers = ArtifactReaders(store)
        registry = ToolRegistry(readers.forge_tools())
        context = ToolContext(result_budget_chars=100, artifact_store=store)
        call = {"id": "1", "name": "artifact_head", "args": {"artifact_id": "a1", "n": 500}}
        for policy in ("even", "fill"):
            [result] = registry.execute_parallel_sync([call], context, budget_policy=policy)
            assert result.truncated_from == 4_390
        [cat, *_] = readers.forge_tools()
        assert cat.schema["properties"]["artifact_id"]["enum"] == ["a1"]

    def test_texts_have_seven_tools_and_json_three_more(self, store: MemoryArtifactStore) -> None:
        remaining(store, "text")
        assert [tool.name for tool in tools_of(store)] == TEXT_TOOLS
        remaining(store, '{"a": 1}')
        tools = tools_of(store)
        assert [tool.name for tool in tools] == TEXT_TOOLS + JSON_TOOLS
        for tool in tools:
            ids = ["a2"] if tool.name in JSON_TOOLS else ["a1", "a2"]
            assert tool.schema["properties"]["artifact_id"]["enum"] == ids
            assert tool.schema["required"][0] == "artifact_id"
            assert (tool.ephemeral, tool.on_collision) == (True, "replace")
            assert (tool.always_include, tool.idempotent, tool.is_coroutine) == (True, True, False)
            json.dumps(tool.definition)

    def test_what_is_made_knows_its_store_and_cannot_be_sent(
        self, store: MemoryArtifactStore
    ) -> None:
        remaining(store, "a", source="file:a")
        [head, *_] = tools_of(store)
        renamed: Any = head.replace(name="first_lines", timeout_seconds=1)
        assert (renamed.name, renamed.timeout_seconds) == ("first_lines", 1.0)
        assert renamed.source_of({"artifact_id": "a1"}) == "file:a"
        assert copy.deepcopy(head) is head
        with pytest.raises(
            TypeError, match="`artifact_head` cannot be pickled: it reads artifacts of this process"
        ):
            pickle.dumps(head)
        with pytest.raises(ConfigError, match="`store` must be an artifact store, got dict"):
            ArtifactReaders({})  # type: ignore[arg-type]

    def test_acknowledging_the_turn_closes_the_store(self, store: MemoryArtifactStore) -> None:
        bound = []

        class Counted(DispatchContext):
            def on_ack(self, handler: Any) -> Any:
                bound.append(handler)
                return super().on_ack(handler)

        turn, readers = Counted(), ArtifactReaders(store)
        for _ in range(3):
            readers.forge_tools(turn)
        assert bound == [store.close]
        turn.ack()
        assert store.is_closed
        assert readers.forge_tools(turn) == []


class TestWhatIsGone:
    def test_is_reported_with_its_id(self, store: MemoryArtifactStore) -> None:
        remaining(store, "a")
        tools = tools_of(store)
        store.close()
        for tool in tools:
            args = {"pattern": "a"} if tool.name == "artifact_grep" else {}
            result = read(tools, tool.name, "a1", **args)
            assert error(result) == GONE
            assert isinstance(result, ToolError)
            assert result.code == "not_available"

    def test_learns_of_a_file_that_went_away(self, tmp_path: Path) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)
        remaining(store, "a")
        tools = tools_of(store)
        for file in tmp_path.iterdir():
            file.unlink()
        assert "it is gone" in error(read(tools, "artifact_cat", "a1"))

    def test_a_store_that_is_closed_under_a_running_call_loses_no_answer(
        self, tmp_path: Path
    ) -> None:
        store = SpooledArtifactStore(tmp_path, memory_bytes=0)
        remaining(store, "some line\n" * 400_000)
        tools = tools_of(store)
        started = threading.Event()
        answers: list[Any] = []

        def search() -> None:
            started.set()
            pattern = "other|line$"
            answers.extend(read(tools, "artifact_grep", "a1", pattern=pattern) for _ in range(20))

        thread = threading.Thread(target=search)
        thread.start()
        started.wait()
        store.close()
        thread.join()
        assert len(answers) == 20
        assert {
            answer.error if isinstance(answer, ToolError) else answer.value.rpartition("\n")[2]
            for answer in answers
        } <= {
            GONE,
            "[100 of 400,000 matching lines are shown; use a narrower pattern]",
        }

    def test_what_came_after_the_tools_were_made_is_read_too(
        self, store: MemoryArtifactStore
    ) -> None:
        remaining(store, "a")
        tools = tools_of(store)
        remaining(store, "b")
        assert text(read(tools, "artifact_cat", "a2")) == "b"


class TestBudget:
    @given(
        st.lists(st.sampled_from(["a", "é" * 30, "", "b\r", "𝄞" * 200]), max_size=60),
        st.integers(0, 400),
        st.integers(0, 30),
        st.integers(1, 70),
        st.booleans(),
    )
    def test_holds_whatever_is_asked_for(
        self, parts: list[str], budget_chars: int, start: int, count: int, ends: bool
    ) -> None:
        store = MemoryArtifactStore()
        whole = "\n".join(parts) + ("\n" if ends else "")
        lines = oracle_grep.lines_of(whole)
        artifact_id = remaining(store, whole).id
        registry = ToolRegistry(tools_of(store))
        asked = {
            "artifact_head": ({"n": count}, lines[:count]),
            "artifact_tail": ({"n": count}, lines[-count:]),
            "artifact_cat": ({"start": start, "end": start + count}, lines[start : start + count]),
        }
        for name, (args, expected) in asked.items():
            call = {"id": "1", "name": name, "args": {"artifact_id": artifact_id} | args}
            context = ToolContext(result_budget_chars=budget_chars)
            [result] = registry.execute_parallel_sync([call], context)
            body, marker, _ = result.text.partition("\n[truncated — ")
            assert len(body) <= budget_chars
            assert bool(marker) == (result.truncated_from is not None)
            if expected and len("\n".join(expected)) <= budget_chars:
                assert result.text == "\n".join(expected)

    def test_what_does_not_fit_says_where_to_go_on(self, store: MemoryArtifactStore) -> None:
        remaining(store, LINES)
        tools = tools_of(store)
        seen, start = "", 0
        while True:
            shown = text(read(tools, "artifact_cat", "a1", budget_chars=500, start=start))
            body, marker, rest = shown.partition("\n[lines ")
            seen += body + "\n"
            if not marker:
                break
            start = int(rest.partition(", start ")[2].partition("]")[0])
            assert rest.startswith(
                f"{start - body.count(chr(10)) - 1} to {start - 1}; continue with"
            )
        assert seen == LINES

    def test_the_end_of_a_tail_stays(self, store: MemoryArtifactStore) -> None:
        remaining(store, LINES)
        shown = text(read(tools_of(store), "artifact_tail", "a1", budget_chars=200, n=500))
        assert shown.startswith("[the last 8 of these 500 lines; artifact_cat shows the others]\n")
        assert shown.endswith("\nline 998\nline 999")

    def test_of_a_line_that_is_longer_a_part_is_shown(self, store: MemoryArtifactStore) -> None:
        remaining(store, "x" * 10_000 + "needle" + "y" * 10_000)
        tools = tools_of(store)
        shown = text(read(tools, "artifact_head", "a1", budget_chars=200))
        assert shown == (
            f"{'x' * 80}\n[a part of line 0; artifact_grep shows other parts of it]"
            "\n[truncated — 20006 chars total]"
        )
        shown = text(read(tools, "artifact_tail", "a1", budget_chars=200))
        assert shown.startswith("[the end of line 0; the line is longer than the budget]\nyyy")
        found = text(read(tools, "artifact_grep", "a1", budget_chars=400, pattern="ne+dle"))
        assert "needle" in found
        assert len(found) < 300

    def test_a_search_stops_at_its_limits_and_counts(self, store: MemoryArtifactStore) -> None:
        remaining(store, LINES)
        tools = tools_of(store)
        assert text(read(tools, "artifact_grep", "a1", pattern="9$", max_matches=2)) == (
            "9:line 9\n19:line 19\n[2 of 100 matching lines are shown; use a narrower pattern]"
        )
        assert text(read(tools, "artifact_grep", "a1", pattern="9$", budget_chars=10)) == (
            "[0 of 100 matching lines are shown; use a narrower pattern]"
        )


class TestReading:
    def test_lines_have_the_numbers_that_cat_takes(self, store: MemoryArtifactStore) -> None:
        remaining(store, LINES)
        tools = tools_of(store)
        found = text(
            read(tools, "artifact_grep", "a1", pattern="LINE 500$", flags="i", context_lines=1)
        )
        assert found == "499-line 499\n500:line 500\n501-line 501"
        assert text(read(tools, "artifact_cat", "a1", start=500, end=501)) == "line 500"
        assert text(read(tools, "artifact_head", "a1", n=2)) == "line 0\nline 1"
        assert text(read(tools, "artifact_tail", "a1", n=1)) == "line 999"
        assert text(read(tools, "artifact_line_count", "a1")) == "1000"
        assert text(read(tools, "artifact_byte_length", "a1")) == str(len(LINES))
        assert text(read(tools, "artifact_estimate_tokens", "a1")) == "2223"

    def test_where_there_are_no_lines_it_is_reported(self, store: MemoryArtifactStore) -> None:
        remaining(store, "a\nb")
        remaining(store, "")
        tools = tools_of(store)
        assert text(read(tools, "artifact_cat", "a1", start=5)) == (
            "(no lines: the artifact has 2, counted from 0)"
        )
        for name in ("artifact_head", "artifact_tail"):
            assert "has 0" in text(read(tools, name, "a2"))

    @pytest.mark.parametrize(
        ("name", "args", "reported"),
        [
            ("artifact_head", {"n": 0}, "n: should be at least 1, got 0"),
            ("artifact_head", {"n": "ten"}, "n: should be a whole number, got 'ten'"),
            ("artifact_cat", {"start": -1}, "start: should be at least 0, got -1"),
            ("artifact_grep", {}, "pattern: is required, but missing"),
            ("artifact_grep", {"pattern": "a("}, "pattern: at character 1: unclosed group"),
            (
                "artifact_grep",
                {"pattern": r"\w{999}{999}"},
                "pattern: it is too large; use fewer or shorter repetitions",
            ),
            (
                "artifact_head",
                {"lines": 3},
                "lines: unknown argument; the arguments are artifact_id, n",
            ),
        ],
    )
    def test_wrong_arguments_are_reported(
        self, store: MemoryArtifactStore, name: str, args: dict[str, Any], reported: str
    ) -> None:
        remaining(store, "a")
        result = read(tools_of(store), name, "a1", **args)
        assert error(result) == reported
        assert isinstance(result, ToolError)
        assert result.code == "input_invalid"

    @pytest.mark.parametrize("artifact_id", [[], ["a1"], {"id": "a1"}, 1, None])
    def test_an_id_of_another_type_is_a_wrong_argument(
        self, store: MemoryArtifactStore, artifact_id: Any
    ) -> None:
        remaining(store, "a")
        for tool in tools_of(store):
            args = {"pattern": "a"} if tool.name == "artifact_grep" else {}
            result: Any = tool.execute({"artifact_id": artifact_id} | args, ToolContext())
            assert error(result).startswith("artifact_id: should be ")
            assert result.code == "input_invalid"

    def test_any_number_of_matches_can_be_requested(self, store: MemoryArtifactStore) -> None:
        remaining(store, "a\nb\na\n")
        result = read(tools_of(store), "artifact_grep", "a1", pattern="a", max_matches=10**30)
        assert text(result) == "0:a\n2:a"


VALUE: dict[str, Any] = {
    "items": [{"name": "é", "n": number} for number in range(50)],
    "a/b": {"~": None},
    "text": "two\nlines",
    "flags": [True, 1.5],
}


class TestJson:
    @pytest.fixture
    def tools(self, store: MemoryArtifactStore) -> list[Tool]:
        remaining(store, json.dumps(VALUE))
        return tools_of(store)

    def test_keys_come_with_their_kinds(self, tools: list[Tool]) -> None:
        assert text(read(tools, "artifact_json_keys", "a1")) == (
            "items: array of 50\na/b: object of 1\ntext: string\nflags: array of 2"
        )
        assert text(read(tools, "artifact_json_keys", "a1", path="/a~1b")) == "~: null"
        assert text(read(tools, "artifact_json_keys", "a1", path="/items")) == "array of 50"
        assert text(read(tools, "artifact_json_keys", "a1", path="/flags/0")) == "boolean"

    def test_a_value_is_found_by_its_path(self, tools: list[Tool]) -> None:
        get = "artifact_json_get"
        assert json.loads(text(read(tools, get, "a1"))) == VALUE
        assert text(read(tools, get, "a1", path="/items/7")) == '{"name": "é", "n": 7}'
        assert text(read(tools, get, "a1", path="/a~1b/~0")) == "null"
        assert text(read(tools, get, "a1", path="/text")) == "two\nlines"

    def test_items_are_cut_out_of_an_array(self, tools: list[Tool]) -> None:
        shown = text(read(tools, "artifact_json_slice", "a1", path="/items", start=2, end=4))
        assert json.loads(shown) == VALUE["items"][2:4]
        shown = text(read(tools, "artifact_json_slice", "a1", path="/items", start=48))
        assert json.loads(shown) == VALUE["items"][48:]

    @pytest.mark.parametrize(
        ("name", "path", "reported"),
        [
            (
                "artifact_json_get",
                "items",
                "`path` must be a JSON Pointer, as `/items/0/name`, got `items`",
            ),
            ("artifact_json_get", "/items/50", "`50` does not exist in `/items`, array of 50"),
            ("artifact_json_get", "/items/01", "`01` does not exist in `/items`, array of 50"),
            ("artifact_json_get", "/other", "`other` does not exist in the root, object of 4"),
            ("artifact_json_get", "/items/-", "`-` does not exist in `/items`, array of 50"),
            ("artifact_json_get", "/items/0/m", "`m` does not exist in `/items/0`, object of 2"),
            ("artifact_json_get", "/text/0", "`0` does not exist in `/text`, string"),
            ("artifact_json_slice", "/text", "`/text` is not an array, but string"),
            ("artifact_json_slice", "", "the root is not an array, but object of 4"),
        ],
    )
    def test_a_path_that_leads_nowhere_is_reported(
        self, tools: list[Tool], name: str, path: str, reported: str
    ) -> None:
        assert error(read(tools, name, "a1", path=path)) == reported


def test_scope_of_forge_tools_is_the_scope_of_a_turn() -> None:
    readers = ArtifactReaders(MemoryArtifactStore())
    with pytest.raises(ConfigError, match="`context` is the scope of a turn"):
        readers.forge_tools(object())  # type: ignore[arg-type]
