"""Bytes of a stream, in any chunks, into the payloads of its events."""

from __future__ import annotations

from ethos_registry.types._errors import ConfigError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FIRST_PRINTABLE = 0x20


class SseDecoder:
    r"""Server-sent events: lines end in LF, CR or CRLF, and an event ends at a blank line.

    A character or a line end may be split between chunks. An event that the stream does not finish
    with a blank line is dropped, as the standard requires.

    >>> decoder = SseDecoder()
    >>> decoder.feed(b'event: ping\r\ndata: {"a"'), decoder.feed(b': 1}\r\n\r\n')
    ([], [b'{"a": 1}'])
    """

    __slots__ = ("_data", "_is_start", "_pieces", "_skips_line_feed")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []
        self._is_start = True
        self._skips_line_feed = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that `chunk` completes; several data lines are joined by LF."""
        if self._skips_line_feed and chunk:
            self._skips_line_feed = False
            chunk = chunk[1:] if chunk.startswith(b"\n") else chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            if chunk:
                self._pieces.append(chunk)  # joined once its line ends: long lines stay linear
            return []
        if self._pieces:
            self._pieces.append(chunk)
            chunk = b"".join(self._pieces)
            self._pieces = []
        self._skips_line_feed = chunk.endswith(b"\r")  # the LF of a CRLF may be in the next chunk
        lines = chunk.splitlines()
        if not chunk.endswith((b"\n", b"\r")):
            self._pieces.append(lines.pop())
        if self._is_start:
            self._is_start = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if not line:
                if data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
            elif line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif line == b"data":
                data.append(b"")
        return events

    def end(self) -> list[bytes]:
        """What the end of the stream completes: nothing."""
        return []


class JsonLinesDecoder:
    r"""One JSON value a line, as Ollama streams them.

    >>> decoder = JsonLinesDecoder()
    >>> decoder.feed(b'{"a": 1}\n{"a"'), decoder.feed(b': 2}\n')
    ([b'{"a": 1}'], [b'{"a": 2}'])
    """

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without blank ones."""
        if b"\n" not in chunk:
            self._pieces.append(chunk)
            return []
        self._pieces.append(chunk)
        *lines, rest = b"".join(self._pieces).split(b"\n")
        self._pieces = [rest] if rest else []
        return [line for line in lines if line.strip()]

    def end(self) -> list[bytes]:
        """The last line, if the stream ends without a line end."""
        rest = b"".join(self._pieces)
        self._pieces = []
        return [rest] if rest.strip() else []


class EventDecoder:
    """Decodes a stream as server-sent events or as JSON lines, by its first character.

    No line of server-sent events starts with `{`, and every line of JSON events does.
    """

    __slots__ = ("_decoder", "_head")

    def __init__(self) -> None:
        self._decoder: SseDecoder | JsonLinesDecoder | None = None
        self._head = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads that `chunk` completes."""
        if self._decoder is None:
            chunk = self._head + chunk
            start = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip()
            may_be_mark = len(chunk) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(chunk)
            if not start or may_be_mark:
                self._head = chunk if may_be_mark else b""
                return []
            self._decoder = decoder_for(start)
        return self._decoder.feed(chunk)

    def end(self) -> list[bytes]:
        """The payloads that the end of the stream completes."""
        return [] if self._decoder is None else self._decoder.end()


def decoder_for(start: bytes) -> SseDecoder | JsonLinesDecoder:
    """The decoder of a stream that begins so, white space aside.

    Raises `ConfigError` for a body that is neither server-sent events nor JSON lines.
    """
    if start.startswith(b"["):
        raise ConfigError(
            "the body is one JSON array; ask the server for server-sent events (`alt=sse`)"
        )
    if start[0] < _FIRST_PRINTABLE:
        raise ConfigError("the body is binary; feed the events that the provider's SDK has decoded")
    return JsonLinesDecoder() if start.startswith(b"{") else SseDecoder()
