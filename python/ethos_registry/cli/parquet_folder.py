"""`ethos-registry reduce --parquet IN OUT` for a folder of Parquet files."""

from __future__ import annotations

import os

from ethos_registry import ReductionPolicy
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.parquet import ParquetColumns, ReducedBytes, reduce_parquet

__all__ = ["reduce_parquet_folder"]

_ENDING = ".parquet"


def reduce_parquet_folder(
    source: str,
    target: str,
    columns: ParquetColumns,
    *,
    tool_name: str,
    budget_chars: int | None,
    policy: ReductionPolicy | None = None,
) -> str:
    """Reduce every Parquet file below `source` into the same place below `target`.

    Each file is written whole or not at all; those before a failure stay. Returns a summary.

    Raises:
        CommandError: There is no Parquet file, `target` is a file, or one of the files cannot be
            reduced.

    """
    names = _parquet_names(source)
    if not names:
        raise CommandError(f"{source}: has no file whose name ends in {_ENDING}")
    if os.path.exists(target) and not os.path.isdir(target):
        raise CommandError(f"{target}: is a file; the output of a folder is a folder")
    total = ReducedBytes(0, 0, 0)
    for number, name in enumerate(names, 1):
        place = os.path.join(target, name)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
        except OSError as error:
            raise CommandError(f"{target}: cannot be created: {error.strerror}") from None
        label = f"reducing file {number} of {len(names)}"
        saved = reduce_parquet(
            os.path.join(source, name),
            place,
            columns,
            tool_name=tool_name,
            budget_chars=budget_chars,
            policy=policy,
            label=label,
        )
        total = total.plus(saved)
    return f"{len(names):,} files, {total}"


def _parquet_names(folder: str) -> list[str]:
    """The files below a folder, relative to it; hidden ones are left out."""
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names += [
            os.path.relpath(os.path.join(place, name), folder)
            for name in sorted(files)
            if name.endswith(_ENDING) and not name.startswith(".")
        ]
    return names
