"""`ethos-registry prefix`: what a request begins with, saved, compared and checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ethos_registry import (
    ConfigError,
    Personality,
    Prefix,
    PrefixDiff,
    Registration,
    ToolRegistry,
    View,
    prefix_diff,
    provider,
)
from ethos_registry.cli.errors import CommandError, print_line

__all__ = ["check_hash_seeds", "diff_document", "read_prefix", "shown_view", "taken_prefix"]

HASH_SEEDS = ("0", "1", "2", "3")
"""Enough for an order out of a set to differ: each seed shows most of them."""


def shown_view(
    registry: ToolRegistry, registrations: list[Registration], personality: Personality | None
) -> View:
    """What a personality is shown; without one all tools."""
    if personality is None:
        personality = Personality(
            "everything",
            plugins=tuple({item.plugin_id for item in registrations if item.plugin_id is not None}),
            mcp_servers=tuple(
                {item.mcp_server for item in registrations if item.mcp_server is not None}
            ),
        )
    return registry.view(personality)


def taken_prefix(
    registry: ToolRegistry,
    registrations: list[Registration],
    personality: Personality | None,
    provider_name: str,
    breakpoints: int = 1,
) -> Prefix:
    """The prefix of what is registered now."""
    provider(provider_name)
    view = shown_view(registry, registrations, personality)
    return view.prefix(provider_name, breakpoints=breakpoints)


def read_prefix(path: str) -> Prefix:
    """A prefix that was saved to a file."""
    try:
        return Prefix.from_json(Path(path).read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ConfigError as error:
        raise CommandError(f"{path}: {error}") from None


def diff_document(diff: PrefixDiff) -> dict[str, Any]:
    """The difference as JSON values."""
    return {
        "same": diff.same,
        "byte_offset": diff.byte_offset,
        "before_bytes": diff.before_bytes,
        "after_bytes": diff.after_bytes,
        "changes": [
            {
                "tool": change.tool,
                "kind": change.kind,
                "pointer": change.pointer,
                "byte_offset": change.byte_offset,
                "dragged": change.dragged,
            }
            for change in diff.changes
        ],
    }


def check_hash_seeds(arguments: list[str]) -> list[PrefixDiff]:
    """Make the prefix in a process of its own for each hash seed; the differences to the first.

    A schema that is made of a set, or of anything else that follows the hash seed, differs: no
    order of keys can mend that.
    """
    prefixes = [_in_process(seed, arguments) for seed in HASH_SEEDS]
    diffs = [prefix_diff(prefixes[0], other) for other in prefixes[1:]]
    return [diff for diff in diffs if not diff.same]


def _in_process(seed: str, arguments: list[str]) -> Prefix:
    done = subprocess.run(
        [sys.executable, "-m", "ethos_registry", "prefix", "save", "-", *arguments],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        for line in done.stderr.decode(errors="replace").splitlines():
            print_line(line)
        raise CommandError(f"the tools could not be loaded with the hash seed {seed}")
    return Prefix.from_json(done.stdout)
