"""Rows as tables, CSV and JSON; sentences in the words of the console."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from sqlaudit.base.parameter_names import speaking, spelled
from sqlaudit.base.relation import ColumnInfo, Kind
from sqlaudit.cli.console.screen import Screen, Terminal, as_csv, as_json, as_table
from sqlaudit.cli.console.session import as_sentence, in_the_console
from sqlaudit.cli.console.workspace import Rows
from sqlaudit.cli.group import on_the_command_line

COLUMNS = (ColumnInfo("name", "VARCHAR", Kind.TEXT), ColumnInfo("n", "BIGINT", Kind.INTEGER))


def rows(*lines: tuple[Any, ...], columns: tuple[ColumnInfo, ...] = COLUMNS) -> Rows:
    return Rows(columns, iter([list(lines[:2]), list(lines[2:])]))


def test_a_table_is_aligned_by_the_width_that_a_terminal_gives() -> None:
    assert list(as_table(rows(("日本語", 1), ("é", None), ("ab", -20)))) == [
        "name   | n",
        "-------+-----",
        "日本語 |    1",
        "é      | NULL",
        "ab     |  -20",
        "(3 rows)",
    ]


def test_long_cells_are_cut_at_a_terminal_and_whole_elsewhere() -> None:
    assert list(as_table(rows(("x" * 30, 1)), widest=10))[2] == "x" * 9 + "… | 1"
    assert list(as_table(rows(("日" * 30, 1)), widest=10))[2] == "日" * 4 + "… | 1"
    assert list(as_table(rows(("x" * 30, 1))))[2] == "x" * 30 + " | 1"


def test_what_would_steer_a_terminal_is_shown_there_and_kept_elsewhere() -> None:
    red = "red\x1b[31m\nnext"
    columns = (ColumnInfo("n\x1b]0;x\x07", "VARCHAR", Kind.TEXT),)
    for at_terminal in (True, False):
        wrote: list[str] = []
        terminal = Terminal(wrote.append, print, seen=lambda at=at_terminal: at)  # type: ignore[misc]
        screen = Screen(terminal, "csv")
        screen.rows(rows((red,), columns=columns))
        screen.text(f"SELECT 1 -- {red}")
        shown = "".join(wrote)
        assert ("\x1b" in shown) is not at_terminal
        assert ("red\\x1b[31m" in shown, "\\x1b]0;x\\x07" in shown) == (at_terminal, at_terminal)


def test_a_limit_says_that_there_is_more() -> None:
    three = [("a", 1), ("b", 2), ("c", 3)]
    assert list(as_table(rows(*three), limit=2))[2:] == ["a    | 1", "b    | 2", "(the first 2 rows; there are more)"]
    assert list(as_table(rows(*three), limit=3))[-1] == "(3 rows)"
    assert list(as_table(rows(*three), limit=1))[-1] == "(the first 1 row; there are more)"
    assert list(as_table(rows()))[1:] == ["-----+--", "(0 rows)"]


def test_values_of_every_kind() -> None:
    kinds = [
        True,
        False,
        b"\x00\xff",
        Decimal("1.50"),
        datetime.date(2020, 2, 29),
        [1, None],
        {"a": 1},
        1e-9,
        float("nan"),
        "",
    ]
    shown = [line.rstrip() for line in as_table(rows(*[(value, 1) for value in kinds]))]
    assert [line.split("|")[0].strip() for line in shown[2:-1]] == [
        "true",
        "false",
        "\\x00ff",
        "1.50",
        "2020-02-29",
        "[1, None]",
        "{'a': 1}",
        "1e-09",
        "nan",
        "",
    ]
    data = json.loads("".join(as_json(rows(*[(value, 1) for value in kinds]))))
    assert [row[0] for row in data["rows"]] == [
        True,
        False,
        "00ff",
        "1.50",
        "2020-02-29",
        [1, None],
        {"a": 1},
        1e-9,
        None,
        "",
    ]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.integers()), max_size=5))
def test_whatever_stands_in_values_the_lines_are_lines(lines: list[tuple[str, int]]) -> None:
    table = list(as_table(rows(*lines), widest=20))
    assert len(table) == len(lines) + 3
    text = "\n".join(table)
    assert text.split("\n") == text.splitlines()
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for line in table for character in line)
    rule = table[1].index("+")
    assert {get_cwidth(line[: line.index(" | ")]) for line in table[2:-1] if " | " in line[:rule]} <= set(range(rule))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.text("ab,\"'\n\r;é ", max_size=6), st.none() | st.integers()), max_size=5))
def test_csv_reads_back(lines: list[tuple[str, int | None]]) -> None:
    text = "".join(line + "\n" for line in as_csv(rows(*lines)))
    head, *read = csv.reader(io.StringIO(text, newline=""))
    assert head == ["name", "n"]
    disarmed = ["'" + name if name.startswith("\r") else name for name, _ in lines]
    assert read == [[name, "" if n is None else str(n)] for name, (_, n) in zip(disarmed, lines, strict=True)]


def test_csv_disarms_formulas() -> None:
    assert list(as_csv(rows(("=1+1", 1), ("-x", -1))))[1:] == ["'=1+1,1", "'-x,-1"]


def test_fields_are_commands_of_the_console_where_it_has_one() -> None:
    with speaking(on_the_command_line), speaking(in_the_console):
        said = [spelled("sensitive"), spelled("qi", "age", "sex"), spelled("show_values", True), spelled("max_size")]
        assert said == ["\\sensitive", "\\qi age sex", "\\values on", "--max-size"]
        assert f"{spelled('show_values', True)} lists the groups." == ("\\values on lists the groups.")
    assert as_sentence("the statement may only read.") == "The statement may only read."
    assert as_sentence("sex is the only quasi-identifier.") == "sex is the only quasi-identifier."
