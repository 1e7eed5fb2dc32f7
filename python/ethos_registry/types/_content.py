"""Content beside the text of a result: images, documents, audio, links."""

from __future__ import annotations

import base64
import binascii
import io
import mimetypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from ethos_registry import _core
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict, freeze, thaw

# Files attached to the user's message.


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class Attachment:
    """One file: a reference, its kind (`image`, `file`, ...) and its URL.

    >>> Attachment("a0", "image", "file:///cache/a0.png").to_wire()
    {'ref': 'a0', 'type': 'image', 'url': 'file:///cache/a0.png'}
    """

    ref: str
    type: str
    url: str
    extra: Mapping[str, Any] = field(default_factory=ReadOnlyDict)
    """Fields that the registry does not read, such as a file name."""

    def __post_init__(self) -> None:
        for name in ("ref", "type", "url"):
            _checks.text(getattr(self, name), f"attachment.{name}")
        _checks.instance(self.extra, Mapping, "attachment.extra", "an object")
        # File names may contain lone surrogates; they are never part of a request.
        extra = freeze(self.extra, "attachment", keeps_surrogates=True)
        object.__setattr__(self, "extra", extra)

    @classmethod
    def from_bytes(cls, ref: str, type: str, data: bytes, **extra: Any) -> Attachment:  # noqa: A002 - the field's name
        """An attachment that holds its bytes, as a `data:` URL.

        >>> Attachment.from_bytes("a0", "file", b"hello", name="a.txt").url
        'data:application/octet-stream;base64,aGVsbG8='
        """
        text = base64.b64encode(data).decode("ascii")
        return cls(ref, type, f"data:application/octet-stream;base64,{text}", extra)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, with unknown fields."""
        wire = {"ref": self.ref, "type": self.type, "url": self.url}
        extra: dict[str, Any] = thaw(self.extra)
        return wire | extra | wire

    def __reduce__(self) -> tuple[Any, ...]:
        return Attachment, (self.ref, self.type, self.url, thaw(self.extra))

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> Attachment:
        """The attachment that a JSON object describes; unknown fields become `extra`."""
        if not isinstance(payload, Mapping):
            raise ConfigError(f"an attachment is a JSON object, got {type(payload).__name__}")
        known = ("ref", "type", "url")
        for name in known:
            if name not in payload:
                raise ConfigError(f"an attachment needs `{name}`")
        extra = {name: value for name, value in payload.items() if name not in known}
        return cls(payload["ref"], payload["type"], payload["url"], extra)


MAX_CONTENT_BYTES = 5 * 1024 * 1024
"""The largest block that is sent, in bytes of its data; a larger one is replaced by a note."""


@runtime_checkable
class Readable(Protocol):
    """Gives its bytes when it is asked: `pathlib.Path` and what is written like it."""

    def read_bytes(self) -> bytes:
        """The whole content."""


@runtime_checkable
class Savable(Protocol):
    """Writes itself into a file: the images of Pillow and what is written like them."""

    def save(self, file: Any, format: str) -> Any:  # noqa: A002 - Pillow's name for it
        """Write the content in a format, such as `"PNG"`."""


ContentData: TypeAlias = bytes | bytearray | memoryview | Readable | Savable
"""What the data of a block may come from; it is read once, when the block is made."""


@dataclass(frozen=True, slots=True, repr=False)
class _Data:
    data: ContentData
    """The bytes; a `pathlib.Path` or an image of Pillow is read when the block is made."""
    media_type: str = ""
    """The IANA media type; guessed from the data where it is not given."""
    name: str | None = None
    """A file name for providers that show one."""

    kind: ClassVar[str]
    default: ClassVar[str]

    def __post_init__(self) -> None:
        given = self.data
        media_type = _checks.text(self.media_type, "media_type").lower()
        data = _bytes_of(given, media_type or self.default)
        if not data:
            raise ConfigError("`data` of a content block must not be empty")
        if not media_type:
            media_type = _sniffed(data) or _named(given) or self.default
        if "/" not in media_type or any(c.isspace() or ord(c) > 126 for c in media_type):
            raise ConfigError(
                f"`media_type` must be a media type such as {self.default!r}: "
                f"{_checks.brief(media_type)}",
                context={"field": "media_type", "value": media_type},
            )
        name = _checks.optional_unicode_text(self.name, "name")
        if name is None and isinstance(path := getattr(given, "name", None), str):
            name = path if not _checks.has_lone_surrogate(path) else None
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "media_type", media_type)
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.media_type}, {len(self.data_bytes):,} bytes)"

    @property
    def data_bytes(self) -> bytes:
        """The data."""
        assert isinstance(self.data, bytes)
        return self.data

    @property
    def base64_text(self) -> str:
        """The data in base64."""
        return base64.b64encode(self.data_bytes).decode("ascii")

    @property
    def data_url(self) -> str:
        """The data as a `data:` URL."""
        return f"data:{self.media_type};base64,{self.base64_text}"

    def describe(self) -> str:
        """One line for those who cannot be shown the block."""
        return f"{self.kind} ({self.media_type}, {len(self.data_bytes):,} bytes)"

    def to_wire(self) -> dict[str, Any]:
        """The JSON object: `type`, `mediaType`, `data` in base64, `name` if there is one."""
        wire = {"type": self.kind, "mediaType": self.media_type, "data": self.base64_text}
        return wire if self.name is None else wire | {"name": self.name}


@_checks.checked_class
@dataclass(frozen=True, slots=True, repr=False)
class Image(_Data):
    r"""An image.

    >>> Image(b"\x89PNG\r\n\x1a\n...").media_type
    'image/png'
    """

    kind: ClassVar[Literal["image"]] = "image"
    default: ClassVar[str] = "image/png"


@_checks.checked_class
@dataclass(frozen=True, slots=True, repr=False)
class Document(_Data):
    """A document; a PDF unless another media type is given.

    >>> Document(b"%PDF-1.7 ...", name="report.pdf").media_type
    'application/pdf'
    """

    kind: ClassVar[Literal["document"]] = "document"
    default: ClassVar[str] = "application/pdf"


@_checks.checked_class
@dataclass(frozen=True, slots=True, repr=False)
class Audio(_Data):
    """A recording.

    >>> Audio(b"RIFF....WAVE").media_type
    'audio/wav'
    """

    kind: ClassVar[Literal["audio"]] = "audio"
    default: ClassVar[str] = "audio/wav"


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class Link:
    """A reference to something that the model may ask for; it is sent as a line of text.

    >>> Link("https://example.com/report", title="The report").line()
    '[The report](https://example.com/report)'
    """

    url: str
    title: str | None = None
    kind: ClassVar[Literal["link"]] = "link"

    def __post_init__(self) -> None:
        url = _checks.unicode_text(self.url, "url")
        if not url or any(character.isspace() for character in url):
            raise ConfigError(f"`url` must be a URL without white space: {_checks.brief(url)}")
        _checks.optional_unicode_text(self.title, "title")

    def line(self) -> str:
        """The link as one line of text."""
        title = " ".join((self.title or "").split())
        return f"[{title}]({self.url})" if title else self.url

    def to_wire(self) -> dict[str, Any]:
        """The JSON object: `type`, `url`, `title` if there is one."""
        wire = {"type": "link", "url": self.url}
        return wire if self.title is None else wire | {"title": self.title}


ContentBlock: TypeAlias = Image | Document | Audio | Link

NO_CONTENT: tuple[ContentBlock, ...] = ()
"""The `content` of a result that is text alone."""

_KINDS: dict[str, type[Image | Document | Audio]] = {
    each.kind: each for each in (Image, Document, Audio)
}


def content_blocks(content: object) -> tuple[ContentBlock, ...]:
    """The blocks as a tuple; `ConfigError` for anything else than a list of blocks."""
    if isinstance(content, Image | Document | Audio | Link):
        raise ConfigError("`content` must be a list of content blocks; write [block]")
    if isinstance(content, str | bytes | Mapping) or not isinstance(content, Iterable):
        raise ConfigError(
            f"`content` must be a list of content blocks, got {type(content).__name__}"
        )
    blocks = tuple(content)
    for position, block in enumerate(blocks):
        if not isinstance(block, Image | Document | Audio | Link):
            raise ConfigError(
                f"`content[{position}]` must be an Image, Document, Audio or Link, "
                f"got {type(block).__name__}"
            )
    return blocks


def content_from_wire(payload: object) -> tuple[ContentBlock, ...] | None:
    """The blocks that a JSON array describes, or `None` if it is something else."""
    if not isinstance(payload, list) or not payload:
        return None
    blocks: list[ContentBlock] = []
    try:
        for item in payload:
            if item["type"] == "link":
                blocks.append(Link(item["url"], item.get("title")))
                continue
            data = base64.b64decode(item["data"], validate=True)
            blocks.append(_KINDS[item["type"]](data, item["mediaType"], item.get("name")))
    except (TypeError, KeyError, AttributeError, ConfigError, binascii.Error, ValueError):
        return None
    return tuple(blocks)


def _bytes_of(data: object, media_type: str) -> bytes:
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if isinstance(data, Readable):
        read: object = data.read_bytes()
        if isinstance(read, bytes):
            return read
    elif isinstance(data, Savable):
        file = io.BytesIO()
        data.save(file, format=media_type.partition("/")[2].upper())
        return file.getvalue()
    raise ConfigError(
        "`data` must be bytes, a path or an object with `read_bytes()` or `save(file, format)`, "
        f"got {type(data).__name__}"
    )


def _named(given: object) -> str:
    """The media type that belongs to the name of a file."""
    name = getattr(given, "name", None)
    return (mimetypes.guess_type(name)[0] or "") if isinstance(name, str) else ""


def _sniffed(data: bytes) -> str:
    """The media type of a known signature."""
    found = _core.sniff_media_type(data) or ""
    return "" if found.startswith("text/") else found


def block_of_signature(block: Image | Document | Audio) -> Image | Document | Audio | None:
    r"""The block as its first bytes show it, whatever its label; `None` if they show nothing.

    A provider refuses a JPEG that is called PNG, and a page of HTML that is called an image, with
    every later request that holds it. Text has no signature: a document of text stays one.

    >>> block_of_signature(Image(b"\xff\xd8\xff...", "image/png"))
    Image(image/jpeg, 6 bytes)
    >>> block_of_signature(Image(b"<html>not found</html>", "image/png"))
    """
    data = block.data_bytes
    # Prose may start with the letters of a short signature, such as `BM`.
    behind_blank = b" " + data[:_SNIFFED_BYTES]
    is_document = isinstance(block, Document) and is_text(block)
    if is_document and _core.sniff_media_type(behind_blank) == "text/plain":
        return block
    found = _core.sniff_media_type(data)
    if found is None:
        return None
    main, _, subtype = found.partition("/")
    label, _, named = block.media_type.partition(";")[0].partition("/")
    if main == "text":
        return block if isinstance(block, Document) and is_text(block) else None
    if main == "video":  # containers that hold sound alone have the same signature
        return block if (label, named) == ("audio", subtype) else None
    if main in ("image", "audio"):
        kind: type[Image | Document | Audio] = _KINDS[main]
    elif found == "application/pdf" or isinstance(block, Document):
        kind = Document
    else:
        return None
    if found == "application/zip" and label == "application" and _ARCHIVE.search(named):
        found = block.media_type
    if type(block) is kind and block.media_type == found:
        return block
    return kind(block.data, found, block.name)


_SNIFFED_BYTES = 8_192
_ARCHIVE = re.compile(r"^vnd\.|\+zip$|^(x-zip-compressed|java-archive)$")
"""Formats that are ZIP archives, such as those of offices."""


def is_text(block: Image | Document | Audio) -> bool:
    """Whether a block's data is text that a model reads as such; SVG is."""
    kind, _, subtype = block.media_type.partition(";")[0].partition("/")
    return kind == "text" or subtype in _TEXT or subtype.endswith(("+json", "+xml", "+yaml"))


_TEXT = frozenset(
    {"json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-sh", "sql", "x-ndjson", "rtf"}
)
