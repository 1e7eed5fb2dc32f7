"""The parts of a docstring for a model: about the tool, and about each parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Documentation", "read_docstring"]

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
    for section in parsers[style](griffe.Docstring(text), warnings=False):
        if section.kind is kinds.text:
            paragraphs.append(section.value.strip())
        elif section.kind is kinds.admonition:
            paragraphs.append(f"{section.title}: {section.value.description}")
        elif section.kind in (kinds.parameters, kinds.other_parameters):
            for item in section.value:
                parameters.setdefault(item.name.lstrip("*"), inspect.cleandoc(item.description))
    described = {name: about for name, about in parameters.items() if about}
    return Documentation("\n\n".join(paragraphs), described)
