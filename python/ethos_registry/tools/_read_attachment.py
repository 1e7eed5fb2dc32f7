"""The tool `read_attachment`: the files that came with the user's message."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from ethos_registry.capabilities._address_guard import HostNotAllowedError
from ethos_registry.capabilities._files import AttachmentNotFoundError
from ethos_registry.tools._arguments import RefusalError, argument_tool, quoted, string
from ethos_registry.tools._fetch_url import described_bytes, request_errors
from ethos_registry.types import _checks
from ethos_registry.types._content import Attachment
from ethos_registry.types._context import ToolContext
from ethos_registry.types._policy import ToolCapabilities
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

_PROPERTIES = {"ref": string("Reference of the attachment. Default: list the attachments.")}


@_checks.checked_signature
def read_attachment_tool(*, kinds: Sequence[str] | str = "*") -> Tool:
    """The tool `read_attachment(ref?)`, in the toolset `attachments`.

    Without `ref` it lists the attachments of the turn. Text is returned as text; images, PDFs and
    audio as content blocks. The format is read from the content; names and headers are not
    believed. `structured` holds `ref`, `mediaType` and `bytes`. Needs the backend `attachments`
    of `standard_backends()`.

    Args:
        kinds: The kinds of attachments that may be read. Default: all.

    """
    permitted = kinds if isinstance(kinds, str) else list(kinds)

    return argument_tool(
        "read_attachment",
        "Read a file that came with the user's message: text, an image, a PDF or audio. Without "
        "`ref`, list the files.",
        _PROPERTIES,
        _read,
        toolset="attachments",
        max_result_chars=40_000,
        output_is_untrusted=True,
        idempotent=True,
        capabilities=ToolCapabilities(attachments={"kinds": permitted}),
    )


async def _read(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    attachments = context.attachments
    assert attachments is not None
    listed = {item.ref: item for item in attachments.list()}
    ref = values.get("ref")
    if ref is None:
        lines = [_line(item) for item in listed.values()]
        return ok("\n".join(lines) or "No files came with this message.")
    attachment = listed.get(ref) if isinstance(ref, str) else None
    if attachment is None:
        known = ", ".join(map(quoted, listed)) or "none"
        raise RefusalError(f"`ref`: no attachment {quoted(ref)}; there are: {known}")
    try:
        data = await attachments.open(attachment.ref)
    except HostNotAllowedError as error:
        raise RefusalError(
            f"{error}; ask the user to attach the file itself", "not_available"
        ) from None
    except request_errors(AttachmentNotFoundError) as error:
        raise RefusalError(
            f"attachment {quoted(attachment.ref)} cannot be read: {error}; ask the user to attach "
            "it again",
            "execution_failed",
        ) from None
    what = f"attachment {quoted(attachment.ref)}"
    return described_bytes(data, what, name=_name(attachment), structured={"ref": attachment.ref})


def _line(attachment: Attachment) -> str:
    name = _name(attachment)
    return f"{attachment.ref}: {attachment.type}" + (f", {quoted(name)}" if name else "")


def _name(attachment: Attachment) -> str | None:
    """The file name; never the directory, and never the data of a `data:` URL."""
    given = attachment.extra.get("name")
    if not isinstance(given, str):
        path = attachment.url.partition("?")[0].partition("#")[0]
        given = "" if path.startswith("data:") else unquote(path)
    name = os.path.basename(given).encode("utf-8", "replace").decode()
    return name or None
