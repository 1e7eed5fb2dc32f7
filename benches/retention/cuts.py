"""Plain cuts, and a literal form of the rules of the original system."""

from __future__ import annotations

import re

__all__ = ["head", "head_and_tail", "seed_rules"]

LIMIT_CHARS = 20_000
_STATUS = re.compile(r"^(..) (.+)$")
_INSTALL = re.compile(r"\b(pnpm install|npm install|yarn install|yarn)\b")
_TESTS = re.compile(r"\b(vitest|pnpm test|npm test)\b")
_FAILS = re.compile(r"\bFAIL\b|\bError:\b")
_SUMMARY = re.compile(r"^\s*(Test Files|Tests|Duration|FAIL\b|Error:\b)")
_RESULT = re.compile(r"\b(added|removed) \d+|\b(warning|error)\b", re.IGNORECASE)


def head(text: str, chars: int = LIMIT_CHARS) -> str:
    """The first `chars` characters."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]}\n[truncated — {len(text)} chars total]"


def head_and_tail(text: str, chars: int = LIMIT_CHARS) -> str:
    """The first and the last characters, together `chars`."""
    if len(text) <= chars:
        return text
    return f"{text[: chars - chars // 2]}\n[...]\n{text[len(text) - chars // 2 :]}"


def seed_rules(command: str, text: str) -> str:
    """The three strategies of the original system, chosen by words of the command."""
    if "git status" in command:
        reduced = _git_status(text)
    elif _TESTS.search(command):
        reduced = _tests(text)
    elif _INSTALL.search(command):
        reduced = "\n".join(line for line in text.split("\n") if _RESULT.search(line))
    else:
        reduced = text
    return _long(reduced or text)


def _git_status(text: str) -> str:
    counts: dict[str, int] = {}
    paths = []
    for line in text.split("\n"):
        if found := _STATUS.match(line):
            paths.append(found[2])
            kind = {"M": "modified", "A": "added", "D": "deleted", "?": "untracked"}.get(line[0])
            if kind:
                counts[kind] = counts.get(kind, 0) + 1
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "clean"
    return f"git status: {said}. First 5: {', '.join(paths[:5])}"


def _tests(text: str) -> str:
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _SUMMARY.match(line)), len(lines))
    failures = [line for line in lines[:first] if _FAILS.search(line)]
    return "\n".join(failures + lines[first:])


def _long(text: str) -> str:
    lines = text.split("\n")
    if len(text) <= 8_192 or len(lines) <= 60:
        return text
    notice = f"... [reduced from {len(lines)} lines / {len(text)} chars to head+tail] ..."
    return "\n".join([*lines[:40], notice, *lines[-20:]])
