"""Secrets in text that comes in pieces: a value that is split over two of them is found."""

from __future__ import annotations

import codecs

from ethos_registry.capabilities.handed_out import HandedOutSecrets

__all__ = ["SecretByteStream", "SecretStream"]


class SecretStream:
    """Replaces the values that tools were given in one stream of text.

    The end of a piece waits for the next one while it may be the start of a value: always fewer
    bytes than the longest value has. All pieces together are what `HandedOutSecrets.redact`
    makes of the whole text.

    >>> handed_out = HandedOutSecrets()
    >>> handed_out.add("correct-horse")
    >>> stream = SecretStream(handed_out)
    >>> stream.add("key=correct-"), stream.add("horse, corr"), stream.flush()
    ('key=', '[redacted: secret], ', 'corr')
    """

    __slots__ = ("_handed_out", "waiting")

    def __init__(self, handed_out: HandedOutSecrets) -> None:
        self._handed_out = handed_out
        self.waiting = ""
        """The end of the last piece."""

    def add(self, piece: str) -> str:
        """What can pass on; the same object if it is all of this piece and nothing more."""
        text = self.waiting + piece if self.waiting else piece
        ready, self.waiting = self._handed_out.redact_start(text)
        return ready

    def flush(self) -> str:
        """What was waiting; nothing follows it."""
        text, self.waiting = self.waiting, ""
        return self._handed_out.redact(text)


class SecretByteStream:
    """The same for the output of a program: UTF-8, with U+FFFD for invalid bytes.

    Bytes pass unchanged until a value is handed out.
    """

    __slots__ = ("_decoder", "_handed_out", "_stream")

    def __init__(self, handed_out: HandedOutSecrets) -> None:
        self._handed_out = handed_out
        self._stream = SecretStream(handed_out)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, piece: bytes) -> bytes:
        """What can pass on."""
        if not self._handed_out:
            return piece
        return self._stream.add(self._decoder.decode(piece)).encode()

    def flush(self) -> bytes:
        """What was waiting."""
        rest = self._stream.add(self._decoder.decode(b"", final=True))
        return (rest + self._stream.flush()).encode()
