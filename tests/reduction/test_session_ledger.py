"""What one model was shown: a reference loses nothing, and none is made in doubt."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import Tool, ToolContext, ToolRegistry, err, ok
from ethos_registry.reduction import SessionLedger

REFERENCE = re.compile(r"\[same (\d+) lines as (\w+) above; all of it: show_output (\w{8})\]")
PAGES = "".join(f"page {number} of the book\n" for number in range(200))


def results(
    *texts: str, name: str = "read", untrusted: bool = False, is_error: bool = False
) -> Any:
    queue = list(texts)

    def execute(args: object, context: ToolContext) -> Any:
        text = queue.pop(0)
        return err(text, "execution_failed") if is_error else ok(text)

    tool = Tool(name, "Read.", {"type": "object"}, execute, output_is_untrusted=untrusted)
    calls = [{"id": str(number), "name": name, "args": {}} for number in range(len(texts))]
    return ToolRegistry([tool]).execute_parallel_sync(calls)


def referred(ledger: SessionLedger, *texts: str, **options: Any) -> list[str]:
    return [result.text for result in ledger.refer(results(*texts, **options))]


NUMBERS = ("one", "two", "three", "four")
line = st.sampled_from([f"{word} of the report, in words" for word in NUMBERS])
lines = st.lists(line | st.just("error: the disk is full"), min_size=1, max_size=60)


@given(st.lists(lines.map(lambda some: "\n".join(some) + "\n"), min_size=1, max_size=5))
def test_each_line_is_in_the_result_or_was_shown_before(texts: list[str]) -> None:
    ledger, seen = SessionLedger(), set()
    for text in texts:
        [shown] = referred(ledger, text)
        restored = 0
        for each in shown.splitlines():
            found = REFERENCE.fullmatch(each)
            if found is None:
                assert each == text.splitlines()[restored]
                restored += 1
                continue
            assert ledger.show(found[3]) == text
            same = text.splitlines()[restored : restored + int(found[1])]
            assert "\n".join(same) in "\n".join(seen)
            assert not any("error" in line for line in same)
            restored += int(found[1])
        assert restored == len(text.splitlines())
        seen.add(shown)


@pytest.mark.parametrize(
    "failure",
    [
        "connect to oak.example: connection refused",
        "the request timed out",
        "oak.c:3: undefined reference to `leaf'",
        "Segmentation fault (core dumped)",
        "bash: leaf: command not found",
        "cat: leaf: No such file or directory",
        "rm: cannot remove 'leaf': Permission denied",
        "OutOfMemoryError in the last step",
        "Killed",
        "exit status 1",
        "Process exited with code 2",
        "test_leaf FAILED",
        "warning: unused variable `leaf`",
    ],
)
def test_a_line_that_may_state_a_failure_is_sent_again(failure: str) -> None:
    ledger = SessionLedger()
    text = f"{PAGES}{failure}\n{PAGES}"
    referred(ledger, text)
    [shown] = referred(ledger, text)
    assert failure in shown.splitlines()
    assert len(REFERENCE.findall(shown)) == 2


@pytest.mark.parametrize(
    "options", [{"untrusted": True}, {"is_error": True}], ids=["untrusted", "an error"]
)
def test_what_must_stay_is_sent_whole(options: dict[str, bool]) -> None:
    ledger = SessionLedger()
    first = results(PAGES, **options)
    again = results(PAGES, **options)
    assert ledger.refer(first)[0].text == first[0].text
    assert ledger.refer(again)[0].text == again[0].text


def test_untrusted_output_is_never_what_a_reference_points_to() -> None:
    ledger = SessionLedger()
    ledger.refer(results(PAGES, untrusted=True))
    assert referred(ledger, PAGES) == [PAGES]


def test_results_of_one_batch_do_not_refer_to_each_other() -> None:
    ledger = SessionLedger()
    assert referred(ledger, PAGES, PAGES) == [PAGES, PAGES]
    assert all(REFERENCE.search(text) for text in referred(ledger, PAGES, PAGES))


def test_two_ledgers_share_nothing() -> None:
    first, second = SessionLedger(), SessionLedger()
    referred(first, PAGES)
    assert referred(second, PAGES) == [PAGES]


def test_what_was_forgotten_is_sent_again() -> None:
    ledger = SessionLedger()
    referred(ledger, PAGES)
    ledger.forget()
    assert referred(ledger, PAGES) == [PAGES]


def test_a_model_reads_the_whole_output_and_is_then_shown_everything() -> None:
    ledger = SessionLedger()
    referred(ledger, PAGES)
    [shown] = referred(ledger, PAGES)
    found = REFERENCE.search(shown)
    assert found is not None
    registry = ToolRegistry([ledger.tool()])
    call = {"id": "1", "name": "show_output", "args": {"id": found[3]}}
    asked = registry.execute_parallel_sync([call])
    assert asked[0].text == PAGES
    assert ledger.refer(asked)[0].text == PAGES
    assert referred(ledger, PAGES) == [PAGES]
    unknown = {"id": "2", "name": "show_output", "args": {"id": "00000000"}}
    [refused] = registry.execute_parallel_sync([unknown])
    assert refused.result.code == "input_invalid"


def test_without_a_ledger_a_result_depends_on_its_call_alone() -> None:
    assert results(PAGES)[0].text == results(PAGES)[0].text == PAGES


def test_a_long_conversation_holds_the_last_outputs_only() -> None:
    ledger = SessionLedger()
    references = []
    for number in range(230):
        text = f"{PAGES}part {number}\n"
        references += REFERENCE.findall(referred(ledger, text)[0])
    shown = [ledger.show(output_id) is not None for _, _, output_id in references]
    assert shown == [False] * (len(references) - 200) + [True] * 200
