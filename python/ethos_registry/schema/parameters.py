"""The parameters of a function: those that a model fills, and those that the registry fills."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Optional, Union

from pydantic import Field
from pydantic.fields import FieldInfo

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.schema.annotations import innermost, resolve, signature_of

__all__ = ["Parameters", "read_parameters"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function by who fills them."""

    shown: Mapping[str, Any]
    """Name -> annotation for pydantic with the default, in the author's order."""
    optional: frozenset[str]
    """Names of `shown` that have a default."""
    context_name: str | None
    """The parameter annotated `ToolContext`: injected, never shown."""
    keywords: Any
    """Annotation of the values of `**kwargs`; `None` without them."""


def read_parameters(function: Callable[..., Any], tool_name: str) -> Parameters:
    """The parameters of `function`; raises `ConfigError` for one that no model could fill.

    Parameters without an annotation accept any JSON value. Keywords that a `functools.partial`
    binds are left out.

    >>> def search(query: str, context: ToolContext, limit: int = 5): ...
    >>> found = read_parameters(search, "search")
    >>> list(found.shown), found.context_name, sorted(found.optional)
    (['query', 'limit'], 'context', ['limit'])
    """
    try:
        signature = signature_of(function)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"tool `{tool_name}`: a tool is made from a function with a signature: {function!r}",
            context={"tool_name": tool_name, "value": function},
        ) from error
    bound = _bound_keywords(function)
    parameters = [item for item in signature.parameters.values() if item.name not in bound]
    for index, parameter in enumerate(parameters):
        _refuse_unfillable(parameter, tool_name, is_self=index == 0 and _is_method(function))
    hints = resolve(
        {
            item.name: item.annotation
            for item in parameters
            if item.annotation is not inspect.Parameter.empty
        },
        function,
        tool_name,
    )
    contexts = [item.name for item in parameters if _is_context(hints.get(item.name))]
    if len(contexts) > 1:
        raise ConfigError(
            f"tool `{tool_name}`: parameters `{contexts[0]}` and `{contexts[1]}` are both "
            "annotated `ToolContext`; keep one",
            context={"tool_name": tool_name, "field": contexts[1]},
        )
    shown: dict[str, Any] = {}
    optional: set[str] = set()
    keywords = None
    for parameter in parameters:
        annotation = hints.get(parameter.name, Any)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            keywords = _keyword_values(annotation, parameter.name, tool_name)
        elif parameter.name not in contexts:
            shown[parameter.name] = _with_default(_described(annotation), parameter.default)
            if not FieldInfo.from_annotation(shown[parameter.name]).is_required():
                optional.add(parameter.name)
    return Parameters(shown, frozenset(optional), contexts[0] if contexts else None, keywords)


def _refuse_unfillable(parameter: inspect.Parameter, tool_name: str, *, is_self: bool) -> None:
    if is_self and parameter.name in ("self", "cls"):
        problem = (
            f"parameter `{parameter.name}` makes this a method; make the tool from the bound "
            "method of an instance: `tool(instance.method)`"
        )
    elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        problem = (
            f"parameter `{parameter.name}` is positional-only, and models pass arguments by name; "
            "remove the `/`"
        )
    elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        problem = (
            f"parameter `*{parameter.name}` has no name that a model could use; "
            f"take a list: `{parameter.name}: list[...]`"
        )
    else:
        return
    raise ConfigError(
        f"tool `{tool_name}`: {problem}",
        context={"tool_name": tool_name, "field": parameter.name},
    )


def _is_method(function: Callable[..., Any]) -> bool:
    """Whether `function` is defined in a class body and not bound to an instance."""
    if isinstance(function, types.MethodType | staticmethod):
        return False
    written = innermost(function)
    return written is function and "." in function.__qualname__.rpartition("<locals>.")[2]


def _bound_keywords(function: Callable[..., Any]) -> set[str]:
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names.update(function.keywords)
        function = function.func
    return names


def _is_context(annotation: Any) -> bool:
    if typing.get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    if typing.get_origin(annotation) in (Union, types.UnionType):
        kinds = [item for item in typing.get_args(annotation) if item is not types.NoneType]
        return len(kinds) == 1 and _is_context(kinds[0])
    return isinstance(annotation, type) and issubclass(annotation, ToolContext)


def _described(annotation: Any) -> Any:
    """The annotation with `Field(description="Where.")` for `Annotated[str, "Where."]`."""
    if typing.get_origin(annotation) is not Annotated:
        return annotation
    kind, *metadata = typing.get_args(annotation)
    text = next((item for item in metadata if isinstance(item, str)), None)
    if not text or any(isinstance(item, FieldInfo) and item.description for item in metadata):
        return annotation
    return Annotated[(kind, *metadata, Field(description=text))]


def _with_default(annotation: Any, default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return annotation
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default]
    if default is None:
        annotation = _or_none(annotation)  # `limit: int = None` accepts its default
    return Annotated[annotation, Field(default=default)]


def _or_none(annotation: Any) -> Any:
    if annotation is Any:
        return Any
    if typing.get_origin(annotation) is not Annotated:
        return Optional[annotation]  # noqa: UP045 - `|` does not take every annotation
    kind, *metadata = typing.get_args(annotation)
    return Annotated[(Optional[kind], *metadata)]  # noqa: UP045 - as above


def _keyword_values(annotation: Any, name: str, tool_name: str) -> Any:
    if typing.get_origin(annotation) is None or "Unpack" not in str(typing.get_origin(annotation)):
        return annotation
    raise ConfigError(
        f"tool `{tool_name}`: parameter `**{name}` is annotated `Unpack[...]`; "
        "write its keys as keyword-only parameters",
        context={"tool_name": tool_name, "field": name, "value": annotation},
    )
