"""The files of a turn, for tools: `context.attachments`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from ethos_registry.capabilities.files import READ_LIMIT_BYTES, SyncReachFiles
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.errors import ConfigError, EthosRegistryError

__all__ = ["AttachmentNotFoundError", "TurnAttachments"]


class AttachmentNotFoundError(EthosRegistryError, LookupError):
    """No attachment of the declared kinds has this reference."""


class TurnAttachments:
    """The attachments of the kinds that a tool declared: `["image"]`, or `"*"` for all.

    >>> image = Attachment("a0", "image", "file:///cache/a0.png")
    >>> files = TurnAttachments({"kinds": ["file"]}, [image])
    >>> files.list()
    []
    """

    __slots__ = ("_attachments",)

    def __init__(self, declaration: Mapping[str, Any], attachments: Sequence[Attachment]) -> None:
        kinds = declaration.get("kinds", ())
        if kinds != "*" and (isinstance(kinds, str) or not isinstance(kinds, Sequence)):
            raise ConfigError(f'`attachments.kinds` must be a list of kinds or "*", got {kinds!r}')
        self._attachments = {
            item.ref: item for item in attachments if kinds == "*" or item.type in kinds
        }

    def list(self) -> Sequence[Attachment]:
        """The attachments that this tool may open."""
        return [*self._attachments.values()]

    def open_sync(self, ref: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of one of them, for plain functions; see `open`."""
        attachment = self._attachments.get(ref)
        if attachment is None:
            raise AttachmentNotFoundError(f"No attachment with ref {ref!r}")
        parts = urlsplit(attachment.url)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            raise AttachmentNotFoundError(
                f"attachment {ref!r} is not a local file; fetch its URL with a tool that declares "
                "its host"
            )
        path = unquote(parts.path)
        if not os.path.isabs(path):
            raise AttachmentNotFoundError(f"attachment {ref!r} has no absolute path")
        # The reach is this one file: nothing next to it can be opened.
        return SyncReachFiles(read=[path]).read_bytes(path, limit_bytes=limit_bytes)

    async def open(self, ref: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of one of them; `AttachmentNotFoundError` for any other reference."""
        return await asyncio.to_thread(self.open_sync, ref, limit_bytes=limit_bytes)

    open_by_ref = open
