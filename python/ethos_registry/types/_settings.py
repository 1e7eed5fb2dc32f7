"""Groups of settings: frozen dataclasses whose fields name what checks a value given to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar, get_args

from ethos_registry.types import _checks

S = TypeVar("S")
Check = Callable[[Any, str], Any]
"""Takes a value and the setting's name; returns what the group holds, or raises `ConfigError`."""


def setting(check: Check, *, wire: str | None = None, **options: Any) -> Any:
    """A field that can be given: what checks it, and its name for another process.

    The other options are those of `dataclasses.field`, and a default is not checked.
    """
    return field(metadata={"check": check, "wire": wire}, **options)


def optional(check: Check) -> Check:
    """The check of a setting that may be `None`."""
    return lambda value, name: None if value is None else check(value, name)


def instance_of(kind: Any, expected: str, way_out: str = "") -> Check:
    """The check of a setting that is an object of a class."""

    def check(value: object, name: str) -> object:
        _checks.instance(value, kind, name, expected, way_out)
        return value

    return check


def choice(literal: Any) -> Check:
    """The check of a setting that is one of the strings of a `Literal`."""
    return lambda value, name: _checks.one_of(value, get_args(literal), name)


def setting_names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a group that can be given."""
    return tuple(each.name for each in fields(kind) if "check" in each.metadata)


def checked_settings(kind: type[S], given: Mapping[str, Any], **made: Any) -> S:
    """A group of the values that were given, each checked, and of others that were made here."""
    known: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    checked = {name: known[name].metadata["check"](value, name) for name, value in given.items()}
    return kind(**checked, **made)


def check_settings(settings: Any) -> None:
    """Check a group that its user made: each field is what its check makes of it."""
    for each in fields(settings):
        if (check := each.metadata.get("check")) is not None:
            value = check(getattr(settings, each.name), each.name)
            object.__setattr__(settings, each.name, value)


def settings_to_wire(settings: Any) -> dict[str, Any]:
    """The fields that another process gets, under their names there."""
    return {
        wire: getattr(settings, each.name)
        for each in fields(settings)
        if (wire := each.metadata.get("wire")) is not None
    }
