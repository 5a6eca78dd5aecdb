"""Fuzzing, in short: a few examples of every attempt, the same in every run. `python -m benchmarks.fuzz` runs on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.postgres_load import Loader
from tests.security.attempts import Attempt, attempts
from tests.security.world import World, at_home, load_postgres
from tests.strategies import fewer

EXAMPLES = {
    "command line": 35,
    "stored result": 50,
    "cells": 4,
    "tables": 4,
    "readers": 60,
    "csv": 10,
    "sql": 12,
    "console": 12,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The tables and files, in the current folder."""
    home = Path(tmp_path_factory.mktemp("world")).resolve()
    logging.disable(logging.CRITICAL)
    try:
        with at_home(home):
            yield World(home).build()
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("attempt", attempts(), ids=lambda attempt: attempt.name)
def test_nothing_but_answers_and_sentences(attempt: Attempt, world: World) -> None:
    run(attempt, world, EXAMPLES.get(attempt.name, 15))
    world.check_unchanged()


@pytest.mark.postgres
def test_sql_of_users_on_postgres(world: World, load: Loader, postgres_url: str) -> None:
    state = load_postgres(load, world.folder, "fuzz")
    before = state()
    (attempt,) = (one for one in attempts() if one.name == "sql")
    there = replace(world, postgres=postgres_url + "&options=-csearch_path%3Dfuzz")
    run(attempt, there, 10)
    assert state() == before


def run(attempt: Attempt, world: World, examples: int) -> None:
    """Try so many examples.

    Raises:
        BaseException: what an example raises.
    """
    ran = []

    @settings(
        max_examples=fewer(examples),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(attempt.given)
    def one(example: object) -> None:
        ran.append(example)
        attempt.act(world, example)

    one()
    assert len(ran) >= 3
