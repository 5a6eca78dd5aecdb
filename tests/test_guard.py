"""The guard for users' SQL: what passes, what does not, and the sentence it gets."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.errors import UsageError
from sqlaudit.guard import closest, guard_expression, guard_query, literal, quote, split_name


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
        ("", "--query takes one SELECT; this text holds no statements."),
        ("-- nothing", "--query takes one SELECT; this text holds no statements."),
        ("SELECT 1; SELECT 2", "--query takes one SELECT; this text holds 2 statements."),
        ("SELECT 1; DROP TABLE t", "--query takes one SELECT; this text holds 2 statements."),
        ("DROP TABLE t", "--query takes one SELECT; this is a DROP statement."),
        ("CALL f()", "--query takes one SELECT; this is a CALL statement."),
        ("EXPLAIN SELECT 1", "--query takes one SELECT; this is an EXPLAIN statement."),
        ("COPY t TO 'x'", "--query takes one SELECT; this is a COPY statement."),
        ("ATTACH 'x'", "--query takes one SELECT; this is an ATTACH statement."),
        ("SET x = 1", "--query takes one SELECT; this is a SET statement."),
        ("VALUES (1)", "--query takes one SELECT; this is a VALUES statement."),
        ("WITH a AS (SELECT 1) DELETE FROM t", "--query takes one SELECT; this is a DELETE statement."),
        ("SELECT 1 INTO t", "--query may only read; it holds INTO."),
        ("WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a", "--query may only read; it holds INSERT."),
        ("SELECT * FROM t FOR UPDATE", "--query may only read; leave out FOR UPDATE or FOR SHARE."),
        ("SELECT a FROM", "--query could not be read as DuckDB SQL (line 1, column 13)."),
        ("SELECT 'a", "--query could not be read as DuckDB SQL."),
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
    with pytest.raises(UsageError, match=r"^--query could not be read as PostgreSQL SQL \(line 1, column 13\)\.$"):
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
        ("a AS b", "a"),
    ],
)
def test_one_expression_passes(text: str, spelled: str) -> None:
    assert guard_expression(text, "duckdb", "--where").sql(dialect="duckdb") == spelled


_ONE = "--where takes one expression over the table's columns."
_ROW = "--where takes an expression over the columns of one row: no subquery, aggregate or window."


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
    expected = f"{text!r} is not a table's name; write schema.table, with double quotes around odd names."
    assert str(caught.value) == expected


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
@settings(max_examples=200, derandomize=True, deadline=None, database=None)
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
        @settings(max_examples=100, derandomize=True, deadline=None, database=None)
        def compare(value: object) -> None:
            assert connection.execute("SELECT " + literal(value, "duckdb")).fetchall() == [(value,)]

        compare()


def test_only_plain_values_are_literals() -> None:
    assert literal(["it's", True, 2, {"k": "v"}], "duckdb") == "['it''s', TRUE, 2, {'k': 'v'}]"
    with pytest.raises(TypeError, match="no SQL literal for a float"):
        literal(1.5, "duckdb")
