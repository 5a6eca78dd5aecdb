"""Hierarchies from files, folders and mappings; what is wrong is said with file, line, column and level."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.classes.inputs import load_inputs
from sqlaudit.hierarchies.levels import Use, WidthLevel, kept_hierarchy
from sqlaudit.hierarchies.read import Hierarchies, read_hierarchies

WHOLE = """\
population: register.csv
hierarchies:
  age: {widths: [5, 10, 20, 40], origin: 0, low: 15, high: 90}
  zip: {mask: [1, 2, 3]}
  phone: {mask: {keep: [4, 2]}}
  born: {dates: [month, year, decade]}
  job:
    tree:
      health: [nurse, doctor]
      school: [teacher]
    default: "*"
  town: {csv: towns.csv, default: elsewhere}
  level: {values: {a: [low], b: [low], null: none}}
  x: {sql: ["floor(value / 10)", "'*'"]}
  sex: keep
  name: drop
"""


def to_half_open(folder: Path) -> Path:
    """The file of every form."""
    (folder / "towns.csv").write_text("Bonn;NRW;Germany\nKiel;SH;Germany\nMetz;Lorraine;France\n", encoding="utf-8")
    (folder / "h.yml").write_text(WHOLE, encoding="utf-8")
    return folder / "h.yml"


def test_a_file_with_every_form(tmp_path: Path) -> None:
    read = read_hierarchies(to_half_open(tmp_path))
    found = {name: (one.form, one.level_names(), one.default) for name, one in read.given.items()}
    assert found == {
        "age": ("widths", ("unchanged", "width 5", "width 10", "width 20", "width 40", "*"), None),
        "zip": ("mask", ("unchanged", "last 1 masked", "last 2 masked", "last 3 masked", "*"), None),
        "phone": ("mask", ("unchanged", "4 characters", "2 characters", "*"), None),
        "born": ("dates", ("unchanged", "month", "year", "decade", "*"), None),
        "job": ("tree", ("unchanged", "listed", "*"), "*"),
        "town": ("csv", ("unchanged", "listed 1 of 2", "listed 2 of 2", "*"), "elsewhere"),
        "level": ("values", ("unchanged", "listed", "*"), None),
        "x": ("sql", ("unchanged", "SQL", "*"), None),
        "sex": ("keep", ("unchanged",), None),
        "name": ("drop", ("unchanged", "*"), None),
    }
    assert read.given["age"].levels[0] == WidthLevel(Fraction(5), Fraction(0), Fraction(15), Fraction(90))
    towns, levels = read.given["town"].table, read.given["level"].table
    assert towns is not None
    assert levels is not None
    assert list(towns.labels(1)) == [("Bonn", "Germany"), ("Kiel", "Germany"), ("Metz", "France")]
    assert list(levels.labels(0)) == [("a", "low"), ("b", "low"), (None, "none")]
    assert [one.takes_part for one in read.given.values()].count(False) == 1
    assert read.given["zip"].table is None
    assert read_hierarchies(read) is read


def test_every_level_has_a_name_of_its_own_by_which_it_is_found() -> None:
    spelled = {
        "age": ({"widths": [1, 5, "2.5e1"], "unit": "years"}, ("1 year", "5 years", "25 years")),
        "cm": ({"widths": [5, 10], "low": 100}, ("width 5", "width 10")),
        "zip": ({"mask": {"digits": [3, 1]}}, ("3 digits", "1 digit")),
        "code": ({"mask": {"keep": [2, 1]}}, ("2 characters", "1 character")),
        "phone": ({"mask": [1, 4]}, ("last 1 masked", "last 4 masked")),
        "born": ({"dates": ["year", "5 years", "10 years", "20 years"]}, ("year", "5 years", "10 years", "20 years")),
        "town": ({"values": {"Bonn": ["NRW", "DE"], "Metz": ["GE", "FR"]}}, ("listed 1 of 2", "listed 2 of 2")),
        "city": (
            {"values": {"Bonn": ["NRW", "DE"], "Metz": ["GE", "FR"]}, "names": ["state", "land"]},
            ("state", "land"),
        ),
        "x": ({"sql": ["x // 2", "x // 4"], "names": ["halves", "quarters"]}, ("halves", "quarters")),
        "sex": ("*", ()),
    }
    for column, (form, names) in spelled.items():
        (read,) = read_hierarchies({column: form}).for_columns([column])
        assert read.level_names() == ("unchanged", *names, "*")
        assert [read.level_named(name) for name in read.level_names()] == [*range(len(names) + 2)]
        assert [read.level_named(str(number)) for number in range(len(names) + 2)] == [*range(len(names) + 2)]
    assert kept_hierarchy("sex").level_names() == ("unchanged",)


@pytest.mark.parametrize("text", ["10 years", "width 5", "values", "-1", "4", "", "01", "2.0"])
def test_a_level_that_is_not_there_is_named_beside_those_that_are(text: str) -> None:
    (ages,) = read_hierarchies({"age": {"widths": [5, 20], "unit": "years"}}).for_columns(["age"])
    with pytest.raises(UsageError, match=r"'age' has no level .* Its levels are: unchanged, 5 years, 20 years, \*\."):
        ages.level_named(text)


def test_inputs_of_an_audit_may_have_the_section_too(tmp_path: Path) -> None:
    found = load_inputs(to_half_open(tmp_path))["hierarchies"]
    assert isinstance(found, Hierarchies)
    assert set(found.given) >= {"age", "zip"}


def test_columns_are_found_whatever_their_case_and_get_what_they_have(tmp_path: Path) -> None:
    read = read_hierarchies({"AGE": {"widths": 5}, "year(b)": "keep"})
    ages, years, sex = read.for_columns(["age", "year(b)", "sex"])
    assert (ages.column, ages.height, years.use, sex.level_names()) == ("age", 2, Use.KEEP, ("unchanged", "*"))
    quoted = read_hierarchies({"native-country": "keep", '"a ""b"': "drop"})
    assert [(one.column, one.use) for one in quoted.for_columns(['a "b', '"Native-Country"'])] == [
        ('a "b', Use.DROP),
        ('"Native-Country"', Use.KEEP),
    ]
    with pytest.raises(UsageError, match=r"'AGE' is not a quasi-identifier\. Did you mean 'ages'\?"):
        read.for_columns(["ages", "year(b)"])
    with pytest.raises(UsageError, match="two hierarchies"):
        read_hierarchies({"age": "keep", "AGE": "keep"}).for_columns(["age"])


def test_a_folder_has_one_file_a_column(tmp_path: Path) -> None:
    for name in ("adult_hierarchy_country", "adult_hierarchy_native-country", "Age", "unrelated"):
        (tmp_path / f"{name}.csv").write_text("a;x;*\nb;y;*\n", encoding="utf-8")
    read = read_hierarchies(tmp_path)
    found = read.for_columns(["age", "country", '"native-country"', "sex"])
    assert [Path(one.place).name for one in found] == [
        "Age.csv",
        "adult_hierarchy_country.csv",
        "adult_hierarchy_native-country.csv",
        "",
    ]
    assert [one.height for one in found] == [2, 2, 2, 1]
    with pytest.raises(UsageError, match=r"has no file …person\.csv, and none for any other"):
        read.for_columns(["person"])
    (tmp_path / "her_age.csv").write_text("a;*\n", encoding="utf-8")
    (tmp_path / "his_age.csv").write_text("a;*\n", encoding="utf-8")
    assert read.for_columns(["age"])[0].place.endswith("Age.csv")
    (tmp_path / "Age.csv").unlink()
    with pytest.raises(UsageError, match=r"her_age\.csv and his_age\.csv both match 'age'. Keep one of them"):
        read.for_columns(["age"])


def test_the_last_level_of_a_file_is_the_top_when_it_is_one_value(tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    for text, depth, top in [
        ("a;x;*\nb;y;*\n", 1, "*"),
        ("a;x;All\nb;y;All\n", 1, "All"),
        ("a;x;u\nb;y;v\n", 2, "*"),
        ("a;*\nb;*\n", 0, "*"),
        ("\ufeffa,x,*\nb,y,*\n\n", 1, "*"),
        ('"a;b";"it""s";*\n😀;y;*\n', 1, "*"),
    ]:
        file.write_text(text, encoding="utf-8")
        table = read_hierarchies({"c": {"csv": str(file)}}).given["c"].table
        assert table is not None
        assert (table.depth, table.top, len(table.rows)) == (depth, top, 2)


BROKEN: list[tuple[Any, str]] = [
    (
        {"age": {"widths": [5, 10, 25]}},
        "the hierarchies, age, level 3: width 25 is not a multiple of width 10 at level 2, so the levels are not "
        "nested. Use 20 or another multiple.",
    ),
    ({"age": {"widths": [5, 5]}}, "level 2: width 5 is not a multiple of width 5 at level 1"),
    ({"age": {"widths": [0]}}, "age, level 1: a width is a number above 0, not 0."),
    ({"age": {"widths": []}}, "age: name at least one width."),
    ({"age": {"widths": ["x"]}}, "a width must be a number, for example 0.5."),
    ({"age": {"widths": 5, "low": 9, "high": 9}}, "age: low (9) must be less than high (9)."),
    ({"age": {"widths": 5, "orgin": 1}}, "'widths' has no option 'orgin'. Did you mean 'origin'?"),
    ({"age": {"widths": "1e-20"}}, "widths and bounds have at most 15 decimals."),
    ({"zip": {"mask": [2, 1]}}, "zip, level 2: mask more characters than level 1 (2), not 1."),
    ({"zip": {"mask": {"keep": [1, 2]}}}, "zip, level 2: keep fewer characters than level 1 (1), not 2."),
    ({"zip": {"mask": {"drop": [1]}}}, "'mask' must be a list of numbers of characters to mask, or {keep:"),
    ({"zip": {"mask": ["0.5"]}}, "a number of characters must be whole."),
    ({"zip": {"mask": [0]}}, "zip, level 1: mask between 1 and 1000 characters, not 0."),
    ({"b": {"dates": ["week", "month"]}}, "A week can span two months or years, so it cannot be a level."),
    ({"b": {"dates": ["year", "month"]}}, "b, level 2 (month): is not coarser than level 1 (year)."),
    ({"b": {"dates": ["decade", "10 years"]}}, "b, level 2 (10 years): is not coarser than level 1 (decade)."),
    ({"b": {"dates": ["7 years"]}}, "Use day, month, quarter, year, 5 years, decade, 10 years, 20 years, century."),
    ({"b": {"dates": ["year"], "names": ["y"]}}, "'dates' has no option 'names'."),
    ({"b": {"widths": 5, "unit": "a,b"}}, "'unit' has 1 to 30 characters, and no comma."),
    ({"b": {"widths": 5, "unit": ""}}, "'unit' has 1 to 30 characters, and no comma."),
    ({"b": {"sql": ["value"], "names": []}}, "'names' has 0 of the 1 levels between the values and *."),
    ({"b": {"sql": ["value", "1"], "names": ["a", "a"]}}, "'names' of levels must differ from each other"),
    ({"b": {"sql": ["value"], "names": ["unchanged"]}}, "differ from each other, from unchanged, * and numbers."),
    ({"b": {"sql": ["value"], "names": ["2"]}}, "differ from each other, from unchanged, * and numbers."),
    ({"b": {"sql": ["value"], "names": ["a\nb"]}}, "the name of a level has 1 to 30 characters, and no comma."),
    ({"b": {"widths": 1, "mask": 1}}, "'b' needs exactly one of widths, mask, dates, tree, csv, values, sql."),
    ({"b": {"wdth": 1}}, "Did you mean 'widths'?"),
    ({"b": "hide"}, "'b' must be keep, drop, '*', or a mapping with one of"),
    ({"b": {"sql": []}}, "'sql' must be a list of expressions, one per level."),
    ({"b": {"values": {"a": ["x"], "b": ["x", "y"]}}}, "has 2 labels, but the first value has 1."),
    ({"b": {"tree": {"a": {"o": ["x"]}, "b": {"o": ["y"]}}}}, "b: two groups at level 1 have the same name"),
    ({"b": {"tree": {"x": None, "deep": {"x": ["y"]}}}}, "two groups at level 1 have the same name"),
    ({"b": {"tree": {"a": ["x"], "b": ["x"]}}}, "this leaf is in the tree twice."),
]


@pytest.mark.parametrize(("asked", "said"), BROKEN, ids=lambda case: str(case)[:40])
def test_what_is_wrong_is_said_with_column_and_level(asked: Any, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_hierarchies(asked)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;x;*\nb;y\n", "h.csv, line 2: has 2 fields, but the first line has 3."),
        (
            "a;x;*\nsecret;y;*\nsecret;x;*\n",
            "h.csv, line 3: this value has another label at level 1 in an earlier line.",
        ),
        ("a\n", "has no levels. A hierarchy has lines of the form"),
        ("", "has no levels. A hierarchy has lines of the form"),
    ],
)
def test_broken_files_are_told_by_line_and_never_by_value(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "h.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refusal:
        read_hierarchies({"c": {"csv": str(tmp_path / "h.csv")}})
    assert said in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_files_that_are_not_there_or_hold_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_hierarchies(tmp_path / "missing.yml")
    (tmp_path / "h.yml").write_text("age: {widths: 5}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has no section 'hierarchies'"):
        read_hierarchies(tmp_path / "h.yml")
    (tmp_path / "h.yml").write_text("hierarchies:\n  age: {widths: [5, 12]}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"h\.yml, line 2, age, level 2: width 12"):
        read_hierarchies(tmp_path / "h.yml")
