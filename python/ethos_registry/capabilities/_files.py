"""Files below permitted directories, for tools: `context.scoped_fs`."""

from __future__ import annotations

import asyncio
import base64
import binascii
import functools
import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urlsplit

from ethos_registry import _core
from ethos_registry.types import _checks
from ethos_registry.types._content import Attachment
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._policy import FsReach
from ethos_registry.types._ports import ScopedFetch

# Files that remain closed even inside a permitted directory.


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

    def __post_init__(self) -> None:
        for name in self.__match_args__:
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def scoped_files(
        self, read: Sequence[str], write: Sequence[str], folder: str
    ) -> _core.ScopedFiles:
        """The files below `read` and `write` without the closed ones: `_core.ScopedFiles`."""
        if not hasattr(_core, "ScopedFiles"):
            raise ConfigError("scoped files need a POSIX system; this one has no directory handles")
        return _core.ScopedFiles(read, write, folder, _protected_files(self))


@functools.lru_cache(maxsize=64)
def _protected_files(protection: Protection) -> Any:
    """The rules, parsed; where their paths lead is judged for each `_core.ScopedFiles`."""
    return _core.ProtectedFiles(
        closed=protection.closed_paths,
        closed_names=protection.closed_names,
        closed_to_writing=protection.read_only_paths,
        closed_names_to_writing=protection.read_only_names,
    )


_CREDENTIALS = """
    .ssh .gnupg .aws .azure .config/gcloud .config/gh/hosts.yml .docker/config.json .kube .netrc
    .git-credentials .pypirc .npmrc .pgpass .password-store .local/share/keyrings .vault-token
    .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json
    .config/composer/auth.json .config/hub .config/glab-cli .config/op
    .config/rclone/rclone.conf .config/heroku .config/doctl .config/hcloud .config/fly .fly
    .config/netlify .config/configstore .config/stripe .config/pypoetry/auth.toml
    .config/pip/pip.conf .pip/pip.conf .config/uv/credentials .local/share/uv/credentials
    .config/containers/auth.json .config/sops .config/age .config/chromium .config/google-chrome
    .config/BraveSoftware .config/microsoft-edge .mozilla .thunderbird .local/share/kwalletd
    .gnome2/keyrings .terraform.d/credentials.tfrc.json .terraformrc .boto .s3cfg .my.cnf
    .mylogin.cnf .mongorc.js .dbshell .m2/settings.xml .m2/settings-security.xml
    .gradle/gradle.properties .nuget/NuGet/NuGet.Config .yarnrc .yarnrc.yml .config/gh
    .huggingface/token .cache/huggingface/token .kaggle .wandb .modal.toml .oci .aliyun
    .ibmcloud .config/sentry .sentryclirc .ngrok2 .config/ngrok .claude/.credentials.json
    .claude.json .codex/auth.json .gemini/oauth_creds.json .config/github-copilot .bash_history
    .zsh_history .python_history .node_repl_history .psql_history .mysql_history .lesshst
    .Xauthority .ICEauthority
"""
"""In a home directory: keys, what the tools of a developer store, and histories."""
_STARTED_BY_SHELLS = """
    .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin
    .config/fish/config.fish .gitconfig .config/git/config .config/autostart .config/systemd
    .claude .codex .gemini
"""
"""In a home directory: what shells, Git, the session and agents read when they start."""
_OF_THE_SYSTEM = """
    /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d
    /etc/ssl/private /etc/ssh
"""
"""Passwords and keys of the machine."""


def _in_home(names: str) -> list[str]:
    try:
        home = Path.home()
    except RuntimeError:  # no home directory is known
        return []
    return [str(home / name) for name in names.split()]


def _own_environment() -> tuple[str, ...]:
    """The environment and the package that run the agent: other environments stay writable."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return tuple(dict.fromkeys(os.path.realpath(path) for path in (sys.prefix, package)))


DEFAULT_PROTECTION = Protection(
    closed_names=(".ssh", ".gnupg", ".aws/credentials", ".git-credentials", ".netrc"),
    read_only_names=(
        *(".git", ".envrc", ".vscode", ".idea"),
        *(".claude", ".codex", ".gemini", ".mcp.json"),
    ),
    closed_paths=(*_in_home(_CREDENTIALS), *(_OF_THE_SYSTEM.split() if os.sep == "/" else ())),
    read_only_paths=(*_in_home(_STARTED_BY_SHELLS), *_own_environment()),
)
"""Keys, credentials, Git hooks, startup files of shells, configuration of editors and agents."""


_RUN_LATER = (
    ".config/autostart",
    ".config/systemd/user",
    ".local/bin",
    ".local/share/applications",
    "Library/LaunchAgents",
    "/etc/cron.d",
    "/etc/profile.d",
    "/etc/systemd/system",
    "/var/spool/cron",
)


def places_that_run_later(
    reach: FsReach | None, protection: Protection = DEFAULT_PROTECTION
) -> list[str]:
    """Where the reach permits writing, and programs of the user find code to run.

    These are the directories of `PATH` and of imports, and those for programs that start by
    themselves; without what stays closed or read-only in a reach.
    """
    roots = [os.path.realpath(path) for path in (() if reach is None else reach.write)]
    guarded = [*protection.closed_paths, *protection.read_only_paths]
    searched = [*os.environ.get("PATH", "").split(os.pathsep), *sys.path]
    found = [path for path in searched if os.path.isabs(path)]
    found += [os.path.join(Path.home(), path) for path in _RUN_LATER]
    real = dict.fromkeys(os.path.realpath(path) for path in found if os.path.exists(path))
    return [
        path
        for path in real
        if any(Path(path).is_relative_to(root) for root in roots)
        and not any(Path(path).is_relative_to(os.path.realpath(place)) for place in guarded)
    ]


READ_LIMIT_BYTES = 64 * 1024 * 1024
"""The largest file that is read unless the caller sets another limit."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One entry of a directory."""

    name: str
    kind: Literal["file", "directory", "symlink", "other"]
    size_bytes: int
    modified_seconds: float
    """Since the epoch."""


class SyncReachFiles:
    """Files below permitted directories, for plain functions; see `ReachFiles`.

    >>> import tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> files = SyncReachFiles([folder], [folder], working_dir=folder)
    >>> files.write("notes.txt", "hello")
    >>> files.read("notes.txt"), files.list("."), files.exists("other.txt")
    ('hello', ['notes.txt'], False)
    >>> try:
    ...     files.read("/etc/hostname")
    ... except PermissionError as error:
    ...     print(error)
    PATH_NOT_REACHABLE: read not permitted for /etc/hostname
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        *,
        working_dir: str | None = None,
        protection: Protection = DEFAULT_PROTECTION,
    ) -> None:
        folder = os.path.abspath(working_dir or os.getcwd())
        self._native = protection.scoped_files(
            [_absolute(path, folder) for path in read],
            [_absolute(path, folder) for path in write],
            folder,
        )

    def read_bytes(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The content of a regular file; `OSError` if it is larger than the limit."""
        return self._native.read(path, limit_bytes)

    def read(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """The content as UTF-8; bytes that are not UTF-8 become U+FFFD."""
        return self.read_bytes(path, limit_bytes=limit_bytes).decode("utf-8", "replace")

    def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content in one step; its permissions are preserved."""
        data = content.encode() if isinstance(content, str) else content
        self._native.write(path, data)

    def exists(self, path: str) -> bool:
        """Whether a file or directory exists; `PermissionError` outside the reach."""
        return self._native.look(path) is not None

    def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if it does not exist."""
        found = self._native.look(path)
        return None if found is None else found[2]

    def list(self, path: str = ".") -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        return [entry[0] for entry in self._native.list(path)]

    def list_entries(self, path: str = ".") -> Sequence[FileEntry]:
        """The entries of a directory, by name; symbolic links are not followed."""
        return [FileEntry(*entry) for entry in self._native.list(path)]  # type: ignore[arg-type]

    def mkdir(self, path: str) -> None:
        """Create a directory and its parents; one that exists is not changed."""
        self._native.make_folder(path)


class ReachFiles:
    """Files below permitted directories, for `async` tools.

    `read` and `write` are directories or single files: reading needs one of the first, writing one
    of the second. Relative paths start at `working_dir`. No `..`, symbolic link or race leads out
    of the reach, and what `protection` names remains closed inside it. Refusals are
    `PermissionError`s that start with `PATH_NOT_REACHABLE`. `sync` has the same methods for plain
    functions.
    """

    __slots__ = ("sync",)

    sync: SyncReachFiles
    """The same files for code that may block."""

    def __init__(
        self,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        *,
        working_dir: str | None = None,
        protection: Protection = DEFAULT_PROTECTION,
    ) -> None:
        self.sync = SyncReachFiles(read, write, working_dir=working_dir, protection=protection)

    async def read_bytes(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The content of a regular file; `OSError` if it is larger than the limit."""
        return await asyncio.to_thread(self.sync.read_bytes, path, limit_bytes=limit_bytes)

    async def read(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """The content as UTF-8; bytes that are not UTF-8 become U+FFFD."""
        return await asyncio.to_thread(self.sync.read, path, limit_bytes=limit_bytes)

    async def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content in one step; its permissions are preserved."""
        await asyncio.to_thread(self.sync.write, path, content)

    async def exists(self, path: str) -> bool:
        """Whether a file or directory exists; `PermissionError` outside the reach."""
        return await asyncio.to_thread(self.sync.exists, path)

    async def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if it does not exist."""
        return await asyncio.to_thread(self.sync.mtime, path)

    async def list(self, path: str = ".") -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        return await asyncio.to_thread(self.sync.list, path)

    async def list_entries(self, path: str = ".") -> Sequence[FileEntry]:
        """The entries of a directory, by name; symbolic links are not followed."""
        return await asyncio.to_thread(self.sync.list_entries, path)

    async def mkdir(self, path: str) -> None:
        """Create a directory and its parents; one that exists is not changed."""
        await asyncio.to_thread(self.sync.mkdir, path)


@_checks.checked_signature
def folder_storage(
    folder: str | os.PathLike[str], *, protection: Protection = DEFAULT_PROTECTION
) -> ReachFiles:
    """A `Storage` of one directory, which must exist: `ToolContext(storage=folder_storage(...))`.

    Relative paths start there, and nothing outside it is reached.

    >>> import tempfile
    >>> storage = folder_storage(tempfile.mkdtemp())
    >>> storage.sync.write("today.txt", "tea")
    >>> storage.sync.read("today.txt")
    'tea'
    """
    path = os.path.realpath(os.fspath(folder))
    if not os.path.isdir(path):
        raise ConfigError(f"the storage directory {path!r} does not exist; create it first")
    return ReachFiles([path], [path], working_dir=path, protection=protection)


def _absolute(path: Any, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(os.fspath(path))))


# The files of a turn, for tools: `context.attachments`.


class AttachmentNotFoundError(EthosRegistryError, LookupError):
    """No attachment of the declared kinds has this reference."""

    __module__ = "ethos_registry.capabilities"


class TurnAttachments:
    """The attachments of the kinds that a tool declared: `["image"]`, or `"*"` for all.

    An attachment is a `file:` URL with an absolute path, a `data:` URL, or an `http:` or `https:`
    URL, which is fetched under the personality's network policy. A file attachment opens that file
    only, never what is next to it.

    >>> image = Attachment("a0", "image", "file:///cache/a0.png")
    >>> files = TurnAttachments({"kinds": ["file"]}, [image])
    >>> files.list()
    []
    >>> note = Attachment.from_bytes("a1", "file", b"hello")
    >>> TurnAttachments({"kinds": "*"}, [image, note]).open_sync("a1")
    b'hello'
    """

    __slots__ = ("_attachments", "_fetch_for")

    def __init__(
        self,
        declaration: Mapping[str, Any],
        attachments: Sequence[Attachment],
        fetch_for: Callable[[str], ScopedFetch] | None = None,
    ) -> None:
        kinds = declaration.get("kinds", ())
        if kinds != "*" and (isinstance(kinds, str) or not isinstance(kinds, Sequence)):
            raise ConfigError(f'`attachments.kinds` must be a list of kinds or "*", got {kinds!r}')
        self._attachments = {
            item.ref: item for item in attachments if kinds == "*" or item.type in kinds
        }
        self._fetch_for = fetch_for

    def list(self) -> Sequence[Attachment]:
        """The attachments that this tool may open."""
        return [*self._attachments.values()]

    async def open(self, ref: str | Attachment, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of one of them, by its reference or as it is listed.

        Raises:
            AttachmentNotFoundError: It is not one of the attachments that this tool may open.
            HostNotAllowedError: Its URL is not permitted.
            OSError: It cannot be read, or is longer than `limit_bytes`.

        """
        attachment = self._listed(ref)
        if fetch := self._fetch(attachment):
            reply = await fetch.fetch(attachment.url)
            return _fetched(attachment, reply.status, reply.content, limit_bytes)
        return await asyncio.to_thread(_local, attachment, limit_bytes)

    async def open_by_ref(self, ref: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The bytes of the attachment with this reference; see `open`."""
        return await self.open(ref, limit_bytes=limit_bytes)

    def open_sync(self, ref: str | Attachment, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """`open` for plain functions."""
        attachment = self._listed(ref)
        if fetch := self._fetch(attachment):
            reply = fetch.sync.fetch(attachment.url)
            return _fetched(attachment, reply.status, reply.content, limit_bytes)
        return _local(attachment, limit_bytes)

    def _listed(self, ref: str | Attachment) -> Attachment:
        name = ref.ref if isinstance(ref, Attachment) else ref
        attachment = self._attachments.get(name)
        if attachment is None:
            known = ", ".join(self._attachments) or "none"
            raise AttachmentNotFoundError(f"No attachment with ref {name!r}; there are: {known}")
        if isinstance(ref, Attachment) and ref.url != attachment.url:
            raise AttachmentNotFoundError(
                f"attachment {name!r} has another URL; open it as `list()` returns it"
            )
        return attachment

    def _fetch(self, attachment: Attachment) -> ScopedFetch | None:
        """What fetches the attachment; `None` if it is local."""
        parts = _parts(attachment)
        if parts.scheme not in ("http", "https"):
            return None
        if self._fetch_for is None:
            raise AttachmentNotFoundError(
                f"attachment {attachment.ref!r} is not a local file, and requests are not "
                "configured here: install the extra `network`"
            )
        return self._fetch_for(parts.hostname or "")


def _parts(attachment: Attachment) -> SplitResult:
    try:
        return urlsplit(attachment.url)
    except ValueError as error:
        raise AttachmentNotFoundError(
            f"attachment {attachment.ref!r} has no valid URL: {error}"
        ) from None


def _fetched(attachment: Attachment, status: int, content: bytes, limit_bytes: int) -> bytes:
    if not 200 <= status < 300:
        raise OSError(f"attachment {attachment.ref!r}: its server answered with status {status}")
    return _limited(attachment, content, limit_bytes)


def _limited(attachment: Attachment, content: bytes, limit_bytes: int) -> bytes:
    if len(content) > limit_bytes:
        raise OSError(f"attachment {attachment.ref!r} has more than {limit_bytes} bytes")
    return content


def _local(attachment: Attachment, limit_bytes: int) -> bytes:
    parts = _parts(attachment)
    if parts.scheme == "data":
        return _limited(attachment, _data(attachment), limit_bytes)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise AttachmentNotFoundError(
            f"attachment {attachment.ref!r} is not a local file, `data:` URL or web address"
        )
    path = unquote(parts.path)
    if not os.path.isabs(path):
        raise AttachmentNotFoundError(f"attachment {attachment.ref!r} has no absolute path")
    SyncReachFiles(read=[path]).mtime(path)  # refuses protected paths
    with open(path, "rb", opener=_very_file) as file:
        return _limited(attachment, file.read(limit_bytes + 1), limit_bytes)


def _very_file(path: str, flags: int) -> int:
    """A descriptor of the file itself: a link in its place would lead to another one."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path} is not a regular file")


def _data(attachment: Attachment) -> bytes:
    head, comma, data = attachment.url.partition(",")
    if not comma:
        raise OSError(f"attachment {attachment.ref!r} has no data in its `data:` URL")
    if not head.endswith(";base64"):
        return unquote_to_bytes(data)
    try:
        return base64.b64decode(unquote(data), validate=True)
    except (binascii.Error, ValueError) as error:
        raise OSError(f"attachment {attachment.ref!r} is not valid base64: {error}") from None
