"""What type checkers say of small programs: with the SDKs, and where none is installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ethos_registry

pytest.importorskip("mypy")
for sdk in ("anthropic", "openai", "google.genai", "ollama"):
    pytest.importorskip(sdk)

HERE = Path(__file__).parent
PACKAGE = Path(ethos_registry.__file__).parent
BARE_PYTHON = Path(sys.base_prefix) / "bin" / "python3"
"""An interpreter without what the tests have installed."""

WRONG = """
import openai
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from ethos_registry import View
from ethos_registry.execution import CallResults

def turn(view: View, results: CallResults, client: openai.OpenAI) -> None:
    messages: list[MessageParam] = []
    messages.extend(results.to_messages("openai"))  # refused
    others: list[ChatCompletionMessageParam] = []
    others.extend(results.to_messages("anthropic"))  # refused
    client.responses.create(model="m", input=[], tools=view.definitions("openai"))  # refused
    client.responses.create(model="m", input=[], tools=view.definitions("openai_responses"))
"""


def refused_lines(text: str) -> list[int]:
    lines = text.splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# refused")]


def error_lines(printed: str, path: Path) -> list[int]:
    pattern = re.compile(rf"{re.escape(path.name)}:(\d+)(?::\d+)?(?::| -) error")
    return sorted({int(line) for line in pattern.findall(printed)})


def mypy(path: Path, *options: str, cache: Path, package_path: Path | None = None) -> list[int]:
    environment = {"PATH": "/usr/bin:/bin"}
    if package_path is not None:
        environment["MYPYPATH"] = str(package_path)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", *options, str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd=path.parent,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = error_lines(done.stdout, path)
    assert bool(found) == bool(done.returncode), done.stdout
    return found


def pyright(path: Path, *options: str) -> list[int]:
    pytest.importorskip("pyright")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", *options, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=path.parent,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = error_lines(done.stdout, path)
    assert bool(found) == bool(done.returncode), done.stdout
    return found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    return path


@pytest.fixture
def package_alone(tmp_path: Path) -> Path:
    """The package where nothing else is installed."""
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "ethos_registry").symlink_to(PACKAGE)
    return tmp_path / "alone"


PROGRAMS = [HERE / "typed" / "with_sdks.py", HERE / "typed" / "without_sdks.py"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_mypy_takes_what_is_right_and_refuses_what_is_wrong(path: Path, cache: Path) -> None:
    assert mypy(path, cache=cache) == refused_lines(path.read_text())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_pyright_takes_what_is_right_and_refuses_what_is_wrong(path: Path) -> None:
    found = pyright(path, "--pythonpath", sys.executable)
    assert found == refused_lines(path.read_text())


def test_the_messages_of_one_provider_do_not_fit_another(wrong: Path, cache: Path) -> None:
    assert mypy(wrong, cache=cache) == refused_lines(WRONG)
    assert pyright(wrong, "--pythonpath", sys.executable) == refused_lines(WRONG)


def test_without_any_sdk_the_types_are_the_same(package_alone: Path, tmp_path: Path) -> None:
    source = HERE / "typed" / "without_sdks.py"
    path = tmp_path / source.name
    path.write_text(source.read_text())
    options = ("--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent")
    cache = tmp_path / "cache"
    expected = refused_lines(source.read_text())
    assert mypy(path, *options, cache=cache, package_path=package_alone) == expected
    config = {"extraPaths": ["alone"], "include": [path.name]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    pytest.importorskip("pyright")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", str(BARE_PYTHON)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert error_lines(done.stdout, path) == expected, done.stdout
