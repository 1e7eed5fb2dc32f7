"""Views that list few tools and find the others."""

import asyncio
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    InvocationFilter,
    Personality,
    Tool,
    ToolRegistry,
    _core,
    err,
    ok,
)
from ethos_registry.registry import (
    PrefixSession,
    ToolSearch,
    _search_view,
)
from ethos_registry.usage import UsageLedger
from oracle_tool_search import find, plain_words

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Which place"}},
}
EVERYTHING = Personality("everything")
CHANNELS = ("anthropic", "openai_responses")
NO_CHANNELS = ("openai", "gemini", "ollama", "bedrock", "cohere")


def made(name, description="", **options):
    schema = options.pop("schema", SCHEMA)

    def execute(args, context):
        return ok(f"{name} {json.dumps(args)}")

    return Tool(name, description, schema, execute, **options)


TOOLS = [
    made("get_weather", "The weather of a city."),
    made("send_mail", "Send a letter to a person."),
    made("read_file", "Read a file.", always_include=True),
    made("secret_weather", "The weather that nobody may know."),
]
CAREFUL = Personality("careful", exclude=["secret_weather"])


def names(definitions):
    return [each["name"] for each in definitions]


async def answers(target, *calls, **options):
    numbered = [
        {"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)
    ]
    results = await target.execute(numbered, **options)
    assert [each.tool_call_id for each in results] == [each["id"] for each in numbered]
    assert [each.name for each in results] == [each["name"] for each in numbered]
    return [each.text for each in results]


def search(query, **more):
    return ("search_tools", {"query": query, **more})


@pytest.mark.parametrize("kind", [ToolRegistry, FrozenToolRegistry])
async def test_a_view_lists_what_is_always_included_and_finds_the_rest(kind):
    view = kind(TOOLS).view(CAREFUL, search=True)
    assert view.search is not None
    before = view.fingerprint
    assert names(view.definitions()) == ["read_file", "search_tools"]
    assert names(view.definitions("anthropic")) == ["read_file", "search_tools"]
    assert await answers(view, search("weather")) == ["get_weather: The weather of a city."]
    assert view.search.found == ["get_weather"]
    assert names(view.definitions()) == ["read_file", "search_tools", "get_weather"]
    assert names(view.definitions("anthropic")) == ["get_weather", "read_file", "search_tools"]
    assert b"get_weather" in view.definitions_bytes("openai")
    assert view.fingerprint != before
    assert await answers(view, ("get_weather", {"city": "Oslo"})) == [
        'get_weather {"city": "Oslo"}'
    ]


async def test_a_search_does_not_change_what_other_views_list_or_have_found():
    registry = ToolRegistry(TOOLS)
    plain = registry.view(CAREFUL)
    listed = plain.definitions()
    one, other = (registry.view(CAREFUL, search=True) for _ in range(2))
    await answers(one, search("weather"))
    assert (one.search.found, other.search.found) == (["get_weather"], [])
    assert names(other.definitions()) == ["read_file", "search_tools"]
    assert plain.definitions() == registry.view(CAREFUL).definitions() == listed
    assert len(listed) == 3


async def test_a_later_view_loads_what_was_found_as_far_as_it_is_still_visible():
    registry = ToolRegistry([*TOOLS, made("hidden"), made("gone")])
    registry.hide("hidden")
    registry.unregister("gone")
    later = registry.view(CAREFUL, search=True).search
    later.load(["get_weather", "secret_weather", "hidden", "gone", "read_file", "send_mail"])
    assert later.found == ["get_weather", "send_mail"]
    registry.register(made("send_now", always_include=True))
    shown = [registry.view(CAREFUL, search=True).definitions() for _ in range(2)]
    assert [names(each) for each in shown] == [["read_file", "send_now", "search_tools"]] * 2


async def test_what_was_not_found_is_refused_and_what_may_not_be_seen_is_never_found():
    view = ToolRegistry(TOOLS).view(CAREFUL, search=True)
    assert await answers(
        view, ("get_weather", {}), ("secret_weather", {}), ("nothing", {}), ("read_file", {})
    ) == [
        "Tool get_weather is not currently available",
        "Tool secret_weather is not available on this surface",
        "Unknown tool: nothing",
        "read_file {}",
    ]
    for query in ("secret_weather", "nobody may know", "weather letter file secret"):
        await answers(view, search(query))
    assert "secret_weather" not in view.search.found
    assert await answers(view, ("secret_weather", {})) == [
        "Tool secret_weather is not available on this surface"
    ]


@given(st.data())
def test_only_what_the_gates_permit_is_found(data):
    registry = ToolRegistry()
    for number in range(8):
        kind = data.draw(st.sampled_from(["built-in", "plugin", "mcp"]))
        tool = made(f"tool_{number}", "common words", toolset=data.draw(st.sampled_from("ab")))
        if kind == "mcp":
            registry.register(tool, mcp_server=data.draw(st.sampled_from("xy")))
        else:
            plugin = data.draw(st.sampled_from("pq")) if kind == "plugin" else None
            registry.register(tool, plugin_id=plugin)
    personality = Personality(
        "drawn",
        toolset=data.draw(st.sampled_from([None, [], ["toolset:a"], ["tool_1", "tool_2"]])),
        mcp_servers=data.draw(st.lists(st.sampled_from("xy"))),
        plugins=data.draw(st.lists(st.sampled_from("pq"))),
        exclude=data.draw(st.lists(st.sampled_from(registry.list()))),
    )
    view = registry.view(personality, search=ToolSearch(limit=50), allow_unmatched=True)
    asyncio.run(answers(view, search("common words tool")))
    assert sorted(view.search.found) == sorted(
        names(registry.view(personality, allow_unmatched=True).definitions())
    )


@pytest.mark.parametrize("provider", CHANNELS)
async def test_found_tools_go_out_through_a_prefix_session(provider):
    registry = ToolRegistry(TOOLS)
    session = PrefixSession(registry.view(CAREFUL, search=True), provider)
    first = session.definitions_bytes()
    assert session.offered == ["read_file", "search_tools"]
    await answers(session, search("weather"))
    [message] = session.update()
    assert "get_weather" in json.dumps(message)
    assert session.offered == ["get_weather", "read_file", "search_tools"]
    assert session.definitions_bytes() == first
    assert session.update() == []
    assert await answers(
        session,
        ("get_weather", {}),
        ("send_mail", {}),
        ("call_found_tool", {"name": "get_weather"}),
    ) == [
        "get_weather {}",
        "Tool send_mail is not currently available",
        "Unknown tool: call_found_tool",
    ]
    registry.register(made("late", "Came late."))
    assert session.update(registry.view(CAREFUL, search=True)) == []
    assert await answers(session, ("get_weather", {})) == ["get_weather {}"]
    await answers(session, search("late"))
    [message] = session.update()
    assert "late" in json.dumps(message)
    assert session.definitions_bytes() == first


@pytest.mark.parametrize("provider", NO_CHANNELS)
async def test_where_nothing_can_be_announced_found_tools_are_called_by_name(provider):
    registry = ToolRegistry(TOOLS)
    session = PrefixSession(registry.view(CAREFUL, search=True), provider)
    first = session.definitions_bytes()
    assert session.offered == ["call_found_tool", "read_file", "search_tools"]
    [text] = await answers(session, search("weather"))
    assert json.loads(text.splitlines()[0])["parameters"] == SCHEMA
    for _ in range(2):
        assert await answers(
            session,
            ("call_found_tool", {"name": "get_weather", "arguments": {"city": "Oslo"}}),
            ("call_found_tool", '{"name": "get_weather", "arguments": {"city": "Oslo"}}'),
            ("call_found_tool", {"name": "get_weather", "arguments": '{"city": "Oslo"}'}),
            ("call_found_tool", {"name": "get_weather"}),
        ) == ['get_weather {"city": "Oslo"}'] * 3 + ["get_weather {}"]
        assert session.update(registry.view(CAREFUL, search=True)) == []
        assert session.definitions_bytes() == first


async def test_a_call_of_a_found_tool_passes_the_same_gates():
    strict = made("transfer", "Move money.", strict=True, output_is_untrusted=True)
    ledger = UsageLedger()
    registry = ToolRegistry([*TOOLS, strict], observers=[ledger])
    session = PrefixSession(registry.view(CAREFUL, search=True), "openai")
    for name in ("get_weather", "secret_weather", "call_found_tool", "", 1, None):
        [text] = await answers(session, ("call_found_tool", {"name": name, "arguments": {}}))
        assert text.startswith("name: no tool "), text
    [text] = await answers(session, ("call_found_tool", "{"))
    assert "JSON" in text
    await answers(session, search("money"))

    asked = []

    def refuse(invocation):
        asked.append(invocation.tool_name)
        return err("not approved", "not_available")

    transfer = ("call_found_tool", {"name": "transfer", "arguments": {}})
    approval = InvocationFilter(before=refuse, tool_names="transfer")
    assert await answers(session, transfer, filters=[approval]) == ["not approved"]
    assert asked == ["transfer"]
    call = ("call_found_tool", {"name": "transfer", "arguments": {"city": 1}})
    [text] = await answers(session, call)
    assert text.startswith("city: ")
    [result] = await session.execute([{"id": "1", "name": transfer[0], "args": transfer[1]}])
    assert (result.name, result.untrusted) == ("call_found_tool", True)
    rows = {each.name: each.invocations for each in ledger.report().tools}
    assert (rows["transfer"], rows["call_found_tool"]) == (1, 6)


async def test_streamed_calls_of_found_tools_keep_the_name_that_was_called():
    session = PrefixSession(ToolRegistry(TOOLS).view(CAREFUL, search=True), "openai")
    await answers(session, search("weather"))
    arguments = json.dumps({"name": "get_weather", "arguments": {"city": "Oslo"}})
    function = {"name": "call_found_tool", "arguments": arguments}
    delta = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    async with session.dispatch() as turn:
        turn.feed({"choices": [{"index": 0, "delta": delta}]})
        turn.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    [result] = await turn.results()
    assert (result.name, result.text) == ("call_found_tool", 'get_weather {"city": "Oslo"}')


@pytest.mark.parametrize(
    ("args", "words_of_the_answer"),
    [
        ({}, "query: a few words"),
        ({"query": " "}, "query: a few words"),
        ({"query": 1}, "query: a few words"),
        ({"query": "weather", "limit": 0}, "limit: a whole number"),
        ({"query": "weather", "limit": True}, "limit: a whole number"),
        ({"query": "zebra"}, "No tool matches."),
        ({"query": "\ud800 weather"}, "get_weather"),
    ],
)
async def test_a_search_answers_whatever_it_is_asked(args, words_of_the_answer):
    view = ToolRegistry(TOOLS).view(CAREFUL, search=True)
    [text] = await answers(view, ("search_tools", args))
    assert text.startswith(words_of_the_answer)


async def test_a_search_finds_at_most_its_limit_and_only_what_is_available():
    there = [False]
    tools = [
        made(f"weather_{n}", is_available=(lambda: there[0]) if n < 3 else None) for n in range(9)
    ]
    view = ToolRegistry(tools).view(EVERYTHING, search=ToolSearch(limit=4))
    await answers(view, search("weather", limit=2))
    assert view.search.found == ["weather_3", "weather_4"]
    await answers(view, search("weather", limit=100))
    assert view.search.found == [f"weather_{n}" for n in range(3, 7)]
    there[0] = True
    await answers(view, search("weather"))
    assert view.search.found[-3:] == ["weather_0", "weather_1", "weather_2"]
    there[0] = False
    assert "weather_0" not in names(view.definitions())
    assert await answers(view, ("weather_0", {})) == ["Tool weather_0 is not currently available"]


async def test_definitions_stay_within_their_budget_of_tokens():
    tools = [made(f"weather_{n}", "x" * 400) for n in range(9)]
    one = len(ToolRegistry(tools).view(EVERYTHING).definitions_bytes("anthropic")) // 9 // 4
    options = ToolSearch(limit=5, definition_budget_tokens=3 * one)
    view = ToolRegistry(tools).view(EVERYTHING, search=options)
    [text] = await answers(view, search("weather"))
    assert view.search.definition_tokens <= 3 * one
    assert 0 < len(view.search.found) < 5
    assert text.splitlines()[-1].startswith("Not loaded, because the budget of definitions is used")
    left_out = next(f"weather_{n}" for n in range(5) if f"weather_{n}" not in view.search.found)
    assert await answers(view, (left_out, {})) == [f"Tool {left_out} is not currently available"]


@pytest.mark.parametrize("name", ["search_tools", "call_found_tool"])
def test_a_tool_with_the_name_of_one_of_the_search_is_an_error(name):
    with pytest.raises(ConfigError, match=f"a tool is named `{name}`"):
        ToolRegistry([made(name)]).view(EVERYTHING, search=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ToolSearch(limit=0), "limit"),
        (lambda: ToolSearch(limit=51), "`limit` must be at most 50"),
        (lambda: ToolSearch(definition_budget_tokens=-1), "definition_budget_tokens"),
        (lambda: ToolSearch(by="me"), "by"),
        (lambda: ToolRegistry().view(EVERYTHING, search="yes"), "`search` must be True, False or"),
        (lambda: ToolRegistry().view(EVERYTHING, search=1), "`search` must be True, False or"),
    ],
)
def test_a_wrong_option_is_an_error(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


async def test_definitions_are_deferred_for_providers_that_search():
    view = ToolRegistry(TOOLS).view(CAREFUL, search=ToolSearch(by="provider"))
    assert view.search is None
    shown = view.definitions("anthropic")
    assert shown[0]["type"] == "tool_search_tool_bm25_20251119"
    assert names(shown[1:]) == ["read_file", "get_weather", "send_mail"]
    assert [each.get("defer_loading", False) for each in shown] == [False, False, True, True]
    assert [index for index, each in enumerate(shown) if "cache_control" in each] == [1]
    responses = view.definitions("openai_responses")
    assert responses[0] == {"type": "tool_search"}
    assert [each.get("defer_loading", False) for each in responses] == [False, False, True, True]
    for provider in CHANNELS:
        assert json.loads(view.definitions_bytes(provider)) == view.definitions(provider)
        assert len(view.bytes_digest(provider)) == 64
    assert await answers(view, ("get_weather", {}), ("secret_weather", {})) == [
        "get_weather {}",
        "Tool secret_weather is not available on this surface",
    ]
    with pytest.raises(ConfigError, match="`gemini` has no tool search of its own"):
        view.definitions("gemini")
    with pytest.raises(ConfigError, match="has no prefix"):
        view.prefix("anthropic")
    with pytest.raises(ConfigError, match="has no list to keep"):
        PrefixSession(view, "anthropic")
    empty = ToolRegistry().view(EVERYTHING, search=ToolSearch(by="provider"))
    for provider in CHANNELS:
        assert json.loads(empty.definitions_bytes(provider)) == empty.definitions(provider)


def test_a_long_list_is_warned_of_once(caplog, monkeypatch):
    monkeypatch.setattr(_search_view, "_warned", set())
    registry = ToolRegistry([made(f"tool_{number}") for number in range(129)])
    with caplog.at_level(logging.WARNING, "ethos_registry"):
        registry.view(Personality("few", exclude=["tool_0"]))
        registry.view(EVERYTHING, search=True)
        assert not caplog.records
        for _ in range(3):
            registry.view(EVERYTHING)
    [record] = caplog.records
    assert "personality `everything` is shown 129 tools" in record.getMessage()


# The index


TEXTS = st.text(st.sampled_from("abBCsSieuxyz09 _-./äÖßΣςж天気カ한é\u0301😀"), max_size=12)
SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"description": TEXTS, "title": TEXTS, "const": TEXTS}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(TEXTS, inner, max_size=3),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "enum": st.lists(TEXTS | st.integers(), max_size=3),
            "default": TEXTS,
            "description": TEXTS,
        },
    ),
    max_leaves=6,
)
DEFINITIONS = st.fixed_dictionaries({"name": TEXTS, "description": TEXTS, "parameters": SCHEMAS})


@given(st.lists(DEFINITIONS, max_size=8), TEXTS | st.text(max_size=20), st.integers(0, 9))
def test_the_index_ranks_as_the_oracle(definitions, query, limit):
    texts = [json.dumps(each, ensure_ascii=False) for each in definitions]
    index = _core.ToolSearchIndex([text.encode("utf-8", "replace") for text in texts])
    assert len(index) == len(texts)
    found = index.find(query, limit)
    expected = find(texts, query.encode("utf-8", "replace").decode(), limit)
    assert [position for position, _ in found] == [position for position, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


@given(st.lists(DEFINITIONS, min_size=1, max_size=8), st.data())
def test_a_word_of_a_definition_finds_it(definitions, data):
    texts = [json.dumps(each, ensure_ascii=False) for each in definitions]
    index = _core.ToolSearchIndex([text.encode() for text in texts])
    chosen = data.draw(st.integers(0, len(definitions) - 1))
    for word in plain_words(definitions[chosen]["name"]):
        assert chosen in [position for position, _ in index.find(word, len(texts))]


def test_the_comparison_with_the_oracle_sees_a_fault(monkeypatch):
    import oracle_tool_search

    texts = [
        '{"name":"get_weather","description":"x","parameters":{}}',
        '{"name":"x","description":"weather weather","parameters":{}}',
    ]
    index = _core.ToolSearchIndex([text.encode() for text in texts])
    assert index.find("weather", 2)[0][0] == find(texts, "weather", 2)[0][0] == 0
    monkeypatch.setitem(oracle_tool_search.WEIGHTS, "name", 0.1)
    assert index.find("weather", 2)[0][0] != find(texts, "weather", 2)[0][0]


def test_definitions_that_are_not_json_are_indexed_as_text():
    index = _core.ToolSearchIndex([b"\xff plain words", b"{", b'["words"]'])
    assert sorted(position for position, _ in index.find("word", 5)) == [0, 2]


def test_deep_and_large_definitions_are_indexed():
    deep = b'{"items":' * 100_000 + b"1" + b"}" * 100_000
    index = _core.ToolSearchIndex([deep, b'{"name":"a","description":"b","parameters":{}}'] * 3)
    assert [position for position, _ in index.find("a " * 100_000, 9)] == [1, 3, 5]


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_what_cannot_run_under_the_policy_is_not_found_and_a_session_stays_closed(
    provider, monkeypatch
):
    refused = [True]
    tools = [made("run_shell", "Run a command."), made("get_weather", "The weather.")]
    registry = ToolRegistry(tools)
    confined = Personality("confined", fs_reach={"read": ["/data"]})

    def why(entry, personality):
        return "no sandbox" if refused[0] and entry.name == "run_shell" else ""

    monkeypatch.setattr("ethos_registry.registry._search.refusal_under", why)
    session = PrefixSession(registry.view(confined, search=True), provider)
    assert (await answers(session, search("command"))) == ["No tool matches. Try other words."]
    assert await answers(session, ("run_shell", {}), ("get_weather", {})) == [
        "Tool run_shell is not currently available",
        "Tool get_weather is not currently available",
    ]
    refused[0] = False
    [text] = await answers(session, search("command"))
    assert "run_shell" in text


async def test_found_tools_are_unloaded_when_the_program_says_so():
    tools = [made("send_mail", "Send a letter."), made("get_weather", "The weather.")]
    view = ToolRegistry(tools).view(Personality("p"), search=True)
    for query in ("letter", "weather"):
        await view.execute([{"id": "1", "name": "search_tools", "args": {"query": query}}])
    assert view.search.found == ["send_mail", "get_weather"]
    assert view.search.unload(keep=["get_weather"]) == ["send_mail"]
    assert [each["name"] for each in view.definitions()] == ["search_tools", "get_weather"]
    [refused] = await view.execute([{"id": "1", "name": "send_mail", "args": {}}])
    assert refused.result.code == "not_available"
    await view.execute([{"id": "1", "name": "search_tools", "args": {"query": "letter"}}])
    assert view.search.found == ["get_weather", "send_mail"]


@pytest.mark.parametrize("provider", [*CHANNELS, *NO_CHANNELS])
async def test_unloading_changes_no_byte_of_a_running_session(provider):
    tools = [made("send_mail", "Send a letter."), made("get_weather", "The weather.")]
    view = ToolRegistry(tools).view(Personality("p"), search=True)
    session = PrefixSession(view, provider)
    first = session.definitions_bytes()
    for query in ("letter", "weather"):
        await answers(session, search(query))
        session.update()
    for _ in range(50):  # nothing is unloaded unless the program says so
        await answers(session, search("zebra"))
        assert session.update() == []
    assert view.search.found == ["send_mail", "get_weather"]
    assert view.search.unload(keep=["get_weather"]) == ["send_mail"]
    session.update()
    assert session.definitions_bytes() == first
    assert "send_mail" not in session.offered
    after_compaction = PrefixSession(view, provider)
    assert "send_mail" not in after_compaction.offered
    await answers(after_compaction, search("letter"))
    after_compaction.update()
    assert view.search.found == ["get_weather", "send_mail"]
