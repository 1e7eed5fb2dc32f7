"""`ethos-registry reduce --parquet`: reduces a column of a Parquet file and keeps the others."""

from __future__ import annotations

import contextlib
import errno
import glob
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

from ethos_registry import ConfigError
from ethos_registry._cli.console import CommandError, EndedError, print_line, signals_raise
from ethos_registry.reduction import DefaultPolicy, ReductionPolicy, reduce_arrow, reduce_many

__all__ = [
    "ParquetColumns",
    "ParquetJob",
    "ReducedBytes",
    "check_reduction",
    "is_many",
    "parquet_jobs",
    "reduce_parquet",
    "reduce_parquet_files",
    "reduce_parquet_paths",
]


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
    policy: ReductionPolicy | DefaultPolicy | None = "default",
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
        policy: ReductionPolicy | DefaultPolicy | None,
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


# The files that `ethos-registry reduce --parquet IN...

_ENDING = ".parquet"


class ParquetJob(NamedTuple):
    """One file, and where its reduced copy belongs."""

    source: str
    target: str

    @property
    def is_done(self) -> bool:
        """Whether the copy exists and is not older than the file."""
        try:
            return os.stat(self.target).st_mtime_ns >= os.stat(self.source).st_mtime_ns
        except OSError:
            return False


def is_many(sources: Sequence[str]) -> bool:
    """Whether the output is a folder: several names, a folder, or a pattern."""
    return len(sources) > 1 or os.path.isdir(sources[0]) or _is_pattern(sources[0])


def parquet_jobs(sources: Sequence[str], target: str) -> list[ParquetJob]:
    """Every file that the names mean, once, with its place below the folder `target`.

    A file keeps its name, a file below a folder its path below that folder, and a file that a
    pattern matches its path below the part of the pattern without wildcards.

    Raises:
        CommandError: A name means no file, `target` is a file, two files would be written to
            one place, or a file would be overwritten that is read.

    """
    if os.path.exists(target) and not os.path.isdir(target):
        raise CommandError(f"{target}: is a file; the output of several files is a folder")
    jobs: dict[str, ParquetJob] = {}
    inputs: dict[str, str] = {}
    for source in sources:
        for path, name in _files(source, os.path.realpath(target)):
            if os.path.realpath(path) in inputs:
                continue
            inputs[os.path.realpath(path)] = path
            place = os.path.join(target, name)
            other = jobs.get(os.path.normcase(place))
            if other is not None:
                raise CommandError(
                    f"{other.source} and {path} would both be written to {place}; "
                    "reduce them into two folders"
                )
            jobs[os.path.normcase(place)] = ParquetJob(path, place)
    for job in jobs.values():
        read = inputs.get(os.path.realpath(job.target))
        if read is not None:
            raise CommandError(f"{job.target}: is read as {read}; choose another folder for OUT")
    return list(jobs.values())


def _files(source: str, target: str) -> Iterator[tuple[str, str]]:
    """The files of a name, each with its path below the output."""
    if os.path.isdir(source):
        found = [(os.path.join(source, name), name) for name in _below(source, target)]
        if not found:
            raise CommandError(f"{source}: has no file whose name ends in {_ENDING}")
        yield from found
    elif _is_pattern(source):
        yield from _matching(source, target)
    else:
        yield source, os.path.basename(source)


def _matching(pattern: str, target: str) -> Iterator[tuple[str, str]]:
    root = _fixed_part(pattern)
    is_below = target != os.path.realpath(root or os.curdir)
    found = False
    for path in sorted(glob.glob(pattern, recursive=True)):
        names = _below(path, target) if os.path.isdir(path) else None
        is_output = is_below and _is_inside(path, target)
        if is_output or (names is None and not path.endswith(_ENDING)):
            continue
        for each in [path] if names is None else [os.path.join(path, name) for name in names]:
            found = True
            yield each, os.path.relpath(each, root or os.curdir)
    if not found:
        raise CommandError(f"{pattern}: matches no file whose name ends in {_ENDING}")


def _is_pattern(source: str) -> bool:
    return glob.has_magic(source) and not os.path.lexists(source)


def _fixed_part(pattern: str) -> str:
    """The folders of a pattern before its first wildcard."""
    place = os.path.dirname(pattern)
    while glob.has_magic(place):
        place = os.path.dirname(place)
    return place


def _below(folder: str, target: str) -> list[str]:
    """The files below a folder, relative to it; hidden ones and earlier output are left out."""
    names: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not _is_inside(os.path.join(place, name), target)
        )
        names += [
            os.path.relpath(os.path.join(place, name), folder)
            for name in sorted(files)
            if name.endswith(_ENDING) and not name.startswith(".")
        ]
    return names


def _is_inside(path: str, folder: str) -> bool:
    real = os.path.realpath(path)
    return real == folder or real.startswith(folder + os.sep)


# `ethos-registry reduce --parquet IN...

SOME_FAILED = 1


def reduce_parquet_paths(
    paths: Sequence[str],
    columns: ParquetColumns,
    *,
    tool_name: str,
    budget_chars: int | None,
    policy: ReductionPolicy | DefaultPolicy | None,
    skips_existing: bool,
) -> str:
    """Reduce all names but the last into the last; returns a summary.

    One file is reduced into a file, everything else into a folder: see `reduce_parquet_files`.
    """
    *sources, target = paths
    if is_many(sources):
        return reduce_parquet_files(
            sources,
            target,
            columns,
            tool_name=tool_name,
            budget_chars=budget_chars,
            policy=policy,
            skips_existing=skips_existing,
        )
    [source] = sources
    if skips_existing and source != target and ParquetJob(source, target).is_done:
        return f"{target}: exists and is not older than {source}; skipped"
    saved = reduce_parquet(
        source, target, columns, tool_name=tool_name, budget_chars=budget_chars, policy=policy
    )
    return str(saved)


def reduce_parquet_files(
    sources: Sequence[str],
    target: str,
    columns: ParquetColumns,
    *,
    tool_name: str,
    budget_chars: int | None,
    policy: ReductionPolicy | DefaultPolicy | None = "default",
    skips_existing: bool = False,
) -> str:
    """Reduce every Parquet file of `sources` into the folder `target`; returns a summary.

    Each file is written whole or not at all. A file that cannot be reduced is reported on one line,
    and the others go on. With `skips_existing` a file whose output exists and is not older is left
    out, so that an interrupted run can be continued.

    Raises:
        CommandError: The files or the options are wrong; nothing was written.
        EndedError: Some files could not be reduced.

    """
    check_reduction(tool_name)
    jobs = parquet_jobs(sources, target)
    todo = [job for job in jobs if not (skips_existing and job.is_done)]
    total, failed = ReducedBytes(0, 0, 0), 0
    for number, job in enumerate(todo, 1):
        try:
            _make_folder(os.path.dirname(job.target))
            saved = reduce_parquet(
                job.source,
                job.target,
                columns,
                tool_name=tool_name,
                budget_chars=budget_chars,
                policy=policy,
                label=f"reducing file {number:,} of {len(todo):,}",
            )
        except CommandError as error:
            failed += 1
            print_line(f"error: {error}")
        else:
            total = total.plus(saved)
    skipped = len(jobs) - len(todo)
    done = len(todo) - failed
    counts = [f"{done:,} file{'' if done == 1 else 's'}"]
    counts += [f"{skipped:,} skipped"] if skipped else []
    counts += [f"{failed:,} failed"] if failed else []
    summary = f"{', '.join(counts)}, {total}"
    if failed:
        print_line(summary)
        raise EndedError(SOME_FAILED)
    return summary


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder or os.curdir, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: cannot be created: {error.strerror}") from None
