"""Why a tool is hidden or refused, and which words of a policy mean nothing."""

from __future__ import annotations

import pytest

from ethos_registry import Personality, ToolRegistry
from registry_tools import EVERYTHING, made

pytestmark = pytest.mark.every_python


def registry() -> ToolRegistry:
    made_one = ToolRegistry(
        [
            made("read", toolset="file"),
            made("bare"),
            made("off", is_available=lambda: False),
            made("mcp__git__log"),
            made("secret"),
        ]
    )
    made_one.register(made("draw"), plugin_id="art")
    made_one._table.set_hidden("secret", hidden=True)
    return made_one


@pytest.mark.parametrize(
    ("name", "personality", "outcome", "text"),
    [
        ("read", EVERYTHING, "visible", "`read` is visible to `everything`"),
        (
            "secret",
            EVERYTHING,
            "hidden",
            "`secret` is hidden: it is left out of definitions, but runs when called",
        ),
        (
            "off",
            EVERYTHING,
            "unavailable",
            "`off` is permitted, but its `is_available` returned false",
        ),
        ("Read", EVERYTHING, "unknown", "`Read` is not registered; names are case-sensitive"),
        (
            "read",
            Personality("p", exclude=["read"]),
            "excluded",
            "`read` is in `exclude` of `p`, which overrides everything else",
        ),
        (
            "read",
            Personality("p", toolset=["bare"]),
            "toolset",
            "`read` is not in the toolset of `p`; add `read` or `toolset:file`",
        ),
        ("bare", Personality("p", toolset=[]), "toolset", "of `p`; add `bare`"),
        ("mcp__git__log", EVERYTHING, "mcp_server", "MCP server 'git', which is not in"),
        ("draw", EVERYTHING, "plugin", "plugin 'art', which is not in `plugins` of `everything`"),
    ],
)
def test_the_gate_is_named_with_the_value_and_the_way_out(
    name: str, personality: Personality, outcome: str, text: str
) -> None:
    explanation = registry().explain(name, personality)
    assert explanation.outcome == outcome
    assert text in str(explanation)
    assert "\n" not in str(explanation)
    assert explanation.tool_name == name
    assert explanation.visible == (outcome == "visible")
    assert explanation.callable == (outcome in ("visible", "hidden"))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Read", "names are case-sensitive (did you mean 'read'?)"),
        ("barre", "(did you mean 'bare'?)"),
        ("zzz", "case-sensitive"),
    ],
)
def test_a_typo_is_reported_with_the_name_that_was_meant(name: str, meant: str) -> None:
    assert str(registry().explain(name, EVERYTHING)).endswith(meant)


def test_an_unknown_name_of_any_form_is_reported_on_one_short_line() -> None:
    for name in ("rm\n-rf", "x" * 100_000, "\ud800"):
        reported = str(registry().explain(name, EVERYTHING))
        assert "\n" not in reported
        assert len(reported) < 200


def test_entries_that_match_nothing_are_reported_by_field() -> None:
    personality = Personality(
        "p",
        toolset=["read", "reed", "toolset:file", "toolset:flie", "draw"],
        mcp_servers=["git", "gti"],
        plugins=["art", "atr"],
        exclude=["bare", "baer"],
    )
    assert registry().check(personality) == {
        "toolset": ["draw", "reed", "toolset:flie"],
        "mcp_servers": ["gti"],
        "plugins": ["atr"],
        "exclude": ["baer"],
    }


def test_a_personality_whose_words_all_match_is_reported_empty() -> None:
    assert registry().check(EVERYTHING) == {}
    assert registry().check(Personality("p", ["read"], ["git"], ["art"], ["bare"])) == {}
