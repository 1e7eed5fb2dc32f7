"""Files that remain closed even inside a permitted directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.errors import ConfigError

__all__ = ["DEFAULT_PROTECTION", "Protection"]


@dataclass(frozen=True, slots=True)
class Protection:
    """Files that no permission opens, by name or path.

    A name is one or more path components (`.git/hooks`), matched anywhere and in any case. A path
    is absolute, and covers everything below it and hard links to it.

    >>> Protection(closed_names=(".ssh",)).closed_names
    ('.ssh',)
    """

    closed_names: tuple[str, ...] = ()
    """Neither read nor written: keys and credentials."""
    read_only_names: tuple[str, ...] = ()
    """Never written: what other programs execute or trust."""
    closed_paths: tuple[str, ...] = ()
    read_only_paths: tuple[str, ...] = ()

    def scoped_files(self, read: Sequence[str], write: Sequence[str], folder: str) -> Any:
        """The files below `read` and `write` without the closed ones: `_core.ScopedFiles`."""
        native = getattr(_core, "ScopedFiles", None)
        if native is None:
            raise ConfigError("scoped files need a POSIX system; this one has no directory handles")
        return native(
            list(read),
            list(write),
            folder,
            closed=list(self.closed_paths),
            closed_names=list(self.closed_names),
            closed_to_writing=list(self.read_only_paths),
            closed_names_to_writing=list(self.read_only_names),
        )


def _in_home(*names: str) -> tuple[str, ...]:
    try:
        home = Path.home()
    except RuntimeError:  # no home directory is known
        return ()
    return tuple(str(home / name) for name in names)


def _default() -> Protection:
    credentials = (
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".config/gcloud",
        ".config/gh/hosts.yml",
        ".docker/config.json",
        ".kube",
        ".netrc",
        ".git-credentials",
        ".pypirc",
        ".npmrc",
        ".pgpass",
        ".password-store",
        ".local/share/keyrings",
        ".vault-token",
        # What the tools of a developer store in a home directory.
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".gem/credentials",
        ".composer/auth.json",
        ".config/composer/auth.json",
        ".config/hub",
        ".config/glab-cli",
        ".config/op",
        ".config/rclone/rclone.conf",
        ".config/heroku",
        ".config/doctl",
        ".config/hcloud",
        ".config/fly",
        ".fly",
        ".config/netlify",
        ".config/configstore",
        ".config/stripe",
        ".config/pypoetry/auth.toml",
        ".config/pip/pip.conf",
        ".pip/pip.conf",
        ".config/uv/credentials",
        ".local/share/uv/credentials",
        ".config/containers/auth.json",
        ".config/sops",
        ".config/age",
        ".config/chromium",
        ".config/google-chrome",
        ".config/BraveSoftware",
        ".config/microsoft-edge",
        ".mozilla",
        ".thunderbird",
        ".local/share/kwalletd",
        ".gnome2/keyrings",
        ".terraform.d/credentials.tfrc.json",
        ".terraformrc",
        ".boto",
        ".s3cfg",
        ".my.cnf",
        ".mylogin.cnf",
        ".mongorc.js",
        ".dbshell",
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".gradle/gradle.properties",
        ".nuget/NuGet/NuGet.Config",
        ".yarnrc",
        ".yarnrc.yml",
        ".config/gh",
        ".huggingface/token",
        ".cache/huggingface/token",
        ".kaggle",
        ".wandb",
        ".modal.toml",
        ".oci",
        ".aliyun",
        ".ibmcloud",
        ".config/sentry",
        ".sentryclirc",
        ".ngrok2",
        ".config/ngrok",
        ".claude/.credentials.json",
        ".claude.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".config/github-copilot",
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".node_repl_history",
        ".psql_history",
        ".mysql_history",
        ".lesshst",
        ".Xauthority",
        ".ICEauthority",
    )
    started_by_shells = (
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".config/fish/config.fish",
        ".gitconfig",
        ".config/git/config",
        ".config/autostart",
        ".config/systemd",
        ".claude",
        ".codex",
        ".gemini",
    )
    system = (
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/gshadow-",
        "/etc/sudoers",
        "/etc/sudoers.d",
        "/etc/ssl/private",
        "/etc/ssh",
    )
    return Protection(
        closed_names=(".ssh", ".gnupg", ".aws/credentials", ".git-credentials", ".netrc"),
        read_only_names=(
            ".git",
            ".envrc",
            ".vscode",
            ".idea",
            ".claude",
            ".codex",
            ".gemini",
            ".mcp.json",
        ),
        closed_paths=(*_in_home(*credentials), *(path for path in system if os.sep == "/")),
        read_only_paths=(*_in_home(*started_by_shells), *_own_environment()),
    )


def _own_environment() -> tuple[str, ...]:
    """The environment and the package that run the agent: other environments stay writable."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return tuple(dict.fromkeys(os.path.realpath(path) for path in (sys.prefix, package)))


DEFAULT_PROTECTION = _default()
"""Keys, credentials, Git hooks, startup files of shells, configuration of editors and agents."""
