"""Cells of CSV files: no spreadsheet computes one, whatever its separator, and what was written is read back."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.base.files import as_written, csv_cell, harmless, label_cell

STARTS = "=+-@＝＋－＠"
UNSEEN = "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c) in ("Cc", "Cf", "Zs"))


def cells_of(line: str, separator: str) -> list[str]:
    """The cells that a spreadsheet with this separator finds in a file of one field."""
    return [cell for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator) for cell in row]


def computes(cell: str) -> bool:
    """Whether a cell begins as a formula does, past all that no one sees; a signed number alone computes nothing."""
    seen = cell.lstrip(UNSEEN)
    number = re.fullmatch(r"[+\-＋－][0-9][0-9. ]*(e[+-]?[0-9]+)?[\s\])}]*", seen, re.IGNORECASE)
    return seen.startswith(tuple(STARTS)) and not number


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("\n=1", "\n'=1"),
        ("\t=1", "'\t'=1"),
        ("\rx", "'\rx"),
        ("＝1", "'＝1"),
        ("－a", "'－a"),
        ("＠x", "'＠x"),
        ("＋a", "'＋a"),
        (" =1", "' =1"),
        ("\xa0=1", "'\xa0=1"),
        ("\x0b=1", "'\x0b=1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("x;=1+1", "x;'=1+1"),
        ("x, ＝1", "x,' ＝1"),
        ("a|@b", "a|'@b"),
        ("two\n=1", "two\n'=1"),
        ("a;-2+3", "a;'-2+3"),
        ("'=1", "''=1"),
        ("two\nlines", "two\nlines"),
        ("[-10, -5)", "[-10, -5)"),
        ("{-1, -2}", "{-1, -2}"),
        ("a=b", "a=b"),
        ("'tis", "'tis"),
        ("a - b", "a - b"),
        ("", ""),
    ],
)
def test_formulas_get_an_apostrophe_and_nothing_else_does(text: str, written: str) -> None:
    assert csv_cell(text) == written
    assert as_written(written) == text


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.text(st.sampled_from([*STARTS, *"';,|\t\r\n\x0b\ufeff \xa0a1()"]), max_size=12))
def test_no_cell_begins_with_a_formula_at_any_separator_and_all_is_read_back(text: str) -> None:
    written = harmless(text)
    assert as_written(written) == text
    for separator in ";,|\t":
        line = io.StringIO()
        csv.writer(line, delimiter=separator).writerow(["first", written])
        for other in ";,|\t":
            found = [cell for cell in cells_of(line.getvalue().replace('"', ""), other) if computes(cell)]
            assert found == []


def test_numbers_are_numbers() -> None:
    assert [csv_cell(value) for value in (-5, -0.5, None, True)] == [-5, -0.5, None, True]
    assert [label_cell(text) for text in ("-5", "+1.5", "-1e3", None)] == ["-5", "+1.5", "-1e3", None]
    assert [label_cell(text) for text in ("-5+1", "=5")] == ["'-5+1", "'=5"]
