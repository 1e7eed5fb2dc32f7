"""The directories that a tool may use: those it declared, within its personality's reach."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import FsReach

__all__ = ["FROM_PERSONALITY", "Reach", "narrowed_reach", "uncovered_paths"]

FROM_PERSONALITY = "from-personality"
"""A declaration that uses the paths of the personality."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Absolute directories and files that may be read and written."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def narrowed_reach(
    declaration: Mapping[str, Any], allowed: FsReach | None, working_dir: str
) -> Reach:
    """The reach of a tool: its declaration within what the personality allows.

    Without a policy, the declaration applies unchanged. With one, a declared path inside an allowed
    one is kept, one that contains an allowed path is narrowed to it, and the rest is dropped. A
    path below one that may be written is dropped if it is a link that leads out of that: a tool may
    have made the link. `ConfigError` if the tool takes its reach from
    a personality that states none.

    >>> narrowed_reach({"read": ["/data"]}, FsReach(read=["/data/public"]), "/").read
    ('/data/public',)
    """
    writable = _writable(
        declaration.get("write") if allowed is None else allowed.write, working_dir
    )
    found = {}
    for access in ("read", "write"):
        declared = declaration.get(access, ())
        if declared == FROM_PERSONALITY:
            if allowed is None:
                raise ConfigError(
                    f"the tool takes `fs_reach.{access}` from the personality, which states no "
                    "`fs_reach`; add one to the personality"
                )
            declared = getattr(allowed, access)
        paths = _absolute(declared, f"fs_reach.{access}", working_dir, writable)
        if allowed is not None:
            permitted = _absolute(getattr(allowed, access), access, working_dir, writable)
            paths = _intersection(paths, permitted)
        found[access] = tuple(dict.fromkeys(paths))
    return Reach(**found)


def uncovered_paths(
    declaration: Mapping[str, Any], allowed: FsReach | None, working_dir: str
) -> list[tuple[str, str]]:
    """`(access, path)` of what a tool declares and the personality does not fully cover."""
    missing = []
    for access in ("read", "write"):
        declared = declaration.get(access, ())
        if allowed is None or declared == FROM_PERSONALITY:
            continue
        permitted = _absolute(getattr(allowed, access), access, working_dir)
        missing += [
            (access, path)
            for path in _absolute(declared, f"fs_reach.{access}", working_dir)
            if not any(_is_below(path, root) for root in permitted)
        ]
    return missing


def _absolute(
    paths: object, what: str, working_dir: str, writable: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """Paths without links, so that two spellings of one directory compare equal.

    Left out are those that links below a `writable` path lead out of it.
    """
    if isinstance(paths, str) or not isinstance(paths, Sequence):
        raise ConfigError(f"`{what}` must be a list of paths, got {paths!r}")
    found = []
    for path in _spelled(paths, working_dir):
        resolved, spelled = os.path.realpath(path), os.path.normpath(path)
        if all(
            spelled == root or not _is_below(spelled, root) or _is_below(resolved, target)
            for root, target in writable
        ):
            found.append(resolved)
    return found


def _spelled(paths: Sequence[str], working_dir: str) -> list[str]:
    """Absolute paths with their links."""
    return [os.path.join(working_dir, os.path.expanduser(path)) for path in paths]


def _writable(paths: object, working_dir: str) -> list[tuple[str, str]]:
    """The paths as they are written, each with where it leads."""
    if isinstance(paths, str) or not isinstance(paths, Sequence):
        return []  # from the personality, or wrong, which is reported where it is used
    spelled = _spelled(paths, working_dir)
    return [(os.path.normpath(path), os.path.realpath(path)) for path in spelled]


def _intersection(declared: Sequence[str], allowed: Sequence[str]) -> list[str]:
    found = []
    for path in declared:
        if any(_is_below(path, root) for root in allowed):
            found.append(path)
        else:
            found += [root for root in allowed if _is_below(root, path)]
    return found


def _is_below(path: str, root: str) -> bool:
    return path == root or root == os.sep or path.startswith(root + os.sep)
