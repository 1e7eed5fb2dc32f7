"""Secrets in command lines, replaced before the command line is saved."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

__all__ = ["redacted_command"]

REDACTED = "[redacted]"

_SECRET_WORD = (
    r"(?:pass(?:wd|word|phrase|code)?|pwd|secret|token|credential|cred|auth|authorization|cookie|"
    r"bearer|jwt|session|signature|api[_-]?key|apikey|access[_-]?key|private[_-]?key|"
    r"encryption[_-]?key|account[_-]?key|oauth)"
)
_SECRET_NAME = re.compile(
    rf"(?:^|[^a-z]){_SECRET_WORD}s?(?:$|[^a-z])|(?:password|passwd|secret|token|apikey)",
    re.IGNORECASE,
)
_NOT_SECRET_NAME = re.compile(
    r"(?i)(?:file|path|dir|stdin|url|type|name|length|count|max|ttl|env|tokens)$"
)
_ASSIGNMENT = re.compile(r"(--?[A-Za-z][\w.-]*|[A-Za-z_][\w.-]*)([=:])(?=\S)")
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_SHAPES = re.compile(
    r"""
    \b(?:gh[pousr]_|github_pat_|glpat-|gldt-|npm_|pypi-|hf_|sk-|sk_(?:live|test)_|rk_(?:live|test)_|
        xox[abeoprs]-|xapp-|dop_v1_|shp(?:at|ca|pa|ss)_|SG\.|AIza|ya29\.|AGE-SECRET-KEY-|lin_api_|
        figd_|tfp_|dapi)[A-Za-z0-9_.\-]{8,}
    | \b(?:AKIA|ASIA|AROA)[A-Z0-9]{12,}
    | \beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?
    | -----BEGIN[ A-Z]*PRIVATE\ KEY-----[\s\S]*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\Z)
    """,
    re.VERBOSE,
)
_URL_LOGIN = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]*://)(?P<login>[^\s/@'\"]+)@")
_HEADER = re.compile(
    rf"(?i)(\b[\w-]*{_SECRET_WORD}[\w-]*\s*:\s*)(?:(basic|bearer|token|digest)\s+)?[^\s'\"]+"
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
    shape (tokens of GitHub, GitLab, Slack, cloud providers, JSON web tokens, private keys). A
    password without a name and a known shape is not recognised.

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
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).strip("-")
    return _SECRET_NAME.search(words) is not None and _NOT_SECRET_NAME.search(words) is None


def _redacted_part(part: str, program: str) -> str:
    if _is_attached_password(part, program):
        return _PASSWORD_OPTIONS[program] + REDACTED
    assignment = _ASSIGNMENT.match(part)
    if assignment and not any(sign.isspace() for sign in part):
        name, sign = assignment.groups()
        if _is_secret_name(name):
            return f"{name}{sign}{REDACTED}"
    text = _SHAPES.sub(REDACTED, part)
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
    scheme = f"{match[2]} " if match[2] else ""
    return f"{match[1]}{scheme}{REDACTED}"


def _redacted_assignment(match: re.Match[str]) -> str:
    is_named = match["name"].startswith("-") or "=" in match["between"]
    if not is_named or not _is_secret_name(match["name"]):
        return match[0]
    return f"{match['name']}{match['between']}{REDACTED}"
