"""Which column a test reads: an exact name wins, then an expression; what reads no column is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.dbt.conftest import Project, Ran

PEOPLE = " union all ".join(
    f"""select '{zip_code}' as zip, {age} as age, '{sex}' as sex, {income} as income, {person} as person,
    'u' as {quote}user{quote}, cast('2020-01-01' as date) as {quote}date{quote}, {age} as {quote}year{quote}"""
    for quote in ['"']
    for person, (zip_code, age, sex, income) in enumerate(
        [("10", 30, "f", 1), ("11", 31, "f", 2), ("12", 32, "m", 1), ("13", 33, "m", 2), ("14", 34, "m", 3)]
    )
)
"""Everybody is unique by zip and age."""
READS_NO_COLUMN = {
    "numbers": [1, 2],
    "text": ["'sex'"],
    "text_of_names": ["'sex' || 'zip'"],
    "text_of_quotes": ["'it''s zip'"],
    "date_of_today": ["current_date"],
    "cast": ["cast('2020-01-01' as date)"],
    "typed": ["date '2020-01-01'"],
    "interval": ["interval '1' year"],
    "part_of_today": ["extract(year from current_date)"],
    "function": ["upper('zip')"],
    "function_of_reserved": ["upper(user)"],
    "comment": ["1 /* zip */"],
    "subquery": ["(select max(zip) from {{ ref('people') }})"],
    "window": ["max(zip) over ()"],
    "constant_beside": ["zip", "'sex'"],
    "empty": [""],
    "several": ["zip, sex"],
    "closed": ["1) as q1, (zip"],
    "missing": ["zap"],
    "missing_quoted": ['"zap"'],
    "missing_spaces": ["zip code"],
}
"""What a column of every group would be, by the name of a test."""


def k1(name: str, **arguments: Any) -> dict[str, Any]:
    """A test that no group fails: any group has at least one row."""
    given = {"quasi_identifiers": ["zip"], "k": 1, **arguments}
    return {"sqlaudit.k_anonymity": {"name": name, "arguments": given}}


def named(check: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {f"sqlaudit.{check}": {"name": name, "arguments": arguments}}


def outcomes(ran: Ran) -> Mapping[str, str]:
    """The status of each test, by its name."""
    return {unique.split(".")[2]: str(one["status"]) for unique, one in ran.results.items()}


def build(project: Project, tests: list[dict[str, Any]], **sql: str) -> Ran:
    """What dbt says of tests of the first model."""
    first, *others = sql
    project.models({"models": [{"name": first, "data_tests": tests}, *({"name": name} for name in others)]}, **sql)
    return project.dbt("build")


def test_no_column_is_an_error(project: Project) -> None:
    tests = [k1(name, quasi_identifiers=names) for name, names in READS_NO_COLUMN.items()]
    ran = build(project, tests, people=PEOPLE)
    assert {name: outcomes(ran)[name] for name in READS_NO_COLUMN} == dict.fromkeys(READS_NO_COLUMN, "error"), ran.said
    said = " ".join(ran.said.split())
    for sentence in (
        "name each column on its own, such as [age, sex]",
        "people has no column zap. It has: zip, age, sex",
        "reads no column of people",
        "takes names of columns, not 1",
        'may be a column or not; write "user"',
    ):
        assert sentence in said, sentence


ELSEWHERE = [
    named("t_closeness", "sensitive_text", quasi_identifiers=["sex"], sensitive="'x'", t=0, values="exact"),
    named("t_closeness", "sensitive_number", quasi_identifiers=["sex"], sensitive=1, t=0, values="exact"),
    named("k_anonymity", "entity_text", quasi_identifiers=["sex"], entity="'person'", k=1, values="exact"),
    named("km_anonymity", "of_persons", quasi_identifiers=[1], entity="person", k=2),
    named("column_sets", "sets", quasi_identifiers=["'zip'"], k=2),
    named(
        "k_map",
        "population",
        quasi_identifiers=["zip"],
        population="ref('people')",
        k=1,
        population_quasi_identifiers=["'zip'"],
    ),
    named("linkage", "reference", quasi_identifiers=["'zip'"], reference="ref('people')"),
    named("rep_u", "unique", quasi_identifiers=["'zip'"], original="ref('people')", share=0),
    named("disco", "disclosed", quasi_identifiers=["sex"], sensitive="'x'", original="ref('people')", share=1),
    named("exact_copies", "copies", columns=["'zip'"], original="ref('people')", rows=99),
    named("min_contributors", "contributors", contributors=100),
    named("min_contributors", "contributors_of_all", contributors="sum(income)", n=1),
    named("dominance", "value", value=1000, largest=["income"], k=50),
    named("no_unpickable_cell", "count", by=["zip"], count=5),
    named("no_differencing", "differences", by=["zip"], count=5, before="ref('people')"),
    named("no_differencing", "dimension", by=[1], count="income", before="ref('people')"),
]


def test_nor_is_it_elsewhere(project: Project) -> None:
    ran = build(project, ELSEWHERE, people=PEOPLE)
    names = [str(test["name"]) for one in ELSEWHERE for test in one.values()]
    assert {name: outcomes(ran)[name] for name in names} == dict.fromkeys(names, "error"), ran.said


NO_NAMES = [
    named("t_closeness", "sensitive_list", quasi_identifiers=["sex"], sensitive=["income"], t=1),
    named("k_anonymity", "entity_list", quasi_identifiers=["sex"], entity=["person"], k=1),
    k1("nothing", quasi_identifiers=[None]),
    k1("yes", quasi_identifiers=[True]),
    k1("list", quasi_identifiers=[["zip", "sex"]]),
    k1("text", quasi_identifiers="zip"),
]


@pytest.mark.parametrize("test", NO_NAMES)
def test_what_is_no_name_is_told_when_dbt_parses(test: dict[str, Any], project: Project) -> None:
    project.models({"models": [{"name": "people", "data_tests": [test]}]}, people=PEOPLE)
    parsed = project.dbt("parse")
    assert parsed.code != 0
    assert "takes names of columns, not" in parsed.said or "is a list of columns such as" in parsed.said, parsed.said


COUNTED_AS = {
    "exact": (["zip"], 5),
    "upper_case": (["ZIP"], 5),
    "quoted": (['"zip"'], 5),
    "reserved": (["user"], 0),
    "reserved_quoted": (['"user"'], 0),
    "function": (["substr(zip, 1, 1)"], 0),
    "function_of_reserved": (['upper("user")'], 0),
    "comparison": (["age < 33 or sex = 'f'"], 0),
    "case": (["case when age < 33 then 'under 33' else 'over' end"], 0),
    "part": (['extract(year from "date")'], 0),
    "collation": (["zip || ', '"], 5),
    "cast": (["cast(age / 100 as int)"], 0),
    "typed": (["zip::varchar"], 5),
    "null": (["nullif(sex, 'f')"], 0),
}
"""Ordinary columns and expressions, with the groups that are smaller than two."""


def test_columns_and_expressions_count(project: Project) -> None:
    tests = [k1(name, quasi_identifiers=names, k=2) for name, (names, _) in COUNTED_AS.items()]
    ran = build(project, tests, people=PEOPLE)
    found = {name: one["failures"] for unique, one in ran.results.items() for name in [unique.split(".")[2]]}
    assert {name: found[name] for name in COUNTED_AS} == {name: most for name, (_, most) in COUNTED_AS.items()}, (
        ran.said
    )


def test_a_name_beats_an_expression(project: Project) -> None:
    """`age-band` is the column of that name, not a difference, and `'sex'` one with quotes in its name."""
    people = """select 1 as age, 1 as band, 'a' as "age-band", 1 as "'sex'" union all select 2, 2, 'b', 2"""
    tests = [
        k1("difference_by_name", quasi_identifiers=["age-band"], k=2),
        k1("difference", quasi_identifiers=["(age-band)"], k=2),
        k1("quotes", quasi_identifiers=["'sex'"], k=2),
    ]
    project.models(
        {
            "models": [
                {
                    "name": "people",
                    "data_tests": tests,
                    "columns": [{"name": "age-band", "quote": True, "data_tests": [_of_band("quoted")]}],
                }
            ]
        },
        people=people,
    )
    ran = project.dbt("build")
    found = outcomes(ran)
    assert {name: found[name] for name in ("difference_by_name", "difference", "quotes", "quoted")} == {
        "difference_by_name": "fail",
        "difference": "pass",
        "quotes": "fail",
        "quoted": "fail",
    }, ran.said


def _of_band(name: str) -> dict[str, Any]:
    arguments = {"quasi_identifiers": ["age-band"], "l": 2, "values": "exact"}
    return {"sqlaudit.distinct_l_diversity": {"name": name, "arguments": arguments}}


ORDERED = {"quasi_identifiers": ["sex"], "t": 1, "values": "exact"}


def test_text_has_no_order(project: Project) -> None:
    """Whoever asks: under a quoted column, with `where`, of an expression, of an ephemeral model."""

    def ordered(name: str, where: str = "", **arguments: Any) -> dict[str, Any]:
        config = {"where": where} if where else {}
        return {"sqlaudit.t_closeness_ordered": {"name": name, "arguments": {**ORDERED, **arguments}, "config": config}}

    columns = [
        {"name": "zip", "quote": True, "data_tests": [ordered("quoted"), ordered("quoted_where", "age > 0")]},
        {"name": "age", "quote": True, "data_tests": [ordered("number"), ordered("number_where", "age > 0")]},
    ]
    tests = [
        ordered("plain", sensitive="zip"),
        ordered("where", "age > 0", sensitive="zip"),
        ordered("expression", sensitive="substr(zip, 1, 1)"),
        ordered("expression_where", "age > 0", sensitive="substr(zip, 1, 1)"),
        ordered("expression_of_numbers", sensitive="age / 2"),
        ordered("of_dates", "age > 0", sensitive="date"),
    ]
    passing = [
        ordered("ephemeral", sensitive="zip"),
        ordered("ephemeral_where", "age > 0", sensitive='"zip"'),
        ordered("ephemeral_number", sensitive="age"),
        ordered("ephemeral_number_where", "age > 0", sensitive="age"),
        ordered("ephemeral_date", sensitive="date"),
    ]
    project.models(
        {
            "models": [
                {"name": "people", "data_tests": tests, "columns": columns},
                {"name": "passing", "config": {"materialized": "ephemeral"}, "data_tests": passing},
            ]
        },
        people=PEOPLE,
        passing="select * from {{ ref('people') }}",
    )
    assert project.dbt("run").code == 0
    ran = project.dbt("test")
    found = outcomes(ran)
    refused = ("plain", "where", "quoted", "quoted_where", "expression", "expression_where")
    assert {name: found[name] for name in refused} == dict.fromkeys(refused, "error"), ran.said
    assert "is text" in ran.said
    assert (found["ephemeral"], found["ephemeral_where"]) == ("fail", "fail"), ran.said
    numbers = ("number", "number_where", "expression_of_numbers", "of_dates")
    numbers += ("ephemeral_number", "ephemeral_number_where", "ephemeral_date")
    assert {name: found[name] for name in numbers} == dict.fromkeys(numbers, "pass"), ran.said


def test_an_ephemeral_model_has_columns_alone(project: Project) -> None:
    """Nothing lists its columns before it is run, so a name is a column of it or an error."""
    tests = [
        k1("column", k=2),
        k1("upper_case", k=2, quasi_identifiers=["ZIP"]),
        k1("quoted", k=2, quasi_identifiers=['"user"']),
        k1("reserved", k=2, quasi_identifiers=["user"]),
        k1("keyword", quasi_identifiers=["current_date"]),
        k1("expression", quasi_identifiers=["substr(zip, 1, 1)"]),
        k1("constant", quasi_identifiers=["'zip'"]),
        k1("number", quasi_identifiers=[1]),
        k1("missing", quasi_identifiers=["zap"]),
    ]
    project.models(
        {"models": [{"name": "passing", "config": {"materialized": "ephemeral"}, "data_tests": tests}]},
        people=PEOPLE,
        passing="select * from {{ ref('people') }}",
    )
    ran = project.dbt("build")
    found = outcomes(ran)
    assert {name: found[name] for name in ("column", "upper_case", "quoted", "reserved")} == {
        "column": "fail",
        "upper_case": "fail",
        "quoted": "pass",
        "reserved": "pass",
    }, ran.said
    errors = ("keyword", "expression", "constant", "number", "missing")
    assert {name: found[name] for name in errors} == dict.fromkeys(errors, "error"), ran.said
    assert "an ephemeral model" in " ".join(ran.said.split())


def test_a_project_that_was_never_built_compiles(project: Project) -> None:
    """`dbt compile` and `dbt docs generate` may come before the first build, when no table has columns."""
    project.models(
        {"models": [{"name": "never_built", "data_tests": [k1("later", quasi_identifiers=["substr(zip, 1, 1)"])]}]},
        never_built=PEOPLE,
    )
    compiled = project.dbt("compile")
    assert compiled.code == 0, compiled.said
    tested = project.dbt("test")
    assert outcomes(tested)["later"] == "error"


@pytest.mark.parametrize("name", ["e''zip''", "$$zip$$", "'zip\\' || zip"])
def test_other_quotes_are_refused(name: str, project: Project) -> None:
    ran = build(project, [k1("other_quotes", quasi_identifiers=[name])], people=PEOPLE)
    assert outcomes(ran)["other_quotes"] == "error", ran.said


SURVEY = (
    "select 'a' as zz, i as q1, i % 2 as q2, i % 3 as s, i as e "
    "from (select generate_series as i from generate_series(1, 12)) as r"
)
"""A survey, whose columns are called like those of the tests."""


def test_a_column_called_like_an_alias_is_qualified(project: Project) -> None:
    """Where an alias beats a column (ClickHouse), q1 after `… AS q1` would be the column before."""
    tests = [
        k1("unique", k=2, quasi_identifiers=["q2", "q1"]),
        k1("unique_where", k=2, quasi_identifiers=["q2", "q1"]),
        k1("shown", k=2, quasi_identifiers=["q2", "q1"], show_values=True),
        k1("halves", k=6, quasi_identifiers=["zz", "q2"]),
        k1("persons", k=2, quasi_identifiers=["q2", "q1"], entity="e", known_rows="all", values="exact"),
        named("distinct_l_diversity", "one_value", quasi_identifiers=["q2", "q1"], sensitive="s", l=2, values="exact"),
        named("t_closeness_ordered", "ordered", quasi_identifiers=["q2"], sensitive="s", t=1),
        named("column_sets", "sets", quasi_identifiers=["q2", "q1"], k=2),
        named("exact_copies", "copies", columns=["q2", "q1"], original="ref('people')"),
    ]
    tests[1]["sqlaudit.k_anonymity"]["config"] = {"where": "q1 > 0"}
    ran = build(project, tests, people=SURVEY)
    found = outcomes(ran)
    passing = ("halves", "ordered")
    failing = ("unique", "unique_where", "shown", "persons", "one_value", "sets", "copies")
    assert {name: found[name] for name in passing} == dict.fromkeys(passing, "pass"), ran.said
    assert {name: found[name] for name in failing} == dict.fromkeys(failing, "fail"), ran.said
    for compiled in (project.folder / "target").rglob("*.sql"):
        text = compiled.read_text(encoding="utf-8")
        if compiled.stem in (*passing, *failing):
            assert re.search(r'[\w"]\."q2" AS', text), text
            assert not re.search(r'[\s(]"(q1|q2|s|e)" AS', text), text
