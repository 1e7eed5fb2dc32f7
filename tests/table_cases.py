"""Names, gate data and gates that meet often enough for every branch to be reached."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import strategies as st

import oracle_table as oracle
from ethos_registry import _core

SOUND_NAMES = (
    "read",
    "write",
    "now",
    "log",
    "draw",
    "mcp__git__log",
    "mcp__git__push",
    "mcp__git__a_b",
    "mcp__a_b__log",
    "mcp_git",
)
REFUSED_NAMES = ("rm\n", "", "1st", "mcp__solo", "mcp__a___b", "mcp__my__srv__log", "x" * 65)
UNUSUAL_OBJECTS = ("\ud800", "read\ud800", "é" * 100, None, 5, b"read", ("read",), "Read", "read ")
TOOLSETS = ("files", "web", "")
SERVERS = ("git", "a_b", "my__srv")
BARE_NAMES = ("log", "push", "mcp__solo")
PLUGINS = ("", "p", "q")


def maybe(values):
    return st.none() | st.sampled_from(values)


def lists(values):
    return st.none() | st.lists(st.sampled_from((*values, "stranger")), max_size=4)


NAMES = st.sampled_from(SOUND_NAMES * 3 + REFUSED_NAMES)

DATA = st.builds(
    oracle.Data,
    toolset=maybe(TOOLSETS),
    always_include=st.booleans(),
    plugin_id=maybe(PLUGINS),
    mcp_server=maybe((*SERVERS, "")),
    mcp_tool=st.none() | maybe((*BARE_NAMES, "")),
)

GATES = st.none() | st.builds(
    oracle.Gate,
    allowed_tools=lists(SOUND_NAMES),
    allowed_groups=lists(TOOLSETS),
    exclude_tools=lists(SOUND_NAMES),
    allowed_mcp_servers=lists(SERVERS),
    allowed_mcp_tools=st.none()
    | st.dictionaries(
        st.sampled_from((*SERVERS, "stranger")),
        st.lists(st.sampled_from((*BARE_NAMES, "stranger")), max_size=2),
        max_size=3,
    ),
    allowed_plugins=lists(PLUGINS),
    granted_tools=lists(SOUND_NAMES),
)


def native_gate(gate):
    return None if gate is None else _core.Gate(**asdict(gate))


def outcome(call):
    """What the call answers, or that it raises a `ValueError`."""
    try:
        return call()
    except ValueError:
        return ValueError
