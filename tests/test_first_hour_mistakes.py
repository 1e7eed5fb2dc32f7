"""Mistakes of a first hour: each is an error of one line with the way out, or rightly accepted."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import ethos_registry
from ethos_registry import (
    NO_TOOLS,
    ConfigError,
    EthosRegistryError,
    InvocationFilter,
    Personality,
    Tool,
    ToolCapabilities,
    ToolContext,
    ToolFilterOpts,
    ToolRegistry,
    create_tool_registry,
    default_reducers,
    err,
    load_personality,
    ok,
    provider,
    reduce_text,
    tool,
)
from ethos_registry.mcp import McpBridge
from ethos_registry.testing import run_tool
from ethos_registry.types import SignatureError

OBJECT = {"type": "object", "properties": {}}
CALL = {"id": "1", "name": "greet", "args": {"name": "Ada"}}


def registry(**options: Any) -> ToolRegistry:
    made = ToolRegistry(**options)

    @made.tool(toolset="text")
    def greet(name: str) -> str:
        """Greet a person."""
        return f"hello {name}"

    @made.tool(toolset="files")
    def read_file(path: str) -> str:
        """Read a file."""
        return path

    return made


def named(name: str = "t", **options: Any) -> Any:
    return ToolRegistry().tool(name=name, **options)(lambda: "done")


def plain(execute: Any = lambda args, context: ok("done"), schema: Any = OBJECT, **fields: Any):
    return Tool("t", "A tool.", schema, execute, **fields)


def view() -> Any:
    return registry().view(Personality("p"))


def run(*calls: Any, **options: Any) -> Any:
    return registry().execute_parallel_sync(list(calls) or [CALL], **options)


def text_of(tool_made: Tool, args: Any = None) -> str:
    return run_tool(tool_made, args).text


def a_class() -> None:
    class Greeter: ...

    ToolRegistry().tool(Greeter)


def a_method() -> None:
    class Greeter:
        @ToolRegistry().tool
        def greet(self, name: str) -> str:
            return name


def a_generator() -> None:
    @ToolRegistry().tool
    def count():
        yield 1


def a_connection() -> None:
    class Connection: ...

    def query(connection: Connection) -> str:
        return ""

    query.__annotations__["connection"] = Connection
    ToolRegistry().tool(query)


def an_unknown_annotation() -> None:
    def query(table: Tabel) -> str:  # noqa: F821
        return ""

    ToolRegistry().tool(query)


def an_unannotated_context() -> None:
    @ToolRegistry().tool
    def query(table: str, context) -> str:
        return ""


def star_arguments() -> None:
    @ToolRegistry().tool
    def query(*tables) -> str:
        return ""


def wrong_default() -> None:
    @ToolRegistry().tool
    def forecast(days: int = "five") -> int:  # type: ignore[assignment]
        return days


def a_duplicate() -> None:
    made = registry()

    @made.tool
    def greet() -> str:
        return ""


async def asks() -> None: ...


RAISES: list[tuple[str, Callable[[], Any], str]] = [
    # Tools made from functions
    (
        "a name with a space",
        lambda: named("read file"),
        "a tool's name is a letter, then.*'read file'",
    ),
    ("a name with a dot", lambda: named("fs.read"), "a tool's name is a letter.*'fs.read'"),
    ("a lambda without a name", lambda: ToolRegistry().tool(lambda: ""), r"give one: `tool\(name="),
    ("a name in place of a function", lambda: ToolRegistry().tool("read"), r"`tool\(name=...\)`"),
    ("a class in place of a function", a_class, "got the class `Greeter`; decorate a function"),
    ("a method", a_method, r"make the tool from the bound method.*`tool\(instance.method\)`"),
    ("a function that yields", a_generator, "return a list"),
    ("a parameter of a class", a_connection, "type that JSON cannot carry; annotate a JSON type"),
    ("an annotation that is not defined", an_unknown_annotation, "'Tabel'.*define or import"),
    ("a context without annotation", an_unannotated_context, "annotate it: `context: ToolContext`"),
    ("a parameter *args", star_arguments, r"take a list: `tables: list\[...\]`"),
    ("timeout", lambda: named(timeout=5), r"'timeout' of `tool` \(did you mean 'timeout_seconds'"),
    ("tool_set", lambda: named(tool_set="text"), r"did you mean 'toolset'\?"),
    ("max_chars", lambda: named(max_chars=9), r"did you mean 'max_result_chars'\?"),
    ("seconds as text", lambda: named(timeout_seconds="5"), "must be a finite number >= 0: '5'"),
    ("a negative timeout", lambda: named(timeout_seconds=-1), "must be a finite number >= 0: -1"),
    ("availability as a bool", lambda: named(is_available=True), "must be callable, got bool"),
    ("async availability", lambda: named(is_available=asks), "must be a plain function"),
    ("a misspelt capability", lambda: named(capabilities={"netwrok": {}}), "mean 'network'"),
    (
        "a misspelt field of a capability",
        lambda: ToolCapabilities(network={"allowedHost": ["a.example"]}),
        "has no field 'allowedHost' .*'allowedHosts'",
    ),
    # Tools written by hand
    ("a tool without its function", lambda: Tool("t", "A tool.", OBJECT), "`Tool` needs `execute`"),  # type: ignore[call-arg]
    ("a schema as text", lambda: plain(schema="{}"), "must be a JSON Schema object, got str"),
    ("a schema without an object", lambda: plain(schema={"type": "string"}), "an object root"),
    (
        "a misspelt JSON type",
        lambda: plain(schema=OBJECT | {"properties": {"a": {"type": "str"}}}),
        r"`schema.properties.a.type` must be one of .*: 'str'",
    ),
    (
        "execute without the context",
        lambda: plain(lambda args: ok("")),
        "must take args and context",
    ),
    (
        "assigning to a tool",
        lambda: setattr(plain(), "name", "x"),
        r"use `tool.replace\(name=...\)`",
    ),
    # Registering
    ("a duplicate", a_duplicate, "already registered; pass `overwrite=True`"),
    (
        "a function registered as it is",
        lambda: ToolRegistry([print]),
        "`@tool` or `@registry.tool`",
    ),  # type: ignore[list-item]
    ("a list registered as one", lambda: ToolRegistry().register([plain()]), "`register_all"),  # type: ignore[arg-type]
    ("one tool as a list", lambda: ToolRegistry(plain()), "must be a list of tools, got Tool"),  # type: ignore[arg-type]
    (
        "a frozen registry changed",
        lambda: create_tool_registry().register,
        "cannot be changed; `Too",
    ),
    ("reducers", lambda: ToolRegistry(reducers=default_reducers()), r"mean 'reducer_registry'\?"),
    ("timeout of a registry", lambda: ToolRegistry(timeout=3), "mean 'default_timeout_seconds'"),
    (
        "reducers not called",
        lambda: registry(reducer_registry=default_reducers),
        "default_reducers()",
    ),
    ("an observer alone", lambda: ToolRegistry(observers=print), "put a single observer in a list"),  # type: ignore[arg-type]
    # Policies
    ("a typo in a toolset", lambda: registry().view(Personality("p", ["red_file"])), "'read_file'"),
    ("a typo in a group", lambda: registry().view(Personality("p", ["toolset:tex"])), "'text'"),
    ("a group as a tool", lambda: registry().view(Personality("p", ["text"])), "'toolset:text'"),
    ("a toolset as text", lambda: Personality("p", toolset="greet"), r"write \['greet'\]"),
    ("tools of a personality", lambda: Personality("p", tools=["greet"]), "did you mean 'toolset'"),  # type: ignore[call-arg]
    ("no id", lambda: Personality(toolset=["greet"]), "`Personality` needs `id`"),  # type: ignore[call-arg]
    ("a dict as personality", lambda: registry().view({"id": "p"}), r"`Personality\(id, toolset="),
    ("no personality", lambda: registry().view(), "`view` needs `personality`"),  # type: ignore[call-arg]
    (
        "a personality as a filter",
        lambda: registry().to_definitions(view),
        "`allowed_tools` must be",
    ),  # type: ignore[arg-type]
    ("exclude", lambda: ToolFilterOpts(exclude=["greet"]), "did you mean 'exclude_tools'"),  # type: ignore[call-arg]
    ("no policy file", lambda: load_personality("missing.yaml"), "missing.yaml.*No such file"),
    # Contexts and calls
    ("a dict as context", lambda: run(context={"a": 1}), r"`ToolContext\(...\)` makes one"),
    ("the class as context", lambda: run(context=ToolContext), r"got type; `ToolContext\(...\)`"),
    ("budget", lambda: ToolContext(budget=5), "did you mean 'result_budget_chars'"),  # type: ignore[call-arg]
    ("a budget as text", lambda: ToolContext(result_budget_chars="9"), "finite number >= 0: '9'"),  # type: ignore[arg-type]
    (
        "one call as a list",
        lambda: registry().execute_parallel_sync(CALL),
        "put one call in a list",
    ),  # type: ignore[arg-type]
    ("no calls", lambda: registry().execute_parallel_sync(None), "must be a list of calls"),  # type: ignore[arg-type]
    ("deadline", lambda: run(deadline=5), r"option 'deadline' .*'deadline_seconds'"),
    ("filter", lambda: run(filter=[]), "did you mean 'filters'"),
    (
        "a misspelt policy",
        lambda: run(budget_policy="evenly"),
        "one of 'even', 'fill'.*mean 'even'",
    ),
    ("an async callback", lambda: run(on_result=asks), "must be a plain function"),
    # Filters, providers, and the rest
    ("a function as a filter", lambda: run(filters=[print]), r"`InvocationFilter\(before="),
    (
        "a filter for a misspelt tool",
        lambda: run(filters=[InvocationFilter(print, tool_names="gret")]),
        "mean 'greet'",
    ),
    (
        "before without a parameter",
        lambda: InvocationFilter(before=lambda: None),
        "take the invocation",
    ),  # type: ignore[arg-type,misc]
    ("a misspelt provider", lambda: view().definitions("antropic"), "did you mean 'anthropic'"),
    ("a provider in capitals", lambda: provider("OpenAI"), r"did you mean 'openai'\?"),
    ("no provider of a stream", lambda: view().dispatch(), "`dispatch` needs `provider`"),
    ("break_points", lambda: view().definitions("anthropic", break_points=2), "mean 'breakpoints'"),
    ("tool of reduce_text", lambda: reduce_text("", tool="terminal"), "did you mean 'tool_name'"),  # type: ignore[call-arg]
    ("a misspelt name", lambda: ethos_registry.ToolRegistery, "did you mean 'ToolRegistry'"),  # type: ignore[attr-defined]
    ("a misspelt attribute of a result", lambda: run()[0].output, "is `result.text`"),
    # Names of other packages
    (
        "a registry that executes",
        lambda: registry().execute([CALL]),
        r"`registry.view\(personality",
    ),  # type: ignore[attr-defined]
    ("a registry that is called", lambda: registry().call("greet"), r"view\(personality\).execute"),  # type: ignore[attr-defined]
    ("definitions of a registry", lambda: registry().definitions(), r"\.definitions\(provider\)"),  # type: ignore[attr-defined]
    ("tools of a registry", lambda: registry().tools, r"`registry.all\(\)`"),  # type: ignore[attr-defined]
    ("add", lambda: registry().add(plain()), r"`registry.register\(tool\)`"),  # type: ignore[attr-defined]
    ("a misspelt method", lambda: registry().regster(plain()), "did you mean 'register'"),  # type: ignore[attr-defined]
    ("a frozen registry that executes", lambda: create_tool_registry().run([]), "through a view"),  # type: ignore[attr-defined]
    ("a view that runs", lambda: view().run([CALL]), r"`view.execute_sync\(reply\)`"),
    ("a tool of a view", lambda: view().greet(name="Ada"), r"`dir\(view\)` lists"),
    ("a tool added to a view", lambda: view().register(plain()), "a view is a snapshot"),
    ("tools of a view", lambda: view().tools, r"`view.definitions\(provider\)`"),
    ("text of all results", lambda: run().text, r"`results\[0\].text`"),
    ("messages of results", lambda: run().messages("openai"), "did you mean 'to_messages'"),
    ("messages without a provider", lambda: run().to_messages(), "needs `provider_name`"),
    ("messages of a vendor", lambda: run().to_messages("claude"), "known are `anthropic`"),
    # Replies
    ("the text of a reply", lambda: view().execute_sync("hello"), "got str; give the whole reply"),
    ("no reply", lambda: view().execute_sync(None), "got NoneType; give the whole reply"),
    ("another dict", lambda: view().execute_sync({"answer": 1}), r"with the keys \['answer'\]"),
    ("a stream", lambda: view().execute_sync(iter("ab")), r"`view.dispatch\(provider=...\)`"),
    (
        "a name and its arguments",
        lambda: view().execute_sync("greet", CALL),
        "got str; give the whole",
    ),
    # More options
    ("a session of a batch", lambda: view().execute_sync([CALL], session_id="s"), "`execute`"),
    ("timeout of a batch", lambda: view().execute_sync([CALL], timeout=5), "deadline_seconds"),
    ("a deadline as text", lambda: run(deadline_seconds="5"), "a finite number >= 0: '5'"),
    ("untrusted as a bool", lambda: run(untrusted=True), "must be one of 'mark', 'wrap': True"),
    ("a toolset with its prefix", lambda: named(toolset="toolset:text"), "write 'text'"),
    ("several toolsets", lambda: named(toolset=["a", "b"]), r"must be a string: \['a', 'b'\]"),
    ("retries as a number", lambda: named(retry=3), r"`Retry\(3\)` is one"),
    ("a default of another type", wrong_default, "the default of `days`, 'five', is not valid"),
    ("a reach as text", lambda: Personality("p", fs_reach="/tmp"), r"`FsReach\(read="),  # type: ignore[arg-type]
    ("hosts as a list", lambda: Personality("p", network=["a.b"]), r"`NetworkPolicy\(allow="),  # type: ignore[arg-type]
    ("a view of a name", lambda: registry().view("p"), r"`Personality\(id, toolset="),  # type: ignore[arg-type]
    ("search by name", lambda: registry().view(Personality("p"), search="bm25"), "a ToolSearch"),  # type: ignore[arg-type]
    ("tools as a dict", lambda: ToolRegistry({"t": plain()}), "list of tools, got dict"),  # type: ignore[arg-type]
    ("a server without its name", lambda: McpBridge.from_command("npx"), "needs `command`"),  # type: ignore[call-arg]
    ("a command as a list", lambda: McpBridge.from_command("x", ["npx"]), "belongs in `args`"),  # type: ignore[arg-type]
    ("text to reduce as bytes", lambda: reduce_text(b"a"), "`text` must be a string: b'a'"),  # type: ignore[arg-type]
]
"""A mistake, and what its error must have: a way out on the same line."""


@pytest.mark.parametrize(("_", "mistake", "expected"), RAISES, ids=[row[0] for row in RAISES])
def test_a_mistake_raises_one_line_with_the_way_out(_, mistake, expected):
    with pytest.raises((EthosRegistryError, AttributeError), match=expected) as caught:
        mistake()
    assert "\n" not in str(caught.value)


def a_forgotten_async() -> str:
    async def look_up() -> str:
        return "found"

    @tool(name="find")
    def find() -> Any:
        return look_up()

    return text_of(find)


def filtered(answer: Any) -> str:
    return str(run(filters=[InvocationFilter(before=lambda invocation: answer)])[0].text)


def in_a_loop() -> str:
    async def main() -> str:
        return str(run()[0].text)

    return asyncio.run(main())


def an_opaque_value() -> str:
    @tool(name="open")
    def opened() -> Any:
        return object()

    return text_of(opened)


ANSWERS: list[tuple[str, Callable[[], str], str]] = [
    ("async forgotten", a_forgotten_async, "never awaited; make its function `async def`"),
    ("a filter that returns True", lambda: filtered(True), "got bool.*`None` lets the call run"),
    ("a filter that returns text", lambda: filtered("no"), r"got str, expected ok\(...\)"),
    (
        "a tool that returns text",
        lambda: text_of(plain(lambda args, context: "x")),
        r"expected ok\(",
    ),
    (
        "a tool that returns nothing",
        lambda: text_of(plain(lambda args, context: None)),
        "got NoneType",
    ),
    (
        "a misspelt code",
        lambda: text_of(plain(lambda args, context: err("no", "invalid_input"))),  # type: ignore[arg-type]
        "`code` must be one of .*did you mean 'input_invalid'",
    ),
    ("a result without JSON", an_opaque_value, "a value of type object, which has no JSON form"),
    (
        "a name in place of a call",
        lambda: run("greet")[0].text,
        "malformed call: a call is a mapping",
    ),
    ("a call without an id", lambda: run({"name": "greet"})[0].text, "a call needs an id"),
    ("arguments that are cut", lambda: run(CALL | {"args": '{"name": '})[0].text, "not valid JSON"),
    ("a call as a tuple", lambda: view().execute_sync([("greet", {})])[0].text, "got tuple"),
    (
        "parameters",
        lambda: run({"id": "1", "name": "greet", "parameters": {}})[0].text,
        "in `args`",
    ),
    ("an id as a number", lambda: run(CALL | {"id": 1})[0].text, "an id that is a string"),
    ("arguments as a list", lambda: run(CALL | {"args": ["Ada"]})[0].text, "must be a JSON object"),
    ("a name in capitals", lambda: run(CALL | {"name": "Greet"})[0].text, "did you mean greet?"),
    (
        "a misspelt argument",
        lambda: run(CALL | {"args": {"nam": "A"}})[0].text,
        "the arguments are name",
    ),
    (
        "a tool that was only decorated",
        lambda: run(CALL | {"name": "find"})[0].text,
        "Unknown tool: find",
    ),
]
"""A mistake, and what the model reads in place of a result."""


@pytest.mark.parametrize(("_", "mistake", "expected"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_a_mistake_in_a_call_is_answered_on_one_line(_, mistake, expected):
    text = mistake()
    assert "\n" not in text
    assert re.search(expected, text)


def describes_no_parameter() -> None:
    @tool
    def search(query: str) -> str:
        """Search.

        Args:
            qeury: What to search for.
        """
        return query


LOGGED: list[tuple[str, Callable[[], Any], str]] = [
    ("a docstring with a misspelt parameter", describes_no_parameter, "'query'"),
    (
        "a misspelt keyword of a schema",
        lambda: ToolRegistry([plain(schema={"type": "object", "property": {}})]),
        "did you mean 'properties'",
    ),
    (
        "a required name without a property",
        lambda: ToolRegistry([plain(schema=OBJECT | {"required": ["path"]})]),
        "'path', which `properties` does not have",
    ),
    (
        "an excluded tool that is misspelt",
        lambda: registry().to_definitions(filter_opts=ToolFilterOpts(exclude_tools=["gret"])),
        "did you mean 'greet'",
    ),
    (
        "an after that returns True",
        lambda: run(filters=[InvocationFilter(after=lambda i, r: True)]),
        "got bool",
    ),
]


@pytest.mark.parametrize(("_", "mistake", "expected"), LOGGED, ids=[row[0] for row in LOGGED])
def test_what_may_be_meant_is_logged_on_one_line(_, mistake, expected, caplog):
    with caplog.at_level(logging.WARNING, "ethos_registry"):
        mistake()
    [line] = [record.getMessage() for record in caplog.records]
    assert expected in line
    assert "\n" not in line


def test_what_is_no_mistake_is_accepted():
    @tool
    def echo(value):
        """Return the value."""
        return value

    assert echo.schema["properties"] == {"value": {}}, "without an annotation any JSON value"
    assert text_of(echo, {"value": [1]}) == "[1]"
    assert in_a_loop() == "hello Ada", "a call without `await` in a running loop"
    assert run(CALL | {"args": '{"name": "Ada"}'})[0].text == "hello Ada"
    assert registry().get("gret") is None
    assert len(registry().to_definitions([])) == 2, "an empty allow list does not gate"
    assert registry().to_definitions(NO_TOOLS) == []


def test_a_misspelt_option_is_an_error_of_both_trees():
    with pytest.raises(SignatureError) as caught:
        ToolContext(budjet=1)  # type: ignore[call-arg]
    assert isinstance(caught.value, ConfigError)
    assert isinstance(caught.value, TypeError)
    assert caught.value.context["value"] == "budjet"


def test_a_type_error_inside_is_not_changed():
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        ToolRegistry(tools=(each for each in [1 + "a"]))  # type: ignore[operator]
    assert not isinstance(caught.value, EthosRegistryError)


def test_a_policy_file_names_the_line(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("id: p\ntoolsets: [text]\n")
    with pytest.raises(
        ConfigError, match=r"p.yaml:2: personality has no field 'toolsets' .*'toolset'"
    ):
        load_personality(path)


def test_a_missing_extra_is_named_with_its_command():
    program = (
        "import sys\nsys.modules['langgraph'] = sys.modules['langchain_core'] = None\n"
        "import ethos_registry.adapters.langchain\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'ethos-registry[langchain]'" in done.stderr.splitlines()[-1]


def test_a_hundred_mistakes_are_here():
    assert len(RAISES) + len(ANSWERS) + len(LOGGED) >= 105
