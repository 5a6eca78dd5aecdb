"""Names of columns: what is printed is what is typed, in a list, a shell, YAML, Python and SQL."""

from __future__ import annotations

import ast
import csv
import random
import shlex
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UnknownColumn
from sqlaudit.base.files import write_rows
from sqlaudit.base.names import closest_column, in_quotes, option_value, shown, split_at_equals, typed, untyped
from sqlaudit.base.options import split_list, written
from sqlaudit.gates.proposal import column_scalar
from tests.cli.runner import run
from tests.conftest import AuditOn

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
ODD = (
    *("Alter\nin Jahren", " Größe ", "PLZ\u00a0(Wohnort)", "Diagnose, Haupt", '"Grad"', 'a"b', "(old)", "-x", "it's"),
    *("a\\nb", "a\\", "\t", "🎉", "👨\u200d👩", "\u202eevil", "a=b", "=1+1", "$HOME", "`id`", "!x", "*", "a\u2028b"),
)


@given(NAMES)
def test_a_list_reads_what_is_printed(name: str) -> None:
    assert split_list(typed(name)) == split_list(written(name)) == (name,)
    assert untyped(in_quotes(name)) == name
    assert typed(name).isprintable() or set(typed(name)) & {"\u200c", "\u200d"}


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_a_shell_hands_over_what_is_printed(names: list[str]) -> None:
    (text,) = shlex.split(option_value(names))
    assert split_list(text) == tuple(names)
    (alone,) = shlex.split(shown(names[0]))
    assert split_list(alone) == (names[0],)


@given(NAMES)
def test_policies_and_python_read_what_a_message_prints(name: str) -> None:
    """The text between the apostrophes, and with them."""
    assert untyped(yaml.safe_load(f"[{shown(name)}]")[0]) == name
    assert untyped(ast.literal_eval(shown(name))) in (name, name.replace("\\\\", "\\"))
    found = yaml.safe_load(f"- {column_scalar(name)}")[0]
    assert name in (found, untyped(found))


@given(NAMES, NAMES)
def test_the_first_equals_sign_outside_of_quotes_ends_a_name(name: str, value: str) -> None:
    assert split_at_equals(f"{in_quotes(name)}={value}") == (name, "=", value)
    assert split_at_equals(in_quotes(name)) == (name, "", "")


@pytest.mark.parametrize("name", ODD)
def test_the_closest_name_is_found_without_its_blanks(name: str) -> None:
    near = "".join(sign for sign in name if sign.isprintable() and not sign.isspace())
    assert not near or closest_column(near, ["diagnosis", name]) == f" Did you mean {shown(name)}?"


@pytest.mark.parametrize("name", ODD)
def test_every_engine_finds_an_odd_name(audit_on: AuditOn, name: str) -> None:
    rows = [{name: value, "b": "x"} for value in ("p", "p", "q")]
    for text in (in_quotes(name), typed(name)):
        (found,) = split_list(text)
        audited = audit_on(rows, {name: "text", "b": "text"}, qi=[found], require=["k=1"])
        assert audited.status == "pass"
        assert audited.to_dict()["roles"]["quasi_identifiers"] == [name]


def test_python_takes_a_list_and_a_text_in_quotes(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    write_rows(file, ["Alter\nin Jahren", " b "], [[("x", "y"), ("x", "z")]])
    for qi in (["Alter\nin Jahren"], '"Alter\\nin Jahren"', '"Alter\\nin Jahren"," b "'):
        assert sqlaudit.audit(str(file), qi=qi).rows == 2
    with pytest.raises(UnknownColumn, match="Did you mean") as caught:
        sqlaudit.audit(str(file), qi=["Alter in Jahren"])
    (proposed,) = shlex.split(str(caught.value).partition("Did you mean ")[2].rstrip("?"))
    assert sqlaudit.audit(str(file), qi=[proposed]).rows == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("seed", range(12))
def test_a_release_keeps_names_and_is_read_with_them(suffix: str, seed: int, tmp_path: Path) -> None:
    names = [name for name in random.Random(seed).sample(ODD, 5) if name.strip()]
    rows = [(*(f"v{place}" for place in range(len(names) - 1)), number) for number in range(6)]
    write_rows(tmp_path / f"r{suffix}", names, [rows])
    found = sqlaudit.profile(str(tmp_path / f"r{suffix}"), sets=False)
    assert {column.name for column in found.columns} == set(names)
    assert found.rows == 6


def test_blanks_in_quotes_are_part_of_a_name_and_others_are_not(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('age, sex ," zip ","x"\n1,m,2,3\n2,f,3,4\n', encoding="utf-8")
    assert {column.name for column in sqlaudit.profile(str(file), sets=False).columns} == {"age", "sex", " zip ", "x"}
    ran = run("audit", file, "--qi", "age,sex,zip")
    assert (ran.code, "Did you mean '\" zip \"'?" in ran.err) == (2, True)


def test_a_header_with_line_breaks_in_a_file_of_windows_is_refused(tmp_path: Path) -> None:
    """DuckDB takes the break inside of the name for the end of every line, and then reads no row."""
    file = tmp_path / "t.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as target:
        csv.writer(target, lineterminator="\r\n").writerows([["Alter\nin Jahren", "Ort"], *[(20, "a"), (30, "b")] * 9])
    ran = run("audit", file, "--qi", "Ort")
    assert (ran.code, "Read the workbook itself, or write each name in one line." in ran.err) == (2, True)
