"""What is sent of a block is decided by its first bytes, its size and the provider."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ethos_registry import CallResult, ToolOk, provider
from ethos_registry.providers._by_name import PROVIDERS
from ethos_registry.types import Audio, ContentBlock, Document, Image, Link

PNG = b"\x89PNG\r\n\x1a\n" + bytes(60)
JPEG = b"\xff\xd8\xff\xe0" + bytes(60)
GIF = b"GIF89a" + bytes(60)
PDF = b"%PDF-1.7\n" + bytes(60)
WAV = b"RIFF\x00\x00\x00\x00WAVEfmt " + bytes(40)
HTML = b"<!doctype html><html><body>404 Not Found</body></html>"
SHOWS_IMAGES = ("anthropic", "openai_responses", "gemini", "ollama", "bedrock")
SHOWS_PDF = ("anthropic", "openai_responses", "gemini", "bedrock")


def sent(name: str, *blocks: ContentBlock, call_id: str = "call_1") -> str:
    """The messages of a result as text, bytes too."""
    result = CallResult(call_id, "look", ToolOk("seen", content=blocks))
    return json.dumps(provider(name).messages([result]), default=repr)


@pytest.mark.parametrize("name", SHOWS_IMAGES)
def test_jpeg_that_is_called_png_is_sent_as_jpeg(name: str) -> None:
    text = sent(name, Image(JPEG, "image/png"))
    assert "png" not in text
    assert "not shown" not in text


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("data", [HTML, b"\x00\x01\x02", b"plain text", b"{}", WAV])
def test_bytes_that_are_no_image_are_named_in_the_text(name: str, data: bytes) -> None:
    text = sent(name, Image(data, "image/png"))
    assert f"[not shown: image (image/png, {len(data)} bytes)" in text
    for key in ("source", "image_url", "inline_data", "images"):
        assert f'"{key}"' not in text


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("data", [HTML, PNG[:3], b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_bytes_that_are_no_pdf_are_named_in_the_text(name: str, data: bytes) -> None:
    assert "[not shown: document (application/pdf" in sent(name, Document(data, "application/pdf"))


@pytest.mark.parametrize("name", SHOWS_PDF)
def test_pdf_that_is_called_an_image_is_sent_as_a_document(name: str) -> None:
    text = sent(name, Image(PDF, "image/png"))
    assert "not shown" not in text
    assert "pdf" in text


def test_reason_is_given_where_the_label_would_have_been_sent() -> None:
    assert "68 bytes); its bytes are audio/wav]" not in sent("anthropic", Image(PNG, "image/bmp"))
    assert "; its bytes are audio/wav]" in sent("anthropic", Image(WAV, "image/png"))
    assert "; its bytes are something else]" in sent("anthropic", Image(HTML, "image/png"))


@pytest.mark.parametrize(("name", "most"), [("anthropic", 3_932_160), ("bedrock", 3_932_160)])
def test_image_over_the_limit_of_the_provider_is_named(name: str, most: int) -> None:
    assert "not shown" not in sent(name, Image(PNG + bytes(most - len(PNG))))
    assert f"; at most {most:,} bytes are sent]" in sent(name, Image(PNG + bytes(most)))


@pytest.mark.parametrize(
    ("label", "data", "kind", "media_type"),
    [
        ("audio/mpeg", WAV, "audio", "audio/wav"),
        ("image/webp", GIF, "image", "image/gif"),
        ("image/png", PNG, "image", "image/png"),
    ],
)
def test_signature_of_a_block(label: str, data: bytes, kind: str, media_type: str) -> None:
    from ethos_registry.types._content import block_of_signature

    made = (Audio if label.startswith("audio") else Image)(data, label, "name")
    block = block_of_signature(made)
    assert block is not None
    assert (block.kind, block.media_type, block.name) == (kind, media_type, "name")


def test_text_keeps_its_label_where_the_block_is_a_document() -> None:
    from ethos_registry.types._content import block_of_signature

    table = Document(b"a,b\n1,2\n", "text/csv")
    assert block_of_signature(table) is table
    assert block_of_signature(Document(b"a,b", "application/pdf")) is None
    prose = Document(b"BMW is a name, ID3 a header\n", "text/plain")
    assert block_of_signature(prose) is prose


@pytest.mark.parametrize(
    ("label", "media_type"),
    [
        ("application/pdf", "application/zip"),
        ("application/msword", "application/zip"),
        ("application/epub+zip", "application/epub+zip"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
    ],
)
def test_an_archive_keeps_the_label_of_a_format_that_is_one(label: str, media_type: str) -> None:
    from ethos_registry.types._content import block_of_signature

    block = block_of_signature(Document(b"PK\x03\x04" + bytes(30), label))
    assert block is not None
    assert block.media_type == media_type


# Bedrock's names and ids

NAME = re.compile(r"[A-Za-z0-9()\[\]-]+(?: [A-Za-z0-9()\[\]-]+)*")


def documents(messages: Any) -> list[str]:
    return [
        part["document"]["name"]
        for message in messages
        for block in message["content"]
        for part in block["toolResult"]["content"]
        if "document" in part
    ]


@pytest.mark.parametrize("name", [None, "", "...", "a  b.pdf", "Größe (1) [x].pdf", "x" * 300])
def test_document_names_are_those_that_bedrock_takes_and_unique(name: str | None) -> None:
    block = Document(PDF, name=name)
    results = [
        CallResult(call_id, "look", ToolOk("", content=(block, block)))
        for call_id in ("tooluse_a", "tooluse_b")
    ]
    converse = provider("bedrock")
    names = documents(converse.messages(results[:1])) + documents(converse.messages(results[1:]))
    assert len(set(names)) == 4
    assert all(NAME.fullmatch(each) and len(each) <= 64 for each in names)
    assert names == documents(converse.messages(results))


@pytest.mark.parametrize("call_id", ["fc_" + "a" * 80, "call|1", "é", "tooluse_abc.1:2-3"])
def test_call_ids_are_those_that_bedrock_takes(call_id: str) -> None:
    [message] = provider("bedrock").messages([CallResult(call_id, "look", ToolOk(""))])
    sent_id = message["content"][0]["toolResult"]["toolUseId"]
    assert re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", sent_id)
    assert (sent_id == call_id) is call_id.startswith("tooluse")


def test_link_is_a_line_of_text() -> None:
    assert "https://example.com/a" in sent("anthropic", Link("https://example.com/a"))
