"""What the tools cost in a prompt: bytes and estimated tokens of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypedDict

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry._cli.console import visible

if TYPE_CHECKING:
    from ethos_registry.providers import Prefix

CONTEXT_TOKENS = 200_000
"""The context that the share is of."""
CHARS_PER_TOKEN = 4
ENCODING = "o200k_base"


class ToolCost(TypedDict):
    """One tool in a request."""

    name: str
    segment: str
    bytes: int
    tokens: int


class PromptCost(TypedDict):
    """All tools of a request; tokens are an estimate, by the `counter`."""

    provider: str
    counter: str
    tools: list[ToolCost]
    bytes: int
    tokens: int
    context_tokens: int
    context_share: float


def prompt_cost(prefix: Prefix) -> PromptCost:
    """The cost of each tool, the most expensive first, and of all."""
    counter, count = token_counter()
    tools: list[ToolCost] = [
        {
            "name": tool.name,
            "segment": tool.segment,
            "bytes": len(tool.text.encode()),
            "tokens": count(tool.text),
        }
        for tool in prefix.tools
    ]
    tools.sort(key=lambda tool: (-tool["bytes"], tool["name"]))
    tokens = sum(tool["tokens"] for tool in tools)
    return {
        "provider": prefix.provider,
        "counter": counter,
        "tools": tools,
        "bytes": len(prefix.to_bytes()),
        "tokens": tokens,
        "context_tokens": CONTEXT_TOKENS,
        "context_share": tokens / CONTEXT_TOKENS,
    }


def token_counter() -> tuple[str, Callable[[str], int]]:
    """How tokens are counted: by tiktoken if it is installed and has its tables, else guessed."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(ENCODING)
    except Exception:  # not installed, or it cannot load its tables
        return f"characters / {CHARS_PER_TOKEN}", _guessed
    return f"tiktoken {ENCODING}", lambda text: len(encoding.encode(text, disallowed_special=()))


def _guessed(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def drawn_cost(cost: PromptCost, width: int) -> Iterator[RenderableType]:
    """A row a tool, then the total and its share of the context."""
    if not cost["tools"]:
        yield Text("no tools are shown")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_footer=True)
    table.add_column("Tool", "total", overflow="fold")
    table.add_column("Segment", overflow="fold")
    table.add_column("Bytes", f"{cost['bytes']:,}", justify="right")
    table.add_column("Tokens (estimate)", f"{cost['tokens']:,}", justify="right")
    for tool in cost["tools"]:
        table.add_row(
            Text(visible(tool["name"])),
            tool["segment"],
            f"{tool['bytes']:,}",
            f"{tool['tokens']:,}",
        )
    yield table
    share = f"{cost['context_share']:.2%} of a context of {cost['context_tokens']:,} tokens"
    yield Text(f"{share}; tokens estimated as {cost['counter']}, for {cost['provider']}")
