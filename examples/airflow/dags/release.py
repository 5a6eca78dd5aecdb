"""Build two tables, check each with the statements of `sqlaudit compile`, and publish those that pass."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from airflow.providers.common.sql.operators.sql import SQLCheckOperator, SQLExecuteQueryOperator
from airflow.providers.sqlite.hooks.sqlite import SqliteHook
from airflow.sdk import DAG, task

HERE = Path(__file__).resolve().parent.parent
STATEMENTS = Path(os.environ.get("STATEMENTS", HERE / "statements"))
PATIENTS = HERE.parent / "dbt" / "seeds" / "patients.csv"
TABLES = {
    "patients_raw": "SELECT age, sex, zip, diagnosis FROM patients",
    "patients_safe": "SELECT CASE WHEN age < 50 THEN '0-49' ELSE '50-99' END AS age_group, substr(zip, 1, 2) AS region,"
    " diagnosis FROM patients",
}


class PrivacyCheck(SQLCheckOperator):
    """A statement with `--returns verdict` returns one number: 1 passes, and 0 stops the tasks after it.

    It runs unchanged: braces in it belong to column names, not to a template.
    """

    template_fields = ()


def checks(table: str) -> list[PrivacyCheck]:
    """One task per requirement on a table.

    Raises:
        FileNotFoundError: there is no statement for the table. A table without checks must not pass.
    """
    found = sorted(STATEMENTS.glob(f"{table}__*.sql"))
    if not found:
        raise FileNotFoundError(f"There is no statement for {table}. Run `sqlaudit compile` first; see README.md.")
    return [PrivacyCheck(task_id=path.stem, conn_id="clinic", sql=path.read_text()) for path in found]


with DAG("release", schedule=None) as dag:

    @task
    def load() -> None:
        """The patients, unchanged."""
        hook = SqliteHook("clinic")
        with PATIENTS.open(newline="") as file:
            rows = [(int(row["age"]), row["sex"], row["zip"], row["diagnosis"]) for row in csv.DictReader(file)]
        hook.run(["DROP TABLE IF EXISTS patients", "CREATE TABLE patients (age INTEGER, sex, zip, diagnosis)"])
        hook.insert_rows("patients", rows)

    loaded = load()
    for name, query in TABLES.items():
        build = SQLExecuteQueryOperator(
            task_id=f"build_{name}",
            conn_id="clinic",
            sql=[f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} AS {query}"],
        )
        publish = SQLExecuteQueryOperator(
            task_id=f"publish_{name}",
            conn_id="clinic",
            sql=[f"DROP TABLE IF EXISTS published_{name}", f"CREATE TABLE published_{name} AS SELECT * FROM {name}"],
        )
        loaded >> build >> checks(name) >> publish
