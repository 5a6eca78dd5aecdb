"""What a node's verdict costs on ARX's table, without and with each step of its evaluation.

The same nodes are decided every time: first by joining labels to the rows, one statement a node, as anybody would
begin; then with one step more at a time. Verdicts are compared as they come, so a step that changes one stops the run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes.opening import copy_role_columns, resolve_roles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.lattices.coding import KeyColumn
from sqlaudit.lattices.evaluate import Evaluator, open_evaluator
from sqlaudit.lattices.figures import NodeDisclosure
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.registry import parse_requirement

QI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")
SAMPLE = 300
Step = tuple[str, int, float, float]
T = TypeVar("T")


@dataclass(frozen=True)
class Opened:
    """ARX's table with what decides its nodes."""

    engine: Engine
    relation: Relation
    columns: Sequence[KeyColumn]
    evaluator: Evaluator

    def nodes(self) -> list[Node]:
        """The whole lattice."""
        return list(product(*(range(height + 1) for height in self.evaluator.heights)))


@contextmanager
def opened(folder: Path, require: Sequence[str], sensitive: tuple[str, ...] = ()) -> Iterator[Opened]:
    """The table, its dictionaries and its coded histogram."""
    with connect() as engine:
        relation = engine.open(Target(str(folder / "adult.csv")))
        given = Roles(tuple(name for name in QI if name not in sensitive), sensitive)
        roles = resolve_roles(given, relation, engine)
        hierarchies = read_hierarchies(str(folder)).for_columns(list(given.quasi_identifiers))
        relation, roles = copy_role_columns(engine, relation, roles)
        columns = [
            KeyColumn(column, dictionary(engine, engine, relation, column, hierarchy, f"dictionary_{place}"))
            for place, (column, hierarchy) in enumerate(zip(roles.quasi_identifiers, hierarchies, strict=True))
        ]
        asked = [parse_requirement(text) for text in require]
        yield Opened(engine, relation, columns, open_evaluator(engine, engine, relation, roles, columns, given, asked))


def steps(folder: Path, repeat: int) -> Iterator[Step]:
    """(step, nodes, milliseconds a node, CPU milliseconds a node)."""
    with opened(folder, ["k=5"]) as here:
        yield from _counting(here, repeat)
    with opened(folder, ["disclosure@3=0.8"], ("occupation",)) as here:
        yield from _disclosing(here, repeat)


def _counting(here: Opened, repeat: int) -> Iterator[Step]:
    every = here.nodes()
    some = random.Random(7).sample(every, SAMPLE)
    named = ", ".join(f"{column.column.sql} AS c{place}" for place, column in enumerate(here.columns))
    people = here.engine.materialize("people", Statement("rows", f"SELECT {named}, 1 AS n FROM {here.relation.sql}"))
    tuples = here.engine.materialize(
        "tuples", Statement("tuples", f"SELECT * EXCLUDE (n), COUNT(*) AS n FROM {people.sql} GROUP BY ALL")
    )
    decide = here.evaluator.decide
    ways: list[tuple[str, list[Node], Callable[[], list[int]]]] = [
        ("labels joined to the rows", some, lambda: _by_labels(here, some, people)),
        ("labels joined to the distinct tuples", some, lambda: _by_labels(here, some, tuples)),
        ("+ path codes: masks instead of labels", some, lambda: [decide([node])[0].failing_rows for node in some]),
        ("+ many nodes a statement", some, lambda: [verdict.failing_rows for verdict in decide(some)]),
        ("+ rolled up from node to node, all nodes", every, lambda: [one.failing_rows for one in decide(every)]),
    ]
    known: dict[Node, int] = {}
    for name, nodes, way in ways:
        seconds, cpu, failing = _fastest(way, repeat)
        for node, rows in zip(nodes, failing, strict=True):
            if known.setdefault(node, rows) != rows:
                raise AssertionError(name)
        yield name, len(nodes), 1000 * seconds / len(nodes), 1000 * cpu / len(nodes)


def _disclosing(here: Opened, repeat: int) -> Iterator[Step]:
    every = here.nodes()
    for name, bounds in (("disclosure@3, every signature read", False), ("+ bounds of single classes first", True)):
        with patch.object(NodeDisclosure, "_figures", NodeDisclosure._figures if bounds else _nothing):
            seconds, cpu, _ = _fastest(lambda: here.evaluator.decide(every), repeat)
        yield name, len(every), 1000 * seconds / len(every), 1000 * cpu / len(every)


def _nothing(*_: object) -> dict[int, int]:
    return {}


def _by_labels(here: Opened, nodes: Sequence[Node], relation: Relation) -> list[int]:
    return [int(here.engine.run(_labelled(here, node, relation))[0][0]) for node in nodes]


def _labelled(here: Opened, node: Node, relation: Relation) -> Statement:
    """The rows in classes below 5, by joining the labels of a node."""
    keys, joins = [], []
    for place, (column, level) in enumerate(zip(here.columns, node, strict=True)):
        name = f"people.c{place}"
        if level == 0:
            keys.append(name)
        elif level < column.height:
            keys.append(f"d{place}.l{level}")
            joins.append(f"JOIN {column.dictionary.relation.sql} AS d{place} ON {name} IS NOT DISTINCT FROM d{place}.v")
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    classes = f"SELECT SUM(n) AS size FROM {relation.sql} AS people {' '.join(joins)}{by}"
    return Statement("labels", f"SELECT COALESCE(SUM(size), 0) FROM ({classes}) AS classes WHERE size < 5")


def _fastest(way: Callable[[], T], repeat: int) -> tuple[float, float, T]:
    """Seconds, CPU seconds of all threads, and the result of the run that took the least CPU."""

    def once() -> tuple[float, float, T]:
        begun, worked = time.perf_counter(), time.process_time()
        found = way()
        return time.perf_counter() - begun, time.process_time() - worked, found

    return min((once() for _ in range(repeat)), key=lambda run: run[1])
