{# The rows that a coded histogram stands for. #}
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS table_rows
FROM {{ base }} AS base
