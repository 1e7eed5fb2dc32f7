"""A framework that is not installed is one line with the command that installs it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from ethos_registry import ConfigError
from ethos_registry.types._extras import missing_extra

PACKAGES = {
    "agent_framework": "agent_framework",
    "anthropic": "anthropic",
    "claude_agent_sdk": "claude_agent_sdk",
    "fastmcp": "fastmcp",
    "google_adk": "google.adk",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}


@pytest.mark.parametrize("adapter", PACKAGES)
def test_adapter_names_its_extra(adapter: str) -> None:
    code = f"""
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {PACKAGES[adapter]!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
try:
    import ethos_registry.adapters.{adapter}
except ModuleNotFoundError as error:
    from ethos_registry import ConfigError
    assert isinstance(error, ConfigError)
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [line] = done.stdout.splitlines()
    extra = adapter.replace("_", "-")
    assert line.endswith(f"needs {PACKAGES[adapter]}: pip install 'ethos-registry[{extra}]'")


def test_every_missing_extra_is_one_type() -> None:
    error = missing_extra("Ray", "ray")
    assert isinstance(error, ConfigError)
    assert isinstance(error, ModuleNotFoundError)
    assert str(error) == "Ray needs an extra: pip install 'ethos-registry[ray]'"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
