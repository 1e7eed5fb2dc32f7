"""The house stands: what is lower never imports what is higher (architecture, "Rooms")."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import ethos_registry

PACKAGE = Path(ethos_registry.__file__).parent

FLOORS = {
    "_core": 0,
    "contract": 1,
    "persistence": 1,
    "config": 2,
    "capabilities": 2,
    "processes": 2,
    "artifacts": 2,
    "usage": 2,
    "recording": 2,
    "table": 3,
    "schema": 3,
    "reduction": 3,
    "providers": 3,
    "execution": 4,
    "toolkit": 4,
    "registry": 5,
    "agents": 6,
    "bridges": 6,
    "telemetry": 6,
    "transports": 6,
    "__init__": 7,
    "testing": 8,
    "cli": 8,
    "__main__": 8,
}
SAME_FLOOR = {
    ("capabilities", "processes"),
    ("providers", "schema"),
    ("transports", "bridges"),
    ("__main__", "cli"),
}
"""Rooms of one floor do not import each other, but for these edges."""


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path: Path) -> set[str]:
    """The modules of ours that a file imports: at the top, in functions, under TYPE_CHECKING."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules.add(node.module or "")
            if node.module == "ethos_registry":
                modules |= {f"ethos_registry.{alias.name}" for alias in node.names}
                if all(alias.name in FLOORS for alias in node.names):
                    modules.discard("ethos_registry")
    return {module for module in modules if module.split(".")[0] == "ethos_registry"}


def edges() -> set[tuple[str, str, Path]]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE)
        source = relative.parts[0].removesuffix(".py")
        for module in imports_of(path):
            target = room_of(module)
            if source in ("cli", "testing", "__main__") and target not in FLOORS:
                target = "__init__"  # a public name
            if target != source:
                found.add((source, target, relative))
    return found


def test_every_file_stands_in_a_room_of_the_plan():
    rooms = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")
    }
    assert rooms <= FLOORS.keys()


def test_imports_only_go_down_and_the_table_is_really_read():
    found = edges()
    assert ("contract", "_core") in {(source, target) for source, target, _ in found}
    wrong = [
        f"{path} imports {target}"
        for source, target, path in found
        if FLOORS[target] >= FLOORS[source] and (source, target) not in SAME_FLOOR
    ]
    assert not wrong


def test_the_command_line_and_the_test_helpers_use_public_names_only():
    wrong = [
        f"{path} imports {target}"
        for source, target, path in edges()
        if source in ("cli", "testing") and target != "__init__"
    ]
    assert not wrong


def test_importing_the_package_loads_asyncio_and_pydantic_and_nothing_optional():
    code = (
        "import sys; before = set(sys.modules); import asyncio, pydantic; "
        "known = {name.split('.')[0] for name in sys.modules}; import ethos_registry; "
        "print(*sorted({name.split('.')[0] for name in sys.modules} - known))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith("_sysconfigdata")}
    third_party = loaded - set(sys.stdlib_module_names)
    assert third_party <= {"ethos_registry", "pydantic_core", "annotated_types"}, third_party


def test_no_file_of_the_package_has_outgrown_its_room():
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "__init__.py"  # a list of the public names
        and (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_every_public_name_is_imported_for_type_checkers_and_found_at_run_time() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    at_run_time = {
        name: f"ethos_registry.{module}" for name, module in ethos_registry._MODULE_OF.items()
    }
    assert at_run_time == imported
    assert {*imported, "__version__"} == set(ethos_registry.__all__)
    for name in ethos_registry.__all__:
        assert getattr(ethos_registry, name) is not None
    assert set(ethos_registry.__all__) <= set(dir(ethos_registry))


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ToolRegistri'"):
        _ = ethos_registry.ToolRegistri


def test_imports_form_no_circle() -> None:
    """Not even under `TYPE_CHECKING` or inside functions."""
    names = {
        ".".join(("ethos_registry", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in PACKAGE.rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {name: imports_of(path) & names.keys() for name, path in names.items()}
    list(graphlib.TopologicalSorter(graph).static_order())
