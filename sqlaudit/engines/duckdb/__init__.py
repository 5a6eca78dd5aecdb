"""DuckDB: files, data frames and databases."""
