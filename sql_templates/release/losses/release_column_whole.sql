{# A column of the original as one cell: rows times bits of each value, and the width of all values. #}
SELECT
    COALESCE(SUM(row_count * LOG2(row_count)), 0) AS value_bits,
    {{ "MAX(TRY_CAST(v AS DOUBLE)) - MIN(TRY_CAST(v AS DOUBLE))" if numeric else "CAST(NULL AS DOUBLE)" }} AS width
FROM {{ values }}
