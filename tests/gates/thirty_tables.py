"""A made-up warehouse of thirty tables: six of people, three of counts, one empty, twenty of things."""

from __future__ import annotations

from pathlib import Path

import duckdb

DAY = "DATE '2022-01-01' + CAST({} AS INTEGER)"
PEOPLE = {
    "patients": "i AS patient_id, 20 + 10 * (i % 5) AS age, ['f', 'm'][1 + i // 5 % 2] AS sex FROM range(100)",
    "admissions": f"i AS admission_id, i % 100 AS patient_id, {DAY.format('i % 20')} AS admission_date, "
    "['flu', 'gout'][1 + i // 20 % 2] AS diagnosis FROM range(200)",
    "employees": "i AS employee_id, 20 + 10 * (i % 4) AS age, ['f', 'm'][1 + i // 4 % 2] AS sex, "
    "2000 + 100 * (i // 8 % 7) AS salary FROM range(120)",
    "insured": "1950 + 10 * (i % 6) AS birth_year, ['f', 'm'][1 + i // 6 % 2] AS gender FROM range(120)",
    "survey": "18 + i % 70 AS age, 10000 + i * 7 % 90 AS zip, ['single', 'married'][1 + i % 2] AS marital_status "
    "FROM range(90)",
    "claims": f"i AS claim_id, i * 7 % 30 AS member_id, 'A' || i % 40 AS icd, {DAY.format('i * i % 97')} AS visit_date "
    "FROM range(150)",
}
COUNTS = {
    "counts_by_region": "'State ' || i // 6 AS state, 2015 + i // 2 % 3 AS year, ['f', 'm'][1 + i % 2] AS sex, "
    "20 + i AS persons FROM range(60)",
    "monthly_admissions": "'Town ' || i // 12 AS city, 1 + i % 12 AS month, 5 + i AS n_admissions FROM range(120)",
    "stats_age": "i // 2 AS age, ['f', 'm'][1 + i % 2] AS sex, 100 + i AS count FROM range(160)",
}
EMPTY = {"staging": "1 AS age, 'f' AS sex, 'x' AS diagnosis FROM range(0)"}
THINGS = {
    "dim_date": f"{DAY.format('i')} AS date, 2022 + i // 365 AS year, i % 7 AS weekday FROM range(400)",
    "days": f"{DAY.format('i')} AS day, i % 7 AS weekday, i % 90 = 0 AS is_holiday FROM range(120)",
    "dim_country": "'C' || i AS country_code, 'Country ' || i AS country_name, ['de', 'en'][1 + i % 2] AS language "
    "FROM range(60)",
    "postal_codes": "CAST(10000 + i * 7 AS VARCHAR) AS zip, 'Town ' || i % 40 AS city, 47 + i / 200 AS lat "
    "FROM range(120)",
    "hospitals": "i AS hospital_id, 'Hospital ' || i AS hospital_name, 'Town ' || i % 30 AS city FROM range(60)",
    "dim_product": "i AS product_id, 'Product ' || i AS name, 10 + i % 90 AS price, i % 40 AS weight FROM range(200)",
    "departments": "i AS department_id, chr(CAST(65 + i AS INTEGER)) AS department FROM range(8)",
    "icd_codes": "'A' || i AS icd, 'Disease ' || i AS description, 'Chapter ' || i % 22 AS chapter FROM range(200)",
    "drug_catalogue": "i AS drug_id, 'Drug ' || i AS drug_name, i % 50 / 10 AS dosage FROM range(90)",
    "occupation_codes": "1000 + i AS occupation_code, 'Occupation ' || i AS occupation FROM range(43)",
    "marital_status_codes": "i AS code, 'Status ' || i AS marital_status FROM range(5)",
    "exchange_rates": f"{DAY.format('i // 4')} AS date, 'C' || i % 4 AS currency, i % 9 / 7 AS rate FROM range(120)",
    "holidays": f"{DAY.format('i * 13')} AS holiday_date, 'State ' || i % 16 AS state FROM range(60)",
    "weather": f"{DAY.format('i // 10')} AS date, 'Town ' || i % 10 AS city, i % 30 AS temperature FROM range(300)",
    "stock_levels": f"{DAY.format('i // 50')} AS date, i % 50 AS product_id, i * 31 % 20 AS quantity FROM range(250)",
    "supplied": f"i % 80 AS product_id, {DAY.format('i // 80 * 30')} AS start_date, i % 95 AS quantity FROM range(320)",
    "schema_migrations": f"20200101 + i AS version, 'table ' || i AS description, {DAY.format('i')} AS applied_at "
    "FROM range(30)",
    "etl_runs": f"i AS run_id, 'load_' || i % 7 AS job, {DAY.format('i')} AS start_date, 'ok' AS status FROM range(99)",
    "currencies": "'C' || i AS currency, 2 AS decimals FROM range(6)",
    "feature_flags": "'flag_' || i AS flag, i % 2 = 0 AS enabled FROM range(40)",
}


def make_warehouse(path: Path) -> None:
    """The warehouse as a DuckDB file."""
    with duckdb.connect(str(path)) as db:
        for name, columns in {**PEOPLE, **COUNTS, **EMPTY, **THINGS}.items():
            db.execute(f"CREATE TABLE {name} AS SELECT {columns} AS rows(i)")
