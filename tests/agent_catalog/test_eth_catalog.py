"""The catalogue: one for all agents, owners and grants, sealed by its start (facts ETH-1 to 28)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading

import pytest

from catalog_agents import Specialist, names, started, tool
from ethos_registry import (
    ConfigError,
    Personality,
    Tool,
    ToolAlreadyRegisteredError,
    ToolContext,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.usage import UsageLedger
from session_tools import in_own_process, reason


async def outcome(view, name, **options):
    [result] = await view.execute([{"id": "1", "name": name, "args": {}}], **options)
    return "ok" if result.ok else reason(result)


# One catalogue


def test_eth_1_one_catalogue_per_process():
    done = in_own_process("""
        import threading
        from ethos_registry.agents import AgentCatalog
        found = []
        threads = [threading.Thread(target=lambda: found.append(AgentCatalog.default()))
                   for _ in range(20)]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        print(len({id(each) for each in found}))
    """)
    assert done.stdout.strip() == "1"


def test_eth_2_two_accessors_return_the_same_object():
    assert AgentCatalog.default() is AgentCatalog.default()
    assert AgentCatalog() is not AgentCatalog.default()


def test_eth_3_the_start_calls_each_agent_once():
    agents = [Specialist(f"agent_{number}") for number in range(5)]
    started(*agents)
    assert [agent.registered for agent in agents] == [1] * 5


def test_eth_4_an_agent_without_tools_is_fine():
    catalog = started(Specialist("hawken"), Specialist("lagan", "search"))
    assert names(catalog.view("hawken")) == []
    assert started().registry.size == 0


# What an entry has


def test_eth_5_6_7_8_each_entry_has_name_description_parameters_and_owner():
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    catalog = started(Specialist("hawken", tool("lore_search", schema=schema)))
    [found] = catalog.registrations()
    assert found.tool.definition == {
        "name": "lore_search",
        "description": "The tool lore_search.",
        "parameters": schema,
    }
    assert found.owner == "hawken"


async def test_eth_9_each_entry_has_an_implementation():
    catalog = started(Specialist("hawken", "lore_search"))
    assert await outcome(catalog.view("hawken"), "lore_search") == "ok"


@pytest.mark.parametrize("part", ["name", "description", "schema", "execute", "owner"])
def test_eth_10_a_missing_part_is_refused(part):
    catalog = AgentCatalog()
    fields = {"name": "search", "description": "Search.", "schema": {"type": "object"}}
    fields |= {"execute": lambda args, context: ok("")}
    fields |= {part: " " if part == "description" else None}
    owner = fields.pop("owner", "hawken")
    with pytest.raises(ConfigError):
        catalog.register(Tool(**fields), owner=owner)
    assert catalog._staged.size == 0


def test_eth_10_a_blank_owner_and_a_description_that_is_blank_are_refused_in_words():
    catalog = AgentCatalog()
    with pytest.raises(ConfigError, match="tool `search` needs an owner"):
        catalog.register(tool("search"))
    with pytest.raises(ConfigError, match="tool `search` needs an owner"):
        catalog.register(tool("search"), owner=" ")
    with pytest.raises(ConfigError, match="tool `search` of agent `hawken` has no description"):
        catalog.register(tool("search", description="\n"), owner="hawken")


# Names


def test_eth_11_12_13_a_name_of_another_agent_is_refused_with_both_owners_and_stays_theirs():
    catalog = AgentCatalog()
    first = tool("search")
    catalog.register(first, owner="hawken")
    with pytest.raises(ToolAlreadyRegisteredError) as caught:
        catalog.register(tool("search"), owner="lagan")
    error = caught.value
    assert (error.tool_name, error.existing_owner, error.owner) == ("search", "hawken", "lagan")
    assert all(word in str(error) for word in ("search", "hawken", "lagan"))
    catalog.start()
    assert catalog.registry.get("search") is first


def test_eth_12_the_start_names_the_agent_too():
    catalog = AgentCatalog([Specialist("hawken", "search"), Specialist("lagan", "search")])
    with pytest.raises(ToolAlreadyRegisteredError, match="agent `lagan` could not register") as it:
        catalog.start()
    assert (it.value.existing_owner, it.value.owner) == ("hawken", "lagan")


def test_eth_14_the_same_agent_cannot_register_a_name_twice():
    with pytest.raises(ToolAlreadyRegisteredError):
        started(Specialist("hawken", "search", "search"))


# Sealed


def test_eth_15_16_nothing_is_registered_or_unregistered_after_the_start():
    catalog = started(Specialist("hawken", "search"))
    assert catalog.is_sealed

    def late() -> str:
        """Come late."""
        return ""

    for change in (
        lambda: catalog.register(tool("late"), owner="hawken"),
        lambda: catalog.unregister("search"),
        lambda: catalog.tool(late, owner="hawken"),
        lambda: catalog.add(Specialist("late")),
        lambda: catalog.register_delegation(owner="hawken"),
        lambda: catalog.observe(object()),
        catalog.start,
    ):
        with pytest.raises(ConfigError, match="sealed"):
            change()
    assert catalog.registry.list() == ["search"]
    assert not hasattr(catalog.registry, "register")


def test_eth_17_a_new_catalogue_accepts_new_tools():
    started(Specialist("hawken", "search"))
    catalog = started(Specialist("hawken", "search", "summarise"))
    assert catalog.registry.list() == ["search", "summarise"]


def test_eth_18_two_projects_of_one_process_see_the_same_tools():
    done = in_own_process("""
        from ethos_registry import Tool, ok
        from ethos_registry.agents import AgentCatalog
        class Agent:
            id = "hawken"
            def register_tools(self, catalog):
                catalog.register(Tool("search", "Search.", {"type": "object"}, lambda a, c: ok("")))
        AgentCatalog.default().add(Agent())
        AgentCatalog.default().start()
        projects = [AgentCatalog.default(), AgentCatalog.default()]
        print([project.registry.list() for project in projects])
    """)
    assert done.stdout.strip() == "[['search'], ['search']]"


class Broken(Specialist):
    def __init__(self, agent_id, error, *tools):
        super().__init__(agent_id, *tools)
        self.error = error

    def register_tools(self, catalog):
        super().register_tools(catalog)
        catalog.grant(self.id, "toolset:none")
        if self.error is not None:
            raise self.error


def test_a_start_that_fails_leaves_nothing_and_can_be_tried_again():
    broken = Broken("lagan", RuntimeError("no network"), "fetch")
    catalog = AgentCatalog([Specialist("hawken", "search"), broken])
    catalog.register(tool("shared"), owner="platform")
    with pytest.raises(ConfigError, match="agent `lagan` could not register its tools: no network"):
        catalog.start()
    assert not catalog.is_sealed
    with pytest.raises(ConfigError, match="has not been started"):
        catalog.view("hawken")
    broken.error = None
    broken.register_tools = lambda catalog: catalog.register(tool("fetch"))
    catalog.start()
    assert catalog.registry.list() == ["fetch", "search", "shared"]
    assert catalog.grants_of("lagan") == []


def test_a_start_that_fails_keeps_no_agent_and_no_observer_that_were_added_meanwhile():
    class Calls:
        seen = 0

        def batch_finished(self, calls):
            self.seen += len(calls)

    calls = Calls()
    errors = [RuntimeError("no network")]

    def register_tools(catalog):
        catalog.add(Specialist("helper", "fetch"))
        catalog.observe(calls)
        if errors:
            raise errors.pop()

    agent = Specialist("lagan", "search")
    agent.register_tools = register_tools
    catalog = AgentCatalog([agent])
    with pytest.raises(ConfigError, match="no network"):
        catalog.start()
    assert list(catalog.agents) == ["lagan"]
    catalog.start()
    assert list(catalog.agents) == ["lagan", "helper"]
    asyncio.run(catalog.view("helper").execute([{"id": "1", "name": "fetch", "args": {}}]))
    assert calls.seen == 1


def test_an_agent_that_is_added_during_the_start_registers_its_tools():
    agent = Specialist("lagan", "search")
    agent.register_tools = lambda catalog: catalog.add(Specialist("helper", "fetch"))
    catalog = AgentCatalog([agent])
    catalog.start()
    assert [each["name"] for each in catalog.view("helper").definitions()] == ["fetch"]


def test_an_observer_that_fails_at_the_list_of_tools_does_not_disturb_the_start(caplog):
    class Failing:
        def batch_finished(self, calls):
            pass

        def add_tools(self, registrations):
            raise OSError("disk full")

    ledger = UsageLedger()
    catalog = AgentCatalog([Specialist("hawken", "search")], observers=[Failing(), ledger])
    catalog.start()
    assert catalog.is_sealed
    assert [tool.name for tool in ledger.report().tools] == ["search"]
    assert "`add_tools` of an observer raised" in caplog.text


def test_an_interrupt_leaves_nothing_either():
    broken = Broken("lagan", KeyboardInterrupt(), "fetch")
    catalog = AgentCatalog([Specialist("hawken", "search"), broken])
    with pytest.raises(KeyboardInterrupt):
        catalog.start()
    assert not catalog.is_sealed
    assert catalog._staged.size == 0


def test_an_agent_that_swallows_a_taken_name_leaves_the_first_owner_its_tool():
    class Careless(Specialist):
        def register_tools(self, catalog):
            for each in self.tools:
                with contextlib.suppress(ToolAlreadyRegisteredError):
                    catalog.register(each)

    catalog = started(Specialist("hawken", "search"), Careless("lagan", "search", "fetch"))
    assert {found.tool.name: found.owner for found in catalog.registrations()} == {
        "search": "hawken",
        "fetch": "lagan",
    }


def test_agents_that_are_none_are_refused_when_they_are_added():
    class Awaited(Specialist):
        async def register_tools(self, catalog): ...

    class WrongRun(Specialist):
        def run(self, task): ...

    catalog = AgentCatalog([Specialist("hawken")])
    for agent, words in (
        (object(), "needs an `id`"),
        (Specialist(""), "needs an `id`"),
        (Specialist(7), "needs an `id`"),
        (Specialist("hawken"), "already"),
        (Awaited("lagan"), "async def"),
        (WrongRun("lagan"), "must take task and context and tool_context"),
        (type("NoTools", (), {"id": "lagan"})(), "register_tools"),
    ):
        with pytest.raises(ConfigError, match=words):
            catalog.add(agent)
    assert list(catalog.agents) == ["hawken"]


def test_an_agent_registers_and_unregisters_its_own_tools_only():
    class Greedy(Specialist):
        def register_tools(self, catalog):
            with pytest.raises(ConfigError, match="cannot register a tool that is owned by"):
                catalog.register(tool("mine"), owner="hawken")
            with pytest.raises(ConfigError, match="cannot unregister `search`"):
                catalog.unregister("search")
            catalog.register(tool("draft"))
            catalog.unregister("draft")
            catalog.unregister("unknown")

    catalog = started(Specialist("hawken", "search"), Greedy("lagan"))
    assert catalog.registry.list() == ["search"]


# Function and schema


def test_eth_19_a_property_that_the_function_cannot_take_is_refused():
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query", "limit"],
    }
    catalog = AgentCatalog()
    with pytest.raises(ConfigError, match="limit"):

        @catalog.tool(owner="hawken", schema=schema)
        def search(query: str) -> str:
            """Search."""
            return query


def test_eth_20_a_parameter_that_the_schema_lacks_is_refused():
    catalog = AgentCatalog()
    with pytest.raises(ConfigError, match="limit"):

        @catalog.tool(
            owner="hawken",
            schema={
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        )
        def search(query: str, limit: int) -> str:
            """Search."""
            return query


def test_eth_21_keyword_arguments_take_all_properties():
    catalog = AgentCatalog()
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

    @catalog.tool(owner="hawken", schema=schema)
    def search(**options: str) -> str:
        """Search."""
        return str(options)

    catalog.start()
    assert catalog.registry.list() == ["search"]


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {}, {"type": ["object"]}, "object", {"properties": {}}]
)
def test_eth_22_a_schema_without_an_object_root_is_refused(schema):
    with pytest.raises(ConfigError, match="schema"):
        tool("search", schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "strin"}}},
        {"type": "object", "properties": {"a": {"minimum": "one"}}},
        {"type": "object", "required": "a"},
    ],
)
def test_eth_23_an_invalid_json_schema_is_refused(schema):
    with pytest.raises(ConfigError):
        AgentCatalog().register(tool("search", schema=schema), owner="hawken")


# Who sees what


def two_agents(**settings):
    web = tool("fetch", toolset="web")
    return started(
        Specialist("hawken", "lore_search", "write"), Specialist("lagan", web, "wiki"), **settings
    )


def test_eth_24_25_an_agent_sees_its_own_tools_and_no_others():
    catalog = two_agents()
    assert names(catalog.view("hawken")) == ["lore_search", "write"]
    assert names(catalog.view("lagan")) == ["fetch", "wiki"]


@pytest.mark.parametrize(
    ("what", "seen"),
    [
        ("wiki", ["lore_search", "wiki", "write"]),
        ("tool:wiki", ["lore_search", "wiki", "write"]),
        ("toolset:web", ["fetch", "lore_search", "write"]),
        ("lagan", ["fetch", "lore_search", "wiki", "write"]),
        ("owner:lagan", ["fetch", "lore_search", "wiki", "write"]),
        ("agent:lagan", ["lore_search", "write"]),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_eth_26_a_granted_tool_is_seen(what, seen, when):
    agents = [Specialist("hawken", "lore_search", "write")]
    agents.append(Specialist("lagan", tool("fetch", toolset="web"), "wiki"))
    catalog = AgentCatalog(agents)
    if when == "before":
        catalog.grant("hawken", what)
        catalog.start()
    else:
        catalog.start()
        before = catalog.view("hawken")
        catalog.grant(agents[0], what)
        assert names(before) == ["lore_search", "write"]
    assert names(catalog.view("hawken")) == seen
    assert names(catalog.view("lagan")) == ["fetch", "wiki"]


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        ("nobody", "wiki"),
        ("hawken", "unknown"),
        ("hawken", "toolset:unknown"),
        ("hawken", "owner:unknown"),
        ("hawken", "agent:unknown"),
        ("hawken", 5),
    ],
)
def test_a_grant_of_what_does_not_exist_is_refused(agent, what):
    with pytest.raises(ConfigError):
        two_agents().grant(agent, what)
    early = AgentCatalog([Specialist("hawken"), Specialist("lagan", "wiki")])
    with contextlib.suppress(ConfigError):
        early.grant(agent, what)
        with pytest.raises(ConfigError):
            early.start()
        assert not early.is_sealed


def test_a_name_that_a_tool_and_an_agent_have_must_be_distinguished():
    catalog = started(Specialist("lagan", "hawken"), Specialist("hawken", "search"))
    with pytest.raises(ConfigError, match="'tool:hawken' or 'owner:hawken'"):
        catalog.grant("lagan", "hawken")
    catalog.grant("lagan", "owner:hawken")
    assert names(catalog.view("lagan")) == ["hawken", "search"]


async def test_callable_is_what_is_visible():
    catalog = two_agents()
    view = catalog.view("hawken")
    assert await outcome(view, "lore_search") == "ok"
    assert await outcome(view, "wiki") == "denied"
    assert await outcome(view, "nothing") == "unknown"
    catalog.grant("hawken", "wiki")
    assert await outcome(catalog.view("hawken"), "wiki") == "ok"


async def test_eth_27_every_tool_is_callable_where_calls_are_open():
    view = two_agents(open_calls=True).view("hawken")
    assert names(view) == ["lore_search", "write"]
    assert [await outcome(view, name) for name in ("write", "wiki", "fetch", "nothing")] == [
        "ok",
        "ok",
        "ok",
        "unknown",
    ]


@pytest.mark.parametrize("open_calls", [False, True])
async def test_exclude_and_capabilities_bind_however_open_calls_are(open_calls):
    needy = tool("needy", capabilities={"network": {"allowed_hosts": ["example.org"]}})
    catalog = started(Specialist("hawken", "write", needy), open_calls=open_calls)
    view = catalog.view("hawken", Personality("strict", exclude=["write"]))
    assert names(view) == ["needy"]
    assert await outcome(view, "write") == "excluded"
    assert await outcome(view, "needy") == "no_backends"


async def test_tools_that_are_always_included_of_plugins_and_of_mcp_servers_stay_with_their_owner():
    class Owner(Specialist):
        def register_tools(self, catalog):
            catalog.register(tool("always", always_include=True))
            catalog.register(tool("draw"), plugin_id="art")
            catalog.register(tool("mcp__git__log"))

    catalog = started(Owner("hawken"), Specialist("lagan", "wiki"))
    assert names(catalog.view("hawken")) == ["always", "draw", "mcp__git__log"]
    view = catalog.view("lagan")
    assert names(view) == ["wiki"]
    for name in ("always", "draw", "mcp__git__log"):
        assert await outcome(view, name) == "denied"


async def test_a_personality_narrows_what_an_agent_has():
    catalog = two_agents()
    catalog.grant("hawken", "wiki")
    view = catalog.view("hawken", Personality("reader", toolset=["wiki", "fetch"]))
    assert names(view) == ["wiki"]
    assert await outcome(view, "fetch") == "denied"
    assert await outcome(view, "write") == "denied"


def test_a_view_of_an_unknown_agent_is_refused():
    with pytest.raises(ConfigError, match="there is no agent 'nobody'"):
        two_agents().view("nobody")


async def test_tools_read_the_agent_that_calls_them_whatever_the_context_says():
    seen = []

    async def execute(args, context):
        seen.append((context.agent_id, context.session_id, context.personality_id))
        return ok("")

    catalog = started(Specialist("hawken", tool("who", execute=execute)))
    context = ToolContext(agent_id="somebody", session_id="s1")
    await catalog.view("hawken", Personality("quiet")).execute(
        [{"id": "1", "name": "who"}], context
    )
    assert seen == [("hawken", "s1", "quiet")]


# Stable order


def test_the_order_of_agents_and_registrations_does_not_change_the_bytes():
    parts = [("hawken", ("zeta", "Beta", "alpha")), ("lagan", ("wiki", "Fetch"))]
    bytes_of = set()
    for agents in itertools.permutations(parts):
        for order in itertools.permutations(agents[0][1]):
            catalog = started(
                Specialist(agents[0][0], *order), Specialist(agents[1][0], *agents[1][1])
            )
            catalog.grant("hawken", "owner:lagan")
            view = catalog.view("hawken")
            bytes_of.add((json.dumps(view.definitions()), view.fingerprint))
    assert len(bytes_of) == 1
    [(text, _)] = bytes_of
    assert [shown["name"] for shown in json.loads(text)] == [
        "Beta", "Fetch", "alpha", "wiki", "zeta",
    ]  # fmt: skip


def test_a_tool_of_another_agent_does_not_change_this_agents_bytes():
    few = started(Specialist("hawken", "search"), Specialist("lagan", "wiki"))
    more = started(Specialist("hawken", "search"), Specialist("lagan", "abc", "wiki", "zzz"))
    for provider in (None, "anthropic", "openai"):
        assert json.dumps(few.view("hawken").definitions(provider)) == json.dumps(
            more.view("hawken").definitions(provider)
        )
    assert few.view("hawken").fingerprint == more.view("hawken").fingerprint


def test_settings_reach_the_registry():
    catalog = started(Specialist("hawken"), default_timeout_seconds=7, validate_arguments=True)
    assert catalog.registry._settings().default_timeout_seconds == 7
    with pytest.raises(TypeError):
        AgentCatalog(no_such_setting=1)


def test_threads_that_start_at_once_start_once():
    agents = [Specialist(f"agent_{number}", f"tool_{number}") for number in range(20)]
    catalog = AgentCatalog(agents)
    failures = []

    def start():
        try:
            catalog.start()
        except ConfigError as error:
            failures.append(str(error))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures) == 3
    assert [agent.registered for agent in agents] == [1] * 20


@pytest.mark.parametrize("open_calls", [False, True])
async def test_calls_of_a_stream_are_those_of_the_agent(open_calls):
    seen = []

    async def execute(args, context):
        seen.append(context.agent_id)
        return ok("")

    catalog = started(
        Specialist("hawken", tool("own", execute=execute)),
        Specialist("lagan", tool("other", execute=execute)),
        open_calls=open_calls,
    )
    events = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for index, name in enumerate(("own", "other")):
        block = {"type": "tool_use", "id": name, "name": name, "input": {}}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    context = ToolContext(agent_id="somebody")
    async with catalog.view("hawken").dispatch(context, provider="anthropic") as turn:
        for event in events:
            turn.feed(event)
    results = await turn.results()
    assert [result.ok for result in results] == [True, open_calls]
    assert seen == ["hawken"] * (1 + open_calls)
