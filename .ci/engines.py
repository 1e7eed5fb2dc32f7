"""Whether the engines that hold models to a schema take what is sent (`.ci/run --long`).

    python .ci/engines.py write FORMS   # with the package: every compiled and strict form
    python .ci/engines.py check FORMS   # with xgrammar, outlines_core and llguidance

Exit status 1 if an engine refuses a form. Public schemas: BFCL's functions, tools of MCP servers
and the cases of tests/data/schema_cases.json.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path

DIALECTS = ("vllm", "openai", "anthropic")
"""Engines are behind vLLM and SGLang; the others are gateways to them."""
Take = Callable[[str], object]
"""Makes a grammar of a schema, or raises."""


def write(path: Path) -> None:
    """The forms, each once."""
    tests = Path(__file__).parent.parent / "tests"
    sys.path[:0] = [str(tests), str(tests / "schema")]
    import test_schema_corpora as corpora

    from ethos_registry.providers._schema_rules import DIALECTS as RULES
    from ethos_registry.schema._compilation import NoSchemaError
    from ethos_registry.schema._compiler import compile_schema
    from ethos_registry.schema._strict import strict_form

    forms: dict[str, dict[str, None]] = {}
    for schema in corpora.of_bfcl() + corpora.of_servers() + corpora.of_cases():
        for name in DIALECTS:
            try:
                compiled = compile_schema(schema, RULES[name]).schema
                if name == "vllm":
                    forms.setdefault(name, {})[json.dumps(compiled)] = None
                strict = strict_form(compiled, RULES[name].strict).schema
            except NoSchemaError:
                continue
            forms.setdefault(f"{name}, strict", {})[json.dumps(strict)] = None
    path.write_text(json.dumps({name: list(each) for name, each in forms.items()}), "utf-8")


def xgrammar() -> Take:
    """Its native part: the package itself imports PyTorch, which making a grammar does not need."""
    found = importlib.util.find_spec("xgrammar")
    assert found is not None
    package = types.ModuleType("xgrammar")
    package.__path__ = list(found.submodule_search_locations or ())
    sys.modules["xgrammar"] = package
    importlib.import_module("xgrammar.load_binding")
    core = importlib.import_module("xgrammar.base")._core
    return lambda schema: core.Grammar.from_json_schema(
        schema, True, None, None, True, None, False, False
    )


def outlines() -> Take:
    """The regular expression that it makes of a schema."""
    from outlines_core import json_schema

    return json_schema.build_regex_from_schema


def llguidance() -> Take:
    """Its grammar, with a tokenizer of bytes."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")

    def take(schema: str) -> None:
        problem = LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema), tokenizer)
        if problem:
            raise ValueError(problem)

    return take


def check(path: Path) -> int:
    """Print how many forms each engine takes, and each that one refuses."""
    forms: dict[str, list[str]] = json.loads(path.read_text("utf-8"))
    refused = 0
    for engine in (xgrammar, outlines, llguidance):
        take = engine()
        for name, schemas in forms.items():
            problems: list[tuple[str, str]] = []
            for schema in schemas:
                try:
                    take(schema)
                except Exception as problem:  # each engine has its own
                    problems.append((str(problem).strip(), schema))
            refused += len(problems)
            taken = len(schemas) - len(problems)
            print(f"{engine.__name__} takes {taken:,} of {len(schemas):,} forms ({name})")
            for problem, schema in problems:
                print(f"  {problem[:200]}: {schema[:300]}")
    return 1 if refused else 0


def main(arguments: list[str]) -> int | None:
    """One command."""
    command, path = arguments
    return write(Path(path)) if command == "write" else check(Path(path))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
