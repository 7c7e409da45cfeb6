"""Looks at a submitted folder before anything opens it: only plain files of a decent size pass."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbgrader.converters.autograde
import nbgrader.converters.base
from nbgrader import utils

from grader.engine import files
from grader.engine.limits import Limits
from grader.engine.printable import printable

KINDS = {stat.S_IFLNK: "a symlink", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket",
         stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}  # fmt: skip

LIMIT = 'c.EngineExecute.limits["submitted_file"]'


class Refused(ValueError):
    """A submission that is not opened at all; the message is the instructor's reason."""

    kind = "failed"


class Missing(Refused):
    """There is no notebook in it."""

    kind = "missing"


def kind_of(error: BaseException) -> str:
    """The kind of fault that `error` makes of a whole submission."""
    return error.kind if isinstance(error, Refused) else "failed"


def check_student(name: str) -> None:
    """Raises Refused for a name that no gradebook holds, or that nbgrader does not find again."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Refused("the name of the student's folder is not UTF-8: rename it") from None
    if "\n" in name:
        raise Refused("the name of the student's folder has two lines: rename it")


def check_names(folder: Path, submitted: list[str], known: list[str]) -> list[str]:
    """What to note about notebooks that are missing, most likely under another name, or that are
    one too many. Raises Refused where every one of those `known` is missing, Missing where there is
    no notebook at all."""
    names = {os.path.basename(path) for path in submitted}
    wanted = [f"{name}.ipynb" for name in known]
    missing = [name for name in wanted if not os.path.lexists(folder / name)]
    more = sorted(names - set(wanted))
    others = more or ([] if names else sorted(os.listdir(folder))[:5])
    there = f"; there is: {', '.join(others)}" if others else ""
    if not names:
        raise Missing(printable(f"no notebook was submitted{there}"))
    if wanted and missing == wanted:
        raise Refused(printable(f"no {' or '.join(wanted)}{there}"))
    if wanted and more and not missing:
        return [printable(f"not graded, as it is no notebook of the assignment: {', '.join(more)}")]
    return [printable(f"no {name}{there}") for name in missing]


def digest(folder: Path, refused: dict[str, str], asked: bytes) -> str:
    """Of what was handed in, and of what is `asked` in the chapter: graded anew is who has handed
    in something else, and who was asked something else. Files that are `refused` are not opened."""
    told = hashlib.sha256(asked)
    for name, _ in files.walk(folder):
        if name in refused:
            continue
        data = (folder / name).read_bytes()
        told.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return told.hexdigest()


def inspect(folder: Path, limits: Limits) -> dict[str, str]:
    """Relative path -> why it is refused. Raises Refused for the folder as a whole."""
    if folder.is_symlink() or folder.parent.is_symlink():
        raise Refused("the submission's folder is a symlink")
    refused: dict[str, str] = {}
    total = count = 0
    for name, info in files.walk(folder):
        kind = KINDS.get(stat.S_IFMT(info.st_mode))
        size = info.st_size
        if kind:
            refused[name] = f"{name} is {kind}"
        elif size > limits.submitted_file:
            refused[name] = (
                f"{name} has {size >> 20} MiB, {limits.submitted_file >> 20} allowed by {LIMIT}"
            )
        elif total + size > limits.submitted or count >= limits.submitted_count:
            refused[name] = f"{name} is one file too many, or the whole too large"
        else:
            total, count = total + size, count + 1
    if files.TIMESTAMP in refused:
        raise Refused(refused[files.TIMESTAMP])
    _check_timestamp(folder / files.TIMESTAMP)
    return refused


def _check_timestamp(path: Path) -> None:
    """nbgrader takes the time of submission from here, and stumbles over what is no date."""
    if path.is_file():
        text = path.read_text("utf-8", "replace").strip()
        try:
            utils.parse_utc(text or "2000-01-01")
        except (ValueError, OverflowError):
            raise Refused(f"timestamp.txt holds no date: {text[:60]!r}") from None


@contextmanager
def only_plain_files(limits: Limits) -> Iterator[None]:
    """While this holds, nbgrader copies no file that `inspect` refuses."""
    original = utils.find_all_files

    def find(path: str, exclude: list[str] | None = None) -> list[str]:
        refused = inspect(Path(path), limits) if os.path.isdir(path) else {}
        found: list[str] = original(path, exclude)
        return [name for name in found if files.relative(name, path) not in refused]

    nbgrader.converters.base.find_all_files = find
    try:
        yield
    finally:
        nbgrader.converters.base.find_all_files = original
