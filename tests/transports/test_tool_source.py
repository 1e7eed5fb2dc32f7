"""What workers import: references that another process can resolve."""

from __future__ import annotations

import pytest

from ethos_registry import ConfigError, Tool, ToolRegistry, ok
from ethos_registry.tools import ready_tools
from ethos_registry.transports import ProcessTransport
from ethos_registry.transports._protocol import checked_references, load_tools, offered_tools

pytestmark = pytest.mark.every_python

one = Tool("one", "", {"type": "object"}, lambda args, context: ok(""))
several = [one.replace(name="two"), one.replace(name="three")]
registry = ToolRegistry([one], default_timeout_seconds=7)
registry.register(one.replace(name="plugged"), plugin_id="p1")
nothing: list[Tool] = []


def make() -> list[Tool]:
    return several


@pytest.mark.parametrize(
    ("attribute", "names"),
    [
        ("one", ["one"]),
        ("several", ["three", "two"]),
        ("make", ["three", "two"]),
        ("registry", ["one", "plugged"]),
    ],
)
def test_a_reference_names_a_tool_tools_a_function_or_a_registry(
    attribute: str, names: list[str]
) -> None:
    assert load_tools([f"transports.test_tool_source:{attribute}"]).list() == names


def test_of_several_references_the_settings_are_those_of_the_registry() -> None:
    merged = load_tools(
        ["transports.test_tool_source:several", "transports.test_tool_source:registry"]
    )
    assert merged.list() == ["one", "plugged", "three", "two"]
    assert merged.plugin_id_of("plugged") == "p1"
    assert merged._settings().default_timeout_seconds == 7


def test_the_offer_has_the_digest_and_the_kind_of_each_tool() -> None:
    offered = offered_tools(load_tools(["ethos_registry.tools:ready_tools"]))
    assert offered.keys() == {tool.name for tool in ready_tools()}
    again = offered_tools(ToolRegistry(ready_tools()))
    assert offered == again
    changed = ready_tools()[0].replace(description="Another.")
    assert offered_tools(ToolRegistry([changed]))[changed.name] != offered[changed.name]


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ("__main__:registry", "cannot import the main program"),
        ("package", "takes `module:attribute`"),
        (":registry", "takes `module:attribute`"),
        ([], "is empty"),
        ([5], "tools"),
    ],
)
def test_a_reference_that_no_worker_can_import_is_refused(tools: object, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        checked_references(tools)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("transports.test_tool_source:nothing", "not a registry, a Tool or a list of tools"),
        ("entry_point:unheard_of", "no installed package has the entry point 'unheard_of'"),
    ],
)
def test_a_reference_to_something_else_is_an_error_of_the_worker(
    reference: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_tools([reference])


@pytest.mark.parametrize(
    "settings",
    [
        {"workers": 0},
        {"calls_per_worker": 1.5},
        {"max_pending": "many"},
        {"queue_seconds": -1},
        {"max_result_bytes": 0},
        {"limits": {"memory_bytes": 1}},
        {"sandbox": True},
    ],
)
def test_a_wrong_setting_is_refused_before_a_process_starts(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        ProcessTransport("ethos_registry.tools:ready_tools", **settings)  # type: ignore[arg-type]
