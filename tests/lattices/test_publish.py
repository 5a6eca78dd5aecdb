"""A release is the table at a node: labels, dropped and starred classes, odd names, on both engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.classes.inputs import Inputs
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.lattices.coding import read_attributes
from sqlaudit.lattices.release import OpenedForRelease, ReleaseSql, release
from sqlaudit.models.registry import requirement_from
from tests import oracle
from tests.audit_values import values_query
from tests.strategies import run

ODD = 'wh"at 😀, size'
COLUMNS = {"age": "int", ODD: "text", "s": "text", "note": "text", "name": "text", "n": "int"}
HIERARCHIES: Mapping[str, Any] = {
    "age": {"widths": [10, 20]},
    ODD: {"values": {"a'b": ["x"], "c;d": ["x"], "": ["y"], None: ["z"]}},
}
LABELS: dict[str, list[Callable[[Any], Any]]] = {
    "age": [
        lambda v: v,
        lambda v: None if v is None else f"[{v // 10 * 10}, {v // 10 * 10 + 10})",
        lambda v: None if v is None else f"[{v // 20 * 20}, {v // 20 * 20 + 20})",
        lambda v: "*",
    ],
    ODD: [lambda v: v, lambda v: {"a'b": "x", "c;d": "x", "": "y", None: "z"}[v], lambda v: "*"],
}
ROLES = Roles((ODD, "age"), ("s",), ("name",))


def opened(
    engine: Engine,
    rows: Sequence[Mapping[str, Any]],
    roles: Roles,
    required: Sequence[Requirement],
    hierarchies: Mapping[str, Any] = HIERARCHIES,
    target: Target | None = None,
) -> OpenedForRelease:
    relation = engine.open(target or Target(query=values_query(rows, COLUMNS)))
    resolved = resolve_roles(roles, relation, engine)
    columns = resolved.quasi_identifiers
    return OpenedForRelease(
        engine,
        relation,
        resolved,
        roles,
        read_hierarchies(hierarchies).for_columns([column.label for column in columns]),
        tuple(column_type(engine, relation, column) for column in columns),
        tuple(read_attributes(engine, relation, resolved, roles, required, Inputs())),
    )


def rows_of(engine: Engine, made: ReleaseSql) -> Counter[tuple[Any, ...]]:
    return Counter(engine.run(Statement("release", made.sql)))


def generalized(rows: Sequence[Mapping[str, Any]], levels: Mapping[str, int]) -> list[dict[str, Any]]:
    return [row | {name: LABELS[name][level](row[name]) for name, level in levels.items()} for row in rows]


REQUIREMENTS = [
    ("k_anonymity", {"k": 2}, None),
    ("k_anonymity", {"k": 3}, None),
    ("distinct_l_diversity", {"l": 2}, "s"),
    ("entropy_l_diversity", {"l": Fraction(2)}, "s"),
    ("recursive_c_l_diversity", {"c": 2, "l": 2}, "s"),
    ("t_closeness", {"t": Fraction(1, 4)}, "s"),
    ("alpha_k_anonymity", {"alpha": Fraction(1, 2)}, "s"),
    ("delta_disclosure_privacy", {"delta": Fraction(1)}, "s"),
    ("basic_beta_likeness", {"beta": Fraction(1, 2)}, "s"),
]
ROW = st.fixed_dictionaries(
    {
        "age": st.sampled_from([None, 3, 12, 15, 24, 38]),
        ODD: st.sampled_from(["a'b", "c;d", "", None]),
        "s": st.sampled_from(["flu", "'HIV'", None]),
        "note": st.sampled_from(["", "p", None]),
        "name": st.just("Ann"),
        "n": st.integers(0, 3),
    }
)


def failing_keys(rows: Sequence[Mapping[str, Any]], required: Sequence[tuple[str, dict[str, Any], str | None]]) -> set:
    short = set()
    for name, parameters, sensitive in required:
        table = oracle.table_of(rows, [ODD, "age"], sensitive)
        short |= {group.key for group in oracle.MODELS[name](table, **parameters).failing}
    return short


@run(60, some=8)
@given(st.data())
def test_a_release_is_the_table_at_its_node(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=1, max_size=9))
    required = data.draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))
    levels = {ODD: data.draw(st.integers(0, 2)), "age": data.draw(st.integers(0, 3))}
    short = failing_keys(generalized(rows, levels), required)
    star = bool(short) and data.draw(st.booleans())
    found = opened(engine, rows, ROLES, [requirement_from(name, given) for name, given, _ in required])
    made = release(found, levels, suppress=True, star=star)
    coarse = generalized(rows, levels)
    assert made.columns == ("age", ODD, "s", "note", "n")
    assert (made.keys, made.unnamed) == (("age", ODD), ("note", "n"))
    wanted: Counter[tuple[Any, ...]] = Counter()
    for row in coarse:
        gone = (row[ODD], row["age"]) in short
        if gone and not star:
            continue
        keys = [None if row[key] is None else str(row[key]) for key in ("age", ODD)] if star else [row["age"], row[ODD]]
        wanted[*(["*", "*"] if gone else keys), row["s"], row["note"], row["n"]] += 1
    assert rows_of(engine, made) == wanted
    ordered = [tuple(row) for row in engine.run(Statement("release", made.ordered))]
    assert Counter(ordered) == wanted
    assert ordered == sorted(ordered, key=lambda row: [(value is None, str(value)) for value in row])


def test_nothing_is_looked_for_when_nothing_is_suppressed(engine: Engine) -> None:
    rows = [{"age": 12, ODD: "", "s": "flu", "note": None, "name": "Ann", "n": 1}] * 2
    found = opened(engine, rows, ROLES, [requirement_from("k", 2)])
    made = release(found, {ODD: 1, "age": 2}, suppress=False, star=False)
    assert rows_of(engine, made) == {("[0, 20)", "y", "flu", None, 1): 2}
    assert "OVER" not in made.sql


def test_size_is_counted_by_a_window_unless_a_column_is_called_so(engine: Engine) -> None:
    rows = [{"age": 12, ODD: "", "s": "flu", "note": None, "name": "Ann", "n": 1}] * 2
    found = opened(engine, rows, ROLES, [requirement_from("k", 3)])
    made = release(found, {ODD: 1, "age": 2}, suppress=True, star=False)
    assert "DENSE_RANK" in made.sql  # n is a column of the table
    assert rows_of(engine, made) == {}
    plain = opened(
        engine,
        rows,
        Roles(("age",)),
        [requirement_from("k", 3)],
        {"age": {"widths": [10]}},
        Target(query="SELECT 12 AS age, 'x' AS note"),
    )
    made = release(plain, {"age": 1}, suppress=True, star=True)
    assert "OVER (PARTITION BY" in " ".join(made.sql.split())
    assert rows_of(engine, made) == {("*", "x"): 1}


def test_dropped_columns_and_expressions_leave_nothing_behind(engine: Engine) -> None:
    rows = [{"age": 12, ODD: "", "s": "flu", "note": "p", "name": "Ann", "n": 1}]
    roles = Roles(("age % 5", "note", "n"), ("s",))
    found = opened(engine, rows, roles, [requirement_from("k", 1)], {"n": "drop", "note": "keep"})
    made = release(found, {"age % 5": 0, "note": 0}, suppress=True, star=False)
    assert made.columns == ("age % 5", ODD, "s", "note", "name")
    assert rows_of(engine, made) == {(2, "", "flu", "p", "Ann"): 1}
    both = opened(engine, rows, Roles(("age",), ("age > 3",)), [requirement_from("k", 1)], {})
    with pytest.raises(UsageError, match="in the release reveal it"):
        release(both, {"age": 1}, suppress=False, star=False)


def test_persons_are_counted_but_not_published(engine: Engine) -> None:
    rows = [
        {"age": age, ODD: "", "s": s, "note": None, "name": name, "n": 0}
        for age, s, name in [(1, "flu", "a"), (1, "flu", "a"), (12, "flu", "a"), (12, "cold", "b")]
    ]
    roles = Roles(("age",), ("s",), entity="name")
    found = opened(engine, rows, roles, [requirement_from("k", 2)], {"age": {"widths": [10]}})
    made = release(found, {"age": 1}, suppress=True, star=False)
    assert "name" not in made.columns
    assert sum(rows_of(engine, made).values()) == 2
    checked = release(found, {"age": 1}, suppress=True, star=False, persons=True)
    assert "name" in checked.columns
