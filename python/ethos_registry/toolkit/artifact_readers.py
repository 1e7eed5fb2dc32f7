"""The tools that read the full output of shortened results."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ethos_registry.artifacts.artifact import SpooledArtifact
from ethos_registry.artifacts.artifact_tool import ArtifactTool
from ethos_registry.artifacts.errors import ArtifactGoneError
from ethos_registry.artifacts.ids import is_artifact_id
from ethos_registry.artifacts.store import MemoryArtifactStore
from ethos_registry.contract.content import ContentBlock, Link
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.ports import TurnScope
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult, err, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.schema.validate import ArgumentValidator
from ethos_registry.toolkit import artifact_json, artifact_text
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["READER_NAMES", "ArtifactReaders"]

Read: TypeAlias = Callable[[SpooledArtifact, Mapping[str, Any], int], str | ToolOk]

MAX_PATTERN_CHARS = 1_000
MAX_CONTEXT_LINES = 100


class Reader(NamedTuple):
    """One way to read an artifact."""

    name: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]
    read: Read


class ArtifactReaders:
    r"""Makes a turn's tools for reading the artifacts of one store.

    The registry of a turn calls `forge_tools` at each iteration. Without a turn, register the tools
    that it returns, and call it again when there are more artifacts.

    >>> from ethos_registry import ArtifactOrigin, MemoryArtifactStore, ToolContext
    >>> store = MemoryArtifactStore()
    >>> readers = ArtifactReaders(store)
    >>> readers.forge_tools()
    []
    >>> artifact_id = store.reserve()
    >>> store.spool(artifact_id, "one\ntwo\nthree\n", ArtifactOrigin("make", "call_1"))
    >>> grep = next(tool for tool in readers.forge_tools() if tool.name == "artifact_grep")
    >>> grep.execute({"artifact_id": artifact_id, "pattern": "^t"}, ToolContext()).value
    '1:two\n2:three'
    """

    __slots__ = ("_bound_to", "store")

    def __init__(self, store: MemoryArtifactStore) -> None:
        if not isinstance(store, MemoryArtifactStore):
            raise ConfigError(f"`store` must be an artifact store, got {type(store).__name__}")
        self.store = store
        self._bound_to: weakref.ref[TurnScope] | None = None

    def __repr__(self) -> str:
        return f"ArtifactReaders({self.store!r})"

    def forge_tools(self, context: TurnScope | None = None) -> list[Tool]:
        """The tools for the current artifacts; an empty list if there are none.

        Each tool is ephemeral, replaces an earlier one of its name, and lists the current ids. Once
        this was called, shortened results name the tools. With a `context` the store is closed when
        that turn is acknowledged; from then on no registry shows or runs the tools, however they
        came into it.
        """
        self._bind(context)
        self.store.announce_readers(reader.name for reader in _TEXT_READERS)
        artifacts = self.store.artifacts()
        is_live = _is_live(self.store, context)
        tools = _tools(self.store, _TEXT_READERS, artifacts, is_live)
        with_content = [artifact for artifact in artifacts if artifact.content_count]
        tools += _tools(self.store, _CONTENT_READERS, with_content, is_live)
        return tools + _tools(self.store, _JSON_READERS, _json_only(artifacts), is_live)

    def _bind(self, context: TurnScope | None) -> None:
        bound_to = None if self._bound_to is None else self._bound_to()
        if context is not None and context is not bound_to:
            self._bound_to = weakref.ref(context)
            self.store.bind_context(context)


def _is_live(store: MemoryArtifactStore, context: TurnScope | None) -> Callable[[], bool]:
    """Whether the turn goes on: every registry that holds the tools asks before it shows them."""

    def is_live() -> bool:
        return not store.is_closed and (context is None or not context.is_acked)

    return is_live


def _json_only(artifacts: Sequence[SpooledArtifact]) -> list[SpooledArtifact]:
    found = []
    for artifact in artifacts:
        try:
            if artifact.is_json():
                found.append(artifact)
        except ArtifactGoneError:  # removed since they were listed
            continue
    return found


def _tools(
    store: MemoryArtifactStore,
    readers: Sequence[Reader],
    artifacts: Sequence[SpooledArtifact],
    is_live: Callable[[], bool],
) -> list[Tool]:
    if not artifacts:
        return []
    ids = [artifact.id for artifact in artifacts]
    is_untrusted = any(artifact.origin.is_untrusted for artifact in artifacts)
    return [
        ArtifactTool(
            store,
            name=reader.name,
            description=reader.description,
            schema=(schema := _schema(reader, ids)),
            execute=_execute(store, reader, schema, frozenset(ids)),
            is_available=is_live,
            always_include=True,
            output_is_untrusted=is_untrusted,
            ephemeral=True,
            on_collision="replace",
            idempotent=True,
        )
        for reader in readers
    ]


def _schema(reader: Reader, ids: Sequence[str] | None) -> dict[str, Any]:
    artifact_id: dict[str, Any] = {"type": "string", "description": "The artifact to read."}
    if ids is not None:
        artifact_id["enum"] = list(ids)
    return {
        "type": "object",
        "properties": {"artifact_id": artifact_id} | reader.properties,
        "required": ["artifact_id", *reader.required],
        "additionalProperties": False,
    }


@cache
def _any_artifact(name: str) -> ArgumentValidator:
    """Validates the arguments of a reader, whichever artifact they name."""
    reader = next(item for item in _READERS if item.name == name)
    return ArgumentValidator(name, _schema(reader, None))


def _execute(
    store: MemoryArtifactStore, reader: Reader, schema: Mapping[str, Any], ids: frozenset[str]
) -> Callable[[Any, ToolContext], ToolResult]:
    known = ArgumentValidator(reader.name, schema)

    def execute(args: Any, context: ToolContext) -> ToolResult:
        artifact_id = args.get("artifact_id") if isinstance(args, Mapping) else None
        artifact = store.get(artifact_id) if isinstance(artifact_id, str) else None
        is_gone = artifact is None and (
            artifact_id in ids or (isinstance(artifact_id, str) and is_artifact_id(artifact_id))
        )
        # An artifact that was stored after the tools were made can be read too.
        check = known if artifact is None and not is_gone else _any_artifact(reader.name)
        if wrong := check.problems(args):
            return wrong
        if artifact is None:
            return _gone(artifact_id)
        try:
            found = reader.read(artifact, args, int(context.result_budget_chars))
            return ok(found) if isinstance(found, str) else found
        except ArtifactGoneError:
            return _gone(artifact_id)
        except RefusalError as refusal:
            return refusal.error
        except ValueError as error:
            return err(f"pattern: {error}", "input_invalid")

    return execute


def _content(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> ToolOk:
    """The blocks as they are, each with a line that describes it."""
    blocks = artifact.content
    first = int(args.get("index", 0))
    if "index" in args:
        if first >= len(blocks):
            raise RefusalError(
                f"index: the result has {len(blocks)} content blocks, counted from 0"
            )
        blocks = blocks[first : first + 1]
    lines = [f"{number}: {_described(block)}" for number, block in enumerate(blocks, first)]
    return ok("\n".join(lines) or "no content blocks", content=blocks)


def _described(block: ContentBlock) -> str:
    return f"link {block.url}" if isinstance(block, Link) else block.describe()


def _gone(artifact_id: object) -> ToolError:
    return err(
        f"Error: no artifact with id {artifact_id} in this turn: it is gone; call the tool again "
        "for its output",
        "not_available",
    )


_COUNT = {"type": "integer", "minimum": 1}
_PLACE = {"type": "integer", "minimum": 0}
_N = {"n": _COUNT | {"description": f"How many lines. Default: {artifact_text.DEFAULT_LINES}."}}
_POINTER = {
    "type": "string",
    "description": "JSON Pointer, as `/items/0/name`. Default: the whole value.",
}

_TEXT_READERS = (
    Reader(
        "artifact_head",
        "The first lines of the full output of a shortened result.",
        _N,
        (),
        artifact_text.head,
    ),
    Reader(
        "artifact_tail",
        "The last lines of the full output of a shortened result.",
        _N,
        (),
        artifact_text.tail,
    ),
    Reader(
        "artifact_grep",
        "The lines that match a regular expression in the full output of a shortened result, as "
        "`number:text`. Lines are counted from 0, as in artifact_cat.",
        {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PATTERN_CHARS,
                "description": "Regular expression, matched within each line; no look-around, no "
                "back references.",
            },
            "flags": {
                "type": "string",
                "pattern": "^[imsu]*$",
                "description": "`i` ignores case; m, s and u have no effect.",
            },
            "context_lines": _PLACE
            | {
                "maximum": MAX_CONTEXT_LINES,
                "description": "Lines to show before and after each match. Default: 0.",
            },
            "max_matches": _COUNT
            | {
                "description": "Matching lines to show at most. "
                f"Default: {artifact_text.DEFAULT_MATCHES}."
            },
        },
        ("pattern",),
        artifact_text.grep,
    ),
    Reader(
        "artifact_cat",
        "A range of lines of the full output of a shortened result, counted from 0.",
        {
            "start": _PLACE | {"description": "The first line. Default: 0."},
            "end": _PLACE | {"description": "The line after the last one. Default: up to the end."},
        },
        (),
        artifact_text.cat,
    ),
    Reader(
        "artifact_line_count",
        "The number of lines of the full output of a shortened result.",
        {},
        (),
        artifact_text.line_count,
    ),
    Reader(
        "artifact_byte_length",
        "The number of bytes of the full output of a shortened result.",
        {},
        (),
        artifact_text.byte_length,
    ),
    Reader(
        "artifact_estimate_tokens",
        "About how many tokens the full output of a shortened result would cost, at "
        f"{artifact_text.BYTES_PER_TOKEN} bytes a token.",
        {},
        (),
        artifact_text.estimate_tokens,
    ),
)

_JSON_READERS = (
    Reader(
        "artifact_json_keys",
        "The keys of an object in the JSON of a shortened result, each with the kind of its value.",
        {"path": _POINTER},
        (),
        artifact_json.json_keys,
    ),
    Reader(
        "artifact_json_get",
        "One value of the JSON of a shortened result.",
        {"path": _POINTER},
        (),
        artifact_json.json_get,
    ),
    Reader(
        "artifact_json_slice",
        "A range of items of an array in the JSON of a shortened result, counted from 0.",
        {
            "path": _POINTER,
            "start": _PLACE | {"description": "The first item. Default: 0."},
            "end": _PLACE | {"description": "The item after the last one. Default: up to the end."},
        },
        (),
        artifact_json.json_slice,
    ),
)

_CONTENT_READERS = (
    Reader(
        "artifact_content",
        "The images, documents, audio and links of a shortened result.",
        {"index": _PLACE | {"description": "One block, counted from 0. Default: all."}},
        (),
        _content,
    ),
)

_READERS = (*_TEXT_READERS, *_CONTENT_READERS, *_JSON_READERS)
READER_NAMES = frozenset(reader.name for reader in _READERS)
"""The names of all readers; a turn without artifacts has none of them."""
