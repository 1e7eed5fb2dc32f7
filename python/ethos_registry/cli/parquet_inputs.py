"""The files that `ethos-registry reduce --parquet IN... OUT` reads, and where each is written."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ethos_registry.cli.errors import CommandError

__all__ = ["ParquetJob", "is_many", "parquet_jobs"]

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
