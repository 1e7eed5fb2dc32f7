"""Progress events."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from ethos_registry import ConfigError
from ethos_registry.types import ToolProgressEvent


@pytest.mark.parametrize(
    ("given", "remaining"),
    [
        (50, 50.0),
        (0, 0.0),
        (-5, 0.0),
        (140, 100.0),
        (12.5, 12.5),
        (float("inf"), 100.0),
        (10**400, 100.0),
        (float("nan"), None),
        (None, None),
        ("50", None),
        (True, None),
    ],
)
def test_percent_is_clamped_and_no_number_is_none(given: Any, remaining: float | None) -> None:
    assert ToolProgressEvent("m", percent=given).percent == remaining


@pytest.mark.parametrize(
    ("audience", "viewers"),
    [
        ("user", ["user", "dashboard", "internal"]),
        ("dashboard", ["dashboard", "internal"]),
        ("internal", ["internal"]),
    ],
)
def test_users_see_least_and_the_framework_sees_all(audience: Any, viewers: list[str]) -> None:
    event = ToolProgressEvent("m", audience=audience)
    seen_by = [viewer for viewer in ("user", "dashboard", "internal") if event.visible_to(viewer)]
    assert seen_by == viewers


def test_events_are_internal_unless_they_say_so() -> None:
    assert not ToolProgressEvent("m").visible_to("user")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"message": 5}, "`message` must be a string: 5"),
        ({"message": "m", "tool_name": None}, "`tool_name` must be a string: None"),
        ({"message": "m", "audience": "all"}, "`audience` must be one of .*'all'"),
        ({"message": "m", "audience": None}, "`audience` must be one of"),
    ],
)
def test_wrong_kinds_name_field_and_value(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ToolProgressEvent(**fields)


def test_unknown_viewers_are_refused() -> None:
    with pytest.raises(ConfigError, match="'everybody'"):
        ToolProgressEvent("m").visible_to("everybody")


def test_another_type_is_no_progress_event() -> None:
    with pytest.raises(ConfigError, match="`type` must be 'progress': 'done'"):
        ToolProgressEvent.from_wire({"type": "done", "message": "m"})


def test_events_are_immutable_and_survive_copies() -> None:
    event = ToolProgressEvent("m", "t", 5, "user")
    with pytest.raises(FrozenInstanceError):
        event.message = "other"
    assert pickle.loads(pickle.dumps(event)) == copy.deepcopy(event) == event
    assert len({event, copy.copy(event)}) == 1
