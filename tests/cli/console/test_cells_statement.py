"""AGGREGATES as a statement: read completely, pointed at where it is wrong, judged as the command judges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import speaking
from sqlaudit.cli.console.completion import ConsoleCompleter
from sqlaudit.cli.console.grammar import parse_cells
from sqlaudit.cli.console.run import code_of
from sqlaudit.cli.console.session import in_the_console
from sqlaudit.cli.console.statements import StatementError, split
from sqlaudit.cli.console.workspace import Workspace
from tests.cli.console.helpers import Console, console
from tests.cli.runner import run

COUNTS = "region,count,value,first,the second\na,7,70,30,10\nb,2,20,15,5\nTotal,9,90,30,15\n"
VISITS = "who,region,cost\n1,a,5\n1,a,6\n2,a,7\n3,b,8\n"
DIALECTS = ("duckdb", "postgres", "spark")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("counts", COUNTS), ("visits", VISITS), ("older", COUNTS.replace("a,7", "a,6"))):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def opened(folder: Path) -> Iterator[Console]:
    with Workspace() as workspace:
        for name in ("counts", "visits"):
            workspace.target(f"{name}.csv")
        yield console(workspace)


@pytest.mark.parametrize("dialect", DIALECTS[:2])
def test_a_statement_is_read_completely(dialect: str) -> None:
    found = parse_cells(
        'aggregates s."T t" by (region, "a, b") largest first, value\n'
        "count count value value contributors (persons) holdings h hidden '*', 'x y'\n"
        "total region = 'All of it', \"a, b\" = null hierarchies 'r.yml'\n"
        "structural region = 'a' and n > 1 before old, 'last month.csv'\n"
        "require threshold >= 5, dominance <= n:2,k:85 full_cell = any",
        dialect,
    )
    asked = found
    names = tuple(target.relation for target in found.before)
    assert (found.target.relation, found.target.query, names) == ('s."T t"', "", ("old", "'last month.csv'"))
    assert (asked.by, asked.count, asked.value, asked.largest) == (
        ("region", "a, b"),
        "count",
        "value",
        ("first", "value"),
    )
    assert (asked.contributors, asked.holdings, asked.hidden) == ("persons", "h", ("*", "x y"))
    assert asked.total == ("region=All of it", "a, b=NULL")
    assert asked.hierarchies == "r.yml"
    assert asked.structural == "region = 'a' and n > 1"
    assert [one.text for one in asked.requirements] == ["threshold=5", "dominance=n:2,k:85", "full_cell=any"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_rows_that_a_table_is_made_from(dialect: str) -> None:
    found = parse_cells(
        "AGGREGATES FROM (SELECT * FROM visits) BY (region, sector) PERSON who VALUE cost WEIGHT w NEGATIVE absolute "
        "GROUPING (region), (region, sector), () REQUIRE p_percent = 10",
        dialect,
    )
    asked = found
    assert (found.target.query, asked.microdata, asked.person, asked.weight) == (
        "SELECT * FROM visits",
        True,
        "who",
        "w",
    )
    assert (asked.negative, asked.sets()) == ("absolute", ((0,), (0, 1), ()))


ERRORS = (
    ("AGGREGATES", 11, "a table, a file in single quotes or a (SELECT …) is expected here"),
    ("AGGREGATES t (a)", 14, "BY is expected here"),
    ("AGGREGATES t REQUIRE threshold = 5", 14, "BY is expected here"),
    (
        "AGGREGATES FROM (SELECT 1) REQUIRE threshold = 5",
        28,
        "BY is expected here, with the dimensions in parentheses: BY (region, sector)",
    ),
    ("AGGREGATES (SELECT 1) COUNT n", 1, "No dimensions are given. Name the columns with BY"),
    ("AGGREGATES t BY a", 17, "the dimensions must be in parentheses: BY (region, sector)"),
    ("AGGREGATES t BY (a)", 1, "No numbers are given. Name a column with COUNT or VALUE"),
    ("AGGREGATES t BY (a) COUNT", 26, "something is expected after COUNT"),
    ("AGGREGATES t BY (a) COUNT n, m", 27, "COUNT takes one column"),
    ("AGGREGATES t BY (a) HIDDEN x", 28, "a text in single quotes is expected after HIDDEN"),
    ("AGGREGATES t BY (a) TOTAL a", 28, "TOTAL takes column = 'value', for example region = 'Total'"),
    ("AGGREGATES t BY (a) COUNT n GROUPING a", 38, "GROUPING takes sets in parentheses, for example (region), ()"),
    ("AGGREGATES t BY (a) COUNT n PERSON p", 1, "PERSON applies to rows of people only: add AGGREGATES FROM"),
    ("AGGREGATES t BY (a) COUNT n REQUIRE", 36, "a rule is expected here, for example threshold >= 5"),
    ("AGGREGATES t BY (a) COUNT n REQUIRE threshold <= 5", 47, "threshold is a lower limit (at least); write >= or ="),
    ("AGGREGATES t BY (a) COUNT n REQUIRE k = 5", 37, "'k' is about rows of people, not cells. Use `sqlaudit audit`"),
)


@pytest.mark.parametrize(("text", "column", "problem"), ERRORS)
def test_errors_point_at_the_place(text: str, column: int, problem: str) -> None:
    with speaking(in_the_console), pytest.raises(StatementError) as caught:
        parse_cells(text, "duckdb", first_line=3)
    assert str(caught.value).replace("microdata ", "") == f"AGGREGATES, line 3, column {column}: {problem}."


def test_a_clause_stands_once() -> None:
    with pytest.raises(StatementError, match=r"column 29: VALUE, CONTRIBUTORS, .* REQUIRE or the end is expected"):
        parse_cells("AGGREGATES t BY (a) COUNT n COUNT n", "duckdb")


def test_it_says_what_the_command_says(opened: Console, folder: Path) -> None:
    said = opened.words("AGGREGATES counts BY (region) COUNT count HIDDEN '*' REQUIRE threshold >= 5;")
    assert said.startswith("counts.csv: 1 of 3 cells (33.3%) discloses too much about its contributors")
    assert "FAILS threshold=5 1 3" in said
    shown = run("aggregates", "counts.csv", "--by", "region", "--count", "count", "--require", "threshold=5").out
    assert " ".join(shown.split())[:110] == said[:110]
    assert opened.session.reported is not None


def test_largest_contributions_and_an_older_release(opened: Console) -> None:
    said = opened.words(
        "AGGREGATES counts BY (region) COUNT count VALUE value LARGEST first, \"the second\" BEFORE 'older.csv' "
        "REQUIRE threshold = 2, p_percent >= 20"
    )
    assert "FAILS p_percent=20 1 3" in said
    assert "From older.csv to counts.csv: 1 of 1 changed cell discloses too much" in said


def test_a_table_that_is_made_from_rows(opened: Console) -> None:
    said = opened.words("AGGREGATES FROM visits BY (region) PERSON who GROUPING (region), () REQUIRE threshold >= 2")
    assert "1 of 3 cells (33.3%) discloses too much" in said
    assert "Contributors 3" in said


def test_one_answer_is_judged_on_its_rows(opened: Console) -> None:
    query = "SELECT region, count(*) FROM visits GROUP BY ROLLUP (region)"
    said = opened.words(f"AGGREGATES ({query}) PERSON who REQUIRE threshold >= 2")
    assert "1 of 3 cells (33.3%) discloses too much" in said
    assert "This judges one answer" in said


def test_the_exit_code_is_that_of_the_verdict(opened: Console) -> None:
    codes = [
        code_of(opened.session.run(piece))
        for limit in (2, 3)
        for piece in split(f"AGGREGATES counts BY (region) COUNT count REQUIRE threshold = {limit}", "duckdb")
    ]
    assert codes == [0, 1]


def test_keys_of_cells_are_shown_with_values_on_alone(opened: Console) -> None:
    asked = "AGGREGATES counts BY (region) COUNT count REQUIRE threshold >= 5;"
    assert "Unsafe cells threshold=5 b" not in (hidden := opened.words(asked))
    assert "Unsafe cells Rule" not in hidden
    assert "Unsafe cells Rule region ──────────────────── threshold=5 b" in opened.words("\\values on\n" + asked)


def test_mistakes_speak_the_words_of_the_statement(opened: Console) -> None:
    with pytest.raises(UsageError, match=r"COUNT: .*no column 'nn'"):
        opened.run("AGGREGATES counts BY (region) COUNT nn REQUIRE threshold >= 5")
    with pytest.raises(UsageError, match=r"TOTAL: no cell has the value given for 'region'"):
        opened.run("AGGREGATES counts BY (region) COUNT count TOTAL region = 'x'")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("AGGREG", {"AGGREGATES"}),
        ("AGGREGATES coun", {"counts"}),
        ("AGGREGATES counts BY (region) COUNT cou", {'"count"', "count", "counts"}),
        ("AGGREGATES counts BY (region) contr", {"contributors"}),
        ("AGGREGATES counts BY (region) COUNT count REQUIRE thr", {"threshold"}),
        ("SELECT 1 FROM counts WHERE contr", set()),
    ],
)
def test_the_tab_key_knows_its_words(opened: Console, typed: str, offered: set[str]) -> None:
    found = ConsoleCompleter(opened.session).get_completions(Document(typed), CompleteEvent())
    assert {one.text for one in found} == offered


def test_the_help_names_it(opened: Console) -> None:
    assert "AGGREGATES relation BY (columns) COUNT column REQUIRE threshold >= 5" in opened.words("\\?")
