"""Whether two processes have the same reducer."""

from __future__ import annotations

from ethos_registry import _core
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.reduction.built_in import BuiltInReducer
from ethos_registry.reduction.project_command import ProjectCommandReducer

__all__ = ["reducer_identity"]


def reducer_identity(reducer: ToolResultReducer | None) -> str | None:
    """The name and version of a reducer; `None` if it has no `version`.

    Registered formats change what the built-in reducers do, and another process may have others:
    these reducers then have no identity.

    >>> reducer_identity(None)
    ''
    """
    if reducer is None:
        return ""
    kind = type(reducer)
    is_built_in = kind is BuiltInReducer or kind is ProjectCommandReducer
    if is_built_in and _core.registered_formats():
        return None
    if isinstance(reducer, BuiltInReducer) and kind is BuiltInReducer:
        return f"{reducer.kind}/{_core.__version__}"
    if kind is ProjectCommandReducer:
        return f"project_command/{_core.__version__}"
    try:
        version = getattr(reducer, "version", None)
    except Exception:  # a property of the host's own
        return None
    if type(version) is not str or not version:
        return None
    return f"{kind.__module__}.{kind.__qualname__}/{version}"
