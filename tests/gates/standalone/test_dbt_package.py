"""The dbt package: made from the templates, and the same statement on every adapter. No dbt is needed here."""

from __future__ import annotations

import functools
import itertools
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import duckdb
import pytest
import sqlglot
import yaml
from sqlglot import exp

import sqlaudit
from sqlaudit.base.spec import KnownRows, Roles, Target
from sqlaudit.base.spelling import _order_plainly
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from sqlaudit.gates.standalone.names import by_letters, folded, nested, unsure
from sqlaudit.models.base import Check, band
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.gates.standalone.dbt_stub import Refused, package
from tests.gates.standalone.test_text import UNSAFE
from tests.places import REPOSITORY
from tests.strategies import fewer

ROOT = REPOSITORY
ADAPTERS = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "spark": "spark",
    "databricks": "databricks",
}
QI = {"quasi_identifiers": ["age", "(substr(zip, 1, 2))"]}
CHECKS: Mapping[str, tuple[dict[str, Any], str]] = {
    "k_anonymity": ({"k": 15}, "k=15"),
    "alpha_k_anonymity": ({"alpha": 0.4, "k": 3}, "alpha=alpha:0.4,k:3"),
    "distinct_l_diversity": ({"l": 5}, "l=5"),
    "entropy_l_diversity": ({"l": "3.5"}, "entropy_l=3.5"),
    "recursive_c_l_diversity": ({"c": 0.75, "l": 3}, "recursive_l=c:0.75,l:3"),
    "t_closeness": ({"t": "15%"}, "t=0.15"),
    "t_closeness_ordered": ({"t": "1/20"}, "t_ordered=1/20"),
    "basic_beta_likeness": ({"beta": 0.25}, "beta=0.25"),
    "enhanced_beta_likeness": ({"beta": 0.5}, "enhanced_beta=0.5"),
    "delta_disclosure_privacy": ({"delta": 0.5}, "delta=0.5"),
    "c_k_safety": ({"c": 0.6, "k": 1}, "disclosure@1=0.6"),
}


WITHOUT_VALUES = ("k_anonymity", "km_anonymity", "profile_k_anonymity", "k_map", "linkage", "column_sets")


def written(adapter: str, test: str, arguments: Mapping[str, Any], **more: Any) -> str:
    """The SQL that a test has on an adapter."""
    sensitive = {} if test in WITHOUT_VALUES else {"sensitive": "s"}
    return str(package(adapter)[f"test_{test}"]("people", **{**QI, **sensitive, **arguments, **more}))


def every_test() -> list[tuple[str, dict[str, Any]]]:
    """All tests with arguments."""
    found = [(name, arguments) for name, (arguments, _) in CHECKS.items()]
    found += [("c_k_safety", {"c": 0.7, "k": k}) for k in (0, 2, 3)]
    found += [("recursive_c_l_diversity", {"c": 2, "l": 1})]
    found += [("km_anonymity", {"k": 3, "entity": "person"}), ("profile_k_anonymity", {"k": 3, "entity": "person"})]
    found += [("k_map", {"population": "everybody", "k": 3}), ("linkage", {"reference": "everybody"})]
    return [*found, ("column_sets", {"max_size": 2, "k": 3})]


@pytest.mark.parametrize("adapter", [name for name in ADAPTERS if name != "postgres"])
def test_every_adapter_gets_the_same_statement(adapter: str) -> None:
    """What dispatch chooses differs from PostgreSQL's in the names of types, in letters and in folding alone.

    Of the tests each adapter gets every second one, and with `--cases all` every one.
    """
    for at, (name, arguments) in enumerate(every_test()):
        if (at + list(ADAPTERS).index(adapter)) % 2 and fewer(100) < 100:
            continue
        given = {"entity": "person" if at // 2 % 2 else None, **arguments}
        sql, expected = (written(one, name, given) for one in (adapter, "postgres"))
        assert _spelled(sql, ADAPTERS[adapter]) == _spelled(expected, "postgres"), (name, adapter)


@functools.cache
def _spelled(sql: str, dialect: str) -> str:
    """A statement of any dialect in one spelling."""
    for value in ("s", "e"):
        sql = sql.replace(folded(value, dialect), f"FOLDED({value})")
        sql = sql.replace(f"{nested(value, dialect)} AS is_nested", "0 AS is_nested")
    sql = sql.replace(f"{unsure('spelling', dialect)} > 0) AS found", "0 > 0) AS found")
    for value in (*QI["quasi_identifiers"], "s", "e"):
        sql = sql.replace(by_letters(value, dialect), f"LETTERS({value})")
    (tree,) = sqlglot.parse(sql, dialect=dialect)
    assert isinstance(tree, exp.Query)
    assert not list(tree.find_all(*UNSAFE)), sql
    _order_plainly(tree, "postgres")
    for division in tree.find_all(exp.Div):
        division.set("typed", True)
        division.set("safe", False)
    text = tree.sql(dialect="postgres")
    for own in ("INT128", "BIGDECIMAL"):
        text = text.replace(own, "DECIMAL(38, 0)")
    return re.sub(r"NOT (\w+) IS NULL", r"\1 IS NOT NULL", text)


def test_generating_the_package_again_changes_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_dbt.py", "--check"], capture_output=True, encoding="utf-8", check=False
    )
    assert (ran.returncode, ran.stderr) == (0, ""), "run python docs/make_dbt.py"


@pytest.mark.parametrize(
    ("test", "arguments", "found"),
    [
        ("k_anonymity", {"k": 3}, 3),
        ("k_anonymity", {"k": 2, "entity": "ill", "known_rows": "one", "values": "exact"}, 1),
        ("k_anonymity", {"k": 1, "entity": "ill", "known_rows": "one"}, 3),
        ("distinct_l_diversity", {"l": 1, "sensitive": "ill"}, 3),
        ("column_sets", {"k": 2}, 1),
        ("k_map", {"population": "people", "k": 2}, 1),
        ("km_anonymity", {"k": 2, "m": 1, "entity": "ill", "values": "exact"}, 1),
        ("km_anonymity", {"k": 1, "m": 1, "entity": "ill"}, 5),
    ],
)
def test_nothing_passes_because_a_collation_folds_case(test: str, arguments: dict[str, Any], found: int) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (name TEXT COLLATE NOCASE, ill TEXT COLLATE NOCASE)")
    rows = [("Bert", "flu"), ("Bert", "cold"), ("bert", "Flu"), ("bert", "hip"), ("Anna", "HIV")]
    connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    sql = str(package("duckdb")[f"test_{test}"]("people", quasi_identifiers=["name"], **arguments))
    assert len(connection.execute(sql).fetchall()) == found


@pytest.mark.parametrize(
    ("test", "arguments"),
    [
        ("k_anonymity", {"k": 2}),
        ("distinct_l_diversity", {"l": 1, "sensitive": "ill"}),
        ("km_anonymity", {"k": 1, "m": 1}),
    ],
)
def test_nothing_passes_because_persons_are_named_in_two_ways(test: str, arguments: dict[str, Any]) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (who TEXT, name TEXT, ill TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, 'x', 'flu')", [("P1",), ("p1 ",), ("P2",), ("P3",)])
    for entity, passes in (("who", False), ("LOWER(TRIM(who))", True)):
        sql = package("duckdb")[f"test_{test}"]("people", quasi_identifiers=["name"], entity=entity, **arguments)
        assert (not connection.execute(str(sql)).fetchall()) == passes


@pytest.fixture(scope="module")
def people() -> duckdb.DuckDBPyConnection:
    """A table of 60 persons with 90 rows."""
    chosen = random.Random(3)
    rows = []
    for person in range(60):
        age, area, value = (
            chosen.randint(1, 3),
            chosen.choice(["10", "20"]),
            min(chosen.randint(0, 5), chosen.randint(0, 5)),
        )
        rows += [(person, age, area + "115", value)] * chosen.randint(1, 2)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (person INT, age INT, zip TEXT, s INT)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    connection.execute(
        "CREATE TABLE everybody AS FROM people UNION ALL SELECT person + 60, age, zip, s FROM people WHERE age < 3"
    )
    return connection


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("entity", [None, "person"])
def test_a_test_finds_what_the_standalone_check_counts(
    name: str, entity: str | None, people: duckdb.DuckDBPyConnection
) -> None:
    arguments, check = CHECKS[name]
    roles = Roles(
        ("age", "(substr(zip, 1, 2))"), ("s",), entity=entity, known_rows=KnownRows.ONE if entity else KnownRows.WORSE
    )
    (compiled,) = compile_checks(Target("people"), roles, [check])
    cursor = people.execute(compiled.sql)
    row = dict(zip([column[0] for column in cursor.description], cursor.fetchone() or (), strict=True))
    sql = written("duckdb", name, arguments, entity=entity, known_rows="one")
    classes, rows = people.execute(f"SELECT COUNT(*), COALESCE(SUM(n_records), 0) FROM ({sql}) AS failing").fetchall()[
        0
    ]
    assert (classes, rows) == (row["failing_classes"], row["failing_rows"])
    assert classes > 0


@pytest.mark.parametrize("name", [name for name, _ in every_test()])
def test_no_operator_is_used_that_bigquery_lacks(name: str) -> None:
    arguments = next(given for test, given in every_test() if test == name)
    assert "%" not in written("bigquery", name, {"entity": "person", **arguments})


@pytest.fixture(scope="module")
def visitors() -> duckdb.DuckDBPyConnection:
    """40 persons with up to three rows in several places, some of which are missing; the names of columns are odd."""
    chosen = random.Random(11)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (person TEXT, age INT, zip TEXT, s INT)")
    for person in range(40):
        for _ in range(chosen.randint(1, 3)):
            row = [f"p{person % 35}", chosen.choice([1, 2]), chosen.choice(["10", "20", None]), chosen.randint(0, 2)]
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", row)
    connection.execute("CREATE TABLE single AS SELECT DISTINCT ON (person) * FROM people ORDER BY ALL")
    return connection


ABOUT_CLASSES = [name for name in CHECKS if name != "c_k_safety"]


@pytest.fixture(scope="module")
def audited(visitors: duckdb.DuckDBPyConnection) -> Mapping[tuple[str, str], Mapping[str, Check]]:
    """What audits say of every check, by table and by what NULLs match."""
    found = {}
    for table, nulls in itertools.product(("people", "single"), ("equal", "distinct")):
        asked = {name: CHECKS[name][1] for name in ABOUT_CLASSES}
        result = sqlaudit.audit(
            visitors.table(table).df(),
            qi=QI["quasi_identifiers"],
            sensitive="s",
            entity="person",
            require=list(asked.values()),
            nulls=nulls,
        )
        checks = {check.text: check for check in result.checks}
        found[table, nulls] = {name: checks[text] for name, text in asked.items()}
    return found


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("name", ABOUT_CLASSES)
def test_by_default_a_test_is_for_who_knows_one_row_and_for_who_knows_all(
    name: str, nulls: str, visitors: duckdb.DuckDBPyConnection, audited: Mapping[tuple[str, str], Mapping[str, Check]]
) -> None:
    for table in ("people", "single"):
        audit = audited[table, nulls][name]
        given = {**CHECKS[name][0], "entity": "person", "nulls": nulls}
        sql = written("duckdb", name, given).replace("FROM people", f"FROM {table}")
        told = visitors.execute(f"SELECT known_rows, COUNT(*) FROM ({sql}) AS found GROUP BY 1").fetchall()
        both = audit.known_rows
        expected = {"one": both.one.failing_classes, "all": both.all.failing_classes} if both else {}
        expected = expected or {"one": audit.failing_classes}
        assert dict(told) == {known: classes for known, classes in expected.items() if classes}, table
        assert bool(told) == (audit.status == "fail")
        assert (both is None) == (table == "single")


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize(("test", "m"), [("km_anonymity", 1), ("km_anonymity", 2), ("profile_k_anonymity", 0)])
def test_persons_who_fall_short_are_those_of_an_audit(
    test: str, m: int, nulls: str, visitors: duckdb.DuckDBPyConnection
) -> None:
    limits = {k: f"km@{m}={k}" if m else f"profile_k={k}" for k in (1, 2, 5, 8)}
    checks = sqlaudit.audit(
        visitors.table("people").df(),
        qi=QI["quasi_identifiers"],
        entity="person",
        require=list(limits.values()),
        nulls=nulls,
    ).checks
    for k, text in limits.items():
        (audit,) = (check for check in checks if check.text == text)
        given = {"k": k, "entity": "person", "nulls": nulls, **({"m": m} if m else {})}
        found = visitors.execute(written("duckdb", test, given)).fetchall()
        assert len(found) == audit.failing_rows
        assert not found or min(found) == (audit.level,)
        shown = visitors.execute(written("duckdb", test, given, show_values=True)).fetchall()
        assert len({person for person, _ in shown}) == len(found)


def test_rows_without_a_person_pass_no_test() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT NULL::INT AS person, 1 AS age, '10' AS zip FROM range(9)")
    for test in ("k_anonymity", "km_anonymity", "profile_k_anonymity"):
        assert connection.execute(written("duckdb", test, {"k": 1, "entity": "person"})).fetchall()


@pytest.mark.parametrize("k", range(4))
def test_every_number_of_pieces_of_knowledge(k: int) -> None:
    """Each class with its own level, where values are many enough that some doubt is left."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT age, '10115' AS zip, s FROM range(1, 4) AS ages(age), range(12) AS kinds(s), "
        "range(1, 6) AS copies(copy) WHERE copy <= age + s % 3"
    )
    for c in (0.15, 0.3):
        (compiled,) = compile_checks(
            Target("people"), Roles(("age", "(substr(zip, 1, 2))"), ("s",)), [f"disclosure@{k}={c}"]
        )
        row = connection.sql(compiled.sql).fetchdf().iloc[0]
        levels = connection.sql(written("duckdb", "c_k_safety", {"c": c, "k": k})).fetchdf()["level_disclosure"]
        assert row["level_disclosure"] < 1
        assert len(levels) == row["failing_classes"]
        if len(levels):
            assert levels.max() == pytest.approx(row["level_disclosure"], rel=1e-12)


def test_a_population_of_several_rows_a_person_counts_persons(people: duckdb.DuckDBPyConnection) -> None:
    arguments = {"population": "everybody", "population_entity": "person", "k": 20}
    found = people.execute(written("duckdb", "k_map", arguments)).fetchall()
    sizes = "SELECT age, zip, COUNT({}) AS n FROM {} GROUP BY 1, 2"
    rows, persons = sizes.format("*", "people"), sizes.format("DISTINCT person", "everybody")
    both = f"({rows}) AS a JOIN ({persons}) AS b USING (age, zip)"
    expected = people.execute(f"SELECT a.n, a.n, b.n FROM {both} WHERE b.n < 20 OR a.n > b.n").fetchall()
    assert len(expected) > 0
    assert sorted(found) == sorted(expected)


def test_tests_on_a_population(people: duckdb.DuckDBPyConnection) -> None:
    found = people.execute(written("duckdb", "k_map", {"population": "everybody", "k": 20})).fetchall()
    sizes = "SELECT age, zip, COUNT(*) AS n FROM {} GROUP BY 1, 2"
    both = f"({sizes.format('people')}) AS a JOIN ({sizes.format('everybody')}) AS b USING (age, zip)"
    expected = people.execute(f"SELECT a.n, a.n, b.n FROM {both} WHERE b.n < 20").fetchall()
    assert expected
    assert sorted(found) == sorted(expected)
    assert sorted(
        people.execute(written("duckdb", "linkage", {"reference": "everybody", "k": 20})).fetchall()
    ) == sorted(found)


def test_limits_are_read_as_decimals() -> None:
    exact = package("duckdb")["exact"]
    for given, meant in [
        (0.1, "1/10"),
        ("0.30", "3/10"),
        (5, "5"),
        (".5", "1/2"),
        ("1/3", "1/3"),
        ("20%", "1/5"),
        (1e-05, "1/100000"),
        (2.50, "5/2"),
        (0, "0"),
        ("2/6", "1/3"),
        ("12.5%", "1/8"),
        (1.0, "1"),
    ]:
        found = exact(given, "recursive_c_l_diversity", "c")
        assert Fraction(found["numerator"], found["denominator"]) == Fraction(meant)
        assert (found["numerator"], found["denominator"]) == Fraction(meant).as_integer_ratio()
        assert (found["low"], found["high"]) == band(float(Fraction(meant)))
    for wrong in ("five", "1/0", "-1", "0.1; drop table t", "1e", "0x10"):
        with pytest.raises(Refused, match="limit is a number"):
            exact(wrong, "recursive_c_l_diversity", "c")


@pytest.mark.parametrize(
    ("test", "arguments", "said"),
    [
        ("c_k_safety", {"c": 0.5, "k": 4}, "k of 0 to 3, not 4"),
        ("c_k_safety", {"c": 0}, "a probability above 0, not 0"),
        ("k_anonymity", {"k": 5, "nulls": "wildcard"}, "equal or distinct"),
        ("t_closeness", {"t": 0.2, "sensitive": None}, "name the sensitive column"),
        ("k_anonymity", {"k": "five"}, "k is a whole number such as 5, not five"),
        ("distinct_l_diversity", {"l": 2.5}, "l is a whole number such as 5, not 2.5"),
        ("recursive_c_l_diversity", {"c": 2, "l": 0}, "l is at least 1, not 0"),
        ("k_map", {"population": "everybody", "k": None}, "k is missing; k_map needs the fewest people"),
        ("column_sets", {"max_size": "all"}, "max_size is a whole number such as 5, not all"),
        ("k_anonymity", {"k": 5, "quasi_identifiers": "age"}, r"a list of columns such as \[age, sex\], not age"),
        ("k_anonymity", {"k": 5, "quasi_identifiers": []}, "a list of columns"),
        ("k_anonymity", {"k": 5, "known_rows": "both"}, r"known_rows is worse \(of both\), one or all, not both"),
        ("km_anonymity", {"k": 5, "entity": "person", "m": 3}, "m of 1 and 2, not 3; `sqlaudit audit` takes more"),
        ("profile_k_anonymity", {"k": "five", "entity": "person"}, "k is a whole number"),
        ("linkage", {"reference": "everybody", "reference_quasi_identifiers": ["age"]}, "2 quasi-identifiers are not"),
        (
            "column_sets",
            {"quasi_identifiers": [f"c{i}" for i in range(20)], "max_size": 4},
            "too many for one statement",
        ),
    ],
)
def test_what_the_package_refuses(test: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        written("duckdb", test, {}, **arguments)


def test_keys_are_shown_only_on_request() -> None:
    assert "SELECT\n    size AS class_size" in written("duckdb", "k_anonymity", {"k": 5})
    named = {"quasi_identifiers": ['"age"', "(substr(zip, 1, 2))"]}
    shown = written("duckdb", "k_anonymity", {"k": 5, "show_values": True, **named})
    assert 'SELECT\n    q1 AS "age", q2 AS q2, size AS class_size' in shown


COMMON = {
    "model",
    "quasi_identifiers",
    "sensitive",
    "column_name",
    "entity",
    "nulls",
    "known_rows",
    "show_values",
    "values",
}


def test_the_page_has_every_test_with_its_arguments() -> None:
    page = (ROOT / "docs" / "gate_dbt.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", page, re.MULTILINE))
    found = {}
    for file in (ROOT / "sql_templates" / "dbt" / "macros").rglob("*.sql"):
        for name, taken in re.findall(r"{% test (\w+)\((.*?)\) -%}", file.read_text(encoding="utf-8")):
            parts = [part.partition("=") for part in taken.split(", ")]
            own = [
                part for part in parts if part[0] not in COMMON and not part[0].endswith(("_identifiers", "_entity"))
            ]
            found[name] = ", ".join(f"`{key}`{f' ({value})' if value else ''}" for key, _, value in own)
    assert len(found) == 24
    assert rows == found


def test_the_package_has_the_version_of_sqlaudit() -> None:
    project = yaml.safe_load((ROOT / "sql_templates" / "dbt" / "dbt_project.yml").read_text(encoding="utf-8"))
    assert (project["name"], project["version"]) == ("sqlaudit", sqlaudit.__version__)
