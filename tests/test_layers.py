"""A subpackage imports only what its row of the table allows (CONTRIBUTING, "Architecture")."""

from __future__ import annotations

import ast
import graphlib
import importlib
import importlib.util
import pickle
import re
import subprocess
import sys
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pytest

import ethos_registry
from ethos_registry._lazy import lazy

PACKAGE = Path(ethos_registry.__file__).parent


@dataclass(frozen=True)
class Subpackage:
    layer: int
    may_import: AbstractSet[str] = frozenset()


PUBLIC = frozenset(
    {
        "adapters",
        "agents",
        "artifacts",
        "capabilities",
        "config",
        "execution",
        "mcp",
        "providers",
        "recording",
        "reduction",
        "registry",
        "schema",
        "telemetry",
        "tools",
        "transports",
        "types",
        "usage",
    }
)
"""Subpackages whose names anyone may import; `testing` is public too."""

SUBPACKAGES = {
    "_core": Subpackage(0),
    "_lazy": Subpackage(0),
    "_suggest": Subpackage(0),
    "_persistence": Subpackage(1),
    "types": Subpackage(1),
    "_processes": Subpackage(2, {"types"}),
    "_table": Subpackage(2, {"types"}),
    "artifacts": Subpackage(2, {"_persistence", "types"}),
    "config": Subpackage(2, {"types"}),
    "providers": Subpackage(3, {"schema", "types"}),
    "recording": Subpackage(2, {"_persistence", "types"}),
    "schema": Subpackage(2, {"types"}),
    "usage": Subpackage(2, {"_persistence", "types"}),
    "capabilities": Subpackage(3, {"_persistence", "_processes", "types"}),
    "reduction": Subpackage(3, {"_persistence", "types"}),
    "execution": Subpackage(
        4,
        {"_persistence", "_table", "artifacts", "capabilities", "providers", "reduction", "types"},
    ),
    "tools": Subpackage(
        4,
        {"_persistence", "_processes", "artifacts", "capabilities", "recording", "schema", "types"},
    ),
    "registry": Subpackage(
        5,
        {
            "_table",
            "capabilities",
            "execution",
            "providers",
            "reduction",
            "schema",
            "tools",
            "types",
        },
    ),
    "adapters": Subpackage(6, {"execution", "providers", "registry", "schema", "types"}),
    "agents": Subpackage(6, {"_table", "execution", "registry", "schema", "types"}),
    "mcp": Subpackage(
        6,
        {
            "_persistence",
            "_processes",
            "_table",
            "capabilities",
            "execution",
            "providers",
            "registry",
            "schema",
            "types",
        },
    ),
    "telemetry": Subpackage(6, {"execution", "types"}),
    "transports": Subpackage(
        7, {"_processes", "capabilities", "execution", "mcp", "registry", "types"}
    ),
    "__init__": Subpackage(8, PUBLIC),
    "_cli": Subpackage(9, {*PUBLIC, "__init__", "_persistence"}),
    "testing": Subpackage(9, {*PUBLIC, "__init__"}),
    "__main__": Subpackage(10, {"_cli"}),
}

LOWEST = frozenset(name for name, row in SUBPACKAGES.items() if row.layer == 0)
"""Every subpackage may import these."""

OPTIONAL = {
    "_cli.app": {"typer"},
    "_cli.call": {"typer"},
    "_cli.console": {"rich", "typer"},
    "_cli.cost": {"rich"},
    "_cli.demo": {"rich", "typer"},
    "_cli.formats": {"typer"},
    "_cli.gain": {"typer"},
    "_cli.hook": {"typer"},
    "_cli.listing": {"rich", "typer"},
    "_cli.mcp": {"rich", "typer"},
    "_cli.options": {"typer"},
    "_cli.prefix": {"typer"},
    "_cli.recall": {"rich", "typer"},
    "_cli.recordings": {"rich", "typer"},
    "_cli.reduce": {"typer"},
    "_cli.run": {"rich", "typer"},
    "_cli.serve": {"typer"},
    "_cli.usage": {"rich", "typer"},
    "_cli.worker": {"typer"},
    "adapters.agent_framework": {"agent_framework"},
    "adapters.anthropic": {"anthropic"},
    "adapters.claude_agent_sdk": {"claude_agent_sdk"},
    "adapters.fastmcp": {"fastmcp", "mcp_types"},
    "adapters.google_adk": {"google"},
    "adapters.langchain": {"langchain_core", "langgraph"},
    "adapters.openai_agents": {"agents"},
    "adapters.pydantic_ai": {"pydantic_ai"},
    "capabilities._fetch": {"httpcore"},
    "capabilities._guarded_connections": {"httpcore"},
    "mcp._gateway_http": {"mcp", "starlette", "uvicorn"},
    "mcp._gateway_resources": {"mcp", "mcp_types"},
    "mcp._gateway_session": {"anyio", "mcp", "mcp_types"},
    "mcp._gateway_users": {"mcp", "starlette"},
    "mcp._gateway_stdio": {"anyio", "mcp"},
    "mcp._json_rpc": {"mcp_types"},
    "mcp._request_tasks": {"mcp", "mcp_types"},
    "mcp._sdk_calls": {"anyio", "mcp", "mcp_types"},
}
"""Third-party packages that a module imports at its top, beyond what the package requires."""

ADAPTER_FILES = {path.stem for path in (PACKAGE / "adapters").glob("[!_]*.py")}
MAX_LINES = 1000


def subpackage_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in SUBPACKAGES else "__init__"


def name_of(path: Path) -> str:
    return ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(path: Path) -> set[str]:
    """The modules of ours that a file imports: at the top, in functions, under TYPE_CHECKING."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = inner in MODULES or f"{inner}.__init__" in MODULES
                modules.add(inner if is_module or inner == "ethos_registry._core" else node.module)
    return {module for module in modules if module.split(".")[0] == PACKAGE.name}


def edges() -> list[tuple[str, str, str, str]]:
    """Importing subpackage and module, imported subpackage and module; other subpackages only."""
    found = []
    for name, path in MODULES.items():
        source = subpackage_of(name)
        for module in sorted(imports_of(path)):
            target = subpackage_of(module)
            if target != source:
                found.append((source, name, target, module))
    return found


def test_every_file_is_in_a_subpackage_of_the_table() -> None:
    parts = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES.values()}
    assert parts <= SUBPACKAGES.keys()


def test_a_subpackage_imports_what_its_row_allows_and_the_table_is_read() -> None:
    found = edges()
    assert ("types", "_core") in {(source, target) for source, _, target, _ in found}
    wrong = [
        f"{module} imports {imported}"
        for source, module, target, imported in found
        if target not in LOWEST and target not in SUBPACKAGES[source].may_import
    ]
    assert not wrong


def test_rows_allow_lower_layers_only() -> None:
    upward = [
        (name, other)
        for name, row in SUBPACKAGES.items()
        for other in row.may_import
        if SUBPACKAGES[other].layer >= row.layer
    ]
    assert not upward


def test_subpackages_import_each_other_by_module() -> None:
    """Only programs, the command line and `testing` import public paths."""
    wrong = [
        f"{module} imports {imported}"
        for source, module, target, imported in edges()
        if source not in ("_cli", "testing", "__main__")
        and target not in LOWEST
        and f"{imported}.__init__" in MODULES
    ]
    assert not wrong


def test_the_command_line_and_the_test_helpers_import_public_paths_only() -> None:
    wrong = [
        f"{module} imports {imported}"
        for source, module, target, imported in edges()
        if source in ("_cli", "testing")
        and target not in ("_core", "_persistence", "_suggest")
        and any(part[0] == "_" for part in imported.split("."))
    ]
    assert not wrong


def test_files_of_public_subpackages_are_private_but_for_the_adapters() -> None:
    public = {
        name
        for name in MODULES
        if not any(part.startswith("_") for part in name.split(".")) and "." in name
    }
    assert public == {
        "ethos_registry.testing",
        *(f"ethos_registry.adapters.{file}" for file in ADAPTER_FILES),
    }


def test_private_files_list_no_names() -> None:
    private = {
        name: path
        for name, path in MODULES.items()
        if path.name != "__init__.py" and any(part.startswith("_") for part in name.split("."))
    }
    assert private
    assert not [name for name, path in private.items() if "\n__all__" in path.read_text()]


def test_optional_dependencies_are_imported_at_the_top_of_the_listed_modules_only() -> None:
    required = {"pydantic", "pydantic_core", "typing_extensions", PACKAGE.name}
    found = {}
    for name, path in MODULES.items():
        tops = set()
        body = ast.parse(path.read_text()).body
        for with_block in [node for node in body if isinstance(node, ast.With)]:
            body += with_block.body
        for node in body:
            if isinstance(node, ast.Import):
                tops |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                tops.add((node.module or "").split(".")[0])
        if third_party := tops - sys.stdlib_module_names - required:
            found[name.removeprefix("ethos_registry.")] = third_party
    assert found == OPTIONAL


def test_importing_the_package_loads_asyncio_and_pydantic_and_nothing_optional() -> None:
    code = (
        "import sys; before = set(sys.modules); import asyncio, pydantic; "
        "known = {name.split('.')[0] for name in sys.modules}; import ethos_registry; "
        "print(*sorted({name.split('.')[0] for name in sys.modules} - known))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("_sysconfigdata")}
    third_party = loaded - set(sys.stdlib_module_names)
    assert third_party <= {"ethos_registry", "pydantic_core", "annotated_types"}, third_party


def test_no_file_has_more_than_a_thousand_lines() -> None:
    long = {
        name: lines
        for name, path in MODULES.items()
        if (lines := len(path.read_text().splitlines())) > MAX_LINES
    }
    assert not long


PUBLIC_PACKAGES = {
    name.removesuffix(".__init__"): path
    for name, path in MODULES.items()
    if path.name == "__init__.py" and not any(part[0] == "_" for part in name.split(".")[1:-1])
}
SEED_NAMES = (
    "AbortSignal",
    "Attachment",
    "CapabilityBackends",
    "DispatchContext",
    "KeyValueStore",
    "ScopedAttachments",
    "ScopedFetch",
    "ScopedFs",
    "ScopedProcess",
    "ScopedSecretsResolver",
    "SpooledArtifact",
    "Storage",
    "ToolCapabilities",
    "ToolProgressEvent",
    "ToolReducerContext",
    "ToolResolver",
    "ToolResultReducer",
    "ToolResultReducerRegistry",
)
"""Names of the documents that the registry was specified by, beyond the names listed at the top."""


def listed(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Name -> module, as an `__init__` imports it for type checkers and as `lazy` finds it."""
    tree = ast.parse(path.read_text())
    checked: dict[str, str] = {}
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ethos_registry."):
            checked |= {alias.name: str(node.module) for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazy":
            for module, names in ast.literal_eval(node.args[1]).items():
                found |= dict.fromkeys(names.split(), f"ethos_registry.{module}")
    checked.pop("lazy")
    checked.pop("__version__", None)
    return checked, found


@pytest.mark.parametrize("package", PUBLIC_PACKAGES)
def test_names_are_imported_for_type_checkers_and_found_at_run_time(package: str) -> None:
    checked, found = listed(PUBLIC_PACKAGES[package])
    assert checked == found
    module = importlib.import_module(package)
    further = SEED_NAMES if package == "ethos_registry" else ()
    assert set(found) == {*module.__all__, *further} - {"__version__"}
    for name in (*module.__all__, *further):
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", PUBLIC_PACKAGES)
def test_a_package_is_a_list(package: str) -> None:
    tree = ast.parse(PUBLIC_PACKAGES[package].read_text())
    kinds = {type(node) for node in tree.body}
    assert kinds <= {ast.Expr, ast.ImportFrom, ast.If, ast.Assign}


def test_the_top_level_has_27_names_and_3_aliases() -> None:
    assert len(ethos_registry.__all__) == 30


def test_a_name_has_one_public_path_and_exceptions_state_it() -> None:
    paths: dict[str, list[str]] = {}
    for package in PUBLIC_PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            paths.setdefault(name, []).append(package)
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, Exception):
                assert value.__module__ == package, value
                assert pickle.loads(pickle.dumps(value)) is value
    assert not {name: found for name, found in paths.items() if len(found) > 1}


def test_a_missing_extra_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    find, _ = lazy("ethos_registry.adapters", {"adapters._missing": "thing"})

    def import_module(name: str) -> object:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp.types")

    monkeypatch.setattr("ethos_registry._lazy.import_module", import_module)
    with pytest.raises(ModuleNotFoundError) as caught:
        find("thing")
    assert str(caught.value) == "`thing` needs mcp.types: pip install 'ethos-registry[mcp]'"


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ToolRegistri'"):
        _ = ethos_registry.ToolRegistri


def test_imports_form_no_circle() -> None:
    """Not even under `TYPE_CHECKING` or inside functions."""
    modules = {name for name, path in MODULES.items() if path.name != "__init__.py"}
    graph = {name: imports_of(MODULES[name]) & modules for name in modules}
    list(graphlib.TopologicalSorter(graph).static_order())


FORMATS = ("anthropic", "bedrock", "cohere", "gemini", "ollama", "openai_chat", "openai_responses")


def test_a_batch_of_plain_calls_loads_no_provider() -> None:
    program = (
        "import sys; from ethos_registry import Tool, ToolRegistry, ok\n"
        "one = Tool('a', '', {'type': 'object'}, lambda args, context: ok('1'))\n"
        "registry = ToolRegistry([one])\n"
        "[result] = registry.execute_parallel_sync([{'id': '1', 'name': 'a', 'args': {}}])\n"
        "assert result.text == '1'\n"
        "print(*[name for name in sys.modules if name.startswith('ethos_registry.providers._')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded
    formats = {f"ethos_registry.providers._{name}" for name in FORMATS}
    assert all(importlib.util.find_spec(name) for name in formats)
    assert loaded.isdisjoint(formats)


EQUALS = {
    "RegistryTool": "one a framework: the class that it expects of a tool",
}
"""Public class names that several modules may define, with the reason."""


def test_a_class_name_is_defined_once() -> None:
    """But for private names, which do not leave their module."""
    found: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    twins = {name: modules for name, modules in found.items() if len(modules) > 1}
    assert twins.keys() == EQUALS.keys()


QUESTIONS = (
    "a gate",
    "share of the budget",
    "a provider's stream",
    "a rule of the sandbox",
    "the adapter",
    "a refusal",
    "a timeout",
    "a credential",
    "a row of the ledger",
    "the help of a command",
)
"""What "Where is ..." in CONTRIBUTING.md answers."""


def test_the_answers_of_where_is_name_files_and_what_is_in_them() -> None:
    root = PACKAGE.parent.parent
    if not (root / "CONTRIBUTING.md").exists():
        pytest.skip("the package is installed outside its repository")
    section = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").split("### Where is ...")[1]
    rows = [line for line in section.split("\n\nOne batch")[0].splitlines() if "| Where " in line]
    assert [each for each in QUESTIONS if not any(each in row for row in rows)] == []
    assert len(rows) == len(QUESTIONS)
    missing = []
    for row in rows:
        answers = re.findall(r"`([\w./-]+\.(?:py|rs))`(?: \(((?:`\w+`(?:, )?)+)\))?", row)
        assert answers, row
        for name, listed in answers:
            path = root / name if name.startswith("rust/") else PACKAGE / name
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if not text:
                missing.append(name)
            defined = r"^\s*(?:pub )?(?:async )?(?:class|def|fn) (\w+)|^(\w+) = "
            found = {name for pair in re.findall(defined, text, re.MULTILINE) for name in pair}
            missing += [f"{name}: {each}" for each in set(re.findall(r"`(\w+)`", listed)) - found]
    assert not missing
