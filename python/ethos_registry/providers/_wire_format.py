"""What the providers share: the tools of a request, calls of a reply, text of a result."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from ethos_registry import _core
from ethos_registry.schema._compilation import NoSchemaError, NoteKind
from ethos_registry.schema._compiler import Compiled, compile_schema
from ethos_registry.schema._conjunction import paragraphs
from ethos_registry.schema._dialect import Dialect
from ethos_registry.schema._strict import BudgetUse, StrictForm, strict_form
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult, MalformedCall, ToolCall
from ethos_registry.types._content import (
    MAX_CONTENT_BYTES,
    Audio,
    Document,
    Image,
    Link,
    block_of_signature,
)
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict, ReadOnlyList
from ethos_registry.types._tool import Segment

# What a provider sees of a tool, and the order of the tools in a request.

T = TypeVar("T")

DefinitionOrder: TypeAlias = Literal["segments", "name", "registration"]
"""`segments`: by name within built-in, plugin, MCP; `name`: one flat list by name; `registration`:
as given. Names are compared by code point."""

MAX_BREAKPOINTS = 2
"""How many cache markers the tools of one request may carry; four in all are shared with the system
block and the messages."""

_SEGMENTS: tuple[str, ...] = get_args(Segment)


@dataclass(frozen=True, slots=True)
class ProviderDefinition:
    """One tool as a model is to see it."""

    definition: Mapping[str, Any]
    """`{name, description, parameters}`; never changed here."""
    strict: bool = False
    """The provider is asked to hold the model to the schema, where it takes the schema for that."""


@dataclass(frozen=True, slots=True)
class SchemaNote:
    """What a provider is sent of a tool in other words than its author's, or not at all."""

    tool: str
    provider: str
    """The name of the rules, such as `anthropic`."""
    kind: NoteKind
    """`renamed`: a property has another name; `rewritten`: the same in other words; `described`:
    the model reads it in a description; `plain`: not sent as strict; `left_out`: not sent."""
    path: str
    """Properties joined by `/`, `*` for items; empty for the whole schema."""
    message: str

    def __str__(self) -> str:
        place = f"{self.tool}: {self.path}: " if self.path else f"{self.tool}: "
        return f"{place}{self.message}"


def arranged(
    items: Iterable[T], order: DefinitionOrder, place: Callable[[T], tuple[Segment, str]]
) -> list[T]:
    """The items in the order of a request, by segment and name; `ConfigError` for an unknown order.

    Built-in tools come first by default, because a provider's cache ends at the first byte that
    differs: what changes from session to session comes last.
    """
    _checks.one_of(order, get_args(DefinitionOrder), "order")
    if order == "registration":
        return list(items)
    by_name = sorted(items, key=lambda item: place(item)[1])
    if order == "name":
        return by_name
    return sorted(by_name, key=lambda item: _SEGMENTS.index(place(item)[0]))


def breakpoint_positions(segments: Sequence[Segment], breakpoints: int) -> frozenset[int]:
    """Which of the ordered tools carry a cache marker, by their segments.

    `ConfigError` unless 0, 1 or 2 are wanted. One marks the last tool; two mark the end of the
    built-in tools that lead the list as well, so that a changed MCP server leaves them cached. Ends
    that coincide are marked once.
    """
    _checks.finite_number(breakpoints, "breakpoints", whole=True)
    if breakpoints > MAX_BREAKPOINTS:
        raise ConfigError(
            f"`breakpoints` must be at most {MAX_BREAKPOINTS}: {_checks.brief(breakpoints)}",
            context={"field": "breakpoints", "value": breakpoints},
        )
    positions = {len(segments) - 1} if segments and breakpoints else set()
    if breakpoints == MAX_BREAKPOINTS:
        stable = len([*takewhile(lambda segment: segment == "built-in", segments)])
        if stable:
            positions.add(stable - 1)
    return frozenset(positions)


# Reading replies and writing text, whatever library they come from.

NO_OUTPUT = "(no output)"
"""Replaces a blank result: several endpoints refuse a request that holds an empty one, or one of
white space alone."""

NO_MESSAGE = "(no message)"
"""The same for a blank error."""

DataBlock: TypeAlias = Image | Document | Audio
Shows: TypeAlias = Callable[[DataBlock], bool] | Mapping[str, int]
"""Which blocks a provider shows; or the media types of those, each with the most bytes."""

_SAYS_ERROR = re.compile(r"\s*error\b", re.IGNORECASE)


def no_reply(provider: str, expected: str, reply: object) -> ConfigError:
    """The error for a value that is not a reply of the provider."""
    return ConfigError(
        f"a reply of `{provider}` is {expected}, got {type(reply).__name__}",
        context={"field": "reply", "value": reply},
    )


def cut_off(why: str = "") -> str:
    """What is wrong with a call in which its reply ended."""
    why = why and f" ({why})"
    return f"the reply ended before the arguments were complete{why}; call the tool again"


def cut_last(calls: list[ToolCall | MalformedCall], why: str) -> None:
    """Let the last call not run: its reply ended in it."""
    last = calls[-1]
    calls[-1] = MalformedCall(last.tool_call_id, last.name, cut_off(why))


def named_call(
    identifier: str, name: object, args: Any, empty: Any, problem: str = ""
) -> ToolCall | MalformedCall:
    """A call of a reply, with `empty` for absent arguments; it must not run with a problem."""
    if not isinstance(name, str) or not name:
        return MalformedCall(identifier, "", "the call names no tool")
    if problem:
        return MalformedCall(identifier, name, problem)
    return ToolCall(identifier, name, empty if args is None else args)


def function_entry(entry: object, position: int, empty: Any) -> ToolCall | MalformedCall:
    """The call of an entry `{id, function: {name, arguments}}`."""
    function = read(entry, "function")
    identifier = call_id(read(entry, "id"), position)
    return named_call(identifier, read(function, "name"), read(function, "arguments"), empty)


def read(value: object, *names: str) -> Any:
    """The first of some fields that an SDK's object or a dict has; `None` if it has none."""
    is_mapping = type(value) is dict or isinstance(value, Mapping)  # the first check is cheaper
    for name in names:
        found = value.get(name) if is_mapping else getattr(value, name, None)  # type: ignore[attr-defined]
        if found is not None:
            return found
    return None


def items(value: object) -> Sequence[Any] | None:
    """`value` if it is a list or tuple."""
    return value if isinstance(value, list | tuple) else None


def call_entries(message: object) -> Sequence[Any]:
    """The entries of a message's `tool_calls`; some servers send one without its list."""
    entries = read(message, "tool_calls")
    return (entries,) if isinstance(entries, Mapping) and entries else items(entries) or ()


def word(value: object) -> str | None:
    """A field that is one of a few words: a string, or a member of an enumeration of strings."""
    value = getattr(value, "value", value)
    return str(value) if isinstance(value, str) else None


class EchoingId(str):
    """The id of a call whose result has to repeat more of it than the id."""

    echo: Mapping[str, Any]

    __slots__ = ("__dict__",)


def call_id(given: object, position: int, **echo: Any) -> str:
    """The provider's id, or `call_{position}` when it is missing or empty.

    With fields to `echo` that are not `None`, the id carries them to the message that answers it.
    """
    identifier = given if isinstance(given, str) and given else f"call_{position}"
    fields = {name: _plain(value) for name, value in echo.items() if value is not None}
    if not fields:
        return identifier
    echoing = EchoingId(identifier)
    echoing.echo = fields
    return echoing


def echoed(identifier: str) -> dict[str, Any]:
    """What the message that answers a call has to repeat."""
    return dict(identifier.echo) if isinstance(identifier, EchoingId) else {}


def sent_call_id(identifier: str, rule: re.Pattern[str], prefix: str, digits: int) -> str:
    """The id of a call as a provider takes it: the same one, else a digest of it.

    The same in every message, so that an answer is under the id of its call.
    """
    if rule.fullmatch(identifier):
        return identifier
    digest = hashlib.sha256(identifier.encode("utf-8", "replace")).hexdigest()
    return prefix + digest[:digits]


def _plain(value: Any) -> Any:
    """The field of a reply as JSON values."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_none=True) if callable(dump) else value


def sent_text(result: CallResult) -> str:
    """The text of a result as it may leave: never blank, no lone surrogate."""
    text = result.text
    if not text or text.isspace():
        return NO_OUTPUT if result.ok else NO_MESSAGE
    return text if text.isascii() else _core.replace_surrogates(text)


def sent_parts(result: CallResult, shows: Shows) -> tuple[str, list[DataBlock]]:
    """The text of a result, and the blocks beside it that the provider `shows`.

    What a block is, its first bytes decide. Links and what cannot be shown become lines of the
    text.
    """
    if not result.content:
        return sent_text(result), []
    lines = [] if not result.text or result.text.isspace() else [sent_text(result)]
    shown: list[DataBlock] = []
    for block in result.content:
        if isinstance(block, Link):
            lines.append(block.line())
            continue
        known = block_of_signature(block)
        problem = _not_shown(block, known, shows)
        if known is not None and problem is None:
            shown.append(known)
        else:
            lines.append(f"[not shown: {block.describe()}{problem}]")
    if not lines:
        lines = [block.describe() for block in shown]
    return "\n".join(lines), shown


def stated_parts(result: CallResult, shows: Shows) -> tuple[str, list[DataBlock]]:
    """The same for formats without a flag for errors: the text of one starts with `Error: `."""
    text, blocks = sent_parts(result, shows)
    return (text if result.ok or _SAYS_ERROR.match(text) else f"Error: {text}"), blocks


def tool_messages(results: Iterable[CallResult]) -> list[Any]:
    """One `{role: "tool", tool_call_id, content}` a result, of text alone."""
    return [
        {
            "role": "tool",
            "tool_call_id": result.tool_call_id,
            "content": stated_parts(result, {})[0],
        }
        for result in results
    ]


def _not_shown(block: DataBlock, known: DataBlock | None, shows: Shows) -> str | None:
    """Why a block is not shown, as an addition to its description; `None` if it is."""

    def takes(given: DataBlock) -> bool:
        return given.media_type in shows if isinstance(shows, Mapping) else shows(given)

    if known is None:
        return "; its bytes are something else" if takes(block) else ""
    if not takes(known):
        return f"; its bytes are {known.media_type}" if takes(block) else ""
    most = shows[known.media_type] if isinstance(shows, Mapping) else MAX_CONTENT_BYTES
    return f"; at most {most:,} bytes are sent" if len(known.data_bytes) > most else None


_ENDED_WELL = frozenset(
    """
    stop tool_calls tool_call function_call function_calls tool_use end_turn complete completed eos
    eos_token
    """.split()  # noqa: SIM905 - a list would take a line for each
)


def ended_well(reason: object) -> bool:
    """Whether a reply ended for the model's own reason; servers give those of other formats too.

    >>> ended_well("tool_calls"), ended_well("END_TURN"), ended_well("length"), ended_well(None)
    (True, True, False, False)
    """
    return isinstance(reason, str) and reason.lower() in _ENDED_WELL


# The tools of a request: in order, marked, as read-only values and as bytes.

MARKER = ReadOnlyDict(type="ephemeral")
"""The value of `cache_control` on a marked definition."""

_MARKER_TEXT = b',"cache_control":{"type":"ephemeral"}}'


def render_tool(provider: WireFormat[Any], tool: ProviderDefinition) -> bytes:
    """One tool without a marker, as compact JSON; empty if the provider takes no form of it."""
    try:
        return _core.json_bytes(provider.definition(tool))
    except NoSchemaError:
        return b""


def marked_text(text: bytes) -> bytes:
    """The bytes of a definition with a cache marker at its end."""
    return text[:-1] + _MARKER_TEXT


def request_values(
    provider: WireFormat[Any], values: Iterable[Any], positions: Collection[int]
) -> list[Any]:
    """The `tools` of a request out of the values of each, the ones at `positions` marked."""
    items = list(values)
    if provider.has_markers:
        for position in positions:
            items[position] = ReadOnlyDict(items[position], cache_control=MARKER)
    if provider.frame is None or not items:
        return items
    return [ReadOnlyDict({provider.frame: ReadOnlyList(items)})]


def request_text(
    provider: WireFormat[Any], texts: Iterable[bytes], positions: Collection[int]
) -> bytes:
    """The bytes of a request's `tools` out of those of each, the ones at `positions` marked."""
    items = list(texts)
    if provider.has_markers:
        for position in positions:
            items[position] = marked_text(items[position])
    text = _core.join_json(items)
    if provider.frame is None or not items:
        return text
    return b"".join((b'[{"', provider.frame.encode(), b'":', text, b"}]"))


MessageT = TypeVar("MessageT")


class SentTool(NamedTuple):
    """A tool in the words of a provider."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    is_strict: bool

    def function(self) -> dict[str, Any]:
        """`{name, description, parameters}`, as several formats have it."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


class WireFormat(Generic[MessageT]):
    """One wire format. Stateless; needs no SDK, and takes SDK objects and plain dicts alike."""

    name: ClassVar[str]
    """The name that `provider()` knows it by."""
    has_markers: ClassVar[bool] = False
    """Whether a definition can carry a cache marker."""
    frame: ClassVar[str | None] = None
    """The key of the one object that holds all definitions, if the format has that."""
    default_dialect: ClassVar[Dialect]

    def __init__(self, dialect: Dialect | None = None) -> None:
        self.dialect = self.default_dialect if dialect is None else dialect
        self.key = f"{self.name}/{self.dialect.name}"
        """Names what a definition looks like."""

    def __repr__(self) -> str:
        if self.dialect is self.default_dialect:
            return f"provider({self.name!r})"
        return f"provider({self.name!r}, dialect={self.dialect.name!r})"

    def compiled(self, tool: ProviderDefinition) -> Compiled:
        """The schema in the provider's dialect; `NoSchemaError` if it has no form there."""
        return compile_schema(tool.definition["parameters"], self.dialect)

    def strict(self, tool: ProviderDefinition) -> StrictForm:
        """The strict form; `NoSchemaError` with the reason if there is none."""
        rules = self.dialect.strict
        if rules is None:
            raise NoSchemaError(f"{self.dialect.name} has no strict tools")
        return strict_form(self.compiled(tool).schema, rules)

    def sent(self, tool: ProviderDefinition) -> SentTool:
        """The tool as a definition has it; a strict one plain if it has no strict form."""
        compiled = self.compiled(tool)
        parameters, is_strict = compiled.schema, False
        rules = self.dialect.strict
        if tool.strict and rules is not None:
            with contextlib.suppress(NoSchemaError):
                parameters, is_strict = strict_form(compiled.schema, rules).schema, True
        description = paragraphs(tool.definition["description"], compiled.tool_note)
        return SentTool(tool.definition["name"], description, parameters, is_strict)

    def schema_notes(self, tools: Iterable[ProviderDefinition]) -> list[SchemaNote]:
        """What is sent of the tools in other words than their authors', in their order."""
        notes: list[SchemaNote] = []
        use = BudgetUse(self.dialect.budget)
        for tool in tools:
            name = tool.definition["name"]
            try:
                compiled = self.compiled(tool)
            except NoSchemaError as problem:
                message = f"left out: {problem}"
                notes.append(SchemaNote(name, self.dialect.name, "left_out", "", message))
                continue
            notes += [SchemaNote(name, self.dialect.name, *change) for change in compiled.changes]
            if not tool.strict or self.dialect.strict is None:
                continue
            try:
                form = strict_form(compiled.schema, self.dialect.strict)
                reason = use.refusal(form.optional, form.unions)
            except NoSchemaError as problem:
                reason = str(problem)
            if reason is not None:
                message = f"not sent as strict: {reason}"
                notes.append(SchemaNote(name, self.dialect.name, "plain", "", message))
        return notes

    def definition(self, tool: ProviderDefinition) -> dict[str, Any]:
        """One tool as the model is shown it, without a marker; plain dicts and lists."""
        raise NotImplementedError

    def calls(self, reply: object) -> list[Any]:
        """The calls of one whole reply, in its order; `ConfigError` for another value.

        Ids are the provider's, duplicates included; a call without one gets `call_{position}`.
        """
        raise NotImplementedError

    def elements(self, reply: object) -> Sequence[Any]:
        """What a reply holds its calls among; nothing if they have a list of their own."""
        return ()

    def messages(self, results: Iterable[Any]) -> list[MessageT]:
        """The messages that answer the calls, in order; none for no results."""
        raise NotImplementedError
