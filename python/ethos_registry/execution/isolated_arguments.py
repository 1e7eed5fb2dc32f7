"""A copy of a call's arguments for its tool: changes by the tool affect no one else."""

from __future__ import annotations

from typing import Any

from ethos_registry.contract.read_only import MAX_DEPTH

__all__ = ["isolated_arguments"]

_ATOMS = frozenset({str, int, float, bool, type(None)})


def isolated_arguments(args: Any) -> Any:
    """A copy of the dicts and lists in `args`; other values, and levels below 128, are shared.

    Tools pop what they have read. The caller's reply goes back to the model, and reducers and the
    source of untrusted output read the arguments as they were sent.

    >>> sent = {"paths": ["a"]}
    >>> isolated_arguments(sent)["paths"].pop(), sent
    ('a', {'paths': ['a']})
    """
    if type(args) is dict:
        for item in args.values():
            kind = type(item)
            if kind is dict or kind is list:
                return _copied(args, {}, MAX_DEPTH)
        return args.copy()  # the usual case
    return _copied(args, {}, MAX_DEPTH) if type(args) is list else args


def _copied(value: Any, seen: dict[int, Any], depth: int) -> Any:
    """A copy of a dict or list; `seen` maps copied ones, because a value may contain itself."""
    kind = type(value)
    if (kind is not dict and kind is not list) or depth == 0:
        return value
    known = seen.get(id(value))
    if known is not None:
        return known
    if kind is dict:
        mapping: dict[Any, Any] = {}
        seen[id(value)] = mapping
        for key, item in value.items():
            mapping[key] = item if type(item) in _ATOMS else _copied(item, seen, depth - 1)
        return mapping
    items: list[Any] = []
    seen[id(value)] = items
    items.extend(item if type(item) in _ATOMS else _copied(item, seen, depth - 1) for item in value)
    return items
