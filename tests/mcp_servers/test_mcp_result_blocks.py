"""Blocks of an MCP result: for the user alone, of unknown types, under a wrong label."""

from __future__ import annotations

import base64
from typing import Any

import pytest

mcp_types = pytest.importorskip("mcp_types")

from ethos_registry.mcp._results import from_mcp_result, readable_blocks  # noqa: E402
from ethos_registry.mcp._sdk_calls import _is_readable  # noqa: E402


def answer(*blocks: dict[str, Any], **fields: Any) -> Any:
    raw = readable_blocks({"content": list(blocks), **fields}, _is_readable)
    return mcp_types.CallToolResult.model_validate(raw, by_name=False)


def text(value: str, *audience: str) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": value}
    return block | {"annotations": {"audience": list(audience)}} if audience else block


def test_text_for_the_user_alone_is_reported_and_not_sent() -> None:
    reported: list[str] = []
    result = from_mcp_result(
        answer(text("for both", "user", "assistant"), text("secret", "user"), text("plain")),
        reported.append,
    )
    assert (result.text, reported) == ("for both\n\nplain", ["secret"])


def test_image_for_the_user_alone_is_no_content() -> None:
    image = {
        "type": "image",
        "data": base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(),
        "mimeType": "image/png",
        "annotations": {"audience": ["user"]},
    }
    reported: list[str] = []
    result = from_mcp_result(answer(image, text("x")), reported.append)
    assert (result.text, result.content, len(reported)) == ("x", (), 1)


@pytest.mark.parametrize(
    "block", [{"type": "video", "data": "x"}, {"type": "text"}, {}, {"type": "image", "data": 5}]
)
def test_unknown_block_costs_itself(block: dict[str, Any]) -> None:
    result = from_mcp_result(answer(text("a"), block, text("b")))
    first, middle, last = result.text.split("\n\n")
    assert (first, last) == ("a", "b")
    assert middle.startswith("[a block of type ")
    assert result.ok


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x1b[8m", "<|im_start|>"])
def test_hidden_text_in_an_address_or_a_name_reaches_no_model(hidden: str) -> None:
    link = {"type": "resource_link", "uri": f"file:///a{hidden}", "name": f"n{hidden}"}
    blob = {"uri": f"file:///a{hidden}.pdf", "blob": "JVBERi0=", "mimeType": "application/pdf"}
    named = {"type": "resource_link", "uri": "file:///b", "name": f"n{hidden}"}
    result = from_mcp_result(answer(link, named, {"type": "resource", "resource": blob}))
    shown, document = result.content
    assert hidden not in f"{result.text}{shown.line()}{document.name}"
    assert shown.url == "file:///b"
