"""A griffe extension: the examples of docstrings are shown as code.

The docstrings hold doctests between paragraphs; Markdown takes `>>>` for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class FenceDoctests(griffe.Extension):
    """Puts each doctest of a docstring into a fence of its own."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
