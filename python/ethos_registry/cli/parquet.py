"""`ethos-registry reduce --parquet`: reduces a column of a Parquet file and keeps the others."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ethos_registry import ConfigError, ReductionPolicy, reduce_arrow, reduce_many
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.signals import signals_raise

__all__ = ["ParquetColumns", "ReducedBytes", "check_reduction", "reduce_parquet"]

_NUMBER = re.compile(r"\[errno (\d+)\]")
BATCH_ROWS = 1_024
"""The most rows that are reduced at a time."""
BATCH_BYTES = 16 * 1024 * 1024
"""Fewer rows are reduced at a time where they are longer: an output may have megabytes."""
GROUP_BYTES = 64 * 1024 * 1024
"""Reduced rows are written at this size, or at the number of rows of a group of the source."""


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """Names of columns: the one to reduce, and those of the command lines and exit codes."""

    output: str
    command: str | None = None
    exit_code: str | None = None


def reduce_parquet(
    source: str,
    target: str,
    columns: ParquetColumns,
    *,
    tool_name: str,
    budget_chars: int | None,
    policy: ReductionPolicy | None = None,
    label: str = "reducing",
) -> ReducedBytes:
    """Reduce a column of the file `source` into the file `target`; returns what it saved.

    `label` is shown before the bar of the progress.

    Row order, the other columns, the compression of each column and the schema's metadata stay.
    The target is written whole or not at all, and may be the source.

    Raises:
        CommandError: A file cannot be read or written or is not Parquet, a column does not exist,
            or pyarrow is not installed.
        StoppedError: A signal asked this process to end.

    """
    check_reduction(tool_name)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        _check_source(source)
        with signals_raise(), parquet.ParquetFile(source) as file:
            reduction = _Reduction(file, columns, tool_name, budget_chars, policy, label)
            with _whole_file(target) as place:
                reduction.write_to(place, target)
    except ConfigError as error:
        raise CommandError(f"{source}: {error}") from None
    except pa.ArrowException as error:
        raise CommandError(f"{source}: {' '.join(str(error).split())}") from None
    except OSError as error:
        raise CommandError(f"{error.filename or source}: {_reason(error)}") from None
    return reduction.saved


def check_reduction(tool_name: str) -> None:
    """Raise `CommandError` for what no file can be reduced with."""
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError:
        raise CommandError(
            "`--parquet` needs pyarrow: "
            "pip install '.[cli,parquet]' in a checkout, else pip install 'ethos-registry[parquet]'"
        ) from None
    try:
        reduce_many([], tool_name=tool_name)
    except ConfigError as error:
        raise CommandError(str(error)) from None


class ReducedBytes(NamedTuple):
    """What a reduction saved."""

    rows: int
    before: int
    after: int

    def plus(self, other: ReducedBytes) -> ReducedBytes:
        """Both together."""
        return ReducedBytes(
            self.rows + other.rows, self.before + other.before, self.after + other.after
        )

    def __str__(self) -> str:
        saved = 100 * (self.before - self.after) / self.before if self.before else 0
        return f"{self.rows:,} rows, {self.before:,} bytes to {self.after:,} ({saved:.1f} % saved)"


class _Reduction:
    """One file on its way through the reducer."""

    def __init__(
        self,
        file: Any,
        columns: ParquetColumns,
        tool_name: str,
        budget_chars: int | None,
        policy: ReductionPolicy | None,
        label: str,
    ) -> None:
        self._label = label
        self._file = file
        self._columns = columns
        self._tool_name = tool_name
        self._budget_chars = budget_chars
        self._policy = policy
        self._index = self._position(columns.output, "--column")
        if columns.command is not None:
            self._position(columns.command, "--command-column")
        if columns.exit_code is not None:
            self._position(columns.exit_code, "--exit-code-column")
        self._schema = self._reduced_schema()
        self._rows = 0
        self._bytes_before = 0
        self._bytes_after = 0

    @property
    def saved(self) -> ReducedBytes:
        return ReducedBytes(self._rows, self._bytes_before, self._bytes_after)

    def write_to(self, place: str, target: str) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        metadata = self._file.metadata
        groups = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
        group_rows = max(groups, default=1)
        pending: list[Any] = []
        with contextlib.ExitStack() as stack:
            with _errors_name(target):
                writer = parquet.ParquetWriter(place, self._schema, compression=self._compression())

            @stack.callback
            def close() -> None:
                with _errors_name(target):
                    writer.close()

            def write() -> None:
                with _errors_name(target):
                    writer.write_table(pa.Table.from_batches(pending, self._schema))
                pending.clear()

            for batch in self._batches(metadata.num_rows):
                pending.append(batch)
                rows = sum(each.num_rows for each in pending)
                if rows >= group_rows or sum(each.nbytes for each in pending) >= GROUP_BYTES:
                    write()
            if pending:
                write()

    def _batches(self, rows: int) -> Iterator[Any]:
        with _progress() as progress:
            task = progress.add_task(self._label, total=rows)
            for batch in self._file.iter_batches(batch_size=self._batch_rows()):
                yield self._reduced(batch)
                progress.advance(task, batch.num_rows)

    def _batch_rows(self) -> int:
        """How many rows are in memory at a time, by the average size of those of each group."""
        metadata = self._file.metadata
        groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
        row_bytes = max(
            (group.total_byte_size // group.num_rows for group in groups if group.num_rows),
            default=0,
        )
        return max(1, min(BATCH_ROWS, BATCH_BYTES // max(row_bytes, 1)))

    def _reduced(self, batch: Any) -> Any:
        import pyarrow as pa

        columns = self._columns
        outputs = batch.column(self._index)
        commands = None if columns.command is None else batch.column(columns.command)
        exit_codes = None if columns.exit_code is None else batch.column(columns.exit_code)
        try:
            texts = reduce_arrow(
                self._tool_name,
                outputs,
                commands=commands,
                exit_codes=exit_codes,
                budget_chars=self._budget_chars,
                policy=self._policy,
            )
        except ConfigError as error:
            raise ConfigError(self._of_columns(error)) from None
        reduced = pa.array(texts)
        self._rows += batch.num_rows
        self._bytes_before += _text_bytes(outputs)
        self._bytes_after += _text_bytes(reduced)
        arrays = list(batch.columns)
        kind = self._schema.field(self._index).type
        arrays[self._index] = outputs if pa.types.is_null(kind) else reduced.cast(kind)
        return pa.record_batch(arrays, schema=self._schema)

    def _of_columns(self, error: ConfigError) -> str:
        """The message of `reduce_arrow` with the names that the columns have in the file."""
        columns = self._columns
        names = {
            "outputs": columns.output,
            "commands": columns.command,
            "exit_codes": columns.exit_code,
        }
        message = str(error).removeprefix("reduce_arrow: ")
        for name, column in names.items():
            message = message.replace(f"`{name}`", f"column `{column}`")
        # Rows are counted from the first of the batch.
        return f"{message} (rows from {self._rows:,} on)" if self._rows else message

    def _reduced_schema(self) -> Any:
        """The schema of the file; a dictionary of strings becomes strings, as few are equal."""
        import pyarrow as pa

        schema = self._file.schema_arrow
        field = schema.field(self._index)
        if pa.types.is_dictionary(field.type):
            field = field.with_type(field.type.value_type)
        return schema.set(self._index, field)

    def _position(self, name: str, option: str) -> int:
        names: Sequence[str] = self._file.schema_arrow.names
        if not names:
            raise ConfigError("the file has no columns")
        if name not in names:
            known = ", ".join(f"`{each}`" for each in names)
            raise ConfigError(f"no column `{name}`; choose with `{option}` from {known}")
        if names.count(name) != 1:
            raise ConfigError(
                f"{names.count(name)} columns are named `{name}`; give each a unique name"
            )
        return names.index(name)

    def _compression(self) -> dict[str, str]:
        """The codec of each column, as the first group has it."""
        metadata = self._file.metadata
        if metadata.num_row_groups == 0:
            return {}
        group = metadata.row_group(0)
        columns = (group.column(index) for index in range(group.num_columns))
        return {
            column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
            for column in columns
        }


def _text_bytes(texts: Any) -> int:
    """The bytes of all strings of a column."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.sum(compute.binary_length(texts.cast(pa.large_string()))).as_py() or 0


def _check_source(source: str) -> None:
    """Raise `CommandError` or `OSError` if the source cannot be read."""
    if source == "-":
        raise _no_stream("IN")
    if os.path.exists(source) and not (os.path.isfile(source) or os.path.isdir(source)):
        raise CommandError(f"{source}: is not a regular file; a Parquet file is read from its end")
    with open(source, "rb"):
        pass


@contextlib.contextmanager
def _errors_name(target: str) -> Iterator[None]:
    """Errors in the block name the target: pyarrow names no file, or the temporary one."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{target}: cannot be written: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    """The system's own message, without what pyarrow puts around it."""
    text = error.strerror or str(error)
    number = _NUMBER.search(text)
    return os.strerror(int(number[1])) if number else " ".join(text.split())


def _no_stream(which: str) -> CommandError:
    return CommandError(f"{which} of `--parquet` is a file, not a stream; a file named - is ./-")


@contextlib.contextmanager
def _whole_file(target: str) -> Iterator[str]:
    """A file beside the target that replaces it when the block succeeds."""
    if target == "-":
        raise _no_stream("OUT")
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if os.path.exists(target) and not os.path.isfile(target):
        # Taking its place would remove a device for everybody.
        raise CommandError(f"{target}: is not a regular file; name one that can be replaced")
    real = os.path.realpath(target)
    if not os.path.isdir(os.path.dirname(real)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    place = f"{real}.{secrets.token_hex(4)}.part"
    try:
        yield place
        with contextlib.suppress(FileNotFoundError):
            # Who may read the file that is replaced may read the new one, and no one else.
            os.chmod(place, stat.S_IMODE(os.stat(real).st_mode))
        os.replace(place, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(place)
        raise


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on standard error; nothing unless that is a terminal that can move its cursor."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal,
    ) as progress:
        yield progress
