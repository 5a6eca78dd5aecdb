"""Every command on every engine: its figures are DuckDB's, or it says in one sentence why it does not run there.

    python -m tests.engines.matrix run PLACE      run every command at a place, and print what each answers as JSON
    python -m tests.engines.matrix write          make the table of docs/engines.md from what the tests have found

PLACE is what `--db` takes, or `files` for DuckDB. The tables are Parquet files of the current folder; in PostgreSQL
they are tables of the same names. With SQLAUDIT_WRITE_MATRIX=1 the tests write what they find into `matrix.json`: of
each place the commands that are refused there, with the sentence; every other one has to give DuckDB's figures.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from click.testing import CliRunner

from sqlaudit.cli import cli
from tests.places import REPOSITORY
from tests.recording import HIERARCHIES, TABLES
from tests.security.world import KNOWLEDGE

QI = "--qi age,sex,zip --sensitive disease"
LINES = {
    "audit": f"audit people {QI} --require k=2 --require l=2 --require t=0.4",
    "audit, all figures": f"audit people {QI} --inputs inputs.yml --failing-classes 3 --show-values",
    "audit by person": "audit visits --qi town --sensitive disease --entity person --require k=5",
    "audit, NULL matches any value": "audit holes --qi age,sex --sensitive disease --nulls wildcard --require k=2",
    "audit of a query": f"audit {QI} --require k=3",
    "Safe Harbor": "audit people --qi age,zip --preset hipaa-safe-harbor",
    "profile": "profile people",
    "columns": "columns people --k 2 --max-size 3",
    "records": "records people --qi age,sex,zip --suda",
    "persons": "persons visits --entity person --qi town,day --sensitive disease --known 1..2",
    "disclosure": f"disclosure people {QI} --knowledge 0..3",
    "hierarchy": "hierarchy people age --widths 5,10",
    "lattice": f"lattice few {QI} --require k=2 --hierarchies hierarchies.yml --suppress 5% --to made.parquet",
    "lattice by person": "lattice visits --qi town,day --entity person --require k=2 --hierarchies days.yml",
    "recode": f"recode few {QI} --require k=3 --hierarchies hierarchies.yml --to made.parquet",
    "suppress": "suppress few --qi age,sex --sensitive disease --require k=2 --to made.parquet",
    "cloak": "cloak messages --user person --x x --y y --time at --k 2 --box 10 --interval 20 --to made.parquet",
    "compare": f"compare people released {QI} --hierarchies hierarchies.yml",
    "compare --synthetic": "compare people synthetic --synthetic --qi age,sex --sensitive disease",
    "attack": f"attack released {QI} --identified people --hierarchies hierarchies.yml",
    "releases": "releases first second --entity person --qi age,sex --sensitive disease",
    "aggregates": "aggregates cells --by region,sex --count heads --require threshold=3",
    "aggregates --from": "aggregates --from visits --by town,day --person person --require threshold=3",
}
"""The commands as they are typed, less `--db`; the words that are names of tables are files, where tables are files."""
ALSO = {
    "test": "a policy of the gate",
    "baseline": "what a policy accepts",
    "verify": "a certificate, made and verified",
    "console": "AUDIT people BY (age)",
    "pandas": "`sqlaudit.audit(frame)`",
    "polars": "`sqlaudit.audit(frame)`",
}
QUERY = "SELECT * FROM {} WHERE age > 21"
HOLES = "SELECT * REPLACE (CASE WHEN person % 5 = 0 THEN NULL ELSE sex END AS sex) FROM people"
VARYING = frozenset(
    ("access", "engine", "relation", "report", "seconds", "sql", "statements", "target", "time", "type", "versions")
)
"""What a result says of its engine and its time, and not of the table."""
PLACES = {
    "postgres": "PostgreSQL 18",
    "spark": "Spark 4.3",
    "cluster": "Spark 4.3, local-cluster",
    "connect": "Spark 4.3, Connect",
    "spark 3.5": "Spark 3.5",
}
"""The columns of the table beside DuckDB, by their key in the file of what was found."""
FOUND = Path(__file__).with_suffix(".json")
PAGE = REPOSITORY / "docs" / "engines.md"
START, END = "<!-- matrix: python -m tests.engines.matrix write -->", "<!-- end of the matrix -->"


def tables() -> dict[str, str]:
    """Return the query of each table, in DuckDB's SQL, over those before it."""
    return {**TABLES, "few": "SELECT age, sex, zip, disease FROM people", "holes": HOLES}


def prepare(folder: Path) -> None:
    """Write the tables and the further inputs into a folder."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for name, query in tables().items():
            connection.execute(f"CREATE TABLE {name} AS {query}")
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
    (folder / "hierarchies.yml").write_text(HIERARCHIES, encoding="utf-8")
    (folder / "days.yml").write_text("hierarchies:\n  day: {widths: [3, 9]}\n  town: keep\n", encoding="utf-8")
    (folder / "inputs.yml").write_text("order: [Zq7flu, Zq7cold, Zq7ulcer]\n", encoding="utf-8")
    (folder / "knowledge.yml").write_text(KNOWLEDGE, encoding="utf-8")


def answers(place: str) -> Iterator[tuple[str, Any]]:
    """Yield each command with its figures, or with the sentence of its refusal, at what `--db` takes; empty = files."""
    file = "{}" if place.startswith("postgresql:") else "{}.parquet"
    db = ["--db", place] if place else []
    for label, line in LINES.items():
        words = [file.format(word) if word in tables() else word for word in line.split()]
        if label == "audit of a query":
            words += ["--query", QUERY.format("people" if place else "'people.parquet'")]
        if "--to" in words:
            Path("made.parquet").unlink(missing_ok=True)
        yield label, _answer([*words, *db, "--format", "json"])
    yield from _of_policies(file.format("people") if place else "people", place or "clinic.duckdb")
    yield "verify", _of_certificates(file.format("people"), db)
    yield (
        "console",
        _answer(["console", file.format("people"), *db, "--format", "json", "-c", r"AUDIT people BY (age)"]),
    )
    for label, frame in (("pandas", partial(_pandas, "people")), ("polars", partial(_polars, "people"))):
        yield label, _of_frame(frame, place)


def _answer(words: list[str]) -> Any:
    """Return what a command answers, with the rows that it has written; or its refusal."""
    ran = CliRunner().invoke(cli, words, catch_exceptions=False)
    if ran.exit_code > 1:
        return {"refused": ran.stderr.strip() or ran.stdout.strip()}
    written = _written(Path("made.parquet")) if "--to" in words else None
    return {"code": ran.exit_code, "figures": _figures(json.loads(ran.stdout)), "written": written}


def _written(path: Path) -> list[str] | None:
    """Return the types and the rows of a release."""
    if not path.exists():
        return None
    with duckdb.connect() as connection:
        relation = connection.sql(f"FROM '{path}' ORDER BY ALL")
        return [repr(list(zip(relation.columns, map(str, relation.types), strict=True))), repr(relation.fetchall())]


def _of_policies(table: str, place: str) -> Iterator[tuple[str, Any]]:
    """Yield what a policy of one table is told, and what is accepted of it."""
    audited = {
        "table": table,
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["disease"],
        "requirements": [{"k": 2}, {"l": 2, "severity": "warn"}, {"column_sets": {"max_size": 2, "k": 2}}],
    }
    os.environ["MATRIX_DB"] = place
    policy = {"version": 1, "connections": {"main": {"env": "MATRIX_DB"}}, "tables": [audited]}
    Path("policy.yml").write_text(json.dumps(policy), encoding="utf-8")
    yield "test", _answer(["test", "-f", "policy.yml", "--format", "json"])
    ran = CliRunner().invoke(
        cli, ["baseline", "-f", "policy.yml", "--baseline", "baseline.yml"], catch_exceptions=False
    )
    kept = Path("baseline.yml").read_text(encoding="utf-8") if ran.exit_code == 0 else ""
    accepted = [line.partition(", asked:")[0] for line in kept.splitlines()]  # which holds the table's own name
    yield "baseline", {"code": ran.exit_code, "figures": _figures(accepted)}


def _of_certificates(table: str, db: list[str]) -> Any:
    """Return what an audit's certificate is told where it is made."""
    made = ["audit", table, *db, *QI.split(), "--require", "k=1", "--certificate", "certificate.json"]
    ran = CliRunner().invoke(cli, made, catch_exceptions=False)
    if ran.exit_code > 1:
        return {"refused": ran.stderr.strip()}
    return _answer(["verify", "certificate.json", *db, "--format", "json"])


def _of_frame(frame: Callable[[], Any], place: str) -> Any:
    import sqlaudit
    from sqlaudit.base.errors import SqlauditError

    try:
        found = sqlaudit.audit(frame(), qi=["age", "sex"], sensitive="disease", require={"k": 2}, db=place or None)
    except SqlauditError as error:
        return {"refused": str(error)}
    return {"figures": _figures(found.to_dict())}


def _pandas(name: str) -> Any:
    import pandas as pd

    return pd.read_parquet(f"{name}.parquet")


def _polars(name: str) -> Any:
    import polars as pl

    return pl.read_parquet(f"{name}.parquet")


def _figures(found: Any) -> Any:
    """Return what a result says of the table alone."""
    if isinstance(found, dict):
        return {key: _figures(value) for key, value in found.items() if key not in VARYING}
    if isinstance(found, list):
        return [_figures(value) for value in found]
    return found.replace(".parquet", "") if isinstance(found, str) else found


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Return where two answers differ: whole numbers and texts at all, others by more than a billionth."""
    if isinstance(one, dict) and isinstance(other, dict):
        if missing := sorted(set(one) ^ set(other)):
            return [f"{where}/{key}" for key in missing]
        return [place for key in one for place in differences(one[key], other[key], f"{where}/{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{where}: {len(one)} and {len(other)}"]
        pairs = enumerate(zip(one, other, strict=True))
        return [place for number, pair in pairs for place in differences(*pair, f"{where}/{number}")]
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) else [f"{where}: {one} and {other}"]
    return [] if one == other and type(one) is type(other) else [f"{where}: {one!r} and {other!r}"]


def run(place: str) -> dict[str, Any]:
    """Return what each command answers at a place, where one engine is open all the time; empty = files."""
    with ExitStack() as stack:
        if place and not place.startswith("postgresql:"):
            from sqlaudit.engines import connect
            from sqlaudit.engines.spark.engine import SparkEngine
            from tests.spark_session import small_sessions

            stack.enter_context(small_sessions())
            engine = stack.enter_context(connect(place))
            assert isinstance(engine, SparkEngine)
            people = Path("people.parquet").absolute()
            engine._session.sql(f"CREATE OR REPLACE VIEW people AS SELECT * FROM parquet.`{people}`")
        return json.loads(json.dumps(dict(answers(place))))


def found_at(key: str, place: str) -> dict[str, str]:
    """Run every command at a place and on DuckDB in the current folder; return the sentences of what is refused.

    Raises:
        AssertionError: a command that runs there does not give DuckDB's figures.
    """
    prepare(Path())
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    words = [sys.executable, "-m", __name__, "run", place]
    ran = subprocess.run(words, env=environment, text=True, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    here, there = run(""), json.loads(ran.stdout)
    assert list(here) == list(there)
    refused = {label: answer["refused"] for label, answer in there.items() if "refused" in answer}
    different = {label: differences(here[label], there[label]) for label in here if label not in refused}
    assert not any(different.values()), {label: found for label, found in different.items() if found}
    if os.environ.get("SQLAUDIT_WRITE_MATRIX"):
        FOUND.write_text(json.dumps({**recorded(), key: refused}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return refused


def recorded() -> dict[str, dict[str, str]]:
    """Return the sentences of what is refused, by place and command."""
    found: dict[str, dict[str, str]] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def table() -> str:
    """Return the table of commands and places, with the sentences of refusals as notes below it."""
    found, notes = recorded(), dict[str, int]()
    labels = [*LINES, *ALSO]
    lines = [["command", *PLACES.values()], ["---"] * (1 + len(PLACES))]
    for label in labels:
        sentences = [found[key].get(label) for key in PLACES]
        numbers = [notes.setdefault(said, len(notes) + 1) if said else None for said in sentences]
        lines.append([label, *("as DuckDB" if number is None else f"refused ({number})" for number in numbers)])
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([*rows, "", *(f"{number}. {said}" for said, number in notes.items())]).rstrip()


def page() -> str:
    """Return docs/engines.md with the table as the tests have found it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if sys.argv[1] == "write":
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(json.dumps(run("" if sys.argv[2] == "files" else sys.argv[2])))
