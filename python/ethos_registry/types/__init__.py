"""What a tool, a call, a context and a policy are: immutable values and their ports."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.types._abort import AbortController, AbortSignal
    from ethos_registry.types._call import MalformedCall, Repair, RepairKind, RepairLevel
    from ethos_registry.types._content import Attachment, Audio, ContentBlock, Document, Image, Link
    from ethos_registry.types._context import (
        DEFAULT_BUDGET_CHARS,
        Audience,
        ReadMtime,
        ToolProgressEvent,
    )
    from ethos_registry.types._errors import MissingExtraError, SignatureError
    from ethos_registry.types._extras import installed_extras
    from ethos_registry.types._json_values import call_checksum
    from ethos_registry.types._result import ErrorCode, ErrorReason, result_from_wire
    from ethos_registry.types._tool import CollisionPolicy, DispatchMode, Retry
    from ethos_registry.types._usage_limits import UsageLimit, UsageLimits

__all__ = [
    "DEFAULT_BUDGET_CHARS",
    "AbortController",
    "AbortSignal",
    "Attachment",
    "Audience",
    "Audio",
    "CollisionPolicy",
    "ContentBlock",
    "DispatchMode",
    "Document",
    "ErrorCode",
    "ErrorReason",
    "Image",
    "Link",
    "MalformedCall",
    "MissingExtraError",
    "ReadMtime",
    "Repair",
    "RepairKind",
    "RepairLevel",
    "Retry",
    "SignatureError",
    "ToolProgressEvent",
    "UsageLimit",
    "UsageLimits",
    "call_checksum",
    "installed_extras",
    "result_from_wire",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "types._abort": "AbortController AbortSignal",
            "types._call": "MalformedCall Repair RepairKind RepairLevel",
            "types._content": "Attachment Audio ContentBlock Document Image Link",
            "types._context": "Audience DEFAULT_BUDGET_CHARS ReadMtime ToolProgressEvent",
            "types._errors": "MissingExtraError SignatureError",
            "types._extras": "installed_extras",
            "types._json_values": "call_checksum",
            "types._result": "ErrorCode ErrorReason result_from_wire",
            "types._tool": "CollisionPolicy DispatchMode Retry",
            "types._usage_limits": "UsageLimit UsageLimits",
        },
    )
