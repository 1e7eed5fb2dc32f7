"""Entries of policies that match nothing are refused, or logged where nothing may be raised."""

import asyncio
import threading

import pytest

from ethos_registry import (
    ConfigError,
    DefaultToolResultReducerRegistry,
    FrozenToolRegistry,
    InvocationFilter,
    Personality,
    Tool,
    ToolFilterOpts,
    ToolRegistry,
    default_reducers,
    err,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.tools._artifact_readers import READER_NAMES

SCHEMA = {"type": "object"}
NOBODY = Personality("p")
CALL = [{"id": "1", "name": "delete_folders", "args": {}}]


def tool(name, **fields):
    return Tool(name, "A tool.", SCHEMA, lambda args, context: ok("ran"), **fields)


def registry(**settings) -> ToolRegistry:
    made = ToolRegistry(
        [tool("wipe", toolset="danger"), tool("delete_folders"), tool("read", toolset="file")],
        **settings,
    )
    made.register(tool("mcp__git__log", toolset="history"))
    made.register(tool("draw", toolset="art"), plugin_id="paint")
    return made


def refused(personality, made=None):
    with pytest.raises(ConfigError) as caught:
        (made or registry()).view(personality)
    return str(caught.value)


@pytest.mark.parametrize(
    ("fields", "nearest"),
    [
        ({"exclude": ["wype"]}, "'wipe'"),
        ({"exclude": ["toolset:dnager"]}, "'toolset:danger'"),
        ({"exclude": ["mcp__git__lug"]}, "'mcp__git__log'"),
        ({"toolset": ["raed"]}, "'read'"),
        ({"toolset": ["toolset:flie"]}, "'file'"),
        ({"mcp_servers": ["gitt"]}, "'git'"),
        ({"plugins": ["piant"]}, "'paint'"),
    ],
)
def test_an_entry_that_matches_nothing_is_refused_with_the_nearest_name(fields, nearest):
    personality = Personality("p", **fields)
    message = refused(personality)
    assert f"did you mean {nearest}?" in message
    assert "\n" not in message
    assert registry().view(personality, allow_unmatched=True)
    assert registry().check(personality)


def test_every_registry_and_catalogue_refuses_equally():
    personality = Personality("p", exclude=["wype"])
    frozen = registry().freeze()
    for made in (frozen, FrozenToolRegistry(registry().all()), registry().for_turn()):
        assert "'wype'" in refused(personality, made)
    for search in (True, False):
        with pytest.raises(ConfigError, match="wype"):
            registry().view(personality, search=search)


class Owner:
    id = "owner"

    def register_tools(self, catalog):
        catalog.register(tool("delete_folders", toolset="danger"))


def test_a_catalogue_refuses_personalities_and_grants_with_the_nearest_name():
    catalog = AgentCatalog([Owner()])
    catalog.start()
    with pytest.raises(ConfigError, match="did you mean 'delete_folders'"):
        catalog.view("owner", Personality("p", exclude=["delete_folder"]))
    assert catalog.view("owner", Personality("p", exclude=["x"]), allow_unmatched=True)
    for what, nearest in [
        ("delete_folder", "delete_folders"),
        ("tool:delete_folder", "tool:delete_folders"),
        ("toolset:dangr", "toolset:danger"),
        ("agent:ownr", "agent:owner"),
    ]:
        with pytest.raises(ConfigError, match=f"did you mean '{nearest}'"):
            catalog.grant("owner", what)
        catalog.grant("owner", what, allow_unmatched=True)
    assert [each["name"] for each in catalog.view("owner").definitions()] == ["delete_folders"]


def test_a_grant_of_nothing_fails_at_the_start_unless_it_is_allowed():
    catalog = AgentCatalog([Owner()])
    catalog.grant("owner", "elsewhere", allow_unmatched=True)
    catalog.start()
    refusing = AgentCatalog([Owner()])
    refusing.grant("owner", "elsewhere")
    with pytest.raises(ConfigError, match="elsewhere"):
        refusing.start()


@pytest.mark.parametrize("kind", ["built-in", "plugin", "mcp"])
def test_an_excluded_toolset_is_neither_shown_nor_run(kind):
    made = ToolRegistry()
    tags = {"plugin": {"plugin_id": "p"}, "mcp": {"mcp_server": "s"}}.get(kind, {})
    made.register(tool("wipe", toolset="danger", always_include=kind == "built-in"), **tags)
    made.register(tool("safe"))
    view = made.view(
        Personality("p", exclude=["toolset:danger"], plugins=["p"], mcp_servers=["s"]),
        allow_unmatched=True,
    )
    assert [each["name"] for each in view.definitions()] == ["safe"]
    [result] = asyncio.run(view.execute([{"id": "1", "name": "wipe", "args": {}}]))
    assert result.result.code == "not_available"
    filters = ToolFilterOpts(exclude_tools=["toolset:danger"])
    [result] = made.execute_parallel_sync([{"id": "1", "name": "wipe"}], filter_opts=filters)
    assert result.result.code == "not_available"
    explained = made.explain("wipe", Personality("p", exclude=["toolset:danger"]))
    assert explained.outcome == "excluded"
    assert "`toolset:danger`" in explained.text


def test_an_excluded_toolset_binds_open_calls_of_a_catalogue():
    catalog = AgentCatalog([Owner()], open_calls=True)
    catalog.start()
    view = catalog.view("owner", Personality("p", exclude=["toolset:danger"]))
    [result] = asyncio.run(view.execute(CALL))
    assert result.result.code == "not_available"


def deny(invocation):
    return err("denied", "not_available")


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_names": ["delete_folder"]},
        {"tool_names": "delete_folder"},
        {"tool_names": ["delete_folders", "wype"]},
        {"tool_names": ["toolset:dnager"]},
        {"toolset": "dnager"},
        {"toolset": "danger", "tool_names": ["delete_folders"]},
    ],
)
def test_a_filter_that_matches_nothing_is_refused_before_any_tool_starts(fields):
    item = InvocationFilter(deny, **fields)
    everything = Personality("p")
    for made, given in ((registry(), [item]), (registry(filters=[item]), [])):
        with pytest.raises(ConfigError, match="invalid filter"):
            made.execute_parallel_sync(CALL, filters=given)
    with pytest.raises(ConfigError, match="invalid filter"):
        registry().view(everything).dispatch(provider="openai", filters=[item])
    with pytest.raises(ConfigError, match="invalid filter"):
        registry(filters=[item]).view(everything)
    allowed = InvocationFilter(deny, allow_unmatched=True, **fields)
    registry().execute_parallel_sync(CALL, filters=[allowed])


def test_a_filter_may_name_a_toolset_among_its_tools():
    item = InvocationFilter(deny, tool_names=["toolset:danger"])
    [result] = registry().execute_parallel_sync([{"id": "1", "name": "wipe"}], filters=[item])
    assert result.text == "denied"
    [result] = registry().execute_parallel_sync(CALL, filters=[item])
    assert result.text == "ran"


def test_what_is_not_there_now_still_matches():
    made = registry()
    made.register(tool("off", is_available=lambda: False))
    made.register(tool("unseen"))
    made.hide("unseen")
    made.register(tool("brief", ephemeral=True, toolset="turn"))
    made.declare(mcp_servers=["tickets"], plugins=["later"])
    personality = Personality(
        "p",
        toolset=["off", "unseen", "brief", "toolset:turn", "read", *READER_NAMES],
        mcp_servers=["git", "tickets"],
        plugins=["paint", "later"],
        exclude=["mcp__git__log", "mcp__tickets__close", "toolset:danger", "search_tools"],
    )
    for copy in (made, made.for_turn(), made.freeze(), ToolRegistry.merge([made])):
        copy.view(personality)
        assert copy.check(personality) == {}
    for name in made.list():
        made.unregister(name)
    made.prune_ephemeral()
    for copy in (made, made.for_turn(), made.freeze(), ToolRegistry.merge([made])):
        copy.view(personality)
        filters = [InvocationFilter(deny, tool_names="wipe")]
        assert copy.execute_parallel_sync([], filters=filters) == []


def test_a_server_whose_tools_are_known_does_not_match_a_typo():
    made = registry()
    made.declare(mcp_servers=["git"])
    assert "'mcp__git__log'" in refused(Personality("p", exclude=["mcp__git__lug"]), made)


def test_a_replaced_tool_leaves_its_toolset_known():
    made = registry()
    made.register(tool("read", toolset="other"), overwrite=True)
    made.view(Personality("p", toolset=["toolset:file"]))


def test_a_view_never_starts_to_fail_while_servers_come_and_go():
    made = registry()
    personality = Personality("p", mcp_servers=["git"], exclude=["mcp__git__log"])
    stop = threading.Event()
    problems = []

    def look():
        while not stop.is_set():
            try:
                made.view(personality)
            except ConfigError as problem:
                problems.append(problem)

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(300):
        made.unregister("mcp__git__log")
        made.register(tool("mcp__git__log"))
    stop.set()
    thread.join()
    assert problems == []


def test_allow_lists_and_filters_never_raise_and_warn_once(caplog):
    made = registry()
    options = ToolFilterOpts(exclude_tools=["wype"], allowed_mcp_servers=["gitt"])
    for _ in range(3):
        results = made.execute_parallel_sync(CALL, None, ["delete_folders", "raed"], options)
        made.to_definitions(["delete_folders", "raed"], options)
    assert results[0].ok
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    for name in ("'raed' (did you mean 'read'?)", "'wype' (did you mean 'wipe'?)", "'gitt'"):
        assert name in record.getMessage()
    found = {"allowed_tools": ["raed"], "exclude_tools": ["wype"], "allowed_mcp_servers": ["gitt"]}
    assert made.check(Personality("p")) == found
    assert registry().check(NOBODY, allowed_tools=["raed", "read"], filter_opts=options) == found
    made.register(tool("raed"))
    assert "allowed_tools" not in made.check(NOBODY)


class Shorter:
    def __init__(self, tool_name):
        self.tool_name = tool_name

    def reduce(self, result, context):
        return result


def test_reducers_may_come_before_their_tools_and_are_reported(caplog):
    reducers = default_reducers()
    reducers.register(Shorter("raed"))
    made = registry(reducer_registry=reducers)
    for _ in range(2):
        made.execute_parallel_sync(CALL)
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    assert "'raed' (did you mean 'read'?)" in record.getMessage()
    assert made.check(Personality("p")) == {"reducers": ["raed"]}
    assert registry(reducer_registry=DefaultToolResultReducerRegistry()).check(NOBODY) == {}
