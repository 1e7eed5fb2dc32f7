"""A framework that is not installed is one line with the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [line] = done.stdout.splitlines()
    extra = adapter.replace("_", "-")
    assert line.endswith(f"needs {PACKAGES[adapter]}: pip install 'ethos-registry[{extra}]'")
