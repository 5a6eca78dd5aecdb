/* The file of a baseline: one row a run (times in UTC), and one row a test of it. Levels are exact texts; no value of a row is kept. */
CREATE TABLE IF NOT EXISTS store.main.runs (
    run INTEGER PRIMARY KEY,
    finished TIMESTAMP NOT NULL,
    accepted BOOLEAN NOT NULL,
    policy TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS store.main.results (
    run INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    requirement TEXT NOT NULL,
    sensitive TEXT NOT NULL,
    outcome TEXT NOT NULL,
    falls_short BOOLEAN NOT NULL,
    level TEXT,
    failing_classes BIGINT,
    failing_rows BIGINT,
    table_rows BIGINT,
    column_sets TEXT NOT NULL,
    asked TEXT NOT NULL
);
