"""A policy is read whole, and every mistake says its line and what was meant."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path

import pytest

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.spec import NullPolicy, ReadOptions, Roles
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import ColumnLimit, Threshold
from sqlaudit.gates.run import mistakes_of
from tests.gates.databases import write

WHOLE = """\
version: 1
x-standard: &standard
  - k=5
  - l: 2
connections:
  clinic: {env: CLINIC_URL}
  local: {duckdb: data/clinic.duckdb}
defaults: {connection: clinic, owner: office, tags: [all], nulls: distinct}
tables:
  - table: public.patients
    name: patients
    description: The release of May
    tags: release
    where: consent
    quasi_identifiers: [age, sex, "year(birth)"]
    sensitive: diagnosis
    identifiers: [name]
    entity: person
    joint: true
    requirements:
      - *standard
      - recursive_l: {c: 3, l: 2}
        severity: warn
        warn_if: "> 0.5%"
        tags: [slow]
        owner: ethics
        description: No one stands out
      - disclosure@3: 0.8
        error_if: ">= 10 rows"
      - column_sets: {max_size: 3, share: 1%, among: all, exclude: [note]}
      - preset: cells-11
    exceptions:
      - {requirement: k=5, until: 2027-06-30, reason: The regions go in May, up_to: 12}
      - {requirement: l, sensitive: diagnosis, until: 2027-06-30, reason: Known}
  - file: visits.csv
    read: {delimiter: tab, null_values: ["", "?"], header: true, all_text: yes, encoding: latin-1}
    quasi_identifiers: [age]
    nulls: equal
    derived_from: patients
    requirements: [k = 3]
"""


def test_everything_that_a_policy_can_say(tmp_path: Path) -> None:
    policy = load_policy(write(tmp_path, WHOLE))
    assert mistakes_of(policy) == []
    patients, visits = policy.tables
    assert (patients.name, patients.connection, patients.tags, patients.owner) == (
        "patients",
        "clinic",
        ("all", "release"),
        "office",
    )
    assert patients.target is not None
    assert (patients.target.relation, patients.target.where, patients.target.name) == (
        "public.patients",
        "consent",
        "patients",
    )
    assert patients.roles == Roles(
        ("age", "sex", "year(birth)"), ("diagnosis",), ("name",), "person", True, NullPolicy.DISTINCT
    )
    found = {test.requirement: test for test in patients.tests}
    assert list(found) == [
        "k=5",
        "l=2",
        "recursive_l=c:3,l:2",
        "disclosure@3=0.8",
        "column_sets=max_size:3,k:5,share:1%,among:all,exclude:note",
        "k=11",
        "no direct identifier name",
    ]
    recursive = found["recursive_l=c:3,l:2"]
    assert (recursive.severity, recursive.tags, recursive.owner, recursive.place.line) == (
        "warn",
        ("all", "release", "slow"),
        "ethics",
        22,
    )
    assert recursive.warn_if == Threshold("> 0.5%", ">", Fraction(1, 200), True)
    assert recursive.model is not None
    assert recursive.model.parameters == {"c": 3, "l": 2}
    safety = found["disclosure@3=0.8"]
    assert safety.error_if == Threshold(">= 10 rows", ">=", Fraction(10), False)
    assert safety.model is not None
    assert safety.model.parameters == {"c": Fraction(4, 5), "k": 3}
    limit = next(test.limit for test in patients.tests if isinstance(test.limit, ColumnLimit))
    assert limit == ColumnLimit(3, 5, Fraction(1, 100), "all", ("note",))
    first, second = patients.exceptions
    assert (first.until, first.reason, first.up_to) == (
        datetime.date(2027, 6, 30),
        "The regions go in May",
        Threshold("<= 12", "<=", Fraction(12), False),
    )
    assert (second.requirement, second.sensitive, second.up_to) == ("l", "diagnosis", None)
    assert visits.target is not None
    assert visits.target.relation == str(tmp_path / "visits.csv")
    assert visits.target.read == ReadOptions("", "\t", "latin-1", ("", "?"), True, True)
    assert (visits.connection, visits.roles.nulls, visits.derived_from) == ("", NullPolicy.EQUAL, ("patients",))
    assert [test.requirement for test in visits.tests] == ["k=3"]


HEAD = "version: 1\nconnections: {main: {duckdb: c.duckdb}}\ntables:\n"
T = "  - {table: t, quasi_identifiers: [a], sensitive: [s], requirements: [k=5]"
MISTAKES = [
    (
        HEAD + "  - {table: t, quasi_identifers: [a], requirements: [k=5]}",
        4,
        "a table has no key 'quasi_identifers'. Did you mean 'quasi_identifiers'?",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [kk=5]}",
        4,
        "t: There is no privacy model 'kk'. Did you mean 'k'? 'sqlaudit models' lists them.",
    ),
    (
        HEAD + "  - table: t\n    quasi_identifiers: [a]\n    requirements:\n      - k: 5\n        seveity: warn",
        7,
        "t: there is no option or privacy model 'seveity'. Did you mean 'severity'?",
    ),
    (
        HEAD + "  - table: t\n    quasi_identifiers: [a]\n    requirements:\n      - k: 5\n        l: 2",
        7,
        "t: 'k' and 'l' are in one requirement. Write each as its own item.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{severity: warn}]}",
        4,
        "t: a requirement is missing beside its options. Write for example k: 5.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [l=2]}",
        4,
        "t: 'l=2' needs a sensitive column: name one under 'sensitive'.",
    ),
    (
        HEAD + "  - {table: t, requirements: [k=5]}",
        4,
        "t: 'k=5' needs quasi-identifiers: name them under 'quasi_identifiers'.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: []}",
        4,
        "this table has no requirements. Write for example [k=5].",
    ),
    *(
        (
            HEAD + f"  - {{table: t, quasi_identifiers: [a], requirements: [k=5, {nothing}]}}",
            4,
            "t: this requires nothing, so nothing would be tested. Write for example k=5.",
        )
        for nothing in (
            "synthetic: {original: t, require: []}",
            "aggregates: {by: [a], count: n, require: []}",
            "aggregates: {by: [a], count: n, preset: []}",
            "[]",
        )
    ),
    (HEAD + "  - {table: t, quasi_identifiers: [a]}", 4, "this table has no 'requirements'. Write for example [k=5]."),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: k=5}",
        4,
        "'requirements' must be a list, for example [a, b].",
    ),
    (
        HEAD + "  - {quasi_identifiers: [a], requirements: [k=5]}",
        4,
        "a table of the policy needs a table, a file or a query.",
    ),
    (
        HEAD + "  - {table: t, file: f, quasi_identifiers: [a], requirements: [k=5]}",
        4,
        "a table of the policy has table and file; keep one.",
    ),
    (
        HEAD + "  - {query: SELECT 1 AS a, quasi_identifiers: [a], requirements: [k=5]}",
        4,
        "a query needs a 'name' for reports.",
    ),
    (
        HEAD + "  - {table: t, connection: mian, quasi_identifiers: [a], requirements: [k=5]}",
        4,
        "there is no connection 'mian'. Did you mean 'main'?",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], sensitive: [a], requirements: [k=5]}",
        4,
        "Column 'a' is named as quasi-identifier and as sensitive attribute. Give every column one role.",
    ),
    (HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [k=0]}", 4, "t: 'k=0': k is at least 1, not 0."),
    (HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{k: }]}", 4, "t: the limit of k is a text."),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [k=5, {k: 5, severity: warn}]}",
        4,
        "t: 'k=5' also stands in line 4, with other options; keep one.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{k: 5, warn_if: '> 3'}]}",
        4,
        "t: warn_if alone changes nothing: any row is an error. Write severity: warn, or an error_if beside it.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{k: 5, severity: warn, error_if: '> 3'}]}",
        4,
        "t: error_if and severity: warn exclude each other.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{k: 5, error_if: '> 0.5'}]}",
        4,
        "t: error_if counts whole rows. Write a share with %, for example '> 1%'.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{k: 5, error_if: many}]}",
        4,
        "t: error_if must be a condition on the number of failing rows, for example '> 10' or '> 1%'.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{average_risk: 0.1, error_if: '> 3'}]}",
        4,
        "t: warn_if and error_if count failing rows, but 'average_risk=0.1' is about the whole table, which has no "
        "failing rows: leave them out.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{column_sets: {k: 5}}]}",
        4,
        "t: column_sets needs max_size, the largest number of columns that an attacker knows.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{column_sets: {max_size: 2, share: 100%}}]}",
        4,
        "t: share must be a share of at least 0 and below 1.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [{preset: cells-12}]}",
        4,
        "t: There is no preset 'cells-12'. Did you mean 'cells-20'? Available: wp216, hipaa-expert, ema-0070, "
        "health-canada-prci, cells-20, cells-11, cells-10, cells-5, cells-3, acro, iso-27559, nist-800-188, ehds, "
        "hipaa-safe-harbor.",
    ),
    (
        HEAD + "  - {table: t, quasi_identifiers: [a], sensitive: [s], requirements: [{l: 2, sensitive: z}]}",
        4,
        "t: 'z' is no sensitive column of this table.",
    ),
    (HEAD + T + ", nulls: none}", 4, "nulls must be one of equal, distinct, wildcard, not 'none'."),
    (HEAD + T + ", joint: maybe}", 4, "joint must be true or false."),
    (
        HEAD + T + ",\n    exceptions: [{requirement: k=6, until: 2027-01-01, reason: r}]}",
        5,
        "this table has no requirement 'k=6'. Did you mean 'k=5'?",
    ),
    (
        HEAD + T + ",\n    exceptions: [{requirement: k=5, until: 2027-13-01, reason: r}]}",
        5,
        "until must be a date such as 2027-06-30.",
    ),
    (HEAD + T + ",\n    exceptions: [{requirement: k=5, until: 2027-01-01}]}", 5, "an exception needs reason."),
    (HEAD + T + ",\n    exceptions: [{requirement: k=5, until: 2027-01-01, reason: ''}]}", 5, "reason is empty."),
    (HEAD + T + ",\n    inputs: {treee: {}}}", 5, "there is no input 'treee'. Did you mean 'tree'? Available: "),
    (
        "version: 1\nconnections: {main: {duckdb: c, env: X}}\ntables: []",
        2,
        "connection 'main' needs one of duckdb, env, url, service, dbt_profile.",
    ),
    (
        "version: 1\nconnections:\n  main: {url: 'postgresql://me:hush@db/x'}\ntables: []",
        3,
        "connection 'main': a password has no place in a policy:",
    ),
    (
        "version: 1\nconnections:\n  main: {url: 'host=db password=hush'}\ntables: []",
        3,
        "connection 'main': a password has no place in a policy:",
    ),
    (
        "version: 1\nconnections:\n  main: {url: 'sc://host:15002/;token=hush'}\ntables: []",
        3,
        "connection 'main': a password has no place in a policy:",
    ),
    (
        "version: 1\nconnections:\n  main: {env: X, password: hush}\ntables: []",
        3,
        "connection 'main': a password has no place in a policy:",
    ),
    ("version: 1\nconnections: {main: {env: X, target: dev}}\ntables: []", 2, "'target' needs a dbt_profile."),
    ("version: 1\ntable: []", 2, "the policy has no key 'table'. Did you mean 'tables'?"),
    (
        "version: 1\ntables: [{table: t, quasi_identifiers: [a], requirements: [k=5]}]",
        2,
        "this table has no connection: the policy has no 'connections'; for a file write 'file'.",
    ),
]


@pytest.mark.parametrize(("text", "line", "said"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_told_with_its_line_and_what_was_meant(text: str, line: int, said: str, tmp_path: Path) -> None:
    found = mistakes_of(load_policy(write(tmp_path, text)))
    assert any(mistake.place.line == line and mistake.message.startswith(said) for mistake in found), found
    assert all("hush" not in mistake.message for mistake in found)
    assert all(mistake.place.file == str(tmp_path / "sqlaudit.yml") for mistake in found)


def test_a_number_too_long_to_write_out_is_a_mistake(tmp_path: Path) -> None:
    text = HEAD + "  - {table: t, quasi_identifiers: [a], requirements: [k=1e999999999, t=1e-999999999, k=1e99]}"
    assert [mistake.message for mistake in mistakes_of(load_policy(write(tmp_path, text)))] == [
        "t: 'k=1e999999999': k is a number, for instance 5 or 0.2.",
        "t: 't=1e-999999999': t is a number, for instance 5 or 0.2.",
        "t: 'k=1e99': k is a number, for instance 5 or 0.2.",
    ]


def test_what_can_be_read_is_read_beside_mistakes(tmp_path: Path) -> None:
    text = (
        HEAD
        + "  - {table: t, quasi_identifiers: [a], requirements: [kk=5, k=3]}\n  - {table: u, wher: x}\n"
        + ("  - {table: v, quasi_identifiers: [a], requirements: [k=4]}\n")
    )
    policy = load_policy(write(tmp_path, text))
    assert [(table.name, [test.requirement for test in table.tests]) for table in policy.tables] == [
        ("t", ["kk=5", "k=3"]),
        ("u", []),
        ("v", ["k=4"]),
    ]
    assert [bool(test.mistake) for test in policy.tables[0].tests] == [True, False]
    assert [bool(table.mistakes) for table in policy.tables] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", UsageError, "is empty. `sqlaudit init` writes a policy to start from."),
        (
            "- a",
            UsageError,
            "a policy must be a mapping with the keys version, connections, defaults, persons, tables.",
        ),
        ("version: 2\ntables: []", UsageError, "line 1: the version of the policy must be 1."),
        ("a: [b", InputError, "is not YAML (the indentation or a bracket is wrong)."),
    ],
)
def test_what_is_no_policy_at_all(text: str, kind: type[Exception], said: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as error:
        load_policy(write(tmp_path, text))
    assert said in str(error.value)


def test_two_policies_for_one_table_are_a_mistake_of_both(tmp_path: Path) -> None:
    twice = (
        HEAD
        + T
        + "}\n"
        + T.replace("table: t", "table: T")
        + "}\n"
        + T.replace("table: t", "table: t, name: own")
        + "}\n"
    )
    policy = load_policy(write(tmp_path, twice))
    assert [[mistake.message for mistake in table.mistakes] for table in policy.tables] == [
        ["'t' also stands in line 5: two policies for one table. Merge them, or give each a 'name' of its own."],
        ["'T' also stands in line 4: two policies for one table. Merge them, or give each a 'name' of its own."],
        [],
    ]
