"""Exceptions for programmers: one tree, one line, facts for programs."""

from __future__ import annotations

import copy
import pickle

import pytest

from ethos_registry import ConfigError, EthosRegistryError, ToolAlreadyRegisteredError
from ethos_registry.artifacts import ArtifactGoneError
from ethos_registry.capabilities import HostNotAllowedError, KeyValueError
from ethos_registry.execution import ApprovalError
from ethos_registry.registry import TurnAlreadySignalledError
from ethos_registry.types import _checks


def test_the_tree_has_one_root_and_config_errors_are_value_errors() -> None:
    assert ToolAlreadyRegisteredError.__mro__[1:3] == (ConfigError, EthosRegistryError)
    assert issubclass(ConfigError, ValueError)
    assert ConfigError.code == "E_CONFIG"
    assert ToolAlreadyRegisteredError.code == "E_TOOL_ALREADY_REGISTERED"


def test_a_taken_name_tells_both_owners_and_the_way_out() -> None:
    error = ToolAlreadyRegisteredError("read", owner="b", existing_owner="a")
    assert str(error) == (
        "tool `read` is already registered (owner 'a', now 'b'); "
        "pass `overwrite=True` to replace it"
    )
    assert (error.tool_name, error.owner, error.existing_owner) == ("read", "b", "a")
    assert error.context == {"tool_name": "read", "owner": "b", "existing_owner": "a"}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_survive_pickling_and_copies(protocol: int) -> None:
    for error in (
        ConfigError("no", context={"field": "name", "value": 5}),
        ToolAlreadyRegisteredError("read", owner="b", existing_owner="a"),
        ApprovalError("used", "the token was used"),
        ArtifactGoneError("a7k2m9qx4t"),
        HostNotAllowedError("it is private"),
        TurnAlreadySignalledError("acknowledged"),
    ):
        for twin in (pickle.loads(pickle.dumps(error, protocol)), copy.deepcopy(error)):
            assert type(twin) is type(error)
            assert str(twin) == str(error)
            assert vars(twin) == vars(error)


def test_operating_system_errors_keep_their_number_and_file() -> None:
    error = KeyValueError(28, "no space left on device", "/data/kv.db")
    for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert str(twin) == str(error) == "[Errno 28] no space left on device: '/data/kv.db'"
        assert (twin.errno, twin.filename, twin.args) == (28, "/data/kv.db", error.args)


def test_the_context_of_an_error_is_a_copy() -> None:
    facts = {"field": "name"}
    error = ConfigError("no", context=facts)
    facts["field"] = "other"
    assert error.context == {"field": "name"}


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError


class Verse:
    def __repr__(self) -> str:
        return "one\ntwo\nthree"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 1_000_000, "'" + "x" * 76 + "..."),
        (10**5_000, "a value of type int"),
        (Unspeakable(), "a value of type Unspeakable"),
        (Verse(), "one two three"),
        ("a\nb", r"'a\nb'"),
        ([0] * 1_000, "[0, 0"),
    ],
    ids=range(6),
)
def test_any_value_is_shown_on_one_short_line(value: object, shown: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        _checks.boolean(value, "flag")
    message = str(refusal.value)
    assert message.startswith(f"`flag` must be True or False: {shown}")
    assert len(message) <= 120
    assert "\n" not in message
    assert refusal.value.context["value"] is value


@pytest.mark.parametrize("value", [True, "5", None, float("nan"), float("inf"), -1, 10**400])
def test_numbers_are_finite_and_no_booleans(value: object) -> None:
    with pytest.raises(ConfigError, match="`size` must be a finite number >= 0"):
        _checks.finite_number(value, "size")


@pytest.mark.parametrize("value", ["abc", b"abc", {"a": 1}, 5, None, ["a", 5], {"a", 5}])
def test_one_string_is_no_list_of_strings(value: object) -> None:
    with pytest.raises(ConfigError, match="`names` must be a list of strings"):
        _checks.strings(value, "names")


def test_lists_of_strings_become_tuples_and_sets_get_an_order() -> None:
    assert _checks.strings(["b", "a"], "names") == ("b", "a")
    assert _checks.strings({"b", "a", "c"}, "names") == ("a", "b", "c")
    assert _checks.strings((letter for letter in "ba"), "names") == ("b", "a")
