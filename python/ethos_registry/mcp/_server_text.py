"""Text of a server: everything that it writes, beside results, passes one search.

A model reads names, descriptions and schemas of tools as it reads its instructions. Invisible
characters, terminal escapes, and the tokens by which chat templates state who speaks have no
business there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._schema_rules import SCHEMA, SCHEMA_LISTS, SCHEMAS_BY_NAME

MAX_DESCRIPTION_CHARS = 2048
MAX_DEFINITION_BYTES = 32 * 1024
"""The largest definition of a tool that is shown to a model, by default."""
MAX_SERVER_DEFINITION_BYTES = 1024 * 1024
"""The most that the definitions of one server have together, by default."""
MAX_DEFINITION_DEPTH = 100
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # invisible letters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidirectional
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # format characters of shorthand and music
    "\U000e0000-\U000e0fff]"  # tags and variation selectors
)
_VISIBLE_SEQUENCES = re.compile(
    "(?<=[\u00a9\u00ae\u2000-\u3299\U0001f000-\U0001faff])\ufe0f"
    "|(?<=[\ufe0f\u2190-\u3299\U0001f000-\U0001faff])\u200d(?=[\u2190-\u3299\U0001f000-\U0001faff])"
    "|(?<=[\u0600-\u0dff])[\u200c\u200d](?=[\u0600-\u0dff])"
)
"""Emoji, and words of Arabic and Indic scripts, need some of these characters."""


def cleaned(text: str, max_chars: int = MAX_DESCRIPTION_CHARS) -> str:
    r"""Without hidden characters, escapes and chat tokens, and at most `max_chars` long.

    >>> cleaned("read\u200b a \x1b[31mfile\u202e <|im_start|>")
    'read a file [STRIPPED-TEMPLATE-TOKEN]'
    """
    text = _HIDDEN.sub("", _core.without_escapes(_core.replace_surrogates(text)))
    text = _core.sanitize(text).strip()
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def one_line(text: str, max_chars: int = 300) -> str:
    """The same on one line."""
    return cleaned(" ".join(cleaned(text, max_chars * 4).split()), max_chars)


def is_clean(text: str) -> bool:
    r"""Whether text that cannot be changed without changing its meaning may be shown.

    >>> is_clean("celsius"), is_clean("cel\u200bsius"), is_clean("⚙️"), is_clean("[INST]")
    (True, False, True, False)
    """
    shown = _VISIBLE_SEQUENCES.sub("", text) if not text.isascii() else text
    return (
        _HIDDEN.search(shown) is None
        and _core.replace_surrogates(text) == text
        and _core.without_escapes(text) == text
        and _core.sanitize(text) == text
    )


_PROSE = frozenset({"title", "description", "$comment"})
_NAMES = SCHEMAS_BY_NAME | {"dependentRequired", "dependencies"}
"""Their keys are names that the author chose."""
_SCHEMAS = SCHEMA | SCHEMA_LISTS
_ASSERTIONS = frozenset(
    {
        "enum",
        "const",
        "required",
        "type",
        "pattern",
        "format",
        "$ref",
        "$dynamicRef",
        "$anchor",
        "$dynamicAnchor",
        "$id",
        "id",
        "$schema",
    }
)


def cleaned_schema(schema: Any) -> Any:
    """A schema whose every string and key may be shown.

    Prose (`title`, `description`, `$comment`) is cleaned. What is left of examples, defaults and
    unknown keywords has nothing hidden: one that has is left out, since a changed value would be
    another value.

    Raises:
        ConfigError: A name, a choice or another part that decides which arguments are valid has
            hidden characters, escapes or chat tokens; or the schema is nested too deep.

    """
    check_depth(schema)
    return _schema(schema, "")


def check_depth(value: Any) -> None:
    """Raise `ConfigError` if JSON values are nested deeper than any definition needs to be."""
    level = [value]
    for _ in range(MAX_DEFINITION_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return
    raise ConfigError(f"its definition is nested more than {MAX_DEFINITION_DEPTH} levels deep")


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    yield from (item for item in value if isinstance(item, Mapping | list | tuple))


def _schema(schema: Any, place: str) -> Any:
    if isinstance(schema, list):
        return [_schema(item, f"{place}[{index}]") for index, item in enumerate(schema)]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        inner = f"{place}.{key}" if place else str(key)
        if key in _PROSE and isinstance(value, str):
            found[key] = cleaned(value)
        elif key in _NAMES and isinstance(value, Mapping):
            for name in value:
                _check(name, inner)
            found[key] = {name: _schema(each, f"{inner}.{name}") for name, each in value.items()}
        elif key in _SCHEMAS:
            found[key] = _schema(value, inner)
        elif key in _ASSERTIONS:
            _check(value, inner)
            found[key] = value
        elif is_clean(str(key)) and _is_clean_data(value):
            found[key] = value
    return found


def _check(value: Any, place: str) -> None:
    if not _is_clean_data(value):
        raise ConfigError(
            f"hidden characters, escapes or chat tokens at `{one_line(place, 200)}` of its schema"
        )


def _is_clean_data(value: Any) -> bool:
    if isinstance(value, str):
        return is_clean(value)
    if isinstance(value, Mapping):
        return all(is_clean(str(key)) and _is_clean_data(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_clean_data, value))
    return True


def cleaned_metadata(value: object) -> dict[str, Any]:
    """The members of an object such as `_meta` or `annotations` that may be shown."""
    if not isinstance(value, Mapping):
        return {}
    try:
        check_depth(value)
    except ConfigError:
        return {}
    return {
        key: cleaned(each) if key in _PROSE and isinstance(each, str) else each
        for key, each in value.items()
        if isinstance(key, str) and is_clean(key) and (key in _PROSE or _is_clean_data(each))
    }


def json_fields(model: Any) -> dict[str, Any]:
    """The JSON object of a value of the protocol."""
    fields: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return fields


def cleaned_fields(model: Any) -> dict[str, Any]:
    """The same, of a server, as it may be shown."""
    fields: dict[str, Any] = without_hidden(json_fields(model))
    return fields


_BASE64 = re.compile("[A-Za-z0-9+/=]*")
_MAX_TEXT_CHARS = 200_000


def without_hidden(value: Any) -> Any:
    """JSON values of a server whose keys and strings may be shown; only those that may not change.

    Data in base64 stays.
    """
    if isinstance(value, str):
        is_kept = _BASE64.fullmatch(value) or (len(value) <= _MAX_TEXT_CHARS and is_clean(value))
        return value if is_kept else cleaned(value, _MAX_TEXT_CHARS)
    if isinstance(value, dict):
        return {
            key if is_clean(key) else cleaned(key, 1000): without_hidden(each)
            for key, each in value.items()
        }
    return [without_hidden(each) for each in value] if isinstance(value, list) else value
