"""Personalities from YAML: what is read, and on which line a mistake is reported."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ethos_registry import ConfigError, Personality, load_personality
from ethos_registry.capabilities import FsReach, NetworkPolicy
from ethos_registry.config import load_personalities

TWO = """\
reader:
  toolset: [read_file, "toolset:search"]
  fs_reach: {read: [/srv], write: []}
writer:
  mcp_servers: [linear]
  exclude: [rm]
  network:
    allow: [example.org]
    allow_private_urls: false
"""


def test_a_mapping_of_ids_gives_personalities_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(TWO, encoding="utf-8")
    loaded = load_personalities(path)
    assert list(loaded) == ["reader", "writer"]
    assert loaded["reader"] == Personality(
        "reader",
        toolset=("read_file", "toolset:search"),
        fs_reach=FsReach(read=("/srv",), write=()),
    )
    assert loaded["writer"].network == NetworkPolicy(
        allow=("example.org",), allow_private_urls=False
    )
    assert load_personalities(str(path)) == loaded == load_personalities(TWO)


def test_a_file_with_an_id_is_one_personality() -> None:
    assert load_personality("id: solo\ntoolset: []\n") == Personality("solo", toolset=())
    assert list(load_personalities("{id: solo}")) == ["solo"]


def test_missing_lists_mean_none_and_a_missing_toolset_every_built_in_tool() -> None:
    one = load_personality("id: solo\nmcp_servers:\nplugins:\n")
    assert (one.toolset, one.mcp_servers, one.plugins) == (None, (), ())


def test_yaml_1_2_keeps_no_and_yes_as_strings() -> None:
    assert load_personality("id: no\ntoolset: [yes, on]\n") == Personality(
        "no", toolset=("yes", "on")
    )


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.yaml"
    path.write_bytes(b"\xef\xbb\xbfid: solo\n")
    assert load_personality(path).id == "solo"


def test_anchors_and_merge_keys_share_lists() -> None:
    text = "a: &base\n  toolset: &tools [x, y]\nb:\n  toolset: *tools\nc:\n  <<: *base\n"
    loaded = load_personalities(text)
    assert {one.toolset for one in loaded.values()} == {("x", "y")}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("- id: a\n- id: b\n", 1, "must map ids"),
        ("id: a\nid: b\n", 2, "duplicate key"),
        ("a: {}\nb:\n  toolset: [x]\n  toolset: [y]\n", 4, "duplicate key"),
        ("id: a\n---\nid: b\n", 2, "another document"),
        ("id: a\ntoolsets: [x]\n", 2, "'toolsets'"),
        ("a: {}\nb:\n  plugins: []\n  tools: [x]\n", 4, "'tools'"),
        ("id: a\n\ntoolset: read_file\n", 3, "`toolset` must be a list of strings"),
        ("id: a\nmcp_servers:\n- 1\n", 2, "`mcp_servers` must be a list of strings"),
        ("id: a\nfs_reach:\n  read: [/a]\n  writes: [/b]\n", 4, "'writes'"),
        ("id: a\nfs_reach:\n  write: 3\n", 3, "`fs_reach.write`"),
        ("id: a\nnetwork:\n  allow_private_urls: 'no'\n", 3, "allow_private_urls"),
        ("id: a\nnetwork: [x]\n", 2, "`network` must be"),
        ("id: 7\n", 1, "`id` must be a string"),
        ("plugins: [a]\ntoolset: [x]\n", 1, "needs an `id`"),
        ("a: {}\nb:\n", 2, "`b` must be a mapping"),
        ("a:\n  toolset: []\n  id: other\n", 3, "another `id`"),
        ("1: {}\n", 1, "must be a string"),
        ("id: a\ntoolset: [x\nplugins: []\n", 3, "expected"),
        ("id: a\nplugins: *nope\n", 2, "undefined alias"),
        ("id: a\nplugins: !!python/name:os.system x\n", 2, "tag"),
        ("id: a\nplugins: ['\x01']\n", 2, "invalid character"),
        ("id: a\nplugins: &p [*p]\n", 2, "inside the value"),
        (BOMB, 6, "aliases expanded"),
        ("id: " + "[" * 5_000, 1, "nested deeper"),
        ("id: " + "[" * 150 + "]" * 150, 1, "nested deeper"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_personalities(text)
    message = str(caught.value)
    assert message.startswith(f"<text>:{line}: "), message
    assert words in message
    assert "\n" not in message
    assert len(message) < 300
    assert caught.value.context["line"] == line


def test_a_file_is_named_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    with pytest.raises(ConfigError, match=r"policy\.yaml:1: cannot be read: No such file"):
        load_personalities(path)
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory"):
        load_personalities(tmp_path)
    path.write_bytes(b"id: a\nplugins: [\xff]\n")
    with pytest.raises(ConfigError, match=r"policy\.yaml:2: invalid UTF-8: byte 0xff"):
        load_personalities(path)
    path.write_bytes(b"# \n" * 400_000)
    with pytest.raises(ConfigError, match=r"larger than 1,048,576 bytes"):
        load_personalities(path)
    with pytest.raises(ConfigError, match=r"cannot be read"):
        load_personalities("a\0b")


def test_a_thing_that_is_no_path_is_refused() -> None:
    with pytest.raises(ConfigError, match="got bytes"):
        load_personalities(b"id: a")  # type: ignore[arg-type]


def test_load_personality_wants_exactly_one() -> None:
    with pytest.raises(ConfigError, match="got 2"):
        load_personality(TWO)


def test_reused_anchors_give_no_warning() -> None:
    assert load_personality("id: &x a\nplugins: [&x b, *x]\n").plugins == ("b", "b")


def test_importing_the_package_does_not_load_the_yaml_library() -> None:
    code = (
        "import sys, ethos_registry, ethos_registry.config._personalities\n"
        "assert not [name for name in sys.modules if name.startswith('ruamel')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "text", ["[" * 2_000, "{" * 2_000, "[{" * 1_000, "a: " + "[" * 2_000, "- " * 1_000, "? " * 900,
    "[" * 99_999], ids=range(7),
)  # fmt: skip
def test_a_document_that_is_nested_too_deeply_is_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ConfigError, match=":1: values are nested deeper than 128 levels"):
        load_personalities(text + "\n")
    assert time.process_time() - started < 1


def test_nesting_up_to_the_limit_is_read() -> None:
    text = "a:\n  toolset: [a]\n  network: {allow: [x]}\n"
    assert load_personalities(text)["a"].toolset == ("a",)
    with pytest.raises(ConfigError, match="`toolset`"):
        load_personalities("a:\n  toolset: " + "[" * 100 + "]" * 100 + "\n")
