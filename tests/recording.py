"""What every command answers, recorded before a change and compared after it.

    python -m tests.recording record FILE [--spark]    run all commands and Python calls, and write their answers
    python -m tests.recording compare BEFORE AFTER     print the commands whose answers differ

Every command runs once as it should be typed, once with each of its options, and in each format; on a CSV file, and the
audits on DuckDB, PostgreSQL and (--spark) Spark, too. Durations, dates and folders are left out of the answers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import duckdb
from click.testing import CliRunner

import sqlaudit
from sqlaudit.base.errors import SqlauditError
from sqlaudit.cli import cli
from tests.security.world import INPUTS, KNOWLEDGE, PEOPLE, POLICY, RELEASE

FOLDER = Path(tempfile.gettempdir()) / "sqlaudit-recording"
"""One folder for every recording, since reports wrap the paths that they name."""
QI = "--qi age,sex,zip --sensitive disease"
TABLES = {
    "people": PEOPLE,
    "released": RELEASE,
    "synthetic": "SELECT * REPLACE (CAST(age + 1 AS INTEGER) AS age) FROM people",
    "holdout": "SELECT * REPLACE (CAST(age + 30 AS INTEGER) AS age) FROM people",
    "visits": """SELECT CAST(i % 30 AS INTEGER) AS person, ['a', 'b', 'c', 'd'][1 + (i * 7) % 4] AS town,
        CAST(i % 9 AS INTEGER) AS day, ['flu', 'cold'][1 + i % 2] AS disease FROM range(120) AS numbers (i)""",
    "cells": """SELECT region, sex, CASE WHEN heads > 2 OR region = 'C' THEN CAST(heads AS VARCHAR) END AS heads, money
        FROM (VALUES ('A','f',3,30),('A','m',9,90),('B','f',2,20),('B','m',12,99),('C','f',1,10),('C','m',7,70))
        AS published (region, sex, heads, money)""",
    "messages": """SELECT CAST(i % 10 AS INTEGER) AS person, CAST(i * 13 % 17 AS DOUBLE) AS x,
        CAST(i * 7 % 19 AS DOUBLE) AS y, CAST(i AS DOUBLE) AS at FROM range(40) AS numbers (i)""",
    "first": "SELECT person, age, sex, disease FROM people WHERE person < 40",
    "second": "SELECT person, age // 10 AS age, sex, disease FROM people WHERE person > 7",
}
HIERARCHIES = """hierarchies:
  age: {widths: [5, 10, 20], low: 20, high: 50}
  zip: {mask: [1, 2, 3]}
  sex: keep
"""
COMMANDS = {
    "audit": f"people {QI} --require k=2 --require l=2",
    "profile": "people",
    "columns": "people --k 2",
    "records": "people --qi age,sex,zip",
    "persons": "visits --entity person --qi town,day --sensitive disease --known 1..2",
    "disclosure": f"people {QI} --knowledge 0..3",
    "lattice": f"people {QI} --require k=2 --hierarchies hierarchies.yml",
    "recode": f"people {QI} --require k=3",
    "suppress": f"people {QI} --require k=2",
    "hierarchy": "people age --widths 5,10",
    "compare": f"people released {QI} --hierarchies hierarchies.yml",
    "attack": f"released {QI} --identified people --hierarchies hierarchies.yml",
    "releases": "first second --entity person --qi age,sex --sensitive disease",
    "aggregates": "cells --by region,sex --count heads --require threshold=3",
    "cloak": "messages --user person --x x --y y --time at --k 2 --box 10 --interval 20",
    "compile": "--table clinic.people --dialect snowflake --qi age,sex --sensitive disease k=5 l=2",
    "models": "",
    "test": "-f sqlaudit.yml",
}
VALUES = {
    "--db": "clinic.duckdb",
    "--query": "SELECT * FROM people WHERE age > 21",
    "--where": "age > 21",
    "--delimiter": ";",
    "--encoding": "latin-1",
    "--null-values": "f",
    "--date-order": "dmy",
    "--skip": "1",
    "--sheet": "Sheet1",
    "--qi": "age",
    "--sensitive": "disease,income",
    "--identifier": "person",
    "--entity": "person",
    "--insensitive": "income,born",
    "--sampling-fraction": "0.1",
    "--population-size": "1000",
    "--weights": "income",
    "--require": "k=3",
    "--preset": "hipaa-expert",
    "--inputs": "inputs.yml",
    "--reviewed": "zip",
    "--accept-identifier": "person",
    "--failing-classes": "2",
    "--worst-classes": "2",
    "--criteria": "public",
    "--title": "A title",
    "--owner": "An owner",
    "--purpose": "A purpose",
    "--sign-off": "Somebody",
    "--columns": "age,sex,zip",
    "--exclude": "person,income",
    "--tolerance": "1%",
    "--epsilon": "1%",
    "--delta": "1%",
    "--max-size": "2",
    "--limit": "2",
    "--start": "age",
    "--restarts": "2",
    "--seed": "7",
    "--k": "3",
    "--h": "80%",
    "--known": "1",
    "--random": "3",
    "--draws": "20",
    "--records": "3",
    "--static": "person",
    "--sequence": "day",
    "--key": "person",
    "--household": "zip",
    "--max-global-risk": "5%",
    "--top": "2",
    "--knowledge": "0..2",
    "--threshold": "0.9",
    "--witness": "1",
    "--weakest": "1",
    "--given": "knowledge.yml",
    "--hierarchies": "hierarchies.yml",
    "--suppress": "10%",
    "--beta": "2",
    "--publish-view": "safe",
    "--widths": "5,10,20",
    "--origin": "1",
    "--low": "20",
    "--high": "50",
    "--mask": "1,2",
    "--dates": "month,year",
    "--default": "other",
    "--measures": "ncp,discernibility",
    "--noise-queries": "3",
    "--workload": "5",
    "--queries": "queries.sql",
    "--other-release": "synthetic",
    "--holdout": "holdout",
    "--match": "age,sex",
    "--only": "homogeneity",
    "--pieces": "1",
    "--sure": "0.9",
    "--by": "region",
    "--count": "heads",
    "--value": "money",
    "--contributors": "heads",
    "--total": "C",
    "--hidden": "x",
    "--person": "30",
    "--round-to": "5",
    "--interval": "2",
    "--smallest-box": "1",
    "--smallest-interval": "1",
    "--delay": "5",
    "--box": "4",
    "--keep-column": "person",
    "--exact-rows": "10",
    "--table": "clinic.other",
    "--dialect": "bigquery",
    "--run": "today",
    "--select": "tag:release",
    "--threads": "1",
    "--timeout": "60s",
    "--memory-limit": "500MB",
}
OF_FILES = """
    --file-format --delimiter --encoding --null-values --header --skip --decimal --date-order --sheet --all-text
    --labels --hive-partitioning
"""
"""Options that only files have: they run on one command, in one form."""
LEFT_OUT = """
    -o --help -q --format --show-sql --explain --temp-directory --new-key --execute --dbt-project --dbt-target
    --zip-areas --certificate --certificate-key --failing-classes-to --to --buckets-to --plot --report
    --store-failures --each-to --time-budget --time-limit --results --baseline
"""
"""Options that write files, print what differs between runs, or need files of their own."""
LIMITS = """
    k=2 alpha_k_anonymity=alpha:0.8,k:2 l=2 entropy_l=1.5 recursive_l=c:2,l:2 pd_recursive_l=c:2,l:2 extended_k=2
    t=0.5 npd_recursive_l=c1:2,c2:0.1,l:2 t_ordered=0.3 beta=2 enhanced_beta_likeness=2 delta_disclosure_privacy=1
    t_closeness_hierarchical=0.5 l_categorical_diversity=2 d_density_control=0.9 mu_dilution=0.1
    c_l_categorical_recursive_diversity=c:2,l:2 c_l_density_control=c:2,l:2 delta_range_control=1
    l_r_linear_diversity=l:2,r:0.5 psi_security_estimate=0.5 psi_positive_disclosure=0.5 t_closeness_numeric=1
    bayes_optimal_belief=0.9 rho1_rho2_breach=rho1:0.1,rho2:0.9 delta_positive_disclosure=1
    epsilon_negative_disclosure=1 c_k_safety=c:0.9,k:1 prosecutor_risk=50% average_risk=50%
    rows_at_risk=share:50%,threshold:50% sample_uniqueness=10% journalist_risk=50% marketer_risk=50% k_map=2
    population_uniqueness=10% population_k=2
"""
PYTHON: dict[str, Callable[[], Any]] = {
    "audit": lambda: sqlaudit.audit("people.csv", qi=["age", "sex"], sensitive="disease", require={"k": 2, "l": 2}),
    "audit entity": lambda: sqlaudit.audit("visits.csv", qi="town", entity="person", require=["k=5"]),
    "audit where": lambda: sqlaudit.audit("people.csv", qi="age", where="sex = 'f'", require={"k": 2}),
    "audit unknown": lambda: sqlaudit.audit("people.csv", qi="ag", require={"k": 2}),
    "audit limits": lambda: sqlaudit.audit("people.csv", qi="age", require={"t": 2}),
    "profile": lambda: sqlaudit.profile("people.csv"),
    "columns": lambda: sqlaudit.columns("people.csv", k=2),
    "records": lambda: sqlaudit.records("people.csv", qi=["age", "sex", "zip"]),
    "persons": lambda: sqlaudit.persons("visits.csv", entity="person", qi=["town", "day"], known="1..2"),
    "lattice": lambda: sqlaudit.lattice(
        "people.csv", qi=["age", "sex"], require={"k": 3}, hierarchies="hierarchies.yml"
    ),
    "recode": lambda: sqlaudit.recode("people.csv", qi=["age", "sex"], require={"k": 3}),
    "suppress": lambda: sqlaudit.suppress("people.csv", qi=["age", "sex"], require={"k": 3}),
    "compare": lambda: sqlaudit.compare("people.csv", "released.csv", qi=["age", "sex", "zip"], sensitive="disease"),
    "attack": lambda: sqlaudit.attack("released.csv", qi=["age", "sex"], sensitive="disease", identified="people.csv"),
    "releases": lambda: sqlaudit.releases(
        ["first.csv", "second.csv"], entity="person", qi=["age"], sensitive="disease"
    ),
    "aggregates": lambda: sqlaudit.aggregates(
        "cells.csv", by=["region", "sex"], count="heads", require=["threshold=3"]
    ),
    "gate": lambda: sqlaudit.gate("sqlaudit.yml"),
    "hierarchy": lambda: sqlaudit.hierarchy("people.csv", "age", {"widths": [5, 10]}),
}
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?"), "DATE AND TIME"),
    (re.compile(r'("(?:seconds|elapsed\w*|duration\w*)": )[\d.e-]+'), r"\1TIME"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|min)\b"), "TIME"),
    (re.compile(r"\bin [\d.]+ seconds?\b"), "TIME"),
    (re.compile(r"localhost:\d+|127\.0\.0\.1:\d+|port=\d+|sqlaudit-[\w.-]+|host=[^&'\" ]+"), "PLACE"),
)


def prepare() -> None:
    """Make the folder with the tables and the files that commands name."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with duckdb.connect(str(FOLDER / "clinic.duckdb")) as connection:
        for name, query in TABLES.items():
            connection.execute(f"CREATE TABLE {name} AS {query}")
            connection.execute(f"COPY {name} TO '{FOLDER / name}.csv'")
            connection.execute(f"COPY {name} TO '{FOLDER / name}.parquet'")
    texts = {"sqlaudit.yml": POLICY, "hierarchies.yml": HIERARCHIES, "inputs.yml": INPUTS, "knowledge.yml": KNOWLEDGE}
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    (FOLDER / "queries.sql").write_text("SELECT count(*) FROM data WHERE age < 40;\n", encoding="utf-8")


def command_lines(postgres: str, spark: bool) -> Iterator[list[str]]:
    """Yield every command with every option: on files, and on the engines."""
    context, of_files = click.Context(cli), {*OF_FILES.split()}
    for name, base in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        has_db = any("--db" in option.opts for option in options) and name not in ("test", "compile")
        places = [("csv", [])]
        if has_db:
            places += [("", ["--db", "clinic.duckdb"]), *([("", ["--db", postgres])] if postgres else [])]
            places += [("parquet", ["--db", "spark://local[1]"])] if spark else []
        for suffix, engine in places:
            line = [name, *with_files(base.split(), suffix), *engine]
            formats = next((option.type.choices for option in options if "--format" in option.opts), [])
            yield from ([*line, "--format", str(choice)] for choice in formats)
            yield line
            if engine and "spark" in engine[1]:
                continue
            for option in options:
                if option.opts[0] in LEFT_OUT.split() or (engine and option.opts[0] in {"--db", *OF_FILES.split()}):
                    continue
                if option.opts[0] in {*OF_FILES.split()} - of_files:
                    continue
                of_files.discard(option.opts[0])
                changed = without(line, option.opts[0]) if option.opts[0] in ("--qi", "--sensitive", "--k") else line
                if option.opts[0] == "--query":
                    changed = [name, *line[2:]]
                if option.opts[0] in ("--qi", "--columns", "--by"):
                    changed = without(changed, "--hierarchies")
                yield from (
                    [*changed, *words, *(["--format", "json"] if formats else [])] for words in uses(name, option)
                )
    for suffix, engine in (
        ("csv", []),
        ("", ["--db", "clinic.duckdb"]),
        *([("", ["--db", postgres])] if postgres else []),
    ):
        for limit in LIMITS.split():
            line = ["audit", *with_files(["people"], suffix), *engine, *QI.split(), "--require", limit]
            yield [*line, *([] if postgres in engine else ["--inputs", "inputs.yml"]), "--format", "json"]


def without(line: list[str], option: str) -> list[str]:
    """Return the line without an option and its value."""
    if option not in line:
        return line
    at = line.index(option)
    return [*line[:at], *line[at + 2 :]]


def uses(command: str, option: click.Option) -> list[list[str]]:
    """Return the ways to type an option: each of its choices, or one value."""
    name = option.opts[0]
    if isinstance(option.type, click.Choice):
        return [[name, str(choice)] for choice in option.type.choices]
    if name == "--weights" and command in ("lattice", "suppress"):
        return [[name, "age=2"]]
    return [[name]] if option.is_flag else [[name, VALUES[name]]] if name in VALUES else []


def with_files(words: list[str], suffix: str) -> list[str]:
    """Return the words with the names of tables as files."""
    return [f"{word}.{suffix}" if suffix and word in TABLES else word for word in words]


def record(spark: bool) -> Iterator[dict[str, Any]]:
    """Run everything, and yield each request with its answer."""
    prepare()
    os.chdir(FOLDER)
    from tests.postgres_load import Loader
    from tests.postgres_load import prepare as prepare_server
    from tests.postgres_server import new_server

    server = new_server()
    server.start()
    try:
        prepare_server(server)
        loader = Loader(server)
        with duckdb.connect(str(FOLDER / "clinic.duckdb"), read_only=True) as connection:
            for name in TABLES:
                relation = connection.sql(f"FROM {name}")
                loader(
                    name, relation.fetchall(), relation.columns, {c: POSTGRES[str(t)] for c, t in columns_of(relation)}
                )
        url = server.url()
        for line in command_lines(url, spark):
            ran = CliRunner(env={"COLUMNS": "100"}).invoke(cli, line)
            crashed = "" if ran.exception is None or isinstance(ran.exception, SystemExit) else repr(ran.exception)
            words = ["POSTGRES" if word == url else word for word in line]
            texts = {"out": steady(ran.stdout, url), "err": steady(ran.stderr, url)}
            yield {"request": " ".join(words), "code": ran.exit_code, **texts, "crashed": crashed}
        loader.close()
    finally:
        server.delete()
    for name, call in PYTHON.items():
        try:
            answer = json.dumps(call().to_dict(), indent=1, default=str, ensure_ascii=False)
        except SqlauditError as error:
            answer = f"{type(error).__name__}: {error}"
        yield {"request": f"Python: {name}", "code": 0, "out": steady(answer, url), "err": "", "crashed": ""}


POSTGRES = {"INTEGER": "integer", "VARCHAR": "text", "DATE": "date", "DOUBLE": "double precision", "BIGINT": "bigint"}
"""DuckDB's types as PostgreSQL has them; decimals keep their spelling."""
POSTGRES |= {
    f"DECIMAL({width},{scale})": f"numeric({width},{scale})" for width in range(1, 39) for scale in range(width)
}


def columns_of(relation: duckdb.DuckDBPyRelation) -> list[tuple[str, Any]]:
    """Return the columns of a relation with their types."""
    return list(zip(relation.columns, relation.types, strict=True))


def steady(text: str, url: str) -> str:
    """Return the text without what differs from run to run."""
    text = text.replace(url, "POSTGRES")
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text


def compare(before: Path, after: Path) -> int:
    """Print the requests whose answers differ, with the first lines that do; return their number."""
    old, new = (
        {row["request"]: row for row in map(json.loads, path.open(encoding="utf-8"))} for path in (before, after)
    )
    differing = 0
    for request in {**old, **new}:
        if request not in old or request not in new:
            print(f"{'gone' if request in old else 'new'}: {request}")
            differing += 1
        elif old[request] != new[request]:
            differing += 1
            print(f"differs: {request}")
            for key in ("code", "crashed", "err", "out"):
                lines = [str(row[request][key]).splitlines() for row in (old, new)]
                gone = [line for line in lines[0] if line not in lines[1]]
                come = [line for line in lines[1] if line not in lines[0]]
                for sign, changed in (("-", gone), ("+", come)):
                    for line in changed[:4]:
                        print(f"    {key} {sign} {line[:160]}")
    print(f"{differing} of {len({**old, **new})} differ")
    return differing


def main(words: list[str]) -> int:
    """Record or compare, as the words say."""
    if words[:1] == ["compare"]:
        return min(1, compare(Path(words[1]), Path(words[2])))
    file = Path(words[1]).absolute()
    with file.open("w", encoding="utf-8") as lines:
        for answer in record("--spark" in words):
            lines.write(json.dumps(answer, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
