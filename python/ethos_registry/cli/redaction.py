"""Secrets in command lines and outputs, replaced before they are saved."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ethos_registry import is_secret_name, redact_text

__all__ = ["redacted_command", "redacted_output"]

REDACTED = "[redacted]"

_ABOUT_A_SECRET = re.compile(r"(?i)(?:file|path|dir|stdin|env|ttl|url|type|name|tokens)$")
"""Options with such a name hold no secret, but say where one is: `--token-file`."""
_ASSIGNMENT = re.compile(r"(--?[A-Za-z][\w.-]*|[A-Za-z_][\w.-]*)([=:])(?=\S)")
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_URL_LOGIN = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]*://)(?P<login>[^\s/@'\"]+)@")
_HEADER = re.compile(
    r"(?i)(?P<name>\b[A-Z][\w-]*)(?P<colon>\s*:\s*)(?:(?P<scheme>basic|bearer|token|digest)\s+)?"
    r"[^\s'\"/][^\s'\"]*"
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/=_.~-]{8,}")
_IN_SHELL_LINE = re.compile(
    r"""(?x)
    (?P<name>--?[A-Za-z][\w.-]*|[A-Za-z_][\w.-]*)
    (?P<between>\s*=\s*|\s+)
    (?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^-\s;&|)<>'"][^\s;&|)<>'"]*)
    """
)
_USER_OPTIONS = {"curl": ("-u", "--user", "-U", "--proxy-user"), "wget": ("--user",)}
_PASSWORD_OPTIONS = {
    "mysql": "-p",
    "mysqldump": "-p",
    "mysqladmin": "-p",
    "mariadb": "-p",
    "sshpass": "-p",
    "redis-cli": "-a",
    "7z": "-p",
    "unzip": "-P",
    "zip": "-P",
    "docker": "-p",
}


def redacted_command(argv: Sequence[str]) -> str:
    """The command line as a shell reads it, with each secret as `[redacted]`.

    A secret is the value of an option, a variable or a header with a secret-looking name
    (`--token`, `DB_PASSWORD=`, `Authorization:`), the login in a URL, or a credential of a known
    shape, as in results of tools. A password without a name and a known shape is not recognised.

    >>> redacted_command(["curl", "-H", "Authorization: Bearer abcdefghij", "https://example.org"])
    "curl -H 'Authorization: Bearer [redacted]' https://example.org"
    >>> redacted_command(["deploy", "--token", "abc", "DB_PASSWORD=x"])
    "deploy --token '[redacted]' 'DB_PASSWORD=[redacted]'"
    """
    program = argv[0].rpartition("/")[2] if argv else ""
    parts: list[str] = []
    is_secret = False
    for part in argv:
        if is_secret:
            parts.append(REDACTED)
            is_secret = False
            continue
        if _OPTION.fullmatch(part) and not _is_attached_password(part, program):
            is_secret = _is_secret_option(part, program)
            parts.append(part)
            continue
        parts.append(_redacted_part(part, program))
    return shlex.join(parts)


def redacted_output(output: bytes) -> bytes:
    r"""The output with each credential of a known shape as `[redacted: KIND]`; else unchanged.

    >>> redacted_output(b"\xff https://ada:correct-horse@example.org")
    b'\xff https://ada:[redacted: password]@example.org'
    """
    # Credentials and labels are ASCII; Latin-1 keeps every other byte as it is.
    text = output.decode("latin-1")
    redacted = redact_text(text)
    return output if redacted is text else redacted.encode("latin-1")


def _is_secret_option(option: str, program: str) -> bool:
    return (
        _is_secret_name(option)
        or option in _USER_OPTIONS.get(program, ())
        or option == _PASSWORD_OPTIONS.get(program)
    )


def _is_attached_password(part: str, program: str) -> bool:
    option = _PASSWORD_OPTIONS.get(program)
    return option is not None and part.startswith(option) and len(part) > len(option)


def _is_secret_name(name: str) -> bool:
    return is_secret_name(name) and _ABOUT_A_SECRET.search(name) is None


def _redacted_part(part: str, program: str) -> str:
    if _is_attached_password(part, program):
        return _PASSWORD_OPTIONS[program] + REDACTED
    assignment = _ASSIGNMENT.match(part)
    if assignment and not any(sign.isspace() for sign in part):
        name, sign = assignment.groups()
        if _is_secret_name(name):
            return f"{name}{sign}{REDACTED}"
    text = redact_text(part)
    text = _URL_LOGIN.sub(_redacted_login, text)
    text = _HEADER.sub(_redacted_header, text)
    text = _SCHEME.sub(rf"\1\2{REDACTED}", text)
    if any(sign.isspace() for sign in part):  # a line for a shell
        text = _IN_SHELL_LINE.sub(_redacted_assignment, text)
    return text


def _redacted_login(match: re.Match[str]) -> str:
    user, colon, _ = match["login"].partition(":")
    return f"{match['scheme']}{user if colon else ''}{':' if colon else ''}{REDACTED}@"


def _redacted_header(match: re.Match[str]) -> str:
    if not _is_secret_name(match["name"]):
        return match[0]
    scheme = f"{match['scheme']} " if match["scheme"] else ""
    return f"{match['name']}{match['colon']}{scheme}{REDACTED}"


def _redacted_assignment(match: re.Match[str]) -> str:
    is_named = match["name"].startswith("-") or "=" in match["between"]
    if not is_named or not _is_secret_name(match["name"]):
        return match[0]
    return f"{match['name']}{match['between']}{REDACTED}"
