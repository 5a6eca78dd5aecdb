"""What PostgreSQL finds equal though it is written differently: collations, types of extensions, scales, intervals."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import sqlaudit
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from tests.postgres_load import Loader

ROWS = [
    ("Anna", 1, "Flu"),
    ("anna", 1, "flu"),
    ("ANNA", 1, "cold"),
    ("Bert", 2, "HIV"),
    ("bert", 2, "hiv"),
    (None, 2, None),
    (None, 2, None),
]


_FOLDED = """
DROP TYPE IF EXISTS folded CASCADE; CREATE TYPE folded;
CREATE FUNCTION folded_in(cstring) RETURNS folded AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION folded_out(folded) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE folded (INPUT = folded_in, OUTPUT = folded_out, INTERNALLENGTH = variable, STORAGE = extended,
    CATEGORY = 'S', COLLATABLE = true);
CREATE CAST (folded AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (text AS folded) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE FUNCTION folded_cmp(folded, folded) RETURNS int LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT bttextcmp(lower($1::text COLLATE "C"), lower($2::text COLLATE "C")) $$;
"""
"""A type of an extension, as citext is, for builds without it."""
_OPERATORS = {"<": 1, "<=": 2, "=": 3, ">=": 4, ">": 5}
_OPERATOR = """
CREATE FUNCTION folded_{number}(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT public.folded_cmp($1, $2) {sign} 0 $$;
CREATE OPERATOR {sign} (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_{number});
"""


def make_folded(load: Loader) -> None:
    load.execute(_FOLDED + "".join(_OPERATOR.format(sign=s, number=n) for s, n in _OPERATORS.items()))
    listed = ", ".join(f"OPERATOR {number} {sign}" for sign, number in _OPERATORS.items())
    load.execute(
        f"CREATE OPERATOR CLASS folded_ops DEFAULT FOR TYPE folded USING btree AS {listed}, "
        "FUNCTION 1 folded_cmp(folded, folded)"
    )


@pytest.fixture(scope="module")
def people(load: Loader) -> str:
    load("nd_rows", ROWS, ["name", "age", "disease"])
    make_folded(load)
    load.execute(
        """
        DROP TABLE IF EXISTS nd_people CASCADE; CREATE TABLE nd_people (name folded, age int, disease folded);
        INSERT INTO nd_people SELECT name::text, age, disease::text FROM nd_rows;
        CREATE OR REPLACE VIEW nd_view AS SELECT * FROM nd_people;
        GRANT SELECT ON nd_people, nd_view TO auditor;
        """
    )
    return "nd_people"


def _folding(load: Loader) -> bool:
    """A nondeterministic collation; without ICU one that folds nothing, but is refused by LIKE and the like as well."""
    load.execute("DROP COLLATION IF EXISTS folding CASCADE")
    try:
        load.execute("CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    except psycopg.errors.FeatureNotSupported:
        load.execute("CREATE COLLATION folding (provider = libc, locale = 'C.UTF-8')")
        load.execute("UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'folding'")
        return False
    return True


@pytest.mark.parametrize("text", ["text", "varchar(9)", "char(9)"])
def test_columns_with_a_nondeterministic_collation_are_audited_and_profiled(
    load: Loader, postgres_url: str, text: str
) -> None:
    load("nd_rows", ROWS, ["name", "age", "disease"])
    folds = _folding(load)
    load.execute(
        f"""
        DROP TABLE IF EXISTS nd_collated;
        CREATE TABLE nd_collated (name {text} COLLATE folding, age int, disease {text} COLLATE folding);
        INSERT INTO nd_collated SELECT * FROM nd_rows; GRANT SELECT ON nd_collated TO auditor;
        """
    )
    found = sqlaudit.audit("nd_collated", qi=["name"], sensitive="disease", require=["k=2"], db=postgres_url)
    assert (found.rows, found.classes.count, found.checks[0].level) == ((7, 3, 2) if folds else (7, 6, 1))
    assert [w.columns for w in found.warnings if w.code == "equal_but_written_differently"] == [("name",), ("disease",)]
    distinct = {c.name: c.facts.distinct for c in sqlaudit.profile("nd_collated", db=postgres_url).columns}
    assert distinct == ({"name": 2, "age": 2, "disease": 3} if folds else {"name": 5, "age": 2, "disease": 5})


@pytest.mark.parametrize(
    "target", [{"target": "nd_people"}, {"target": "nd_view"}, {"query": "SELECT * FROM nd_people"}]
)
@pytest.mark.usefixtures("people")
def test_a_type_of_an_extension_says_what_is_equal(postgres_url: str, target: dict[str, Any]) -> None:
    found = sqlaudit.audit(**target, qi=["name"], sensitive="disease", require=["k=2", "l=2"], db=postgres_url)
    assert (found.rows, found.classes.count) == (7, 3)
    assert [(check.status, check.level) for check in found.checks if check.status] == [
        (Status.PASS, 2),
        (Status.FAIL, 1),
    ]
    assert "equal_but_written_differently" in [warning.code for warning in found.warnings]


@pytest.mark.usefixtures("people")
def test_a_profile_counts_them_so(postgres_url: str) -> None:
    profile = sqlaudit.profile("nd_people", db=postgres_url)
    assert {column.name: column.facts.distinct for column in profile.columns} == {"name": 2, "age": 2, "disease": 3}


@pytest.mark.usefixtures("people")
def test_all_values_that_are_equal_are_read_as_one_text(postgres_url: str) -> None:
    with connect(postgres_url) as engine:
        relation = engine.open(Target("nd_people", where="lower(name) = 'anna'"))
        rows = engine.run(Statement("rows", "SELECT DISTINCT name FROM " + relation.sql + " AS t"))
        assert len(rows) == 1
        assert engine.run(Statement("n", "SELECT COUNT(*) FROM " + relation.sql + " AS t")) == [(3,)]
    assert relation.respelled == ("name", "disease")
    assert [(column.type, column.kind) for column in relation.columns] == [
        ("text", Kind.OTHER),
        ("integer", Kind.INTEGER),
        ("text", Kind.OTHER),
    ]


@pytest.mark.parametrize(
    ("column", "values", "distinct", "warned"),
    [
        ("numeric", "(1.0), (1.00), (2), (2.0)", 2, True),
        ("numeric(6,2)", "(1.0), (1.00), (2), (2.0)", 2, False),
        ("float8", "('-0'), (0), (1), (1)", 2, True),
        ("float8", "(0.5), (0.5), (1), (1)", 2, False),
        ("interval", "('1 month'), ('30 days'), ('1 day'), ('24 hours')", 2, True),
        ("jsonb", """('{"a": 1.0}'), ('{"a": 1.00}'), ('[2]'), ('[2]')""", 2, True),
        ("numeric[]", "('{1.0}'), ('{1.00}'), ('{2}'), ('{2}')", 2, True),
        ("date", "('2020-01-01'), ('2020-01-01'), ('2020-01-02'), ('2020-01-02')", 2, False),
    ],
)
def test_equal_values_with_other_texts_are_warned_of(
    load: Loader, postgres_url: str, column: str, values: str, distinct: int, warned: bool
) -> None:
    load.execute(
        f"DROP TABLE IF EXISTS equal_values; CREATE TABLE equal_values (v {column}); "
        f"INSERT INTO equal_values VALUES {values}; GRANT SELECT ON equal_values TO auditor"
    )
    found = sqlaudit.audit("equal_values", qi=["v"], require=["k=2"], db=postgres_url)
    assert (found.classes.count, found.checks[0].level) == (distinct, 2)
    assert ("equal_but_written_differently" in [warning.code for warning in found.warnings]) is warned
