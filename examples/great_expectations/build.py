"""Make `clinic.sqlite`: patients unchanged, and as they are published."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

PATIENTS = Path(__file__).resolve().parent.parent / "dbt" / "seeds" / "patients.csv"

with PATIENTS.open(newline="") as file:
    rows = [(int(row["age"]), row["sex"], row["zip"], row["diagnosis"]) for row in csv.DictReader(file)]
database = sqlite3.connect("clinic.sqlite")
with database:
    database.execute("CREATE TABLE patients_raw (age INTEGER, sex, zip, diagnosis)")
    database.executemany("INSERT INTO patients_raw VALUES (?, ?, ?, ?)", rows)
    database.execute(
        "CREATE TABLE patients_safe AS SELECT CASE WHEN age < 50 THEN '0-49' ELSE '50-99' END AS age_group,"
        " substr(zip, 1, 2) AS region, diagnosis FROM patients_raw"
    )
database.close()
