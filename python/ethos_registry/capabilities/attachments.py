"""The files of a turn, for tools: `context.attachments`."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urlsplit

from ethos_registry.capabilities.files import READ_LIMIT_BYTES, SyncReachFiles
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.errors import ConfigError, EthosRegistryError
from ethos_registry.contract.scoped_ports import ScopedFetch

__all__ = ["AttachmentNotFoundError", "TurnAttachments"]


class AttachmentNotFoundError(EthosRegistryError, LookupError):
    """No attachment of the declared kinds has this reference."""


class TurnAttachments:
    """The attachments of the kinds that a tool declared: `["image"]`, or `"*"` for all.

    An attachment is a `file:` URL with an absolute path, a `data:` URL, or an `http:` or `https:`
    URL, which is fetched under the personality's network policy. A file attachment opens that file
    only, never what is next to it.

    >>> image = Attachment("a0", "image", "file:///cache/a0.png")
    >>> files = TurnAttachments({"kinds": ["file"]}, [image])
    >>> files.list()
    []
    >>> note = Attachment.from_bytes("a1", "file", b"hello")
    >>> TurnAttachments({"kinds": "*"}, [image, note]).open_sync("a1")
    b'hello'
    """

    __slots__ = ("_attachments", "_fetch_for")

    def __init__(
        self,
        declaration: Mapping[str, Any],
        attachments: Sequence[Attachment],
        fetch_for: Callable[[str], ScopedFetch] | None = None,
    ) -> None:
        kinds = declaration.get("kinds", ())
        if kinds != "*" and (isinstance(kinds, str) or not isinstance(kinds, Sequence)):
            raise ConfigError(f'`attachments.kinds` must be a list of kinds or "*", got {kinds!r}')
        self._attachments = {
            item.ref: item for item in attachments if kinds == "*" or item.type in kinds
        }
        self._fetch_for = fetch_for

    def list(self) -> Sequence[Attachment]:
        """The attachments that this tool may open."""
        return [*self._attachments.values()]

    async def open(self, ref: str | Attachment, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of one of them, by its reference or as it is listed.

        Raises:
            AttachmentNotFoundError: It is not one of the attachments that this tool may open.
            HostNotAllowedError: Its URL is not permitted.
            OSError: It cannot be read, or is longer than `limit_bytes`.

        """
        attachment = self._listed(ref)
        if fetch := self._fetch(attachment):
            reply = await fetch.fetch(attachment.url)
            return _fetched(attachment, reply.status, reply.content, limit_bytes)
        return await asyncio.to_thread(_local, attachment, limit_bytes)

    async def open_by_ref(self, ref: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of the attachment with this reference; see `open`."""
        return await self.open(ref, limit_bytes=limit_bytes)

    def open_sync(self, ref: str | Attachment, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """`open` for plain functions."""
        attachment = self._listed(ref)
        if fetch := self._fetch(attachment):
            reply = fetch.sync.fetch(attachment.url)
            return _fetched(attachment, reply.status, reply.content, limit_bytes)
        return _local(attachment, limit_bytes)

    def _listed(self, ref: str | Attachment) -> Attachment:
        name = ref.ref if isinstance(ref, Attachment) else ref
        attachment = self._attachments.get(name)
        if attachment is None:
            known = ", ".join(self._attachments) or "none"
            raise AttachmentNotFoundError(f"No attachment with ref {name!r}; there are: {known}")
        if isinstance(ref, Attachment) and ref.url != attachment.url:
            raise AttachmentNotFoundError(
                f"attachment {name!r} has another URL; open it as `list()` returns it"
            )
        return attachment

    def _fetch(self, attachment: Attachment) -> ScopedFetch | None:
        """What fetches the attachment; `None` if it is local."""
        parts = _parts(attachment)
        if parts.scheme not in ("http", "https"):
            return None
        if self._fetch_for is None:
            raise AttachmentNotFoundError(
                f"attachment {attachment.ref!r} is not a local file, and requests are not "
                "configured here: install the extra `network`"
            )
        return self._fetch_for(parts.hostname or "")


def _parts(attachment: Attachment) -> SplitResult:
    try:
        return urlsplit(attachment.url)
    except ValueError as error:
        raise AttachmentNotFoundError(
            f"attachment {attachment.ref!r} has no valid URL: {error}"
        ) from None


def _fetched(attachment: Attachment, status: int, content: bytes, limit_bytes: int) -> bytes:
    if not 200 <= status < 300:
        raise OSError(f"attachment {attachment.ref!r}: its server answered with status {status}")
    return _limited(attachment, content, limit_bytes)


def _limited(attachment: Attachment, content: bytes, limit_bytes: int) -> bytes:
    if len(content) > limit_bytes:
        raise OSError(f"attachment {attachment.ref!r} has more than {limit_bytes} bytes")
    return content


def _local(attachment: Attachment, limit_bytes: int) -> bytes:
    parts = _parts(attachment)
    if parts.scheme == "data":
        return _limited(attachment, _data(attachment), limit_bytes)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise AttachmentNotFoundError(
            f"attachment {attachment.ref!r} is not a local file, `data:` URL or web address"
        )
    path = unquote(parts.path)
    if not os.path.isabs(path):
        raise AttachmentNotFoundError(f"attachment {attachment.ref!r} has no absolute path")
    SyncReachFiles(read=[path]).mtime(path)  # refuses protected paths
    with open(path, "rb", opener=_very_file) as file:
        return _limited(attachment, file.read(limit_bytes + 1), limit_bytes)


def _very_file(path: str, flags: int) -> int:
    """A descriptor of the file itself: a link in its place would lead to another one."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path} is not a regular file")


def _data(attachment: Attachment) -> bytes:
    head, comma, data = attachment.url.partition(",")
    if not comma:
        raise OSError(f"attachment {attachment.ref!r} has no data in its `data:` URL")
    if not head.endswith(";base64"):
        return unquote_to_bytes(data)
    try:
        return base64.b64decode(unquote(data), validate=True)
    except (binascii.Error, ValueError) as error:
        raise OSError(f"attachment {attachment.ref!r} is not valid base64: {error}") from None
