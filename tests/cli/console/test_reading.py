"""Scripts taken apart, and AUDIT statements read, with errors that point at the place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.grammar import parse_audit
from sqlaudit.cli.console.statements import StatementError, is_complete, parse_arguments, split

DIALECTS = pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
STATEMENTS = (
    "SELECT 1",
    "SELECT ';'",
    "SELECT 'it''s; one' AS \"a;b\"",
    "SELECT $$ ; $$",
    "SELECT $t$ ;$$; $t$",
    "SELECT 1 -- no; end\n + 1",
    "SELECT /* ; \n ' */ 2",
    "EXPLAIN SELECT ';'",
    "SELECT E'\\';'",
    "SELECT '\n\\d\n'",
    "AUDIT t BY (a)",
    "SELECT '😀;' AS \"ü\"",
)
COMMANDS = ("\\d", "\\qi age it's", "\\audit", "\\?", '\\drop "a b"')


@DIALECTS
@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from((*STATEMENTS, *COMMANDS)), max_size=6), st.data())
def test_a_script_comes_apart_as_it_was_put_together(dialect: str, pieces: list[str], data: st.DataObject) -> None:
    text = ""
    lines = []
    for piece in pieces:
        text += data.draw(st.sampled_from(["", "\n", "-- a comment; '\n", " \n;\n  "]))
        lines.append(text.count("\n") + 1)
        text += piece + ("\n" if piece.startswith("\\") else ";")
    found = list(split(text, dialect))
    assert [piece.text for piece in found] == pieces
    assert [piece.line for piece in found] == lines
    assert [piece.is_command for piece in found] == [piece.startswith("\\") for piece in pieces]
    assert is_complete(text, dialect)


def test_long_scripts_come_apart_piece_by_piece() -> None:
    text = "SELECT ';' AS a;\n" * 2_000
    assert [piece.line for piece in split(text, "duckdb")] == list(range(1, 2_001))


@DIALECTS
@pytest.mark.parametrize("text", ["SELECT 1", "SELECT 'a;", "SELECT /* ; ", "SELECT $$ ;", 'SELECT "a;', "\\d\nSELECT"])
def test_a_statement_that_goes_on_is_not_complete(dialect: str, text: str) -> None:
    assert not is_complete(text, dialect)


@DIALECTS
def test_a_line_with_a_command_ends_the_statement_before_it(dialect: str) -> None:
    assert [piece.text for piece in split("SELECT 1\n\\q", dialect)] == ["SELECT 1", "\\q"]
    assert is_complete("SELECT 1\n\\q", dialect)


@DIALECTS
def test_what_is_left_open_is_said_with_its_line(dialect: str) -> None:
    with pytest.raises(UsageError, match=r"^Line 2: a quote or comment of this statement is left open\.$"):
        list(split("SELECT 1;\nSELECT 'abc;\n", dialect))


@DIALECTS
def test_an_audit_statement_is_read_completely(dialect: str) -> None:
    found = parse_audit(
        'audit s."T t" by (age, "a, b", floor(age / 10)) sensitive "BY", d entity p\n'
        "require k >= 5, t <= .2, disclosure@3 < 80%, recursive_l = c:3,l:2 l=2",
        dialect,
    )
    assert (found.target.relation, found.target.query) == ('s."T t"', "")
    assert found.roles.quasi_identifiers == ("age", "a, b", "floor(age / 10)")
    assert (found.roles.sensitive, found.roles.entity) == (("BY", "d"), "p")
    assert [one.text for one in found.requirements] == ["k=5", "t=.2", "disclosure@3=80%", "recursive_l=c:3,l:2", "l=2"]


@DIALECTS
@pytest.mark.parametrize(
    ("relation", "name", "query"),
    [
        ("people", "people", ""),
        ("'odd file.csv'", "odd file.csv", ""),
        ("adult.csv", "adult.csv", ""),
        ("(SELECT ')' AS a FROM t)", "", "SELECT ')' AS a FROM t"),
    ],
)
def test_what_is_audited(dialect: str, relation: str, name: str, query: str) -> None:
    found = parse_audit(f"AUDIT {relation} BY (a)", dialect)
    assert (found.target.relation, found.target.query) == (name, query)


ERRORS = (
    ("AUDIT", 1, 6, "a table, a file in single quotes or a (SELECT …) is expected here"),
    ("AUDIT t (age)", 1, 9, "BY is expected here"),
    ("AUDIT t\n  x BY (age)", 2, 3, "BY is expected here"),
    ("AUDIT t BY age", 1, 12, "the quasi-identifiers must be in parentheses: BY (age, sex)"),
    ("AUDIT t BY (age", 1, 12, "this bracket is not closed"),
    ("AUDIT t BY (age,, sex)", 1, 13, "a column is missing in this list"),
    ("AUDIT t BY (a) SENSITIV b", 1, 16, "SENSITIVE, ENTITY, REQUIRE or the end is expected here, in this order"),
    ("AUDIT t BY (a) SENSITIVE b c", 1, 28, "a comma, REQUIRE or the end is expected here"),
    ("AUDIT t BY (a)\nREQUIRE k <= 5", 2, 11, "k is a lower limit (at least); write >= or ="),
    ("AUDIT t BY (a) SENSITIVE b REQUIRE t >= 0.1", 1, 38, "t is an upper limit (at most); write <= or ="),
    ("AUDIT t BY (a) REQUIRE k", 1, 25, "k needs a limit, for example k = 5"),
    ("AUDIT t BY (a) REQUIRE k = 5,", 1, 30, "a requirement is missing after the comma"),
    (
        "AUDIT t BY (a) REQUIRE kk = 5",
        1,
        24,
        "There is no privacy model 'kk'. Did you mean 'k'? 'sqlaudit models' lists them",
    ),
    ("AUDIT t BY (a) REQUIRE", 1, 23, "a requirement is expected here, for example k >= 5"),
    ("AUDIT t BY (a) ENTITY p, q", 1, 16, "ENTITY takes one column: the one that identifies the person"),
)


@DIALECTS
@pytest.mark.parametrize(("text", "line", "column", "problem"), ERRORS)
def test_errors_point_at_the_place(dialect: str, text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(StatementError) as caught:
        parse_audit(text, dialect, first_line=10)
    assert str(caught.value) == f"AUDIT, line {line + 9}, column {column}: {problem}."
    shown, caret = caught.value.pointed.split("\n")
    assert shown == text.split("\n")[line - 1]
    assert caret == " " * (column - 1) + "^"


def test_the_mark_stands_below_the_place_whatever_is_before_it() -> None:
    with pytest.raises(StatementError) as caught:
        parse_audit("AUDIT\t'日本.csv' (a)", "duckdb")
    assert caught.value.pointed == "AUDIT '日本.csv' (a)\n" + " " * 17 + "^"


@DIALECTS
def test_columns_that_follow_a_command(dialect: str) -> None:
    def read(text: str) -> tuple[str, ...]:
        return parse_arguments(text, dialect, "\\qi")

    assert read('age  year(birth) "zip code"') == ("age", "year(birth)", "zip code")
    assert read("age / 10, sex") == ("age / 10", "sex")
    assert read("(age, sex)") == ("age", "sex")
    assert read("(a + b) * 2, (c)") == ("(a + b) * 2", "(c)")
    assert read("") == ()
