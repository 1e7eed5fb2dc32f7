"""Reducers, output formats and the finish of one text: the Python face of the native reducer."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.reduction._formats import (
        FormatError,
        FormatsNotTrustedError,
        OutputFormat,
        built_in_formats,
        load_formats,
        register_format,
        registered_formats,
        trust_formats,
        unregister_format,
        user_formats_folder,
    )
    from ethos_registry.reduction._many import reduce_many
    from ethos_registry.reduction._redaction import redact_text
    from ethos_registry.reduction._reducers import built_in_reducers
    from ethos_registry.reduction._session_ledger import SessionLedger
    from ethos_registry.types._reducer import (
        DefaultPolicy,
        ReductionLevel,
        ReductionPolicy,
        ToolReducerContext,
        ToolResultReducer,
        ToolResultReducerRegistry,
    )
    from ethos_registry.types._secret_names import is_secret_name

__all__ = [
    "DefaultPolicy",
    "FormatError",
    "FormatsNotTrustedError",
    "OutputFormat",
    "ReductionLevel",
    "ReductionPolicy",
    "SessionLedger",
    "ToolReducerContext",
    "ToolResultReducer",
    "ToolResultReducerRegistry",
    "built_in_formats",
    "built_in_reducers",
    "is_secret_name",
    "load_formats",
    "redact_text",
    "reduce_many",
    "register_format",
    "registered_formats",
    "trust_formats",
    "unregister_format",
    "user_formats_folder",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "reduction._formats": (
                "FormatError FormatsNotTrustedError OutputFormat built_in_formats "
                "load_formats register_format registered_formats trust_formats "
                "unregister_format user_formats_folder"
            ),
            "reduction._many": "reduce_many",
            "reduction._redaction": "redact_text",
            "reduction._reducers": "built_in_reducers",
            "reduction._session_ledger": "SessionLedger",
            "types._reducer": (
                "DefaultPolicy ReductionLevel ReductionPolicy ToolReducerContext "
                "ToolResultReducer ToolResultReducerRegistry"
            ),
            "types._secret_names": "is_secret_name",
        },
    )
