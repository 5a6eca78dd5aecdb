"""Make `clinic.duckdb`: patients unchanged, and as they are published."""

from __future__ import annotations

from pathlib import Path

import duckdb

PATIENTS = Path(__file__).resolve().parent.parent / "dbt" / "seeds" / "patients.csv"

database = duckdb.connect("clinic.duckdb")
database.execute(
    "CREATE TABLE patients_raw AS SELECT age, sex, zip, diagnosis FROM read_csv(?, types = {'zip': 'VARCHAR'})",
    [str(PATIENTS)],
)
database.execute(
    "CREATE TABLE patients_safe AS SELECT CASE WHEN age < 50 THEN '0-49' ELSE '50-99' END AS age_group,"
    " substr(zip, 1, 2) AS region, diagnosis FROM patients_raw"
)
database.close()
