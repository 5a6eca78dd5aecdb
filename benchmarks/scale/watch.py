"""Processor time and memory of a process with all its children, from /proc (Linux)."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
INTERVAL = 0.05
"""Seconds between two looks at memory and spill files at first; later a hundredth of the time that has passed."""


@dataclass(frozen=True)
class Process:
    """One line of the process table: its parent, its and its reaped children's processor seconds."""

    parent: int
    seconds: float


def processes() -> dict[int, Process]:
    """All processes by their id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (process := _process(entry)) is not None:
            found[int(entry.name)] = process
    return found


def _process(entry: Path) -> Process | None:
    """None when the process has just ended."""
    try:
        text = (entry / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the command's name before it may hold spaces
    return Process(int(fields[1]), sum(map(int, fields[11:15])) / _TICK)


def tree(root: int, table: dict[int, Process]) -> set[int]:
    """A process and everything that it started, at any distance.

    Example:
        >>> table = {1: Process(0, 0), 2: Process(1, 0), 3: Process(2, 0), 4: Process(0, 0)}
        >>> sorted(tree(1, table))
        [1, 2, 3]
    """
    members = {root} & set(table)
    while True:
        grown = members | {number for number, process in table.items() if process.parent in members}
        if grown == members:
            return members
        members = grown


def seconds_of(*roots: int) -> float:
    """Processor seconds of some trees so far, those of ended and reaped children included; to 10 ms a process."""
    table = processes()
    members = set().union(*(tree(root, table) for root in roots))
    return sum(table[number].seconds for number in members)


def memory_of(*roots: int) -> int:
    """Resident bytes of some trees; pages that processes share (PostgreSQL's buffers) count once."""
    table = processes()
    private, shared = 0, 0
    for number in set().union(*(tree(root, table) for root in roots)):
        try:
            _, resident, common, *_ = map(int, Path(f"/proc/{number}/statm").read_text().split())
        except (FileNotFoundError, ProcessLookupError, ValueError):
            continue
        private += resident - common
        shared = max(shared, common)
    return (private + shared) * _PAGE


def bytes_in(folder: Path) -> int:
    """Bytes of the files in a folder right now."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


@dataclass(frozen=True)
class Peaks:
    """What a process printed, its peak memory and the most that lay in its spill folder, in bytes."""

    printed: str
    memory: int
    spilled: int


def watched(command: list[str], spill: Path, also: tuple[int, ...] = ()) -> Peaks:
    """Run a command to its end, looking at its tree (and those of `also`) all the time.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    memory, spilled, begun = 0, 0, time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            memory = max(memory, memory_of(process.pid, *also))
            spilled = max(spilled, bytes_in(spill))
            time.sleep(max(INTERVAL, (time.monotonic() - begun) / 100))
        printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Peaks(printed, memory, spilled)
