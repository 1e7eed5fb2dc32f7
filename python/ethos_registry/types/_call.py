"""Calls of a model, and their results."""

from __future__ import annotations

import html
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NoReturn, Protocol, TypeAlias, cast, get_args

from ethos_registry import _core
from ethos_registry.types import _checks
from ethos_registry.types._checks import python_names
from ethos_registry.types._content import ContentBlock
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolResult, result_from_wire

# Wrong arguments that had one reading.

RepairLevel: TypeAlias = Literal["off", "safe", "all"]
"""Which wrong arguments are repaired: none, those that are the same value in another spelling, or
also those where the model most likely meant it."""
RepairKind: TypeAlias = Literal[
    "json_text",
    "number_text",
    "boolean_text",
    "null_as_absent",
    "doubled_json",
    "raw_control",
    "single_as_list",
    "null_text",
    "trailing_text",
]
"""What was read: JSON that came as text, a number or boolean as text, null for a property that may
be absent, the same object twice, line breaks inside strings; at level `all` also a single value for
a list, the text `null`, and brackets or tags after the object."""


def checked_repair_level(level: object) -> RepairLevel:
    """The level; `ConfigError` for any other value."""
    return cast("RepairLevel", _checks.one_of(level, get_args(RepairLevel), "repair_arguments"))


@dataclass(frozen=True, slots=True)
class Repair:
    """One change to the arguments of a call before its tool ran."""

    path: str
    """The place, such as `items[0].price`; empty for the arguments as a whole."""
    kind: RepairKind


# Approvals that outlive a batch: what a filter answers, and what the application gets.


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class Pending:
    """What the `before` of a filter returns when a person decides later.

    The call is then answered at once, as waiting for approval: see `CallResult.pending` and
    `View.resume`. The registry needs `approvals=Approvals(key)`.

    >>> Pending("deletes a folder").reason
    'deletes a folder'
    """

    reason: str
    """Why the call needs approval, for the person and for the model."""

    def __post_init__(self) -> None:
        _checks.unicode_text(self.reason, "reason")


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for approval: what to show to a person, and the token to resume it."""

    token: str
    """Signed, not encrypted: it holds the arguments. Keep it from models and from other users."""
    reason: str
    tool_call_id: str
    tool_name: str
    arguments: Any
    """The arguments with which the tool would run."""
    expires_at_seconds: float | None
    """Unix time from which on the token is refused; `None` for never."""
    repairs: tuple[Repair, ...] = ()
    """What was repaired in the arguments, if the model did not send them so."""

    def __repr__(self) -> str:  # without the token, which may end in a log
        return f"<PendingApproval of {self.tool_name}: {_checks.brief(self.reason)}>"


class ApprovalStore(Protocol):
    """Remembers which approvals were used, so that each is used once."""

    def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool | Awaitable[bool]:
        """Whether this is the first claim of the id: atomic, and durable if tokens are.

        An id may be forgotten after `expires_at_seconds` (Unix time).
        """


# The shapes in which a call comes: plain, or a provider's, as a dict or as an SDK's object.

_WRAPPERS = ("function_call", "functionCall", "toolUse")
"""A part of a message around one call."""
_IDS = ("call_id", "id", "tool_call_id", "toolCallId", "toolUseId")
"""Where the id is, first found first: an item of OpenAI's Responses has `call_id` and `id`."""


def _reader(call: object) -> Callable[[str], Any]:
    """Reads the fields of a mapping or of an object; absent ones are `None`."""
    if isinstance(call, Mapping):
        return call.get
    return lambda name: getattr(call, name, None)


def _has(call: object, name: str) -> bool:
    return name in call if isinstance(call, Mapping) else hasattr(call, name)


def _unwrapped(call: object) -> object:
    get = _reader(call)
    for name in _WRAPPERS:
        if (inner := get(name)) is not None and get("name") is None:
            return inner
    return call


def call_parts(call: object, position: int | None = None) -> tuple[str, str, Any]:
    """Id, name and arguments of a call in any known shape.

    An object of an SDK without an id, as Gemini and Ollama have them, gets `call_{position}` if a
    position is given. `ConfigError` names what is missing.
    """
    if not isinstance(call, dict | Mapping) and not any(
        hasattr(call, name) for name in ("name", "function", *_WRAPPERS)
    ):
        raise ConfigError(
            "a call is a mapping, a ToolCall or an object of a provider's SDK, "
            f"got {type(call).__name__}"
        )
    call = _unwrapped(call)
    get = _reader(call)
    name = get("name")
    if name is None:
        function = get("function")
        args = None
        if function is not None and not isinstance(function, str):
            of_function = _reader(function)
            name, args = of_function("name"), of_function("arguments")
    elif _has(call, "input"):
        args = get("input")
    else:
        args = get("args") if _has(call, "args") else get("arguments")
        if args is None and _has(call, "parameters"):
            raise ConfigError("a call has its arguments in `args`, not in `parameters`")
    call_id = next((found for field in _IDS if (found := get(field)) is not None), None)
    if call_id is None and position is not None and not isinstance(call, Mapping):
        call_id = f"call_{position}"
    if not isinstance(call_id, str):
        raise ConfigError("a call needs an id that is a string")
    if not isinstance(name, str):
        raise ConfigError("a call needs a name that is a string")
    return call_id, name, args


def call_identity(call: object) -> tuple[str | None, str]:
    """What can be had of the id and the name of a call that cannot be read."""
    call = _unwrapped(call)
    get = _reader(call)
    function = get("function")
    names = [get("name")]
    if function is not None and not isinstance(function, str):
        names.append(_reader(function)("name"))
    ids = [get(field) for field in ("call_id", "tool_call_id", "toolCallId", "toolUseId", "id")]
    return (
        next((item for item in ids if isinstance(item, str)), None),
        next((item for item in names if isinstance(item, str)), ""),
    )


# Tables for notebooks: every cell is text, never markup.

MAX_ROWS = 100
MAX_CELL_CHARS = 200


def html_table(
    caption: str, headers: Sequence[str], rows: Iterable[Sequence[object]], count: int
) -> str:
    """A table of at most `MAX_ROWS` of `count` rows; longer cells are cut.

    >>> html_table("1 tool", ["name"], [["<b>"]], 1)
    '<table><caption>1 tool</caption><tr><th>name</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    lines = [_row("th", headers), *(_row("td", row) for row in islice(rows, MAX_ROWS))]
    if count > MAX_ROWS:
        lines.append(_row("td", [f"... {count - MAX_ROWS} more"]))
    return f"<table><caption>{_cell(caption)}</caption>{''.join(lines)}</table>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    if len(text) > MAX_CELL_CHARS:
        text = f"{text[:MAX_CELL_CHARS]}..."
    return html.escape(_core.replace_surrogates(text))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: any name, and arguments as a mapping or as JSON text.

    >>> ToolCall.parse({"type": "tool_use", "id": "t1", "name": "stat", "input": {"path": "a"}})
    ToolCall(tool_call_id='t1', name='stat', args={'path': 'a'})
    """

    tool_call_id: str
    name: str
    args: Any = None

    @classmethod
    def parse(cls, call: object) -> ToolCall:
        """A call in any known shape: plain, or a provider's, as a dict or as an object of its SDK.

        Raises `ConfigError` that names what is missing.
        """
        if isinstance(call, ToolCall):
            return call
        return cls(*call_parts(call))

    def to_wire(self) -> dict[str, Any]:
        """The call as a JSON object in the plain shape."""
        return {"toolCallId": self.tool_call_id, "name": self.name, "args": self.args}


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A call that must not run, such as one from a truncated reply; answered `input_invalid`."""

    tool_call_id: str
    name: str
    problem: str
    """The error text for the model."""


@dataclass(slots=True)
class CallResult:
    """The result of one call, and what happened to its text."""

    tool_call_id: str
    name: str
    result: ToolResult
    untrusted: bool = False
    """Whether the output comes from a tool with `output_is_untrusted`."""
    source: str | None = None
    """Where untrusted output came from, as `file:a.txt`."""
    raw_chars: int = 0
    """Characters of the text as the tool returned it."""
    reduced_chars: int = 0
    """The same after the reducer."""
    sent_chars: int = 0
    """The same after the trim, marker included: what the model reads."""
    truncated_from: int | None = None
    """Characters before the cut, if the trim or the `read_file` reducer cut."""
    duration_seconds: float = 0.0
    """From the start of the tool, or of its last attempt, to its end; 0 if it was not started."""
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    """What the tool raised, in the process where it ran: never sent, saved or pickled."""
    repairs: tuple[Repair, ...] = ()
    """What was repaired in the arguments before the tool ran; not in the JSON of the result."""

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        state = {name: getattr(self, name) for name in self.__slots__}
        return None, state | {"exception": None}

    @property
    def ok(self) -> bool:
        """Whether the result is a success."""
        return self.result.ok

    @property
    def text(self) -> str:
        """What the model reads: the value or the error."""
        return self.result.text

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The images, documents, recordings and links beside the text."""
        return self.result.content

    def __getattr__(self, name: str) -> NoReturn:
        way_out = (
            f"it is `result.result.{name}`"
            if name in ("code", "cost_usd", "error", "extra", "reason", "structured", "value")
            else "what the model reads is `result.text`"
        )
        raise AttributeError(f"a CallResult has no {name!r}; {way_out}", name=name, obj=self)

    def __repr__(self) -> str:
        state = "pending" if self.pending is not None else "ok" if self.ok else "error"
        shown = _checks.brief(self.result.text)
        return (
            f"<CallResult {_checks.brief(self.tool_call_id)} of {self.name[:64]}: {state}, {shown}>"
        )

    def _repr_html_(self) -> str:
        return results_table([self])

    @property
    def pending(self) -> PendingApproval | None:
        """The approval that the call waits for, with the token to resume it; else `None`."""
        found = self.result.extra.get("pending")
        return found if type(found) is PendingApproval else None

    def to_wire(self) -> dict[str, Any]:
        """The result as a JSON object: exactly `toolCallId`, `name` and `result`."""
        return {"toolCallId": self.tool_call_id, "name": self.name, "result": self.result.to_wire()}

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> CallResult:
        """The result that a JSON object describes."""
        fields = ("tool_call_id", "name", "result")
        values = python_names(payload, fields, "call result", required=fields)
        result = result_from_wire(values["result"])
        chars = len(result.text)
        return cls(
            _checks.text(values["tool_call_id"], "tool_call_id"),
            _checks.text(values["name"], "name"),
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
        )


def results_table(results: Sequence[CallResult]) -> str:
    """The results as a table for notebooks."""
    rows = (
        (
            result.tool_call_id,
            result.name,
            "pending" if result.pending is not None else "ok" if result.ok else "error",
            result.result.text,
            result.sent_chars,
            f"{result.duration_seconds:.3f} s",
        )
        for result in results
    )
    failed = sum(not result.ok for result in results)
    caption = f"{len(results)} result{'' if len(results) == 1 else 's'}, {failed} not ok"
    headers = ("id", "tool", "state", "text", "characters", "time")
    return html_table(caption, headers, rows, len(results))
