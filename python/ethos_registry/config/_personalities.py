"""Loads personalities from YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from ethos_registry.types import _checks
from ethos_registry.types._checks import wire_name
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import MAX_DEPTH
from ethos_registry.types._policy import Personality

# One YAML document and the lines of its parts: YAML 1.2, plain values only.

MAX_DOCUMENT_BYTES = 1_048_576
MAX_VALUES = 100_000
"""The most values of a document, with its aliases followed."""

_TOO_DEEP = f"values are nested deeper than {MAX_DEPTH} levels"
_TEXT_NAME = "<text>"
_LOOKS_LIKE_TEXT = re.compile(r"[\n\r]|:\s|:\Z|\A\s*[{\[#]")


class YamlDocument(NamedTuple):
    """A parsed document: its value, and the line of each part for messages."""

    name: str
    """The file's path, or `<text>`."""
    value: Any
    node: Any

    def error(self, message: str, path: Sequence[str] = (), **context: Any) -> ConfigError:
        """`{file}:{line}: {message}`, with the line of the deepest existing part of `path`."""
        return _error(self.name, self._line(path), message, **context)

    def _line(self, path: Sequence[str]) -> int:
        node, line = self.node, self.node.start_mark.line
        for name in path:
            for key, value in _pairs(node):
                if key.value == name:
                    node, line = value, key.start_mark.line
                    break
            else:
                break
        return int(line) + 1


def read_document(path_or_text: str | os.PathLike[str]) -> YamlDocument:
    """The only document of a YAML file or text.

    A `str` with a line break, with a colon before a space or the end, or with a leading `{`, `[` or
    `#` is text; any other `str` is a path. Raises `ConfigError` with file and line for a document
    that is not UTF-8 or not YAML, is empty, larger than 1 MiB or nested deeper than 128 levels,
    holds several documents, a duplicate key, a language-specific tag or an alias inside itself, or
    whose aliases expand to more than 100,000 values.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    name, text = _source(path_or_text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _bounded_scanner()
    yaml.composer.warn_double_anchors = False
    try:
        node = yaml.compose(text)
        if node is None:
            raise _error(name, 1, "the file is empty; define one personality, or several by id")
        _count(name, node)
        value = yaml.constructor.construct_document(node)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context)
        raise _error(name, 1 if mark is None else mark.line + 1, _one_line(problem)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _error(name, line, f"invalid character in YAML: {error.character!r}") from None
    except YAMLError as error:
        raise _error(name, 1, _one_line(str(error))) from None
    except RecursionError:
        raise _error(name, 1, _TOO_DEEP) from None
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, ConfigError):
            raise
        raise _error(name, 1, _one_line(str(error))) from None
    return YamlDocument(name, value, node)


@cache
def _bounded_scanner() -> type[Any]:
    """A scanner that stops at the first collection that is nested too deeply.

    The parser would take seconds to find out.
    """
    from ruamel.yaml.scanner import Scanner, ScannerError

    class BoundedScanner(Scanner):
        def fetch_flow_collection_start(self, *arguments: Any, **options: Any) -> None:
            self._check_depth(self.flow_level)
            super().fetch_flow_collection_start(*arguments, **options)

        def add_indent(self, column: int) -> bool:
            self._check_depth(len(self.indents))
            return bool(super().add_indent(column))

        def _check_depth(self, depth: int) -> None:
            if depth > MAX_DEPTH:
                raise ScannerError(problem=_TOO_DEEP, problem_mark=self.reader.get_mark())

    return BoundedScanner


def _error(name: str, line: int, message: str, **context: Any) -> ConfigError:
    return ConfigError(f"{name}:{line}: {message}", context={"file": name, "line": line, **context})


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _source(path_or_text: str | os.PathLike[str]) -> tuple[str, str]:
    """The name for messages, and the text."""
    if isinstance(path_or_text, str) and (
        not path_or_text or _LOOKS_LIKE_TEXT.search(path_or_text)
    ):
        if len(path_or_text) > MAX_DOCUMENT_BYTES:
            raise _error(
                _TEXT_NAME, 1, f"the text is larger than {MAX_DOCUMENT_BYTES:,} characters"
            )
        return _TEXT_NAME, path_or_text
    _checks.instance(path_or_text, str | os.PathLike, "path_or_text", "a path or YAML text")
    name = os.fspath(path_or_text)
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _error(name, 1, f"cannot be read: {reason}") from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _error(name, 1, f"the file is larger than {MAX_DOCUMENT_BYTES:,} bytes")
    try:
        return name, data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error(name, line, f"invalid UTF-8: byte 0x{data[error.start]:02x}") from None


def _count(name: str, root: Any) -> None:
    """Refuse small documents whose aliases expand without bound."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: Any, depth: int) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        line = node.start_mark.line + 1
        if id(node) in open_nodes:
            raise _error(name, line, "an alias is inside the value that it refers to")
        if depth == 0:
            raise _error(name, line, _TOO_DEEP)
        open_nodes.add(id(node))
        total = 1 + sum(size(child, depth - 1) for child in _children(node))
        open_nodes.discard(id(node))
        if total > MAX_VALUES:
            raise _error(name, line, f"more than {MAX_VALUES:,} values with aliases expanded")
        sizes[id(node)] = total
        return total

    size(root, MAX_DEPTH)


def _children(node: Any) -> list[Any]:
    items = node.value if isinstance(node.value, list) else []
    return [child for item in items for child in (item if isinstance(item, tuple) else (item,))]


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    """Keys and values of a mapping node; none for any other node."""
    pairs = node.value if isinstance(node.value, list) else []
    return [pair for pair in pairs if isinstance(pair, tuple)]


_FIELDS = frozenset(field.name for field in fields(Personality))
_KNOWN = _FIELDS | {wire_name(field) for field in _FIELDS}
_QUOTED = re.compile(r"`([^`]+)`|'([^']+)'")


@_checks.checked_signature
def load_personalities(path_or_text: str | os.PathLike[str]) -> dict[str, Personality]:
    r"""The personalities of a YAML file or text by id, in its order.

    The file maps ids to fields, or is one personality with an `id`. YAML 1.2 applies: `no` is a
    string. A `str` with a line break or a key is text, any other `str` a path. Raises `ConfigError`
    with file and line for a file that cannot be read, invalid YAML, a duplicate key, an unknown
    field and a value of the wrong type.

    >>> load_personalities("reader:\n  toolset: [read_file]\n")["reader"].toolset
    ('read_file',)
    """
    document = read_document(path_or_text)
    root = document.value
    if not isinstance(root, Mapping):
        raise document.error(
            "the file must map ids to personalities, or be one personality with `id`, "
            f"got {_kind(root)}"
        )
    if _is_one(root):
        one = _personality(document, root, ())
        return {one.id: one}
    return {_id(document, key): _named(document, key, value) for key, value in root.items()}


@_checks.checked_signature
def load_personality(path_or_text: str | os.PathLike[str]) -> Personality:
    """The only personality of a YAML file or text; see `load_personalities`.

    >>> load_personality("id: reader").id
    'reader'
    """
    loaded = load_personalities(path_or_text)
    if len(loaded) != 1:
        raise ConfigError(
            f"expected one personality, got {len(loaded)}; use `load_personalities`",
            context={"field": "path_or_text", "value": list(loaded)},
        )
    return next(iter(loaded.values()))


def _is_one(root: Mapping[Any, Any]) -> bool:
    """Whether the file is one personality, with an `id` or with a missing `id`."""
    if "id" in root:
        return not isinstance(root["id"], Mapping)
    return any(key in _KNOWN and not isinstance(value, Mapping) for key, value in root.items())


def _id(document: YamlDocument, key: object) -> str:
    if not isinstance(key, str):
        raise document.error(f"the id of a personality must be a string, got {_kind(key)}: {key!r}")
    return key


def _named(document: YamlDocument, key: str, value: Any) -> Personality:
    if not isinstance(value, Mapping):
        raise document.error(
            f"personality `{key}` must be a mapping of fields, got {_kind(value)}", (key,)
        )
    if value.get("id", key) != key:
        raise document.error(f"personality `{key}` has another `id`: {value['id']!r}", (key, "id"))
    return _personality(document, {**value, "id": key}, (key,))


def _personality(
    document: YamlDocument, payload: Mapping[Any, Any], path: tuple[str, ...]
) -> Personality:
    try:
        return Personality.from_wire(payload)
    except ConfigError as error:
        field = _field(error)
        inside = (name for name, value in payload.items() if _holds(value, field))
        place = (*path, *field) if field[:1] and field[0] in payload else (*path, *inside, *field)
        raise document.error(" ".join(str(error).split()), place, **error.context) from None


def _field(error: ConfigError) -> tuple[str, ...]:
    """The path of the field that an error is about."""
    named = error.context.get("field")
    if not isinstance(named, str):
        quoted = _QUOTED.search(str(error))
        named = (quoted[1] or quoted[2]) if quoted else ""
    return tuple(named.split(".")) if named else ()


def _holds(value: object, field: tuple[str, ...]) -> bool:
    return isinstance(value, Mapping) and field[:1] != () and field[0] in value


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", type(None): "nothing"}
    return names.get(type(value), f"a {type(value).__name__}")
