"""Every limit a submission runs under, in one place."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Wall seconds are enforced from outside the child; bytes and counts by the kernel. How long a
    cell may run is c.EngineExecute.timeout, as with nbgrader."""

    notebook: float = 600.0  # wall seconds all cells together may run
    grace: float = 2.0  # between SIGINT and SIGKILL
    probe: float = 20.0  # wall seconds to answer the judge once
    start: float = 60.0  # wall seconds for the child to get ready
    output: int = 20 * MIB  # bytes of output and answers a notebook may send
    harvest: int = 32 * MIB  # bytes of files kept from the child's directory
    harvest_files: int = 200
    memory: int = 4096 * MIB  # RLIMIT_DATA of each process of the child
    total: int = 4096 * MIB  # memory of all its processes together
    file: int = 64 * MIB  # RLIMIT_FSIZE
    scratch: int = 64 * MIB  # size of the child's private tmpfs
    inodes: int = 20_000
    processes: int = 200
    files: int = 512  # open files
    cpu: int = 1200  # CPU seconds
    submitted_file: int = 32 * MIB  # one submitted file
    submitted: int = 64 * MIB  # all files of a submission
    submitted_count: int = 500

    def as_dict(self) -> dict[str, Any]:
        """A JSON-friendly copy."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Limits:
        """Undo `as_dict`; unknown keys are ignored."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})
