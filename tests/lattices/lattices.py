"""Random small tables with hierarchies, and what decides their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles, Target
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.hierarchies.levels import Hierarchy, ValueTable, from_table, kept_hierarchy
from sqlaudit.lattices.coding import KeyColumn
from sqlaudit.lattices.evaluate import Evaluator, open_evaluator
from sqlaudit.models.registry import REGISTRY, requirement_from
from tests import oracle
from tests.audit_values import values_query
from tests.few import LEAST
from tests.lattices.oracle_nodes import Labels, Lattice
from tests.models import strategies as rare
from tests.strategies import limits_of

POOLS: dict[str, list[Any]] = {"int": [0, 1, 2, 3, 10**12], "text": ["x", "X", "y;'\"", "é", ""], "bool": [True, False]}
KEYS = {"a": "int", "b": "text", "c": "bool"}
TENTHS = [Fraction(0), Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)]


@dataclass(frozen=True)
class NodeCase:
    """A table, its hierarchies, and what is required of it under a suppression limit."""

    lattice: Lattice
    columns: dict[str, str]
    require: list[Requirement]
    limit: Fraction
    inputs: dict[str, Any]

    @property
    def required(self) -> list[tuple[Requirement, str | None]]:
        """Each requirement with each attribute that it speaks of."""
        lattice = self.lattice
        attributes: Sequence[str | None] = lattice.sensitive or [None]
        return [
            (requirement, attribute)
            for requirement in self.require
            for place, attribute in enumerate(attributes)
            if not place or lattice.joint or needs_sensitive(requirement)
        ]

    @property
    def roles(self) -> Roles:
        lattice = self.lattice
        return Roles(
            tuple(lattice.labels),
            tuple(lattice.sensitive),
            (),
            lattice.entity,
            lattice.joint,
            NullPolicy(lattice.nulls),
            KnownRows.ONE if lattice.entity else KnownRows.WORSE,
        )

    def hierarchies(self) -> list[Hierarchy]:
        return [hierarchy_of(column, labels) for column, labels in self.lattice.labels.items()]


def needs_sensitive(requirement: Requirement) -> bool:
    return REGISTRY[requirement.model].needs_sensitive


def hierarchy_of(column: str, labels: Labels | None) -> Hierarchy:
    if labels is None:
        return kept_hierarchy(column)
    rows = {None if value is None else _text(value): row for value, row in labels.items()}
    return from_table(column, ValueTable(rows, len(next(iter(labels.values()))), "a test"), "csv")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def evaluating(engine: Engine, case: NodeCase) -> Iterator[Evaluator]:
    """What decides the nodes of a case."""
    relation = engine.open(Target(query=values_query(case.lattice.rows, case.columns)))
    inputs = read_inputs(case.inputs)
    population = engine.open(population_target(inputs, Target(query="SELECT 1"))) if "population" in inputs else None
    roles = resolve_roles(case.roles, relation, engine)
    with workbench_of(engine) as workbench:
        columns = [
            KeyColumn(column, dictionary(engine, workbench, relation, column, hierarchy, f"test_dictionary_{i}"))
            for i, (column, hierarchy) in enumerate(zip(roles.quasi_identifiers, case.hierarchies(), strict=True))
        ]
        evaluator = open_evaluator(
            engine,
            workbench,
            relation,
            roles,
            columns,
            case.roles,
            case.require,
            inputs=inputs,
            limit=case.limit,
            population=population,
        )
        yield evaluator
        evaluator.release()


@st.composite
def hierarchies(draw: st.DrawFn, values: Sequence[Any]) -> Labels | None:
    """Labels of up to two levels below the top; now and then NULL has a label, or the column is kept."""
    depth = draw(st.integers(-1, 2))
    if depth < 0:
        return None
    groups = {value: draw(st.sampled_from(["p", "q", "r"])) for value in values}
    above = {group: draw(st.sampled_from(["u", "v"])) for group in "pqr"}
    named = draw(st.sampled_from([False, False, True]))
    labels: dict[Any, tuple[Any, ...]] = {}
    for value in values:
        group = groups[value]
        path = (group, above[group])[:depth]
        labels[value] = path if value is not None or named else (None,) * depth
    return labels


@st.composite
def tables(draw: st.DrawFn, rows: int = 14) -> tuple[list[dict[str, Any]], dict[str, Labels | None], dict[str, str]]:
    """(rows, hierarchies, kinds): one to three quasi-identifiers, two sensitive attributes, a person."""
    names = draw(st.sampled_from([["a"], ["a", "b"], ["b", "a", "c"], ["a", "b"]]))
    pools = {name: [*POOLS[KEYS[name]], None] for name in names}
    labels = {name: draw(hierarchies(pools[name])) for name in names}
    used = {name: draw(st.lists(st.sampled_from(pools[name]), min_size=1, max_size=4, unique=True)) for name in names}
    kind = draw(st.sampled_from(["int", "text"]))
    values = draw(st.lists(st.sampled_from(rare.POOLS[kind]), min_size=1, max_size=4, unique=True))
    values += draw(st.sampled_from([[], [None]]))
    row = st.fixed_dictionaries(
        {
            **{name: st.sampled_from(used[name]) for name in names},
            "s": st.sampled_from(values),
            "r": st.sampled_from(["m", "n", None]),
            "person": st.integers(0, 9),
        }
    )
    drawn = draw(st.lists(row, min_size=min(LEAST, 4), max_size=rows)) if draw(st.integers(0, 7)) else []
    return drawn, labels, {**{name: KEYS[name] for name in names}, "s": kind, "r": "text", "person": "int"}


@st.composite
def node_cases(draw: st.DrawFn, *, plain: bool = True) -> NodeCase:
    """A table, hierarchies and requirements; `plain` = rows are persons, NULLs are equal, classes are not joint."""
    rows, labels, columns = draw(tables())
    nulls = "equal" if plain else draw(st.sampled_from(["equal", "distinct", "wildcard"]))
    entity = None if plain or nulls == "wildcard" else draw(st.sampled_from([None, "person"]))
    sensitive = draw(st.sampled_from([["s"], ["s"], ["s", "r"], []]))
    joint = not plain and len(sensitive) > 1 and draw(st.booleans())
    limit = Fraction(0) if joint or nulls == "wildcard" else draw(st.sampled_from(TENTHS))
    lattice = Lattice(rows, labels, sensitive, entity, nulls, joint=joint)
    names = _models(lattice, columns, limit)
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    require = []
    for name in chosen:
        if name == "c_k_safety":
            c = draw(st.sampled_from([Fraction(n, 10) for n in range(4, 11)]))
            require.append(requirement_from(f"disclosure@{draw(st.integers(0, 3))}", c))
        else:
            require.append(requirement_from(name, draw(limits_of(name))))
    return NodeCase(lattice, columns, require, limit, {})


def suppressed_cases(*, plain: bool = True) -> st.SearchStrategy[NodeCase]:
    """Cases in which a class is a key and names which rows are suppressed, mostly with a limit."""
    return node_cases(plain=plain).filter(lambda case: case.lattice.nulls == "equal" and not case.lattice.joint)


def label_weights(lattice: Lattice) -> dict[tuple[int, int, str | None], float]:
    """A weight for every (position, level, label) between the values and the top."""
    return {
        (position, level, path[level - 1]): 1.0
        + position
        + 10 * level
        + len(path[level - 1] or "")
        + ord((path[level - 1] or "a")[0]) / 7
        for position, labels in enumerate(lattice.labels.values())
        for path in (labels or {}).values()
        for level in range(1, len(path) + 1)
    }


SIZES = ["k_anonymity", "prosecutor_risk"]
OF_THE_TABLE = ["average_risk", "rows_at_risk", "sample_uniqueness"]


def _models(lattice: Lattice, columns: dict[str, str], limit: Fraction) -> list[str]:
    """The models that have a meaning for a lattice."""
    if lattice.nulls == "wildcard":
        return [
            "k_anonymity",
            *(["distinct_l_diversity"] if lattice.sensitive else []),
            "prosecutor_risk",
            "rows_at_risk",
        ]
    names = [*SIZES, *SIZES] + ([] if limit else OF_THE_TABLE)
    if lattice.sensitive:
        names += [name for name in oracle.MODELS if name not in (*SIZES, *OF_THE_TABLE, "t_closeness_ordered")]
        names += [] if limit or lattice.entity else ["c_k_safety"] * 6
    if lattice.sensitive == ["s"] and columns["s"] != "text" and all(row["s"] is not None for row in lattice.rows):
        names.append("t_closeness_ordered")
    return names


@st.composite
def rare_node_cases(draw: st.DrawFn, *, queries: bool = False) -> NodeCase:
    """A table with everything that the rarer models need, and one to three of these; `queries`: of populations and
    beliefs alone, without suppression."""
    case = draw(rare.rare_cases(rows=12).filter(lambda one: not queries or one.entity is None))
    table = [*case.rows]
    pools = {name: sorted({row[name] for row in [*table, *case.given.population]}, key=str) for name in case.qi}
    labels = {name: draw(hierarchies([*dict.fromkeys([*pools[name], None])])) for name in case.qi}
    limit = Fraction(0) if queries else draw(st.sampled_from(TENTHS))
    names = [name for name in case.limits if (name in QUERIES if queries else not limit or name not in QUERIES)]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    require = [requirement_from(name, case.limits[name]) for name in chosen]
    diluted = "mu_dilution" in chosen
    lattice = Lattice(table, labels, ["s"], case.entity, "equal", case.given, diluted=diluted)
    inputs = case.inputs()
    return NodeCase(lattice, {**case.columns}, require, limit, inputs)


QUERIES = (*rare.PERSONAL, *rare.COUNTED, "marketer_risk", "psi_security_estimate", "psi_positive_disclosure")
