"""Secrets that were handed out are found in the forms that programs print."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from ethos_registry.capabilities._secrets import IssuedSecrets

SECRET = 'p@ss/w+k=y"\\<>12345'


@pytest.mark.parametrize(
    "form",
    [
        quote(SECRET, safe="")
        .replace("%2F", "%2f")
        .replace("%2B", "%2b")
        .replace("%3D", "%3d")
        .replace("%5C", "%5c")
        .replace("%3C", "%3c")
        .replace("%3E", "%3e"),
        SECRET.encode().hex().upper(),
        json.dumps(SECRET)[1:-1].replace("/", "\\/"),
        repr(SECRET)[1:-1],
    ],
    ids=["url-encoded-lower", "hex-upper", "json-escaped-slash", "repr"],
)
def test_a_secret_is_redacted_in_each_printed_form(form: str) -> None:
    issued_secrets = IssuedSecrets()
    issued_secrets.add(SECRET)
    assert issued_secrets.redact(f"a {form} z") == "a [redacted: secret] z"
