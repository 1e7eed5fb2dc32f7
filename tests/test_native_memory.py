"""Native code keeps nothing: calls of each function of `_core` leave memory where it was."""

import contextlib
import ctypes
import gc
import os
import sys
from types import SimpleNamespace

import pytest

from ethos_registry import _core
from long_counts import counts

C_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None
CALLS = 10_000
USUAL_CALLS = 500
ATTEMPTS = 4
"""What the interpreter and the allocators keep, they keep once: a leak grows in every attempt."""
MOST_BLOCKS_PER_CALL = 0.25
MOST_BYTES = 1 << 20
"""105 bytes a call at the long count."""

WINDOWS = 2
"""Texts are read in windows of 4,096 characters; these have two."""
WORDS = {
    "ascii": "line of ordinary words\n",
    "cyrillic": "строка из простых слов\n",
    "emoji": "words \U0001f41f, née\n",
    "surrogate": "a lone \ud800 surrogate\n",
}
FORMAT = 'name = "native-memory"\ncommands = ["native-memory"]\nnoise = ["^noise"]\n'
LISTING = "".join(f"./src/part_{number}/née.py\n" for number in range(60))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
VALUE = {"key": ["née", 1, 2.5, None, True, {"deep": "\U0001f41f"}]}


def text(kind="ascii"):
    """A new string of several windows."""
    words = WORDS[kind]
    return words * (WINDOWS * 4096 // len(words))


def refused(call, *args, **keywords):
    """Whatever an error holds is released too."""
    with contextlib.suppress(ValueError, TypeError, OSError, OverflowError, UnicodeError):
        call(*args, **keywords)
        pytest.fail("accepted")


def shown_again(shown):
    texts = _core.ShownTexts()
    texts.record("ls", shown)
    return texts.fold(shown + "more\n", "show")


@pytest.fixture(autouse=True)
def few_objects():
    """What is there before is not searched by each of a thousand collections."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def outputs(monkeypatch, tmp_path):
    monkeypatch.setenv("ETHOS_REGISTRY_OUTPUTS", str(tmp_path / "outputs"))


def calls_of_functions(folder):
    terminal = _core.NativeReducer("terminal")

    def scoped():
        descriptor = _core.prepare_socket_scope()
        if descriptor is not None:
            os.close(descriptor)

    def confined():
        descriptor, _ = _core.prepare_confinement([str(folder)], [], False)
        os.close(descriptor)

    calls = {
        "built_in_formats": _core.built_in_formats,
        "check_format": lambda: _core.check_format(FORMAT),
        "check_format, refused": lambda: refused(_core.check_format, "name = 5"),
        "closed_address": lambda: _core.closed_address("127.0.0.1"),
        "closed_address, refused": lambda: refused(_core.closed_address, "nowhere"),
        "confinement_problem": lambda: _core.confinement_problem(),
        "finish, reduced": lambda: _core.finish(LISTING, 900, terminal, {"command": "ls"}),
        "finish, fenced": lambda: _core.finish(text("emoji"), 900, fence=("tool", "source")),
        "finish, refused": lambda: refused(_core.finish, text(), -1),
        "format_of": lambda: _core.format_of(LISTING, "make"),
        "is_pattern": lambda: _core.is_pattern("(?=a)b"),
        "real_paths": lambda: _core.real_paths([str(folder), str(folder / "none")]),
        "is_tool_name": lambda: _core.is_tool_name("read_file"),
        "join_json": lambda: _core.join_json([b"1", b"2" * 99]),
        "json_bytes": lambda: _core.json_bytes(VALUE),
        "json_bytes, refused": lambda: refused(_core.json_bytes, [object()]),
        "json_fault": lambda: _core.json_fault('{"a": 1, "a": 2}'),
        "json_size": lambda: _core.json_size(VALUE, 1_000),
        "hook_answer": lambda: _core.hook_answer("claude", b'{"tool_name": "Bash"}', "x"),
        "hook_answer, refused": lambda: refused(_core.hook_answer, "claud", b"{}", "x"),
        "OutputArchive": lambda: _core.OutputArchive().all(),
        "ShownTexts": lambda: shown_again(LISTING),
        "is_data": lambda: _core.is_data(LISTING),
        "namespace_filter_instructions": _core.namespace_filter_instructions,
        "prepare_socket_scope": scoped,
        "prepare_confinement, refused": lambda: refused(_core.prepare_confinement, [5], [], True),
        "reduce_many": lambda: _core.reduce_many(terminal, [LISTING], ["ls"], [0]),
        "reduce_many, refused": lambda: refused(_core.reduce_many, terminal, [LISTING], []),
        "register_format": lambda: _core.register_format(FORMAT, True),
        "register_format, refused": lambda: refused(_core.register_format, "name =", True),
        "registered_formats": _core.registered_formats,
        "isolated_arguments": lambda: _core.isolated_arguments({**VALUE, "more": [VALUE, VALUE]}),
        "same_json": lambda: _core.same_json(VALUE, {**VALUE}),
        "sniff_media_type": lambda: _core.sniff_media_type(b"\x89PNG\r\n\x1a\n" + bytes(40)),
        "split_mcp_name": lambda: _core.split_mcp_name("mcp__server__tool"),
        "split_mcp_name, refused": lambda: refused(_core.split_mcp_name, "mcp__server"),
        "unregister_format": lambda: _core.unregister_format("native-memory"),
        "usage_bucket": lambda: _core.usage_bucket(1.5),
        "wrap": lambda: _core.wrap(text() + "</untrusted>", "tool", "source"),
    }
    if _core.confinement_problem() is None:
        calls["prepare_confinement"] = confined
    for kind in WORDS:
        escaped = "\x1b[1m" + WORDS[kind]
        calls |= {
            f"as_displayed, {kind}": lambda escaped=escaped: _core.as_displayed(escaped * 40),
            f"without_escapes, {kind}": lambda escaped=escaped: _core.without_escapes(escaped * 40),
            f"finish, {kind}": lambda kind=kind: _core.finish(text(kind), 900),
            f"trim, {kind}": lambda kind=kind: _core.trim(text(kind), 900),
            f"redact, {kind}": lambda kind=kind: _core.redact(text(kind) + "ghp_" + "a1B2" * 9),
            f"replace_surrogates, {kind}": lambda kind=kind: _core.replace_surrogates(text(kind)),
            f"sanitize, {kind}": lambda kind=kind: _core.sanitize(text(kind) + "<|im_start|>"),
        }
    return calls


def calls_of_classes(folder):
    (folder / "file").write_text("content")
    places = [str(folder)]
    files = _core.ScopedFiles(places, places, str(folder))
    protected = _core.ProtectedFiles(closed=[str(folder / ".netrc")], closed_names=[".ssh"])
    target = files.target("file")
    table = _core.ToolTable()
    for name in ("first", "second", "mcp__server__tool"):
        table.insert(name, toolset="group")
    table.set_hidden("second", True)
    gate = _core.Gate(allowed_tools=["first", "absent"])
    entry = SimpleNamespace(name="first", owner="owner", is_available=bool, why_refused=str)
    sealed = _core.SealedTable(table, ((entry,) * 3,))
    grep = _core.Grep("o+", "i")
    stream = _core.JsonStream()
    stream.push('{"a": [1, "b')
    secrets = _core.KnownSecrets(["a-secret-value"])
    archive = _core.OutputArchive()
    saved = archive.save("ls", 0, 1.0, LISTING.encode())
    shown = _core.ShownTexts()
    shown.record("read", LISTING)
    reducer = _core.NativeReducer("head_tail")
    validator = _core.SchemaValidator(SCHEMA)
    index = _core.ToolSearchIndex([b'{"name": "read_file", "description": "Read a file."}'])
    counts = _core.UsageCounts()
    counts.add("agent", "owner", "first", "ok", 1.0)
    answer = SimpleNamespace(
        result=SimpleNamespace(ok=False, reason="timeout", cost_usd=0.5),
        name="first",
        duration_seconds=0.1,
        raw_chars=3,
        reduced_chars=2,
        sent_chars=1,
        repairs=(),
    )
    rows = [(answer, entry, 1.0), (answer, None, None)]

    def locked():
        assert target.lock()
        target.unlock()

    def inserted_and_removed():
        table.insert("new", plugin_id="plugin")
        table.remove("new")

    def shown_again():
        table.set_hidden("first", True)
        table.set_hidden("first", False)

    return {
        "Gate": lambda: _core.Gate(
            allowed_tools=["a"], allowed_mcp_tools={"b": ["c"]}, granted_tools=["d"]
        ),
        "Gate, refused": lambda: refused(_core.Gate, allowed_tools=[5]),
        "Gate.unmatched": lambda: gate.unmatched(table),
        "Grep": lambda: _core.Grep("(a|b)+", "i"),
        "Grep, refused": lambda: refused(_core.Grep, "("),
        "Grep.again": grep.again,
        "Grep.feed": lambda: grep.again().feed(LISTING),
        "Grep.matches": lambda: grep.matches,
        "Grep.shown": lambda: grep.shown,
        "Grep.text": lambda: grep.text,
        "JsonStream": _core.JsonStream,
        "JsonStream.is_blank": stream.is_blank,
        "JsonStream.is_invalid": stream.is_invalid,
        "JsonStream.is_object": stream.is_object,
        "JsonStream.is_other_value": stream.is_other_value,
        "JsonStream.length": lambda: stream.length,
        "JsonStream.partial": stream.partial,
        "JsonStream.push": lambda: _core.JsonStream().push('{"née": "\U0001f41f'),
        "JsonStream.text": stream.text,
        "KnownSecrets": lambda: _core.KnownSecrets(["a-secret-value", "née-secret"]),
        "KnownSecrets.__repr__": lambda: repr(secrets),
        "KnownSecrets.longest_bytes": lambda: secrets.longest_bytes,
        "KnownSecrets.redact": lambda: secrets.redact(text("emoji") + "a-secret-value"),
        "KnownSecrets.redact_start": lambda: secrets.redact_start(text("emoji") + "a-sec"),
        "NativeReducer": lambda: _core.NativeReducer("kanban_list"),
        "NativeReducer, refused": lambda: refused(_core.NativeReducer, "unknown"),
        "NativeReducer.__eq__": lambda: reducer == _core.NativeReducer("generic"),
        "NativeReducer.__hash__": lambda: hash(reducer),
        "NativeReducer.__ne__": lambda: reducer != _core.NativeReducer("generic"),
        "NativeReducer.__repr__": lambda: repr(reducer),
        "NativeReducer.kind": lambda: reducer.kind,
        "NativeReducer.reduce": lambda: reducer.reduce(text("cyrillic"), {"limit": 5}, True),
        "NativeReducer.whole_chars": lambda: reducer.whole_chars,
        "OutputArchive": _core.OutputArchive,
        "OutputArchive.all": archive.all,
        "OutputArchive.folder": lambda: archive.folder,
        "OutputArchive.measured": archive.measured,
        "OutputArchive.note_recall": lambda: archive.note_recall(saved, 5),
        "OutputArchive.read": lambda: archive.read(saved),
        "OutputArchive.read, unknown": lambda: archive.read("00000000"),
        "OutputArchive.save": lambda: archive.save("echo", 0, 1.0, b"leaf"),
        "SchemaValidator": lambda: _core.SchemaValidator(SCHEMA),
        "SchemaValidator, refused": lambda: refused(_core.SchemaValidator, {"type": 5}),
        "SchemaValidator.is_valid": lambda: validator.is_valid({"n": 5}),
        "SchemaValidator.validate": lambda: validator.validate({"n": "née"}),
        "SchemaValidator.validate, not JSON": lambda: validator.validate({"n": object()}),
        "ProtectedFiles": lambda: _core.ProtectedFiles(closed=places, closed_names=[".ssh"]),
        "ScopedFiles": lambda: _core.ScopedFiles(places, [], str(folder), protected),
        "ScopedFiles.entries": lambda: files.entries("."),
        "ScopedFiles.list": lambda: files.list("."),
        "ScopedFiles.look": lambda: files.look("file"),
        "ScopedFiles.make_folder": lambda: files.make_folder("folder/deep"),
        "ScopedFiles.open": lambda: os.close(files.open("file")[0]),
        "ScopedFiles.read": lambda: files.read("file", 99),
        "ScopedFiles.read, refused": lambda: refused(files.read, "/etc/hosts", 99),
        "ScopedFiles.target": lambda: files.target("folder/new", make_folders=True),
        "ScopedFiles.write": lambda: files.write("written", b"content"),
        "ScopedTarget": lambda: files.target("file"),
        "ScopedTarget.lock": locked,
        "ScopedTarget.may_write": target.may_write,
        "ScopedTarget.path": lambda: target.path,
        "ScopedTarget.read": lambda: target.read(99),
        "ScopedTarget.read, refused": lambda: refused(target.read, 1),
        "ScopedTarget.replace": lambda: target.replace(b"content"),
        "ScopedTarget.status": target.status,
        "ScopedTarget.unlock": locked,
        "SealedTable": lambda: _core.SealedTable(table, ((),)),
        "SealedTable._sealed": sealed._sealed,
        "SealedTable._selected": lambda: sealed._selected(_core.Gate(exclude_tools=["second"])),
        "ShownTexts": _core.ShownTexts,
        "ShownTexts.fold": lambda: shown.fold(LISTING, "show 1"),
        "ShownTexts.forget": _core.ShownTexts().forget,
        "ShownTexts.record": lambda: _core.ShownTexts().record("read", LISTING),
        "ToolSearchIndex": lambda: _core.ToolSearchIndex([b'{"name": "find"}']),
        "ToolSearchIndex.__len__": lambda: len(index),
        "ToolSearchIndex.find": lambda: index.find("read a file", 5),
        "ToolTable": _core.ToolTable,
        "ToolTable.__len__": lambda: len(table),
        "ToolTable.admit": lambda: table.admit(gate, ["first", "unknown", 5]),
        "ToolTable.branch": lambda: table.branch().insert("branched"),
        "ToolTable.find": lambda: table.find("first"),
        "ToolTable.group": lambda: table.group("group"),
        "ToolTable.hidden_slots": table.hidden_slots,
        "ToolTable.insert": inserted_and_removed,
        "ToolTable.insert, refused": lambda: refused(table.insert, "not a name"),
        "ToolTable.is_hidden": lambda: table.is_hidden("second"),
        "ToolTable.remove": inserted_and_removed,
        "ToolTable.replace": lambda: table.replace("first", toolset="group"),
        "ToolTable.select": lambda: table.select(gate),
        "ToolTable.set_hidden": shown_again,
        "ToolTable.slots": table.slots,
        "ToolTable.snapshot": lambda: table.snapshot().insert("own"),
        "UsageCounts": lambda: _core.UsageCounts(max_cells=9),
        "UsageCounts.add": lambda: counts.add("agent", "owner", "first", "ok", 1.0, 0.5),
        "UsageCounts.add_batch": lambda: counts.add_batch("agent", rows, 0.0, 1.0, "ok"),
        "UsageCounts.call_count": lambda: counts.call_count,
        "UsageCounts.lost_calls": lambda: counts.lost_calls,
        "UsageCounts.peek": counts.peek,
        "UsageCounts.take": counts.take,
    }


def public_names():
    """Every function of `_core`, and every class and method that is its own."""
    inherited = set(dir(object)) - {"__repr__", "__eq__", "__ne__", "__hash__"}
    for name, value in vars(_core).items():
        if isinstance(value, type):
            yield name
            members = {member for member in vars(value) if member not in inherited}
            # Comparisons of a class that defines one of them.
            members -= {
                "__doc__",
                "__module__",
                "__slotnames__",
                "__lt__",
                "__le__",
                "__gt__",
                "__ge__",
            }
            yield from (f"{name}.{member}" for member in members)
        elif callable(value):
            yield name


def resident_bytes():
    """What the process holds once the allocator has handed back what is free."""
    if hasattr(C_LIBRARY, "malloc_trim"):
        C_LIBRARY.malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def remaining(call, count=CALLS):
    """The blocks and bytes more after so many calls than after as many others."""
    for _ in range(count // 4):
        call()
    gc.collect()
    blocks, size = sys.getallocatedblocks(), resident_bytes()
    for _ in range(count):
        call()
    gc.collect()
    return sys.getallocatedblocks() - blocks, resident_bytes() - size


def leak(call, count):
    """The blocks and bytes that remain in every attempt; `None` once both stay level."""
    for _ in range(ATTEMPTS):
        blocks, size = remaining(call, count)
        if blocks <= count * MOST_BLOCKS_PER_CALL and size <= MOST_BYTES:
            return None
    return blocks, size


def test_every_function_is_called(tmp_path):
    called = calls_of_functions(tmp_path) | calls_of_classes(tmp_path)
    covered = {label.partition(",")[0] for label in called}
    if _core.confinement_problem() is not None:
        covered.add("prepare_confinement")
    assert sorted(set(public_names()) - covered) == []
    assert sorted(covered - set(public_names())) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("calls", [calls_of_functions, calls_of_classes])
@counts("count", USUAL_CALLS, CALLS)
def test_memory_stays_level(calls, count, tmp_path):
    assert {
        label: found for label, call in calls(tmp_path).items() if (found := leak(call, count))
    } == {}


def test_a_kept_object_and_kept_bytes_are_found():
    objects, rooms = [], []
    assert leak(lambda: objects.append(object()), USUAL_CALLS)[0] >= USUAL_CALLS
    assert leak(lambda: rooms.append(bytearray(1_000)), CALLS)[1] > MOST_BYTES
