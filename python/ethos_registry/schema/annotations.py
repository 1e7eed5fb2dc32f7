"""Annotations of a function as types, also if they are strings or refer to a local scope."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError

__all__ = ["innermost", "resolve", "signature_of"]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature; annotations that cannot be evaluated yet are left as they are."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def innermost(function: Any) -> Any:
    """The function below partials, bound methods and `functools.wraps`."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType | staticmethod | classmethod):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, types.FunctionType | types.BuiltinFunctionType | type):
            return function
        else:
            return getattr(type(function).__call__, "__wrapped__", type(function).__call__)


def resolve(
    annotations: Mapping[str, Any], function: Callable[..., Any], tool_name: str
) -> dict[str, Any]:
    """The annotations of parameters as types; raises `ConfigError` for one that cannot be resolved.

    Names are looked up where the function is defined: in the running scopes that enclose it
    (decoration happens there), in its closure, in its module. `ToolContext` is always known, so
    that a module may import it under `TYPE_CHECKING` only.
    """
    written = innermost(function)
    module_names = {"ToolContext": ToolContext} | getattr(written, "__globals__", {})
    local_names = _running_scopes(written) | _closure(written)
    try:
        return _evaluated(annotations, module_names, local_names)
    except Exception:
        for name, annotation in annotations.items():
            try:
                _evaluated({name: annotation}, module_names, local_names)
            except Exception as error:
                raise ConfigError(
                    f"tool `{tool_name}`: the annotation of parameter `{name}` cannot be resolved: "
                    f"{annotation!r} ({error}); define or import the name at module level, "
                    "not under `TYPE_CHECKING`",
                    context={"tool_name": tool_name, "field": name, "value": annotation},
                ) from error
        raise


def _evaluated(
    annotations: Mapping[str, Any], module_names: dict[str, Any], local_names: dict[str, Any]
) -> dict[str, Any]:
    def bearer() -> None: ...

    bearer.__annotations__ = dict(annotations)
    return typing.get_type_hints(bearer, module_names, local_names, include_extras=True)


def _running_scopes(function: Any) -> dict[str, Any]:
    """Local names of the functions and classes of the same file that are running now."""
    code = getattr(function, "__code__", None)
    names: dict[str, Any] = {}
    if code is None:
        return names
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == code.co_filename and frame.f_locals is not frame.f_globals:
            names = dict(frame.f_locals) | names  # the innermost scope wins
        frame = frame.f_back
    return names


def _closure(function: Any) -> dict[str, Any]:
    names: dict[str, Any] = {str(item): item for item in getattr(function, "__type_params__", ())}
    if not isinstance(function, types.FunctionType):
        return names
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not assigned it yet
            continue
    return names
