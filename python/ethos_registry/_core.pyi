"""
The native core of `ethos_registry`; import the public names from `ethos_registry` instead.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final, final

__all__ = ["IS_DEBUG_BUILD", "VERDICT_EXCLUDED", "VERDICT_MCP_SERVER", "VERDICT_MCP_TOOL", "VERDICT_NOT_GRANTED", "VERDICT_PLUGIN", "VERDICT_TOOLSET", "VERDICT_UNKNOWN", "__version__", "Gate", "Grep", "JsonStream", "KnownSecrets", "NativeReducer", "OutputArchive", "ProtectedFiles", "SchemaValidator", "ScopedFiles", "ScopedTarget", "SealedTable", "ShownTexts", "ToolSearchIndex", "ToolTable", "UsageCounts", "as_displayed", "built_in_formats", "check_format", "closed_address", "confinement_problem", "finish", "format_of", "hook_answer", "is_data", "is_pattern", "is_tool_name", "isolated_arguments", "join_json", "json_bytes", "json_fault", "json_size", "namespace_filter_instructions", "prepare_confinement", "prepare_socket_scope", "real_paths", "redact", "reduce_many", "register_format", "registered_formats", "replace_surrogates", "same_json", "sanitize", "sniff_media_type", "split_mcp_name", "trim", "unregister_format", "usage_bucket", "without_escapes", "wrap"]

IS_DEBUG_BUILD: Final[bool]
"""
Whether this is a debug build, which is many times slower: not one to measure.
"""

VERDICT_EXCLUDED: Final[int]
"""
`ToolTable.admit`: the tool is excluded.
"""

VERDICT_MCP_SERVER: Final[int]
"""
`ToolTable.admit`: a tool of an MCP server that is not allowed.
"""

VERDICT_MCP_TOOL: Final[int]
"""
`ToolTable.admit`: a tool that is not among those allowed of its MCP server.
"""

VERDICT_NOT_GRANTED: Final[int]
"""
`ToolTable.admit`: a tool of another agent that was not granted.
"""

VERDICT_PLUGIN: Final[int]
"""
`ToolTable.admit`: a tool of a plugin that is not allowed.
"""

VERDICT_TOOLSET: Final[int]
"""
`ToolTable.admit`: a built-in tool that the toolset does not hold.
"""

VERDICT_UNKNOWN: Final[int]
"""
`ToolTable.admit`: no tool has this name.
"""

__version__: Final[str]
"""
The version of the package, from `Cargo.toml`.
"""

@final
class Gate:
    """
    One policy, compiled once and good for every table.

    For each list `None` is not a gate and an empty one admits none. `allowed_tools` and
    `allowed_groups` (toolset groups, without a prefix) are two halves of one gate, which binds
    built-in tools and is there as soon as one half is; tools that always are included pass it.
    Tools of MCP servers and plugins skip it; a tool of both a server and a plugin passes both of
    theirs. `allowed_mcp_tools` maps a server to bare names; every tool of a server that is absent
    passes. `granted_tools` names tools of any kind, and binds those that always are included too.
    `exclude_tools` is stronger than everything; its entries are names, or `toolset:<group>` for the
    tools of a group, of any kind. `TypeError` for lists that are not sequences of `str`; an entry
    that holds a lone surrogate matches nothing and is ignored.
    """
    def __new__(cls, /, *, allowed_tools: Sequence[str] | None = None, allowed_groups: Sequence[str] | None = None, exclude_tools: Sequence[str] | None = None, allowed_mcp_servers: Sequence[str] | None = None, allowed_mcp_tools: Mapping[str, Sequence[str]] | None = None, allowed_plugins: Sequence[str] | None = None, granted_tools: Sequence[str] | None = None) -> Gate: ...
    def unmatched(self, /, table: ToolTable) -> "dict[str, list[str]]":
        """
        The entries of each list that match no tool of `table`, sorted; lists without any are left
        out.

        `allowed_tools` and `allowed_groups` match built-in tools only; excluded groups keep their
        prefix and follow the names. MCP tools read `server/tool`; `server/` is a server without a
        tool for which no bare name was given. `granted_tools` is left out.
        """

@final
class Grep:
    """
    The lines that match a regular expression, or hold a plain text, out of an input given in pieces.

    `text` reads `7:text` for a match in line 7, `6-text` for a neighbour, with `--` between groups
    that do not touch. A line ends with `\\n`; a `\\r` before it does not belong to it. Patterns see
    one line at a time and run in linear time, so there is no look-around and no back reference;
    `^` and `$` stand at the ends of lines. Of the flags `imsu` only `i` (no case) makes a difference.

    `max_matches` lines and `max_chars` characters are shown at most, all matches are counted. Of
    a line of more than `max_line_bytes` the part around its match is shown, with a note on each side.
    The first line has the number `first_number`.
    `ValueError`, one line, for a pattern or a flag that is not one.
    """
    def __new__(cls, /, pattern: str, flags: str = "", *, literal: bool = False, context_lines: int = 0, max_matches: int = 1000, max_chars: int = 80000, max_line_bytes: int = 400, first_number: int = 1) -> Grep: ...
    def again(self, /) -> Grep:
        """
        A search for the same in another text; the pattern is not compiled again.
        """
    def feed(self, /, lines: "str | bytes") -> None:
        """
        Searches the next piece, `str` or UTF-8 bytes: whole lines; only the last one may be
        open. The GIL is released for large ones.
        """
    @property
    def matches(self, /) -> int:
        """
        How many lines match, shown or not.
        """
    @property
    def shown(self, /) -> int:
        """
        How many of the matching lines are shown.
        """
    @property
    def text(self, /) -> str:
        """
        The lines that are shown, without a line feed at the end.
        """

@final
class JsonStream:
    """
    Collects JSON text that arrives in pieces and knows after each piece whether it is whole.

    Every byte is scanned once. Invalid is what no further text can mend: a syntax error, a duplicate key, more than
    128 levels, or a number larger than every float.
    """
    def __new__(cls, /) -> JsonStream: ...
    def is_blank(self, /) -> bool:
        """
        Whether there is nothing but white space so far.
        """
    def is_invalid(self, /) -> bool:
        """
        Whether the text is not JSON, whatever follows.
        """
    def is_object(self, /) -> bool:
        """
        Whether the text is one whole JSON object.
        """
    def is_other_value(self, /) -> bool:
        """
        Whether the text is one whole JSON value that is not an object.
        """
    def length(self, /) -> int:
        """
        How many bytes of UTF-8 have come.
        """
    def partial(self, /) -> str | None:
        """
        The longest valid value that the text has so far, as JSON text; `None` while no value has started.

        An open string keeps what it has, open containers are closed; a key without a value, an unfinished number or
        an unfinished literal is left out.
        """
    def push(self, /, piece: str) -> None:
        """
        Append a piece. A lone surrogate becomes U+FFFD; the two halves of a pair must come in one piece.
        """
    def text(self, /) -> str:
        """
        The text so far; each escape of a lone surrogate is that of U+FFFD.
        """

@final
class KnownSecrets:
    """
    Finds known secret values literally. Values of fewer than 8 bytes are not searched for.
    """
    def __new__(cls, /, values: Sequence[str]) -> KnownSecrets: ...
    def __repr__(self, /) -> str: ...
    @property
    def longest_bytes(self, /) -> int:
        """
        The bytes of the longest value; 0 if there is none to search for.
        """
    def redact(self, /, text: str) -> str:
        """
        `text` with `[redacted: secret]` for each value as it is written; the same object if it has
        none.
        """
    def redact_start(self, /, text: str) -> tuple[str, str]:
        """
        The start of a stream: `text` without its values, and the rest that must wait for the next
        piece, because it may be the start of a value.
        """

@final
class NativeReducer:
    """
    A built-in reducer: `terminal`, `read_file`, `head_tail`, `generic` or `kanban_list`.

    `finish` runs it in the same crossing as the trim. It never makes an input longer, never raises,
    and gives the same text for the same text.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, kind: str) -> NativeReducer:
        """
        The reducer of that kind; any other name raises `ValueError`.
        """
    def __repr__(self, /) -> str: ...
    @property
    def kind(self, /) -> str:
        """
        The name of the kind.
        """
    def reduce(self, /, text: str, args: Any, ok: bool, exit_code: Any | None = None, *, target_chars: int | None = None, level: str | None = None) -> str:
        """
        The reduced text; the same object when it stays as it is.

        `args` are the arguments of the call: of a dict, `command` and the names of line ranges are
        read, everything else is ignored. `ok` states whether the call succeeded; `exit_code` is that of
        the command, `None` when no one said: then nothing is reported as success. With a `level`
        (`lossless`, `facts`, `verdict`), what fits in `target_chars` stays whole; another raises
        `ValueError`.
        """
    @property
    def whole_chars(self, /) -> int:
        """
        Text of at most this many characters is not changed, whatever its content.
        """

@final
class OutputArchive:
    """
    The folder of whole outputs, for `run`, hooks and `show` alike: `$ETHOS_REGISTRY_OUTPUTS`, else
    the one where programs of this system keep their state.

    The newest 200 are kept, for 7 days, up to 1 GiB in all; every method removes the rest. Only the
    owner may read them. A folder that other users own or may write to raises `OSError`, as does one
    that cannot be used, and links in it are not followed.
    """
    def __new__(cls, /) -> OutputArchive: ...
    def all(self, /) -> list[tuple[str, str, int, float, int]]:
        """
        Id, command, exit code, time in seconds since the epoch and size in bytes of each output, the
        newest first.
        """
    @property
    def folder(self, /) -> str:
        """
        The folder.
        """
    def measured(self, /) -> list[str]:
        """
        The rows that hooks and recalls measured, each a line of JSON, the oldest first.
        """
    def note_recall(self, /, id: str, chars: int) -> None:
        """
        Add a row to what was measured: that `chars` characters of an output were asked for again.
        """
    def read(self, /, id: str) -> bytes | None:
        """
        The content of an output; `None` if no output has this id.
        """
    def save(self, /, command: str, exit_code: int, started: float, content: bytes) -> str:
        """
        Save an output; its id, which depends on the command, the exit code and the content only.
        """

@final
class ProtectedFiles:
    """
    Files that stay closed inside permitted folders.

    `closed` are absolute paths that stay closed, `closed_names` rows of names (`.ssh`,
    `.aws/credentials`) that are closed wherever they are; the two `…_to_writing` may be read.
    What the paths lead to is judged for each `ScopedFiles`.
    """
    def __new__(cls, /, *, closed: Sequence[str | PathLike[str]] = ..., closed_names: Sequence[str | PathLike[str]] = ..., closed_to_writing: Sequence[str | PathLike[str]] = ..., closed_names_to_writing: Sequence[str | PathLike[str]] = ...) -> ProtectedFiles: ...

@final
class SchemaValidator:
    """
    A JSON Schema, compiled once; thread-safe.

    Draft 2020-12 unless `$schema` names another. Nothing is coerced (`"5"` and `true` are no
    integers, `1.0` is one), `format` is not asserted, patterns run in linear time, and nothing is
    fetched. `ValueError`, one line with the place, for a schema that is not one: also one that refers
    out of itself, that is nested deeper than 128 levels, whose references lead to one place on more than
    a million ways, or whose patterns need look-around or back references.
    """
    def __new__(cls, /, schema: "Mapping[str, object]") -> SchemaValidator: ...
    def is_valid(self, /, args: Any) -> bool:
        """
        Whether `args` matches the schema; what is not JSON does not.
        """
    def validate(self, /, args: Any) -> "list[tuple[tuple[str | int, ...], str, str, bool]] | None":
        """
        Why `args` does not match: at most 64 of `(path, keyword, expected, in_union)`; `None` when
        it does.

        `path` holds keys and indices and ends with the name where a field is missing or unknown.
        `keyword` is the schema's; `names` represents a wrong name, `schema` for too many reasons
        to look for, `effort` for arguments that take too long to check, and for what is not JSON at
        all: `json` (another kind of value), `key` (a key that is not a string), `finite`, `large`,
        `surrogate` (a lone one) and `depth`. `expected` is the keyword's value as JSON text;
        `in_union` states that one alternative of a union, not the whole, expected it.
        """

@final
class ScopedFiles:
    """
    Files below permitted folders, opened so that no link, `..` or race leaves them.

    `read` and `write` are absolute folders or single files; reading needs one of the first,
    writing one of the second. What `protected` closes stays closed.
    Relative paths are below `working_folder`. Refusals are `PermissionError`s whose text starts
    with `PATH_NOT_REACHABLE`, the rest are the system's `OSError`s.
    """
    def __new__(cls, /, read: Sequence[str | PathLike[str]], write: Sequence[str | PathLike[str]], working_folder: str | PathLike[str], protected: ProtectedFiles | None = None) -> ScopedFiles: ...
    def entries(self, /, path: str | PathLike[str]) -> tuple[str, list[tuple[str, str]]]:
        """
        The path of a folder without links, and `(name, kind)` of each entry, by name.
        """
    def list(self, /, path: str | PathLike[str]) -> list[tuple[str, str, int, float]]:
        """
        `(name, kind, size_bytes, modified_seconds)` of each entry of a folder, by name.
        """
    def look(self, /, path: str | PathLike[str]) -> tuple[str, int, float] | None:
        """
        `(kind, size_bytes, modified_seconds)` of a path, or `None` if nothing is there.
        """
    def make_folder(self, /, path: str | PathLike[str]) -> None:
        """
        Create a folder and those above it; one that exists stays as it is.
        """
    def open(self, /, path: str | PathLike[str]) -> tuple[int, str]:
        """
        A descriptor of a regular file, which the caller closes, and its path without links.
        """
    def read(self, /, path: str | PathLike[str], limit_bytes: int) -> bytes:
        """
        The bytes of a regular file; an `OSError` if it has more than `limit_bytes`.
        """
    def target(self, /, path: str | PathLike[str], *, make_folders: bool = False) -> ScopedTarget:
        """
        Where a file is or will be written; `make_folders` creates missing ones.
        """
    def write(self, /, path: str | PathLike[str], data: bytes) -> None:
        """
        Create a file or replace its content in one step; its permissions stay.
        """

@final
class ScopedTarget:
    """
    A file that is to be written: `ScopedFiles.target` resolved its folder and its name.
    """
    def lock(self, /) -> bool:
        """
        Try to take the advisory lock of the folder; an `OSError` if the folder has none.
        """
    def may_write(self, /) -> bool:
        """
        Whether this process may write to the file itself, not just replace it.
        """
    @property
    def path(self, /) -> str:
        """
        The path without links.
        """
    def read(self, /, limit_bytes: int) -> bytes:
        """
        The content; an `OSError` if it has more than `limit_bytes`.
        """
    def replace(self, /, data: bytes) -> tuple[int, int, int, int, int]:
        """
        Create the file or replace its content in one step; its new `status`.
        """
    def status(self, /) -> tuple[int, int, int, int, int] | None:
        """
        `(mode, device, inode, size_bytes, modified_nanoseconds)` of what is there, or `None`.
        """
    def unlock(self, /) -> None:
        """
        Release the lock.
        """

class SealedTable:
    """
    The base of a registry that no one can change: a table and a tuple beside it.

    Both are taken once, when the object is made, and Python code has no way to put others in their
    place: there is no attribute that `object.__setattr__` could reach. What is handed out is the
    tuple itself and a table of its own, whose changes stay with it.
    """
    def __new__(cls, /, table: ToolTable, held: "tuple[object, ...]") -> SealedTable: ...
    def _sealed(self, /) -> "tuple[ToolTable, tuple[object, ...]]":
        """
        A fresh table over the sealed entries, and the tuple.
        """
    def _selected(self, /, gate: "Gate | None") -> "tuple[tuple[object, ...], ...]":
        """
        The entries that `gate` permits and no one hid, in order of registration; of those that have
        an `is_available` a pair of it and the entry's position; the same of those that have a
        `why_refused`.

        The entries are the first item of the sealed tuple, by slot. The answer is kept for each
        gate object.
        """

@final
class ShownTexts:
    """
    What one reader was shown, as hashes of their lines.
    """
    def __new__(cls, /) -> ShownTexts: ...
    def fold(self, /, text: str, way: str) -> tuple[str, list[tuple[int, int, int, int]]] | None:
        """
        `text` with a reference in place of each run of lines that the reader has seen, and for each the
        number of the earlier text, its first line, how many lines and the line with the reference;
        `None` if it stays as it is. `way` states how to read all of the text.
        """
    def forget(self, /) -> None:
        """
        Forget everything: the reader may have lost its context.
        """
    def record(self, /, label: str, text: str) -> None:
        """
        Record an output as it reached the reader.
        """

@final
class ToolSearchIndex:
    """
    BM25 over the definitions of tools, each `{name, description, parameters}` as JSON bytes.

    Words count by the field that they are in. Never changes; safe from threads.
    """
    def __len__(self, /) -> int: ...
    def __new__(cls, /, definitions: Sequence[bytes]) -> ToolSearchIndex: ...
    def find(self, /, query: str, limit: int) -> list[tuple[int, float]]:
        """
        The positions of the best matches with their scores, at most `limit`, the best first.
        """

@final
class ToolTable:
    """
    Tools by exact name, in order of registration, with the data that gates look at.

    Holds no Python object: each tool has a *slot*, the index of its object in a list that the
    caller keeps. A slot stays the same until its tool is removed; the slot freed last is given out
    first. Safe to share between threads.
    """
    def __len__(self, /) -> int: ...
    def __new__(cls, /) -> ToolTable: ...
    def admit(self, /, gate: "Gate | None", names: "list[object]") -> "list[int]":
        """
        For each name the slot that a call reaches, or the `VERDICT_*` that refuses it.

        Hidden tools are admitted like others. Every object is answered; what is not a name of a tool
        is `VERDICT_UNKNOWN`.
        """
    def branch(self, /) -> ToolTable:
        """
        A table that holds the same, changes on its own and shares what it did not change.

        A change of it costs what it changes, whatever the number of tools; free slots of this table
        are not given out by it.
        """
    def find(self, /, name: "object") -> int | None:
        """
        The slot of exactly this name, or `None`; whatever the object is, nothing is raised.
        """
    def group(self, /, toolset: str) -> list[int]:
        """
        The slots of a toolset group, hidden tools and those of plugins and MCP servers too, in
        order of registration.
        """
    def hidden_slots(self, /) -> list[int]:
        """
        The slots of all hidden tools, in order of registration.
        """
    def insert(self, /, name: str, *, toolset: str | None = None, always_include: bool = False, plugin_id: str | None = None, mcp_server: str | None = None, mcp_tool: str | None = None) -> int | None:
        """
        Add a tool at the end of the order; its slot, or `None` for a name that is present.

        A tool with neither MCP server nor plugin is built in. Without `mcp_server` a name that
        starts with `mcp__` decides about server and tool, see `split_mcp_name`; `mcp_tool` goes
        with `mcp_server` only. `ValueError` for a name or an MCP server that is refused; nothing
        has changed then.
        """
    def is_hidden(self, /, name: str) -> bool:
        """
        Whether a tool of this name is there and hidden.
        """
    def remove(self, /, name: str) -> int | None:
        """
        Take a tool out; the slot that is free now, or `None` for an unknown name.
        """
    def replace(self, /, name: str, *, toolset: str | None = None, always_include: bool = False, plugin_id: str | None = None, mcp_server: str | None = None, mcp_tool: str | None = None) -> int | None:
        """
        Give a present tool new gate data; its slot, or `None` for an unknown name.

        Slot, position and hidden flag stay; arguments and errors are those of `insert`.
        """
    def select(self, /, gate: Gate | None) -> list[int]:
        """
        The slots of all tools that `gate` permits and that are not hidden, in order of registration.

        Without a gate every tool is permitted. The cost follows what is returned and what the
        gate's lists name, never how many tools are registered.
        """
    def set_hidden(self, /, name: str, hidden: bool) -> bool:
        """
        Leave a tool out of `select`, or show it again; whether the name is known.
        """
    def slots(self, /) -> list[int]:
        """
        The slots of all tools, hidden ones too, in order of registration.
        """
    def snapshot(self, /) -> ToolTable:
        """
        A table that holds the same and changes on its own.

        Costs the same for any number of tools; the first change on either side while both live
        copies the entries.
        """

@final
class UsageCounts:
    """
    Sums of calls by day, caller, owner, tool, outcome and duration, in bounded memory.

    Safe from threads. `max_cells` distinct combinations are held, and calls that find no room are
    counted in `lost_calls`. After `max_unknown_names` names that no tool has, the others are counted
    together as `(other unknown names)`.
    """
    def __new__(cls, /, *, max_cells: int = 100000, max_unknown_names: int = 1000) -> UsageCounts: ...
    def add(self, /, agent: str, owner: str, tool: str, outcome: str, started_at_seconds: float, duration_seconds: float | None = None, chars: tuple[int, int, int] = ..., cost_usd: float = 0.0, is_repaired: bool = False) -> None:
        """
        Counts one call; without `duration_seconds` it never reached the implementation.
        """
    def add_batch(self, /, agent: str, rows: "list[Any]", clock_offset_seconds: float, now: float, answered: str) -> None:
        """
        Counts the calls of a batch of `agent`.

        `rows` are tuples that end in the `CallResult`, the registry's entry (or `None` for a name
        that no tool has) and the start in seconds of the monotonic clock (`None` for a call whose
        tool was not started), which plus `clock_offset_seconds` is Unix time. `now` is the Unix time
        of calls that were not started, `answered` the outcome of those among them that are a success.
        """
    @property
    def call_count(self, /) -> int:
        """
        Calls since the last `take`.
        """
    @property
    def lost_calls(self, /) -> int:
        """
        Calls that found no room, ever.
        """
    def peek(self, /) -> "list[tuple[int, str, str, str, str, int, list[int]]]":
        """
        The same, and it stays.
        """
    def take(self, /) -> "list[tuple[int, str, str, str, str, int, list[int]]]":
        """
        What was counted since the last `take`: `(day, agent, owner, tool, outcome, bucket, sums)`.

        `bucket` is -1 for calls that never reached the implementation. `sums` are calls, characters
        raw, reduced and sent, nano-dollars, microseconds, and calls with repaired arguments.
        """

def as_displayed(text: str) -> str:
    """
    `text` as a terminal displays it: without escape sequences, backspaces and carriage returns
    applied; the same object when there are none.

    The reducers of kind `terminal` and `generic` read text like this. A lone surrogate becomes U+FFFD
    if something is removed.
    """

def built_in_formats() -> "list[tuple[str, str]]":
    """
    The names and the content of the formats of the package.
    """

def check_format(text: str) -> "tuple[str, list[str]]":
    """
    The name and the commands of a format, the text of a `format.toml`.

    Raises `ValueError` with one line that names the key, the value and the reason.
    """

def closed_address(address: str) -> tuple[str, bool] | None:
    """
    `(kind, is_metadata)` of an address that requests from outside must not reach, as
    `("loopback", False)`; `None` for an ordinary unicast address. `ValueError` if `address` is not
    an IPv4 or IPv6 address in its usual spelling, without a zone.
    """

def confinement_problem() -> str | None:
    """
    What keeps `prepare_confinement` from working here; `None` if nothing does.
    """

def finish(text: str, cap: int, reducer: NativeReducer | None = None, args: Any | None = None, ok: bool = True, *, exit_code: Any | None = None, fence: tuple[str, str] | None = None, target_chars: int | None = None, level: str | None = None, stated_chars: int | None = None, is_start: bool = False, redacts: bool = False, known: KnownSecrets | None = None) -> tuple[str, int, int | None]:
    """
    `text` reduced, freed of surrogates and trimmed: `(sent text, reduced chars, truncated from)`.

    The sent text is at most `cap` characters and, when it was cut, the marker
    `\\n[truncated — N chars total]`; N is the third value, `None` when nothing was cut. The second
    value is the length of the text that entered the trim. `reducer` is run with `args`, the
    arguments of the call, with `ok`, whether it succeeded, and with the `exit_code` of its command,
    `None` if it is unknown. When nothing changes, the same
    object comes back; so it does when native code fails. A negative `cap` raises `ValueError`.
    With a `level`, the reducer leaves what fits in `target_chars` whole.

    With `fence`, the name of the tool and where its output came from, template tokens and forged
    fences are removed before the trim, and the sent text is the trimmed one in a fence of at most
    363 characters, as `wrap` makes it. When that fails, a fence around a notice is sent instead.

    `stated_chars` is the length that the marker states, if it is not that of `text`: `text` was
    redacted. With `is_start`, `text` is only the start of an output of that length, of at least
    `cap` characters. With `redacts`, credentials (`known` values among them) that only a
    reducer makes visible are taken out of what it leaves.
    """

def format_of(text: str, command: str | None = None) -> "str | None":
    """
    The name of the first registered format that classifies lines of an output of a terminal; `None` without one.
    """

def hook_answer(agent: str, payload: bytes, program: str, target_chars: int | None = None, *, is_shadow: bool = False) -> str | None:
    """
    What `ethos-registry hook AGENT` prints for the JSON in `payload`; `None` if the original stays.

    `program` is the path of `ethos-registry` for the commands in an answer. Outputs of at most
    `target_chars` characters, by default 16,000, stay as they are. With `is_shadow` there is no
    answer, and what it would have saved is recorded. An unknown agent raises `ValueError`, a payload
    never raises.
    """

def is_data(text: str) -> bool:
    """
    Whether `text` is for programs: JSON, JSON lines, XML, base64, or text with NUL characters.

    A lone surrogate makes it no such text.
    """

def is_pattern(pattern: str) -> bool:
    """
    Whether `pattern` is a regular expression that JSON Schema knows (ECMA-262), look-around and back
    references among them; whether it takes linear time is `SchemaValidator`'s affair.
    """

def is_tool_name(name: str) -> bool:
    """
    Whether a tool may have this name: the whole of it matches `[a-zA-Z][a-zA-Z0-9_-]{0,63}`.
    """

def isolated_arguments(args: Any) -> Any:
    """
    A copy of the dicts and lists in `args`; other values, and levels below 128, are shared.

    Instances of subclasses are shared too. What `args` contains twice, or within itself, is copied
    once.
    """

def join_json(items: "list[bytes]") -> bytes:
    """
    The JSON array of items that are JSON already.
    """

def json_bytes(value: Any) -> bytes:
    """
    The value as compact JSON in UTF-8, byte for byte as
    `json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()` writes it.

    Dicts and lists may be of subclasses; strings and numbers may not, since they could be written
    as anything. `TypeError` for other values, `ValueError` for a number that JSON does not have, a
    lone surrogate and more than 136 levels.
    """

def json_fault(text: str) -> tuple[str, int, int] | None:
    """
    What is wrong with `text`, which a parser took for JSON: `(reason, line, column)`, both counted
    from 1 in characters; `None` for nothing.

    A key that appears twice in one object, however it is spelt; more than 128 levels; a number with a
    fraction or an exponent that is larger than every float. `text` holds no lone surrogate.
    """

def json_size(value: Any, limit: int) -> tuple[int, bool]:
    """
    The size of `value` as compact JSON in UTF-8, and whether it is plain JSON: `(bytes, is_plain)`.

    Plain are `None`, booleans, finite floats, integers of up to about 4,200 digits, strings without
    lone surrogates, and dicts with string keys, lists and tuples of these, none of them of a subclass
    and nested at most 128 levels deep. A value that occurs several times counts each time. Counting
    stops once the size exceeds `limit`, so the time is bounded whatever the value holds.
    """

def namespace_filter_instructions() -> bytes:
    """
    The seccomp filter for a command in namespaces of its own, as the kernel reads it.
    """

def prepare_confinement(read: Sequence[str | PathLike[str]], write: Sequence[str | PathLike[str]], network: bool) -> tuple[int, bytes]:
    """
    Prepare the confinement of a process that is about to become another program: Landlock for files,
    seccomp for sockets and the system calls that go around it.

    `read` may be read and executed, `write` written too; without `network` no socket can be made.

    Returns the descriptor of the Landlock rules, which the caller closes, and the seccomp filter as
    the kernel reads it. An `OSError` if the kernel cannot do it: the program must not be started.
    """

def prepare_socket_scope() -> int | None:
    """
    Rules for sockets alone, for a command in namespaces that has the network of the host: abstract
    names of the host are out of its reach.

    Returns their descriptor, which the caller closes; `None` if the kernel has no such rules.
    """

def real_paths(paths: Sequence[str | PathLike[str]]) -> list[str | None]:
    """
    The real paths: absolute and without links. `None` for one that does not exist or cannot be
    resolved.
    """

def redact(text: str, known: KnownSecrets | None = None) -> str:
    """
    `text` with `[redacted: github token]` and the like for each credential that identifies itself
    by its shape, and `[redacted: secret]` for each value of `known`; the same object if it has none.

    Shapes are prefixes that vendors publish, PEM private keys, JSON Web Tokens, bearer tokens,
    passwords in URLs, and random values that are assigned to the name of a secret. Hashes, UUIDs
    and base64 stay. Escape sequences, backspaces and invisible characters within a credential do
    not hide it.
    """

def reduce_many(reducer: NativeReducer, texts: Sequence[str], commands: Sequence[str | None] | None = None, exit_codes: Sequence[int | None] | None = None, budget_chars: int | None = None, target_chars: int | None = None, level: str | None = None) -> "list[str]":
    """
    Each of `texts` reduced by `reducer`, in their order; the same object where it stays as it is.

    `commands` and `exit_codes` have one item for each input, `None` where it is not known; without
    them nothing is known. A reduced text has at most `budget_chars` characters where its rows can be
    cut to that. With a `level`, what fits in `target_chars` stays whole. A list of another length and
    an unknown level raise `ValueError`.
    """

def register_format(text: str, replace: bool) -> "tuple[str, list[str]]":
    """
    Register a format, the text of a `format.toml`, for the whole process; its name and commands.

    Raises `ValueError` as `check_format` does, and when the name is taken and `replace` is false.
    """

def registered_formats() -> "list[tuple[str, list[str]]]":
    """
    The names and commands of the registered formats, the newest first.
    """

def replace_surrogates(text: str) -> str:
    """
    `text` with each lone surrogate replaced by one U+FFFD, never two joined; the same object when
    there is none.
    """

def same_json(left: Any, right: Any) -> bool:
    """
    Whether `left` and `right` are written as the same bytes of JSON.

    Unlike `==`: `1`, `1.0` and `True` are three values, `0.0` and `-0.0` are two, and the order of
    keys counts. Dicts and lists may be of subclasses, strings and numbers may not: they could be
    written as anything. Values nested deeper than 130 levels are not the same.
    """

def sanitize(text: str) -> str:
    """
    `text` with `[STRIPPED-TEMPLATE-TOKEN]` for each word by which a chat template states who speaks;
    the same object when it holds none.

    Taken out are: anything between `<|` and `|>` on one line, up to 64 characters; `<|turn>` and
    `<turn|>`; the bracketed tokens of the known model families, as `[INST]`, `<think>`, `</s>` (which
    HTML and source code write too); `<<SYS>>`; `Human:` and `Assistant:` after an empty line.
    Most in any case, with blanks or invisible characters inside, in full-width letters. No token
    is left in the text that comes back, nor in any beginning of it.
    """

def sniff_media_type(data: bytes) -> str | None:
    """
    The media type that the first bytes of `data` show, `text/plain` for UTF-8 without a known
    signature; `None` for anything else.
    """

def split_mcp_name(name: str, mcp_server: str | None = None) -> tuple[str, str] | None:
    """
    The MCP server and bare tool that a name represents, or `None` for a tool of no MCP server.

    With `mcp_server` the bare tool is what follows `mcp__{mcp_server}__`, or the whole name where
    that prefix or a rest is missing. Without it, a name that starts with exactly `mcp__` has to
    split into a non-empty server and a non-empty tool in exactly one way; underscores that overlap
    count. `ValueError` for a name that does not, and for an empty `mcp_server`.
    """

def trim(text: str, cap: int) -> tuple[str, int | None]:
    """
    The first `cap` characters of `text`, and how many it had if it was cut.

    Characters are counted as Python counts them. An extended grapheme cluster (UAX #29) is never
    split, unless it starts the text. An input of at most `cap` characters followed by one marker
    passes unchanged and gives the number in the marker. Each lone surrogate becomes one U+FFFD. The
    same object comes back when nothing changes. A negative `cap` raises `ValueError`.
    """

def unregister_format(name: str) -> "bool":
    """
    Remove the registered format of that name; whether there was one.
    """

def usage_bucket(seconds: float) -> int:
    """
    The bucket of a duration in seconds: each is 12 % wider than the one before, the first, 0, ends
    at one microsecond, the last, 255, holds everything above 35 days.
    """

def without_escapes(text: str) -> str:
    """
    `text` without terminal escape sequences: CSI (7 and 8 bit), OSC, DCS, SOS, PM and APC, ended or
    not, character sets and single shifts; the same object when there is none.

    A lone surrogate becomes U+FFFD if something is removed.
    """

def wrap(text: str, tool: str, source: str) -> str:
    """
    `text` in a fence: `<untrusted source="…" tool="…">`, the text, `</untrusted>`, on lines of their
    own.

    Whatever in the text reads as an opening or a closing tag of the fence, in any case and spacing,
    with invisible characters or look-alikes, and what would be one if the text went on, gets `&lt;`
    for its first character; lone surrogates become U+FFFD. At most 256 characters of `source` and 64
    of `tool` are shown, without line breaks, angle brackets, double quotes and template tokens.
    Template tokens in `text` stay: `sanitize` it first.
    """
