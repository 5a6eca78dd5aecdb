"""Fuzzing: whatever somebody writes gets an answer or one sentence, changes nothing, and shows no value.

    python -m benchmarks.fuzz [--examples 1000] [--seed 1] [--only sql,policy] [--postgres]

Prints for every attempt of `tests/security/attempts.py` how many examples ran and how long, and every failure with the
smallest example that shows it. The same seed and versions give the same examples. Exit code 1: something failed.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.postgres_load import Loader, prepare
from tests.postgres_server import new_server
from tests.security.attempts import Attempt, attempts
from tests.security.world import World, at_home, load_postgres


def run(attempt: Attempt, world: World, examples: int, number: int) -> tuple[int, list[str]]:
    """Try many examples; how many ran, and every failure as text."""
    ran: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
    )
    @given(attempt.given)
    def one(example: object) -> None:
        ran["examples"] += 1
        attempt.act(world, example)

    try:
        one()
    except BaseExceptionGroup as group:
        return ran["examples"], [_told(error) for error in group.exceptions]
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        return ran["examples"], [_told(error)]
    return ran["examples"], []


def _told(error: BaseException) -> str:
    notes = "\n  ".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error}"[:3000] + "\n  " + notes


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--postgres", action="store_true", help="try the SQL on a PostgreSQL server, too")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    chosen = [word for word in asked.only.split(",") if word]
    tried = [attempt for attempt in attempts() if not chosen or attempt.name in chosen]
    with tempfile.TemporaryDirectory(prefix="sqlaudit-fuzz-") as folder:
        home = Path(folder).resolve() / "home"
        home.mkdir()
        world = World(home).build()
        if not asked.postgres:
            return _run_all(tried, world, asked)
        with server(home) as (url, state):
            before = state()
            failed = _run_all(tried, replace(world, postgres=url), asked)
            print("PostgreSQL: the same as before" if state() == before else "PostgreSQL: CHANGED")
            return failed if state() == before else 1


@contextmanager
def server(home: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """A PostgreSQL server with the tables: a URL for the role of audits, and what tells the state of everything."""
    started = new_server()
    try:
        started.start()
        prepare(started)
        yield started.url() + "&options=-csearch_path%3Dfuzz", load_postgres(Loader(started), home, "fuzz")
    finally:
        started.delete()


def _run_all(tried: Sequence[Attempt], world: World, asked: argparse.Namespace) -> int:
    failed = 0
    with at_home(world.folder):
        for attempt in tried:
            begun, threads = time.monotonic(), threading.active_count()
            count, failures = run(attempt, world, asked.examples, asked.seed)
            seconds, left = time.monotonic() - begun, threading.active_count() - threads
            said = f"{count:,} examples, {seconds:.0f} s, {len(failures)} failures, {left} threads left"
            print(f"{attempt.name}: {said}", *failures, sep="\n  ", flush=True)
            failed += len(failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
