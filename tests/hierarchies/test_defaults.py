"""Default levels: what a column without a hierarchy has, on every engine, and how they are told and changed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.columns_of import resolve
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.defaults import default_levels, propose_levels
from sqlaudit.hierarchies.levels import ColumnType, level_sql
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.profiles.names import contents_of
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.strategies import run as examples

TENS = {"widths": ["5", "10", "20", "40"]}
DATES = {"dates": ["month", "quarter", "year", "decade"]}
AGES = [*range(20, 80)]


@pytest.mark.parametrize(
    ("values", "kind", "levels"),
    [
        (AGES, "int", TENS),
        ([1, 2, 3, None], "int", "*"),
        ([0.0, 1.0, None], "float", "*"),
        ([0.25, 0.5, 0.97], "float", {"widths": ["0.05", "0.1", "0.2", "0.4"]}),
        ([float("nan"), 1.0, 90.0], "float", "*"),
        ([Decimal("12.50"), Decimal("990.25")], "decimal", {"widths": ["10", "100"]}),
        ([900, 152_000], "int", {"widths": ["100", "1000", "10000", "100000"]}),
        ([None], "int", "*"),
        (["13053", "13068", None], "text", {"mask": {"digits": [4, 3, 2, 1]}}),
        (["SW1A 1AA", "E1 6AN"], "text", {"mask": {"keep": [6, 4, 2]}}),
        (["F1", "F2"], "text", "*"),
        (["20-29", "30-39"], "text", "*"),
        (["nurse", "clerk"], "text", "*"),
        ([datetime.date(1980, 2, 29)], "date", DATES),
    ],
    ids=[
        "ages",
        "codes",
        "flags",
        "shares",
        "nan",
        "decimals",
        "incomes",
        "nothing",
        "zip",
        "postcodes",
        "short",
        "bands",
        "words",
        "dates",
    ],
)
def test_levels_follow_from_kinds_ranges_and_lengths(
    engine: Engine, values: Sequence[Any], kind: str, levels: Any
) -> None:
    relation = engine.open(Target(query=values_query([{"v": value} for value in values], {"v": kind})))
    column = resolve("v", relation, engine.dialect, "--qi")
    assert default_levels(engine, relation, [column], contents_of) == [levels]


BIRTH = {"dates": ["year", "5 years", "10 years"]}
YEARS_5_10 = {"widths": ["5", "10"], "unit": "years"}
UK = ["SW1A 1AA", "E1 6AN", None]
BY_NAME: list[tuple[str, Sequence[Any], str, Any]] = [
    ("birth_date", [datetime.date(1980, 2, 29), None], "date", BIRTH),
    ("geburtsdatum", [datetime.date(1980, 2, 29)], "date", BIRTH),
    ("visited", [datetime.date(1980, 2, 29)], "date", DATES),
    ("birthday", ["1980-02-29"], "text", "*"),
    ("year_of_birth", [1931, 2004, None], "int", YEARS_5_10),
    ("Geburtsjahr", [1980.0, 1995.0], "float", YEARS_5_10),
    ("birth_weight", [2400, 3900], "int", {"widths": ["10", "100", "1000"]}),
    ("birth_month", [1, 12], "int", {"widths": ["5", "10"]}),
    ("birth_year", [1980, 1989], "int", "*"),
    ("patient_age", AGES, "int", {**TENS, "unit": "years"}),
    ("Alter", [*AGES, 130], "int", {**TENS, "unit": "years"}),
    ("age", [0.5, 90.0], "float", TENS),
    ("age", [*AGES, 131], "int", TENS),
    ("age_months", AGES, "int", TENS),
    ("age_group", [1, 20], "int", {"widths": ["5", "10"]}),
    ("floor(age / 2)", AGES, "int", {"widths": ["5", "10", "20"]}),
    ("zip", ["130531", "130682"], "text", {"mask": {"digits": [5, 4, 3, 2, 1]}}),
    ("code", ["130531", "130682"], "text", {"mask": {"digits": [4, 2]}}),
    ("postcode", ["00-950", "31-004"], "text", {"mask": {"keep": [5, 4, 3, 2, 1]}}),
    ("code", ["00-950", "31-004"], "text", "*"),
    ("postcode", UK, "text", {"mask": [1, 2, 3, 4, 5, 6, 7]}),
    ("code", UK, "text", {"mask": {"keep": [6, 4, 2]}}),
    ("PLZ", ["1010", "10115"], "text", {"mask": [1, 2, 3, 4]}),
    ("plz", ["unknown", "10115"], "text", "*"),
    ("postal_town", ["Berlin", "Bonn"], "text", "*"),
    ("plz", ["10115 Berlin, Mitte"], "text", "*"),
    ("zip", [1067, 99999], "int", {"widths": ["10", "100", "1000", "10000"]}),
    ("zip", [10115, 10178], "int", {"widths": ["10"]}),
    ("zip", [1000000, 9999999], "int", {"widths": ["10", "100", "1000", "10000", "100000", "1000000"]}),
]


@pytest.mark.parametrize(("name", "values", "kind", "levels"), BY_NAME, ids=lambda case: str(case)[:25])
def test_levels_follow_from_what_a_name_says_where_the_values_agree(
    engine: Engine, name: str, values: Sequence[Any], kind: str, levels: Any
) -> None:
    column_name = "age" if name.startswith("floor") else name
    relation = engine.open(Target(query=values_query([{column_name: value} for value in values], {column_name: kind})))
    column = resolve(name, relation, engine.dialect, "--qi")
    assert default_levels(engine, relation, [column], contents_of) == [levels]
    if isinstance(levels, dict):
        read_hierarchies({name: levels})  # refuses levels that are not nested


CODES = st.lists(st.text("0123456789AB -", min_size=1, max_size=8), min_size=1, max_size=30)


@examples(40)
@given(CODES)
def test_postal_codes_of_any_lengths_are_nested_from_the_right(engine: Engine, codes: list[str]) -> None:
    """By hand: the code without its last characters, whose place stays visible."""
    relation = engine.open(Target(query=values_query([{"plz": code} for code in codes], {"plz": "text"})))
    levels = {"mask": [1, 2, 3, 4, 5, 6, 7]}
    (made,) = read_hierarchies({"plz": levels}).for_columns(["plz"])
    columns = [
        level_sql(made, n, quote("plz", engine.dialect), engine.dialect, ColumnType(Kind.TEXT)) for n in range(1, 8)
    ]
    rows = engine.run(Statement("labels", f"SELECT {', '.join(columns)} FROM {relation.sql}"))
    by_hand = {tuple(code[: max(0, len(code) - n)] + "*" * min(n, len(code)) for n in range(1, 8)) for code in codes}
    assert {tuple(row) for row in rows} == by_hand
    for below, above in pairwise(range(7)):
        assert len({(row[below], row[above]) for row in rows}) == len({row[below] for row in rows})


def test_widths_are_nested_and_show_no_end_of_a_range() -> None:
    for span in (10, 19, 87, 199, 200, 201, 999, 1000, 5 * 10**6):
        for low in (0, 7, -33):
            shown = propose_levels(Kind.INTEGER, (low, low + span, 50, 50))
            assert shown == propose_levels(Kind.INTEGER, (1, 1 + span, 60, 60))  # the range decides, and not its ends
            (read,) = read_hierarchies({"v": shown}).for_columns(["v"])  # refuses widths that are not nested
            assert 2 <= read.height <= 5
    assert propose_levels(Kind.INTEGER, (17, 91, 9, 9)) == propose_levels(Kind.INTEGER, (12, 99, 9, 9))


def test_one_command_gives_a_useful_release(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "age,sex", *(f"{age},{'mf'[age % 2]}" for age in AGES))
    release = tmp_path / "out.csv"
    ran = run("lattice", file, "--qi", "age,sex", "--require", "k=5", "--to", release)
    assert ran.code == 0
    assert {line.split(",")[0] for line in release.read_text().split("\n")[1:3]} <= {'"[20', '"[10'}
    said = "Default levels: age and sex. To change them, edit the file that `sqlaudit hierarchy` prints, and name it"
    said += f" with --hierarchies. A file with the default levels: sqlaudit hierarchy {file} age,sex --propose"
    assert said in ran.said
    recoded = run("recode", file, "--qi", "age,sex", "--require", "k=5")
    compared = run("compare", file, release, "--qi", "age,sex")
    for other in (recoded, compared):
        assert said in other.said


def test_columns_that_are_not_named_have_default_levels() -> None:
    people = pd.DataFrame({"age": AGES, "income": [100 * age for age in AGES], "sex": ["m", "f"] * 30})
    found = sqlaudit.lattice(
        people, qi=["age", "income", "sex"], require="k=2", hierarchies={"age": {"widths": [7]}, "sex": "*"}
    )
    assert [(one.levels, one.by_default) for one in found.columns] == [
        (("unchanged", "width 7", "*"), False),
        (("unchanged", "width 10", "width 100", "width 1000", "*"), True),
        (("unchanged", "*"), False),
    ]


def test_what_is_proposed_can_be_edited_and_used(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "age,zip,sex", *(f"{age},0{age}53,{'mf'[age % 2]}" for age in AGES))
    ran = run("hierarchy", file, "age,zip,sex", "--propose", "--all-text")
    assert (ran.code, ran.err) == (0, "")
    ran = run("hierarchy", file, "age,sex,floor(age / 2)", "--propose")
    assert ran.out.splitlines()[1:] == [
        "hierarchies:",
        "  age: {widths: [5, 10, 20, 40], unit: years}",
        '  sex: "*" # as it is, or *',
        '  "floor(age / 2)": {widths: [5, 10, 20]}',
    ]
    proposed = tmp_path / "h.yml"
    proposed.write_text(ran.out)
    options = ("--qi", "age,sex,floor(age / 2)", "--require", "k=5")
    given, default = (
        run("lattice", file, *options, *more).out.partition("The lattice\n")
        for more in (("--hierarchies", proposed), ())
    )
    assert given[0] == default[0]
    assert "Default levels" in default[2]
    assert "Default levels" not in given[2]
    planned = run("hierarchy", file, "age", "--propose", "--dry-run")
    assert 'MIN("age")' in planned.out
    assert "widths" not in planned.out
    assert 'MIN("age")' in run("lattice", file, *options, "--dry-run").out
