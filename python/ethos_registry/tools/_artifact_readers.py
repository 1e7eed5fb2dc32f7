"""The tools that read the full output of shortened results."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ethos_registry import _core
from ethos_registry.artifacts._artifact import SpooledArtifact
from ethos_registry.artifacts._content import ArtifactGoneError
from ethos_registry.artifacts._store import ArtifactTool, MemoryArtifactStore, is_artifact_id
from ethos_registry.schema._validate import ArgumentValidator
from ethos_registry.tools._arguments import RefusalError, quoted, string, whole_number
from ethos_registry.types import _checks
from ethos_registry.types._content import ContentBlock, Link
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import TurnScope
from ethos_registry.types._result import ToolError, ToolOk, ToolResult, err, ok
from ethos_registry.types._tool import Tool

# Parts of an artifact that is JSON, by JSON Pointer (RFC 6901).

_INDEX = re.compile("0|[1-9][0-9]{0,17}")
"""An index has no leading zeros (RFC 6901)."""
_KINDS = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    type(None): "null",
}


def json_keys(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The value at `path`: of an object a line `key: kind` for each key."""
    value = _at(artifact, args.get("path", ""))
    if not isinstance(value, dict):
        return _kind(value)
    return "\n".join(f"{key}: {_kind(item)}" for key, item in value.items()) or "(empty list)"


def json_get(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The value at `path`: a string as it is, everything else as JSON."""
    value = _at(artifact, args.get("path", ""))
    return value if isinstance(value, str) else _json(value)


def json_slice(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The items from `start` up to `end` of the array at `path`, as JSON."""
    path = args.get("path", "")
    value = _at(artifact, path)
    if not isinstance(value, list):
        raise RefusalError(f"{_place(path)} is not an array, but {_kind(value)}")
    end = args.get("end")
    return _json(value[int(args.get("start", 0)) : None if end is None else int(end)])


def _place(pointer: str) -> str:
    return quoted(pointer) if pointer else "the root"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"object of {len(value):,}"
    if isinstance(value, list):
        return f"array of {len(value):,}"
    return _KINDS[type(value)]


def _at(artifact: SpooledArtifact, pointer: str) -> Any:
    """The value of a pointer; a refusal names the step that does not exist."""
    value = artifact.read_json()
    if pointer and not pointer.startswith("/"):
        raise RefusalError(
            f"`path` must be a JSON Pointer, as `/items/0/name`, got {quoted(pointer)}"
        )
    done = ""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise RefusalError(f"{quoted(key)} does not exist in {_place(done)}, {_kind(value)}")
        done += f"/{step}"
    return value


# Parts of an artifact's text within a budget, with a note about what is left out.

DEFAULT_LINES = 10
DEFAULT_MATCHES = 100
BYTES_PER_TOKEN = 4
_NOTE_CHARS = 120
"""No note is longer."""
_MAX_CHARACTER_BYTES = 4
_MAX_LINE_BYTES = 400
_MIN_LINE_BYTES = 40


def cat(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The lines from `start` up to `end`."""
    end = args.get("end")
    start = int(args.get("start", 0))
    return _from_start(artifact, start, None if end is None else int(end), budget_chars)


def tail(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The last `n` lines; if they exceed the budget, the last of them."""
    wanted = min(_lines(args), artifact.line_count())
    if wanted == 0:
        return _no_lines(artifact)
    start, end = artifact.span(artifact.line_count() - wanted, None)
    near = max(start, end - _MAX_CHARACTER_BYTES * (budget_chars + 1))
    text = _decoded(artifact.read_bytes(near, end)).removesuffix("\n")
    if near == start and len(text) <= budget_chars:
        return text
    render_bytes = text[-max(budget_chars - _NOTE_CHARS, 1) :]
    line_end = render_bytes.find("\n")
    if line_end < 0:
        note = f"[the end of line {artifact.line_count() - 1}; the line is longer than the budget]"
    else:
        render_bytes = render_bytes[line_end + 1 :]
        shown = render_bytes.count("\n") + 1
        note = f"[the last {shown:,} of these {wanted:,} lines; artifact_cat shows the others]"
    return f"{note}\n{render_bytes}" if budget_chars > _NOTE_CHARS else render_bytes


def grep(artifact: SpooledArtifact, args: Mapping[str, Any], budget_chars: int) -> str:
    """The lines that match `pattern`; raises `ValueError` for an invalid pattern."""
    found = artifact.grep(
        args["pattern"],
        args.get("flags", ""),
        context_lines=int(args.get("context_lines", 0)),
        max_matches=min(int(args.get("max_matches", DEFAULT_MATCHES)), artifact.line_count()),
        max_chars=max(budget_chars - _NOTE_CHARS, 0),
        max_line_bytes=min(_MAX_LINE_BYTES, max(_MIN_LINE_BYTES, budget_chars // 2)),
    )
    if not found.matches:
        return "(empty list)"
    if found.shown == found.matches:
        return found.text
    counts = f"{found.shown:,} of {found.matches:,} matching lines are shown"
    note = f"[{counts}; use a narrower pattern]"
    return f"{found.text}\n{note}" if found.text else note


def _lines(args: Mapping[str, Any]) -> int:
    return int(args.get("n", DEFAULT_LINES))


def _from_start(artifact: SpooledArtifact, first: int, end: int | None, budget_chars: int) -> str:
    """Lines from `first` on within the budget, then where to continue, and the marker."""
    last = artifact.line_count() if end is None else min(end, artifact.line_count())
    if first >= last:
        return _no_lines(artifact)
    start, stop = artifact.span(first, last)
    near = min(stop, start + _MAX_CHARACTER_BYTES * (budget_chars + 1))
    text = _decoded(artifact.read_bytes(start, near))
    if near == stop:
        text = text.removesuffix("\n")
        if len(text) <= budget_chars:
            return text
    render_bytes = _cut(text, max(budget_chars - _NOTE_CHARS, 0))
    line_end = render_bytes.rfind("\n")
    note = f"\n[a part of line {first}; artifact_grep shows other parts of it]"
    if line_end >= 0:
        render_bytes = render_bytes[:line_end]
        last_line = first + render_bytes.count("\n")
        following = f"continue with artifact_cat, start {last_line + 1}"
        note = f"\n[lines {first} to {last_line}; {following}]"
    if budget_chars <= _NOTE_CHARS:
        render_bytes, note = _cut(text, budget_chars), ""
    # The marker of every trim, so that programs read `truncated_from` here too.
    return f"{render_bytes}{note}\n[truncated — {artifact.characters(start, stop)} chars total]"


def _cut(text: str, limit_chars: int) -> str:
    """The first characters, without splitting a grapheme cluster."""
    if len(text) <= limit_chars:
        return text
    return _core.trim(text, limit_chars)[0].rpartition("\n")[0]


def _no_lines(artifact: SpooledArtifact) -> str:
    return f"(no lines: the artifact has {artifact.line_count():,}, counted from 0)"


def _decoded(data: bytes) -> str:
    """The text of bytes that may begin or end within a character."""
    return data.decode(errors="ignore").replace("\r\n", "\n")


Read: TypeAlias = Callable[[SpooledArtifact, Mapping[str, Any], int], str | ToolOk]

MAX_PATTERN_CHARS = 1_000
MAX_CONTEXT_LINES = 100


class Reader(NamedTuple):
    name: str
    description: str
    properties: dict[str, dict[str, Any]]
    read: Read
    required: tuple[str, ...] = ()


@_checks.checked_class
class ArtifactReaders:
    r"""Makes a turn's tools for reading the artifacts of one store.

    The registry of a turn calls `forge_tools` at each iteration. Without a turn, register the tools
    that it returns, and call it again when there are more artifacts.

    >>> from ethos_registry import ToolContext
    >>> from ethos_registry.artifacts import ArtifactOrigin, MemoryArtifactStore
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
        store = self.store
        store.announce_readers(reader.name for reader in _TEXT_READERS)

        def is_live() -> bool:
            """Every registry that holds the tools asks before it shows them."""
            return not store.is_closed and (context is None or not context.is_acked)

        artifacts = store.artifacts()
        tools = _tools(store, _TEXT_READERS, artifacts, is_live)
        with_content = [artifact for artifact in artifacts if artifact.content_count]
        tools += _tools(store, _CONTENT_READERS, with_content, is_live)
        return tools + _tools(store, _JSON_READERS, _json_only(artifacts), is_live)

    def _bind(self, context: TurnScope | None) -> None:
        if context is not None and not callable(getattr(context, "on_ack", None)):
            raise ConfigError(
                "`context` is the scope of a turn, which has `on_ack`, got "
                f"{_checks.brief(context)}; pass the `TurnScope` of the turn"
            )
        bound_to = None if self._bound_to is None else self._bound_to()
        if context is not None and context is not bound_to:
            self._bound_to = weakref.ref(context)
            self.store.bind_context(context)


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
    known = {} if ids is None else {"enum": list(ids)}
    return {
        "type": "object",
        "properties": {
            "artifact_id": string("The artifact to read.") | known,
            **reader.properties,
        },
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
    def execute(args: Any, context: ToolContext) -> ToolResult:
        given = args.get("artifact_id") if isinstance(args, Mapping) else None
        artifact_id = given if isinstance(given, str) else ""
        artifact = store.get(artifact_id)
        is_gone = artifact is None and (artifact_id in ids or is_artifact_id(artifact_id))
        # An artifact that was stored after the tools were made can be read too.
        check = _any_artifact(reader.name)
        if artifact is None and not is_gone:
            check = ArgumentValidator(reader.name, schema)
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


def _gone(artifact_id: str) -> ToolError:
    return err(
        f"Error: no artifact with id {artifact_id} in this turn: it is gone; call the tool again "
        "for its output",
        "not_available",
    )


_N = {"n": whole_number(f"How many lines. Default: {DEFAULT_LINES}.")}
_POINTER = string("JSON Pointer, as `/items/0/name`. Default: the whole value.")


def _range(what: str) -> dict[str, dict[str, Any]]:
    return {
        "start": whole_number(f"The first {what}. Default: 0.", minimum=0),
        "end": whole_number(f"The {what} after the last one. Default: up to the end.", minimum=0),
    }


_TEXT_READERS = (
    Reader(
        "artifact_head",
        "The first lines of the full output of a shortened result.",
        _N,
        lambda artifact, args, chars: _from_start(artifact, 0, _lines(args), chars),
    ),
    Reader(
        "artifact_tail",
        "The last lines of the full output of a shortened result.",
        _N,
        tail,
    ),
    Reader(
        "artifact_grep",
        "The lines that match a regular expression in the full output of a shortened result, as "
        "`number:text`. Lines are counted from 0, as in artifact_cat.",
        {
            "pattern": string(
                "Regular expression, matched within each line; no look-around, no back references.",
                minLength=1,
                maxLength=MAX_PATTERN_CHARS,
            ),
            "flags": string("`i` ignores case; m, s and u have no effect.", pattern="^[imsu]*$"),
            "context_lines": whole_number(
                "Lines to show before and after each match. Default: 0.",
                minimum=0,
                maximum=MAX_CONTEXT_LINES,
            ),
            "max_matches": whole_number(
                f"Matching lines to show at most. Default: {DEFAULT_MATCHES}."
            ),
        },
        grep,
        required=("pattern",),
    ),
    Reader(
        "artifact_cat",
        "A range of lines of the full output of a shortened result, counted from 0.",
        _range("line"),
        cat,
    ),
    Reader(
        "artifact_line_count",
        "The number of lines of the full output of a shortened result.",
        {},
        lambda artifact, args, chars: str(artifact.line_count()),
    ),
    Reader(
        "artifact_byte_length",
        "The number of bytes of the full output of a shortened result.",
        {},
        lambda artifact, args, chars: str(artifact.byte_length()),
    ),
    Reader(
        "artifact_estimate_tokens",
        "About how many tokens the full output of a shortened result would cost, at "
        f"{BYTES_PER_TOKEN} bytes a token.",
        {},
        lambda artifact, args, chars: str(-(-artifact.byte_length() // BYTES_PER_TOKEN)),
    ),
)

_JSON_READERS = (
    Reader(
        "artifact_json_keys",
        "The keys of an object in the JSON of a shortened result, each with the kind of its value.",
        {"path": _POINTER},
        json_keys,
    ),
    Reader(
        "artifact_json_get",
        "One value of the JSON of a shortened result.",
        {"path": _POINTER},
        json_get,
    ),
    Reader(
        "artifact_json_slice",
        "A range of items of an array in the JSON of a shortened result, counted from 0.",
        {"path": _POINTER, **_range("item")},
        json_slice,
    ),
)

_CONTENT_READERS = (
    Reader(
        "artifact_content",
        "The images, documents, audio and links of a shortened result.",
        {"index": whole_number("One block, counted from 0. Default: all.", minimum=0)},
        _content,
    ),
)

_READERS = (*_TEXT_READERS, *_CONTENT_READERS, *_JSON_READERS)
READER_NAMES = frozenset(reader.name for reader in _READERS)
"""The names of all readers; a turn without artifacts has none of them."""
