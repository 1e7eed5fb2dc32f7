"""What is known about the hooks of each coding agent: where they are configured, and with what."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

_TIMEOUT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """A coding agent, and its configuration of hooks."""

    name: str
    title: str
    program: str
    """Its command, to find it and its version."""
    version: str | None
    """The version that replaced results with these hooks; `None` if none was run."""
    user_file: Callable[[], Path]
    project_file: str
    groups: Callable[[list[str]], Mapping[str, Any]] | None
    """The hooks by event, for a program; `None` if the file is ours as a whole."""
    rewriting: Callable[[list[str]], Mapping[str, Any]] | None = None
    """The hooks that rewrite commands before they run, which the user must ask for."""
    live: Callable[[str], list[str]] | None = None
    """The arguments that start it without a human, with a model at a URL."""

    @property
    def is_own_file(self) -> bool:
        """Whether the file has nothing but our hooks."""
        return self.name in ("copilot", "opencode", "pi")

    def file(self, *, project: bool) -> Path:
        return Path.cwd() / self.project_file if project else self.user_file()

    def is_installed(self) -> bool:
        """Whether its program or its folder of settings is on this machine."""
        return shutil.which(self.program) is not None or self._folder().is_dir()

    def _folder(self) -> Path:
        depth = {"copilot": 1, "opencode": 1, "pi": 2}.get(self.name, 0)
        return self.user_file().parents[depth]

    def content(self, words: list[str]) -> str:
        """The content of a file that is ours as a whole."""
        if self.groups is not None:
            return json.dumps({"version": 1, "hooks": self.groups(words)}, indent=2) + "\n"
        text = hook_file("start.ts") + hook_file(f"{self.name}.ts")
        return text.replace("COMMAND", json.dumps(words), 1)


def hook_file(name: str) -> str:
    folder = resources.files("ethos_registry._cli") / "hook_files"
    return (folder / name).read_text(encoding="utf-8")


def program_words() -> list[str]:
    """The absolute command of `ethos-registry`: the script of this environment, else the module."""
    name = "ethos-registry.exe" if os.name == "nt" else "ethos-registry"
    started = Path(sys.argv[0]).absolute().parent
    for folder in (Path(sysconfig.get_path("scripts")), started):
        if (folder / name).is_file():
            return [str(folder / name)]
    return [sys.executable, "-m", "ethos_registry"]


def is_our_handler(handler: object, agent: str) -> bool:
    """Whether a handler runs `ethos-registry hook AGENT`, wherever the program is."""
    if not isinstance(handler, dict):
        return False
    command = handler.get("command", handler.get("bash"))
    arguments = handler.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list):
        return False
    if arguments:
        words = [command, *map(str, arguments)]
    else:
        try:
            words = shlex.split(command, posix=os.name != "nt")
        except ValueError:
            return False
    for at, word in enumerate(words[:-1]):
        if word == "hook" and words[at + 1] == agent:
            names = [os.path.basename(before.strip("\"'")) for before in words[:at]]
            return any(name.removesuffix(".exe") in _OUR_NAMES for name in names)
    return False


_OUR_NAMES = ("ethos-registry", "ethos_registry")


def _line(words: list[str]) -> str:
    if os.name == "nt":
        return " ".join(f'"{word}"' if " " in word else word for word in words)
    return shlex.join(words)


def _claude_handler(words: list[str]) -> dict[str, Any]:
    # With `args` no shell is started.
    return {
        "type": "command",
        "command": words[0],
        "args": words[1:],
        "timeout": _TIMEOUT_SECONDS,
    }


def _claude(words: list[str]) -> dict[str, Any]:
    handler = _claude_handler(words)
    groups = _group("PostToolUse", "Bash|Read|Grep|mcp__.*", handler)
    # What reached the model, and when it may have lost it: without these nothing is referred to.
    for event in ("PostToolBatch", "PreCompact", "PostCompact", "SessionStart"):
        groups |= _group(event, None, handler)
    return groups


def _line_handler(words: list[str]) -> dict[str, Any]:
    return {"type": "command", "command": _line(words), "timeout": _TIMEOUT_SECONDS}


def _group(event: str, matcher: str | None, handler: Mapping[str, Any]) -> dict[str, Any]:
    group = {} if matcher is None else {"matcher": matcher}
    return {event: {**group, "hooks": [handler]}}


def _gemini(words: list[str]) -> dict[str, Any]:
    handler = _line_handler(words) | {"name": "ethos-registry", "timeout": _TIMEOUT_SECONDS * 1000}
    return _group("AfterTool", "*", handler)


def _copilot(words: list[str]) -> dict[str, Any]:
    handler = {
        "type": "command",
        "bash": shlex.join(words),
        "powershell": "& " + " ".join(f"'{word}'" for word in words),
        "timeoutSec": _TIMEOUT_SECONDS,
    }
    return {"postToolUse": [handler]}


def _live_codex(url: str) -> list[str]:
    provider = f'name="fake",base_url="{url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"'
    settings = ('model_provider="fake"', f"model_providers.fake={{{provider}}}")
    words = ["exec", "--json", "--skip-git-repo-check", "-m", "gpt-5.5"]
    return [*words, *(word for each in settings for word in ("-c", each)), "go"]


def _folder(variable: str, default: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else Path.home() / default


_ALL = (
    CodingAgent(
        "claude",
        "Claude Code",
        "claude",
        "2.1.332",
        lambda: _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        ".claude/settings.json",
        _claude,
        lambda words: _group("PreToolUse", "Bash", _claude_handler(words)),
        lambda url: ["-p", "go", "--output-format", "json", "--allowedTools", "Bash(seq:*)"],
    ),
    CodingAgent(
        "codex",
        "Codex CLI",
        "codex",
        "0.171.0",
        lambda: _folder("CODEX_HOME", ".codex") / "hooks.json",
        ".codex/hooks.json",
        lambda words: _group("PostToolUse", "^Bash$|^mcp__", _line_handler(words)),
        lambda words: _group("PreToolUse", "^Bash$", _line_handler(words)),
        _live_codex,
    ),
    CodingAgent(
        "copilot",
        "Copilot CLI",
        "copilot",
        "1.0.102",
        lambda: _folder("COPILOT_HOME", ".copilot") / "hooks" / "ethos-registry.json",
        ".github/hooks/ethos-registry.json",
        _copilot,
    ),
    CodingAgent(
        "gemini",
        "Gemini CLI",
        "gemini",
        "0.61.0",
        lambda: Path.home() / ".gemini" / "settings.json",
        ".gemini/settings.json",
        _gemini,
        live=lambda url: ["-m", "gemini-2.5-flash", "--yolo", "-o", "json", "-p", "go"],
    ),
    CodingAgent(
        "opencode",
        "OpenCode",
        "opencode",
        "1.18.33",
        lambda: (
            _folder("XDG_CONFIG_HOME", ".config") / "opencode" / "plugins" / "ethos-registry.ts"
        ),
        ".opencode/plugins/ethos-registry.ts",
        None,
    ),
    CodingAgent(
        "pi",
        "Pi",
        "pi",
        "1.6.0",
        lambda: Path.home() / ".pi" / "agent" / "extensions" / "ethos-registry.ts",
        ".pi/extensions/ethos-registry.ts",
        None,
    ),
    CodingAgent(
        "cursor",
        "Cursor",
        "cursor",
        None,
        lambda: Path.home() / ".cursor" / "hooks.json",
        ".cursor/hooks.json",
        lambda words: {},
        lambda words: {"preToolUse": {"command": _line(words), "matcher": "Shell"}},
    ),
    CodingAgent(
        "vscode",
        "Visual Studio Code",
        "code",
        None,
        lambda: _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        ".claude/settings.json",
        lambda words: {},
        lambda words: _group("PreToolUse", None, _claude_handler(words)),
    ),
)
AGENTS = {agent.name: agent for agent in _ALL}
NAMES = tuple(AGENTS)
