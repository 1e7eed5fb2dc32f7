"""What a developer sees of a failure that a model reads in one line."""

import asyncio
import copy
import json
import logging
import pickle
import subprocess
import sys

import pytest

from ethos_registry import InvocationFilter, Pending, Tool, ToolRegistry, err, ok
from ethos_registry.execution._full_text import FullText
from ethos_registry.execution._remote_batch import _Sent
from ethos_registry.execution._threads import STARTS_EAGERLY
from ethos_registry.types._extras import EXTRAS, has_extra, missing_extra
from ethos_registry.usage import read_usage

SCHEMA = {"type": "object"}
CALLS = [{"id": "1", "name": "t", "args": {}}]


def broken_tool(args, context):
    raise KeyError("Oslo")


async def broken_coroutine(args, context):
    raise KeyError("Oslo")


def registry(execute, **settings):
    return ToolRegistry([Tool("t", "A tool.", SCHEMA, execute)], **settings)


def levels(caplog):
    return [record.levelname for record in caplog.records]


@pytest.mark.parametrize("execute", [broken_tool, broken_coroutine])
def test_an_exception_is_logged_with_its_traceback_and_kept_on_the_result(execute, caplog):
    [result] = registry(execute).execute_parallel_sync(CALLS)
    assert type(result.exception) is KeyError
    assert result.exception.__traceback__.tb_frame.f_code.co_name == execute.__name__
    assert levels(caplog) == ["WARNING"]
    assert execute.__name__ in caplog.text
    assert "Traceback" in caplog.text


def test_a_decorated_function_and_a_filter_are_logged_equally(caplog):
    made = ToolRegistry()

    @made.tool
    def t() -> str:
        raise ValueError("decorated")

    [result] = made.execute_parallel_sync(CALLS)
    assert str(result.exception) == "decorated"

    def before(invocation):
        raise ValueError("in the filter")

    [result] = made.execute_parallel_sync(CALLS, filters=[InvocationFilter(before)])
    assert str(result.exception) == "in the filter"
    assert levels(caplog) == ["WARNING", "WARNING"]


def test_an_exception_never_leaves_the_process(tmp_path):
    place = tmp_path / "usage.sqlite3"
    from ethos_registry.recording import TurnRecorder
    from ethos_registry.usage import UsageLedger

    with UsageLedger(place) as ledger, TurnRecorder(tmp_path / "calls.sqlite3") as recorder:
        made = registry(broken_tool, observers=[ledger, recorder])
        [result] = made.execute_parallel_sync(CALLS)
    assert result.exception is not None
    assert "exception" not in json.dumps(result.to_wire())
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert copied == result
        assert copied.exception is None
    assert "exception" not in repr(result)
    for file in tmp_path.iterdir():
        assert b"broken_tool" not in file.read_bytes()
    assert read_usage(place).tools


def test_a_call_without_an_exception_has_none():
    for execute in (lambda args, context: ok("x"), lambda args, context: err("x")):
        [result] = registry(execute).execute_parallel_sync(CALLS)
        assert result.exception is None
    [result] = registry(broken_tool).execute_parallel_sync([{"id": "1", "name": "u"}])
    assert result.exception is None


@pytest.mark.skipif(STARTS_EAGERLY, reason="the frames of the caller belong to the traceback")
def test_results_with_exceptions_are_no_cycle():
    import gc
    import weakref

    class Mark(Exception):
        pass

    async def fails(args, context):
        raise Mark

    logging.disable(logging.CRITICAL)  # a handler of pytest keeps the records
    gc.collect()
    gc.disable()
    try:
        results = registry(fails).execute_parallel_sync(CALLS)
        gone = weakref.ref(results[0].exception)
        del results
        assert gone() is None
    finally:
        gc.enable()
        logging.disable(logging.NOTSET)


MISTAKES = {
    "a filter before": (lambda args, context: ok("x"), {"before": lambda call: True}),
    "a filter after": (lambda args, context: ok("x"), {"after": lambda call, result: True}),
    "pending": (lambda args, context: ok("x"), {"before": lambda call: Pending("may I?")}),
    "code": (lambda args, context: err("x", "nope"), None),
    "no result": (lambda args, context: 5, None),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_the_program_is_an_error_in_the_log(name, caplog):
    execute, item = MISTAKES[name]
    filters = [] if item is None else [InvocationFilter(**item)]
    made = registry(execute)
    for _ in range(2):
        made.execute_parallel_sync(CALLS, filters=filters)
    assert levels(caplog) == ["ERROR"]
    assert "t" in caplog.records[0].getMessage()


def test_a_secret_in_a_traceback_is_not_logged(caplog):
    def leaks(args, context):
        raise ValueError("ghp_" + "a1B2" * 9)

    registry(leaks).execute_parallel_sync(CALLS)
    assert "ghp_a1B2" not in caplog.text


def test_a_missing_extra_is_one_line():
    for extra in EXTRAS:
        message = str(missing_extra("x", extra))
        assert message == f"x needs an extra: pip install 'ethos-registry[{extra}]'"
        assert "\n" not in message
        assert isinstance(has_extra(extra), bool)


def test_every_extra_of_the_package_is_listed():
    from importlib.metadata import metadata

    listed = set(metadata("ethos-registry").get_all("Provides-Extra") or ())
    assert set(EXTRAS) == listed - {"all", "frameworks"}


PROGRAMS = {
    "mcp": "from ethos_registry import Personality, ToolRegistry\n"
    "from ethos_registry.mcp import McpGateway\n"
    "McpGateway(ToolRegistry(), Personality('p'))",
    "postgres": "from ethos_registry.usage import UsageLedger\nUsageLedger('postgresql://x/y')",
    "otel": "from ethos_registry.telemetry import OpenTelemetry\nOpenTelemetry()",
    "web": "from ethos_registry.tools import fetch_url_tool\nfetch_url_tool()",
}


@pytest.mark.parametrize("extra", PROGRAMS)
def test_a_program_without_the_extra_names_it(extra):
    module = EXTRAS[extra]
    program = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ({module!r}, "mcp_types"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
try:
{chr(10).join("    " + line for line in PROGRAMS[extra].splitlines())}
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"pip install 'ethos-registry[{extra}]'" in done.stdout, done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_doctor_lists_every_extra(capsys):
    pytest.importorskip("typer")
    from ethos_registry._cli.listing import doctor

    doctor()
    shown = capsys.readouterr().out
    for extra in EXTRAS:
        assert f"extra {extra}" in shown


def test_a_logging_handler_that_raises_changes_nothing(caplog):
    class Raises(logging.Handler):
        def emit(self, record):
            raise RuntimeError("handler")

    logger, handler = logging.getLogger("ethos_registry"), Raises()
    logger.addHandler(handler)
    try:
        [result] = asyncio.run(registry(broken_coroutine).execute_parallel(CALLS))
    finally:
        logger.removeHandler(handler)
    assert result.text == "KeyError: 'Oslo'"


def test_what_holds_arguments_or_output_does_not_show_them():
    """Tracebacks and the debug mode of asyncio show what a callback was given."""
    held = FullText(None, "hunter2", None, (), False, None), _Sent("hunter2", "hunter2")
    assert "hunter2" not in repr(held)
