"""The guard for users' SQL: what passes, what does not, and the sentence it gets."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.guard import MisreadError, guard_expression, guard_query
from sqlaudit.base.names import closest, literal, quote, split_name
from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine
from tests.strategies import run


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("select a from t", "SELECT a FROM t"),
        ("SELECT 1;;", "SELECT 1"),
        ("SELECT * FROM t; -- the end", "SELECT * FROM t"),
        ("(SELECT 1)", "(SELECT 1)"),
        ("FROM t", "SELECT * FROM t"),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("SELECT 1 UNION SELECT 2", "SELECT 1 UNION SELECT 2"),
        ("SELECT ';'", "SELECT ';'"),
        ("SELECT list_transform([1], lambda x: x + 1)", "SELECT LIST_TRANSFORM([1], LAMBDA x : x + 1)"),
    ],
)
def test_one_select_passes(text: str, spelled: str) -> None:
    assert guard_query(text, "duckdb").sql(dialect="duckdb") == spelled


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "query takes one SELECT; this text has no statements."),
        ("-- nothing", "query takes one SELECT; this text has no statements."),
        ("SELECT 1; SELECT 2", "query takes one SELECT; this text has 2 statements."),
        ("SELECT 1; DROP TABLE t", "query takes one SELECT; this text has 2 statements."),
        ("DROP TABLE t", "query takes one SELECT, not a DROP statement."),
        ("CALL f()", "query takes one SELECT, not a CALL statement."),
        ("EXPLAIN SELECT 1", "query takes one SELECT, not an EXPLAIN statement."),
        ("COPY t TO 'x'", "query takes one SELECT, not a COPY statement."),
        ("ATTACH 'x'", "query takes one SELECT, not an ATTACH statement."),
        ("SET x = 1", "query takes one SELECT, not a SET statement."),
        ("VALUES (1)", "query takes one SELECT, not a VALUES statement."),
        ("WITH a AS (SELECT 1) DELETE FROM t", "query takes one SELECT, not a DELETE statement."),
        ("SELECT 1 INTO t", "query may only read, but it contains INTO."),
        (
            "WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a",
            "query may only read, but it contains INSERT.",
        ),
        ("SELECT * FROM t FOR UPDATE", "query may only read. Leave out FOR UPDATE or FOR SHARE."),
        ("SELECT a FROM", "query could not be read as DuckDB SQL (line 1, column 13)."),
        ("SELECT 'a", "query could not be read as DuckDB SQL."),
    ],
)
def test_everything_else_gets_its_sentence(text: str, sentence: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(UsageError) as caught:
        guard_query(text, "duckdb")
    assert str(caught.value) == sentence
    assert caught.value.__cause__ is None
    if "FOR UPDATE" not in text:
        assert caplog.records == []


def test_the_sentence_names_the_engine() -> None:
    with pytest.raises(UsageError, match=r"^query could not be read as PostgreSQL SQL \(line 1, column 13\)\.$"):
        guard_query("SELECT a FROM", "postgres")


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("a", "a"),
        ('"a b"', '"a b"'),
        ("year(birth) - 10", "YEAR(birth) - 10"),
        ("a = 'x;y' AND b IS NULL", "a = 'x;y' AND b IS NULL"),
        ("CASE WHEN a THEN 1 END", "CASE WHEN a THEN 1 END"),
        ("a IN (1, 2)", "a IN (1, 2)"),
        ("a -- for now", "a /* for now */"),
        ("a < 50_000", "a < 50000"),
        ("to_char(birth, 'YYYY')", "TO_CHAR(birth, 'YYYY')"),
        ("format('%s', a)", "FORMAT('%s', a)"),
        ("datediff(MONTH, a, b)", "DATEDIFF(MONTH, a, b)"),
        ("trim(both 'x' FROM a)", "TRIM(a, 'x')"),
    ],
)
def test_one_expression_passes(text: str, spelled: str) -> None:
    assert guard_expression(text, "duckdb", "--where").sql(dialect="duckdb") == spelled


_ONE = "--where takes one expression over the table's columns."
_ROW = "--where takes an expression over the columns of one row, without subquery, aggregate or window."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", _ONE),
        ("a; b", _ONE),
        ("a; DROP TABLE t", _ONE),
        ("a, b", _ONE),
        ("a FROM t", _ONE),
        ("a WHERE b", _ONE),
        ("a LIMIT 1", _ONE),
        ("a ORDER BY 1", _ONE),
        ("DISTINCT a", _ONE),
        ("GROUP BY 1", _ONE),
        ("count(*)", _ROW),
        ("max(a)", _ROW),
        ("sum(a) OVER ()", _ROW),
        ("row_number() OVER (ORDER BY a)", _ROW),
        ("(SELECT 1)", _ROW),
        ("EXISTS (SELECT 1)", _ROW),
        ("a IN (SELECT 1)", _ROW),
        ("*", _ROW),
        ("a = 1) OR (1 = 1", "--where could not be read as DuckDB SQL (line 1, column 13)."),
        ("'a", "--where could not be read as DuckDB SQL."),
    ],
)
def test_other_expressions_get_their_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        guard_expression(text, "duckdb", "--where")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ("a",)),
        ("main.a", ("main", "a")),
        ('"a.b".c', ("a.b", "c")),
        ('db."odd ""name""; drop"."select"', ("db", 'odd "name"; drop', "select")),
        ("my table", ("my table",)),
        ("a . b", ("a", "b")),
        ("é.😀", ("é", "😀")),
    ],
)
def test_names_are_split_at_dots_outside_of_quotes(text: str, parts: tuple[str, ...]) -> None:
    assert split_name(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '"a', '"a"b', 'a"b', '"".a'])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_name(text)
    expected = f"{text!r} is not a table name. Write schema.table, with double quotes around unusual names."
    assert str(caught.value) == expected


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
@run(200)
def test_what_was_quoted_is_split_again(parts: list[str]) -> None:
    assert split_name(".".join(quote(part, "duckdb") for part in parts)) == tuple(parts)


def test_the_closest_name() -> None:
    assert closest("Adress", ["age", "Address"]) == " Did you mean 'Address'?"
    assert closest("zip", ["age", "sex"]) == ""
    assert closest("zip", []) == ""


_VALUES = st.recursive(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=8)
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1),
    lambda inner: st.dictionaries(st.sampled_from(["a", 'b"', "c'"]), inner, min_size=1, max_size=3),
    max_leaves=5,
)


def test_literals_mean_what_they_say() -> None:
    with duckdb.connect() as connection:

        @given(_VALUES)
        @run(100)
        def compare(value: object) -> None:
            assert connection.execute("SELECT " + literal(value, "duckdb")).fetchall() == [(value,)]

        compare()


def test_only_plain_values_are_literals() -> None:
    assert literal(["it's", True, 2, {"k": "v"}], "duckdb") == "['it''s', TRUE, 2, {'k': 'v'}]"
    with pytest.raises(TypeError, match="no SQL literal for a float"):
        literal(1.5, "duckdb")


_ENGINES = ("duckdb", "postgres", "spark")
_ALIAS = (
    "--where: {!r} is an alias here, which has no effect. Put commas between columns, AND between conditions, and "
    "double quotes around a name with spaces."
)


@pytest.mark.parametrize("dialect", [*_ENGINES, "snowflake", "bigquery", "tsql"])
@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("sex zip", "zip"),
        ("sex AS zip", "zip"),
        ("age >= 18 x", "x"),
        ("NOT flag AND age >= 18 x", "x"),
        ("(sex zip)", "zip"),
        ("(sex zip, age)", "zip"),
        ("sex /* and */ zip", "zip"),
        ("CASE WHEN flag THEN 1 END x", "x"),
        ("CAST(age AS INT) x", "x"),
    ],
)
def test_an_alias_is_refused(text: str, alias: str, dialect: str) -> None:
    with pytest.raises(MisreadError) as caught:
        guard_expression(text, dialect, "--where")
    assert str(caught.value) == _ALIAS.format(alias)


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "tsql"])
@pytest.mark.parametrize("text", ["income < 50_000", "1_000 + age", "age BETWEEN 1 AND 5_0", "1.5e3x"])
def test_a_number_that_the_dialect_would_cut_is_refused(text: str, dialect: str) -> None:
    with pytest.raises(MisreadError) as caught:
        guard_expression(text, dialect, "--where")
    said = "--where: a number runs into a word. Write numbers with digits only: 50000, not 50_000."
    assert str(caught.value) == said


def test_a_number_in_a_query_is_not_cut() -> None:
    with pytest.raises(MisreadError, match="query: a number runs into a word"):
        guard_query("SELECT income - 50_000 FROM t", "postgres")
    ordered = "SELECT sex FROM t ORDER BY sex NULLS LAST"
    assert guard_query(ordered, "postgres").sql("postgres") == "SELECT sex FROM t ORDER BY sex"
    assert guard_query("SELECT income AS pay FROM t x", "postgres").sql() == "SELECT income AS pay FROM t AS x"


def test_a_word_that_would_get_lost_is_refused() -> None:
    with pytest.raises(MisreadError) as caught:
        guard_expression("zip::varchar(3)", "duckdb", "--qi")
    assert (
        str(caught.value)
        == "--qi: '3' cannot be translated to DuckDB SQL without changing its meaning. Write it in another way."
    )
    assert guard_expression("zip::varchar(3)", "postgres", "--qi").sql("postgres") == "CAST(zip AS VARCHAR(3))"


_AS_WRITTEN = """
age ^ 2 | age % 7 | -age % 7 | 1 - (age - 2) | age / (4 / 2) | age - 1 + 2 | age * 1e3 | NOT age = 39 | zip || age
zip LIKE 'a!%' ESCAPE '!' | concat_ws('-', zip, age) | lpad(zip, 5, '0') | replace(zip, 'a', 'b') | repeat(zip, 2)
floor(age / 10.0) | round(age / 3.0, 1) | mod(age, 7) | power(age, 2) | ln(abs(age)) | greatest(age, 10, 50)
nullif(age, 39) | coalesce(age, 0) | substr(zip, 1, 2) | left(zip, 2) | md5(zip) | extract(week FROM birth)
date_part('week', birth) | date_trunc('week', birth) | CAST(birth AS varchar) | birth > DATE '1985-01-01'
birth - DATE '2000-01-01' | split_part(zip, '1', 1) | translate(zip, 'ab', 'ba') | age IS DISTINCT FROM 39
CASE age WHEN 39 THEN 'a' ELSE 'b' END | age BETWEEN 10 AND 20 + 5 | to_char(birth, 'YYYY-MM') | format('%s', age)
log(age + 100) | initcap(zip) | chr(age + 60)
"""
_ROWS = (
    "SELECT 39 AS age, 'a12' AS zip, CAST('1980-05-03' AS DATE) AS birth "
    "UNION ALL SELECT 20, 'b7', CAST('1999-12-31' AS DATE) UNION ALL SELECT NULL, '12', NULL "
    "UNION ALL SELECT -5, 'A_', CAST('1970-01-01' AS DATE)"
)


def _answer(engine: Engine, sql: str) -> list[str] | None:
    """The values of an expression over four rows as text; None when the engine knows no such function."""
    answer = Statement("answer", f"SELECT CAST({sql} AS varchar(90)) FROM ({_ROWS}) AS four ORDER BY age")
    try:
        return [str(row[0]) for row in engine.run(answer)]
    except SqlauditError:
        return None


@pytest.mark.parametrize("text", re.split(r" \| |\n", _AS_WRITTEN.strip()))
def test_what_runs_means_what_was_written(text: str, engine: Engine) -> None:
    spelled = guard_expression(text, engine.dialect, "--qi").sql(dialect=engine.dialect)
    assert _answer(engine, spelled) == _answer(engine, text)
