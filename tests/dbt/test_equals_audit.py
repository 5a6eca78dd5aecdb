"""Every test on random tables counts the classes and rows that an audit of the same table counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import sqlaudit
from sqlaudit.models.base import Check
from tests.dbt.conftest import Project, Ran

CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("k_anonymity", {"k": 3}),
    ("alpha_k_anonymity", {"alpha": 0.5, "k": 2}),
    ("distinct_l_diversity", {"l": 2}),
    ("entropy_l_diversity", {"l": 1.9}),
    ("recursive_c_l_diversity", {"c": 2, "l": 2}),
    ("recursive_c_l_diversity", {"c": 1.5, "l": 3}),
    ("t_closeness", {"t": 0.3}),
    ("t_closeness_ordered", {"t": 0.25}),
    ("basic_beta_likeness", {"beta": 0.5}),
    ("enhanced_beta_likeness", {"beta": 1}),
    ("delta_disclosure_privacy", {"delta": 0.7}),
    *(("c_k_safety", {"c": c, "k": k}) for c, k in ((0.5, 0), (0.75, 1), (0.9, 2), (1, 3))),
]
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "apart": {"nulls": "distinct"},
    "persons": {"entity": "person"},
    "restricted": {"where": "b <> 'y' or b is null"},
}
QI = ["a", "b"]
CLASSES_AND_ROWS = "1000 * count(*) + coalesce(sum(n_records), 0)"
"""Both in one number: the tables have fewer than a thousand rows."""


def model(seed: int) -> str:
    """A table of 25 to 50 rows in which a person has one class and one value, some quasi-identifiers missing."""
    chosen = random.Random(seed)
    lines = []
    for person in range(chosen.randint(20, 30)):
        a, b = chosen.choice(["1", "2", "null"]), chosen.choice(["'x'", "'y'", "'x'", "null"])
        value = min(chosen.randint(0, 4), chosen.randint(0, 4))
        line = f"select cast({a} as int) as a, cast({b} as varchar(5)) as b, {value} as s, {person} as person"
        lines += [line] * chosen.randint(1, 2)
    return "\nunion all\n".join(lines)


def every_test(table: str) -> list[dict[str, Any]]:
    """Every check in every setting, named after both; all warn, so that all run."""
    found = []
    for setting, options in SETTINGS.items():
        arguments = {name: value for name, value in options.items() if name != "where"}
        for place, (name, limits) in enumerate(CHECKS):
            config = {"severity": "warn", "fail_calc": CLASSES_AND_ROWS}
            config |= {"where": options["where"]} if "where" in options else {}
            given = {"quasi_identifiers": QI, **limits, **arguments}
            given |= {} if name == "k_anonymity" else {"sensitive": "s"}
            test = {"name": f"{table}_{setting}_{place}", "arguments": given, "config": config}
            found.append({f"sqlaudit.{name}": test})
    return found


@pytest.fixture(scope="module")
def tested(project: Project) -> Ran:
    """Two tables with all tests, in one build."""
    project.models(
        {"models": [{"name": name, "data_tests": every_test(name)} for name in ("t1", "t2")]}, t1=model(1), t2=model(2)
    )
    ran = project.dbt("build", "--threads", "4")
    assert ran.code == 0, ran.said
    return ran


@pytest.mark.parametrize("table", ["t1", "t2"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_counts(table: str, setting: str, tested: Ran, project: Project) -> None:
    failing = 0
    for place, (name, limits) in enumerate(CHECKS):
        audit = sqlaudit.audit(
            project.table(table),
            db=project.database,
            qi=QI,
            sensitive=["s"],
            require={name: limits},
            **SETTINGS[setting],
        )
        (check,) = audit.checks
        classes, rows = counts(tested, f"{table}_{setting}_{place}")
        assert classes == check.failing_classes, check
        if (name, setting) != ("c_k_safety", "persons"):  # whose failing rows an audit counts in persons
            assert rows == check.failing_rows, check
        failing += told(check)
    assert failing > 5, "limits lie where classes fall short"


def counts(ran: Ran, name: str) -> tuple[int, int]:
    found = {unique.split(".")[2]: result for unique, result in ran.results.items()}
    return divmod(found[name]["failures"], 1000)


def told(check: Check) -> int:
    return 1 if check.failing_classes else 0


OF_PERSONS: list[tuple[str, dict[str, Any], str]] = [
    ("km_anonymity", {"k": 9, "m": 1}, "km@1=9"),
    ("km_anonymity", {"k": 3}, "km@2=3"),
    ("profile_k_anonymity", {"k": 2}, "profile_k=2"),
    ("k_anonymity", {"k": 9}, "k=9"),
    ("distinct_l_diversity", {"l": 4, "sensitive": "s"}, "l=4"),
]


def visits(seed: int) -> str:
    """Visits of some persons to several places, in tables of text and numbers, some places missing."""
    chosen = random.Random(seed)
    lines = []
    for person in range(24):
        for _ in range(chosen.randint(1, 3)):
            a, b = chosen.choice(["1", "2", "null"]), chosen.choice(["'x'", "'y'"])
            value = f"cast({a} as int) as a, cast({b} as varchar(5)) as b, {chosen.randint(0, 3)} as s"
            lines.append(f"select {value}, {person} as person")
    return "\nunion all\n".join(lines)


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_persons_with_several_rows(nulls: str, project: Project) -> None:
    """Who knows one row and who knows all, by default; and requirements on persons."""
    tests = [
        {
            f"sqlaudit.{name}": {
                "name": f"persons_{place}",
                "arguments": {"quasi_identifiers": QI, "entity": "person", "nulls": nulls, **limits},
                "config": {"severity": "warn"},
            }
        }
        for place, (name, limits, _) in enumerate(OF_PERSONS)
    ]
    project.models({"models": [{"name": "visits", "data_tests": tests}]}, visits=visits(4))
    ran = project.dbt("build")
    assert ran.code == 0, ran.said
    failures = {unique.split(".")[2]: one["failures"] for unique, one in ran.results.items()}
    for place, (_, _, require) in enumerate(OF_PERSONS):
        (check,) = sqlaudit.audit(
            project.table("visits"),
            db=project.database,
            qi=QI,
            sensitive="s" if require == "l=4" else (),
            entity="person",
            require=require,
            nulls=nulls,
        ).checks
        both = check.known_rows
        found = [both.one.failing_classes, both.all.failing_classes] if both else [check.failing_rows]
        assert all(found), require
        assert failures[f"persons_{place}"] == sum(one or 0 for one in found), require


COLUMN_SETS = [
    ({"k": 2, "max_size": 3}, {}),
    ({"k": 5, "max_size": 2, "tolerance": "20%"}, {}),
    ({"k": 3, "max_size": 3, "entity": "person"}, {}),
    ({"k": 6, "max_size": 3, "tolerance": 0.3, "entity": "person"}, {}),
]


def test_minimal_column_sets(project: Project) -> None:
    tested = [
        {
            "sqlaudit.column_sets": {
                "name": f"sets_{place}",
                "arguments": {"quasi_identifiers": ["a", "b", "s"], **arguments},
                "config": {"severity": "warn", "store_failures": True},
            }
        }
        for place, (arguments, _) in enumerate(COLUMN_SETS)
    ]
    project.models({"models": [{"name": "t3", "data_tests": tested}]}, t3=model(3))
    ran = project.dbt("build")
    assert ran.code == 0, ran.said
    schema = "clinic_dbt_test__audit" if project.target == "postgres" else "main_dbt_test__audit"
    for place, (arguments, _) in enumerate(COLUMN_SETS):
        expected = sqlaudit.columns(
            project.table("t3"), db=project.database, columns=["a", "b", "s"], effects=False, **arguments
        )
        kept = project.rows(f"select column_set, n_records, smallest_class from {schema}.sets_{place}")
        assert sorted(kept) == sorted(
            (" + ".join(one.columns), one.rows_at_risk, one.min_size) for one in expected.sets
        )
        assert kept


def random_people(seed: int, size: int) -> list[tuple[int, int | None, str | None]]:
    """Rows of (person, a, b); a person has one class and up to two rows."""
    chosen = random.Random(seed)
    found = []
    for person in range(size):
        row = (person, chosen.choice([1, 2, 3, None]), chosen.choice(["x", "y", "z", None]))
        found += [row] * chosen.randint(1, 2)
    return found


def people_model(rows: Sequence[tuple[int, int | None, str | None]]) -> str:
    """The rows as a model."""
    lines = [
        f"select {person} as person, cast({'null' if a is None else a} as int) as a, "
        f"cast({'null' if b is None else repr(b)} as varchar(5)) as b"
        for person, a, b in rows
    ]
    return "\nunion all\n".join(lines)


def class_sizes(rows: Sequence[tuple[int, int | None, str | None]], *, persons: bool) -> Counter[Any]:
    """Rows or persons in each class."""
    return Counter(row[1:] for row in (set(rows) if persons else rows))


@pytest.mark.parametrize("entity", [None, "person"])
def test_a_population_and_a_reference(entity: str | None, project: Project) -> None:
    """k-map as an audit counts it; both, as counting by hand does."""
    everybody = random_people(5, 45)
    people = [row for row in everybody if row[0] % 3]
    reference = [row for row in everybody if row[0] % 2]
    persons = {"entity": entity} if entity else {}
    tests = [
        *(
            {
                "sqlaudit.k_map": {
                    "name": f"map_{k}",
                    "arguments": {"quasi_identifiers": QI, "population": "ref('everybody')", "k": k, **persons},
                }
            }
            for k in (2, 4, 6)
        ),
        *(
            {
                "sqlaudit.linkage": {
                    "name": f"link_{k}",
                    "arguments": {"quasi_identifiers": QI, "reference": "ref('reference')", "k": k, **persons},
                }
            }
            for k in (2, 3, 5)
        ),
    ]
    project.models(
        {"models": [{"name": "people", "data_tests": tests}]},
        people=people_model(people),
        everybody=people_model(everybody),
        reference=people_model(reference),
    )
    ran = project.dbt("build")
    failures = {unique.split(".")[2]: one["failures"] for unique, one in ran.results.items()}
    mine = class_sizes(people, persons=bool(entity))
    population = class_sizes(everybody, persons=bool(entity))
    others = class_sizes(reference, persons=bool(entity))
    for k in (2, 4, 6):
        audit = sqlaudit.audit(
            project.table("people"),
            db=project.database,
            qi=QI,
            require={"k_map": k},
            inputs={"population": project.table("everybody")},
            **persons,
        )
        expected = sum(population[group] < k for group in mine)
        assert failures[f"map_{k}"] == expected == audit.checks[0].failing_classes
    for k in (2, 3, 5):
        assert failures[f"link_{k}"] == sum(0 < others[group] < k for group in mine)
    assert failures["map_6"] > 0
    assert failures["link_5"] > 0
