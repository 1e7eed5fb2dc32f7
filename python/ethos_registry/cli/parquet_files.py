"""`ethos-registry reduce --parquet IN... OUT` for folders, patterns and several files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ethos_registry import ReductionPolicy
from ethos_registry.cli.errors import CommandError, EndedError, print_line
from ethos_registry.cli.parquet import (
    ParquetColumns,
    ReducedBytes,
    check_reduction,
    reduce_parquet,
)
from ethos_registry.cli.parquet_inputs import ParquetJob, is_many, parquet_jobs

__all__ = ["reduce_parquet_files", "reduce_parquet_paths"]

SOME_FAILED = 1


def reduce_parquet_paths(
    paths: Sequence[str],
    columns: ParquetColumns,
    *,
    tool_name: str,
    budget_chars: int | None,
    policy: ReductionPolicy | None,
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
    policy: ReductionPolicy | None = None,
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
