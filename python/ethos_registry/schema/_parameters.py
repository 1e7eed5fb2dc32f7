"""The parameters of a function: those that a model fills, and those that the registry fills."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import textwrap
import traceback
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Optional, Union

from pydantic import Field
from pydantic.fields import FieldInfo

from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError

# Annotations of a function as types, also if they are strings or refer to a local scope.


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature; annotations that cannot be evaluated yet are left as they are."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def _bound_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature; `__wrapped__` of a partial would give that of the function without it."""
    if not isinstance(function, functools.partial) or not hasattr(function, "__wrapped__"):
        return signature_of(function)
    return signature_of(functools.partial(function.func, *function.args, **function.keywords))


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
    for frame, _ in traceback.walk_stack(sys._getframe(1)):
        if frame.f_code.co_filename == code.co_filename and frame.f_locals is not frame.f_globals:
            names = dict(frame.f_locals) | names  # the innermost scope wins
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


# The parts of a docstring for a model: about the tool, and about each parameter.

_GOOGLE = re.compile(
    r"^(Args|Arguments|Params|Parameters|Keyword Args|Keyword Arguments|Other Parameters|Returns?"
    r"|Yields?|Receives|Raises|Warns|Examples?|Attributes):[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_NUMPY = re.compile(
    r"^(Parameters|Other Parameters|Returns|Yields|Receives|Raises|Warns|Examples|Attributes)"
    r"[ \t]*\n-{3,}[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_SPHINX = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception)\b[^\n]*:",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Documentation:
    """A docstring, split: the description of the tool, and one per parameter."""

    description: str
    parameters: Mapping[str, str]


def read_docstring(text: str | None) -> Documentation:
    r"""Split a docstring of google, numpy or sphinx style; the style is detected.

    The description is the summary and the body with its notes. Sections for programmers (returns,
    raises, examples) are left out: they would cost tokens in every request.

    >>> read_docstring("Read a file.\n\nArgs:\n    path: Where it is.")
    Documentation(description='Read a file.', parameters={'path': 'Where it is.'})
    """
    text = inspect.cleandoc(text or "").strip()
    opening, _, rest = text.partition("\n")
    if _GOOGLE.fullmatch(opening) and rest and not rest.lstrip("\n").startswith(" "):
        # a section in the first line: the only one, so its items gave the margin
        text = f"{opening}\n{textwrap.indent(rest, '    ')}"
    style = next(
        (
            name
            for name, marks in (("numpy", _NUMPY), ("google", _GOOGLE), ("sphinx", _SPHINX))
            if marks.search(text)
        ),
        None,
    )
    if style is None:
        return Documentation(text, {})
    return _split(text, style)


def _split(text: str, style: str) -> Documentation:
    import griffe  # slow to import; most docstrings have no sections

    parsers: dict[str, Callable[..., list[Any]]] = {
        "google": griffe.parse_google,
        "numpy": griffe.parse_numpy,
        "sphinx": griffe.parse_sphinx,
    }
    kinds = griffe.DocstringSectionKind
    paragraphs: list[str] = []
    parameters: dict[str, str] = {}
    for section in parsers[style](griffe.Docstring(f"\n{text}"), warnings=False):
        if section.kind is kinds.text:
            paragraphs.append(section.value.strip())
        elif section.kind is kinds.admonition:
            paragraphs.append(f"{section.title}: {section.value.description}")
        elif section.kind in (kinds.parameters, kinds.other_parameters):
            for item in section.value:
                parameters.setdefault(item.name.lstrip("*"), inspect.cleandoc(item.description))
    described = {name: about for name, about in parameters.items() if about}
    return Documentation("\n\n".join(paragraphs), described)


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
        signature = _bound_signature(function)
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
    elif parameter.name in ("context", "ctx") and parameter.annotation is parameter.empty:
        problem = (
            f"parameter `{parameter.name}` has no annotation, so a model would have to fill it; "
            f"annotate it: `{parameter.name}: ToolContext`, or `{parameter.name}: Any` if it is an "
            "argument"
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
