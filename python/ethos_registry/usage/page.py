"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

__all__ = ["usage_page"]

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""Inside a script element these could end it, or start a comment in it."""


def usage_page(usage: Mapping[str, Any], *, is_live: bool = False) -> str:
    """The page of a report's JSON; one that is live asks its server for `usage.json`.

    Names and descriptions are data of the page, never markup. The page's own policy permits its
    script and style alone, by their hashes, and no requests.
    """
    style, script = _asset("page.css"), _asset("page.js")
    server = "'self'" if is_live else "'none'"
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; connect-src {server}; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        style=style,
        script=script,
        live="yes" if is_live else "no",
        data=_json(usage),
    )


def _json(value: Any) -> str:
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _asset(name: str) -> str:
    return files("ethos_registry.usage").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
