"""Conformance of capabilities with the TypeScript system: what is allowed, refused, returned.

The pairs of `data/ethos_capability_cases.json` fix outcomes, not error texts. Where that system
does what is a fault, or lets a hole through, the answer of this project is tested instead.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import Personality, ToolRegistry, tool
from ethos_registry.capabilities import (
    FsReach,
    NetworkPolicy,
    ProgramRunner,
    Protection,
    ToolCapabilities,
    standard_backends,
)
from ethos_registry.capabilities._files import SyncReachFiles
from ethos_registry.capabilities._secrets import DeclaredSecrets, IssuedSecrets

pytestmark = [
    pytest.mark.every_python,
    pytest.mark.privileges,
    pytest.mark.skipif(os.name != "posix", reason="needs directory descriptors"),
]

_FILE = Path(__file__).parents[1] / "data" / "ethos_capability_cases.json"
CASES: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="ascii"))["cases"]


def cases(op: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["op"] == op]


def test_no_case_is_silently_left_out() -> None:
    assert Counter(case["op"] for case in CASES) == {
        "scoped_fs": 25,
        "scoped_secrets": 14,
        "validate_registration": 9,
        "scoped_process": 6,
    }
    assert {case["id"] for case in CASES if "defect" in case} == {
        "fs-symlink-dotdot-lexical",
        "val-host-allow-empty",
        "val-fs-dotdot",
    }


def check_case(case: dict[str, Any], actual: dict[str, Any]) -> None:
    """Hold an outcome against the expected one; a refusal may replace what is a hole."""
    expected = case["expected"]
    if "defect" in case or ("stricter_ok" in case and "error" in actual):
        assert "error" in actual
    elif "error" in expected:
        assert "error" in actual, actual
        for prefix in ("PATH_NOT_REACHABLE", "SECRET_NOT_DECLARED", "BINARY_NOT_ALLOWED", "spawn"):
            if expected["error"].startswith(prefix):
                assert actual["error"].startswith(prefix), actual
    else:
        assert actual == expected


# Files


def below(root: Path, value: Any) -> Any:
    return json.loads(json.dumps(value).replace("$ROOT", str(root)))


def outside(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", cases("scoped_fs"))
def test_files(case: dict[str, Any], tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    given = below(root, case["input"])
    for path in given.get("dirs", ()):
        Path(path).mkdir(parents=True)
    for path, text in given["files"].items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    for path, target in given.get("symlinks", {}).items():
        Path(path).symlink_to(target)
    for path, target in given.get("hardlinks", {}).items():
        os.link(target, path)
    files = SyncReachFiles(
        given.get("read", ()),
        given.get("write", ()),
        working_dir=str(root),
        protection=Protection(closed_paths=tuple(given.get("deny", ()))),
    )
    before = outside(root)
    arguments = (given["path"], "new") if given["op"] == "write" else (given["path"],)
    try:
        value = getattr(files, given["op"])(*arguments)
        actual = {"ok": True, "value": [*value] if isinstance(value, bytes) else value}
    except OSError as error:
        actual = {"error": str(error)}
    check_case(case | {"expected": below(root, case["expected"])}, actual)
    if "error" in actual:
        assert outside(root) == before
        assert not (root / "out" / "d").exists()
    elif given["op"] == "write":
        assert Path(given["path"]).read_text() == "new"


# Secrets


@pytest.mark.parametrize("case", cases("scoped_secrets"))
def test_secrets(case: dict[str, Any]) -> None:
    asked: list[str] = []

    def source(reference: str) -> str:
        asked.append(reference)
        return f"value of {reference}"

    given = case["input"]
    resolver = DeclaredSecrets(given["declared"], source, IssuedSecrets())
    try:
        actual: dict[str, Any] = {"ok": True, "value": resolver.get_sync(given["ref"])}
    except PermissionError as error:
        actual = {"error": str(error)}
        assert asked == []
    check_case(case, actual)
    if "stricter_ok" in case:
        assert "error" in actual


# Programs


@pytest.mark.skipif(sys.platform == "win32", reason="needs sh and echo")
@pytest.mark.parametrize("case", cases("scoped_process"))
def test_programs(case: dict[str, Any], tmp_path: Path) -> None:
    given = case["input"]
    runner = ProgramRunner(given["allowed"], working_dir=str(tmp_path))
    try:
        done = runner.run_sync(given["binary"], given["args"])
    except OSError as error:
        check_case(case, {"error": str(error)})
        return
    if "stricter_ok" in case:
        assert (done.exit_code, done.signal, done.stdout) == (None, "SIGKILL", "")
    else:
        check_case(case, {"exit_code": done.exit_code, "stdout": done.stdout})


# Checks before any call

OURS = {
    "val-host-allow-empty": ("network", 'host "a.com" is not in personality network allow list'),
    "val-fs-dotdot": ("fs_reach.read", 'path "/etc" is not covered by personality fs_reach.read'),
}


@pytest.mark.parametrize("case", cases("validate_registration"))
def test_checks_of_a_personality(case: dict[str, Any]) -> None:
    given = case["input"]

    @tool(name="t", capabilities=ToolCapabilities.from_wire(given["capabilities"]))
    def touch() -> str:
        """Touch."""
        return ""

    reach = given["personality"].get("fs_reach")
    network = given["personality"].get("safety", {}).get("network")
    personality = Personality(
        "p",
        fs_reach=None if reach is None else FsReach(**reach),
        network=None if network is None else NetworkPolicy(**network),
    )
    backends = standard_backends(secrets=lambda reference: None)
    registry = ToolRegistry([touch], capability_backends=backends)
    found = [
        {"tool": item.tool, "capability": item.capability, "message": item.message}
        for item in registry.validate_for(personality)
    ]
    if "defect" in case:
        capability, message = OURS[case["id"]]
        assert found == [{"tool": "t", "capability": capability, "message": message}]
    else:
        assert found == case["expected"]["errors"]
