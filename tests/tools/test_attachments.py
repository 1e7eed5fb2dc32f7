"""Attachments: only the very files, in the declared kinds, by what their bytes are."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from ethos_registry import default_reducers, provider
from ethos_registry.capabilities import AttachmentNotFoundError, NetworkPolicy
from ethos_registry.capabilities._files import TurnAttachments
from ethos_registry.tools import read_attachment_tool
from ethos_registry.types import Attachment
from loopback_http import response, serving
from web_tools import PDF, PNG, call, registry_of

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(24)


async def read(attachments, ref=None, tool=None, **options):
    registry = registry_of(tool or read_attachment_tool())
    args = {} if ref is None else {"ref": ref}
    return await call(registry, "read_attachment", args, attachments=attachments, **options)


@pytest.fixture
def folder(tmp_path) -> Path:
    base = Path(os.path.realpath(tmp_path))
    (base / "in").mkdir()
    (base / "in" / "notes.txt").write_text("the notes")
    (base / "in" / "secret.txt").write_text("not attached")
    (base / "other.txt").write_text("not attached")
    return base


def at(path: Path | str, ref: str = "a0", kind: str = "file", **extra) -> Attachment:
    return Attachment(ref, kind, f"file://{path}", extra)


async def test_files_bytes_and_web_addresses_are_read(folder):
    with serving(lambda target, head: response(body=b"from the web")) as server:
        attachments = [
            at(folder / "in" / "notes.txt", "file"),
            Attachment.from_bytes("bytes", "file", b"held"),
            Attachment("text", "file", "data:text/plain,a%20b"),
            Attachment("web", "file", f"http://files.test:{server.port}/x"),
        ]
        found = {item.ref: (await read(attachments, item.ref)).text for item in attachments}
    assert found == {"file": "the notes", "bytes": "held", "text": "a b", "web": "from the web"}


@pytest.mark.parametrize(
    ("data", "block", "media_type"),
    [
        (PNG, "image", "image/png"),
        (b"\xff\xd8\xff\xe0" + bytes(40), "image", "image/jpeg"),
        (b"GIF89a" + bytes(40), "image", "image/gif"),
        (PDF, "document", "application/pdf"),
        (WAV, "audio", "audio/wav"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.png", "a.pdf", "a"])
async def test_the_bytes_decide_what_a_file_is(data, block, media_type, name):
    attached = Attachment(
        "a0", "file", "data:text/html;base64," + base64.b64encode(data).decode(), {"name": name}
    )
    result = await read([attached], "a0")
    [shown] = result.result.content
    assert (shown.kind, shown.media_type, shown.data, shown.name) == (block, media_type, data, name)
    assert result.result.structured == {"ref": "a0", "mediaType": media_type, "bytes": len(data)}


async def test_an_image_reaches_the_provider_as_a_content_block():
    registry = registry_of(read_attachment_tool())
    attached = Attachment.from_bytes("a0", "image", PNG)
    results = await registry.execute_parallel(
        [{"id": "1", "name": "read_attachment", "args": {"ref": "a0"}}],
        turn_attachments=[attached],
    )
    wire = str(results.to_messages("anthropic"))
    assert "'type': 'image'" in wire
    assert base64.b64encode(PNG).decode() in wire
    assert provider("anthropic") is not None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("h\u00e9".encode(), "h\u00e9"),
        (b"\xef\xbb\xbfh", "h"),
        ("h\u00e9".encode("utf-16"), "h\u00e9"),
        ("h\u00e9".encode("utf-32"), "h\u00e9"),
        (b"<html><b>x</b></html>", "<html><b>x</b></html>"),
        (b'{"a": 1}', '{"a": 1}'),
        (b"#!/bin/sh\n", "#!/bin/sh\n"),
    ],
)
async def test_text_is_returned_as_it_is(data, text):
    result = await read([Attachment.from_bytes("a0", "image", data)], "a0")
    assert (result.ok, result.text) == (True, text)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"PK\x03\x04" + bytes(30), "application/zip"),
        (b"\0\1\2", "application/octet-stream"),
        (b"\x7fELF\x02\x01\x01" + bytes(60), "application/x-executable"),
        (b"BM" + bytes(60), "image/bmp"),
    ],
)
async def test_what_a_model_cannot_read_is_refused_with_the_way_out(data, media_type):
    result = await read([Attachment.from_bytes("a0", "image", data, name="a.png")], "a0")
    assert result.result.code == "not_available"
    assert result.text.startswith(f"attachment `a0` is {media_type}")
    assert "ask for it as text, PDF, PNG or JPEG" in result.text


async def test_the_list_shows_names_and_no_paths_or_data(folder):
    attachments = [
        at(folder / "in" / "notes.txt"),
        Attachment.from_bytes("a1", "image", PNG, name="../../x/photo.png"),
        Attachment.from_bytes("a2", "image", PNG),
    ]
    result = await read(attachments)
    assert result.text == "a0: file, `notes.txt`\na1: image, `photo.png`\na2: image"
    assert (await read([])).text == "No files came with this message."


async def test_only_declared_kinds_are_listed_and_read(folder):
    tool = read_attachment_tool(kinds=["image"])
    attachments = [at(folder / "in" / "notes.txt"), Attachment.from_bytes("a1", "image", PNG)]
    assert (await read(attachments, tool=tool)).text == "a1: image"
    refused = await read(attachments, "a0", tool)
    assert refused.text == "`ref`: no attachment `a0`; there are: `a1`"
    assert refused.result.code == "input_invalid"


@pytest.mark.parametrize(
    "ref", ["../secret.txt", "a0/../secret.txt", "A0", " a0", "", "*", 7, ["a0"]]
)
async def test_only_an_exact_reference_opens_a_file(folder, ref):
    result = await read([at(folder / "in" / "notes.txt")], ref)
    assert "the notes" not in result.text
    assert result.result.code == "input_invalid"


@pytest.mark.parametrize(
    "url",
    [
        "file://{folder}/in",
        "file://{folder}/in/",
        "file://{folder}/in/missing.txt",
        "file://{folder}/in/notes.txt/../secret.txt/",
        "file://elsewhere{folder}/in/notes.txt",
        "file:in/notes.txt",
        "in/notes.txt",
        "ftp://files.test/x",
        "http://[::1",
        "data:,",
        "data:text/plain;base64,@@@",
        "data:nothing",
    ],
)
async def test_what_is_not_a_file_is_refused_with_the_way_out(folder, url):
    result = await read([Attachment("a0", "file", url.format(folder=folder))], "a0")
    if url == "data:,":
        assert (result.ok, result.text) == (True, "")
        return
    assert result.result.code == "execution_failed"
    assert "ask the user to attach it again" in result.text
    assert "not attached" not in result.text


async def test_nothing_next_to_an_attached_file_can_be_opened(folder):
    files = TurnAttachments({"kinds": "*"}, [at(folder / "in" / "notes.txt")])
    assert await files.open_by_ref("a0") == b"the notes"
    for ref in ("secret.txt", f"file://{folder}/in/secret.txt", str(folder / "in" / "secret.txt")):
        with pytest.raises(AttachmentNotFoundError):
            await files.open(ref)
    with pytest.raises(AttachmentNotFoundError, match="another URL"):
        await files.open(at(folder / "in" / "secret.txt"))
    with pytest.raises(AttachmentNotFoundError):
        files.open_sync(at(folder / "other.txt", "a9"))


async def test_a_file_that_became_a_link_is_not_followed(folder):
    path = folder / "in" / "notes.txt"
    files = TurnAttachments({"kinds": "*"}, [at(path)])
    path.unlink()
    path.symlink_to(folder / "other.txt")
    with pytest.raises(OSError, match=r"notes\.txt"):
        await files.open("a0")


async def test_a_length_limit_holds_for_every_kind_of_url(folder):
    with serving(lambda target, head: response(body=b"123456")) as server:
        attachments = [
            at(folder / "in" / "notes.txt", "file"),
            Attachment.from_bytes("bytes", "file", b"123456"),
            Attachment("web", "file", f"http://files.test:{server.port}/x"),
        ]

        from ethos_registry.capabilities import ConnectionPools
        from ethos_registry.capabilities._address_guard import HostRules
        from ethos_registry.capabilities._fetch import ReachFetch

        pools = ConnectionPools(resolve=lambda host, port: ["127.0.0.1"])
        files = TurnAttachments(
            {"kinds": "*"},
            attachments,
            lambda host: ReachFetch(HostRules((host,), allow_private_urls=True), pools),
        )
        for item in attachments:
            with pytest.raises(OSError, match="more than 5 bytes"):
                await files.open(item, limit_bytes=5)
            with pytest.raises(OSError, match="more than 5 bytes"):
                files.open_sync(item, limit_bytes=5)
        await pools.aclose()


@pytest.mark.parametrize(
    "policy",
    [
        None,
        NetworkPolicy(allow=[], allow_private_urls=True),
        NetworkPolicy(allow=["other.test"], allow_private_urls=True),
        NetworkPolicy(deny=["files.test"], allow_private_urls=True),
    ],
)
async def test_a_web_attachment_obeys_the_network_policy(policy):
    with serving(lambda target, head: response(body=b"x")) as server:
        attached = Attachment("a0", "file", f"http://files.test:{server.port}/x")
        result = await read([attached], "a0", policy=policy)
        assert server.connections == 0
    assert result.text.startswith("HOST_NOT_ALLOWED: ")
    assert result.text.endswith("ask the user to attach the file itself")


async def test_a_web_attachment_leads_to_no_other_host_and_no_error_page():
    with serving(lambda target, head: response(body=b"other")) as other:
        place = f"http://other.test:{other.port}/"

        def answer(target, head):
            return response(302, Location=place) if target == "/r" else response(404, b"gone")

        with serving(answer) as server:
            base = f"http://files.test:{server.port}"
            moved = await read([Attachment("a0", "file", f"{base}/r")], "a0")
            missing = await read([Attachment("a0", "file", f"{base}/m")], "a0")
        assert other.connections == 0
    assert "HOST_NOT_ALLOWED: 'other.test'" in moved.text
    assert "answered with status 404; ask the user to attach it again" in missing.text


async def test_results_are_untrusted_and_no_reducer_changes_them():
    result = await read([Attachment.from_bytes("a0", "file", b"x\n" * 500)], "a0")
    assert result.untrusted
    assert result.text == "x\n" * 500
    assert default_reducers().get("read_attachment") is None


def test_the_plain_face_reads_too(folder):
    files = TurnAttachments({"kinds": "*"}, [at(folder / "in" / "notes.txt")])
    assert files.open_sync("a0") == b"the notes"
